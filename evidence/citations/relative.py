"""Factors, percentages and points: recorded as such, or recomputed from two records."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from . import changes, direct, orders, ratios, shares, surroundings
from .binding import Binding, all_of
from .cited import Cited
from .mentions import Mention
from .outcomes import Outcome
from .pairs import Order
from .passages import Document, Passage
from .quantities import Quantity
from .scopes import Named, Scope
from .units import POINTS, RATIO, TIMES

_ADJACENT = 14  # characters between a number and its word of change


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a text with all that is known of its place there."""

    document: Document
    library: dict[str, Cited]
    passage: Passage
    index: int
    quantity: Quantity
    said: Scope
    named: Named | None

    @property
    def partner(self) -> Quantity | None:
        """The neighbour that it is tied to."""
        index = self.quantity.partner
        return self.document.quantities[index] if index is not None else None

    def cited(self, mentions: Sequence[Mention]) -> list[Cited]:
        """Give the records of mentions, each once, in the order given."""
        return [self.library[key] for key in dict.fromkeys(m.key for m in mentions)]


def judge(
    number: Number,
    binding: Binding,
    cited: Sequence[Cited],
    reach: Sequence[Cited],
    fragment: str | None,
) -> Outcome | None:
    """Judge a number in x, % or points; None where nothing of the kind is recorded.

    `reach`: the cited records and, for a comparison, those that it compares.
    """
    quantity, said = number.quantity, number.said
    factor = quantity.unit is not None and quantity.unit.dimension == TIMES
    changed = is_change(quantity, said)
    outcomes = [shares.judge(quantity, _whole(number), reach, said)]
    if not changed or factor or fragment is not None:
        plain = [_only_factors(c, said) for c in reach] if changed else reach
        outcomes.append(direct.judge(quantity, plain, said, number.named, number.partner, fragment))
    left_over = changes.change_of(said.before, said.after) == "of"
    if changed or left_over or factor or len(cited) > 1:
        pairs = pairs_to_compare(number, binding, cited)
        outcomes.append(ratios.judge(quantity, pairs, said, number.named, number.partner))
        outcomes.append(ratios.judge_factor_metric(quantity, reach, said))
    found = [o for o in outcomes if o is not None]
    order = {"supported": 0, "contradicted": 1}
    return min(found, key=lambda o: order.get(o.verdict, 2), default=None)


def _only_factors(cited: Cited, said: Scope) -> Cited:
    """Leave out recorded ratios (new over old is no speed-up), and speed-ups where slower is said."""
    slower = changes.change_of(said.before, said.after) == "slower"
    kept = tuple(
        v for v in cited.values if v.unit.dimension != RATIO and not (slower and "speed" in v.name)
    )
    return replace(cited, values=kept)


def _whole(number: Number) -> Quantity | None:
    """Give what a percentage is of: `11 % of the 140 GiB`, `2.4 TB/s of 4.8 TB/s (50 %)`."""
    if number.quantity.relation == "share":
        return number.partner
    before = number.document.quantities[number.index - 1] if number.index else None
    if before is None or before.relation != "whole":
        return None
    return before if number.quantity.start - before.end < _ADJACENT else None


def is_change(quantity: Quantity, said: Scope) -> bool:
    """Tell a number that is the size of a change from one that is a level."""
    if quantity.relation in ("from", "to"):
        return False
    if quantity.sign != 0 or (quantity.unit is not None and quantity.unit.dimension == POINTS):
        return True
    change = changes.change_of(said.before, said.after)
    if change in (None, "of"):
        return False
    if changes.is_difference(said.before, said.after):
        return True
    return changes.change_of(said.before[-_ADJACENT - 12 :], said.after[:_ADJACENT]) is not None


def pairs_to_compare(number: Number, binding: Binding, cited: Sequence[Cited]) -> list[Order]:
    """Give the pairs to compare: of the binding, else of the sentence, else of what is near."""
    document, passage = number.document, number.passage
    pool = list(cited)
    if not _is_pair(pool):
        pool = _in_text_order(number, [*binding.mentions, *all_of(passage)])
    if not _is_pair(pool):
        near = surroundings.near(document, passage)
        pool = _in_text_order(number, [*near, *binding.mentions])
    pool = [c for c in pool if c.status == "verified"]
    return orders.orders(document, passage, number.quantity.end, pool) if pool else []


def _is_pair(pool: Sequence[Cited]) -> bool:
    return len(pool) > 1 or any(c.inputs for c in pool)


def _in_text_order(number: Number, mentions: Sequence[Mention]) -> list[Cited]:
    first = number.document.first_mention
    return sorted(number.cited(mentions), key=lambda c: m.start if (m := first(c.key)) else 0)
