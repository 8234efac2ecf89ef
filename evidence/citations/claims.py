"""The claims of a text and what the cited records say of each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from . import (
    changes,
    counts,
    details,
    direct,
    naming,
    orders,
    prose,
    ratios,
    remarks,
    shares,
    surroundings,
)
from .binding import Binding, all_of, head_cell
from .cited import Cited
from .direct import Outcome
from .mentions import Mention
from .passages import Document, Passage
from .quantities import Quantity
from .scopes import Named, Scope, scope, statistic
from .units import POINTS, RATIO, SHARE, TIMES, Unit, unit_after

_BRACKETED = re.compile(r"[(\[]\s*([^()\[\]]{1,16}?)\s*[)\]]")
_FACTOR_COLUMN = re.compile(r"\b(?:ratio|speed-?up|factor)\b(?![^|]*%)", re.IGNORECASE)
_FACTOR_OF = re.compile(r"\bfactor (?:of|is|was)\s+(?:\w+\s+)?$", re.IGNORECASE)
_LABEL = re.compile(r"[(\[][^()\[\]\d]{1,16}[)\]]\s*([:=]?)\s*")
_LABEL_REACH = 120
_LAST_WORD = re.compile(r"(\S{1,12})\s*$")
_ALONE_IN_CELL = re.compile(r"[\s\d.,±~<>≈+\-−–/x%()\x01]*")
_ADJACENT = 14  # characters between a number and its word of change
_TIMES_UNIT = Unit(TIMES, 1.0)
_THAT_IS = re.compile(
    r"\s*(?:(?:that|this|which|it)(?: is|'s| means| gives| makes| amounts to)|i\.e|a |an |so |thus|hence"
    r"|overall|net)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim at its place in the text."""

    start: int
    end: int
    quote: str
    outcome: Outcome


class Reader:
    """Goes through a text and judges its claims."""

    def __init__(self, document: Document, library: dict[str, Cited]) -> None:
        """Take a text that was read and the records that it cites."""
        self._document = document
        self._library = library

    def claims(self) -> Iterator[Claim]:
        """Give every claim in the order of the text."""
        for number, passage in enumerate(self._document.passages):
            found = [c for i in passage.quantities if (c := self._claim(number, i)) is not None]
            found = _of_one_statistic(found)
            found += self._remarks(passage, found)
            yield from sorted(found, key=lambda c: c.start)

    def _remarks(self, passage: Passage, found: Sequence[Claim]) -> Iterator[Claim]:
        quantities = self._document.quantities
        right = {c.start: c.outcome for c in found if c.outcome.verdict == "supported"}
        supported = {
            i: right[quantities[i].start]
            for i in passage.quantities
            if quantities[i].start in right
        }
        words = remarks.verdict_words(self._document, passage, self._library, bool(found))
        words += remarks.direction_words(self._document, passage, supported)
        for word in words:
            quote = self._document.source[word.start : word.end]
            yield Claim(word.start, word.end, quote, word.outcome)

    def _claim(self, number: int, index: int) -> Claim | None:
        document, passage = self._document, self._document.passages[number]
        quantity = document.quantities[index]
        if quantity.unit is not None and prose.is_setting(document, quantity):
            return None
        bound = surroundings.bindings(document, number, index)
        if not bound and quantity.unit is None and quantity.whole:
            return None
        said = scope(document, passage, index)
        quantity = self._with_unit(passage, quantity, said)
        named = statistic(document, passage, index, said)
        if not bound and quantity.unit is not None and quantity.unit.dimension in (TIMES, SHARE):
            section = surroundings.of_section(document, number)
            bound = [Binding(section, "near")] if section else []
        if not bound:
            return self._uncited(passage, quantity)
        judge = _Judge(self, passage, index, quantity, said, named)
        first: tuple[Claim, Binding] | None = None
        for binding in bound:
            claim = judge.against(binding)
            if claim is not None and claim.outcome.verdict == "supported":
                return claim
            if claim is not None and first is None:
                first = claim, binding
        return judge.settle(*first) if first else None

    def _uncited(self, passage: Passage, quantity: Quantity) -> Claim | None:
        if quantity.unit is None or self.is_no_claim(passage, quantity):
            return None
        if prose.is_of_others(self._document, passage, quantity):
            return None
        why = "no citation: put the id of the record behind the number"
        return Claim(quantity.start, quantity.end, quantity.quote, Outcome("unsupported", why))

    def is_no_claim(self, passage: Passage, quantity: Quantity) -> bool:
        """Tell a setting or a figure of speech."""
        return (
            prose.is_setting(self._document, quantity)
            or prose.may_be_setting(self._document, quantity)
            or prose.is_trivial(quantity)
        )

    def _with_unit(self, passage: Passage, quantity: Quantity, said: Scope) -> Quantity:
        """Give a bare number the unit that its table's head or the word speed-up gives it."""
        if quantity.unit is not None:
            return quantity
        block = self._document.blocks[passage.block]
        unit = None if quantity.nouns else self._unit_of_label(passage, quantity)
        if unit is not None:  # Latency (ms): 12.34
            return replace(quantity, unit=unit[0], unit_text=unit[1], gap=" ", inherited=True)
        if block.kind == "row" and not quantity.nouns:
            quantity = self._with_unit_of_table(passage, quantity)
        if quantity.unit is None and not quantity.whole and _is_factor(said):
            return replace(quantity, unit=_TIMES_UNIT)
        return quantity

    def _unit_of_label(self, passage: Passage, quantity: Quantity) -> tuple[Unit, str] | None:
        """Read the unit in `Latency (ms): 12.34 (median), 13.10 (p95)`."""
        text = self._document.text
        start = max(passage.start, quantity.start - _LABEL_REACH)
        label = None
        for match in _LABEL.finditer(text, start, quantity.start):
            if match[1] or match.end() == quantity.start:
                label = match
        if label is None or (quantity.whole and label.end() != quantity.start):
            return None
        return _unit_in_label(label[0])

    def _with_unit_of_table(self, passage: Passage, quantity: Quantity) -> Quantity:
        document = self._document
        block = document.blocks[passage.block]
        spans = [head_cell(document, passage, quantity.start), block.cells[0]]
        cell = next((c for c in block.cells if c[0] <= quantity.start < c[1]), None)
        if cell is None or not _ALONE_IN_CELL.fullmatch(document.text[cell[0] : cell[1]]):
            return quantity
        factors = spans[0] is not None and _FACTOR_COLUMN.search(document.text, *spans[0])
        if factors and not quantity.whole:
            return replace(quantity, unit=_TIMES_UNIT)
        for span in spans:
            unit = _unit_in_label(document.text[span[0] : span[1]]) if span else None
            if unit is not None and span != cell:
                return replace(quantity, unit=unit[0], unit_text=unit[1], gap=" ", inherited=True)
        return quantity

    def cited(self, mentions: Sequence[Mention]) -> list[Cited]:
        """Give the records of mentions, each once."""
        return [self._library[key] for key in dict.fromkeys(m.key for m in mentions)]

    def in_text_order(self, pool: Sequence[Cited]) -> list[Cited]:
        """Sort records by where the text first cites them."""
        first = self._document.first_mention
        return sorted(pool, key=lambda c: m.start if (m := first(c.key)) else 0)

    @property
    def document(self) -> Document:
        """The text."""
        return self._document


def _is_factor(said: Scope) -> bool:
    """Tell the number of `a speed-up of 1.8` and `by a factor of 1.8`."""
    return "speedup" in naming.words(said.before) or bool(_FACTOR_OF.search(said.before))


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


def _unit_in_label(label: str) -> tuple[Unit, str] | None:
    """Read the unit of `latency (ms)`, `ms` or `latency, ms`."""
    tokens = [m[1] for m in _BRACKETED.finditer(label)]
    last = _LAST_WORD.search(label.strip(" *_`)]("))
    for token in [*tokens, *([last[1]] if last else [])]:
        written = unit_after(f"1 {token}", 1, whole=False)
        if written is not None and written.end == len(token) + 2 and len(token.strip()) > 0:
            return written.unit, token
    return None


class _Judge:
    """Holds one number of a text against what it may be bound to."""

    def __init__(
        self,
        reader: Reader,
        passage: Passage,
        index: int,
        quantity: Quantity,
        said: Scope,
        named: Named | None,
    ) -> None:
        self._index = index
        self._reader = reader
        self._passage = passage
        self._quantity = quantity
        self._said = said
        self._named = named
        partner = quantity.partner
        self._partner = reader.document.quantities[partner] if partner is not None else None
        self._end = quantity.end

    def against(self, binding: Binding) -> Claim | None:
        """Judge the number by one binding; None where it is no claim."""
        cited = self._reader.cited(binding.mentions)
        if binding.strength == "near":
            cited = [c for c in cited if c.status == "verified"] or cited
        bad = _worst(cited)
        if bad is not None:
            return self._claim(_unreadable(bad)) if self._is_claim() else None
        fragment = next((m.fragment for m in binding.mentions if m.fragment), None)
        row = None if fragment else self._of_row(cited)
        outcome = row or self._outcome(binding, cited, fragment)
        if (outcome is None or outcome.verdict != "supported") and fragment is None:
            outcome = details.judge_fact(self._quantity, cited, self._said) or outcome
        return self._claim(outcome) if outcome else None

    def _of_row(self, cited: Sequence[Cited]) -> Outcome | None:
        """Hold a number against the kernel or function that its sentence names."""
        if self._quantity.unit is None and not self._quantity.nouns:
            return None
        found = details.judge_row(self._quantity, cited, self._said)
        if found and self._quantity.unit is None:
            self._end = self._quantity.nouns[0][1]
        return found

    def settle(self, claim: Claim, binding: Binding) -> Claim | None:
        """Decide what becomes of a number that no binding supports."""
        verdict = claim.outcome.verdict
        if verdict in ("tampered", "not_found"):
            return claim
        reader, passage, quantity = self._reader, self._passage, self._quantity
        if prose.may_be_setting(reader.document, quantity) or self._is_whole_of_share():
            return None
        if prose.is_span(quantity, self._said.before) or prose.is_denied(self._said.before):
            return None
        if quantity.unit is None and binding.strength == "near":
            return None
        others = prose.is_of_others(reader.document, passage, quantity)
        if others and (binding.strength != "beside" or verdict == "unsupported"):
            return None
        in_table = reader.document.blocks[passage.block].kind == "row"
        loose = in_table or binding.strength in ("above", "near") or verdict == "unsupported"
        if prose.is_trivial(quantity) and loose and binding.strength != "beside":
            return None
        near = binding.strength == "near" and verdict == "contradicted"
        if near and not (
            self._is_derived() and _THAT_IS.match(reader.document.text, passage.start)
        ):
            why = f"no citation beside it, and what is cited near says: {claim.outcome.why}"
            return replace(claim, outcome=replace(claim.outcome, verdict="unsupported", why=why))
        return claim

    def _is_whole_of_share(self) -> bool:
        """Tell the 4.8 TB/s of `65 % of the theoretical 4.8 TB/s`: judged with its share."""
        return self._quantity.relation == "whole" and self._quantity.unit is not None

    def _claim(self, outcome: Outcome) -> Claim:
        quantity, text = self._quantity, self._reader.document.text
        quote = quantity.quote
        if quantity.unit is None and self._end > quantity.end:
            quote = counts.noun_text(text, quantity, self._end)
        return Claim(quantity.start, self._end, quote, outcome)

    def _is_claim(self) -> bool:
        """Tell whether a number claims something even where its record cannot be read."""
        quantity = self._quantity
        if quantity.unit is not None:
            return not self._reader.is_no_claim(self._passage, quantity)
        for word, end in quantity.nouns[:1]:
            if naming.meaning(word) in counts.KNOWN_NOUNS:
                self._end = end
                return True
        return False

    def _is_derived(self) -> bool:
        unit = self._quantity.unit
        return unit is not None and unit.dimension in (TIMES, SHARE, POINTS)

    def _outcome(
        self, binding: Binding, cited: Sequence[Cited], fragment: str | None
    ) -> Outcome | None:
        quantity = self._quantity
        if quantity.unit is None:
            return self._plain(binding, cited, fragment)
        reach = [r for c in cited for r in c.reachable()]
        if self._is_whole_of_share():
            found = direct.candidates(quantity, quantity.unit, reach, fragment)
            fitting = next((c for c in found if c.supports(quantity.figure)), None)
            return direct.told(quantity, fitting) if fitting else self._absent(reach)
        if quantity.unit.dimension in (TIMES, SHARE, POINTS):
            return self._relative(binding, cited, reach, fragment)
        if changes.is_difference(self._said.before, self._said.after):
            pairs = self._orders(binding, cited)
            outcome = ratios.judge_difference(quantity, pairs, self._said, self._named)
            if outcome is not None:
                return outcome
        return self._direct(reach, fragment) or self._absent(reach)

    def _plain(
        self, binding: Binding, cited: Sequence[Cited], fragment: str | None
    ) -> Outcome | None:
        quantity = self._quantity
        if quantity.relation == "part" and self._partner is not None:
            return counts.judge_part(quantity, self._partner, cited, self._said)
        if quantity.nouns and fragment is None:
            found = counts.judge_noun(quantity, cited, self._said)
            if found is not None:
                self._end = found[1]
                return found[0]
        if quantity.relation == "whole":
            return counts.judge_whole(quantity, cited, self._said)
        beside = binding.strength == "beside"
        return counts.judge_plain(quantity, cited, self._said, self._named, beside, fragment)

    def _direct(self, reach: Sequence[Cited], fragment: str | None) -> Outcome | None:
        return direct.judge(self._quantity, reach, self._said, self._named, self._partner, fragment)

    def _relative(
        self, binding: Binding, cited: Sequence[Cited], reach: Sequence[Cited], fragment: str | None
    ) -> Outcome:
        """Judge a factor, a percentage or points: recorded as such, or recomputed from two records."""
        quantity, said = self._quantity, self._said
        changed = self._is_change()
        outcomes = [shares.judge(quantity, self._whole(), reach, said)]
        if not changed or quantity.unit == _TIMES_UNIT or fragment is not None:
            plain = [self._only_factors(c) for c in reach] if changed else reach
            outcomes.append(self._direct(plain, fragment))
        left_over = changes.change_of(said.before, said.after) == "of"
        if changed or left_over or quantity.unit == _TIMES_UNIT or len(cited) > 1:
            pairs = self._orders(binding, cited)
            outcomes.append(ratios.judge(quantity, pairs, said, self._named, self._partner))
            outcomes.append(ratios.judge_factor_metric(quantity, reach, said))
        found = [o for o in outcomes if o is not None]
        for outcome in found:
            if outcome.verdict == "supported":
                return outcome
        for outcome in found:
            if outcome.verdict == "contradicted":
                return outcome
        return found[0] if found else self._absent(reach)

    def _only_factors(self, cited: Cited) -> Cited:
        """Leave out recorded ratios: new over old is no speed-up."""
        kept = tuple(v for v in cited.values if v.unit.dimension != RATIO)
        return replace(cited, values=kept)

    def _whole(self) -> Quantity | None:
        """Give what a percentage is of: `11 % of the 140 GiB`, `2.4 TB/s of 4.8 TB/s (50 %)`."""
        if self._quantity.relation == "share":
            return self._partner
        quantities = self._reader.document.quantities
        before = quantities[self._index - 1] if self._index else None
        near = before is not None and self._quantity.start - before.end < _ADJACENT
        return before if near and before is not None and before.relation == "whole" else None

    def _is_change(self) -> bool:
        """Tell a number that is the size of a change from one that is a level."""
        quantity, said = self._quantity, self._said
        if quantity.relation in ("from", "to"):
            return False
        if quantity.sign != 0 or (quantity.unit is not None and quantity.unit.dimension == POINTS):
            return True
        change = changes.change_of(said.before, said.after)
        if change in (None, "of"):
            return False
        if changes.is_difference(said.before, said.after):
            return True
        near = said.before[-_ADJACENT - 12 :], said.after[:_ADJACENT]
        return changes.change_of(*near) is not None

    def _orders(self, binding: Binding, cited: Sequence[Cited]) -> list[ratios.Order]:
        """Give the pairs to compare: of the binding, else of the sentence, else of what is near."""
        reader, passage = self._reader, self._passage
        pool = list(cited)
        if len(pool) < 2 and not any(c.inputs for c in pool):
            pool = reader.cited([*binding.mentions, *all_of(passage)])
            pool = reader.in_text_order(pool)
        if len(pool) < 2 and not any(c.inputs for c in pool):
            near = surroundings.near(reader.document, passage)
            pool = reader.in_text_order(reader.cited([*near, *binding.mentions]))
        pool = [c for c in pool if c.status == "verified"]
        if not pool:
            return []
        return orders.orders(reader.document, passage, self._quantity.end, pool)

    def _absent(self, reach: Sequence[Cited]) -> Outcome:
        quantity = self._quantity
        missing = direct.quoted_missing(reach, self._said)
        if missing is None and self._is_derived():
            missing = (
                "no such number recorded, and a ratio needs two records with a metric in common"
            )
        if missing is None:
            missing = f"the cited record has no number in {quantity.unit_text or 'that unit'}"
        return Outcome("unsupported", missing, tuple(c.key for c in reach[:2]))


def _worst(cited: Sequence[Cited]) -> Cited | None:
    for status in ("tampered", "not_found", "incomplete"):
        for one in cited:
            if one.status == status:
                return one
    return None


def _unreadable(cited: Cited) -> Outcome:
    flags = ("did_you_mean",) if cited.nearest else ()
    if cited.status == "incomplete":
        why = f"{cited.key} does not verify: {cited.why}"
        return Outcome("unsupported", why, (cited.key,))
    verdict: direct.ClaimVerdict = "tampered" if cited.status == "tampered" else "not_found"
    return Outcome(verdict, f"{cited.key}: {cited.why}", (cited.key,), flags=flags)
