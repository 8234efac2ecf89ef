"""How much of two recordings agrees: rates, prefixes, histogram, and what was exercised.

The definitions are the contract's: prefix agreement is the first divergence over the longer length
(1 when identical), tokens at risk are those generated in an equal context (first divergence + 1
where a token differs, else the shorter length).
"""

from array import array
from collections import Counter

from .generated import Generated
from .intervals import BOOTSTRAP_MAX
from .keys import count_distinct, hash_of
from .noise import BINS, bin_of

FIRST_DIVERGENCES_KEPT = 1_000


class Agreement:
    """Figures of all pairs with a token in them; `n` counts those pairs."""

    def __init__(self, threshold: float | None = None) -> None:
        """`below` counts pairs whose prefix agreement is under `threshold`."""
        self._threshold = threshold
        self.below = 0
        self.vacuous = 0
        self.identical = 0
        self.diverging = 0
        self.first_kept: list[int | None] = []
        self.first: Counter[int] = Counter()
        self.worst: tuple[float, int, int] | None = None
        self._identical_positions = 0
        self._parted_positions = 0
        self._parted_equal = 0
        self._macro_sum = 0.0
        self._prefix_sum = 0.0
        self._prefix_squares = 0.0
        self._prefixes: list[float] | None = []

    def add_vacuous(self) -> None:
        """Take a pair of two empty sequences."""
        self.vacuous += 1
        self._keep(None)

    def add_identical(self, tokens: int, pairs: int = 1) -> None:
        """Take identical pairs of `tokens` tokens in all."""
        self.identical += pairs
        self._identical_positions += tokens
        room = FIRST_DIVERGENCES_KEPT - len(self.first_kept)
        if room > 0:
            self.first_kept.extend([None] * min(pairs, room))

    def add_parted(self, index: int, equal: int, longer: int, line: int) -> None:
        """Take a pair that parts at `index`, with `equal` positions of `longer` the same."""
        self._keep(index)
        self.diverging += 1
        self.first[index] += 1
        prefix = index / longer
        self.below += self._threshold is not None and prefix < self._threshold
        if self.worst is None or prefix < self.worst[0]:
            self.worst = (prefix, line, index)
        self._parted_equal += equal
        self._parted_positions += longer
        self._macro_sum += equal / longer
        self._prefix_sum += prefix
        self._prefix_squares += prefix * prefix
        if self._prefixes is not None:
            self._prefixes.append(prefix)
            if len(self._prefixes) > BOOTSTRAP_MAX:
                self._prefixes = None

    def _keep(self, index: int | None) -> None:
        if len(self.first_kept) < FIRST_DIVERGENCES_KEPT:
            self.first_kept.append(index)

    @property
    def n(self) -> int:
        """Pairs with at least one token."""
        return self.identical + self.diverging

    @property
    def prefix_sum(self) -> float:
        """Sum of all prefix agreements."""
        return self.identical + self._prefix_sum

    @property
    def prefix_mean(self) -> float:
        """Mean prefix agreement, 0 to 1; only where there is a pair."""
        return self.prefix_sum / self.n

    @property
    def prefix_variance(self) -> float:
        """Variance of the prefix agreements."""
        return (self.identical + self._prefix_squares) / self.n - self.prefix_mean**2

    @property
    def prefixes(self) -> list[float] | None:
        """Every prefix agreement, identical pairs first; None where there are too many."""
        if self._prefixes is None or self.n > BOOTSTRAP_MAX:
            return None
        return [1.0] * self.identical + self._prefixes

    @property
    def positions(self) -> int:
        """Positions of the longer sequence, over all pairs."""
        return self._identical_positions + self._parted_positions

    @property
    def equal_positions(self) -> int:
        """Positions with the same token on both sides, over all pairs."""
        return self._identical_positions + self._parted_equal

    @property
    def macro(self) -> float:
        """Mean over pairs of each pair's position-wise agreement."""
        return (self.identical + self._macro_sum) / self.n

    def first_median(self) -> float | None:
        """Give the median first divergence of the diverging pairs."""
        total = self.first.total()
        if not total:
            return None
        low = _nth(self.first, (total - 1) // 2)
        high = _nth(self.first, total // 2)
        return (low + high) / 2

    def histogram(self) -> dict[str, int]:
        """Count first divergences by bin, and identical pairs."""
        counts = {name: 0 for name, _, _ in BINS}
        for index, count in self.first.items():
            counts[bin_of(index)] += count
        return {**counts, "identical": self.identical}


class Exercise:
    """What the pairs put to the test: distinct sequences, tokens at risk, the longest context."""

    def __init__(self) -> None:
        """Start with no pair."""
        self.hashes = array("Q")
        self.longest_context: int | None = None
        self._empty = 0
        self._risks: Counter[int] = Counter()

    def add(self, reference: Generated, risk: int) -> None:
        """Take the reference side of a pair, `risk` tokens of which were compared."""
        self.hashes.append(hash_of(reference))
        self._empty += not reference.tokens
        self._risks[risk] += 1
        if reference.prompt_len is not None:
            self.longest_context = max(self.longest_context or 0, reference.prompt_len + risk)

    def add_plain(self, hashes: list[int], lengths: list[int]) -> None:
        """Take identical pairs by hash and length."""
        self.hashes.extend(hashes)
        self._risks.update(lengths)

    @property
    def at_risk(self) -> int:
        """Tokens compared, over all pairs."""
        return sum(risk * count for risk, count in self._risks.items())

    @property
    def longest(self) -> int:
        """The most tokens compared in one pair."""
        return max(self._risks, default=0)

    @property
    def decoded(self) -> bool:
        """Whether any pair went beyond its first token, which prefill alone gives."""
        return self.longest > 1

    def distinct(self) -> int:
        """Count distinct reference sequences; repeats are one sample."""
        return count_distinct(self.hashes) - bool(self._empty)

    def by_bin(self) -> dict[str, int]:
        """Count tokens at risk by generated index."""
        counts = {name: 0 for name, _, _ in BINS}
        for risk, count in self._risks.items():
            for name, low, high in BINS:
                counts[name] += count * max(min(risk, high) - low, 0)
        return counts


def _nth(counts: Counter[int], n: int) -> int:
    """Give the n-th smallest of counted values, from 0."""
    for value in sorted(counts):
        n -= counts[value]
        if n < 0:
            return value
    raise IndexError(n)
