"""Judges one number of a text against what it may be bound to."""

import re
from collections.abc import Sequence
from dataclasses import replace

from . import (
    changes,
    counts,
    details,
    differences,
    direct,
    naming,
    orders,
    prose,
    relative,
)
from .binding import Binding
from .choosing import candidates
from .cited import Cited
from .outcomes import Claim, ClaimVerdict, Outcome
from .relative import Number
from .units import POINTS, SHARE, TIMES

_THAT_IS = re.compile(
    r"\s*(?:(?:that|this|which|it)(?: is|'s| means| gives| makes| amounts to)|i\.e|a |an |so |thus|hence"
    r"|overall|net)",
    re.IGNORECASE,
)
_BAD: dict[str, ClaimVerdict] = {
    "tampered": "tampered",
    "not_found": "not_found",
    "incomplete": "unsupported",
}


class Judge:
    """Holds one number against the bindings that it may have."""

    def __init__(self, number: Number) -> None:
        """Take a number at its place."""
        self._number = number
        self._quantity = number.quantity
        self._end = number.quantity.end

    def best(self, bindings: Sequence[Binding]) -> Claim | None:
        """Give the claim as the first binding that supports it has it, else as the surest has it."""
        first: tuple[Claim, Binding] | None = None
        for binding in bindings:
            claim = self._against(binding)
            if claim is not None and claim.outcome.verdict == "supported":
                return claim
            if claim is not None and first is None:
                first = claim, binding
        return self._settled(*first) if first else None

    def _against(self, binding: Binding) -> Claim | None:
        """Judge the number by one binding; None where it is no claim."""
        cited = self._number.cited(binding.mentions)
        if binding.strength == "near":
            cited = [c for c in cited if c.status == "verified"] or cited
        bad = _worst(cited)
        if bad is not None:
            return self._claim(_unreadable(bad)) if self._is_claim() else None
        fragment = next((m.fragment for m in binding.mentions if m.fragment), None)
        outcome = (None if fragment else self._of_row(cited)) or (
            self._plain(binding, cited, fragment)
            if self._quantity.unit is None
            else self._united(binding, cited, fragment)
        )
        if (outcome is None or outcome.verdict != "supported") and fragment is None:
            outcome = details.judge_fact(self._quantity, cited, self._number.said) or outcome
        return self._claim(outcome) if outcome else None

    def _claim(self, outcome: Outcome) -> Claim:
        quantity, text = self._quantity, self._number.document.text
        quote = quantity.quote
        if quantity.unit is None and self._end > quantity.end:
            quote = counts.noun_text(text, quantity, self._end)
        return Claim(quantity.start, self._end, quote, outcome)

    def _is_claim(self) -> bool:
        """Tell whether a number claims something even where its record cannot be read."""
        quantity = self._quantity
        if quantity.unit is not None:
            return not prose.is_no_claim(self._number.document, quantity)
        for word, end in quantity.nouns[:1]:
            if naming.meaning(word) in counts.KNOWN_NOUNS:
                self._end = end
                return True
        return False

    def _of_row(self, cited: Sequence[Cited]) -> Outcome | None:
        """Hold a number against the kernel or function that its sentence names."""
        if self._quantity.unit is None and not self._quantity.nouns:
            return None
        found = details.judge_row(self._quantity, cited, self._number.said)
        if found and self._quantity.unit is None:
            self._end = self._quantity.nouns[0][1]
        return found

    def _plain(
        self, binding: Binding, cited: Sequence[Cited], fragment: str | None
    ) -> Outcome | None:
        """Judge a number without a unit."""
        quantity, said, partner = self._quantity, self._number.said, self._number.partner
        if quantity.relation == "part" and partner is not None:
            return counts.judge_part(quantity, partner, cited, said)
        if quantity.nouns and fragment is None:
            found = counts.judge_noun(quantity, cited, said)
            if found is not None:
                self._end = found[1]
                return found[0]
        if quantity.relation == "whole":
            return counts.judge_whole(quantity, cited, said)
        beside = binding.strength == "beside"
        return counts.judge_plain(quantity, cited, said, self._number.named, beside, fragment)

    def _united(self, binding: Binding, cited: Sequence[Cited], fragment: str | None) -> Outcome:
        """Judge a number with a unit."""
        number, quantity, unit = self._number, self._quantity, self._quantity.unit
        assert unit is not None
        reach = [r for c in cited for r in c.reachable()]
        if not self._is_relative():
            reach = orders.spoken_of(number.document, number.passage, reach, number.said.own)
        if self._is_whole_of_share():
            found = candidates(unit, reach, fragment)
            fitting = next((c for c in found if c.supports(quantity.figure)), None)
            return direct.told(quantity, fitting) if fitting else self._absent(reach)
        if self._is_relative():
            outcome = relative.judge(number, binding, cited, reach, fragment)
            return outcome or self._absent(reach)
        signed = quantity.sign != 0 and len(cited) > 1
        if signed or changes.is_difference(number.said.before, number.said.after):
            pairs = relative.pairs_to_compare(number, binding, cited)
            outcome = differences.judge(quantity, pairs, number.said, number.named)
            if outcome is not None:
                return outcome
            if not signed and not naming.kinds(number.said.own) & {"error"}:
                why = "a difference needs two records with a metric in common; cite both"
                return Outcome("unsupported", why, tuple(c.key for c in cited[:2]))
        outcome = direct.judge(quantity, reach, number.said, number.named, number.partner, fragment)
        return outcome or self._absent(reach)

    def _is_whole_of_share(self) -> bool:
        """Tell the 4.8 TB/s of `65 % of the theoretical 4.8 TB/s`: judged with its share."""
        return self._quantity.relation == "whole" and self._quantity.unit is not None

    def _is_relative(self) -> bool:
        unit = self._quantity.unit
        return unit is not None and unit.dimension in (TIMES, SHARE, POINTS)

    def _absent(self, reach: Sequence[Cited]) -> Outcome:
        why = direct.quoted_missing(reach, self._number.said)
        if why is None and self._is_relative():
            why = "no such number recorded, and a ratio needs two records with a metric in common"
        if why is None:
            why = f"the cited record has no number in {self._quantity.unit_text or 'that unit'}"
        return Outcome("unsupported", why, tuple(c.key for c in reach[:2]))

    def _settled(self, claim: Claim, binding: Binding) -> Claim | None:
        """Decide what becomes of a number that no binding supports."""
        verdict = claim.outcome.verdict
        if verdict in ("tampered", "not_found"):
            return claim
        if self._is_no_claim(binding, verdict):
            return None
        if binding.strength != "near" or verdict != "contradicted" or self._is_certain():
            return claim
        why = f"no citation beside it, and what is cited near says: {claim.outcome.why}"
        return replace(claim, outcome=replace(claim.outcome, verdict="unsupported", why=why))

    def _is_certain(self) -> bool:
        """Tell a ratio whose records are clear though they stand elsewhere: `That is a 2x speed-up`."""
        document, passage = self._number.document, self._number.passage
        in_table = document.blocks[passage.block].kind == "row"
        that_is = _THAT_IS.match(document.text, passage.start)
        return self._is_relative() and (in_table or that_is is not None)

    def _is_no_claim(self, binding: Binding, verdict: ClaimVerdict) -> bool:
        document, passage = self._number.document, self._number.passage
        quantity, before = self._quantity, self._number.said.before
        if prose.may_be_setting(document, quantity) or self._is_whole_of_share():
            return True
        if prose.is_span(quantity, before) or prose.is_denied(before):
            return True
        if quantity.unit is None and binding.strength == "near":
            return True
        beside = binding.strength == "beside"
        if prose.is_hoped(before):
            return True
        if prose.is_of_others(document, passage, quantity):
            return not beside or verdict == "unsupported"
        loose = (
            document.blocks[passage.block].kind == "row"
            or binding.strength in ("above", "near")
            or verdict == "unsupported"
        )
        return prose.is_trivial(quantity) and loose and not beside


def _worst(cited: Sequence[Cited]) -> Cited | None:
    for status in _BAD:
        for one in cited:
            if one.status == status:
                return one
    return None


def _unreadable(cited: Cited) -> Outcome:
    flags = ("did_you_mean",) if cited.nearest else ()
    why = f"{cited.key}: {cited.why}"
    return Outcome(_BAD[cited.status], why, (cited.key,), flags=flags)
