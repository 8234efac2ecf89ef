"""What a probe found, as a whole: results, counts, what was not had, one line of summary. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...evidence.payloads import ProfilerResult
from ...evidence.records import Metric, one_line
from .profiler import Profiler
from .programs import Trial


@dataclass(frozen=True)
class ProbeOutcome:
    """The probe's whole answer, before it becomes a record."""

    profilers: dict[str, ProfilerResult]
    programs: dict[str, Any]
    summary: str
    metrics: tuple[Metric, ...] = ()
    missing: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()


def assemble(
    chosen: Sequence[Profiler],
    results: dict[str, ProfilerResult],
    trials: dict[str, Trial],
    absent: Sequence[str],
) -> ProbeOutcome:
    """Put the results in the order in which profilers were chosen, and count them."""
    ordered = {p.name: results[p.name] for p in chosen if p.name in results}
    counts = {
        "captures_ok": sum(r.capture_ok is True for r in ordered.values()),
        "captures_failed": sum(r.capture_ok is False for r in ordered.values()),
        "captures_not_tried": sum(r.capture_ok is None for r in ordered.values()),
    }
    metrics = tuple(
        Metric(name=k, value=v, unit="count", statistic="count", n=len(ordered))
        for k, v in counts.items()
    )
    missing = [f"{name}: not installed" for name in absent]
    missing += [
        f"{n}: not tried" for n, r in ordered.items() if r.capture_ok is None and n not in absent
    ]
    limitations = ["each capture is of one tiny program; a larger one may meet other limits"]
    if not ordered:
        limitations = ["nothing was run: no profiler was found here"]
    limitations += [
        f"the {family} test program ran otherwise than asked: {trial.why_not}"
        for family, trial in trials.items()
        if trial.program is not None and trial.instead
    ]
    return ProbeOutcome(
        profilers=ordered,
        programs={
            family: {
                "ok": trial.program is not None,
                "device": trial.device,
                "error": trial.why_not or None,
            }
            for family, trial in trials.items()
        },
        summary=summarise(ordered, absent),
        metrics=metrics,
        missing=tuple(missing),
        limitations=tuple(limitations),
    )


def summarise(results: dict[str, ProfilerResult], absent: Sequence[str]) -> str:
    """Say each capture in a word: ok, failed (why), not tried (why), not installed."""
    told = []
    for name, result in results.items():
        if result.capture_ok:
            told.append(f"{name} ok")
        elif name in absent:
            continue
        else:
            word = "failed" if result.capture_ok is False else "not tried"
            told.append(f"{name} {word} ({one_line(result.cause or result.error or '', 60)})")
    if absent:
        told.append(f"not installed: {', '.join(absent)}")
    return one_line("profiler captures: " + ", ".join(told), 240)
