"""Does an optimisation change what the model generates? Two recordings in, one judgement out."""

from collections.abc import Callable
from dataclasses import dataclass

from ...evidence.payloads import CorrectnessData
from ...evidence.records import Input, Metric, Verdict
from .compare import Compared, Limits, compare
from .criteria import Criteria
from .findings import Control
from .reasons import reason, summary
from .remarks import remarks
from .report import data, metrics
from .ruling import controlled, rule
from .sources import FileSource, RecordSource, Source

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
        reason=reason(criteria, compared, ruling),
        summary=summary(compared, ruling),
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
