"""Sentences with the verdicts they must get; and their numbers with one digit changed."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from perfcite.evidence.citations.check import CitationResult, check_citations
from perfcite.evidence.payloads import CitationClaim
from perfcite.evidence.store import Store
from tests.evidence.citations.conftest import Shelf
from tests.evidence.citations.sentences import CASES, DESCRIPTIONS, Case

_NUMBER = re.compile(r"[+\-−]?[\d.,]*\d(?:e[+-]?\d+)?")
_SOFT = re.compile(
    r"about|around|roughly|approx|nearly|almost|under|below|over|more than|less than|at least|at most|just"
    r"|sub-|within|between|up to|stays|[<>~≈+]|\d\s?[-–]\s?\d| to "
)


def verdicts(result: CitationResult) -> dict[str, str]:
    return {claim.quote: claim.verdict for claim in result.data.claims}


@pytest.mark.parametrize("case", CASES, ids=[text[:60] for text, _ in CASES])
def test_a_sentence_gets_its_verdicts_and_no_others(shelf: Shelf, case: Case) -> None:
    text, expected = case
    assert verdicts(shelf.check(text)) == expected


@pytest.mark.parametrize("case", DESCRIPTIONS, ids=range(len(DESCRIPTIONS)))
def test_a_whole_description_has_only_the_claims_that_stand_out(
    shelf: Shelf, case: tuple[str, int, dict[str, str]]
) -> None:
    text, supported, others = case
    result = shelf.check(text)
    assert {q: v for q, v in verdicts(result).items() if v != "supported"} == others
    assert sum(c.verdict == "supported" for c in result.data.claims) == supported


def test_the_handed_sentences_come_out_as_expected(
    handed: tuple[Store, list[dict[str, Any]]],
) -> None:
    store, sentences = handed
    wanted = right = false_support = extra = 0
    for case in sentences:
        given = [
            (c.quote, str(c.verdict)) for c in check_citations(case["text"], store).data.claims
        ]
        expected = [(e["quote"], e["verdict"]) for e in case["expect"]]
        wanted += len(expected)
        right += sum(pair in given for pair in expected)
        false_support += sum(v == "supported" and (q, v) not in expected for q, v in given)
        extra += len(given) - len(expected)
    assert right / wanted >= 0.98
    assert (false_support, extra) == (0, 0)


def test_the_handed_flags_are_raised_and_no_others(
    handed: tuple[Store, list[dict[str, Any]]],
) -> None:
    store, sentences = handed
    for case in sentences:
        flags = [f for c in check_citations(case["text"], store).data.claims for f in c.flags]
        assert sorted(flags) == sorted(case.get("flags", [])), case["text"]


def mutants(text: str, claim: CitationClaim) -> Iterator[str]:
    """Give a text with every digit of a claim's number changed to every other, one at a time."""
    match = _NUMBER.match(claim.quote)
    if match is None:
        return
    start = text.index(match[0], claim.offset)
    for place, digit in enumerate(match[0]):
        if digit.isdigit():
            for other in "0123456789".replace(digit, ""):
                at = start + place
                yield text[:at] + other + text[at + 1 :]


def surviving(texts: list[str], store: Store) -> tuple[int, int]:
    """Count the mutants of plainly stated numbers, and those that are still called supported."""
    count = alive = 0
    for text in texts:
        for claim in check_citations(text, store).data.claims:
            around = text[max(0, claim.offset - 24) : claim.offset + len(claim.quote) + 4]
            if claim.verdict != "supported" or _SOFT.search(around):
                continue
            for changed in mutants(text, claim):
                count += 1
                alive += any(
                    c.verdict == "supported" and c.offset == claim.offset
                    for c in check_citations(changed, store).data.claims
                )
    return count, alive


def test_a_changed_digit_is_noticed(shelf: Shelf) -> None:
    count, alive = surviving([shelf.put(text) for text, _ in CASES[::2]], shelf.store)
    assert count > 1_500
    assert alive / count < 0.005


def test_a_changed_digit_of_a_handed_sentence_is_noticed(
    handed: tuple[Store, list[dict[str, Any]]],
) -> None:
    store, sentences = handed
    count, alive = surviving([case["text"] for case in sentences], store)
    assert count > 800
    assert alive / count < 0.005
