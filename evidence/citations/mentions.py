"""Evidence ids in a text, whole, bound to one metric, or nearly right; and footnotes that stand for them.

Only a whole id counts. What looks like one (a prefix, a wrong letter, capitals) is kept as written, to be
reported with the nearest; a variable named `ev_loop` is left alone.
"""

import bisect
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..ids import ID

_LOOKS_LIKE = re.compile(
    r"(?<![A-Za-z0-9_])(?P<id>[eE][vV]\\?_(?P<body>[A-Za-z0-9]{4,40}))"
    r"(?![A-Za-z0-9_])(?P<cut>…|\.\.\.(?!\.))?(?:#(?P<fragment>[^\s\]\[(){},;`\"'|<>]{1,160}))?"
)
_WHOLE_BODY = re.compile(r"[a-z2-7]{16}")
_LABEL = r"\[(\^?[^\[\]\n]{1,60})\]"
_DEFINITION = re.compile(rf"^ {{0,3}}{_LABEL}(:?)\s+(?=\S)", re.MULTILINE)
_USE = re.compile(_LABEL)
_MANY = 8  # ids of one footnote
_LONG = 12  # of the 16 characters: too long for a chance variable name


@dataclass(frozen=True, slots=True)
class Mention:
    """An id at a place of the text. `identifier` is None where it is not a whole id."""

    start: int
    end: int
    written: str
    identifier: str | None
    fragment: str | None = None

    @property
    def key(self) -> str:
        """What to look up: the id, or what stands in its place."""
        return self.identifier or self.written


def mentions(source: str, hidden: Sequence[tuple[int, int]]) -> list[Mention]:
    """Give the ids of a text in order, none from hidden spans; footnotes stand for their ids."""
    found = []
    for match in _LOOKS_LIKE.finditer(source):
        mention = None if _inside(match.start(), hidden) else _mention(match)
        if mention:
            found.append(mention)
    return sorted([*found, *_footnotes(source, found)], key=lambda m: m.start)


def _mention(match: re.Match[str]) -> Mention | None:
    body, fragment = match["body"], match["fragment"]
    written = match["id"].replace("\\", "")
    end = match.end("id") if not fragment else match.end()
    if fragment:
        trimmed = fragment.rstrip(".:!?*_")
        end -= len(fragment) - len(trimmed)
        fragment = trimmed.replace("\\", "") or None
    if match["cut"]:
        return Mention(match.start(), match.end("cut"), written + "…", None)
    if ID.fullmatch(written):
        return Mention(match.start(), end, written, written, fragment)
    if any(c.isdigit() for c in body) or len(body) >= _LONG or written.lower() != written:
        return Mention(match.start(), end, written, None, fragment)
    return None


def _inside(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    index = bisect.bisect_right(spans, (position, 1 << 60)) - 1
    return index >= 0 and spans[index][0] <= position < spans[index][1]


def _footnotes(source: str, found: Iterable[Mention]) -> list[Mention]:
    """Put the ids that `[^1]: ev_…` or `[1] ev_…` defines where `[^1]` or `[1]` is used."""
    ordered = list(found)
    starts = [m.start for m in ordered]
    defined: dict[str, list[Mention]] = {}
    places = set()
    for match in _DEFINITION.finditer(source):
        stop = source.find("\n", match.end())
        first = bisect.bisect_left(starts, match.end())
        last = bisect.bisect_left(starts, len(source) if stop < 0 else stop)
        label = match[1].strip().lower()
        if (
            first < last
            and not label.startswith(("ev_", "x", " "))
            and (match[2] or label[-1].isdigit())
        ):
            defined[label] = ordered[first : min(last, first + _MANY)]
            places.add(match.start(1) - 1)
    if not defined:
        return []
    uses = []
    for match in _USE.finditer(source):
        for mention in defined.get(match[1].strip().lower(), ()):
            if match.start() not in places:
                uses.append(replace(mention, start=match.start(), end=match.end()))
    return uses
