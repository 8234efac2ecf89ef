"""What stands in the way of work on AMD GPUs: driver, /dev/kfd, visibility, targets, tools."""

import os
from collections.abc import Sequence

from ...evidence.payloads import Fix
from ...evidence.redaction import redact
from ..command import Completed
from ..system import System
from . import amd_tools
from .amd_kfd import Node
from .amd_seen import Seen
from .amd_visible import CUDA, HIP, ROCR, Visible
from .host import Host
from .section import Section

_OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


def report(system: System, host: Host, seen: Seen, shown: Visible, section: Section) -> None:
    """Add every finding about the driver, access, choice of GPU and tools."""
    _driver(host, seen, section)
    _access(system, host, seen, section)
    if seen.nodes or any(name in system.environ for name in (ROCR, HIP)):
        _visibility(system, seen, shown, section)
    _mixed(seen, shown, section)
    _targets(system, seen, section)
    _smi(seen, section)
    if host.wsl:
        section.find(
            "amd.wsl",
            "limitation",
            "ROCm under WSL has no amd-smi, no clocks and no counters: the Windows driver holds them",
            evidence=[f"kernel: {host.kernel}"],
            affects=("profiling",),
        )


def _driver(host: Host, seen: Seen, section: Section) -> None:
    outputs = [d.output for d in (seen.rocminfo, *(d for _, d in seen.smi_failures)) if d]
    lines = [line.strip() for text in outputs for line in text.splitlines()]
    told = next((line for line in lines if amd_tools.NOT_LOADED.search(line)), None)
    if seen.nodes or seen.module or not (told or seen.pci):
        return
    present = bool(seen.pci)
    evidence = [told] if told else []
    evidence += [f"/sys/bus/pci/devices/{seen.pci[0]}: an AMD GPU"] if present else []
    section.find(
        "amd.driver_not_loaded",
        "limitation" if present else "note",
        "an AMD GPU is here and the amdgpu driver is not loaded"
        if present
        else "ROCm tools are here, the amdgpu driver is not loaded and no AMD GPU shows",
        evidence=evidence,
        affects=("running",),
        fix=Fix(
            summary="load the driver, if this GPU is to be used",
            commands=("sudo modprobe amdgpu",),
            where="host" if host.container else "host root",
            needs_root=True,
            verify="rocminfo | grep gfx",
        ),
    )


def _access(system: System, host: Host, seen: Seen, section: Section) -> None:
    outputs = [seen.rocminfo.output if seen.rocminfo else "", seen.smi_output]
    outputs += [done.output for _, done in seen.smi_failures]
    told = next((kfd for text in outputs if (kfd := amd_tools.kfd_state(text))), None)
    state: str
    if told:
        state, evidence = told
    elif seen.nodes and system.is_dir("/dev") and not system.lexists("/dev/kfd"):
        state, evidence = "missing", "/dev/kfd: absent"
    elif seen.nodes and system.live and not os.access("/dev/kfd", os.R_OK | os.W_OK):
        state, evidence = "denied", "/dev/kfd: no read and write access"
    else:
        return
    texts = {
        "missing": "/dev/kfd is not here: no program can reach the GPU",
        "denied": "this user may not open /dev/kfd: no program can reach the GPU",
        "unusable": "/dev/kfd is here and cannot be opened: the kernel refuses this GPU or container",
    }
    section.find(
        f"amd.kfd_{state}",
        "error",
        texts[state],
        evidence=[evidence],
        affects=("running",),
        fix=_access_fix(system, host, state),
    )


def _access_fix(system: System, host: Host, state: str) -> Fix:
    group = _owner(system)
    if host.container or state == "missing":
        return Fix(
            summary="pass the devices into the container, with the group that owns them",
            commands=(
                f"docker run --device=/dev/kfd --device=/dev/dri --group-add {group or 'render'} …",
                *(() if host.container else ("sudo modprobe amdgpu",)),
            ),
            where="container launch",
            verify="ls -l /dev/kfd",
        )
    if state == "denied":
        return Fix(
            summary="join the groups that own the devices, then log in again",
            commands=("sudo usermod -aG render,video $USER",),
            where="host root",
            needs_root=True,
            verify="id; ls -ln /dev/kfd",
        )
    return Fix(
        summary="read what the kernel says about the GPU; a reboot may be needed after an update",
        commands=("sudo dmesg | grep -i -E 'kfd|amdgpu'",),
        where="host root",
        needs_root=True,
        verify="rocminfo",
    )


def _owner(system: System) -> int | None:
    """Give the group id that owns /dev/kfd: inside a container its name may be another's."""
    try:
        return os.stat(system.real("/dev/kfd")).st_gid if system.live else None
    except OSError:
        return None


def _visibility(system: System, seen: Seen, shown: Visible, section: Section) -> None:
    names = shown.variables
    if shown.conflict:
        section.find(
            "amd.visible_conflict",
            "error" if shown.breaks else "warning",
            f"{' and '.join(names)} are both set: {shown.conflict}"
            + (", so a device that was meant is not there" if shown.breaks else ""),
            evidence=[f"environment: {name} is set" for name in names],
            affects=("running",),
            fix=Fix(
                summary=f"keep {ROCR} and unset the other",
                commands=(f"unset {HIP} {CUDA}",),
                verify="rocminfo | grep gfx",
            ),
        )
    elif shown.indices == () and seen.nodes and names:
        section.find(
            "amd.visible_none",
            "error",
            f"{names[0]} hides every GPU",
            evidence=[f"environment: {names[0]} is set"],
            affects=("running",),
            fix=Fix(
                summary="unset it",
                commands=(f"unset {names[0]}",),
                verify="rocminfo | grep gfx",
            ),
        )


def _mixed(seen: Seen, shown: Visible, section: Section) -> None:
    """A small integrated GPU beside a discrete one is taken by mistake; its index differs by machine."""
    indices = shown.indices
    if indices is None:
        return
    nodes = [node for node in seen.nodes if node.index in indices]
    discrete = [node for node in nodes if not node.integrated]
    small = [node for node in nodes if node.integrated]
    if not discrete or not small:
        return
    # HIP counts what ROCR has left
    wanted = ",".join(str(shown.after_rocr.index(node.index)) for node in discrete)
    section.find(
        "amd.igpu_and_dgpu",
        "warning",
        "an integrated GPU is visible beside the discrete one: "
        + ", ".join(
            f"{node.index} is {node.gfx} ({'integrated' if node.integrated else 'discrete'})"
            for node in nodes
        ),
        evidence=[
            f"/sys/class/kfd/kfd/topology/nodes/{node.node}: {node.gfx}, simd_count "
            f"{node.simd_count}"
            for node in nodes
        ],
        affects=("running", "timing"),
        fix=Fix(
            summary="show programs the discrete GPU only",
            commands=(f"export HIP_VISIBLE_DEVICES={wanted}",),
            verify="python -c 'import torch; print(torch.cuda.get_device_name(0))'",
        ),
    )


def _targets(system: System, seen: Seen, section: Section) -> None:
    overrides = sorted(n for n in system.environ if n.startswith(_OVERRIDE))
    if overrides and seen.nodes:
        section.find(
            "amd.gfx_override_set",
            "warning",
            f"{overrides[0]} is set: kernels of another target run, which may be wrong or slow",
            evidence=[f"environment: {name} is set" for name in overrides],
            affects=("correctness", "timing"),
            fix=Fix(
                summary="unset it and use a build that has kernels for this GPU",
                commands=tuple(f"unset {name}" for name in overrides),
                verify="rocminfo | grep gfx",
            ),
        )
        return  # what the runtime says now is the override's doing
    filtered = any(name in system.environ for name in (ROCR, HIP, CUDA))
    if filtered or len(seen.agents) != len(seen.nodes):
        return
    misnamed: dict[tuple[str, str], list[Node]] = {}
    for node, agent in zip(seen.nodes, seen.agents, strict=True):
        if agent["gfx"] and agent["gfx"].partition(":")[0] != node.gfx:
            misnamed.setdefault((node.gfx, agent["gfx"]), []).append(node)
    for (kernel, runtime), nodes in misnamed.items():
        indices = [n.index for n in nodes]
        several = len(nodes) > 1
        section.find(
            "amd.gfx_conflict",
            "error",
            f"GPU{'s' if several else ''} {', '.join(map(str, indices))} {'are' if several else 'is'} "
            f"{kernel} to the kernel and {runtime} to the ROCm runtime: another target's code is run",
            evidence=[
                *(f"/sys/class/kfd/kfd/topology/nodes/{n.node}/properties: {n.gfx}" for n in nodes),
                f"rocminfo: {runtime}",
            ],
            affects=("running", "correctness"),
            fix=_hide(seen, indices),
        )


def _hide(seen: Seen, indices: Sequence[int]) -> Fix:
    others = ",".join(str(n.index) for n in seen.nodes if n.index not in indices)
    return Fix(
        summary="hide the GPU that is misnamed",
        commands=(f"export ROCR_VISIBLE_DEVICES={others}",) if others else (),
        verify="rocminfo | grep gfx",
    )


def _smi(seen: Seen, section: Section) -> None:
    for path, done in seen.smi_failures:
        broken = amd_tools.BROKEN.search(done.output) or done.signal
        section.find(
            "amd.smi_broken" if broken else "amd.smi_failed",
            "warning",
            f"{path} " + ("fell over" if broken else "gave no JSON") + f" ({done.ending()})",
            evidence=[f"{path}: {redact(_telling(done))}"],
            affects=("profiling",),
            fix=Fix(
                summary="reinstall the tool with the ROCm release of the driver"
                if broken
                else "see what it says; without a loaded driver it has nothing to report",
                commands=(path,),
                verify="amd-smi static --json",
            ),
        )


def _telling(done: Completed) -> str:
    lines = [line.strip() for line in done.output.splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line or "arning" in line]
    return (errors or lines or [done.ending()])[0][:200]
