"""A text as passages: each sentence or table row with its quantities, cited ids and clauses."""

import bisect
from dataclasses import dataclass, field

from . import markup
from .blocks import Block, blocks, sentences
from .clauses import Clause, clauses_of
from .groups import Group, groups_of
from .mentions import Mention, mentions
from .quantities import Quantity, find


@dataclass
class Passage:
    """A sentence or a table row. `quantities` are indices into the document's, in order.

    `number`: its place among the passages.
    `leading`: every id stands before its numbers. `respective`: the text says "respectively".
    """

    number: int
    start: int
    end: int
    block: int
    quantities: list[int]
    groups: list[Group]
    clauses: list[Clause]
    leading: bool
    respective: bool

    def group_after(self, position: int) -> int:
        """Give the index of the first group that begins at or after a place; past the end if none."""
        return bisect.bisect_left(self.groups, position, key=lambda g: g.start)

    def clause_of(self, position: int) -> Clause | None:
        """Give the clause that holds a place of the text."""
        index = bisect.bisect_right(self.clauses, position, key=lambda c: c.start) - 1
        return self.clauses[index] if index >= 0 else None


@dataclass
class Document:
    """A whole text, read."""

    source: str
    text: str
    mentions: list[Mention]
    quantities: list[Quantity]
    blocks: list[Block]
    passages: list[Passage]
    code: list[tuple[int, int]]
    places: list[int]  # where each mention begins
    headings: list[int | None]  # the heading that governs each block
    tables: dict[int, int]  # the block after each table
    sources: dict[int, list[int]] = field(default_factory=dict)  # a table's rows of nothing but ids
    _first: dict[str, Mention] = field(default_factory=dict)

    def cited_between(self, start: int, end: int) -> list[Mention]:
        """Give the mentions that begin in a span."""
        first = bisect.bisect_left(self.places, start)
        return self.mentions[first : bisect.bisect_left(self.places, end)]

    def cited_in(self, block: int) -> list[Mention]:
        """Give the mentions of a block."""
        return self.cited_between(self.blocks[block].start, self.blocks[block].end)

    def first_mention(self, key: str) -> Mention | None:
        """Give the place where an id is first cited."""
        if not self._first:
            for mention in self.mentions:
                self._first.setdefault(mention.key, mention)
        return self._first.get(key)

    def opaque(self, position: int) -> bool:
        """Tell whether a place lies in inline code that is more than a quantity."""
        index = bisect.bisect_right(self.code, (position, len(self.source))) - 1
        return index >= 0 and position < self.code[index][1]


def read(source: str) -> Document:
    """Read a Markdown or plain text. Linear in its length."""
    made = markup.plain(source)
    cited = mentions(source, made.hidden)
    text = _mark(made.text, cited)
    found = blocks(text)
    cuts = [sentences(text, block) for block in found]
    text = _unwrapped(text, found)
    quantities = find(text)
    places = [m.start for m in cited]
    code, headings = sorted(made.code), _headings(found)
    tables = {b.table: i + 1 for i, b in enumerate(found) if b.table is not None}
    document = Document(source, text, cited, quantities, found, [], code, places, headings, tables)
    starts = [q.start for q in quantities]
    for index, block in enumerate(found):
        for start, end in cuts[index]:
            inside = range(bisect.bisect_left(starts, start), bisect.bisect_left(starts, end))
            ids = document.cited_between(start, end)
            if inside or ids:
                document.passages.append(_passage(document, index, (start, end), inside, ids))
            if block.table is not None and ids and not inside and block.header != index:
                document.sources.setdefault(block.table, []).append(index)
    return document


def _unwrapped(text: str, found: list[Block]) -> str:
    """Join the lines of each block, so that a number at the end of one finds its unit on the next."""
    parts, at = [], 0
    for block in found:
        end = max(block.start, block.end - 1)  # the last line's end stays
        parts += [text[at : block.start], text[block.start : end].replace("\n", " ")]
        at = end
    return "".join([*parts, text[at:]])


def _headings(found: list[Block]) -> list[int | None]:
    """Give the heading above each block: the nearest one."""
    governs: list[int | None] = []
    current = None
    for index, block in enumerate(found):
        governs.append(current)
        if block.kind == "heading":
            current = index
    return governs


def _mark(text: str, cited: list[Mention]) -> str:
    """Put a mark over every id, so that nothing else is read there."""
    parts, at = [], 0
    for mention in cited:
        if mention.start >= at:
            parts += [text[at : mention.start], "\x01" * (mention.end - mention.start)]
            at = mention.end
    return "".join([*parts, text[at:]])


def _passage(
    document: Document, block: int, span: tuple[int, int], inside: range, ids: list[Mention]
) -> Passage:
    text, quantities = document.text, document.quantities
    numbers = {i: quantities[i] for i in inside if not document.opaque(quantities[i].start)}
    groups = groups_of(text, span, ids, [q.start for q in numbers.values()])
    united = [q for q in numbers.values() if q.unit is not None]
    leading = (
        bool(groups and united)
        and groups[0].start < united[0].start
        and groups[-1].end <= united[-1].start
    )
    return Passage(
        number=len(document.passages),
        start=span[0],
        end=span[1],
        block=block,
        quantities=list(numbers),
        groups=groups,
        clauses=clauses_of(text, span, document.blocks[block].cells, numbers, groups),
        leading=leading,
        respective=text.find("respectively", *span) >= 0,
    )
