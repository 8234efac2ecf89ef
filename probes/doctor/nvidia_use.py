"""Findings about using the GPUs from here: which are visible to CUDA, and whether counters may be read."""

import os
from collections.abc import Sequence

from ...evidence.payloads import Fix
from ..system import System
from .nvidia_advice import Place
from .nvidia_counters import Counters
from .nvidia_machine import Machine
from .nvidia_visible import Visible
from .section import Section

_VARIABLE = "CUDA_VISIBLE_DEVICES"
_PARAMS = "/proc/driver/nvidia/params"
_OPTION = "options nvidia NVreg_RestrictProfilingToAdminUsers=0"
_SHIMS = ("libvgpu.so", "libvcuda", "libcuda-control", "libcudacontrol", "libgpushare")


def judge_visible(visible: Visible, gpus: int, section: Section) -> None:
    """Say where CUDA_VISIBLE_DEVICES hides more than it seems to; its value is never shown."""
    unset = Fix(
        summary=f"correct {_VARIABLE}, or unset it to see every GPU",
        commands=(f"unset {_VARIABLE}",),
        verify="nvidia-smi -L",
    )
    where = f"entry {visible.at} of {visible.entries} " if visible.at else ""
    evidence = [f"environment: {_VARIABLE}: {where}{visible.stopped or ''}".rstrip()]
    if visible.count == 0 and gpus:
        section.find(
            "nvidia.visible_none",
            "error",
            f"CUDA sees none of the {gpus} GPUs: {where}{visible.stopped or 'all are hidden'}",
            evidence=evidence,
            affects=("running",),
            fix=unset,
        )
    elif visible.stopped is not None and visible.count is not None:
        section.find(
            "nvidia.visible_truncated",
            "warning",
            f"CUDA sees {visible.count} of {gpus} GPUs: {where}{visible.stopped}, which hides it "
            "and every entry after it",
            evidence=evidence,
            affects=("running", "comparison"),
            fix=unset,
        )
    if visible.by_uuid:
        section.find(
            "nvidia.visible_uuid",
            "note",
            "GPUs are chosen by UUID: programs that read the entries as numbers (vLLM before its "
            "fix) stop with a ValueError",
            evidence=[f"environment: {_VARIABLE}: {visible.entries} entries, by UUID"],
            affects=("running",),
            fix=Fix(
                summary="nothing where the engine starts; else name the GPU by its number",
                commands=("nvidia-smi -L",),
                verify="nvidia-smi -L",
            ),
        )
    if visible.order_unsure:
        section.find(
            "nvidia.device_order",
            "note",
            "the GPUs are not alike and CUDA numbers them by speed, NVML by PCI address: index 0 "
            "need not be the same GPU",
            evidence=["environment: CUDA_DEVICE_ORDER: not PCI_BUS_ID"],
            affects=("comparison",),
            fix=Fix(
                summary="number them alike",
                commands=("export CUDA_DEVICE_ORDER=PCI_BUS_ID",),
                verify="nvidia-smi -L",
            ),
        )


def judge_counters(counters: Counters, machine: Machine, place: Place, section: Section) -> None:
    """Say what the permission for performance counters means, and what would change it."""
    evidence = [f"{_PARAMS}: RmProfilingAdminOnly: {machine.admin_only}"]
    if machine.admin_only is None:
        evidence = [f"{_PARAMS}: {(machine.params or 'absent').replace('_', ' ')}"]
    if counters.capability:
        evidence.append(f"/proc/self/status: CapEff has {counters.capability}")
    if counters.status == "denied":
        section.find(
            "nvidia.counters_denied",
            "limitation",
            f"GPU performance counters are refused (ncu, nsys --gpu-metrics): {counters.reason}. "
            "Timelines by nsys and torch still work",
            evidence=evidence,
            affects=("profiling",),
            fix=_open_counters(place),
        )
    elif counters.status == "unknown":
        section.find(
            "nvidia.counters_unknown",
            "note" if counters.expected else "limitation",
            f"whether GPU performance counters may be read is not known: {counters.reason}",
            evidence=evidence,
            affects=("profiling",),
            fix=Fix(
                summary="let a real capture decide: doctor with probe_profilers=True (perfcite "
                "doctor --probe-profilers)"
                + (
                    ""
                    if counters.expected
                    else f"; if it is refused: {_open_counters(place).summary}"
                ),
                commands=("perfcite doctor --probe-profilers",),
                verify="perfcite doctor --probe-profilers",
            ),
        )


def _open_counters(place: Place) -> Fix:
    return place.fix(
        "allow all users and reload the module (or reboot), or run with CAP_SYS_ADMIN",
        (
            f"echo '{_OPTION}' | sudo tee /etc/modprobe.d/nvidia-profiling.conf",
            "sudo modprobe -r nvidia_uvm nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia",
        ),
        container="start the container with the capability, which its host must allow",
        launch=("docker run --gpus all --cap-add=SYS_ADMIN …",),
        windows="NVIDIA Control Panel, Developer, Manage GPU Performance Counters: allow all users",
        verify=f"grep RmProfilingAdminOnly {_PARAMS}",
    )


def judge_busy(machine: Machine, section: Section) -> None:
    """Say that DCGM holds, or can take, the counters that ncu needs."""
    if machine.hostengine is None:
        return
    section.find(
        "nvidia.counters_busy",
        "warning",
        "DCGM's nv-hostengine is running: while it collects profiling metrics, ncu finds the "
        "counters busy",
        evidence=[machine.hostengine],
        affects=("profiling", "timing"),
        fix=Fix(
            summary="pause its profiling while you measure, and resume it afterwards",
            commands=("dcgmi profile --pause", "dcgmi profile --resume"),
            verify="dcgmi profile --list",
        ),
    )


def judge_shim(system: System, section: Section) -> None:
    """Recognise a GPU-sharing library that answers in NVML's and CUDA's place."""
    preload = system.environ.get("LD_PRELOAD", "")
    named = [s for s in _SHIMS if s in preload] or [
        n for n in system.environ if n.startswith("CUDA_DEVICE_MEMORY_LIMIT")
    ]
    already = any(f.code == "nvidia.memory_virtualised" for f in section.findings)
    if not named or already:
        return
    section.find(
        "nvidia.memory_virtualised",
        "warning",
        "a GPU-sharing layer answers in the driver's place: memory is a share, and other users' "
        "processes and load are hidden",
        evidence=[f"environment: LD_PRELOAD or a variable of the layer: {named[0]}"],
        affects=("timing", "comparison"),
        fix=Fix(
            summary="ask for a whole GPU at the launch of the container",
            where="container launch",
            verify="nvidia-smi",
        ),
    )


def judge_count(
    listed: int | None, described: int, machine: Machine, place: Place, section: Section
) -> None:
    """Hold the number of GPUs on the PCI bus against what the driver lists and describes."""
    expected = machine.expected
    if machine.pci is not None and expected is not None and listed and expected > listed:
        given = place.container is not None or machine.in_slurm_job
        section.find(
            "nvidia.gpu_count_mismatch",
            "note" if given else "error",
            f"{expected} NVIDIA GPUs are on the PCI bus, the driver lists {listed}"
            + (": this container or job was given a part" if given else ": one did not start"),
            evidence=[
                f"/sys/bus/pci/devices: {_addresses([g.bus_id for g in machine.pci])}",
                f"NVML or nvidia-smi: {listed} GPUs",
            ],
            affects=("running", "comparison"),
            fix=Fix(
                summary="ask for more GPUs at launch, if more are needed",
                where="container launch",
                verify="nvidia-smi -L",
            )
            if given
            else place.fix(
                "read what the kernel says about the missing one",
                ("sudo dmesg | grep -i -E 'xid|nvrm'", "lspci -d 10de: -nnk"),
            ),
        )
    elif listed and described < listed:
        section.find(
            "nvidia.gpu_count_mismatch",
            "error",
            f"nvidia-smi counts {listed} attached GPUs and describes {described}",
            evidence=[f"nvidia-smi -q -x: attached_gpus {listed}, described {described}"],
            affects=("running", "comparison"),
            fix=place.fix(
                "ask again; where it stays so, read the kernel's log",
                ("nvidia-smi -L", "sudo dmesg | grep -i -E 'xid|nvrm'"),
            ),
        )


def _addresses(addresses: Sequence[str]) -> str:
    return ", ".join(addresses[:8])


def own_pids() -> frozenset[int]:
    """Give the processes that are ours and not "others"."""
    return frozenset({os.getpid()})
