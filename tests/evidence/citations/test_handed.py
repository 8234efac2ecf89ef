"""The handed sentences: expected against given, at least 98 % right and none falsely supported."""

import json
from pathlib import Path
from typing import Any

from perfcite.evidence.citations.check import check_citations
from perfcite.evidence.store import Store


def judged(shared: Path) -> list[tuple[str, dict[str, Any], list[str]]]:
    cases = json.loads((shared / "cases/citations/sentences.json").read_text())
    store = Store.open(shared / "cases/citations/store")
    rows = []
    for case in cases["sentences"]:
        claims = check_citations(case["text"], store).data.claims
        for wanted in case["expect"]:
            given = [c.verdict for c in claims if c.quote == wanted["quote"]]
            rows.append((case["text"], wanted, [str(v) for v in given]))
    return rows


def right(wanted: dict[str, Any], given: list[str]) -> bool:
    return wanted["verdict"] in given or (wanted["verdict"] == "unchecked" and not given)


def test_the_handed_sentences_are_judged_rightly(shared: Path) -> None:
    rows = judged(shared)
    wrong = [row for row in rows if not right(row[1], row[2])]
    assert len(wrong) <= 0.02 * len(rows), wrong


def test_nothing_is_falsely_supported(shared: Path) -> None:
    for text, wanted, given in judged(shared):
        assert wanted["verdict"] == "supported" or "supported" not in given, text


def test_a_changed_digit_is_not_supported(shared: Path) -> None:
    """Every digit of every supported, unhedged number changed by one."""
    store = Store.open(shared / "cases/citations/store")
    hedges = (
        "about",
        "~",
        "nearly",
        "under",
        "over",
        "almost",
        "roughly",
        "<",
        ">",
        "up to",
        "least",
    )
    tried = accepted = 0
    for text, wanted, _ in judged(shared):
        quote = wanted["quote"]
        if wanted["verdict"] != "supported" or any(h in text.lower() for h in hedges):
            continue
        if text.count(quote) != 1:
            continue
        for place, character in enumerate(quote):
            if character in "0123456789":
                mutant = quote[:place] + str((int(character) + 1) % 10) + quote[place + 1 :]
                claims = check_citations(text.replace(quote, mutant), store).data.claims
                tried += 1
                accepted += any(c.quote == mutant and c.verdict == "supported" for c in claims)
    assert tried > 60
    assert accepted <= 0.02 * tried, f"{accepted} of {tried}"
