"""Which recorded values a text may mean: by unit, by the words around the number, by its statistic."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from . import naming
from .cited import Cited, Value
from .matching import Figure, supports
from .quantities import Quantity
from .scopes import Named, Scope
from .units import SHARE, TIMES, Unit, conversion

_LIMIT_WORDS = re.compile(
    r"\b(?:limit|cap|capped|tdp|toler\w*|rtol|atol|threshold|bound|budget|allowed)", re.IGNORECASE
)
_FINE = 3  # digits from which an unnamed statistic may also be the mean


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


def candidates(unit: Unit, cited: Iterable[Cited], fragment: str | None) -> list[Candidate]:
    """Give every recorded value that can be told in `unit`."""
    found = []
    for record in cited:
        for value in record.values:
            if fragment is not None and not is_bound(value, fragment):
                continue
            factor = conversion(unit, value.unit)
            if factor is not None:
                found.append(Candidate(value, value.value * factor))
                if unit.other is not None:
                    other = value.value * value.unit.factor / unit.other
                    found.append(Candidate(value, other))
    return found


def is_bound(value: Value, fragment: str) -> bool:
    """Tell whether `metric.statistic`, or `metric` alone, names a value."""
    name, wanted = value.name.lower(), fragment.lower()
    if wanted == name:
        return True
    rest = wanted.removeprefix(f"{name}.")
    return rest != wanted and naming.statistic(rest) == value.statistic


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
    """Restrict to the metrics that the nearest telling words name; rank 0 where none do.

    Words of the number's own clause choose among all records, words further off within each record.
    """
    own, *further = said.spoken()
    kept, rank = _best([found], own)
    if rank:
        return kept, rank
    by_record: dict[str, list[Candidate]] = {}
    for candidate in found:
        by_record.setdefault(candidate.value.evidence_id, []).append(candidate)
    for spoken in further:
        kept, rank = _best(list(by_record.values()), spoken)
        if rank:
            return kept, rank
    return list(found), 0


def _best(
    groups: Sequence[Sequence[Candidate]], spoken: frozenset[str]
) -> tuple[list[Candidate], int]:
    kept: list[Candidate] = []
    rank = 0
    for group in groups:
        scored = [(naming.likeness(c.value.name, spoken), c) for c in group]
        best = max(score for score, _ in scored)
        kept += [c for score, c in scored if score == best]
        rank = max(rank, best[0], int(best > (0, 0)))
    return kept, rank


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
        exact = [c for c in found if named.statistic in statistics_of(c.value)]
        if exact:
            return Choice(tuple(exact))
        if named.sure:
            open_ = [c for c in found if c.value.statistic in naming.NEUTRAL or is_odd(c.value)]
            return Choice(tuple(open_), None if open_ else f"no {named.statistic}")
    usual = [c for c in found if _needs_no_naming(quantity, c, found)]
    return Choice(tuple(usual), None if usual else "only statistics that have to be named")


def statistics_of(value: Value) -> set[str]:
    """Give the names that a statistic goes by: `ratio of medians` is a median, gpu_memory_peak a max."""
    names = {value.statistic}
    names |= {w for w in ("median", "mean", "max", "min") if w in value.statistic}
    words = set(re.split(r"[^a-z0-9]+", value.name.lower()))
    names |= {naming.statistic(w) for w in words}
    return names


def is_odd(value: Value) -> bool:
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
    if value.alone or value.statistic in naming.NEUTRAL or is_odd(value):
        return True
    if value.statistic not in naming.MIDDLE and value.statistic != "limit":
        return quantity.figure.hedge == "up to"
    fine = quantity.figure.digits >= _FINE
    return fine or not beside_median(candidate, found)


def beside_median(candidate: Candidate, found: Sequence[Candidate]) -> bool:
    """Tell a mean of a metric that has a median too."""
    name = candidate.value.name
    return candidate.value.statistic == "mean" and any(
        c.value.name == name and c.value.statistic == "median" for c in found
    )
