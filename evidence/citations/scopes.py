"""What is said around a number: the words of its clause first, then those further off; its statistic."""

import bisect
import re
from dataclasses import dataclass

from . import naming
from .binding import cell_index, head_cell
from .clauses import Clause
from .passages import Document, Passage

_LETTERS = re.compile(r"[A-Za-z]{2}")
_EARLIER = 6  # clauses
_WINDOW = 200  # characters to either side of a number
_LEAD = 160  # characters of a heading or lead-in


@dataclass(frozen=True, slots=True)
class Scope:
    """Texts around a number. `own`: its clause, cell, row label and column head; `levels`: further off.

    `before` and `after` are the clause to the left and right of the number. `joined`: stretches without
    a number that go with the clause. `earlier`: what a statistic may be carried over from.
    """

    own: str
    before: str
    after: str
    joined: str
    earlier: tuple[str, ...]
    levels: tuple[str, ...]

    def spoken(self) -> list[frozenset[str]]:
        """Give what the words mean, level by level, the nearest first."""
        return [naming.words(text) for text in (self.own, *self.levels)]

    def everything(self) -> str:
        """Give all of it as one text."""
        return " ".join((self.own, *self.levels))


@dataclass(frozen=True, slots=True)
class Named:
    """A statistic that a text names; `sure` where it stands with the number, else carried over."""

    statistic: str
    sure: bool


def scope(document: Document, passage: Passage, index: int) -> Scope:
    """Gather what is said around quantity `index`.

    In a clause of several numbers the words next to each come first, and the whole clause after.
    """
    text, quantity = document.text, document.quantities[index]
    clause = passage.clause_of(quantity.start) or Clause(passage.start, passage.end)
    start, end, style = _share_of_clause(document, clause, index)
    before = text[max(start, quantity.start - _WINDOW) : quantity.start]
    after = text[quantity.end : min(end, quantity.end + _WINDOW)]
    asides = " ".join(text[a:b] for a, b in clause.asides[:_EARLIER] if a >= quantity.end)[:_WINDOW]
    head = _head(document, passage, quantity.start)
    own = {"before": before, "after": after}.get(style, f"{before} {after}")
    joined = " ".join(text[a:b] for a, b in clause.joined[-_EARLIER:])[-_WINDOW:]
    whole = text[max(clause.start, start - _WINDOW) : min(clause.end, end + _WINDOW)]
    earlier, others = _further(document, passage, clause)
    return Scope(
        own=f"{head} {own} {asides}",
        before=f"{head} {before}",
        after=f"{after} {asides}",
        joined=joined,
        earlier=earlier,
        levels=(whole if style else "", joined, *others),
    )


def _share_of_clause(document: Document, clause: Clause, index: int) -> tuple[int, int, str]:
    """Give the part of a clause that may speak of one of its numbers, and on which side.

    The side is empty where the clause has one number or pair.
    """
    units, place = clause.pairs, clause.place.get(index)
    if place is None or len(units) < 2:
        return clause.start, clause.end, ""
    quantities = document.quantities
    start = quantities[units[place - 1][-1]].end if place else clause.start
    stop = clause.end if place + 1 == len(units) else quantities[units[place + 1][0]].start
    first, last = quantities[units[0][0]], quantities[units[-1][-1]]
    if not _LETTERS.search(document.text[clause.start : first.start]):
        return start, stop, "after"
    if not _LETTERS.search(document.text[last.end : clause.end]):
        return start, stop, "before"
    return start, stop, "both"


def _head(document: Document, passage: Passage, position: int) -> str:
    """Give the words of a table cell's column head and row label."""
    block = document.blocks[passage.block]
    if block.kind != "row":
        return ""
    span = head_cell(document, passage, position)
    words = document.text[span[0] : span[1]] if span else ""
    first = block.cells[0] if block.cells else None
    if first and cell_index(block.cells, position) != 0:
        words += " " + document.text[first[0] : first[1]]
    return words


def _further(
    document: Document, passage: Passage, clause: Clause
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give what stands before (clauses, nearest first, and what heads the passage), then all of it."""
    text = document.text
    index = bisect.bisect_left(passage.clauses, clause.start, key=lambda c: c.start)
    earlier = [_end(text, c) for c in passage.clauses[max(0, index - _EARLIER) : index]]
    later = [
        text[c.start : min(c.end, c.start + _WINDOW)]
        for c in passage.clauses[index + 1 : index + 1 + _EARLIER]
    ]
    above = []
    heading = document.headings[passage.block]
    block = document.blocks[passage.block]
    if block.kind == "item":
        above += [_start(document, passage.block)] if passage.start > block.start else []
        above += _parents(document, passage.block)
    if block.table is not None and block.table > 0:
        above.append(_start(document, block.table - 1))
    if heading is not None:
        above.append(_start(document, heading))
    earlier.reverse()
    return (*earlier, *above), (*earlier, *later, *above)


def _end(text: str, clause: Clause) -> str:
    return text[max(clause.start, clause.end - _WINDOW) : clause.end]


def _parents(document: Document, index: int) -> list[str]:
    indent = document.blocks[index].indent
    for above in range(index - 1, max(-1, index - 40), -1):
        block = document.blocks[above]
        if block.kind != "item" or block.indent < indent:
            return [_start(document, above)] if block.kind != "heading" else []
    return []


def _start(document: Document, index: int) -> str:
    block = document.blocks[index]
    return document.text[block.start : min(block.end, block.start + _LEAD)]


def statistic(document: Document, passage: Passage, index: int, said: Scope) -> Named | None:
    """Read which statistic a text says that a number is."""
    place = _in_list(document, passage, index)
    if place:
        return Named(place, True)
    clause = passage.clause_of(document.quantities[index].start)
    own = _of_clause(document, clause, index, said)
    if own:
        return Named(own, True)
    names_own = bool(naming.kinds(said.own))
    joined = naming.statistics(said.joined)
    if joined and not names_own:
        return Named(joined[-1][2], True)
    if names_own and not joined:
        return None
    for text in said.earlier:
        found = naming.statistics(text)
        if found:
            return Named(found[-1][2], False)
    return None


def _of_clause(document: Document, clause: Clause | None, index: int, said: Scope) -> str | None:
    """Take the statistic before the number, or after it where the clause writes them after."""
    text = document.text
    before = naming.statistics(said.before)
    after_end = said.after
    if clause and index != clause.quantities[-1]:
        following = document.quantities[clause.quantities[clause.quantities.index(index) + 1]]
        stop = max(0, following.start - document.quantities[index].end)
        after_end = said.after[:stop]
    after = naming.statistics(after_end)
    if clause and clause.quantities and before and after:
        first = document.quantities[clause.quantities[0]]
        opening = text[max(clause.start, first.start - _WINDOW) : first.start]
        written_after = not naming.statistics(opening)
        if written_after and index != clause.quantities[0]:
            return after[0][2]
    if before:
        return before[-1][2]
    return after[0][2] if after else None


_LIST_GAP = re.compile(r"\s*(?:,|/|and|&|\||,\s*and)\s*")


def _in_list(document: Document, passage: Passage, index: int) -> str | None:
    """Pair `median/p95: 12.34/13.10 ms` and `median and p95 are 12.3 and 13.1 ms` by place."""
    at = bisect.bisect_left(passage.quantities, index)
    run = _run(document, passage, at)
    if len(run) < 2:
        return None
    first, last = document.quantities[run[0]], document.quantities[run[-1]]
    before = document.text[max(passage.start, first.start - 120) : first.start]
    named = _listed(before)
    if len(named) != len(run):
        after = document.text[last.end : min(passage.end, last.end + 120)]
        named = _listed(after)
        if len(named) != len(run) or naming.statistics(before):
            return None
    return named[run.index(index)]


def _listed(text: str) -> list[str]:
    """Give statistics that stand in one list, the last such list of a text."""
    found = naming.statistics(text)
    names: list[str] = []
    for position, (start, _, name) in enumerate(found):
        if position and not _LIST_GAP.fullmatch(text[found[position - 1][1] : start]):
            names = []
        names.append(name)
    return names if len(names) > 1 else []


def _run(document: Document, passage: Passage, at: int) -> list[int]:
    """Give the quantities of one dimension that stand in one list with that at `at`."""
    indices, quantities = passage.quantities, document.quantities
    low = high = at
    while low > 0 and at - low < 8 and _adjoin(document, indices[low - 1], indices[low]):
        low -= 1
    while (
        high + 1 < len(indices)
        and high - at < 8
        and _adjoin(document, indices[high], indices[high + 1])
    ):
        high += 1
    unit = quantities[indices[at]].unit
    return indices[low : high + 1] if unit is not None else []


def _adjoin(document: Document, left: int, right: int) -> bool:
    one, two = document.quantities[left], document.quantities[right]
    if one.unit is None or two.unit is None or one.unit.dimension != two.unit.dimension:
        return False
    return bool(_LIST_GAP.fullmatch(document.text[one.end : two.start]))
