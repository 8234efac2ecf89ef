"""compare_evidence: comparability first, then every metric that both records have."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..payloads import ComparedMetric, ComparisonData, ConditionDifference
from ..records import Input, Interval, Metric, Verdict, one_line
from ..store import Stored
from .comparability import Difference, check_varying, differences, forbidding
from .direction import better
from .intervals import LEVEL, Side, ratio_interval

_SPREADS = ("std", "stdev", "sd")
_NOT_COMPARED = (*_SPREADS, "limit")
_SCALES = {
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "bytes": {
        **{f"{p}B": 1000.0**k for k, p in enumerate(["", "k", "M", "G", "T"])},
        **{f"{p}iB": 1024.0**k for k, p in enumerate(["K", "M", "G", "T"], 1)},
    },
    "hertz": {f"{p}Hz": 1000.0**k for k, p in enumerate(["", "k", "M", "G"])},
}
_SCALES["bandwidth"] = {f"{unit}/s": scale for unit, scale in _SCALES["bytes"].items()}


@dataclass(frozen=True)
class Comparison:
    """What a comparison found; the parts of a record of kind comparison."""

    verdict: Verdict
    reason: str
    summary: str
    metrics: tuple[Metric, ...]
    limitations: tuple[str, ...]
    inputs: tuple[Input, ...]
    data: ComparisonData


def compare(
    baseline: Stored,
    candidate: Stored,
    *,
    varying: Sequence[str] = (),
    problems: Sequence[str] = (),
) -> Comparison:
    """Compare two records; `varying` names conditions that are meant to differ.

    PASS: comparable, and no metric shown worse. FAIL: one is. UNPROVEN: not comparable, nothing in
    common, or an input does not verify (`problems`).

    Raises:
        InputError: a name in `varying` is no field.
    """
    check_varying(varying)
    found = differences(baseline.record, candidate.record)
    blocking = forbidding(found, varying)
    comparable = not blocking and not problems
    rows = _rows(baseline, candidate, comparable)
    verdict, reason = _judge(rows, blocking, problems)
    named = [d for d in found if d not in blocking]
    return Comparison(
        verdict=verdict,
        reason=reason,
        summary=one_line(f"{verdict}: {reason}", 240),
        metrics=tuple(_ratio(row) for row in rows if row.ratio is not None and comparable),
        limitations=tuple(_limitations(named, rows, baseline, candidate)),
        inputs=(baseline.as_input(), candidate.as_input()),
        data=ComparisonData(
            comparable=comparable,
            differences=tuple(
                ConditionDifference(field=d.field, baseline=d.baseline, candidate=d.candidate)
                for d in found
            ),
            metrics=tuple(rows),
            varying=tuple(varying),
        ),
    )


def _rows(baseline: Stored, candidate: Stored, comparable: bool) -> list[ComparedMetric]:
    ours = {(m.name, m.statistic): m for m in candidate.record.metrics}
    rows = []
    for metric in baseline.record.metrics:
        other = ours.get((metric.name, metric.statistic))
        if other is not None and metric.statistic not in _NOT_COMPARED:
            rows.append(_row(metric, other, baseline, candidate, comparable))
    return rows


def _row(
    one: Metric, two: Metric, baseline: Stored, candidate: Stored, comparable: bool
) -> ComparedMetric:
    scale = _scale(two.unit, one.unit)
    new = None if two.value is None or scale is None else two.value * scale
    empty = ComparedMetric(
        name=one.name,
        statistic=one.statistic,
        unit=one.unit,
        baseline=one.value,
        candidate=new,
        verdict="not_comparable",
        why="the records are not comparable",
    )
    if one.value is None or new is None:
        why = "the units differ" if scale is None else "not measured on one side"
        return empty.model_copy(update={"why": why})
    if not comparable:
        return empty
    difference = new - one.value
    ratio = new / one.value if one.value else None
    sides = _side(one, baseline, 1.0), _side(two, candidate, scale or 1.0)
    found = ratio_interval(one.statistic, *sides) if ratio else None
    verdict, why = _verdict(one, ratio, difference, found)
    interval = Interval(low=found[0], high=found[1], level=LEVEL) if found else None
    shown = {"difference": difference, "ratio": ratio, "interval": interval}
    return empty.model_copy(update={**shown, "verdict": verdict, "why": why})


def _verdict(
    metric: Metric, ratio: float | None, difference: float, interval: tuple[float, float] | None
) -> tuple[str, str]:
    if difference == 0:
        return "no_difference", "equal"
    if interval is None:
        return "no_difference", "not shown: a side has neither samples nor n and a spread"
    low, high = interval
    if low <= 1 <= high:
        return "no_difference", f"the interval of the ratio, {low:.4g} to {high:.4g}, holds 1"
    wanted = better(metric.name, metric.unit)
    if wanted is None:
        return "not_comparable", "it differs, and which direction is better is unknown"
    improved = (ratio or 1) < 1 if wanted == "lower" else (ratio or 1) > 1
    return ("better" if improved else "worse"), f"{wanted} is better"


def _side(metric: Metric, stored: Stored, scale: float) -> Side:
    std = next(
        (
            m.value
            for m in stored.record.metrics
            if m.name == metric.name and m.statistic in _SPREADS and m.unit == metric.unit
        ),
        None,
    )
    samples = tuple(s * scale for s in metric.samples) if metric.samples else None
    return Side(
        value=float(metric.value or 0) * scale,
        samples=samples,
        n=metric.n,
        std=std * scale if std is not None else None,
    )


def _scale(unit: str, to: str) -> float | None:
    """The factor from one unit to another of the same dimension; None where there is none."""
    if unit == to:
        return 1.0
    for table in _SCALES.values():
        if unit in table and to in table:
            return table[unit] / table[to]
    return None


def _judge(
    rows: Sequence[ComparedMetric], blocking: Sequence[Difference], problems: Sequence[str]
) -> tuple[Verdict, str]:
    if problems:
        return "UNPROVEN", "; ".join(problems)
    if blocking:
        named = "; ".join(d.told() for d in blocking)
        fields = ", ".join(d.field for d in blocking)
        return "UNPROVEN", f"not comparable: {named}. If that is meant, declare varying=[{fields}]"
    if not rows:
        return "UNPROVEN", "the two records have no metric in common"
    counts = {v: [r for r in rows if r.verdict == v] for v in ("worse", "better", "no_difference")}
    told = [_told(r) for r in (*counts["worse"], *counts["better"])]
    if counts["no_difference"]:
        told.append(f"no difference shown in {len(counts['no_difference'])}")
    blind = any(r.difference and r.interval is None for r in rows)
    if not any(r.interval for r in rows) and (blind or all(r.difference is None for r in rows)):
        return "UNPROVEN", "nothing could be shown: no metric carries its spread on both sides"
    return ("FAIL" if counts["worse"] else "PASS"), "; ".join(told)


def _told(row: ComparedMetric) -> str:
    interval = row.interval
    spread = f" ({interval.low:.4g} to {interval.high:.4g})" if interval else ""
    return f"{row.name} {row.statistic} {row.verdict}: ratio {row.ratio:.4g}{spread}"


def _ratio(row: ComparedMetric) -> Metric:
    return Metric(
        name=f"{row.name}_ratio",
        value=row.ratio,
        unit="ratio",
        statistic=f"ratio of {row.statistic}",
        interval=row.interval,
    )


def _limitations(
    named: Sequence[Difference],
    rows: Sequence[ComparedMetric],
    baseline: Stored,
    candidate: Stored,
) -> list[str]:
    told = [f"differs: {d.told()}" for d in named if d.field not in ("host", "git.commit")]
    blind = [f"{r.name} {r.statistic}" for r in rows if r.difference and r.interval is None]
    if blind:
        told.append(f"no difference could be shown without a spread: {', '.join(blind)}")
    if any(r.interval and not _has_samples(r, baseline, candidate) for r in rows):
        told.append("intervals without samples assume a normal distribution")
    if any(d.field == "host" for d in named):
        told.append("the two were measured on different hosts")
    return told


def _has_samples(row: ComparedMetric, baseline: Stored, candidate: Stored) -> bool:
    return all(
        any(
            m.samples and m.name == row.name and m.statistic == row.statistic
            for m in stored.record.metrics
        )
        for stored in (baseline, candidate)
    )
