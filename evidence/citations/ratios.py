"""Ratios, changes in per cent and differences, recomputed from two cited records.

`1.8x faster`, `45 % less`, `81 % higher`, `saves 5.5 ms`: the same metric, unit and statistic of both
records is taken, the direction in words has to hold, and a difference in GPU, driver or clocks is flagged.
"faster by N %" is read both ways that people use: by time saved and by speed gained.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..comparing.comparability import Difference, differences
from ..comparing.direction import better
from . import naming
from .changes import Change, change_of
from .cited import Cited, Value
from .direct import Outcome, fits
from .matching import supports
from .quantities import Quantity
from .scopes import Named, Scope
from .units import POINTS, SHARE, TIME, TIMES, conversion

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


def judge(
    quantity: Quantity,
    orders: Sequence[Order],
    said: Scope,
    named: Named | None,
    partner: Quantity | None = None,
) -> Outcome | None:
    """Recompute a factor, a change in per cent or in points; None where no pair has a metric."""
    change = _change(quantity, said)
    best: Outcome | None = None
    for order in orders:
        pairs = pairs_of(order, quantity, said, named)
        for pair in pairs:
            for turned in (False, True) if _either(order, change, quantity) else (False,):
                used = pair.turned() if turned else pair
                outcome = _judge_pair(quantity, used, change, order, partner)
                if outcome.verdict == "supported":
                    return outcome
                best = best or outcome
    return best


def _change(quantity: Quantity, said: Scope) -> Change | None:
    """Read the change in the number's clause, for `drops by 2.45 GiB (11 %)` in the one before."""
    change = change_of(said.before, said.after)
    if change is None and quantity.sign == 0 and said.earlier:
        return change_of(said.earlier[0], "")
    return change


def _either(order: Order, change: Change | None, quantity: Quantity) -> bool:
    """A factor without a direction is as true the other way round."""
    return not order.sure or (
        change is None
        and quantity.sign == 0
        and quantity.unit is not None
        and quantity.unit.dimension == TIMES
    )


def pairs_of(order: Order, quantity: Quantity, said: Scope, named: Named | None) -> list[Pair]:
    """Give the metrics that both records have and the text may mean, the likeliest first."""
    found = list(_common(order.old, order.new))
    if quantity.unit is not None and quantity.unit.dimension == POINTS:
        found = [p for p in found if p.old.unit.dimension == SHARE]
    if not found:
        return []
    for spoken in said.spoken():
        scored = [(naming.likeness(p.old.name, spoken), p) for p in found]
        best = max(score for score, _ in scored)
        if best[0] > 0:
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


def _judge_pair(
    quantity: Quantity, pair: Pair, change: Change | None, order: Order, partner: Quantity | None
) -> Outcome:
    unit = quantity.unit
    assert unit is not None
    if unit.dimension == TIMES:
        expected = _factors(pair, change)
    elif unit.dimension == POINTS:
        expected = [abs(pair.new.value - pair.old.value) * pair.old.unit.factor / unit.factor]
    else:
        expected = [v / unit.factor for v in _shares(pair, change, quantity.sign)]
    right = next((v for v in expected if v > 0 and fits(quantity, v, partner)), None)
    shown = right if right is not None else expected[0]
    told = f"{_number(shown)}{quantity.gap if unit.dimension != TIMES else ''}{quantity.unit_text}"
    base = f"{pair.old.label} goes from {pair.old.told()} to {pair.new.told()}"
    why = f"{base}: {told}" if right is not None else _why_not(base, told, pair, change, shown)
    flags = flags_of(order)
    return Outcome(
        "supported" if right is not None else "contradicted",
        why,
        (pair.old.evidence_id, pair.new.evidence_id),
        pair.old.label,
        f"{told} ({pair.old.told()}, {pair.new.told()})",
        flags,
    )


def _why_not(base: str, told: str, pair: Pair, change: Change | None, shown: float) -> str:
    if shown < 0 or (change in ("faster", "slower") and _wrong_way(pair, change)):
        way = "faster or better" if pair.gain > 1 else "slower or worse"
        if change in ("up", "down"):
            way = "up" if pair.ratio > 1 else "down"
        return f"{base}: that is {way}, {_number(pair.ratio)} of what it was"
    return f"{base}: {told}"


def _wrong_way(pair: Pair, change: Change | None) -> bool:
    return (change == "faster") != (pair.gain > 1)


def _factors(pair: Pair, change: Change | None) -> list[float]:
    ratio = pair.ratio
    if change == "faster":
        return [pair.gain]
    if change == "slower":
        return [1 / pair.gain]
    if change in ("up", "of"):
        return [ratio]
    if change == "down":
        return [1 / ratio]
    return [pair.gain, 1 / pair.gain]


def _shares(pair: Pair, change: Change | None, sign: int) -> list[float]:
    """Give the readings of a percentage as shares, the usual one first.

    A written sign gives the direction, unless a word says that better or worse is meant.
    """
    ratio = pair.ratio
    saved, added = 1 - ratio, ratio - 1
    if change == "faster":
        return [saved, pair.gain - 1] if pair.lower_is_better else [added]
    if change == "slower":
        return [added, 1 - pair.gain] if pair.lower_is_better else [saved]
    if sign < 0 or (change == "down" and sign == 0):
        return [saved]
    if sign > 0 or change == "up":
        return [added, pair.gain - 1] if sign > 0 and change is None else [added]
    if change == "of":
        return [ratio]
    return [saved if ratio < 1 else added, pair.gain - 1, ratio]


def judge_factor_metric(quantity: Quantity, cited: Sequence[Cited], said: Scope) -> Outcome | None:
    """Hold `81 % faster` against a recorded speed-up of 1.81x."""
    unit = quantity.unit
    assert unit is not None
    change = change_of(said.before, said.after)
    if unit.dimension != SHARE or change not in ("faster", "slower", "up", "down"):
        return None
    for record in cited:
        for value in record.values:
            if value.unit.dimension != TIMES or value.value <= 0:
                continue
            saved, added = 1 - 1 / value.value, value.value - 1
            readings = {"faster": (saved, added), "down": (saved,), "up": (added,)}
            expected = [v / unit.factor for v in readings.get(change, (-saved, -added))]
            right = next((v for v in expected if v > 0 and supports(quantity.figure, v)), None)
            told = f"{value.label} is {value.told()}: {_number(expected[0])} {quantity.unit_text}"
            verdict = "supported" if right is not None else "contradicted"
            return Outcome(
                "supported" if verdict == "supported" else "contradicted",
                told,
                (value.evidence_id,),
                value.label,
                value.told(),
            )
    return None


def judge_difference(
    quantity: Quantity, orders: Sequence[Order], said: Scope, named: Named | None
) -> Outcome | None:
    """Recompute `saves 5.5 ms` or `5.5 ms faster` as the difference of one metric."""
    unit = quantity.unit
    assert unit is not None
    change = change_of(said.before, said.after)
    best: Outcome | None = None
    for order in orders:
        for pair in pairs_of(order, quantity, said, named):
            factor = conversion(unit, pair.old.unit)
            if factor is None:
                continue
            old, new = (
                pair.old.value * factor,
                pair.new.value * (conversion(unit, pair.new.unit) or 1),
            )
            outcome = _difference(quantity, pair, new - old, change, order)
            if outcome.verdict == "supported":
                return outcome
            best = best or outcome
    return best


def _difference(
    quantity: Quantity, pair: Pair, moved: float, change: Change | None, order: Order
) -> Outcome:
    improved = moved < 0 if pair.lower_is_better else moved > 0
    wrong = order.sure and (
        (change == "down" and moved > 0)
        or (change == "up" and moved < 0)
        or (change == "faster" and not improved)
        or (change == "slower" and improved)
    )
    right = not wrong and supports(quantity.figure, abs(moved))
    told = f"{_number(abs(moved))} {quantity.unit_text}"
    why = f"{pair.old.label} goes from {pair.old.told()} to {pair.new.told()}: {told}"
    return Outcome(
        "supported" if right else "contradicted",
        f"{why}, the other way" if wrong else why,
        (pair.old.evidence_id, pair.new.evidence_id),
        pair.old.label,
        f"{told} ({pair.old.told()}, {pair.new.told()})",
        flags_of(order),
    )


def flags_of(order: Order) -> tuple[str, ...]:
    """Flag what makes two records hard to compare: GPU, driver, clocks; with them the host."""
    if order.old.key == order.new.key:
        return ()
    found = differences(order.old.record, order.new.record)
    named = {name for d in found if (name := _condition(d))}
    if not named:
        return ()
    named |= {"host" for d in found if d.field == "host"}
    return (f"not_comparable: {', '.join(sorted(named))}",)


def _condition(difference: Difference) -> str | None:
    field = difference.field
    if field == "gpu.clocks":
        locked = all("MHz" in str(side) for side in (difference.baseline, difference.candidate))
        return "sm_clock_mhz" if locked else "clocks"
    if field in ("gpu.name", "gpu.count"):
        return "gpu"
    if field in ("gpu.driver", "gpu.cuda"):
        return field.removeprefix("gpu.")
    return field if field in ("cpu", "model") else None


def _number(value: float) -> str:
    return f"{value:.4g}"
