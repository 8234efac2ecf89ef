"""Factors and changes in per cent, recomputed from two cited records.

`1.8x faster`, `45 % less`, `81 % higher`: the same metric, unit and statistic of both records is taken, the
direction in words has to hold, and a difference in GPU, driver or clocks is flagged. "faster by N %" is
read both ways that people use: by time saved and by speed gained.
"""

from collections.abc import Sequence

from .changes import Change, change_of
from .cited import Cited
from .conditions import flags_of
from .direct import fits
from .matching import supports
from .outcomes import Outcome, held, judged
from .pairs import Order, Pair, pairs_of
from .quantities import Quantity
from .scopes import Named, Scope
from .units import POINTS, SHARE, TIMES


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
        judged(right is not None),
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
    if unit.dimension == TIMES and change == "slower":
        speedups = [v for r in cited for v in r.values if "speed" in v.name and v.value > 1]
        return held(speedups[0], False) if speedups else None
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
            ids = (value.evidence_id,)
            return Outcome(judged(right is not None), told, ids, value.label, value.told())
    return None


def _number(value: float) -> str:
    return f"{value:.4g}"
