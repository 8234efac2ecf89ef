"""Markdown made plain, character for character, so that every place in a text keeps its offset.

Code, comments, link targets and tags become spaces; emphasis marks too. What stays is what a reader
reads. Inline code stays readable, since metric names stand there, but its numbers are no claims unless
the code is nothing but a quantity.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_FENCE = re.compile(r" {0,3}(?:> ?)*\s*(`{3,}|~{3,})")
_URL = re.compile(r"\b(?:https?|ftp|s3|gs|az|evidence|file)://[^\s<>\"'`)\]|]+")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>")
_ENTITY = {"&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&times;": "×", "&plusmn;": "±", "&amp;": "&"}
_ENTITY |= {
    "&asymp;": "≈",
    "&rarr;": "→",
    "&le;": "≤",
    "&ge;": "≥",
    "&ndash;": "–",
    "&percnt;": "%",
}
_TEX = {
    "\\times": "×",
    "\\pm": "±",
    "\\approx": "≈",
    "\\sim": "~",
    "\\to": "→",
    "\\rightarrow": "→",
}
_TEX |= {"\\leq": "≤", "\\le": "≤", "\\geq": "≥", "\\ge": "≥", "\\%": "%", "\\mu": "µ", "\\,": " "}
_WRITTEN_OUT = re.compile(
    "|".join(re.escape(k) + (r"(?![A-Za-z])" if k[-1].isalpha() else "") for k in (_ENTITY | _TEX))
)
_TICKS = re.compile(r"`+")
_TARGET = re.compile(
    r"\[|\]\((?:[^()\s]|\([^()\s]{0,400}\)){0,2000}(?:\s+\"[^\"\n]{0,400}\")?\)|\]"
)
_EMPHASIS = re.compile(
    r"(?<!10)\*{2,}|\*(?![ \d*])|(?<=[\w%).µ°\]])\*(?![\d*])|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)"
)
_STRUCK = re.compile(r"~~(?=\S)([^\n~]{1,500})~~")
_MATH = re.compile(r"\$(?=[^\s$])([^$\n]{1,120})\$")
_ESCAPED = re.compile(r"\\(?=[^\w\s])|\\(?=_)")
_QUOTED = re.compile(r"(?m)^(?: {0,3}>)+")
_QUANTITY_CODE = re.compile(
    r"[\s~<>=≈±+−-]*\d[\d.,]*(?:e[+-]?\d+)?"
    r"(?:\s?(?:[-–/±→]|\+/-|to)\s?[~<>]?\d[\d.,]*)?\s?(?:%|×|°C|[A-Za-zµμ]{1,9}(?:/[A-Za-z]{1,8})?)?\s*",
    re.IGNORECASE,
)
_CODE_MARKS = str.maketrans(dict.fromkeys(",;()[]|:", " "))


@dataclass
class Plain:
    """A text made plain: `text` has the length of the original.

    `hidden`: spans that are no prose (fenced code, comments), where even an id is no citation.
    `code`: spans of inline code whose numbers are no claims. `links`: spans of link targets.
    """

    text: str
    hidden: list[tuple[int, int]] = field(default_factory=list)
    code: list[tuple[int, int]] = field(default_factory=list)


def plain(source: str) -> Plain:
    """Make Markdown plain. Linear in the length of the text."""
    hidden = [*_fences(source), *_comments(source)]
    text = source.replace("\t", " ").replace("\r", " ").replace("\x01", " ")
    text = _blank(text, hidden)
    text, code = _inline_code(text)
    text = _links(text)
    text = _URL.sub(_spaces, text)
    text = _WRITTEN_OUT.sub(_written_out, text)
    text = _STRUCK.sub(_spaces, text)
    text = _MATH.sub(lambda m: " " + m[1] + " ", text)
    text = _TAG.sub(_spaces, text)
    text = _QUOTED.sub(_spaces, text)
    text = _EMPHASIS.sub(_spaces, text)
    text = _ESCAPED.sub(" ", text)
    return Plain(text, sorted(hidden), code)


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _written_out(match: re.Match[str]) -> str:
    sign = _ENTITY.get(match[0]) or _TEX[match[0]]
    return sign.ljust(len(match[0]))


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(spans):
        if end <= at:
            continue
        start = max(start, at)
        parts += [text[at:start], re.sub(r"[^\n]", " ", text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _fences(source: str) -> Iterator[tuple[int, int]]:
    """Give the spans of fenced code, an unclosed one to the end."""
    opened: tuple[int, str] | None = None
    at = 0
    for line in source.splitlines(keepends=True):
        match = _FENCE.match(line)
        if match and opened is None:
            opened = (at, match[1])
        elif (
            match and opened and match[1].startswith(opened[1]) and not line[match.end() :].strip()
        ):
            yield opened[0], at + len(line)
            opened = None
        at += len(line)
    if opened:
        yield opened[0], at


def _comments(source: str) -> Iterator[tuple[int, int]]:
    at = source.find("<!--")
    while at >= 0:
        end = source.find("-->", at)
        if end < 0:
            return  # an opening that never closes hides nothing
        yield at, end + 3
        at = source.find("<!--", end)


def _inline_code(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Blank the ticks; give the spans of code that is more than a quantity or an id."""
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    at = 0
    for line in text.splitlines(keepends=True):
        parts.append(_code_of_line(line, at, spans) if "`" in line else line)
        at += len(line)
    return "".join(parts), spans


def _code_of_line(line: str, offset: int, spans: list[tuple[int, int]]) -> str:
    runs = list(_TICKS.finditer(line))
    pieces, at, index = [], 0, 0
    while index < len(runs):
        opening = runs[index]
        close = next(
            (i for i in range(index + 1, len(runs)) if len(runs[i][0]) == len(opening[0])), None
        )
        if close is None:
            index += 1
            continue
        closing = runs[close]
        inside = line[opening.end() : closing.start()]
        if not _QUANTITY_CODE.fullmatch(inside) and "ev_" not in inside and "ev\\_" not in inside:
            spans.append((offset + opening.end(), offset + closing.start()))
            inside = inside.translate(_CODE_MARKS)
        pieces += [line[at : opening.start()], " " * len(opening[0]), inside, " " * len(closing[0])]
        at, index = closing.end(), close + 1
    return "".join([*pieces, line[at:]])


def _links(text: str) -> str:
    """Blank link targets and the brackets of their text; a picture goes as a whole."""
    pieces: list[str] = []
    at = 0
    opened: list[int] = []
    for match in _TARGET.finditer(text):
        if match[0] == "[":
            opened.append(match.start())
            continue
        start = opened.pop() if opened else None
        if match[0] == "]" or start is None or start < at or "\n\n" in text[start : match.start()]:
            continue
        picture = text.startswith("!", start - 1) and start > at
        label = text[start + 1 : match.start()]
        pieces += [text[at:start], " ", " " * len(label) if picture else label]
        pieces.append(" " * len(match[0]))
        at = match.end()
    return "".join([*pieces, text[at:]])
