"""Numbers with what they count: unit, hedge, sign, and how two neighbours belong together.

The first number of `12.34 to 6.81 ms` takes its unit from the second, `497` of `497 of 512 cases` is a
part of the other. What is left without a unit may still be a claim where a record names it.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from .hedges import hedge_of
from .matching import Figure
from .numerals import Numeral, numerals
from .units import SHARE, TIME, Unit, Written, unit_after

Relation = Literal[
    "spread", "from", "to", "low", "high", "part", "whole", "share", "amount", "base", "list"
]

_SECONDS = Unit(TIME, 1.0)
_CELSIUS_UNIT = Unit("temperature", 1.0)
_GAP = r"[\s\x01()\[\],]*"  # an id may stand between
_SPREAD = re.compile(r"\s*\(?\s*(?:±|\+/-|\+/−|\+-|\\pm)\s*$")
_ARROW = re.compile(rf"{_GAP}(?:→|->|-->|=>|⇒|➜|➔|⟶|⟹|↦){_GAP}$")
_TO = re.compile(
    rf"{_GAP}\b(?:down to|up to|to|into){_GAP}(?:about|around|roughly|only|just|~|≈)?\s*$"
)
_DASH = re.compile(r"\s?[-–—‑]\s?$|\s?\.\.\.?\s?$")
_AND = re.compile(r"\s+and\s+$")
_OF = re.compile(r"\s*(?:out of|of|/)\s*(?:the |all |a total of |its |our |their )*$")
_SHARE_OF = re.compile(
    r"\s*of (?:the |its |our |a |that |this )*(?:(?:theoretical|peak|total|available|full|device|gpu"
    r"|hbm|dram|memory|maximum|max|bandwidth|capacity|nominal|rated|spec|roofline)[ -]*)*(?:of )?\(?$",
    re.IGNORECASE,
)
_LISTED = re.compile(rf"{_GAP}(?:,|/|and|or|vs\.?|versus|&|against|,\s*and)\s*$")
_FROM = re.compile(r"\bfrom\b[^.;]{0,40}$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\b[^.;]{0,30}$", re.IGNORECASE)
_LEADS_LIST = re.compile(
    r"(?:^|[\s(\[|:=,/~<>])(?:from|between|of|at|is|was|are|were|by|to|in|takes?|took|measured|median"
    r"|mean|average|p\d\d?|min|max|and|or|vs\.?|:|=|\(|\||,|/|~)?\s*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[ -]([A-Za-z][A-Za-z0-9_]*)")
_OPENED = re.compile(r"\([^()\n]*±\s*$")
_CELSIUS = re.compile(r" ?C(?![\w+#/])")
_WARM = re.compile(r"\b(?:temp\w*|thermal\w*|hot|cool\w*|idl\w+)\b[^.;\n]{0,40}$", re.IGNORECASE)
_DECADE = re.compile(r"(?:19|20)\d0$")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text with its unit, or None; `start` to `end` covers both.

    `sign` is -1 or 1 where one is written. `relation` and `partner` (an index into the list) tie two
    neighbours. `nouns` are up to three words after a number without a unit.
    """

    start: int
    end: int
    number: str
    figure: Figure
    whole: bool
    sign: int = 0
    unit: Unit | None = None
    unit_text: str = ""
    gap: str = ""
    inherited: bool = False
    nouns: tuple[tuple[str, int], ...] = ()
    relation: Relation | None = None
    partner: int | None = None

    @property
    def quote(self) -> str:
        """The number as written, with its unit."""
        gap = " " if self.gap.isspace() and self.unit_text else self.gap.strip()
        return f"{self.number}{gap if self.unit_text else ''}{self.unit_text}"


def find(text: str) -> list[Quantity]:
    """Give every quantity of `text` in order. Linear: neighbours only are tied."""
    found = [q for n in numerals(text) if (q := _quantity(text, n)) is not None]
    for index in range(len(found) - 2, -1, -1):
        _tie(text, found, index)
    for index in range(len(found) - 1):
        _hand_on(text, found, index)
    return found


def _quantity(text: str, numeral: Numeral) -> Quantity | None:
    start, end = numeral.start, numeral.end
    sign = _sign(text, start)
    if sign:
        start -= 1
    if numeral.seconds:
        figure = _figure(text, numeral, start, end)
        return Quantity(start, end, text[start:end], figure, False, sign, _SECONDS)
    if text.startswith("+", end) and not text[end + 1 : end + 2].isdigit():
        end += 1  # 118+ it/s
    written = unit_after(text, end, whole=numeral.whole)
    number = text[start:end]
    if (
        written is None
        and text.startswith(")", end)
        and _OPENED.search(text, max(0, start - 24), start)
    ):
        written = unit_after(text, end + 1, whole=False)  # (12.3 ± 0.1) ms
    celsius = _CELSIUS.match(text, end) if written is None else None
    if celsius and _WARM.search(text, max(0, start - 60), start):
        written = Written(_CELSIUS_UNIT, celsius.end(), celsius[0][:-1], "C")
    if written is None:
        following = text[end : end + 1]
        if following.isalpha() or following == "_":
            return None  # 3D, 2nd, 16bit
        nouns = () if following == "\x01" else _nouns(text, end)
        figure = _figure(text, numeral, start, end)
        return Quantity(start, end, number, figure, numeral.whole, sign, nouns=nouns)
    if written.text == "s" and not written.gap and _DECADE.match(number):
        return None  # the 1990s
    if sign < 0 and (start == 0 or text[start - 1] == "\n") and written.unit.dimension != SHARE:
        start, sign, number = start + 1, 0, number[1:]  # a list's dash without its space
    figure = _figure(text, numeral, start, written.end)
    spelled = " ".join(written.text.split())
    return Quantity(
        start, written.end, number, figure, numeral.whole, sign, written.unit, spelled, written.gap
    )


def _figure(text: str, numeral: Numeral, start: int, end: int) -> Figure:
    hedge = "at least" if text.startswith("+", numeral.end) else hedge_of(text, start, end)
    return Figure(numeral.value, numeral.step, numeral.digits, hedge)


def _sign(text: str, start: int) -> int:
    sign = text[start - 1 : start]
    before = text[start - 2 : start - 1] if start > 1 else " "
    if sign not in ("+", "-", "−") or not sign or not (before.isspace() or before in "([|:,=~≈<>/"):
        return 0
    return 1 if sign == "+" else -1


def _nouns(text: str, end: int) -> tuple[tuple[str, int], ...]:
    words = []
    for _ in range(3):
        match = _WORD.match(text, end)
        if match is None:
            break
        end = match.end()
        words.append((match[1], end))
    return tuple(words)


def _tie(text: str, found: list[Quantity], index: int) -> None:
    """Tie a quantity to its right neighbour, taking over its unit where it has none."""
    left, right = found[index], found[index + 1]
    gap = text[left.end : right.start]
    if len(gap) > 80:
        return
    relation = _relation(text, left, right, gap)
    if relation is None:
        return
    bare = left.unit is None and right.unit is not None and relation[0] not in ("part", "share")
    if bare and not (relation[0] == "list" and not _may_inherit(text, left, right, gap)):
        found[index] = left = _with_unit(left, right)
    if relation[0] == "list":
        return
    found[index] = replace(left, relation=relation[0], partner=index + 1)
    if right.relation is None:
        found[index + 1] = replace(right, relation=relation[1], partner=index)


def _relation(
    text: str, left: Quantity, right: Quantity, gap: str
) -> tuple[Relation, Relation] | None:
    before = text[max(0, left.start - 48) : left.start]
    if _SPREAD.match(gap):
        return ("base", "spread")
    if _ARROW.match(gap):
        return ("from", "to")
    if _TO.match(gap):
        opened = _FROM.search(before) or "down" in gap or "up" in gap or "\x01" in gap
        return ("from", "to") if opened else ("low", "high")
    if _DASH.match(gap) or (_AND.match(gap) and _BETWEEN.search(before)):
        return ("low", "high")
    if left.unit is not None and left.unit.dimension == SHARE and _SHARE_OF.match(gap):
        return ("share", "whole")
    if left.unit is not None and left.unit == right.unit and _SHARE_OF.match(gap):
        return ("amount", "whole")
    if _OF.match(gap) and _is_part(left, right):
        return ("part", "whole")
    return ("list", "list") if _LISTED.match(gap) else None


def _is_part(left: Quantity, right: Quantity) -> bool:
    counted = left.whole and right.whole and left.unit is None and right.unit is None
    return counted and left.figure.value <= right.figure.value


def _may_inherit(text: str, left: Quantity, right: Quantity, gap: str) -> bool:
    """Tell `12.34 and 6.81 ms` from `batch size 32 and 12.34 ms`."""
    alike = ("." in left.number) == ("." in right.number)
    return alike and bool(_LEADS_LIST.search(text[max(0, left.start - 24) : left.start]))


def _hand_on(text: str, found: list[Quantity], index: int) -> None:
    """Give the unit of `12.34 ms ± 0.05` and `12.34 ms → 6.81` to the second number."""
    left, right = found[index], found[index + 1]
    tied = left.partner == index + 1 and left.relation in ("base", "from", "low")
    if tied and left.unit is not None and right.unit is None and not right.nouns:
        found[index + 1] = _with_unit(right, left)


def _with_unit(taker: Quantity, giver: Quantity) -> Quantity:
    return replace(
        taker,
        unit=giver.unit,
        unit_text=giver.unit_text,
        gap=giver.gap,
        inherited=True,
        nouns=(),
    )
