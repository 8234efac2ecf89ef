"""All diverging pairs: their classes, the worst of them, and what they have in common.

What they have in common often names a cause that no kernel has: a stop token kept on one side,
padding, the prompt echoed, lines in another order, another tokenizer.
"""

import heapq
from collections import Counter
from dataclasses import dataclass

from .divergence import KINDS, Divergence
from .generated import Generated
from .keys import hash_of
from .lengths import HINTED, Lengths

WORST_KEPT = 3


@dataclass(frozen=True)
class Parted:
    """A diverging pair that is worth showing."""

    id: str | None
    line: int
    divergence: Divergence


class Partings:
    """Figures of the diverging pairs."""

    def __init__(self) -> None:
        """Start with none."""
        self.count = 0
        self.kinds: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self.without_tables = 0
        self.flip_max: float | None = None
        self.flips: list[float] = []
        self.lengths = Lengths()
        self.strays: set[int] = set()
        self.echoed = 0
        self.same_text = 0
        self.at_start = 0
        self._reference_ids: set[int] = set()
        self._candidate_ids: set[int] = set()
        self._worst: list[tuple[float, float, int, Parted]] = []

    def add(self, reference: Generated, candidate: Generated, divergence: Divergence) -> None:
        """Take a diverging pair."""
        self.count += 1
        self.kinds[divergence.kind] += 1
        if divergence.kind == "length":
            self.lengths.add(reference, candidate, divergence)
        elif divergence.kind == "unknown" and divergence.lacks_table:
            self.without_tables += 1
        if divergence.flip is not None:
            self.flip_max = max(self.flip_max or 0.0, divergence.flip)
            if len(self.flips) < HINTED:
                self.flips.append(divergence.flip)
        self._keep_worst(reference, candidate, divergence)
        if self.count <= HINTED:
            self._compare(reference, candidate, divergence)

    @property
    def worst(self) -> list[Parted]:
        """The pairs with the largest gaps, else those that part earliest."""
        return [entry[3] for entry in sorted(self._worst, key=lambda e: e[:3], reverse=True)]

    @property
    def no_common_token(self) -> bool:
        """Every pair parts at once, and no token id stands on both sides."""
        return (
            self.at_start == self.count
            and bool(self._reference_ids)
            and bool(self._candidate_ids)
            and self._reference_ids.isdisjoint(self._candidate_ids)
        )

    def _keep_worst(self, reference: Generated, candidate: Generated, d: Divergence) -> None:
        longer = max(len(reference.tokens), len(candidate.tokens))
        gap = d.worst if d.worst is not None else -1.0
        entry = (gap, -d.at / longer, -self.count, Parted(reference.id, reference.line, d))
        if len(self._worst) < WORST_KEPT:
            heapq.heappush(self._worst, entry)
        else:
            heapq.heappushpop(self._worst, entry)

    def _compare(self, reference: Generated, candidate: Generated, d: Divergence) -> None:
        left, right = reference.tokens, candidate.tokens
        self.strays.add(hash_of(candidate))
        short, long = sorted((left, right), key=len)
        self.echoed += 0 < len(short) < len(long) and long[-len(short) :] == short
        self.same_text += reference.text is not None and reference.text == candidate.text
        if d.at == 0:
            self.at_start += 1
            self._reference_ids.update(left[:4096])
            self._candidate_ids.update(right[:4096])
