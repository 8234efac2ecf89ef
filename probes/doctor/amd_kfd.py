"""AMD GPUs as the kernel knows them: KFD's topology in sysfs. Pure reading, no ROCm needed.

`gfx_target_version` is trusted over the runtime, which has named integrated GPUs after their discrete
neighbour. Source: https://docs.kernel.org/gpu/amdgpu/ and the KFD topology in
/sys/class/kfd/kfd/topology/nodes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..system import System

_NODES = "/sys/class/kfd/kfd/topology/nodes"
# Targets that exist only inside a processor.
_INTEGRATED = frozenset(
    {"gfx902", "gfx909", "gfx90c", "gfx1013", "gfx1033", "gfx1035", "gfx1036", "gfx1037", "gfx1103"}
    | {"gfx1150", "gfx1151", "gfx1152", "gfx1153"}
)
_FEW_SIMDS = 8  # no discrete GPU that ROCm runs on has so few
_VRAM_TYPES = ("1", "2")  # heap_type of a memory bank: frame buffer, visible or not


@dataclass(frozen=True)
class Node:
    """One GPU. `index` counts as ROCr and HIP do when no variable filters: by node."""

    index: int
    node: int
    gfx: str
    simd_count: int
    integrated: bool
    device_id: int | None
    pci: str | None
    render_minor: int | None
    memory_bytes: int | None


def read(system: System) -> list[Node]:
    """List the GPUs among KFD's nodes; CPUs are nodes too."""
    found: list[Node] = []
    numbers = sorted(int(n) for n in system.names(_NODES) if n.isdigit())
    for number in numbers:
        values = properties(system.read(f"{_NODES}/{number}/properties") or "")
        if values.get("simd_count", 0) > 0 and values.get("gfx_target_version", 0) > 0:
            found.append(_node(system, len(found), number, values))
    return found


def properties(text: str) -> dict[str, int]:
    """Read `name number` lines."""
    pairs = (line.split() for line in text.splitlines())
    return {p[0]: int(p[1]) for p in pairs if len(p) == 2 and p[1].isdigit()}


def gfx_name(version: int) -> str:
    """Name a target: 90010 is 9.0.10 is gfx90a, 110501 is 11.5.1 is gfx1151."""
    return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"


def _node(system: System, index: int, number: int, values: Mapping[str, int]) -> Node:
    gfx = gfx_name(values["gfx_target_version"])
    simds = values["simd_count"]
    pci = _address(values)
    return Node(
        index=index,
        node=number,
        gfx=gfx,
        simd_count=simds,
        integrated=gfx in _INTEGRATED
        or values.get("cpu_cores_count", 0) > 0
        or simds <= _FEW_SIMDS,
        device_id=values.get("device_id"),
        pci=pci,
        render_minor=values.get("drm_render_minor") or None,
        memory_bytes=_memory(system, number, pci),
    )


def _address(values: Mapping[str, int]) -> str | None:
    """Decode location_id: bus in the high byte, device and function in the low one."""
    location = values.get("location_id")
    if location is None:
        return None
    domain = values.get("domain", 0)
    bus, device, function = location >> 8 & 0xFF, location >> 3 & 0x1F, location & 0x7
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function}"


def _memory(system: System, number: int, pci: str | None) -> int | None:
    if pci and (total := system.word(f"/sys/bus/pci/devices/{pci}/mem_info_vram_total")):
        return int(total) if total.isdigit() else None
    banks = f"{_NODES}/{number}/mem_banks"
    sizes = []
    for bank in system.names(banks):
        values = properties(system.read(f"{banks}/{bank}/properties") or "")
        if str(values.get("heap_type")) in _VRAM_TYPES:
            sizes.append(values.get("size_in_bytes", 0))
    return sum(sizes) or None


def display_devices(system: System) -> list[str]:
    """List AMD graphics and accelerator devices on the PCI bus, bound to a driver or not."""
    found = []
    for device in system.names("/sys/bus/pci/devices"):
        directory = f"/sys/bus/pci/devices/{device}"
        kind = system.word(f"{directory}/class") or ""
        if system.word(f"{directory}/vendor") == "0x1002" and re.match(r"0x(?:03|12)", kind):
            found.append(device)
    return found
