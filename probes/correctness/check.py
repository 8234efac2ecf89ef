"""Does an optimisation change what the model generates? Two recordings in, one judgement out."""

from collections.abc import Callable
from dataclasses import dataclass

from ...evidence.payloads import CorrectnessData
from ...evidence.records import SUMMARY_LIMIT, Input, Metric, Verdict, one_line
from .compare import Compared, Limits, compare
from .criteria import Criteria
from .intervals import clean_bound
from .remarks import remarks
from .report import data, metrics
from .ruling import Control, Ruling, controlled, rule
from .sources import FileSource, RecordSource, Source
from .wording import count, number, percent, several, tokens

__all__ = ["Criteria", "FileSource", "Judgement", "RecordSource", "Source", "check"]


@dataclass(frozen=True)
class Judgement:
    """What a check found; the parts of an evidence record of kind correctness."""

    verdict: Verdict
    reason: str
    summary: str
    metrics: tuple[Metric, ...]
    missing: tuple[str, ...]
    limitations: tuple[str, ...]
    inputs: tuple[Input, ...]
    data: CorrectnessData


def check(
    reference: Source,
    candidate: Source,
    criteria: Criteria,
    *,
    control: Source | None = None,
    tick: Callable[[int, int], None] | None = None,
) -> Judgement:
    """Compare a candidate's generations with a reference's, and a control's where there is one.

    `tick(done, total)` is called with bytes read, several times a megabyte; it may raise to cancel.

    Raises:
        InputError: a threshold that cannot be, or a recording that cannot be read as one.
    """
    criteria.validate()
    progress = _Progress(tick, [reference, candidate, *([reference, control] if control else [])])
    limits = Limits(
        near_tie_nats=criteria.near_tie_nats,
        decisive_nats=criteria.decisive_nats,
        logprob_tol=criteria.logprob_tol,
        min_prefix=criteria.prefix_threshold,
        wants_kl=criteria.max_kl is not None,
    )
    compared = compare(reference, candidate, limits, progress)
    floor = None
    if control is not None:
        floor = controlled(compared, compare(reference, control, limits, progress))
    ruling = rule(criteria, compared, floor)
    return Judgement(
        verdict=ruling.verdict,
        reason=_reason(criteria, compared, ruling),
        summary=one_line(f"{ruling.verdict}: {_short(compared, ruling)}", SUMMARY_LIMIT),
        metrics=tuple(metrics(criteria, compared)),
        missing=tuple(_missing(criteria, compared)),
        limitations=tuple(remarks(criteria, compared, floor, ruling)),
        inputs=_inputs(compared, floor),
        data=data(criteria, compared, floor, ruling),
    )


class _Progress:
    """Bytes read of all sources, as `done` of `total`."""

    def __init__(self, tick: Callable[[int, int], None] | None, sources: list[Source]) -> None:
        self._tick = tick
        self._done = 0
        self._total = sum(source.size for source in sources)

    def __call__(self, size: int) -> None:
        self._done += size
        if self._tick is not None:
            # Recordings in different orders are read twice.
            self._total = max(self._total, self._done)
            self._tick(self._done, self._total)


def _reason(criteria: Criteria, compared: Compared, ruling: Ruling) -> str:
    """Say why this verdict, with the numbers."""
    found = ruling.blocked or ruling.failed or ruling.open
    agreement = compared.figures.agreement
    if not agreement.n:
        return _sentences([found[0]])
    parts = [_headline(compared)]
    if found:
        parts.append("; ".join(found[:2]))
    if agreement.diverging:
        parts.append(_classes(criteria, compared, ruling))
    else:
        parts.append(_bound(compared))
    return _sentences([part for part in parts if part])


def _headline(compared: Compared) -> str:
    agreement, exercise = compared.figures.agreement, compared.figures.exercise
    if agreement.diverging:
        median = agreement.first_median() or 0
        return (
            f"{count(agreement.diverging)} of {several(agreement.n, 'sequence')} diverge, first at a"
            f" median of {tokens(median)} tokens"
            + (
                f" ({number(1000 * agreement.diverging / exercise.at_risk)} per 1,000 at risk)"
                if exercise.at_risk
                else ""
            )
        )
    distinct = exercise.distinct()
    context = (
        f", longest context {count(exercise.longest_context)}"
        if exercise.longest_context is not None
        else f", longest {count(exercise.longest)}"
    )
    return (
        f"{count(agreement.n)} of {several(agreement.n, 'sequence')} are identical over"
        f" {several(exercise.at_risk, 'token')} ({count(distinct)} distinct{context})"
    )


def _bound(compared: Compared) -> str:
    distinct = compared.figures.exercise.distinct()
    return (
        f"so many clean prompts leave at most {percent(clean_bound(distinct))} of prompts that could"
        " diverge (95 %)"
    )


def _classes(criteria: Criteria, compared: Compared, ruling: Ruling) -> str:
    """Say what the divergences are, and whether the margins' own noise explains the flips."""
    partings, noise = compared.figures.partings, compared.figures.noise
    kinds = partings.kinds
    if partings.without_tables == partings.count:
        return ""
    if kinds["near_tie"] == partings.count:
        text = f"{'all are near ties' if partings.count > 1 else 'it is a near tie'} (gap at most {criteria.near_tie_nats:g} nats), as rounding makes them"
        if ruling.verdict == "FAIL" and criteria.criterion == "identical":
            text += "; criterion=rounding judges by that"
    else:
        shown = [
            f"{count(kinds[kind])} {word}"
            for kind, word in (
                ("near_tie", "near ties" if kinds["near_tie"] != 1 else "near tie"),
                ("ambiguous", "ambiguous"),
                ("decisive", "decisive"),
                ("length", "in length only"),
                ("unknown", "unknown"),
            )
            if kinds[kind] or kind == "decisive"
        ]
        text = "by their gaps: " + ", ".join(shown)
    median = noise.margins.quantile(0.5)
    if partings.flip_max is not None and median is not None and noise.margin_max is not None:
        text += (
            f". Largest flip {number(partings.flip_max)} nats, where margins that kept their pick"
            f" move by {number(median)} (median) to {number(noise.margin_max)}"
        )
    return text


def _short(compared: Compared, ruling: Ruling) -> str:
    """Give the summary after the verdict."""
    found = ruling.blocked or ruling.failed or ruling.open
    agreement = compared.figures.agreement
    if not agreement.n:
        return found[0]
    if agreement.diverging:
        kinds = compared.figures.partings.kinds
        classes = ", ".join(f"{count(kinds[k])} {k.replace('_', ' ')}" for k in kinds if kinds[k])
        text = (
            f"{count(agreement.diverging)} of {several(agreement.n, 'sequence')} diverge ({classes}),"
            f" prefix agreement {percent(agreement.prefix_mean)}"
        )
    else:
        text = _headline(compared)
    return "; ".join([text, *found[:1]])


def _missing(criteria: Criteria, compared: Compared) -> list[str]:
    """Name what was wanted and could not be had."""
    figures = compared.figures
    wanted = []
    if figures.partings.without_tables:
        wanted.append("top_logprobs")
    if criteria.logprob_tol is not None and figures.noise.covered < figures.noise.agreeing:
        wanted.append("logprobs")
    return wanted


def _inputs(compared: Compared, control: Control | None) -> tuple[Input, ...]:
    third = (control.compared.candidate,) if control is not None else ()
    return (compared.reference, compared.candidate, *third)


def _sentences(parts: list[str]) -> str:
    return " ".join(part[:1].upper() + part[1:].rstrip(".") + "." for part in parts)
