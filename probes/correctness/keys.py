"""Ids, prompts and sequences as 64-bit hashes: 8 bytes each, whatever their length.

A collision among a million keys has a chance of 3e-8; where two keys decide about a pair, the
strings themselves are compared.
"""

from array import array
from collections.abc import Iterable, Sequence

import orjson

from .generated import Generated

MASK = (1 << 64) - 1
_IN_ONE_SET = 200_000


class Keys:
    """One kind of key of one recording, in order."""

    def __init__(self) -> None:
        """Start with no sequence seen."""
        self.hashes = array("Q")
        self.absent = 0

    def add(self, key: str | None) -> None:
        """Take the key of the next sequence."""
        if key is None:
            self.absent += 1
        else:
            self.hashes.append(hash(key) & MASK)

    @property
    def complete(self) -> bool:
        """Every sequence has a key, and there is one."""
        return not self.absent and bool(self.hashes)

    @property
    def usable(self) -> bool:
        """Every sequence has a key, and none stands twice."""
        return self.complete and count_distinct(self.hashes) == len(self.hashes)

    def shares_with(self, other: "Keys") -> bool:
        """Tell whether any key stands in both recordings, by the first ones that do."""
        step = max(1, len(self.hashes) // _IN_ONE_SET)
        for start in range(step):
            if not set(self.hashes[start::step]).isdisjoint(other.hashes):
                return True
        return False


class KeyIndex:
    """Key hash -> its ordinal, in 8 bytes a slot: an open-addressed table, two thirds full at most."""

    def __init__(self, hashes: Sequence[int]) -> None:
        """Index `hashes`, which are distinct, by their place in the sequence."""
        self._hashes = hashes
        self._bits = max(4, (len(hashes) * 3 // 2).bit_length())
        self._slots = array("Q", bytes(8 << self._bits))
        for ordinal, key in enumerate(hashes):
            self._slots[self._slot(key)] = ordinal + 1
        self.left = len(hashes)

    def take(self, key: int) -> int | None:
        """Give the ordinal of a key; None where it is unknown. Each is asked for once."""
        ordinal = self._slots[self._slot(key)]
        if not ordinal:
            return None
        self.left -= 1
        return ordinal - 1

    def _slot(self, key: int) -> int:
        """Find the slot that holds `key`, or the free one where it would go."""
        mask = (1 << self._bits) - 1
        slot = key & mask
        while self._slots[slot] and self._hashes[self._slots[slot] - 1] != key:
            slot = (slot + 1) & mask
        return slot


def hash_of(sequence: Generated) -> int:
    """Hash a sequence's tokens, as the JSON list that they are without spaces."""
    region = sequence.region or orjson.dumps(sequence.tokens)
    return hash(region.translate(None, b" ") if b" " in region else region) & MASK


def count_distinct(hashes: Sequence[int]) -> int:
    """Count distinct values; large arrays in parts, so that no set grows with the file."""
    if len(hashes) <= _IN_ONE_SET:
        return len(set(hashes))
    parts = [array("Q") for _ in range(len(hashes) // (_IN_ONE_SET // 2) + 1)]
    for value in hashes:
        parts[value % len(parts)].append(value)
    return sum(len(set(part)) for part in parts)


def combined(left: Iterable[int], right: Iterable[int]) -> "array[int]":
    """Hash pairs of hashes."""
    return array("Q", (hash(pair) & MASK for pair in zip(left, right, strict=True)))
