"""What a real capture changes: capabilities become probed, counter permission follows what happened.

Only ERR_NVGPUCTRPERM (or CUPTI's and NVPA's names for it) denies counters; any other failure leaves the
permission as it was judged, because it says nothing about it. Pure.
"""

import re
from collections.abc import Mapping
from typing import Any

from ...evidence.payloads import Can, Capability, Finding, ProfilerResult
from .section import value_of

Results = Mapping[str, ProfilerResult]
_PERMISSION = re.compile(
    r"ERR_NVGPUCTRPERM|CUPTI_ERROR_INSUFFICIENT_PRIVILEGES|NVPA_STATUS_INSUFFICIENT_PRIVILEGE"
)
# What each profiler answers for; the first that captured wins.
_ANSWERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gpu_timeline", ("nsys", "rocprofv3", "xctrace")),
    ("gpu_counters", ("ncu",)),
    ("cpu_sampling", ("perf",)),
    ("python_stacks", ("py-spy", "pyspy")),
)


def capabilities(can: Can, results: Results) -> Can:
    """Let captures answer; a profiler that was not tried changes nothing."""
    changed: dict[str, Capability] = {}
    for name, profilers in _ANSWERS:
        tried = [(p, results[p]) for p in profilers if p in results]
        tried = [(p, r) for p, r in tried if r.capture_ok is not None]
        if tried:
            changed[name] = _answer(*next((t for t in tried if t[1].capture_ok), tried[0]))
    perf = results.get("perf")
    if perf and perf.capture_ok and "hardware_cycles" in (perf.captured or {}):
        counted = (perf.captured or {})["hardware_cycles"] is not None
        changed["cpu_hw_counters"] = Capability(
            answer="yes" if counted else "no",
            how="probed",
            tool="perf" if counted else None,
            why="perf stat counted cycles" if counted else "perf stat did not count cycles",
        )
    return can.model_copy(update=changed)


def _answer(name: str, result: ProfilerResult) -> Capability:
    if result.capture_ok:
        return Capability(
            answer="yes", how="probed", tool=name, why=f"{name} measured our test program"
        )
    why = result.cause or result.error or "no reason given"
    return Capability(answer="no", how="probed", tool=name, why=f"{name} failed: {why}"[:300])


def counter_status(result: ProfilerResult | None) -> str | None:
    """Say what ncu's capture proves about permission; None: nothing."""
    if result is None or result.capture_ok is None:
        return None
    if result.capture_ok:
        return "allowed"
    return "denied" if _PERMISSION.search(f"{result.error} {result.cause}") else None


def with_counters(nvidia: Mapping[str, Any], status: str) -> dict[str, Any]:
    """Give the `nvidia` facts with the capture's word on counters; the static reason stays beside it."""
    detail = dict(nvidia.get("counters_detail") or {})
    static = detail.get("static_reason") or detail.get("reason")
    why = (
        "a capture with ncu read counters"
        if status == "allowed"
        else "a capture with ncu was refused (ERR_NVGPUCTRPERM)"
    )
    detail |= {"status": status, "reason": why}
    if static:
        detail["static_reason"] = static
    return {
        **nvidia,
        "counters": status,
        "counters_static": value_of(nvidia.get("counters")),
        "counters_detail": detail,
    }


def corrected(findings: tuple[Finding, ...], status: str) -> tuple[Finding, ...]:
    """Drop what the capture disproved; a refusal turns "unknown" into "denied"."""
    codes = {"nvidia.counters_unknown", "nvidia.counters_denied"}
    if status == "allowed":
        return tuple(f for f in findings if f.code not in codes)
    if any(f.code == "nvidia.counters_denied" for f in findings):
        return tuple(f for f in findings if f.code != "nvidia.counters_unknown")
    old = next((f for f in findings if f.code == "nvidia.counters_unknown"), None)
    denied = Finding(
        code="nvidia.counters_denied",
        severity="limitation",
        what="GPU counters are denied: a capture with ncu was refused (ERR_NVGPUCTRPERM)",
        evidence=("ncu: ERR_NVGPUCTRPERM", *(old.evidence if old else ())),
        affects=("profiling",),
        fix=old.fix if old else None,
    )
    return (*(f for f in findings if f.code not in codes), denied)
