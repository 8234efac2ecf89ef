"""Findings about GPUs that run slower than they could: throttled, locked, limited, not kept ready.

Thresholds are proposals of this project, not measured optima; each stands beside its name.
"""

from ...evidence.payloads import Severity
from .nvidia_gathered import Gathered
from .nvidia_gpus import BUSY_PCT, Gpus
from .nvidia_reading import Gpu
from .section import Section

LOADED_PCT = 90  # under such load a GPU without a limit runs near its maximum clock
LOW_CLOCK = 0.8  # consumer cards never reach the maximum they report


def judge(given: Gpus, section: Section) -> None:
    """Judge the speed of every GPU that can be used."""
    told = Gathered()
    for gpu in given.usable:
        _judge_throttling(given, gpu, told)
        _judge_clock_lock(given, gpu, told)
        _judge_power_limit(given, gpu, told)
        _judge_persistence(given, gpu, told)
    told.report(section)


def _judge_throttling(given: Gpus, gpu: Gpu, told: Gathered) -> None:
    reasons = gpu.value("clocks_event_reasons") or []
    busy = gpu.value("utilization_pct")
    loaded = busy > BUSY_PCT if busy is not None else "gpu_idle" not in reasons
    hard = [r for r in reasons if r.startswith("hw_")]
    soft = [r for r in reasons if r == "sw_thermal_slowdown"]
    if loaded:
        soft += [r for r in reasons if r == "sw_power_cap"]
    if not hard and not soft:
        return
    clocks = _clocks(gpu)
    named = ", ".join(r.replace("_", " ") for r in [*hard, *soft])
    told.find(
        gpu,
        "nvidia.throttled",
        "error" if hard else "warning",
        f"{{gpus}} {{is}} slowed down now: {named}{' ({details})' if clocks else ''}",
        detail=clocks,
        evidence=[f"clocks event reasons, GPU {gpu.index}: {', '.join(reasons)}"],
        affects=("timing",),
        fix=lambda _: given.place.fix(
            "cool it or let it rest (thermal), raise its power limit (power); a power brake comes "
            "from the power supply",
            ("nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER",),
            windows="cool it or raise its power limit on Windows",
            verify="nvidia-smi --query-gpu=clocks_event_reasons.active --format=csv",
            needs_root=False,
            where="host",
        ),
    )


def _clocks(gpu: Gpu) -> str:
    clock, most = gpu.value("clock_sm_mhz"), gpu.value("clock_sm_max_mhz")
    return f"SM clock {clock} of {most} MHz" if clock and most else ""


def _judge_clock_lock(given: Gpus, gpu: Gpu, told: Gathered) -> None:
    reasons = gpu.value("clocks_event_reasons")
    busy = gpu.value("utilization_pct") or 0
    if reasons is None or "gpu_idle" in reasons:
        return
    by_setting = "applications_clocks_setting" in reasons
    if by_setting and _as_delivered(gpu):
        return
    unexplained = not reasons and busy > LOADED_PCT
    low = []
    for kind, part in (("SM", "sm"), ("memory", "mem")):
        clock, most = gpu.value(f"clock_{part}_mhz"), gpu.value(f"clock_{part}_max_mhz")
        if not clock or not most:
            continue
        share = 1.0 if by_setting and part == "sm" else LOW_CLOCK
        if clock < most * share and (by_setting or unexplained):
            low.append(f"{kind} clock {clock} of {most} MHz")
    if not low:
        return
    told.find(
        gpu,
        "nvidia.clocks_locked_low",
        "warning",
        "{gpus} run{s} below the maximum by a setting: {details}",
        detail=f"{', '.join(low)} at {busy} % load",
        evidence=[f"clocks event reasons, GPU {gpu.index}: {', '.join(reasons) or '(none)'}"],
        affects=("timing", "comparison"),
        fix=lambda _: given.place.fix(
            "undo a lock that a profiler or an administrator left behind",
            ("sudo nvidia-smi -rgc", "sudo nvidia-smi -rmc", "sudo nvidia-smi -rac"),
            windows="undo the lock on Windows, as administrator",
            windows_commands=("nvidia-smi -rgc", "nvidia-smi -rmc"),
            verify="nvidia-smi --query-gpu=clocks.sm,clocks.max.sm --format=csv",
        ),
    )


def _as_delivered(gpu: Gpu) -> bool:
    """Data-centre cards such as V100 and T4 ship with application clocks below their maximum."""
    now, default = gpu.value("clock_app_mhz"), gpu.value("clock_app_default_mhz")
    return now is not None and now == default


def _judge_power_limit(given: Gpus, gpu: Gpu, told: Gathered) -> None:
    limit, default = gpu.value("power_limit_w"), gpu.value("power_limit_default_w")
    if limit is None or default is None or limit >= default - 0.5:
        return
    told.find(
        gpu,
        "nvidia.power_limit_reduced",
        "warning",
        f"{{gpus}} {{is}} limited to {limit:g} W, the default is {default:g} W",
        evidence=[f"enforced power limit, GPU {gpu.index}: {limit:g} W"],
        affects=("timing", "comparison"),
        fix=lambda indices: given.place.fix(
            "set the default again",
            (f"sudo nvidia-smi -i {indices} -pl {default:g}",),
            windows="set it again on Windows, as administrator",
            windows_commands=(f"nvidia-smi -i {indices} -pl {default:g}",),
            verify="nvidia-smi --query-gpu=enforced.power.limit,power.default_limit --format=csv",
        ),
    )


def _judge_persistence(given: Gpus, gpu: Gpu, told: Gathered) -> None:
    if gpu.value("persistence") is not False or not given.place.linux:
        return
    # A display server keeps the driver initialised, so the mode changes nothing there.
    shown = gpu.value("display_active") is True
    severity: Severity = "note" if shown else "warning"
    told.find(
        gpu,
        "nvidia.persistence_off",
        severity,
        "persistence mode is off on {gpus}: the driver starts anew for the first program, "
        "which costs seconds and loses clock settings",
        evidence=[f"persistence mode, GPU {gpu.index}: disabled"],
        affects=("timing",),
        fix=lambda _: given.place.fix(
            "keep the driver loaded",
            ("sudo systemctl enable --now nvidia-persistenced", "sudo nvidia-smi -pm 1"),
            verify="nvidia-smi --query-gpu=persistence_mode --format=csv",
        ),
    )
