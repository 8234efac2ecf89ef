"""A text as passages: each sentence or table row with its quantities, cited ids and clauses."""

import bisect
import re
from dataclasses import dataclass, field

from . import markup
from .blocks import Block, blocks, sentences
from .mentions import Mention, mentions
from .quantities import Quantity, find

_BRACKET = re.compile(r"[()\[\]]")
_BOUNDARY = re.compile(
    r"[;()\[\]|—]|,(?!\d)|(?<=\s)[–-](?=\s)|\b(?:and|while|whereas|but|versus|vs|instead of|rather than"
    r"|compared (?:to|with)|relative to|against|down from|up from|then|plus|although|though|so|which"
    r"|where|with)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"[\s,;&/+→>()\[\]-]*(?:\b(?:and|vs\.?|versus|to|or|with|against|over)\b)?[\s,;&/+→>()\[\]-]*"
)
_LABEL_END = re.compile(r"[\s)\]*]*(?::|=(?!=)|[–—](?=\s))")
_GROUP_TEXT = 80  # a bracket with more words than this is prose


@dataclass
class Group:
    """Ids that stand together: in one bracket, or side by side. `label`: a colon follows."""

    start: int
    end: int
    mentions: list[Mention]
    bracketed: bool
    label: bool = False


@dataclass
class Clause:
    """A stretch of a passage; `asides` are brackets without a number that comment on it."""

    start: int
    end: int
    quantities: list[int] = field(default_factory=list)
    asides: list[tuple[int, int]] = field(default_factory=list)
    joined: list[tuple[int, int]] = field(default_factory=list)
    pairs: list[list[int]] = field(
        default_factory=list
    )  # its numbers with a unit, tied ones together
    place: dict[int, int] = field(default_factory=dict)  # of each in `pairs`


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
    text, (start, end) = document.text, span
    known = [i for i in inside if not document.opaque(document.quantities[i].start)]
    found = [document.quantities[i] for i in known]
    groups = _groups(text, span, ids, found)
    clauses = _clauses(text, document.blocks[block], span, found, groups)
    for index, quantity in zip(known, found, strict=True):
        clauses[
            bisect.bisect_right(clauses, quantity.start, key=lambda c: c.start) - 1
        ].quantities.append(index)
    for clause in clauses:
        _pair(document.quantities, clause)
    united = [q for q in found if q.unit is not None]
    leading = bool(
        groups
        and united
        and groups[0].start < united[0].start
        and groups[-1].end <= united[-1].start
    )
    respective = text.find("respectively", start, end) >= 0
    return Passage(
        number=len(document.passages),
        start=start,
        end=end,
        block=block,
        quantities=known,
        groups=groups,
        clauses=_attach(text, clauses),
        leading=leading,
        respective=respective,
    )


def _pair(quantities: list[Quantity], clause: Clause) -> None:
    """Group a clause's numbers: tied pairs together, those without a unit left out."""
    for index in clause.quantities:
        quantity = quantities[index]
        last = clause.pairs[-1] if clause.pairs else None
        if last and quantity.partner is not None and quantity.partner == last[-1]:
            last.append(index)
        elif quantity.unit is not None or not quantity.whole:
            clause.pairs.append([index])
        else:
            continue
        clause.place[index] = len(clause.pairs) - 1


def _groups(
    text: str, span: tuple[int, int], ids: list[Mention], found: list[Quantity]
) -> list[Group]:
    pairs = _pairs(text, span) if ids else []
    starts = [q.start for q in found]
    groups: list[Group] = []
    for mention in ids:
        start, end, bracketed = mention.start, mention.end, text[mention.start] == "["
        around = _around(pairs, mention)
        if (
            around
            and not _any_between(starts, *around)
            and around[1] - around[0] - _marks(text, around) < _GROUP_TEXT
        ):
            (start, end), bracketed = around, True
        last = groups[-1] if groups else None
        if last and (start < last.end or _stand_together(text, starts, last.end, start)):
            last.end = max(end, last.end)
            last.mentions.append(mention)
            last.bracketed = last.bracketed or bracketed
        else:
            groups.append(Group(start, end, [mention], bracketed))
    for group in groups:
        group.label = bool(_LABEL_END.match(text, group.end, span[1]))
    return groups


def _stand_together(text: str, starts: list[int], end: int, start: int) -> bool:
    if start - end > 24 or "|" in text[end:start] or _any_between(starts, end, start):
        return False
    return bool(_JOINED.fullmatch(text, end, start))


def _pairs(text: str, span: tuple[int, int]) -> list[tuple[int, int]]:
    """Give the spans of brackets, outer before inner."""
    opened: list[int] = []
    found = []
    for match in _BRACKET.finditer(text, *span):
        if match[0] in "([":
            opened.append(match.start())
        elif opened:
            found.append((opened.pop(), match.end()))
    return sorted(found)


def _around(pairs: list[tuple[int, int]], mention: Mention) -> tuple[int, int] | None:
    """Give the innermost bracket around an id, looking at the few that begin nearest before it."""
    index = bisect.bisect_left(pairs, (mention.start, 0))
    for start, end in reversed(pairs[max(0, index - 8) : index]):
        if end >= mention.end:
            return (start, end)
    return None


def _marks(text: str, span: tuple[int, int]) -> int:
    return text.count("\x01", *span)


def _any_between(starts: list[int], low: int, high: int) -> bool:
    index = bisect.bisect_left(starts, low)
    return index < len(starts) and starts[index] < high


def _clauses(
    text: str, block: Block, span: tuple[int, int], found: list[Quantity], groups: list[Group]
) -> list[Clause]:
    """Cut at commas, brackets and joining words, but not within ids, quantities or tied pairs."""
    closed = sorted(
        [(g.start, g.end) for g in groups]
        + [(q.start, _tied_end(found, i)) for i, q in enumerate(found)]
    )
    cuts = []
    at, limit = 0, -1
    for match in _BOUNDARY.finditer(text, *span):
        while at < len(closed) and closed[at][0] <= match.start():
            limit = max(limit, closed[at][1])
            at += 1
        if match.start() >= limit:
            cuts.append(match.start())
    edges = sorted({span[0], *cuts, *(start for start, _ in block.cells if start < span[1])})
    return [Clause(a, b) for a, b in zip(edges, [*edges[1:], span[1]], strict=True)]


def _tied_end(found: list[Quantity], index: int) -> int:
    quantity = found[index]
    tied = quantity.relation in ("base", "from", "low", "part", "share")
    return found[index + 1].end if tied and index + 1 < len(found) else quantity.end


def _attach(text: str, clauses: list[Clause]) -> list[Clause]:
    """Give stretches without a number to a neighbour: brackets to what they follow, words to the next."""
    before: Clause | None = None
    waiting: list[Clause] = []
    for clause in clauses:
        if clause.quantities:
            clause.joined += [(w.start, w.end) for w in waiting]
            waiting, before = [], clause
        elif before and text[clause.start] in "([":
            before.asides.append((clause.start, clause.end))
        elif before and text[clause.start] in ")]":
            before.joined.append((clause.start, clause.end))
            waiting.append(clause)
        else:
            waiting.append(clause)
    if before:
        before.joined += [(w.start, w.end) for w in waiting]
    return clauses
