"""A quoted number against the numbers that the cited records hold."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from . import naming
from .cited import Cited, Value, missing_of
from .matching import SPREAD_TOLERANCE, Figure, holds, rounds_to, supports
from .quantities import Quantity
from .scopes import Named, Scope
from .units import COUNT, SHARE, TIMES, Unit, conversion

ClaimVerdict = Literal[
    "supported", "contradicted", "unsupported", "not_found", "tampered", "unchecked"
]

_LIMIT_WORDS = re.compile(
    r"\b(?:limit|cap|capped|tdp|toler\w*|rtol|atol|threshold|bound|budget|allowed)", re.IGNORECASE
)
_FINE = 3  # digits from which an unnamed statistic may also be the mean


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a claim: the verdict, by which record and metric, and why."""

    verdict: ClaimVerdict
    why: str
    evidence: tuple[str, ...] = ()
    metric: str | None = None
    recorded: str | None = None
    flags: tuple[str, ...] = ()
    loose: bool = False  # a mean that the text does not call one, where a median is recorded too


@dataclass(frozen=True, slots=True)
class Candidate:
    """A recorded value in the quoted unit."""

    value: Value
    converted: float

    def supports(self, figure: Figure) -> bool:
        """Tell whether it is what the figure says."""
        return supports(figure, self.converted)


@dataclass(frozen=True, slots=True)
class Choice:
    """Candidates that a text may mean; `lacks` says what it names and the records do not have."""

    candidates: tuple[Candidate, ...]
    lacks: str | None = None


def candidates(
    quantity: Quantity, unit: Unit, cited: Iterable[Cited], fragment: str | None
) -> list[Candidate]:
    """Give every recorded value that can be told in `unit`."""
    found = []
    for record in cited:
        for value in record.values:
            if fragment is not None and not _is_bound(value, fragment):
                continue
            factor = conversion(unit, value.unit)
            if factor is not None:
                found.append(Candidate(value, value.value * factor))
                if unit.other is not None:
                    other = value.value * value.unit.factor / unit.other
                    found.append(Candidate(value, other))
    return found


def _is_bound(value: Value, fragment: str) -> bool:
    wanted = re.sub(r"[ _]", "", fragment.lower())
    whole = re.sub(r"[ _]", "", f"{value.name}.{value.statistic}".lower())
    spelled = wanted.replace(".p50", ".median")
    return spelled in (whole, re.sub(r"[ _]", "", value.name.lower()))


def choose(
    quantity: Quantity, found: Sequence[Candidate], said: Scope, named: Named | None
) -> Choice:
    """Keep the candidates that the words around the number speak of."""
    kept = [c for c in found if not _only_a_limit(c.value, said)]
    if not kept:
        return Choice((), "a limit only")
    kept, rank = _by_name(kept, said)
    foreign = _foreign(quantity, kept, said) if rank == 0 else None
    if foreign:
        return Choice((), foreign)
    return _by_statistic(quantity, kept, named, said)


def _only_a_limit(value: Value, said: Scope) -> bool:
    return value.statistic == "limit" and not (
        _LIMIT_WORDS.search(said.own) or not naming.words(said.everything())
    )


def _by_name(found: Sequence[Candidate], said: Scope) -> tuple[list[Candidate], int]:
    """Restrict to the metrics that the nearest telling words name; rank 0 where none do."""
    for spoken in said.spoken():
        scored = [(naming.likeness(c.value.name, spoken), c) for c in found]
        best = max(score for score, _ in scored)
        if best > (0, 0):
            return [c for score, c in scored if score == best], max(1, best[0])
    return list(found), 0


def _foreign(quantity: Quantity, found: Sequence[Candidate], said: Scope) -> str | None:
    """Tell where the text names another kind of quantity than any candidate: bandwidth, of which
    only an occupancy is recorded in %.
    """
    if quantity.unit is None or quantity.unit.dimension not in (SHARE, TIMES):
        return None
    named = naming.kinds(said.own) - {"speedup"}
    if named and not any(naming.is_of_kind(c.value.name, named) for c in found):
        return f"no {' or '.join(sorted(named))}"
    return None


def _by_statistic(
    quantity: Quantity, found: list[Candidate], named: Named | None, said: Scope
) -> Choice:
    if quantity.relation == "spread":
        kept = [c for c in found if c.value.statistic in naming.SPREADS]
        return Choice(tuple(kept), None if kept else "no spread")
    silent = not naming.words(said.own) - {"x"} and named is None
    if silent or quantity.relation in ("low", "high"):
        ends = quantity.relation is not None
        return Choice(tuple(c for c in found if ends or not c.value.sampled))
    if named is not None:
        exact = [c for c in found if named.statistic in _statistics(c.value)]
        if exact:
            return Choice(tuple(exact))
        if named.sure:
            open_ = [c for c in found if c.value.statistic in naming.NEUTRAL or _odd(c.value)]
            return Choice(tuple(open_), None if open_ else f"no {named.statistic}")
    usual = [c for c in found if _needs_no_naming(quantity, c, found)]
    return Choice(tuple(usual), None if usual else "only statistics that have to be named")


def _statistics(value: Value) -> set[str]:
    """Give the names that a statistic goes by: `ratio of medians` is a median, gpu_memory_peak a max."""
    names = {value.statistic}
    names |= {w for w in ("median", "mean", "max", "min") if w in value.statistic}
    words = set(re.split(r"[^a-z0-9]+", value.name.lower()))
    names |= {naming.statistic(w) for w in words}
    return names


def _odd(value: Value) -> bool:
    """Tell a statistic that is no everyday word: what the text names cannot be held against it."""
    known = ("median", "mean", "min", "max", "limit")
    return not (
        value.statistic in known
        or value.statistic in naming.SPREADS
        or re.fullmatch(r"p[\d.]+", value.statistic)
        or any(w in value.statistic for w in ("median", "mean"))
    )


def _needs_no_naming(quantity: Quantity, candidate: Candidate, found: Sequence[Candidate]) -> bool:
    value = candidate.value
    if value.statistic in naming.SPREADS or value.sampled:
        return False
    if value.alone or value.statistic in naming.NEUTRAL or _odd(value):
        return True
    if value.statistic not in naming.MIDDLE and value.statistic != "limit":
        return quantity.figure.hedge == "up to"
    fine = quantity.figure.digits >= _FINE
    return fine or not _beside_median(candidate, found)


def _beside_median(candidate: Candidate, found: Sequence[Candidate]) -> bool:
    """Tell a mean of a metric that has a median too."""
    name = candidate.value.name
    return candidate.value.statistic == "mean" and any(
        c.value.name == name and c.value.statistic == "median" for c in found
    )


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
    found = candidates(quantity, unit, cited, fragment)
    if not found:
        return None
    chosen = choose(quantity, found, said, named) if fragment is None else Choice(tuple(found))
    if fragment is not None and named and named.sure:
        fits = [c for c in found if named.statistic in _statistics(c.value) or _odd(c.value)]
        chosen = Choice(tuple(fits) or tuple(found), None)
        if not fits:
            return told(quantity, found[0], f"the text says {named.statistic}", "contradicted")
    if not chosen.candidates:
        return _lacking(cited, found, said, chosen.lacks)
    for candidate in chosen.candidates:
        if _agrees(quantity, candidate, partner, named):
            loose = named is None and _beside_median(candidate, found) and fragment is None
            return replace(told(quantity, candidate), loose=loose)
    return _contradiction(quantity, chosen.candidates, found)


def _agrees(
    quantity: Quantity, candidate: Candidate, partner: Quantity | None, named: Named | None
) -> bool:
    figure = quantity.figure
    if quantity.sign < 0:
        quantity = replace(quantity, figure=replace(figure, value=-figure.value))
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
