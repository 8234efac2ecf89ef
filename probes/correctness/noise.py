"""How far log-probabilities move while the tokens still agree, and from which position on.

A rounding change moves them everywhere by about the same. A bug in one stage moves nothing before
that stage is reached: a step from 0 between generated index 0 and 1 names the decode path, one
between two context lengths a block or window of the KV cache.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import eq, sub

from .generated import Generated
from .quantiles import LogHistogram, bins_of
from .tables import Tables

# First and one past the last index of each bin; the names are the record's.
BINS: tuple[tuple[str, int, int], ...] = (
    ("0", 0, 1),
    ("1-7", 1, 8),
    ("8-31", 8, 32),
    ("32-127", 32, 128),
    ("128-511", 128, 512),
    ("512+", 512, 1 << 62),
)
# A step is a bin whose median is above this and a hundred times the bin's before it.
STEP_FROM_NATS = 1e-3
STEP_RATIO = 100
STEP_POSITIONS = 8
# Quantiles count every position up to the first number, then those of one pair in so many: with so
# many, a 99th percentile is off by a few tenths of a per cent. Maxima see every position.
COUNT_ALL = 250_000
COUNT_EVERY = 8


def bin_of(index: int) -> str:
    """Name the bin of an index."""
    return next(name for name, low, high in BINS if low <= index < high)


@dataclass(frozen=True)
class Step:
    """Where the noise starts: along `axis`, at bin `start`, from `below` to `above` nats."""

    axis: str
    start: str
    below: float
    above: float


class Profile:
    """Absolute differences by bin of one axis: the generated index, or the context's length."""

    def __init__(self) -> None:
        """Start empty."""
        self._bins = [LogHistogram() for _ in BINS]

    def add(self, differences: memoryview, start: int) -> None:
        """Count differences of consecutive positions, the first of which is `start`."""
        for (_, low, high), histogram in zip(BINS, self._bins, strict=True):
            part = differences[max(low - start, 0) : max(high - start, 0)]
            if len(part):
                histogram.add(part)

    def add_zeros(self, positions: int, start: int) -> None:
        """Count `positions` differences of 0 from `start` on."""
        for (_, low, high), histogram in zip(BINS, self._bins, strict=True):
            inside = min(start + positions, high) - max(start, low)
            if inside > 0:
                histogram.add_zeros(inside)

    def medians(self) -> dict[str, float]:
        """Give the median of each bin that has positions."""
        found = ((name, h.quantile(0.5)) for (name, _, _), h in zip(BINS, self._bins, strict=True))
        return {name: value for name, value in found if value is not None}

    def total(self) -> LogHistogram:
        """Add the bins up."""
        whole = LogHistogram()
        for histogram in self._bins:
            whole.merge(histogram)
        return whole

    def step(self, axis: str) -> Step | None:
        """Find the first bin whose noise stands far above that of the bin before it."""
        previous: float | None = None
        for (name, _, _), histogram in zip(BINS, self._bins, strict=True):
            median = histogram.quantile(0.5)
            if median is None or histogram.n < STEP_POSITIONS:
                continue
            if previous is not None and median > max(STEP_FROM_NATS, STEP_RATIO * previous):
                return Step(axis, name, previous, median)
            previous = median
        return None


class Noise:
    """Differences inside the agreeing prefixes of all pairs."""

    def __init__(self, tolerance: float | None, *, wants_kl: bool) -> None:
        """`tolerance` is what `over` counts against; `wants_kl` asks for the KL bound."""
        self._tolerance = tolerance
        self._wants_kl = wants_kl
        self.by_index = Profile()
        self.by_context = Profile()
        self.agreeing = 0
        self.covered = 0
        self.over = 0
        self.max: float | None = None
        self.max_at: tuple[int, int] | None = None
        self.margins = LogHistogram()
        self.margin_max: float | None = None
        self.kl_sum = 0.0
        self.kl_positions = 0
        self._pairs = 0
        self._counted = 0
        self._counts = True

    def add(self, reference: Generated, candidate: Generated, upto: int) -> None:
        """Take the first `upto` positions of a pair, where the tokens agree."""
        self.agreeing += upto
        if not upto:
            return
        self._pairs += 1
        self._counts = self._counted < COUNT_ALL or self._pairs % COUNT_EVERY == 0
        self._counted += upto * self._counts
        left, right = reference.logprobs, candidate.logprobs
        if left is not None and right is not None:
            if reference.holes or candidate.holes:
                self._with_holes(reference, left, right, upto)
            elif reference is candidate or left == right:
                self._equal(reference, upto)
            else:
                self._differences(reference, list(map(sub, left[:upto], right)), upto)
        if reference.tables is not None and candidate.tables is not None:
            self._margins(reference.tables, candidate.tables, upto)
        if self._wants_kl:
            self._kl(reference, candidate, upto)

    def _equal(self, reference: Generated, upto: int) -> None:
        self.covered += upto
        self.max = self.max or 0.0
        if not self._counts:
            return
        self.by_index.add_zeros(upto, 0)
        if reference.prompt_len is not None:
            self.by_context.add_zeros(upto, reference.prompt_len)

    def _differences(self, reference: Generated, found: list[float], upto: int) -> None:
        self.covered += upto
        self._extremes(reference, found, range(upto))
        if not self._counts:
            return
        bins = bins_of(found)
        self.by_index.add(bins, 0)
        if reference.prompt_len is not None:
            self.by_context.add(bins, reference.prompt_len)

    def _with_holes(
        self,
        reference: Generated,
        left: Sequence[float | None],
        right: Sequence[float | None],
        upto: int,
    ) -> None:
        """Take the positions where both sides have a value."""
        places = [i for i in range(upto) if left[i] is not None and right[i] is not None]
        found = [left[i] - right[i] for i in places]  # type: ignore[operator]
        self.covered += len(places)
        for place, bins in zip(places, _singly(found) if self._counts else [], strict=False):
            self.by_index.add(bins, place)
            if reference.prompt_len is not None:
                self.by_context.add(bins, reference.prompt_len + place)
        if found:
            self._extremes(reference, found, places)

    def _extremes(self, reference: Generated, found: list[float], places: Sequence[int]) -> None:
        largest = max(max(found), -min(found))
        if self.max is None or largest > self.max:
            self.max = largest
            at = found.index(largest) if largest in found else found.index(-largest)
            self.max_at = (reference.line, places[at])
        if self._tolerance is not None and largest > self._tolerance:
            self.over += sum(abs(d) > self._tolerance for d in found)

    def _margins(self, left: Tables, right: Tables, upto: int) -> None:
        """Collect how the margin between the reference's best two tokens changed."""
        if left is right:
            self.margins.add_zeros(upto - left.second[:upto].count(None))
            self.margin_max = self.margin_max or 0.0
            return
        changes = margin_changes(left, right, upto)
        if changes:
            self.margins.add(bins_of(changes))
            self.margin_max = max(self.margin_max or 0.0, max(changes), -min(changes))

    def _kl(self, reference: Generated, candidate: Generated, upto: int) -> None:
        for index in range(upto):
            value = kl_bound(_table_at(reference, index), _table_at(candidate, index))
            if value is not None:
                self.kl_sum += value
                self.kl_positions += 1


def margin_changes(left: Tables, right: Tables, upto: int) -> list[float]:
    """Give, a position, the margin of the left's best two tokens minus the same on the right.

    Positions where either table lacks one of the two are left out.
    """
    same_best = list(map(eq, left.best_id[:upto], right.best_id))
    same_second = list(map(eq, left.second_id[:upto], right.second_id))
    changes: list[float] = []
    columns = zip(left.best, left.second, right.best, right.second, strict=False)
    for index, (a, b, c, d) in enumerate(columns):
        if index >= upto:
            break
        if a is None or b is None:
            continue
        if same_best[index] and same_second[index] and c is not None and d is not None:
            changes.append((a - b) - (c - d))
            continue
        row = right.row(index)
        one, two = row.get(left.best_id[index]), row.get(left.second_id[index])
        if one is not None and two is not None:
            changes.append((a - b) - (one - two))
    return changes


def kl_bound(left: dict[int, float], right: dict[int, float]) -> float | None:
    """Give a lower bound of KL(left || right) in nats from two tables of log-probabilities.

    Tokens in both tables are compared one by one and all others as one rest: merging outcomes
    never raises the divergence (data processing inequality). None where no token is in both.
    """
    common = left.keys() & right.keys()
    if not common:
        return None
    total = sum(math.exp(left[t]) * (left[t] - right[t]) for t in common)
    rest = 1 - math.fsum(math.exp(left[t]) for t in common)
    other = 1 - math.fsum(math.exp(right[t]) for t in common)
    if rest > 1e-9:
        total += rest * math.log(rest / max(other, 1e-9))
    return max(total, 0.0)


def _table_at(side: Generated, index: int) -> dict[int, float]:
    table = side.tables.row(index) if side.tables is not None else {}
    own = side.logprobs[index] if side.logprobs is not None else None
    if own is not None:
        table.setdefault(side.tokens[index], own)
    return table


def _singly(found: list[float]) -> list[memoryview]:
    bins = bins_of(found)
    return [bins[i : i + 1] for i in range(len(found))]
