"""Findings about GPUs that cannot be used, or that others use at the same time."""

from ...evidence.payloads import Fix
from .nvidia_gathered import Gathered
from .nvidia_gpus import BUSY_PCT, Gpus
from .nvidia_reading import Gpu, Process
from .section import Section

USED_MIB = 200  # less is a driver's own or a stray context's
USED_WITH_RESERVED_MIB = 1024  # the first memory call counts up to 600 MiB of reserved as used
_STATES = {
    "lost": "has fallen off the bus (Xid 79)",
    "unreachable": "cannot be opened",
    "requires_reset": "needs a reset",
}


def judge(given: Gpus, section: Section) -> None:
    """Name the GPUs that are lost, and what else runs on the others."""
    _judge_lost(given, section)
    told = Gathered()
    for gpu in given.usable:
        _judge_processes(given, gpu, told)
    told.report(section)


def _judge_lost(given: Gpus, section: Section) -> None:
    bad = [g for g in given.gpus if g.facts.get("state") in _STATES]
    refused = [g for g in given.gpus if g.facts.get("state") == "no_permission"]
    if refused:
        numbers = ", ".join(str(g.index) for g in refused)
        section.find(
            "nvidia.devnode_denied",
            "error",
            f"this process may not open GPU {numbers}",
            evidence=[g.error or "nvidia-smi: Insufficient Permissions" for g in refused],
            affects=("running",),
            fix=given.place.fix(
                "give this user access to the device nodes",
                ("ls -l /dev/nvidia*",),
                container="start the container with these GPUs",
                launch=("docker run --gpus all …",),
            ),
        )
    if not bad and not given.lost_lines:
        return
    said = [f"GPU {g.index} {_STATES[g.facts['state']]}" for g in bad]
    said = said or [f"{len(given.lost_lines)} GPU(s) cannot be opened"]
    evidence = [g.error or f"nvidia-smi: GPU {g.index}: {g.facts['state']}" for g in bad]
    evidence += [f"nvidia-smi: {line}" for line in given.lost_lines]
    resets = all(g.facts["state"] == "requires_reset" for g in bad) and bool(bad)
    section.find(
        "nvidia.gpu_lost",
        "error",
        "; ".join(said) + ": nothing can run there, and the other GPUs may be renumbered",
        evidence=evidence[:8],
        affects=("running", "timing"),
        fix=given.place.fix(
            "read what the kernel logged (Xid 79: off the bus, Xid 45: after a hang), then reset "
            "the GPU; where that fails, power-cycle the machine",
            ("sudo dmesg | grep -i -E 'xid|nvrm'", "sudo nvidia-smi --gpu-reset"),
            windows="restart Windows",
            needs_reboot=not resets,
        ),
    )


def _judge_processes(given: Gpus, gpu: Gpu, told: Gathered) -> None:
    others = [p for p in gpu.processes or [] if not _is_ours(given, p)]
    busy = gpu.value("utilization_pct")
    load = f", utilization {busy} %" if busy is not None else ""
    if others:
        calm = busy is None or busy <= BUSY_PCT
        drawing = all(p.kind == "graphics" for p in others) or given.place.windows
        told.find(
            gpu,
            "nvidia.other_process",
            "note" if calm and drawing else "warning",
            "other programs use {gpus}: {details}",
            detail=f"{', '.join(map(_described, others[:5]))}{load}",
            evidence=[f"NVML or nvidia-smi, GPU {gpu.index}: {_described(p)}" for p in others[:5]],
            affects=("timing",),
            fix=lambda _: Fix(
                summary="stop them (under WSL on Windows), or measure on another GPU",
                commands=("nvidia-smi",),
                verify="nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv",
            ),
        )
    elif gpu.processes is None or not gpu.processes:
        _judge_hidden(given, gpu, told)


def _judge_hidden(given: Gpus, gpu: Gpu, told: Gathered) -> None:
    """Memory or load that no listed process accounts for."""
    if gpu.processes is None and gpu.value("mig") is True:
        return  # the slices of others are theirs to use
    used, busy = gpu.value("memory_used_mib"), gpu.value("utilization_pct")
    limit = USED_WITH_RESERVED_MIB if gpu.facts.get("used_includes_reserved") else USED_MIB
    loaded = busy is not None and busy > BUSY_PCT
    held = used is not None and used > limit
    if not (loaded or held):
        return
    amounts = [f"{used} MiB in use"] if used else []
    amounts += [f"utilization {busy} %"] if busy is not None else []
    why = "and the list of processes is empty"
    if gpu.processes is None:
        why = "and the processes cannot be listed"
    told.find(
        gpu,
        "nvidia.other_process_hidden",
        # Windows draws its desktop on the same GPU: memory alone is no load there.
        "note" if given.place.windows and not loaded else "warning",
        f"something uses {{gpus}} ({{details}}) {why}: it runs in another PID "
        "namespace, or the driver does not name it",
        detail=", ".join(amounts),
        evidence=[f"NVML or nvidia-smi, GPU {gpu.index}: {', '.join(amounts)}, no process named"],
        affects=("timing",),
        fix=lambda _: given.place.fix(
            "find what holds the GPU",
            ("sudo fuser -v /dev/nvidia*",),
            container="start the container with the host's PID namespace to see who it is",
            launch=("docker run --pid=host …",),
            windows="look at the GPU column of the Task Manager on Windows",
        ),
    )


def _is_ours(given: Gpus, process: Process) -> bool:
    name = process.name or ""
    return process.pid in given.own_pids or name.startswith("nvidia-cuda-mps")


def _described(process: Process) -> str:
    memory = f", {process.memory_mib} MiB" if process.memory_mib is not None else ""
    return f"{process.name or 'unnamed'} (pid {process.pid}{memory})"
