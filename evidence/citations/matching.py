"""Whether a recorded value supports a quoted one: rounding as written, hedges, inequalities.

The rule: the recorded value rounds to the quoted digits (half a unit in the last place), and the two
differ by at most 5 %, so that `2x` is no rounding of 1.81. A looser rule accepts wrong numbers: with a
plain tolerance of 5 %, 40 % of numbers with one altered digit pass.
"""

from dataclasses import dataclass
from typing import Literal

Hedge = Literal["exact", "about", "nearly", "just over", "at least", "at most", "up to"]

TOLERANCE = 0.05
ROUND_HEDGE = 0.10  # "about 12": one or two digits promise little
FINE_HEDGE = 0.05  # "about 12.3"
MAX_RANGE = 1.15  # a wider range says too little about one recorded value
SPREAD_TOLERANCE = 0.25  # 8.47 ± 0.07: the places of a spread are those of what it belongs to
_SLACK = 1e-9  # for binary fractions: 0.5 units in the last place of 12.345


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as written: its value, the size of its last place, and its significant digits."""

    value: float
    step: float
    digits: int
    hedge: Hedge = "exact"

    def magnitude(self) -> "Figure":
        """Give the figure without its sign."""
        return Figure(abs(self.value), self.step, self.digits, self.hedge)


def rounds_to(figure: Figure, recorded: float, tolerance: float = TOLERANCE) -> bool:
    """Tell whether `recorded`, in the figure's unit, gives the figure when rounded as written."""
    if figure.value == 0 or recorded == 0:
        return figure.value == recorded
    gap = abs(figure.value - recorded)
    half = figure.step * (0.5 + _SLACK) + abs(recorded) * 1e-12
    return gap <= half and gap <= tolerance * abs(recorded)


def supports(figure: Figure, recorded: float) -> bool:
    """Tell whether `recorded`, in the figure's unit, is what the figure and its hedge say."""
    quoted, hedge = figure.value, figure.hedge
    if hedge == "at least":
        return recorded >= quoted * (1 - _SLACK)
    if hedge == "at most":
        return recorded <= quoted * (1 + _SLACK)
    if rounds_to(figure, recorded):
        return True
    if hedge in ("exact", "up to") or recorded == 0 or quoted == 0:
        return False
    allowed = abs(quoted) * (ROUND_HEDGE if figure.digits <= 2 else FINE_HEDGE)
    beyond = recorded - quoted
    if hedge == "nearly":
        return -allowed <= beyond <= 0
    if hedge == "just over":
        return 0 <= beyond <= allowed
    return abs(beyond) <= allowed


def holds(low: Figure, high: Figure, recorded: float) -> bool:
    """Tell whether `recorded` lies in a quoted range narrow enough to say something."""
    if low.value <= 0 or high.value < low.value or high.value > low.value * MAX_RANGE:
        return False
    return low.value - low.step / 2 <= recorded <= high.value + high.step / 2
