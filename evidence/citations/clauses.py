"""The clauses of a passage: which words go with which of its numbers."""

import bisect
import re
from dataclasses import dataclass, field

from .groups import Group
from .quantities import Quantity

_BOUNDARY = re.compile(
    r"[;()\[\]|—]|,(?!\d)|(?<=\s)[–-](?=\s)|\b(?:and|while|whereas|but|versus|vs|instead of|rather than"
    r"|compared (?:to|with)|relative to|against|down from|up from|then|plus|although|though|so|which"
    r"|where|with)\b",
    re.IGNORECASE,
)


@dataclass
class Clause:
    """A stretch of a passage.

    `asides`: brackets without a number that comment on it. `joined`: other stretches without a number
    that go with it. `pairs`: its numbers with a unit, tied ones together; `place`: of each among them.
    """

    start: int
    end: int
    quantities: list[int] = field(default_factory=list)
    asides: list[tuple[int, int]] = field(default_factory=list)
    joined: list[tuple[int, int]] = field(default_factory=list)
    pairs: list[list[int]] = field(default_factory=list)
    place: dict[int, int] = field(default_factory=dict)


def clauses_of(
    text: str,
    span: tuple[int, int],
    cells: list[tuple[int, int]],
    numbers: dict[int, Quantity],
    groups: list[Group],
) -> list[Clause]:
    """Cut a passage into clauses. `numbers`: its quantities by their index, in order."""
    clauses = _cut(text, span, cells, list(numbers.values()), groups)
    for index, quantity in numbers.items():
        place = bisect.bisect_right(clauses, quantity.start, key=lambda c: c.start) - 1
        clauses[place].quantities.append(index)
    for clause in clauses:
        _pair(numbers, clause)
    return _attach(text, clauses)


def _cut(
    text: str,
    span: tuple[int, int],
    cells: list[tuple[int, int]],
    found: list[Quantity],
    groups: list[Group],
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
    edges = sorted({span[0], *cuts, *(start for start, _ in cells if start < span[1])})
    return [Clause(a, b) for a, b in zip(edges, [*edges[1:], span[1]], strict=True)]


def _tied_end(found: list[Quantity], index: int) -> int:
    quantity = found[index]
    tied = quantity.relation in ("base", "from", "low", "part", "share")
    return found[index + 1].end if tied and index + 1 < len(found) else quantity.end


def _pair(numbers: dict[int, Quantity], clause: Clause) -> None:
    """Group a clause's numbers: tied pairs together, those without a unit left out."""
    for index in clause.quantities:
        quantity = numbers[index]
        last = clause.pairs[-1] if clause.pairs else None
        if last and quantity.partner is not None and quantity.partner == last[-1]:
            last.append(index)
        elif quantity.unit is not None or not quantity.whole:
            clause.pairs.append([index])
        else:
            continue
        clause.place[index] = len(clause.pairs) - 1


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
