"""Flags on a ratio of records that were made under different conditions."""

from ..comparing.comparability import Difference, differences
from .pairs import Order


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
