"""The claims of a text, in order, and what the cited records say of each."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from . import prose, remarks, surroundings
from .binding import Binding
from .cited import Cited
from .inherited import with_unit
from .judging import Judge
from .outcomes import Claim, Outcome
from .passages import Document, Passage
from .quantities import Quantity
from .relative import Number
from .scopes import scope, statistic
from .units import SHARE, TIMES


def claims_of(document: Document, library: dict[str, Cited]) -> Iterator[Claim]:
    """Give every claim in the order of the text."""
    for passage in document.passages:
        found = [
            claim
            for index in passage.quantities
            if (claim := _claim(document, library, passage, index)) is not None
        ]
        found = _of_one_statistic(found)
        found += _remarks(document, library, passage, found)
        yield from sorted(found, key=lambda c: c.start)


def _claim(
    document: Document, library: dict[str, Cited], passage: Passage, index: int
) -> Claim | None:
    quantity = document.quantities[index]
    if quantity.unit is not None and prose.is_setting(document, quantity):
        return None
    bound = surroundings.bindings(document, passage.number, index)
    if not bound and quantity.unit is None and quantity.whole:
        return None
    said = scope(document, passage, index)
    quantity = with_unit(document, passage, quantity, said)
    bound = bound or _of_section(document, passage, quantity)
    if not bound:
        return _uncited(document, passage, quantity)
    named = statistic(document, passage, index, said)
    number = Number(document, library, passage, index, quantity, said, named)
    return Judge(number).best(bound)


def _of_section(document: Document, passage: Passage, quantity: Quantity) -> list[Binding]:
    """Let a ratio without any id near take the few that its section cites."""
    if quantity.unit is None or quantity.unit.dimension not in (TIMES, SHARE):
        return []
    section = surroundings.of_section(document, passage.number)
    return [Binding(section, "near")] if section else []


def _uncited(document: Document, passage: Passage, quantity: Quantity) -> Claim | None:
    if quantity.unit is None or prose.is_no_claim(document, quantity):
        return None
    if prose.is_of_others(document, passage, quantity):
        return None
    why = "no citation: put the id of the record behind the number"
    return Claim(quantity.start, quantity.end, quantity.quote, Outcome("unsupported", why))


def _of_one_statistic(found: list[Claim]) -> list[Claim]:
    """Contradict an unnamed mean where the same sentence quotes the median of that metric."""
    supported = {c.outcome.metric for c in found if c.outcome.verdict == "supported"}
    settled = []
    for claim in found:
        outcome = claim.outcome
        median = (outcome.metric or "").removesuffix("mean") + "median"
        if outcome.loose and median in supported:
            why = f"{outcome.why}, a mean beside medians that the text does not tell apart"
            claim = replace(claim, outcome=replace(outcome, verdict="contradicted", why=why))
        settled.append(claim)
    return settled


def _remarks(
    document: Document, library: dict[str, Cited], passage: Passage, found: Sequence[Claim]
) -> Iterator[Claim]:
    """Give the words that claim something: passed and failed, rose and fell."""
    right = {c.start: c.outcome for c in found if c.outcome.verdict == "supported"}
    supported = {
        i: right[start]
        for i in passage.quantities
        if (start := document.quantities[i].start) in right
    }
    words = remarks.verdict_words(document, passage, library, bool(found))
    for word in [*words, *remarks.direction_words(document, passage, supported)]:
        quote = document.source[word.start : word.end]
        yield Claim(word.start, word.end, quote, word.outcome)
