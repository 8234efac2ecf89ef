"""Numbers without a unit: counted things (`512 cases`), parts of them (`497 of 512`), plain figures.

A bare number is a claim only where the cited record names it: a noun after it that is a metric or a unit
of the record, or the metric's own name beside it. Everything else (batch sizes, versions, steps) is not.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from . import naming
from .choosing import is_bound
from .cited import Cited, Value
from .matching import supports
from .outcomes import Outcome, held, judged
from .quantities import Quantity
from .scopes import Named, Scope
from .units import COUNT, ONE, RATIO, SHARE, TIMES

_PLAIN_DIMENSIONS = (ONE, RATIO, SHARE, TIMES)
_STOPS = naming.word_set(
    "of and or in on at to with for per is was are were the a an as by from than that which vs out"
)
# Things that a text counts even where the record that it cites cannot be read.
KNOWN_NOUNS = naming.word_set("case gpu launch divergence token test failure error prompt pair")
_JOINS_NAME = re.compile(
    r"(?:[\s:=`*()|]|\b(?:is|was|are|were|of|at|to|reached|equals|about|only|just|under|over|below|above"
    r"|than|less|more|within|rose|fell|dropped|came|out|token|index|the|a|approximately|roughly|around"
    r"|by|from|stays|remains|measured|be|total|overall|count|number|rate|limit|max|mean|median)\b|[~≈<>≤≥])*\Z"
)
_CONFIGURED = re.compile(
    r"\b(?:using|use[ds]?|on|across|with|per|over|after|every|first|last|for|batch(?: size)?|size|seed|step"
    r"|steps|version|rank|world|n|k|length|len|context|of)\s*[=:]?\s*\Z",
    re.IGNORECASE,
)
FAILED = re.compile(
    r"\b(?:fail(?:ed|s|ing|ures?)?|mismatch(?:ed|es)?|differ(?:ed)?|broke)\b", re.IGNORECASE
)
PASSED = re.compile(
    r"\b(?:pass(?:ed|es|ing)?|succeed(?:ed|s)?|match(?:ed|es)?|correct|agree[ds]?)\b", re.IGNORECASE
)


def counted_noun(
    quantity: Quantity, value: Value, spoken: frozenset[str] = frozenset()
) -> tuple[str, int] | None:
    """Give the noun after a number that names what `value` counts, and where it ends.

    Kernels are a count of kernel_launches where the text also says that they were launched.
    """
    beside = None
    for word, end in quantity.nouns:
        if word.lower() in _STOPS:
            break
        root = naming.meaning(word)
        head = naming.head(value.name)
        is_count = value.unit.dimension == COUNT or (value.unit.dimension == ONE and quantity.whole)
        is_unit = value.unit_name not in ("1", "count") and root == naming.meaning(value.unit_name)
        if (is_count and root == head) or is_unit:
            return word, end
        if is_count and head in spoken and root in naming.name_words(value.name):
            beside = beside or (word, end)
    return beside


def noun_text(text: str, quantity: Quantity, end: int) -> str:
    """Give the quote of a counted number: the number and its words up to `end`."""
    return " ".join(f"{quantity.number}{text[quantity.end : end]}".split())


def judge_noun(
    quantity: Quantity, cited: Sequence[Cited], said: Scope
) -> tuple[Outcome, int] | None:
    """Hold `512 cases` against what a record counts; the outcome and where the quote ends."""
    found = [
        (value, noun[1])
        for record in cited
        for value in record.values
        if (noun := counted_noun(quantity, value, naming.words(said.own)))
    ]
    if not found:
        return _failures(quantity, cited, said)
    failed = _complement(quantity, cited, said) if quantity.relation != "whole" else None
    if failed:
        return failed, found[0][1]
    words = naming.words(said.own)
    best = max(len(set(naming.name_words(v.name)) & words) for v, _ in found)
    chosen = [(v, e) for v, e in found if len(set(naming.name_words(v.name)) & words) == best]
    if quantity.relation == "whole":
        chosen = [(v, e) for v, e in found if "total" in v.name.lower()] or found
    for value, end in chosen:
        if supports(quantity.figure, value.value):
            return held(value, True), end
    value, end = chosen[0]
    if _CONFIGURED.search(said.before) and quantity.relation is None and best <= 1:
        return None  # "using 2 GPUs": how it was run, not what was counted
    return held(value, False), end


def _failures(
    quantity: Quantity, cited: Sequence[Cited], said: Scope
) -> tuple[Outcome, int] | None:
    """Judge `0 failures`, which no metric need be named for."""
    word, end = quantity.nouns[0]
    outcome = _complement(quantity, cited, said) if FAILED.fullmatch(word) else None
    return (outcome, end) if outcome else None


def judge_part(
    quantity: Quantity, whole: Quantity, cited: Sequence[Cited], said: Scope
) -> Outcome | None:
    """Hold the 497 of `497 of 512 cases passed` against what passed, or against what did not."""
    for record in cited:
        counts = _counts(record, whole, said)
        if not counts:
            continue
        failed = _complement(quantity, [record], said)
        if failed:
            return failed
        part = next((v for v in counts if _is_part(v, said)), None)
        if part:
            return held(part, supports(quantity.figure, part.value))
    return None


def _is_part(value: Value, said: Scope) -> bool:
    """Tell the count of a part that the text speaks of: cases_passed where something passed."""
    name = value.name.lower()
    if "total" in name:
        return False
    others = set(naming.name_words(value.name)) - {naming.head(value.name)}
    return bool(others & naming.words(said.own) or ("pass" in name and PASSED.search(said.own)))


def _counts(record: Cited, whole: Quantity, said: Scope) -> list[Value]:
    """Give the counts that a part and its whole may be: by the noun, else by what passed or failed."""
    named = [v for v in record.values if counted_noun(whole, v)]
    noun = whole.nouns[0][0] if whole.nouns else ""
    counts_else = noun and not (PASSED.fullmatch(noun) or FAILED.fullmatch(noun))
    if named or counts_else or not (PASSED.search(said.own) or FAILED.search(said.own)):
        return named  # 5/5 runs passed: no count of the record
    return list(passed_and_total(record) or ())


def judge_whole(quantity: Quantity, cited: Sequence[Cited], said: Scope) -> Outcome | None:
    """Hold the 512 of `497/512 passed` against the total."""
    noun = quantity.nouns[0][0] if quantity.nouns else "passed"
    if not (PASSED.fullmatch(noun) or FAILED.fullmatch(noun)):
        return None
    if not (PASSED.search(said.own) or FAILED.search(said.own)):
        return None
    for record in cited:
        pair = passed_and_total(record)
        if pair:
            return held(pair[1], supports(quantity.figure, pair[1].value))
    return None


def _complement(quantity: Quantity, cited: Sequence[Cited], said: Scope) -> Outcome | None:
    """Judge `15 cases failed` by total less passed, where the record has no metric of failures."""
    if not FAILED.search(said.own) or PASSED.search(said.own):
        return None
    for record in cited:
        if any("fail" in v.name.lower() for v in record.values):
            return None
        pair = passed_and_total(record)
        if pair:
            passed, total = pair
            left = total.value - passed.value
            why = f"{total.label} less {passed.label} is {left:g}"
            return Outcome(
                judged(supports(quantity.figure, left)),
                why,
                (record.key,),
                f"{total.name} - {passed.name}",
                f"{left:g}",
            )
    return None


def passed_and_total(record: Cited) -> tuple[Value, Value] | None:
    """Give a record's two counts of what passed and of all."""
    for value in record.values:
        parts = value.name.lower().split("_")
        if value.unit.dimension == COUNT and "passed" in parts:
            wanted = "_".join("total" if p == "passed" else p for p in parts)
            for other in record.values:
                if other.name.lower() == wanted:
                    return value, other
    return None


def judge_plain(
    quantity: Quantity,
    cited: Sequence[Cited],
    said: Scope,
    named: Named | None,
    beside: bool,
    fragment: str | None,
) -> Outcome | None:
    """Hold a plain figure against a metric without a unit that is named beside it.

    `beside`: an id follows at once, so that `3.052e-05 [ev_…]` needs no name.
    """
    found = [
        v
        for record in cited
        for v in record.values
        if v.unit.dimension in (*_PLAIN_DIMENSIONS, COUNT)
        or fragment is not None
        or naming.stem(v.unit_name) in naming.words(said.before)
    ]
    if fragment is not None:
        found = [v for v in found if is_bound(v, fragment)]
    elif not (named_beside := _named_beside(quantity, found, said, beside)):
        if not beside:
            return None
        return _alone(quantity, found, said)
    else:
        found = named_beside
    if not found:
        return None
    if named is not None and fragment is None:
        found = [v for v in found if named.statistic in (v.statistic, *v.name.split("_"))] or found
    for value in found:
        if _fits(quantity, value):
            return held(value, True)
    if fragment is None and _CONFIGURED.search(said.before) and quantity.whole:
        return None
    return held(found[0], False)


def _named_beside(
    quantity: Quantity, found: Sequence[Value], said: Scope, beside: bool
) -> list[Value]:
    """Give the metrics whose name leads up to the number with only joining words between.

    A figure with decimals right before an id may have the name anywhere in its clause.
    """
    words = naming.words(said.own if beside and not quantity.whole else said.before)
    scored = [(naming.likeness(v.name, words), v) for v in found]
    best = max((score for score, _ in scored if score[0] >= 2), default=None)
    if best is None:
        return []
    if beside and not quantity.whole:
        chosen = [v for score, v in scored if score == best]
        last = naming.last_kind(said.before)
        return chosen if last is None or naming.is_of_kind(chosen[0].name, {last}) else []
    heads = {naming.head(v.name) for score, v in scored if score == best}
    leads = _leads_up(said.before[-80:], heads)
    return [v for score, v in scored if score == best] if leads else []


def _leads_up(text: str, heads: set[str]) -> bool:
    """Tell whether one of the words ends a text, but for joining words and signs."""
    for match in re.finditer(r"[A-Za-z][\w.-]*", text):
        parts = re.split(r"[^A-Za-z0-9]+", match[0])
        if any(naming.meaning(p) in heads for p in parts if p) and _JOINS_NAME.match(
            text, match.end()
        ):
            return True
    return False


def _alone(quantity: Quantity, found: Sequence[Value], said: Scope) -> Outcome | None:
    """Judge a bare number right before an id: a claim where it has decimals or stands for itself."""
    before = said.before.rstrip(" ~≈<>=:")
    last = re.search(r"([A-Za-z]+)\W*\Z", before)
    itself = last is None or last[1].lower() in ("is", "was", "are", "of", "at")
    if not itself and quantity.whole:
        return None
    for value in found:
        if _fits(quantity, value):
            return held(value, True)
    return None


def _fits(quantity: Quantity, value: Value) -> bool:
    figure = quantity.figure
    if quantity.sign < 0:
        figure = replace(figure, value=-figure.value)
    if supports(figure, value.value):
        return True
    if value.unit.dimension == SHARE:  # 0.98 of a recorded 98 %
        return supports(figure, value.value * value.unit.factor)
    return False
