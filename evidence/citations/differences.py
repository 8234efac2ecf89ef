"""Differences recomputed from two cited records: `saves 5.5 ms`, `5.5 ms faster`."""

from collections.abc import Sequence

from .changes import Change, change_of
from .conditions import flags_of
from .matching import supports
from .outcomes import Outcome, judged
from .pairs import Order, Pair, pairs_of
from .quantities import Quantity
from .scopes import Named, Scope
from .units import conversion


def judge(
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
        or (change is None and quantity.sign * moved < 0)
    )
    right = not wrong and supports(quantity.figure, abs(moved))
    told = f"{abs(moved):.4g} {quantity.unit_text}"
    why = f"{pair.old.label} goes from {pair.old.told()} to {pair.new.told()}: {told}"
    return Outcome(
        judged(right),
        f"{why}, the other way" if wrong else why,
        (pair.old.evidence_id, pair.new.evidence_id),
        pair.old.label,
        f"{told} ({pair.old.told()}, {pair.new.told()})",
        flags_of(order),
    )
