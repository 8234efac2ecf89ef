"""How much of two recordings agrees: rates, prefixes, histogram, and what was exercised.

The definitions are the contract's: prefix agreement is the first divergence over the longer length
(1 when identical), tokens at risk are those generated in an equal context (first divergence + 1
where a token differs, else the shorter length).
"""

from array import array
from collections import Counter

from .intervals import BOOTSTRAP_MAX
from .keys import count_distinct, hashed_tokens
from .noise import BINS, bin_of

FIRST_DIVERGENCES_KEPT = 1_000


class Agreement:
    """Figures of all pairs with a token in them; `n` counts those pairs."""

    def __init__(self, threshold: float | None = None) -> None:
        """`below` counts pairs whose prefix agreement is under `threshold`."""
        self._threshold = threshold
        self.below = 0
        self.n = 0
        self.vacuous = 0
        self.identical = 0
        self.equal_positions = 0
        self.positions = 0
        self.macro_sum = 0.0
        self.prefix_sum = 0.0
        self.prefix_squares = 0.0
        self.prefixes: list[float] | None = []
        self.first_kept: list[int | None] = []
        self.first: Counter[int] = Counter()
        self.worst: tuple[float, int, int] | None = None

    @property
    def diverging(self) -> int:
        """Pairs that are not identical."""
        return self.n - self.identical

    def add_vacuous(self) -> None:
        """Take a pair of two empty sequences."""
        self.vacuous += 1
        self._keep(None)

    def add_identical(self, length: int) -> None:
        """Take an identical pair of `length` tokens."""
        self.identical += 1
        self._keep(None)
        self._add(1.0, length, length)

    def add_parted(self, index: int, equal: int, longer: int, line: int) -> None:
        """Take a pair that parts at `index`, with `equal` positions of `longer` the same."""
        self._keep(index)
        self.first[index] += 1
        prefix = index / longer
        self.below += self._threshold is not None and prefix < self._threshold
        if self.worst is None or prefix < self.worst[0]:
            self.worst = (prefix, line, index)
        self._add(prefix, equal, longer)

    def _add(self, prefix: float, equal: int, longer: int) -> None:
        self.n += 1
        self.equal_positions += equal
        self.positions += longer
        self.macro_sum += equal / longer
        self.prefix_sum += prefix
        self.prefix_squares += prefix * prefix
        if self.prefixes is not None:
            self.prefixes.append(prefix)
            if self.n > BOOTSTRAP_MAX:
                self.prefixes = None

    def _keep(self, index: int | None) -> None:
        if len(self.first_kept) < FIRST_DIVERGENCES_KEPT:
            self.first_kept.append(index)

    @property
    def prefix_mean(self) -> float:
        """Mean prefix agreement, 0 to 1; only where there is a pair."""
        return self.prefix_sum / self.n

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
        self.at_risk = 0
        self.longest = 0
        self.longest_context: int | None = None
        self.decoded = 0
        self._empty = 0
        self._risks: Counter[int] = Counter()

    def add(self, tokens: list[int], prompt_len: int | None, risk: int) -> None:
        """Take the reference side of a pair, `risk` tokens of which were compared."""
        self.hashes.append(hashed_tokens(tokens))
        self._empty += not tokens
        self.at_risk += risk
        self._risks[risk] += 1
        self.longest = max(self.longest, risk)
        self.decoded += risk > 1
        if prompt_len is not None:
            self.longest_context = max(self.longest_context or 0, prompt_len + risk)

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
