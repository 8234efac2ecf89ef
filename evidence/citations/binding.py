"""Which id of its own sentence a number belongs to.

In order: the bracket right after the number; the id that labels what follows (`ev_…: 12 ms, 81 it/s`);
the head of a table column; in a sentence that begins with an id and ends with a number, the id before; the
ids of the same clause; the next bracket; the nearest id before; every id of the sentence.
surroundings.py says what a sentence without an id takes.
"""

import bisect
import re
from dataclasses import dataclass
from typing import Literal

from .groups import Group
from .mentions import Mention
from .passages import Document, Passage
from .quantities import Quantity

Strength = Literal["beside", "sentence", "above", "near"]

_BESIDE = re.compile(
    r"(?:\s|[+`*%°x×)±(]|\b(?:per|of|for|the|a|in|on|at|to|faster|slower|median|mean|average|p\d+|latency"
    r"|time|throughput|runtime|total|each|overall|speed-?up|improvement|reduction|increase|decrease|lower"
    r"|higher|less|more|max|min|std|peak|memory|bandwidth|vs\.?|baseline|tolerance|rtol|atol|occupancy|err|cases|passed|wall|share|GPU|n=|see|from"
    r"|kernel|launches|iterations?|tokens?|GPUs?|runs?|by|drop|gain|regression|error|as)\b)*+[,:]?\s*"
)
_INLINE_BESIDE = re.compile(
    r"[\s,(:]*+(?:\b(?:in|per|from|see|by|of|for|via|as|cf\.?|source|evidence)\b[\s:]*+)*+"
)
_SPREAD = re.compile(r"\d[\d.]*\s?(?:[A-Za-zµ%]+)?")
_CONTRASTS = re.compile(
    r"\W*(?:instead of|rather than|compared (?:to|with)|relative to|against|down from|up from|vs|versus|was"
    r"|previously|before|formerly|used to be|baseline|from|not)\b",
    re.IGNORECASE,
)
_FAR = 72
_LABEL_REACH = 600
_MANY = 8  # ids of one sentence that a number is held against


@dataclass(frozen=True, slots=True)
class Binding:
    """Ids that a number is held against, and how sure it is that they are meant.

    beside and sentence: named with the number. above: a table head, a label, a lead-in. near: only
    somewhere around, which can support a number and not contradict it.
    """

    mentions: tuple[Mention, ...]
    strength: Strength


def within(document: Document, passage: Passage, index: int) -> Binding | None:
    """Bind quantity `index` to ids of its own sentence or row."""
    groups, quantity = passage.groups, document.quantities[index]
    if not groups:
        return column(document, passage, quantity.start)
    place = passage.group_after(quantity.end)
    after = groups[place] if place < len(groups) else None
    before = groups[place - 1] if place else None
    if after and not after.label and _beside(document, passage, index, after):
        return Binding(_one_of_pair(document, passage, index, after, before), "beside")
    label = _label(groups[max(0, place - 16) : place], quantity, document.text)
    if label:
        return Binding(tuple(label.mentions), _strength(document, passage, quantity))
    head = column(document, passage, quantity.start)
    if head and not _in_same_cell(document, passage, quantity):
        return head
    if before and passage.leading:
        return Binding(tuple(before.mentions), _strength(document, passage, quantity, before))
    return _by_clause(document, passage, index, before, after)


def column(document: Document, passage: Passage, position: int) -> Binding | None:
    """Bind a table cell to the ids in the head of its column, or in the table's row of ids."""
    span = head_cell(document, passage, position)
    inside = document.cited_between(*span) if span else []
    if not inside:
        block = document.blocks[passage.block]
        index = cell_index(block.cells, position)
        for row in document.sources.get(block.table, [])[:_MANY] if block.table is not None else ():
            cells = document.blocks[row].cells
            if index and index < len(cells) and row != passage.block:
                inside = inside or document.cited_between(*cells[index])
    return Binding(tuple(inside), "above") if inside else None


def head_cell(document: Document, passage: Passage, position: int) -> tuple[int, int] | None:
    """Give the span of the head of the table column that holds a place."""
    block = document.blocks[passage.block]
    if block.header is None or block.header == passage.block:
        return None
    index = cell_index(block.cells, position)
    cells = document.blocks[block.header].cells
    return cells[index] if index is not None and index < len(cells) else None


def cell_index(cells: list[tuple[int, int]], position: int) -> int | None:
    """Tell which cell holds a place."""
    index = bisect.bisect_right(cells, (position, 1 << 60)) - 1
    return index if index >= 0 and position < cells[index][1] else None


def _in_same_cell(document: Document, passage: Passage, quantity: Quantity) -> bool:
    cells = document.blocks[passage.block].cells
    index = cell_index(cells, quantity.start)
    return index is not None and bool(document.cited_between(*cells[index]))


def _label(groups: list[Group], quantity: Quantity, text: str) -> Group | None:
    for group in reversed(groups):
        if group.label and quantity.start - group.end < _LABEL_REACH:
            return None if ";" in text[group.end : quantity.start] else group
    return None


def _by_clause(
    document: Document, passage: Passage, index: int, before: Group | None, after: Group | None
) -> Binding | None:
    quantity = document.quantities[index]
    clause = passage.clause_of(quantity.start)
    if clause and after and not after.label and after.start < clause.end:
        return Binding(_one_of_pair(document, passage, index, after, before), "sentence")
    if clause and before and before.start >= clause.start:
        return Binding(tuple(before.mentions), "sentence")
    following = after if document.blocks[passage.block].kind == "row" else None
    if following is None:
        rest = passage.groups[passage.group_after(quantity.end) :][:_MANY]
        following = next((g for g in rest if g.bracketed and not g.label), None)
    if following and not following.label:
        return Binding(_one_of_pair(document, passage, index, following, before), "sentence")
    if before:
        return Binding(tuple(before.mentions), _strength(document, passage, quantity))
    return Binding(all_of(passage), "sentence")


def _strength(
    document: Document, passage: Passage, quantity: Quantity, group: Group | None = None
) -> Strength:
    """Tell how sure an id before a number is: not where the clause sets it against another state."""
    clause = passage.clause_of(quantity.start)
    if clause is None or (group is not None and group.start >= clause.start):
        return "sentence"
    return "near" if _CONTRASTS.match(document.text, clause.start, quantity.start) else "sentence"


def all_of(passage: Passage) -> tuple[Mention, ...]:
    """Give the distinct ids of a passage, the first few."""
    distinct = {m.key: m for g in passage.groups[:_MANY] for m in g.mentions[:_MANY]}
    return tuple(distinct.values())[:_MANY]


def _beside(document: Document, passage: Passage, index: int, group: Group) -> bool:
    """Tell whether a citation follows its number with no other number with a unit between."""
    quantity = document.quantities[index]
    between = document.text[quantity.end : group.start]
    if len(between) > _FAR or "|" in between:
        return False
    own = False
    for other in range(index + 1, len(document.quantities)):
        neighbour = document.quantities[other]
        if neighbour.start >= group.start:
            break
        own = other == quantity.partner and neighbour.relation in ("spread", "high", "whole")
        if not own and (neighbour.unit is not None or other == quantity.partner):
            return False
    if not group.bracketed:
        return bool(_INLINE_BESIDE.fullmatch(between)) and not passage.leading
    return bool(_BESIDE.fullmatch(_SPREAD.sub(" ", between) if own else between))


def _one_of_pair(
    document: Document, passage: Passage, index: int, group: Group, before: Group | None
) -> tuple[Mention, ...]:
    """Split `from 12.34 to 6.81 ms [a, b]`: the first number is the first record's."""
    quantity = document.quantities[index]
    distinct = list({m.key: m for m in group.mentions}.values())
    if quantity.relation in ("from", "to") and quantity.partner is not None:
        first = quantity.relation == "from"
        if len(distinct) == 2:
            return (distinct[0 if first else 1],)
        crossed = group.start >= document.quantities[quantity.partner].end
        if first and before and crossed and len(distinct) == 1:
            return tuple(before.mentions)  # a went from 12.34 ms to 6.81 ms (b)
    if passage.respective:
        place = _respective(document, passage, index, group)
        if place is not None and place < len(distinct):
            return (distinct[place],)
    return tuple(group.mentions)


def _respective(document: Document, passage: Passage, index: int, group: Group) -> int | None:
    """Count the place of a number among those of its unit that a group follows."""
    unit = document.quantities[index].unit
    at = passage.quantities.index(index)
    alike = [
        i
        for i in passage.quantities[max(0, at - 16) : at + 16]
        if document.quantities[i].end <= group.start
        and unit is not None
        and (other := document.quantities[i].unit) is not None
        and other.dimension == unit.dimension
    ]
    return alike.index(index) if index in alike and len(alike) == len(group.mentions) else None
