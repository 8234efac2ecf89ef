"""Claims in words: passed and failed against a record's verdict, rose and fell against two numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..comparing.direction import better
from .changes import Change, directions
from .cited import Cited
from .outcomes import Outcome, judged
from .passages import Document, Passage

_VERDICT = re.compile(
    r"\b(?P<pass>pass(?:ed|es)?|succeed(?:ed|s)?)\b(?![- ](?:rate|count|through|in|on|a|an|by|over|to|manager"
    r"|the (?!check|test|corr|suite|valid|accur)))|\b(?P<fail>fail(?:ed|s)?)\b(?![- ](?:to|over|back|rate|if|on))",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|n't|never|no|none|without|zero|0|cannot|if|whether|should|must|would|until|unless|may|might"
    r"|to|can|could|will|did|does|do|expected|or)\b[^.;,]{0,24}$|n't [^.;,]{0,16}$",
    re.IGNORECASE,
)
_QUANTIFIED = re.compile(
    r"(?:\d[\d,.]*\s*%?|\b(?:some|most|few|half|many|several))\s*(?:[\w()/.,]+\s+){0,5}$",
    re.IGNORECASE,
)
_COUNT_FOLLOWS = re.compile(r"\W*(?:is|was|are|were)?\W*\d")
_ALL = re.compile(r"\b(?:all|every|each)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Remark:
    """A word that claims something: its span and what became of it."""

    start: int
    end: int
    outcome: Outcome


def verdict_words(
    document: Document, passage: Passage, library: dict[str, Cited], quiet: bool
) -> list[Remark]:
    """Hold `passed` and `failed` against the verdicts of the records that a passage cites.

    `quiet`: the numbers of the passage are claims, so that only a contradiction is told.
    """
    records = [
        c
        for group in passage.groups
        for m in group.mentions
        if (c := library[m.key]).status == "verified" and c.record.verdict is not None
    ]
    if not records:
        return []
    found = []
    for match in _VERDICT.finditer(document.text, passage.start, passage.end):
        before = document.text[max(passage.start, match.start() - 40) : match.start()]
        counted = bool(_QUANTIFIED.search(before)) and not _ALL.search(before)
        counted = counted or bool(_COUNT_FOLLOWS.match(document.text, match.end()))
        if _DENIED.search(before) or counted or document.opaque(match.start()):
            continue
        wanted = "PASS" if match["pass"] else "FAIL"
        outcome = _verdict(wanted, records)
        if outcome.verdict == "contradicted" or not quiet:
            found.append(Remark(*match.span(), outcome))
            break
    return found


def _verdict(wanted: str, records: Sequence[Cited]) -> Outcome:
    against = [c for c in records if c.record.verdict != wanted]
    shown = (against or records)[0]
    return Outcome(
        judged(len(against) < len(records)),
        f"the verdict is {shown.record.verdict}",
        (shown.key,),
        "verdict",
        str(shown.record.verdict),
    )


def direction_words(
    document: Document, passage: Passage, supported: dict[int, Outcome]
) -> list[Remark]:
    """Find `rose from 12.34 to 6.81 ms`: the numbers may be right and the word wrong."""
    found = []
    for index, outcome in supported.items():
        first = document.quantities[index]
        if first.relation != "from" or first.partner not in supported:
            continue
        second = document.quantities[first.partner]
        if first.unit is None or second.unit is None or first.figure.value == second.figure.value:
            continue
        one = first.figure.value * first.unit.factor
        two = second.figure.value * second.unit.factor
        clause = passage.clause_of(first.start)
        start = max(clause.start if clause else passage.start, first.start - 60)
        words = directions(document.text[start : first.start])
        if words and _is_wrong(words[-1][2], two > one, outcome, first.unit_text):
            low, high, _ = words[-1]
            why = f"from {first.quote} to {second.quote} is {'up' if two > one else 'down'}"
            evidence = (*outcome.evidence, *supported[first.partner].evidence)
            wrong = Outcome("contradicted", why, evidence, outcome.metric, outcome.recorded)
            found.append(Remark(start + low, start + high, wrong))
    return found


def _is_wrong(change: Change, rose: bool, outcome: Outcome, unit: str) -> bool:
    if change in ("up", "down"):
        return (change == "up") != rose
    if change in ("faster", "slower"):
        name = (outcome.metric or "").split(".")[0]
        wanted = better(name, unit)
        if wanted is None:
            return False
        return (change == "faster") != (rose == (wanted == "higher"))
    return False
