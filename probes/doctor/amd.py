"""AMD GPUs: KFD in sysfs first, then the ROCm tools in children.

Nothing of ROCm is imported: `import amdsmi` prints to standard output and raises KeyError where its
library is missing.
"""

from collections.abc import Mapping
from typing import Any

import anyio

from ...evidence.redaction import redact
from ..system import System
from . import amd_counters, amd_findings, amd_kfd, amd_tools
from .amd_kfd import Node
from .amd_seen import Seen
from .amd_visible import CUDA, Visible, visible
from .host import Host
from .section import Section, absent, unknown

_SMI = (
    ("amd-smi", ("static", "--json")),
    ("amdsmi", ("static", "--json")),
    ("rocm-smi", ("--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json")),
)
_DEADLINE_S = 5.0
_KEEP = 1024 * 1024  # eight GPUs take a hundred kilobytes of JSON
_LIST_DEADLINE_S = 30.0
_ROCM_DIRECTORIES = ("/opt/rocm/bin",)
_UNCHECKED = ("amd.counter_permission", "amd.processes", "amd.clocks")


async def examine(system: System, host: Host, probe: bool) -> Section:
    """Examine AMD GPUs; a machine without anything of AMD's gives an empty section."""
    section = Section()
    seen = Seen()
    if system.platform == "linux":
        seen.nodes = amd_kfd.read(system)
        seen.pci = amd_kfd.display_devices(system)
        seen.module = system.is_dir("/sys/module/amdgpu")
        seen.rocm = system.is_dir("/opt/rocm")
    async with anyio.create_task_group() as group:
        group.start_soon(_rocminfo, system, seen)
        group.start_soon(_smi, system, seen)
    if not seen.anything:
        section.facts["amd"] = {"gpus": absent(), "amdsmi": absent()}
        return section
    shown = visible(_variables(system), seen.nodes)
    section.facts["amd"] = _facts(system, seen, shown)
    amd_findings.report(system, host, seen, shown, section)
    if seen.nodes:
        section.missing += _UNCHECKED
    if probe and seen.nodes:
        await _list_counters(system, seen, section)
    return section


def _variables(system: System) -> dict[str, str]:
    """Give the environment; CUDA_VISIBLE_DEVICES speaks of NVIDIA GPUs where that driver is loaded."""
    drop = {CUDA} if system.exists("/proc/driver/nvidia") else set()
    return {k: v for k, v in system.environ.items() if k not in drop}


async def _rocminfo(system: System, seen: Seen) -> None:
    for path in system.programs("rocminfo", _ROCM_DIRECTORIES)[:1]:
        seen.rocminfo = await system.run([path], timeout_s=_DEADLINE_S, keep=_KEEP)
        seen.agents = amd_tools.agents(seen.rocminfo.stdout)


async def _smi(system: System, seen: Seen) -> None:
    """Ask the first tool that gives JSON; the others' failures are kept."""
    for name, arguments in _SMI:
        for path in system.programs(name, _ROCM_DIRECTORIES)[:1]:
            done = await system.run([path, *arguments], timeout_s=_DEADLINE_S, keep=_KEEP)
            gpus = amd_tools.smi_gpus(amd_tools.document(done.stdout) or {})
            if gpus:
                seen.smi, seen.smi_tool, seen.smi_output = gpus, name, done.output
                return
            seen.smi_failures.append((redact(system.shown(path)), done))


def _facts(system: System, seen: Seen, shown: Visible) -> dict[str, Any]:
    release = system.word("/opt/rocm/.info/version")
    libraries = [d for d in ("/opt/rocm/lib/libamd_smi.so",) if system.exists(d)]
    kfd = system.lexists("/dev/kfd")
    indices = shown.indices
    return {
        "gpus": _gpus(seen),
        "visible": unknown("named by UUID") if indices is None else list(indices),
        "visible_count": unknown("named by UUID") if indices is None else len(indices),
        "driver": {"loaded": seen.module or bool(seen.nodes), "version": _driver(system, seen)},
        "rocm_version": release or absent(),
        "amdsmi": libraries[0] if libraries else absent("libamd_smi is not installed"),
        "kfd": ("present" if kfd else "absent")
        if system.is_dir("/dev")
        else unknown("not_readable"),
        "pci_count": len(seen.pci),
    }


def _driver(system: System, seen: Seen) -> Any:
    stated = next((g["driver"] for g in seen.smi if g.get("driver")), None)
    return system.word("/sys/module/amdgpu/version") or stated or unknown("not_readable")


def _gpus(seen: Seen) -> Any:
    if not seen.nodes:
        if told := seen.smi or seen.agents:
            return [_from_tool(index, gpu) for index, gpu in enumerate(told)]
        return unknown("driver_error") if seen.pci else absent()
    return [_row(node, seen) for node in seen.nodes]


def _from_tool(index: int, gpu: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("name", "gfx", "pci", "memory_total_mib", "power_limit_w")
    row = {key: gpu[key] if gpu.get(key) is not None else unknown("not_supported") for key in keys}
    return {"index": index, **row}


def _row(node: Node, seen: Seen) -> dict[str, Any]:
    """Give one GPU; names come from the tools, matched by PCI address or, all listed, by position."""
    told = next((g for g in seen.smi if g.get("pci") and _same_device(g["pci"], node.pci)), None)
    if told is None and len(seen.smi) == len(seen.nodes):
        told = seen.smi[node.index]
    agent = seen.agents[node.index] if len(seen.agents) == len(seen.nodes) else None
    name = (told or {}).get("name") or (agent or {}).get("name")
    memory = node.memory_bytes >> 20 if node.memory_bytes else (told or {}).get("memory_total_mib")
    return {
        "index": node.index,
        "name": name or unknown("not_supported"),
        "gfx": node.gfx,
        "integrated": node.integrated,
        "simd_count": node.simd_count,
        "device_id": f"0x{node.device_id:04x}" if node.device_id is not None else unknown("absent"),
        "pci": node.pci or unknown("absent"),
        "memory_total_mib": memory or unknown("not_supported"),
        "power_limit_w": (told or {}).get("power_limit_w") or unknown("not_supported"),
    }


def _same_device(one: str, other: str | None) -> bool:
    return other is not None and one.lower().partition(".")[0] == other.partition(".")[0]


async def _list_counters(system: System, seen: Seen, section: Section) -> None:
    for path in system.programs("rocprofv3", _ROCM_DIRECTORIES)[:1]:
        done = await system.run([path, "--list-avail"], timeout_s=_LIST_DEADLINE_S, keep=_KEEP)
        amd_counters.report(section, redact(system.shown(path)), done, [n.gfx for n in seen.nodes])
        section.facts["amd"]["counters"] = amd_tools.counters(done.stdout) or unknown("no output")
