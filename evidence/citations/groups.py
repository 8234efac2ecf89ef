"""Ids that stand together: in one bracket, or side by side."""

import bisect
import re
from dataclasses import dataclass

from .mentions import Mention

_BRACKET = re.compile(r"[()\[\]]")
_JOINED = re.compile(
    r"[\s,;&/+→>()\[\]-]*(?:\b(?:and|vs\.?|versus|to|or|with|against|over)\b)?[\s,;&/+→>()\[\]-]*"
)
_LABEL_END = re.compile(r"[\s)\]*]*(?::|=(?!=)|[–—](?=\s))")
_GROUP_TEXT = 80  # a bracket with more words than this is prose


@dataclass
class Group:
    """Ids that stand together. `label`: a colon follows."""

    start: int
    end: int
    mentions: list[Mention]
    bracketed: bool
    label: bool = False


def groups_of(
    text: str, span: tuple[int, int], ids: list[Mention], starts: list[int]
) -> list[Group]:
    """Group the ids of a passage; `starts`: where its numbers begin, which keep groups apart."""
    pairs = _pairs(text, span) if ids else []
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
