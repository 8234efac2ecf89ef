"""Which ids a sentence without one takes: from above (a label, a lead-in, a caption) or from near by."""

import re

from .binding import Binding, all_of, within
from .mentions import Mention
from .passages import Document, Passage

_CAPTION = re.compile(
    r"\s*(?:table|tab\.|figure|fig\.|results?|numbers|measurements|data)\b", re.IGNORECASE
)
_LOOK_BACK = 40  # blocks above a list item
_REACH = 12  # passages of one block, to either side
_MANY = 8
_FEW = 3


def bindings(document: Document, number: int, index: int) -> list[Binding]:
    """Give the bindings of quantity `index` of passage `number`, the surest first."""
    own = within(document, document.passages[number], index)
    return [own] if own else around(document, number)


def around(document: Document, number: int) -> list[Binding]:
    """Give what governs a passage without an id from above, then what stands near."""
    passage = document.passages[number]
    label: tuple[Mention, ...] = ()
    near: list[Mention] = []
    for other in _same_block(document, number):
        near += all_of(other)
        for group in other.groups:
            if group.label and group.end <= passage.start:
                label = tuple(group.mentions)
    above = label or _introduced(document, passage.block)
    near += _siblings(document, passage.block)
    near += _table_around(document, passage.block)
    heading = document.headings[passage.block]
    near += document.cited_in(heading) if heading is not None else ()
    few = tuple({m.key: m for m in near}.values())[:_MANY]
    found = [Binding(above, "above")] if above else []
    return [*found, Binding(few, "near")] if few else found


def _same_block(document: Document, number: int) -> list[Passage]:
    """Give the other passages of a block, nearest ones of a long block only."""
    block = document.passages[number].block
    if document.blocks[block].kind == "row":
        return []
    window = document.passages[max(0, number - _REACH) : number + _REACH + 1]
    return [p for p in window if p.block == block and p is not document.passages[number]]


def _siblings(document: Document, index: int) -> list[Mention]:
    """Give the ids of the item before in the same list: only the first may bear the citation."""
    indent = document.blocks[index].indent
    for above in range(index, max(-1, index - _REACH), -1):
        block = document.blocks[above]
        if block.kind != "item":
            return []
        found = document.cited_in(above) if above != index and block.indent == indent else []
        if found:
            return found
    return []


def _introduced(document: Document, index: int) -> tuple[Mention, ...]:
    """Give the ids of the line that introduces a list, of the item above, or of a table's caption."""
    block = document.blocks[index]
    if block.kind == "row":
        above = (block.table or 0) - 1
        return tuple(document.cited_in(above)) if _introduces(document, above) else ()
    if block.kind != "item":
        return ()
    indent = block.indent
    for above in range(index - 1, max(-1, index - _LOOK_BACK), -1):
        other = document.blocks[above]
        if other.kind == "item" and other.indent >= indent:
            continue
        if other.kind == "item":
            indent = other.indent
            if ids := tuple(document.cited_in(above)):
                return ids
        else:
            return tuple(document.cited_in(above)) if _introduces(document, above) else ()
    return ()


def _introduces(document: Document, index: int) -> bool:
    """Tell a line that ends in a colon, or that is the caption of what follows."""
    if index < 0 or document.blocks[index].kind not in ("paragraph", "item"):
        return False
    block = document.blocks[index]
    text = document.text[block.start : block.end]
    shown = text.replace("\x01", " ").rstrip(" \n([)]*_")
    return shown.endswith(":") or text.rstrip().endswith(":") or bool(_CAPTION.match(text))


def _table_around(document: Document, index: int) -> list[Mention]:
    """Give the ids in a table's head, else those of the blocks next to it."""
    table = document.blocks[index].table
    if table is None:
        return []
    below = document.tables[table]
    header = document.blocks[index].header
    own = document.cited_in(header) if header is not None and header != index else []
    near = [b for b in (table - 1, below) if 0 <= b < len(document.blocks)]
    around = [m for b in near if document.blocks[b].kind != "row" for m in document.cited_in(b)]
    return own or around


def of_section(document: Document, number: int) -> tuple[Mention, ...]:
    """Give the ids cited in the blocks above, back to the heading, where they are few."""
    block = document.passages[number].block
    first = document.headings[block] or 0
    first = max(first, block - _LOOK_BACK)
    found = document.cited_between(document.blocks[first].start, document.blocks[block].end)
    distinct = tuple({m.key: m for m in found}.values())
    return distinct if len(distinct) <= _FEW else ()


def near(document: Document, passage: Passage) -> tuple[Mention, ...]:
    """Give the ids of a passage's block, its lead-in and its heading, for a ratio of two records."""
    found = [m for b in around(document, passage.number) for m in b.mentions]
    return (*found, *_first_row(document, passage))


def _first_row(document: Document, passage: Passage) -> list[Mention]:
    """Give the ids of a table's first row with any: what the rows below are compared with."""
    block = document.blocks[passage.block]
    if block.table is None:
        return []
    first = block.table if block.header is None else block.header + 1
    for row in range(first, min(passage.block, first + _REACH)):
        found = document.cited_in(row)
        if found:
            return found
    return []
