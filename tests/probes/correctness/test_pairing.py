"""Which candidate belongs to which reference, and what is said when that is doubtful."""

import gzip
import json
import random
from typing import Any

from perfcite.evidence.records import Input
from perfcite.probes.correctness.check import Criteria, RecordSource, check
from perfcite.probes.correctness.keys import KeyIndex, count_distinct

from .conftest import Judge, Recorder


def rows(count: int, key: str = "id", **more: Any) -> list[dict[str, Any]]:
    return [{key: f"p{n}", "tokens": [n, n + 1, n + 2], **more} for n in range(count)]


def said(found: Any) -> str:
    return " ".join([found.reason, *found.limitations])


def test_unique_ids_pair_whatever_the_order(judge: Judge) -> None:
    shuffled = rows(40)
    random.Random(1).shuffle(shuffled)
    found = judge(rows(40), shuffled)
    assert (found.verdict, found.data.pairing["rule"]) == ("PASS", "id")
    assert found.data.pairing["order_differs"]
    assert "order differs" in said(found)


def test_integer_ids_pair_too(judge: Judge) -> None:
    left = [{"id": n, "tokens": [n]} for n in range(9)]
    assert judge(left, left[::-1]).data.pairing["rule"] == "id"


def test_prompt_hashes_pair_where_ids_do_not(judge: Judge) -> None:
    left = rows(9, "prompt_sha256", id="same")
    assert judge(left, left[::-1]).data.pairing["rule"] == "prompt"
    fresh = [{**r, "id": f"uuid{n}"} for n, r in enumerate(rows(9, "prompt_sha256"))]
    other = [{**r, "id": f"other{n}"} for n, r in enumerate(rows(9, "prompt_sha256"))]
    found = judge(fresh, other)
    assert (found.verdict, found.data.pairing["rule"]) == ("PASS", "prompt")


def test_lines_pair_where_nothing_else_does_and_that_is_said(judge: Judge) -> None:
    found = judge([[1], [2]], [[1], [2]])
    assert found.data.pairing["rule"] == "line"
    assert "Paired by line" in said(found)


def test_a_lost_generation_does_not_shift_the_pairs_after_it(judge: Judge) -> None:
    found = judge(rows(10), rows(10)[:3] + rows(10)[4:])
    assert found.verdict == "UNPROVEN"
    assert found.data.diverging == 0
    assert found.data.pairing["only_reference"] == 1
    assert "10 reference sequences and 9 candidate sequences; 1 has no partner" in found.reason


def test_surplus_candidates_are_counted_where_the_order_differs(judge: Judge) -> None:
    found = judge(rows(5), [*rows(7)[::-1]])
    assert found.verdict == "UNPROVEN"
    assert found.data.candidate.sequences == 7
    assert found.data.pairing["only_candidate"] == 2


def test_a_divergence_among_common_pairs_fails_though_counts_differ(judge: Judge) -> None:
    candidate = rows(9)
    candidate[4]["tokens"] = [99]
    found = judge(rows(10), candidate)
    assert found.verdict == "FAIL"
    assert "counts differ" in said(found).lower()


def test_ids_with_nothing_in_common_prove_nothing_though_tokens_are_equal(judge: Judge) -> None:
    found = judge(rows(5), [{**r, "id": f"q{n}"} for n, r in enumerate(rows(5))])
    assert found.verdict == "UNPROVEN"
    assert "no id in common" in found.reason


def test_repeated_ids_with_equal_tokens_pair_by_line(judge: Judge) -> None:
    left = [{"id": "a", "tokens": [1, 2]}] * 4
    found = judge(left, left)
    assert (found.verdict, found.data.pairing["rule"]) == ("PASS", "line")
    assert "1 distinct sequence among 4" in said(found)


def test_repeated_ids_with_other_tokens_leave_no_pairing(judge: Judge) -> None:
    left = [{"id": "a", "tokens": [1, 2]}, {"id": "a", "tokens": [3, 4]}]
    for right in (left, left[::-1], [{"id": "a", "tokens": [1, 2]}] * 2):
        found = judge(left, right)
        assert found.verdict == "UNPROVEN"
        assert "pairing is doubtful" in found.reason.lower()


def test_repeated_ids_in_another_order_leave_no_pairing(judge: Judge) -> None:
    left = [{"id": x, "tokens": [1, 2]} for x in "aab"]
    found = judge(left, left[::-1])
    assert found.verdict == "UNPROVEN"


def test_ids_on_one_side_only_pair_by_line(judge: Judge) -> None:
    assert judge(rows(3), [r["tokens"] for r in rows(3)]).verdict == "PASS"


def test_a_candidate_that_equals_another_reference_line_hints_at_the_order(judge: Judge) -> None:
    lists = [[n, n + 1, n + 2] for n in range(10, 15)]
    found = judge(lists, lists[::-1])
    assert found.verdict == "FAIL"
    assert "4 of 4 diverging candidate sequences equal the reference of another line" in said(found)


def test_other_prompts_are_no_fault_of_the_kernel(judge: Judge) -> None:
    left = [{"id": "a", "prompt_sha256": "00", "tokens": [1, 2]}]
    right = [{"id": "a", "prompt_sha256": "01", "tokens": [3, 4]}]
    found = judge(left, right)
    assert found.verdict == "UNPROVEN"
    assert "different prompts (first at line 1)" in found.reason
    lengths = judge([{"tokens": [1], "prompt_len": 5}], [{"tokens": [1], "prompt_len": 6}])
    assert lengths.verdict == "UNPROVEN"


def test_other_models_and_tokenizers_are_not_comparable(judge: Judge) -> None:
    for key, one, other in (
        ("model", "org/llama-8b", "org/qwen-7b"),
        ("model_sha256", "aa", "bb"),
        ("tokenizer_sha256", "aa", "bb"),
    ):
        found = judge([{"tokens": [1], key: one}], [{"tokens": [2], key: other}])
        assert found.verdict == "UNPROVEN", key
        assert one.rpartition("/")[2] in found.reason


def test_a_model_is_known_by_its_hash_or_by_the_last_part_of_its_name(judge: Judge) -> None:
    same = {"model_sha256": "aa"}
    assert (
        judge(
            [{"tokens": [1], "model": "a", **same}], [{"tokens": [1], "model": "b", **same}]
        ).verdict
        == "PASS"
    )
    assert (
        judge(
            [{"tokens": [1], "model": "/models/X.gguf"}], [{"tokens": [1], "model": "x.gguf"}]
        ).verdict
        == "PASS"
    )


def test_one_record_on_both_sides_proves_nothing_and_one_file_little(
    judge: Judge, record: Recorder
) -> None:
    data = {"tokens": [[1, 2], [3, 4]], "ids": ["a", "b"]}
    one = RecordSource("ev_aaaaaaaaaaaaaaaa", "00" * 32, data)
    found = check(one, RecordSource("ev_aaaaaaaaaaaaaaaa", "00" * 32, data), Criteria())
    assert found.verdict == "UNPROVEN"
    assert "compared with itself" in found.reason
    other = check(one, RecordSource("ev_bbbbbbbbbbbbbbbb", "11" * 32, data), Criteria())
    assert other.verdict == "PASS"
    assert other.inputs[0] == Input(evidence_id="ev_aaaaaaaaaaaaaaaa", sha256="00" * 32)
    file = record("a.jsonl", [[1, 2]])
    same = check(file, file, Criteria())
    assert same.verdict == "PASS"
    assert same.limitations[0].startswith("The same file stands on both sides")
    assert "hold the same bytes" in judge([[1, 2]], [[1, 2]]).limitations[0]


def test_a_record_brings_its_settings_and_its_artifact(record: Recorder) -> None:
    lines = b'{"id":"a","tokens":[1,2],"logprobs":[-0.1,-0.2]}\n'
    data = {"tokens": [[1, 2]], "engine": {"model": "m"}, "sampling": {"temperature": 0}}
    one = RecordSource("ev_aaaaaaaaaaaaaaaa", "00" * 32, data, lines)
    found = check(one, record("a.jsonl", [{"id": "a", "tokens": [1, 2]}]), Criteria())
    assert (found.verdict, found.data.reference.with_logprobs) == ("PASS", 1)
    warm = RecordSource(
        "ev_bbbbbbbbbbbbbbbb", "11" * 32, {**data, "sampling": {"temperature": 0.7}}
    )
    assert "temperature 0.7" in check(one, warm, Criteria()).reason
    named = RecordSource(
        "ev_bbbbbbbbbbbbbbbb", "11" * 32, {**data, "engine": {"model": "other"}}, lines
    )
    assert "the models differ" in check(one, named, Criteria()).reason.lower()


def test_an_artifact_in_another_order_is_read_by_position(record: Recorder) -> None:
    lines = [json.dumps(r) for r in rows(30)]
    kept = ("\n".join(reversed(lines)) + "\n").encode()
    for artifact in (kept, gzip.compress(kept)):
        one = RecordSource("ev_aaaaaaaaaaaaaaaa", "00" * 32, {"tokens": []}, artifact)
        found = check(record("a.jsonl", lines), one, Criteria())
        assert (found.verdict, found.data.pairing["order_differs"]) == ("PASS", True)


def test_a_record_with_flat_tokens_is_one_sequence(record: Recorder) -> None:
    flat = RecordSource("ev_aaaaaaaaaaaaaaaa", "00" * 32, {"tokens": [1, 2, 3]})
    assert check(flat, record("a.jsonl", [[1, 2, 3]]), Criteria()).data.sequences == 1


def test_prompt_sets_that_differ_are_seen_where_no_prompt_is_recorded() -> None:
    one, other = (
        RecordSource(f"ev_{x * 16}", "00", {"tokens": [[1]], "prompts_sha256": x}) for x in "ab"
    )
    assert "prompt sets differ" in check(one, other, Criteria()).reason


def test_blocks_of_equal_lines_give_the_figures_that_single_lines_give(judge: Judge) -> None:
    rng = random.Random(3)
    left = [[rng.randrange(50) for _ in range(rng.randrange(12))] for _ in range(6000)]
    right = [t if rng.random() < 0.8 else [*t[:3], 77] for t in left]
    in_blocks = judge(left, right)
    # An id on every line keeps the lines from being taken as plain.
    singly = judge(
        [{"id": n, "tokens": t} for n, t in enumerate(left)],
        [{"id": n, "tokens": t} for n, t in enumerate(right)],
    )
    assert in_blocks.metrics == singly.metrics
    assert in_blocks.data.divergence_histogram == singly.data.divergence_histogram
    assert in_blocks.data.exercised == singly.data.exercised
    assert in_blocks.data.reference.tokens == sum(map(len, left))
    assert in_blocks.data.first_divergence == singly.data.first_divergence


def test_the_index_finds_every_key_once_and_no_other() -> None:
    rng = random.Random(5)
    keys = [rng.getrandbits(64) for _ in range(5000)]
    index = KeyIndex(keys)
    assert [index.take(k) for k in keys] == list(range(5000))
    assert index.take(12345) is None
    assert index.left == 0


def test_distinct_values_are_counted_in_parts_as_in_one(monkeypatch: Any) -> None:
    from perfcite.probes.correctness import keys

    values = [n % 700 for n in range(3000)]
    monkeypatch.setattr(keys, "_IN_ONE_SET", 100)
    assert count_distinct(values) == 700
