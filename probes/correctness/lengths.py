"""Pairs of which one side is a prefix of the other: cut by max_tokens, stopped, or padded."""

from collections import Counter

from .divergence import Divergence
from .generated import Generated

# Hints look at this many pairs; more would only cost time.
HINTED = 1_000


class Lengths:
    """Pairs of which one side is a prefix of the other."""

    def __init__(self) -> None:
        """Start with none."""
        self.count = 0
        self.candidate_shorter = 0
        self.candidate_stopped = 0
        self.cut = 0
        self.lost_by_cut = 0.0
        self.caps: set[int] = set()
        self.context_caps: set[int | None] = set()
        self.short_lengths: set[int] = set()
        self.last_ids: Counter[int] = Counter()
        self.padding_ids: Counter[int] = Counter()

    def add(self, reference: Generated, candidate: Generated, divergence: Divergence) -> None:
        """Take a pair that differs in length only."""
        self.count += 1
        index = divergence.at
        candidate_shorter = len(candidate.tokens) == index
        short, long = (candidate, reference) if candidate_shorter else (reference, candidate)
        self.candidate_shorter += candidate_shorter
        self.candidate_stopped += candidate_shorter and candidate.finish == "stop"
        _bounded(self.short_lengths, index)
        capped = short.finish is None and short.settings.cap == index > 0
        if short.finish == "length" or capped:
            self.cut += 1
            self.lost_by_cut += 1 - index / len(long.tokens)
            _bounded(self.caps, index)
            _bounded(
                self.context_caps, None if short.prompt_len is None else short.prompt_len + index
            )
        surplus = long.tokens[index:]
        if len(surplus) == 1 and len(self.last_ids) < HINTED:
            self.last_ids[surplus[0]] += 1
        elif surplus.count(surplus[0]) == len(surplus) and len(self.padding_ids) < HINTED:
            self.padding_ids[surplus[0]] += 1

    @property
    def one_cap(self) -> int | None:
        """Give the cap at which every cut sequence of one side ended; None where there is none."""
        one_sided = self.candidate_shorter in (0, self.count)
        same_context = len(self.context_caps) == 1 and None not in self.context_caps
        if (
            self.count
            and self.cut == self.count
            and one_sided
            and (len(self.caps) == 1 or same_context)
        ):
            return max(self.caps)
        return None


def _bounded(values: set[int] | set[int | None], value: int | None) -> None:
    """Remember whether there is one value or several, not all of them."""
    if len(values) < 3:
        values.add(value)  # type: ignore[arg-type]
