"""Units that a bare number takes from elsewhere: a label, a table's head, the word speed-up."""

import re
from dataclasses import replace

from . import naming
from .binding import head_cell
from .passages import Document, Passage
from .quantities import Quantity
from .scopes import Scope
from .units import TIMES, Unit, unit_after

TIMES_UNIT = Unit(TIMES, 1.0)

_BRACKETED = re.compile(r"[(\[]\s*([^()\[\]]{1,16}?)\s*[)\]]")
_LABEL = re.compile(r"[(\[][^()\[\]\d]{1,16}[)\]]\s*([:=]?)\s*")
_LABEL_REACH = 120
_LAST_WORD = re.compile(r"(\S{1,12})\s*$")
_FACTOR_COLUMN = re.compile(r"\b(?:ratio|speed-?up|factor)\b(?![^|]*%)", re.IGNORECASE)
_FACTOR_OF = re.compile(r"\bfactor (?:of|is|was)\s+(?:\w+\s+)?$", re.IGNORECASE)
_ALONE_IN_CELL = re.compile(r"[\s\d.,±~<>≈+\-−–/x%()\x01]*")


def with_unit(document: Document, passage: Passage, quantity: Quantity, said: Scope) -> Quantity:
    """Give a bare number the unit that its surroundings give it, if any."""
    if quantity.unit is not None:
        return quantity
    if not quantity.nouns:
        unit = _of_label(document, passage, quantity)
        if unit is None and document.blocks[passage.block].kind == "row":
            unit = _of_table(document, passage, quantity)
        if unit is not None:
            return replace(quantity, unit=unit[0], unit_text=unit[1], gap=" ", inherited=True)
    if not quantity.whole and _is_factor(said):
        return replace(quantity, unit=TIMES_UNIT)
    return quantity


def _is_factor(said: Scope) -> bool:
    """Tell the number of `a speed-up of 1.8` and `by a factor of 1.8`."""
    return "speedup" in naming.words(said.before) or bool(_FACTOR_OF.search(said.before))


def _of_label(document: Document, passage: Passage, quantity: Quantity) -> tuple[Unit, str] | None:
    """Read the unit in `Latency (ms): 12.34 (median), 13.10 (p95)`."""
    start = max(passage.start, quantity.start - _LABEL_REACH)
    label = None
    for match in _LABEL.finditer(document.text, start, quantity.start):
        if match[1] or match.end() == quantity.start:
            label = match
    if label is None or (quantity.whole and label.end() != quantity.start):
        return None
    return _unit_in(label[0])


def _of_table(document: Document, passage: Passage, quantity: Quantity) -> tuple[Unit, str] | None:
    """Read the unit in the head of the column, else in the label of the row."""
    cells = document.blocks[passage.block].cells
    head = head_cell(document, passage, quantity.start)
    cell = next((c for c in cells if c[0] <= quantity.start < c[1]), None)
    if cell is None or not _ALONE_IN_CELL.fullmatch(document.text[cell[0] : cell[1]]):
        return None
    if head and not quantity.whole and _FACTOR_COLUMN.search(document.text, *head):
        return TIMES_UNIT, ""
    for span in (head, cells[0]):
        if span is not None and span != cell:
            unit = _unit_in(document.text[span[0] : span[1]])
            if unit is not None:
                return unit
    return None


def _unit_in(label: str) -> tuple[Unit, str] | None:
    """Read the unit of `latency (ms)`, `ms` or `latency, ms`."""
    tokens = [m[1] for m in _BRACKETED.finditer(label)]
    last = _LAST_WORD.search(label.strip(" *_`)]("))
    for token in [*tokens, *([last[1]] if last else [])]:
        written = unit_after(f"1 {token}", 1, whole=False)
        if written is not None and written.end == len(token) + 2:
            return written.unit, token
    return None
