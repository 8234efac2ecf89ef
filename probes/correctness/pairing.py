"""Which candidate sequence belongs to which reference sequence, and how sure that is.

By id where every sequence has one and none repeats, else by the prompt's hash on the same terms,
else by line. Both recordings are read side by side; only where their order differs is the candidate
indexed and read by position.
"""

from array import array
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import compress
from operator import eq
from typing import Literal

from .feed import Feed
from .generated import Generated
from .keys import MASK, KeyIndex, Keys, combined, count_distinct
from .lines import BLANK
from .plain import Plain, looks_plain, plain_lines

Rule = Literal["id", "prompt", "line"]
Pair = tuple[Generated | None, Generated | None]
# The first lines are read one by one, for they are shown and looked at more closely.
_READ_SINGLY = 1_000
_BLOCK_LEAST = 8


class OrderDiffers(Exception):
    """The two recordings do not list the same ids (or prompts) in the same order."""


@dataclass
class Alignment:
    """How the sequences were paired. A doubt leaves no verdict but UNPROVEN."""

    rule: Rule = "line"
    order_differs: bool = False
    only_reference: int = 0
    only_candidate: int = 0
    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class Catalogue:
    """The keys of one recording: hashes of ids and prompts, and where each sequence lies."""

    ids: Keys = field(default_factory=Keys)
    prompts: Keys = field(default_factory=Keys)
    positions: "array[int]" = field(default_factory=lambda: array("Q"))
    lines: "array[int]" = field(default_factory=lambda: array("Q"))

    def add_nameless(self, count: int) -> None:
        """Take sequences without keys."""
        self.ids.absent += count
        self.prompts.absent += count

    def add(self, sequence: Generated) -> None:
        """Take the keys of the next sequence."""
        self.ids.add(sequence.id)
        self.prompts.add(sequence.prompt)

    def places(self, ordinal: int) -> tuple[int, int]:
        """Give the position and line number of a sequence by its ordinal."""
        return self.positions[ordinal], self.lines[ordinal]


def in_step(left: Feed, right: Feed, known: Catalogue, *, strict: bool) -> Iterator[Pair | Plain]:
    """Pair sequence by sequence. Equal lines are read once and give one object for both sides.

    `known` collects the keys of the left side, and counts as absent what either side lacks. What
    one side has more of comes last, beside None. After a thousand lines, equal lines of plain ids
    come many at once.

    Raises:
        OrderDiffers: when `strict`, at the first pair whose ids (else prompts) differ.
    """
    read = 0
    while True:
        if not left.pending and not right.pending:
            if read >= _READ_SINGLY and left.only_lines and right.only_lines:
                read = read if (yield from _by_block(left, right, known)) else 0
            read += 1
            a, b = left.raw(), right.raw()
            if a is not None and a == b and left.settings == right.settings:
                for sequence in left.read(a):
                    known.add(sequence)
                    yield sequence, sequence
                continue
            left.take(a)
            right.take(b, left.pending)
        if not left.pending:
            left.take(left.raw())
        if not right.pending:
            right.take(right.raw())
        if not left.pending or not right.pending:
            break
        one, other = left.pending.popleft(), right.pending.popleft()
        if strict and _out_of_step(one, other):
            raise OrderDiffers
        known.add(one)
        known.ids.absent += other.id is None
        known.prompts.absent += not _same_kind(one.prompt, other.prompt)
        yield one, other
    for rest in _rest(left):
        known.add(rest)
        yield rest, None
    for rest in _rest(right):
        known.add(rest)
        yield None, rest


def _by_block(left: Feed, right: Feed, known: Catalogue) -> Generator[Pair | Plain, None, bool]:
    """Take whole blocks of lines while they are lists of plain ids and most are equal.

    Gives False where they are not, and it is not worth another look soon.
    """
    while True:
        ours, theirs = left.ahead(), right.ahead()
        size = min(len(ours), len(theirs))
        if size < _BLOCK_LEAST:
            return True
        same = list(map(eq, ours, theirs))
        plain = plain_lines(list(compress(ours, same))) if 2 * sum(same) > size else None
        apart = [i for i, equal in enumerate(same) if not equal]
        if plain is None or not all(looks_plain(l[i]) for l in (ours, theirs) for i in apart):
            return False
        first, other = left.number + 1, right.number + 1
        left.skip(size)
        right.skip(size)
        known.add_nameless(size)
        yield plain
        for i in apart:
            [mine] = left.read(ours[i].strip(BLANK), first + i)
            [yours] = right.read(theirs[i].strip(BLANK), other + i, mine)
            yield mine, yours


def by_position(
    left: Feed, right: Feed, rule: Rule, listed: Catalogue, index: KeyIndex
) -> Iterator[Pair]:
    """Pair each sequence of the left side with the right side's of the same id or prompt.

    `listed` is the right side's catalogue, `index` finds its keys; what nothing asked for stays in.
    """
    while True:
        if not left.pending:
            left.take(left.raw())
        if not left.pending:
            return
        one = left.pending.popleft()
        key = one.id if rule == "id" else one.prompt
        ordinal = index.take(hash(key) & MASK)
        other = right.fetch(*listed.places(ordinal)) if ordinal is not None else None
        if other is not None and key != (other.id if rule == "id" else other.prompt):
            other = None
        yield one, other


def catalogue(feed: Feed) -> Catalogue:
    """Read a whole recording for its keys and positions."""
    listed = Catalogue()
    if feed.is_document:
        for index, sequence in enumerate(feed.pending):
            listed.add(sequence)
            listed.positions.append(index)
            listed.lines.append(sequence.line)
        return listed
    while (line := feed.raw()) is not None:
        for index, sequence in enumerate(feed.read(line)):
            listed.add(sequence)
            listed.positions.append(feed.position(index))
            listed.lines.append(sequence.line)
    return listed


def settled(known: Catalogue, hashes: "array[int]", alignment: Alignment) -> Alignment:
    """Say which rule a pass in step amounts to. `hashes` are those of the left side's sequences."""
    if known.ids.usable:
        alignment.rule = "id"
    elif known.prompts.usable:
        alignment.rule = "prompt"
    elif known.ids.complete and _repeats_differ(known.ids.hashes, hashes):
        alignment.doubts.append(
            "ids are not unique and their repeats hold different tokens, so no pairing is known"
        )
    return alignment


def _repeats_differ(keys: "array[int]", hashes: "array[int]") -> bool:
    if len(keys) != len(hashes):
        return False
    return count_distinct(combined(keys, hashes)) > count_distinct(keys)


def _rest(feed: Feed) -> Iterator[Generated]:
    while True:
        if not feed.pending:
            feed.take(feed.raw())
        if not feed.pending:
            return
        yield feed.pending.popleft()


def _out_of_step(one: Generated, other: Generated) -> bool:
    if one.id is not None and other.id is not None:
        return one.id != other.id
    return _same_kind(one.prompt, other.prompt) and one.prompt != other.prompt


def _same_kind(one: str | None, other: str | None) -> bool:
    """Tell whether two prompts were recorded in the same way: by hash, by ids or by text."""
    return (
        one is not None and other is not None and one.partition(":")[0] == other.partition(":")[0]
    )
