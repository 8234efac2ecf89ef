"""Verdicts, bounds, places and what a result carries."""

from pathlib import Path

import pytest

from perfcite.evidence.citations.check import (
    CLAIMS_LIMIT,
    IDS_LIMIT,
    TEXT_LIMIT,
    check_citations,
)
from perfcite.evidence.citing import phrase
from perfcite.evidence.errors import InputError
from perfcite.evidence.layout import blob_key
from perfcite.evidence.records import Git
from perfcite.evidence.seal import seal
from perfcite.evidence.store import Store
from tests.evidence.citations.conftest import Shelf
from tests.evidence.citations.library import HERE, metric, record


def test_a_wrong_number_fails_and_the_right_one_is_told(shelf: Shelf) -> None:
    result = shelf.check("Latency is 8.57 ms [{base}].")
    assert result.verdict == "FAIL"
    assert result.summary.startswith("FAIL")
    claim = result.data.claims[0]
    assert claim.recorded == "8.4721 ms"
    assert claim.metric == "attention_latency.median"
    assert "8.4721 ms" in claim.why
    assert "8.57 ms" in (result.reason or "")


def test_a_bad_id_fails_even_where_no_number_stands(shelf: Shelf) -> None:
    result = shelf.check("See ev_aaaabbbbccccdddd.")
    assert (result.verdict, result.data.claims) == ("FAIL", ())
    assert result.data.ids[0].status == "not_found"


def test_an_unsupported_number_is_unproven_unless_that_is_allowed(shelf: Shelf) -> None:
    text = "It takes 8.47 ms."
    assert shelf.check(text).verdict == "UNPROVEN"
    allowed = shelf.check(text, allow_unsupported=True)
    assert allowed.verdict is None
    assert not allowed.summary.startswith(("PASS", "FAIL", "UNPROVEN"))


def test_allowing_unsupported_numbers_lets_no_wrong_one_through(shelf: Shelf) -> None:
    assert shelf.check("8.57 ms [{base}]", allow_unsupported=True).verdict == "FAIL"


def test_nothing_to_check_has_no_verdict_and_says_so(shelf: Shelf) -> None:
    result = shelf.check("A text without either.")
    assert result.verdict is None
    assert "nothing to check" in result.summary


def test_ids_without_a_number_pass(shelf: Shelf) -> None:
    assert shelf.check("See {base} and {opt}.").verdict == "PASS"


def test_line_column_and_offset_find_the_number(shelf: Shelf) -> None:
    text = shelf.put("Intro.\r\n\n* p95: 9.32 ms [{base}]\n")
    claim = shelf.check(text).data.claims[0]
    assert (claim.line, claim.column) == (3, 8)
    assert text[claim.offset :].startswith("9.32 ms")


@pytest.mark.parametrize("wrong", ["ev_{short}", "EV_{whole}", "ev_{typo}", "ev_{short}…"])
def test_a_nearly_right_id_is_not_found_and_the_nearest_is_named(shelf: Shelf, wrong: str) -> None:
    body = shelf.ids["base"][3:]
    typo = body[:-1] + ("a" if body[-1] != "a" else "b")
    written = wrong.format(short=body[:9], whole=body.upper(), typo=typo)
    claim = shelf.check(f"Latency is 8.47 ms [{written}].").data.claims[0]
    assert claim.verdict == "not_found"
    assert claim.flags == ("did_you_mean",)
    assert shelf.ids["base"] in claim.why


def test_an_escaped_or_linked_id_is_the_id(shelf: Shelf) -> None:
    escaped = shelf.ids["base"].replace("_", "\\_")
    result = shelf.check(f"8.47 ms [`{escaped}`]")
    assert (result.verdict, result.data.ids[0].evidence_id) == ("PASS", shelf.ids["base"])


def test_every_verified_record_is_an_input(shelf: Shelf) -> None:
    result = shelf.check("{base} {opt} {damaged} ev_aaaabbbbccccdddd {base}")
    assert [i.evidence_id for i in result.inputs] == [shelf.ids["base"], shelf.ids["opt"]]
    assert [i.status for i in result.data.ids] == [
        "verified",
        "verified",
        "tampered",
        "not_found",
    ]


def test_the_text_itself_is_an_input_where_it_has_a_name(shelf: Shelf) -> None:
    result = shelf.check("{base}", source="pr.md")
    assert [i.path for i in result.inputs] == [None, "pr.md"]
    assert result.inputs[1].sha256 == result.data.text_sha256


def test_the_metrics_count_the_claims(shelf: Shelf) -> None:
    metrics = {m.name: m.value for m in shelf.check("8.47 ms [{base}], 9.99 ms [{opt}]").metrics}
    assert metrics["claims_supported"] == 1
    assert metrics["claims_contradicted"] == 1
    assert metrics["ids"] == 2


def test_a_missing_artifact_leaves_a_record_unproven(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    store = shelf.store
    stored = store.load(shelf.ids["traced"])
    store.keys.remove(blob_key(stored.record.artifacts[0].sha256))
    text = "The GPU is busy 91 % of the time [{traced}]."
    result = shelf.check(text)
    assert result.verdict == "UNPROVEN"
    assert result.data.ids[0].status == "incomplete"
    assert "artifact trace.json missing" in result.data.claims[0].why
    assert shelf.check(text, artifacts=False).verdict == "PASS"
    assert shelf.check("1.5x [{derived}]", artifacts=False).verdict == "FAIL"


def test_records_of_another_or_a_dirty_commit_fail(store: Store) -> None:
    ids = {}
    for name, git in {
        "clean": Git(commit="9a1b2c3d4e", dirty=False),
        "dirty": Git(commit="9a1b2c3d4e", dirty=True),
        "other": Git(commit="1111111111", dirty=False),
        "unknown": None,
    }.items():
        made = record([metric("lag", 2.5, "ms")], identity=HERE.model_copy(update={"git": git}))
        ids[name] = store.save(made).evidence_id
    found = {
        name: check_citations(f"2.5 ms [{identifier}]", store, commit="9a1b2c3")
        for name, identifier in ids.items()
    }
    assert {n: r.verdict for n, r in found.items()} == {
        "clean": "PASS",
        "dirty": "FAIL",
        "other": "FAIL",
        "unknown": "UNPROVEN",
    }
    assert found["other"].data.ids[0].status == "other_commit"


def test_a_sealed_store_says_so(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    assert shelf.check("{base}").data.assurance.startswith("same user")
    (tmp_path / f"records/{shelf.ids['damaged'][3:5]}/{shelf.ids['damaged']}.json").unlink()
    seal(shelf.store)
    assert shelf.check("{base}").data.assurance.startswith("sealed")


def test_texts_beyond_the_bounds_are_refused_by_name(store: Store) -> None:
    with pytest.raises(InputError, match=f"at most {TEXT_LIMIT}"):
        check_citations("x" * (TEXT_LIMIT + 1), store)
    letters = "abcdefghijklmnopqrstuvwxyz234567"
    many = " ".join(
        f"ev_aaaaaaaaaaaaa{letters[i // 1024]}{letters[i // 32 % 32]}{letters[i % 32]}"
        for i in range(IDS_LIMIT + 1)
    )
    with pytest.raises(InputError, match=f"at most {IDS_LIMIT}"):
        check_citations(many, store)
    with pytest.raises(InputError, match=f"more than {CLAIMS_LIMIT}"):
        check_citations("It takes 2 ms. " * (CLAIMS_LIMIT + 1), store)
    with pytest.raises(InputError, match="numbers"):
        check_citations("12 " * 30_000, store)


def test_every_ready_phrase_is_supported_alone_and_in_a_sentence(shelf: Shelf) -> None:
    for name in ("base", "opt", "prof", "corr", "fail", "same", "env", "serve", "sampled", "cmp"):
        identifier = shelf.ids[name]
        for one in shelf.store.load(identifier).record.metrics:
            ready = phrase(one, identifier)
            if ready is None:
                continue
            spoken = one.name.replace("_", " ")
            for text in (
                ready,
                f"{one.name} {one.statistic}: {ready}",
                f"The {spoken} is {ready}.",
            ):
                result = shelf.check(text)
                assert {c.verdict for c in result.data.claims} == {"supported"}, text


def test_a_summary_fits_in_a_record(shelf: Shelf) -> None:
    result = shelf.check("It takes 8.57 ms [{base}]. " * 300)
    assert len(result.summary) <= 240
    assert "297 more" in (result.reason or "")
