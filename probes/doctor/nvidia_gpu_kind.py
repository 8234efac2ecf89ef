"""Findings about what kind of GPU this is: sliced, virtual, without memory of its own, set aside."""

import re
from collections.abc import Sequence

from ...evidence.payloads import Fix
from .nvidia_gathered import Gathered, together
from .nvidia_gpus import Gpus, label
from .nvidia_machine import Machine
from .nvidia_reading import Gpu
from .section import Section

NAME_MEMORY = 0.7  # of the gigabytes in the name: less is a slice of the card
_UNIFIED = re.compile(
    r"\bGB10\b|\bN1X\b|\bThor\b|\bOrin\b|\bXavier\b|nvgpu|\bTegra\b", re.IGNORECASE
)
_VGPU_NAME = re.compile(r"^GRID\b|^(?:NVIDIA )?[A-Z]+\d+\w*-\d+[QCABV]\w*$")


def judge(given: Gpus, section: Section) -> None:
    """Say what of a GPU is not as on a whole, own card."""
    usable = given.usable
    told = Gathered()
    for gpu in usable:
        _judge_modes(given, gpu, told)
        _judge_memory(given, gpu, told)
    told.report(section)
    _judge_mig([g for g in usable if g.value("mig") is True], section)
    _judge_vgpu([g for g in usable if is_vgpu(g)], given, section)
    if given.machine.tegra:
        _tegra(given, section)
    else:
        _unified([g for g in usable if g.facts.get("memory_kind") == "unified"], given, section)


def _judge_modes(given: Gpus, gpu: Gpu, told: Gathered) -> None:
    mode = str(gpu.value("compute_mode") or "").lower()
    prohibited = mode == "prohibited"
    if prohibited or (mode.startswith(("exclusive", "e.")) and not given.machine.mps):
        told.find(
            gpu,
            "nvidia.exclusive_mode",
            "error" if prohibited else "warning",
            f"{{gpus}} {{is}} in compute mode {gpu.value('compute_mode')}: "
            + ("no program may use it" if prohibited else "a second program that uses it fails"),
            evidence=[f"compute mode, GPU {gpu.index}: {gpu.value('compute_mode')}"],
            affects=("running",),
            fix=lambda indices: given.place.fix(
                "set the default mode",
                (f"sudo nvidia-smi -i {indices} -c 0",),
                windows="set the default mode on Windows, as administrator",
                windows_commands=(f"nvidia-smi -i {indices} -c 0",),
                verify="nvidia-smi --query-gpu=compute_mode --format=csv",
            ),
        )
    pending = [n for n in ("remap_pending", "retirement_pending") if gpu.value(n) is True]
    if pending:
        told.find(
            gpu,
            "nvidia.row_remap_pending",
            "warning",
            "{gpus} wait{s} for a reset to replace bad memory rows or pages",
            evidence=[f"GPU {gpu.index}: {', '.join(pending).replace('_', ' ')}: yes"],
            affects=("correctness", "running"),
            fix=lambda indices: given.place.fix(
                "reset the GPU when nothing uses it",
                (f"sudo nvidia-smi -i {indices} --gpu-reset",),
                verify="nvidia-smi -q -d ROW_REMAPPER,PAGE_RETIREMENT",
            ),
        )


def _judge_memory(given: Gpus, gpu: Gpu, told: Gathered) -> None:
    """A card that shows less memory than its name says is a slice made by a sharing layer."""
    total, name = gpu.value("memory_total_mib"), gpu.value("name") or ""
    found = re.search(r"(\d+)\s?GB\b", name)
    # The gigabytes in the name of a GH200 are those of its CPU.
    if total is None or found is None or re.search(r"\bG[HB]\d00\b", name):
        return
    expected = int(found.group(1)) * 1000**3 / 1024**2
    if total < NAME_MEMORY * expected:
        told.find(
            gpu,
            "nvidia.memory_virtualised",
            "warning",
            f"{{gpus}} show{{s}} {{details}}, the name says {found.group(1)} GB: a sharing layer "
            "cuts the card up, and hides other users' processes and load",
            detail=f"{total} MiB",
            evidence=[f"memory total, GPU {gpu.index}: {total} MiB"],
            affects=("timing", "comparison"),
            fix=lambda _: given.place.fix(
                "measure on a card of your own",
                container="ask for a whole GPU at launch",
                needs_root=False,
                where="host",
            ),
        )


def _tegra(given: Gpus, section: Section) -> None:
    section.find(
        "nvidia.tegra",
        "limitation",
        "a Tegra board (Jetson): its GPU shares the system's memory, and NVML or nvidia-smi say "
        "little or nothing about it; tegrastats does",
        evidence=[f"/etc/nv_tegra_release or device tree: {given.machine.tegra}"],
        affects=("profiling", "timing"),
        fix=given.place.fix(
            "watch it with tegrastats; fix its clocks with jetson_clocks",
            ("tegrastats --interval 1000", "sudo jetson_clocks"),
            verify="tegrastats --interval 1000",
        ),
    )


def _unified(gpus: Sequence[Gpu], given: Gpus, section: Section) -> None:
    if not gpus:
        return
    total = given.machine.memory_total_kib
    section.find(
        "nvidia.memory_unified",
        "limitation",
        f"{label(gpus[0])} has no memory of its own: it shares the system's"
        + (f" ({total} kB)" if total else ""),
        evidence=[f"/proc/meminfo: MemTotal: {total} kB"] if total else ["NVML: Not Supported"],
        affects=("comparison",),
        fix=Fix(
            summary="watch the system's memory: what the GPU takes is missing there",
            commands=("grep -E 'MemTotal|MemAvailable' /proc/meminfo",),
            verify="grep MemAvailable /proc/meminfo",
        ),
    )


def is_unified(gpu: Gpu, machine: Machine) -> bool:
    """Whether a GPU without memory figures is one that has none: GB10, Jetson."""
    if gpu.value("memory_total_mib") is not None:
        return False
    return bool(machine.tegra or _UNIFIED.search(gpu.value("name") or ""))


def is_vgpu(gpu: Gpu) -> bool:
    """Whether this is a share of a GPU given to a virtual machine."""
    mode = str(gpu.value("virtualization") or "").lower()
    return mode == "vgpu" or (
        mode in ("", "none") and bool(_VGPU_NAME.search(gpu.value("name") or ""))
    )


def _judge_mig(parents: Sequence[Gpu], section: Section) -> None:
    if not parents:
        return
    names = together(parents)
    section.find(
        "nvidia.mig_enabled",
        "limitation",
        f"MIG is on for {names}: there is no utilization and no per-process data, and the whole "
        "card's memory is not the instance's",
        evidence=[f"MIG mode, GPU {g.index}: enabled" for g in parents[:8]],
        affects=("timing", "comparison"),
        fix=Fix(
            summary="name the instance in CUDA_VISIBLE_DEVICES, and keep the others idle",
            commands=("nvidia-smi -L",),
            verify="nvidia-smi -L",
        ),
    )
    section.find(
        "nvidia.mig_profiling_limited",
        "limitation",
        "on a MIG instance ncu cannot lock the clocks (use --clock-control=none) and cannot read "
        "the units that instances share",
        evidence=[f"MIG mode, GPU {g.index}: enabled" for g in parents[:8]],
        affects=("profiling",),
        fix=Fix(
            summary="profile without clock control, and repeat the run",
            commands=("ncu --clock-control=none …",),
            verify="nvidia-smi -L",
        ),
    )


def _judge_vgpu(shares: Sequence[Gpu], given: Gpus, section: Section) -> None:
    if not shares:
        return
    section.find(
        "nvidia.vgpu",
        "limitation",
        "a vGPU: other virtual machines share the card, and counters depend on its host",
        evidence=[_virtualization(g) for g in shares[:4]],
        affects=("timing", "profiling"),
        fix=given.place.fix(
            "time on a whole card (pass-through), or repeat and report the spread; counters must "
            "be allowed by the host for this vGPU",
            verify="nvidia-smi -q | grep -A2 'Virtualization Mode'",
            needs_root=False,
            where="host",
        ),
    )
    without = [g for g in shares if str(g.value("licence") or "").startswith("Unlicensed")]
    if without:
        section.find(
            "nvidia.vgpu_unlicensed",
            "error",
            "the vGPU has no licence (License Status: Unlicensed): minutes after the start it is "
            "slowed down, and later refuses work",
            evidence=[f"nvidia-smi -q: License Status: {g.value('licence')}" for g in without[:4]],
            affects=("timing", "running"),
            fix=given.place.fix(
                "point the guest at its licence server",
                ("sudo systemctl status nvidia-gridd", "cat /etc/nvidia/gridd.conf"),
                verify="nvidia-smi -q | grep -i license",
            ),
        )


def _virtualization(gpu: Gpu) -> str:
    mode = gpu.value("virtualization")
    return f"GPU {gpu.index}: " + (
        f"Virtualization Mode: {mode}" if mode else str(gpu.value("name"))
    )
