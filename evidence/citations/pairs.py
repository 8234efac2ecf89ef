"""The same metric of two records, and which record is the earlier state."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..comparing.direction import better
from . import naming
from .changes import Change, change_of
from .cited import Cited, Value
from .quantities import Quantity
from .scopes import Named, Scope
from .units import POINTS, SHARE, TIME, conversion

_FINE = 3  # digits from which a ratio of means is told from one of medians
_OLD_SIDE = ("baseline", "reference", "before", "old", "base", "control", "original")


@dataclass(frozen=True, slots=True)
class Pair:
    """One metric of two records, the earlier state first."""

    old: Value
    new: Value

    @property
    def ratio(self) -> float:
        """New over old, in one unit."""
        return self._new / self.old.value

    @property
    def _new(self) -> float:
        factor = conversion(self.old.unit, self.new.unit)
        return self.new.value * (factor if factor is not None else 1.0)

    @property
    def gain(self) -> float:
        """How many times better: above 1 where the new one is faster or leaner."""
        lower = better(self.old.name, self.old.unit_name) == "lower"
        return 1 / self.ratio if lower else self.ratio

    @property
    def lower_is_better(self) -> bool:
        """Tell a metric of which less is better."""
        return better(self.old.name, self.old.unit_name) == "lower"

    def turned(self) -> "Pair":
        """Swap the sides."""
        return Pair(self.new, self.old)


@dataclass(frozen=True, slots=True)
class Order:
    """Which record is the earlier state; `sure` is False where the text leaves it open."""

    old: Cited
    new: Cited
    sure: bool = True


def pairs_of(order: Order, quantity: Quantity, said: Scope, named: Named | None) -> list[Pair]:
    """Give the metrics that both records have and the text may mean, the likeliest first."""
    found = list(_common(order.old, order.new))
    if quantity.unit is not None and quantity.unit.dimension == POINTS:
        found = [p for p in found if p.old.unit.dimension == SHARE]
    if not found:
        return []
    for text in (said.own, *said.levels):
        scored = [(naming.likeness(p.old.name, naming.words(text)), p) for p in found]
        best = max(score for score, _ in scored)
        kinds = naming.kinds(text)
        if best[0] == 3 or (best[0] and any(naming.is_of_kind(p.old.name, kinds) for p in found)):
            found = [p for score, p in scored if score == best]
            break
    else:
        found = _of_speed(found, change_of(said.before, said.after), quantity)
        kinds = naming.kinds(said.own) - {"speedup", "time", "error"}
        if kinds and not any(naming.is_of_kind(p.old.name, kinds) for p in found):
            return []
    return _by_statistic(found, quantity, named)


def _of_speed(found: list[Pair], change: Change | None, quantity: Quantity) -> list[Pair]:
    """Keep times and rates where faster or slower is said, or nothing; the rest only if named."""
    if change not in ("faster", "slower", None) or quantity.sign != 0:
        return found
    speeds = [
        p for p in found if p.old.unit.dimension == TIME or p.old.unit.dimension.endswith("/s")
    ]
    return speeds if speeds or change is not None else found


def _by_statistic(found: list[Pair], quantity: Quantity, named: Named | None) -> list[Pair]:
    if named is not None:
        exact = [p for p in found if p.old.statistic == named.statistic]
        if exact or named.sure:
            return exact or [p for p in found if p.old.statistic in naming.NEUTRAL]
    kept = [p for p in found if p.old.statistic not in (*naming.SPREADS, "limit")]
    order = {"median": 0, "mean": 1}
    by_name: dict[str, list[Pair]] = {}
    for pair in kept:
        by_name.setdefault(pair.old.name, []).append(pair)
    usual = []
    for pairs in by_name.values():
        pairs.sort(key=lambda p: order.get(p.old.statistic, 2))
        usual.append(pairs[0])
        if len(pairs) > 1 and pairs[1].old.statistic == "mean" and quantity.figure.digits >= _FINE:
            usual.append(pairs[1])
    return usual


def _common(old: Cited, new: Cited) -> Iterator[Pair]:
    if old.key == new.key:
        yield from _inside(old)
        return
    ours = {(v.name, v.statistic): v for v in new.values}
    found = False
    for value in old.values:
        other = ours.get((value.name, value.statistic))
        if value.name.startswith("identity.") or value.sampled:
            continue
        if other is not None and value.value and other.value and _same_kind(value, other):
            found = True
            yield Pair(value, other)
    if not found:
        yield from _only_ones(old, new)


def _only_ones(old: Cited, new: Cited) -> Iterator[Pair]:
    """Pair the one metric of a dimension and statistic, whatever each side calls it."""
    for value in old.values:
        if value.name.startswith("identity."):
            continue
        mine = [v for v in old.values if _same_kind(v, value) and v.statistic == value.statistic]
        theirs = [v for v in new.values if _same_kind(v, value) and v.statistic == value.statistic]
        if len(mine) == len(theirs) == 1 and value.value and theirs[0].value:
            yield Pair(value, theirs[0])


def _inside(record: Cited) -> Iterator[Pair]:
    """Pair `baseline_latency` with `latency` of one record."""
    for value in record.values:
        parts = value.name.lower().split("_")
        old = [p for p in parts if p in _OLD_SIDE]
        if not old:
            continue
        rest = [p for p in parts if p not in _OLD_SIDE]
        for other in record.values:
            others = [
                p
                for p in other.name.lower().split("_")
                if p not in ("candidate", "new", "after", "optimized", "optimised")
            ]
            same = others == rest and other.statistic == value.statistic
            if same and other.value and value.value and _same_kind(value, other):
                yield Pair(value, other)


def _same_kind(one: Value, two: Value) -> bool:
    return one.unit.dimension == two.unit.dimension
