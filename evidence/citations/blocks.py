"""The blocks of a text made plain: headings, paragraphs, list items, table rows; and their sentences."""

import re
from dataclasses import dataclass, field
from typing import Literal

BlockKind = Literal["heading", "paragraph", "item", "row"]

_HEADING = re.compile(r" {0,3}(#{1,6})\s+\S")
_ITEM = re.compile(r"( *)((?:[-*+•‣◦▪–—]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)(?=\S)")
_RULE_ROW = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_RULE = re.compile(r" {0,3}(?:[-*_=] ?){3,}\s*")
_INDENTED = re.compile(r" {4,}\S")
_LABELLED = re.compile(r"\s*(?:[A-Z][^\n:.]{0,40}:|[^\w\s(\[\x01\"'~<>±+≈=/&%-])")
_LONGEST = 4_000  # characters of a passage: what is longer is no sentence
_LINE_STOPS = (".", "!", "?", ":", ";", "\x01", "]", ")")
_STOP = re.compile(r"[.!?](?=[\s)\]\"'”*]|$)")
_ABBREVIATED = re.compile(
    r"\b(?:e\.g|i\.e|vs|approx|ca|cf|resp|etc|no|fig|eq|sec|al|max|min|avg|std|incl|excl|tbl|St|Dr)$",
    re.IGNORECASE,
)
# Possessive, so that thousands of ids without a closing bracket stay linear.
_CITED_AFTER = re.compile(
    r"[)\]\"'”*\s]*+(?:[\[(][\s,;&/]*+(?:\x01++[\s,;&/]*+)++[\])]\s*+)++(?=$|[A-Z\n])"
)


@dataclass
class Block:
    """A stretch of text that stands by itself.

    `level`: of a heading. `indent`: of an item. `cells`: the spans of a row's cells. `header`: the
    row that heads the table (an index into the blocks). `table`: which table a row belongs to.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    indent: int = 0
    cells: list[tuple[int, int]] = field(default_factory=list)
    header: int | None = None
    table: int | None = None
    after_gap: bool = False


def blocks(text: str) -> list[Block]:
    """Cut a plain text into blocks. Code that is indented after an empty line is left out."""
    found: list[Block] = []
    gap = True
    at = 0
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines):
        start, at = at, at + len(line)
        if not line.strip() or _RULE.fullmatch(line.rstrip("\n")):
            gap = True
            continue
        below = lines[index + 1] if index + 1 < len(lines) else ""
        _take(found, line, start, gap, below)
        gap = False
    return found


def _take(found: list[Block], line: str, start: int, gap: bool, below: str) -> None:
    end = start + len(line)
    last = found[-1] if found and not gap else None
    heading, item = _HEADING.match(line), _ITEM.match(line)
    if heading:
        found.append(Block("heading", start + heading.end(1), end, level=len(heading[1])))
    elif _is_row(line, last, below):
        _row(found, line, start, last)
    elif item:
        found.append(Block("item", start + item.end(), end, indent=len(item[1]), after_gap=gap))
    elif last and last.kind in ("paragraph", "item"):
        last.end = end
    elif gap and found and found[-1].kind == "item" and line.startswith("  "):
        indent = len(line) - len(line.lstrip())
        found.append(Block("item", start, end, indent=indent, after_gap=True))
    elif not (gap and _INDENTED.match(line)):
        found.append(Block("paragraph", start, end, after_gap=gap))


def _is_row(line: str, last: Block | None, below: str) -> bool:
    stripped = line.strip()
    if "|" not in stripped:
        return False
    inner = stripped.count("|") >= 2 and stripped[0] == "|"
    return (
        inner
        or (last is not None and last.kind == "row")
        or bool("|" in below and _RULE_ROW.fullmatch(below.rstrip("\n")))
    )


def _row(found: list[Block], line: str, start: int, last: Block | None) -> None:
    table = last.table if last and last.kind == "row" else len(found)
    header = last.header if last and last.kind == "row" else None
    if _RULE_ROW.fullmatch(line.rstrip("\n")):
        if last and last.kind == "row" and last.header is None:
            last.header = len(found) - 1
        return
    cells, at = [], 0
    stripped = line.rstrip()
    begin = len(line) - len(line.lstrip())
    at = begin + 1 if stripped[begin] == "|" else begin
    while at < len(stripped):
        stop = stripped.find("|", at)
        stop = len(stripped) if stop < 0 else stop
        cells.append((start + at, start + stop))
        at = stop + 1
    found.append(Block("row", start, start + len(line), cells=cells, header=header, table=table))


def sentences(text: str, block: Block) -> list[tuple[int, int]]:
    """Give the spans of a block's sentences. A citation after the full stop belongs to what it follows."""
    if block.kind == "row":
        return [(block.start, block.end)]
    cuts = []
    for match in _STOP.finditer(text, block.start, block.end):
        if match[0] == "." and _ABBREVIATED.search(
            text, max(block.start, match.start() - 8), match.start()
        ):
            continue
        after = _CITED_AFTER.match(text, match.end(), block.end)
        cuts.append(after.end() if after else match.end())
    cuts += _line_cuts(text, block)
    cuts += range(block.start + _LONGEST, block.end, _LONGEST)
    spans, at = [], block.start
    for cut in sorted({*cuts, block.end}):
        if cut > at and text[at:cut].strip(" \n.)]\"'*"):
            spans.append((at, cut))
            at = cut
    return spans


def _line_cuts(text: str, block: Block) -> list[int]:
    """Cut where a line ends as a sentence does or the next begins with a label."""
    cuts = []
    at = text.find("\n", block.start, block.end - 1)
    while at >= 0:
        before = (
            text[block.start : at].rstrip()[-1:]
            if at - block.start < 200
            else text[at - 200 : at].rstrip()[-1:]
        )
        if before in _LINE_STOPS or _LABELLED.match(text, at + 1, block.end):
            cuts.append(at + 1)
        at = text.find("\n", at + 1, block.end - 1)
    return cuts
