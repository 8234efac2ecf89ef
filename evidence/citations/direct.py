"""A quoted number against the numbers that the cited records hold."""

from collections.abc import Sequence
from dataclasses import replace

from . import naming
from .choosing import (
    Candidate,
    Choice,
    beside_median,
    candidates,
    choose,
    is_odd,
    statistics_of,
)
from .cited import Cited, missing_of
from .matching import SPREAD_TOLERANCE, Figure, holds, rounds_to, supports
from .outcomes import ClaimVerdict, Outcome
from .quantities import Quantity
from .scopes import Named, Scope
from .units import COUNT


def judge(
    quantity: Quantity,
    cited: Sequence[Cited],
    said: Scope,
    named: Named | None,
    partner: Quantity | None = None,
    fragment: str | None = None,
) -> Outcome | None:
    """Hold a quantity with a unit against the records; None where none has its dimension."""
    unit = quantity.unit
    assert unit is not None
    found = candidates(unit, cited, fragment)
    if not found:
        return None
    chosen = choose(quantity, found, said, named) if fragment is None else Choice(tuple(found))
    if fragment is not None and named and named.sure:
        spoken = [c for c in found if named.statistic in statistics_of(c.value) or is_odd(c.value)]
        if not spoken:
            return told(quantity, found[0], f"the text says {named.statistic}", "contradicted")
        chosen = Choice(tuple(spoken))
    if not chosen.candidates:
        return _lacking(cited, found, said, chosen.lacks)
    for candidate in chosen.candidates:
        if _agrees(quantity, candidate, partner, named):
            loose = named is None and beside_median(candidate, found) and fragment is None
            return replace(told(quantity, candidate), loose=loose)
    return _contradiction(quantity, chosen.candidates, found)


def _agrees(
    quantity: Quantity, candidate: Candidate, partner: Quantity | None, named: Named | None
) -> bool:
    if quantity.sign < 0:
        negative = replace(quantity.figure, value=-quantity.figure.value)
        quantity = replace(quantity, figure=negative)
    if candidate.value.statistic not in (*naming.MIDDLE, *naming.NEUTRAL) and named is None:
        partner = None  # a range is one of the middle, unless it says otherwise
    if fits(quantity, candidate.converted, partner):
        return True
    ends = _ends(quantity, partner)
    return ends is not None and _is_interval(*ends, candidate)


def fits(quantity: Quantity, recorded: float, partner: Quantity | None) -> bool:
    """Tell whether a recorded number, in the quoted unit, is the quoted one or lies in its range."""
    if supports(quantity.figure, recorded):
        return True
    if quantity.relation == "spread" and quantity.figure.hedge == "exact":
        return rounds_to(quantity.figure, recorded, SPREAD_TOLERANCE)
    ends = _ends(quantity, partner)
    return ends is not None and holds(*ends, recorded)


def _ends(quantity: Quantity, partner: Quantity | None) -> tuple[Figure, Figure] | None:
    if quantity.relation not in ("low", "high") or partner is None:
        return None
    low, high = (quantity, partner) if quantity.relation == "low" else (partner, quantity)
    return low.figure, high.figure


def _is_interval(low: Figure, high: Figure, candidate: Candidate) -> bool:
    interval, value = candidate.value.interval, candidate.value.value
    if interval is None or not value:
        return False
    factor = candidate.converted / value
    return supports(low, interval.low * factor) and supports(high, interval.high * factor)


def told(
    quantity: Quantity, candidate: Candidate, why: str = "", verdict: ClaimVerdict = "supported"
) -> Outcome:
    """Make the outcome of a number held against one recorded value."""
    value = candidate.value
    said = f"{value.label} is {value.told()}{_in_unit(quantity, candidate)}"
    return Outcome(
        verdict, f"{why}; {said}" if why else said, (value.evidence_id,), value.label, value.told()
    )


def _in_unit(quantity: Quantity, candidate: Candidate) -> str:
    """Give the recorded value in the quoted unit where that is another."""
    if quantity.unit is None or quantity.unit_text == candidate.value.unit_name:
        return ""
    if quantity.unit.factor == candidate.value.unit.factor and quantity.unit.dimension == COUNT:
        return ""
    return f" ({candidate.converted:.6g} {quantity.unit_text})" if quantity.unit_text else ""


def _lacking(
    cited: Sequence[Cited], found: Sequence[Candidate], said: Scope, lacks: str | None
) -> Outcome:
    ids = tuple(c.key for c in cited)
    missing = quoted_missing(cited, said)
    names = list(dict.fromkeys(c.value.label for c in found))
    held = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    why = missing or f"{lacks or 'no such number'} in the cited record, which has {held}"
    return Outcome("unsupported", why, ids)


def quoted_missing(cited: Sequence[Cited], said: Scope) -> str | None:
    """Quote what a cited record says it could not measure, where the text speaks of it."""
    words = naming.words(said.everything())
    for record in cited:
        if record.status == "verified":
            entry = missing_of(record, words)
            if entry:
                return f"{record.key} lists as missing: {entry}"
    return None


def _contradiction(
    quantity: Quantity, chosen: Sequence[Candidate], found: Sequence[Candidate]
) -> Outcome:
    """Say the right value, and what may have been mixed up."""
    order = {"median": 0, "mean": 1}
    nearest = min(
        chosen,
        key=lambda c: (
            order.get(c.value.statistic, 2),
            abs(c.converted - quantity.figure.value),
        ),
    )
    outcome = told(quantity, nearest, verdict="contradicted")
    hint = _hint(quantity, nearest, found)
    return replace(outcome, why=f"{outcome.why}{hint}")


def _hint(quantity: Quantity, nearest: Candidate, found: Sequence[Candidate]) -> str:
    figure = replace(quantity.figure, hedge="exact")
    unit = quantity.unit
    if figure.value == 0 or (nearest.converted and figure.step > abs(nearest.converted)):
        return "; the quote is too coarse to say anything"
    if unit is not None and unit.dimension.startswith("bytes"):
        for power in (1, 2, 3, 4):
            for ratio in (1.024**power, 1.024**-power):
                if supports(figure, nearest.converted * ratio):
                    binary = "GiB, not GB" if ratio < 1 else "GB, not GiB"
                    return f"; powers of 1024 are mixed up ({binary}?)"
    other = next(
        (c for c in found if c.value is not nearest.value and supports(figure, c.converted)), None
    )
    if other is not None:
        return f"; {quantity.quote} is {other.value.label} of {other.value.evidence_id}"
    for power in (3, -3, 6, -6):
        if supports(figure, nearest.converted * 10.0**power):
            return "; the unit's prefix is off"
    return ""
