"""The ways in which a naive prefix comparison is fooled (docs/correctness.md), one by one."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from perfcite.evidence.errors import InputError
from perfcite.probes.correctness.check import Criteria, FileSource, Judgement, check

from .conftest import Judge, Recorder


def sequences(count: int, length: int = 40, seed: int = 1) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randrange(50_000) for _ in range(length)] for _ in range(count)]


def value(found: Judgement, name: str, statistic: str | None = None) -> Any:
    [only] = [m.value for m in found.metrics if m.name == name and statistic in (None, m.statistic)]
    return only


def said(found: Judgement) -> str:
    return " ".join([found.reason, *found.limitations])


def table(*entries: tuple[int, float]) -> list[list[float]]:
    return [[token, value] for token, value in entries]


def test_a_mean_names_the_sequence_that_it_hides(judge: Judge) -> None:
    left = sequences(100)
    right = [*left[:57], [1] * 40, *left[58:]]
    found = judge(left, right, min_prefix_agreement=0.99)
    assert found.verdict == "PASS"
    assert value(found, "prefix_agreement_pct") == pytest.approx(99)
    assert "The mean hides 1 of 100 sequences below 99 %" in said(found)
    assert "the worst, line 58, parts at token 0 (minimum 0 %)" in said(found)
    assert judge(left, right).verdict == "FAIL"


def test_the_rate_does_not_depend_on_length_and_prefix_agreement_is_said_to(judge: Judge) -> None:
    rng = random.Random(9)
    left, right = [], []
    for tokens in sequences(300, 200):
        at = min(int(rng.expovariate(0.02)), 199)
        left.append(tokens)
        right.append([*tokens[:at], *[t + 1 for t in tokens[at:]]])
    rates, prefixes = [], []
    for cut in (50, 200):
        found = judge([t[:cut] for t in left], [t[:cut] for t in right], min_prefix_agreement=0.1)
        rates.append(value(found, "divergences_per_1k"))
        prefixes.append(value(found, "prefix_agreement_pct"))
    assert rates[0] == pytest.approx(rates[1], rel=0.15)
    assert prefixes[0] > 1.3 * prefixes[1]
    assert "Prefix agreement falls with max_tokens" in said(found)


@pytest.mark.parametrize(
    ("left", "right"), [([], []), ([[1]], []), ([], [[1]]), ([[], []], [[], []])]
)
def test_nothing_compared_is_never_a_pass(judge: Judge, left: Any, right: Any) -> None:
    found = judge(left, right)
    assert found.verdict == "UNPROVEN"
    assert "nothing was compared" in found.reason.lower()
    assert value(found, "exact_match_pct") is None


def test_a_pair_of_empty_sequences_is_counted_and_left_out(judge: Judge) -> None:
    found = judge([[1, 2], []], [[1, 2], []])
    assert (found.verdict, found.data.vacuous, found.data.sequences) == ("PASS", 1, 1)
    assert found.data.divergence_histogram["identical"] == 1
    assert "vacuous" in said(found)


def test_an_insertion_and_a_substitution_look_alike_by_prefix(judge: Judge) -> None:
    [tokens] = sequences(1, 100)
    shifted = judge([tokens], [[*tokens[:10], 7, *tokens[10:99]]])
    replaced = judge([tokens], [[*tokens[:10], 7, *tokens[11:]]])
    assert value(shifted, "prefix_agreement_pct") == value(replaced, "prefix_agreement_pct") == 10
    assert value(shifted, "positionwise_agreement_pct") == 10
    assert value(replaced, "positionwise_agreement_pct") == 99
    assert replaced.data.positionwise_macro_pct == pytest.approx(99)


def test_a_lower_cap_is_a_setting_not_the_model(judge: Judge) -> None:
    left = [{"tokens": t, "finish_reason": "length"} for t in sequences(5, 128)]
    right = [{"tokens": r["tokens"][:64], "finish_reason": "length"} for r in left]
    for pair in ((left, right), (right, left)):
        found = judge(*pair)
        assert found.verdict == "UNPROVEN"
        assert "max_tokens differs" in found.reason
        assert value(found, "prefix_agreement_pct") == pytest.approx(50)
    with_caps = judge(
        [{"tokens": t} for t in sequences(5, 128)],
        [{"tokens": t[:64], "max_tokens": 64} for t in sequences(5, 128)],
    )
    assert with_caps.verdict == "UNPROVEN"
    bare = judge(sequences(5, 128), [t[:64] for t in sequences(5, 128)])
    assert bare.verdict == "FAIL"
    assert "a different max_tokens?" in said(bare)


def test_a_cap_on_the_whole_context_cuts_at_different_lengths(judge: Judge) -> None:
    left: list[Any] = [
        {"tokens": t, "prompt_len": 10 + n, "finish_reason": "length"}
        for n, t in enumerate(sequences(4, 60))
    ]
    right = [{**r, "tokens": r["tokens"][: 50 - r["prompt_len"]]} for r in left]
    assert judge(left, right).verdict == "UNPROVEN"


def test_a_real_divergence_beside_cut_sequences_fails(judge: Judge) -> None:
    left = [{"tokens": t, "finish_reason": "length"} for t in sequences(5, 128)]
    right = [{"tokens": r["tokens"][:64], "finish_reason": "length"} for r in left]
    right[2]["tokens"] = [*right[2]["tokens"][:20], 1, 2, 3]
    assert judge(left, right).verdict == "FAIL"


def test_a_threshold_missed_only_by_cut_sequences_is_unproven(judge: Judge) -> None:
    left = [{"tokens": t, "finish_reason": "length"} for t in sequences(10, 100)]
    right = [{"tokens": r["tokens"][:50], "finish_reason": "length"} for r in left]
    right[0] = {"tokens": [*left[0]["tokens"][:90], *[1] * 10], "finish_reason": "length"}
    found = judge(left, right, min_prefix_agreement=0.9)
    assert found.verdict == "UNPROVEN"
    assert "only because max_tokens cut 9 sequences short" in said(found)


def test_a_candidate_that_chose_to_stop_diverges(judge: Judge) -> None:
    left = [{"tokens": t, "finish_reason": "length"} for t in sequences(3)]
    right = [{"tokens": r["tokens"][:7], "finish_reason": "stop"} for r in left]
    found = judge(left, right)
    assert (found.verdict, found.data.divergences["length"]) == ("FAIL", 3)
    assert "in 3 pairs the candidate chose to stop" in found.reason


def test_a_stop_token_kept_on_one_side_is_named(judge: Judge) -> None:
    found = judge([[*t, 2] for t in sequences(5)], sequences(5))
    assert found.verdict == "FAIL"
    assert "id 2: the reference keeps the stop token" in said(found)


def test_padding_is_named(judge: Judge) -> None:
    left = sequences(3)
    found = judge(
        [left[0][:30], left[1][:20], left[2]],
        [left[0][:30] + [2] * 10, left[1][:20] + [2] * 20, left[2]],
    )
    assert found.verdict == "FAIL"
    assert "padded batch output" in said(found)


def test_a_prompt_echoed_on_one_side_is_named(judge: Judge) -> None:
    found = judge(sequences(3), [[5, 6, *t] for t in sequences(3)])
    assert found.verdict == "FAIL"
    assert "includes the prompt" in said(found)


def test_a_tokenizer_with_no_id_in_common_is_named(judge: Judge) -> None:
    found = judge(sequences(3), [[t + 100_000 for t in s] for s in sequences(3)])
    assert found.verdict == "FAIL"
    assert "a different tokenizer or model?" in said(found)


def test_ids_made_again_from_equal_text_are_named(judge: Judge) -> None:
    found = judge([{"tokens": [1, 2, 3], "text": "abc"}], [{"tokens": [4, 5], "text": "abc"}])
    assert "tokenising the text again" in said(found)


@pytest.mark.parametrize("length", [8, 50])
def test_one_token_repeated_on_both_sides_is_no_evidence(judge: Judge, length: int) -> None:
    rows = [[0] * length, [0] * (length + 3), [5, 6]]
    found = judge(rows, rows)
    assert found.verdict == "UNPROVEN"
    assert "one repeated token" in found.reason
    assert judge([*rows, list(range(20))], [*rows, list(range(20))]).verdict == "PASS"


def test_short_answers_may_repeat(judge: Judge) -> None:
    assert judge([[5]] * 20, [[5]] * 20).verdict == "PASS"
    assert judge([[5] * 7], [[5] * 7]).verdict == "PASS"


def test_a_broken_run_on_one_side_only_fails(judge: Judge) -> None:
    assert judge(sequences(3), [[0] * 40] * 3).verdict == "FAIL"


def test_mostly_loops_are_said_to_test_little(judge: Judge) -> None:
    rows = [[n, n + 1, *([7, 8, 9, 10] * 30)] for n in range(5)]
    assert "loops have few near ties" in said(judge(rows, rows))


def test_repeats_are_one_sample_for_every_bound(judge: Judge) -> None:
    found = judge([[1, 2, 3]] * 5, [[1, 2, 3]] * 5)
    assert found.data.exercised.distinct == 1
    assert "every bound is for n = 1" in said(found)
    [exact] = [m for m in found.metrics if m.name == "exact_match_pct"]
    assert exact.interval is not None
    assert exact.interval.low == pytest.approx(2.5)


def test_one_token_a_sequence_exercises_no_decoding(judge: Judge) -> None:
    assert "decoding was not exercised" in said(
        judge([[n] for n in range(5)], [[n] for n in range(5)])
    )


def test_a_token_outside_the_other_top_k_bounds_the_gap_from_below(judge: Judge) -> None:
    left = [{"tokens": [1], "top_logprobs": [table((1, -0.05), (3, -3.9), (4, -4.2))]}]
    far = [{"tokens": [2], "top_logprobs": [table((2, -0.1), (3, -3.0))]}]
    found = judge(left, far)
    assert found.data.divergences["decisive"] == 1
    [worst] = found.data.worst
    assert worst.gaps == pytest.approx((4.15, 2.9))
    near = [{"tokens": [1], "top_logprobs": [table((1, -0.9), (3, -1.1))]}]
    other = [{"tokens": [2], "top_logprobs": [table((2, -0.9), (3, -1.1))]}]
    assert judge(near, other).data.divergences["unknown"] == 1


@pytest.mark.parametrize(
    ("gap", "kind"),
    [
        (0.0, "near_tie"),
        (0.25, "near_tie"),
        (0.2500005, "near_tie"),
        (0.26, "ambiguous"),
        (1.0, "ambiguous"),
        (1.01, "decisive"),
    ],
)
def test_the_larger_gap_of_both_sides_gives_the_class(judge: Judge, gap: float, kind: str) -> None:
    left = [{"tokens": [1], "top_logprobs": [table((1, -0.5), (2, -0.5 - gap))]}]
    right = [{"tokens": [2], "top_logprobs": [table((2, -0.5), (1, -0.5))]}]
    for pair in ((left, right), (right, left)):
        assert judge(*pair).data.divergences[kind] == 1


def test_the_order_of_a_table_and_exact_ties_do_not_matter(judge: Judge) -> None:
    left = [{"tokens": [1], "top_logprobs": [table((2, -0.5), (1, -0.5), (3, -2.0))]}]
    right = [{"tokens": [2], "top_logprobs": [table((3, -2.0), (2, -0.5), (1, -0.5))]}]
    found = judge(left, right)
    assert (found.verdict, found.data.divergences["near_tie"]) == ("FAIL", 1)


def test_the_limits_of_the_classes_are_arguments(judge: Judge) -> None:
    left = [{"tokens": [1], "top_logprobs": [table((1, -0.5), (2, -1.0))]}]
    right = [{"tokens": [2], "top_logprobs": [table((2, -0.5), (1, -0.6))]}]
    assert judge(left, right, near_tie_nats=0.5).data.divergences["near_tie"] == 1
    assert (
        judge(left, right, near_tie_nats=0.1, decisive_nats=0.4).data.divergences["decisive"] == 1
    )


def test_a_pick_far_below_the_best_is_not_greedy(judge: Judge) -> None:
    row = {"tokens": [1, 2], "top_logprobs": [table((1, -0.1)), table((9, -0.1), (2, -1.9))]}
    found = judge([row], [row])
    assert found.verdict == "UNPROVEN"
    assert "token 1 of line 1 is 1.8 nats below the best of its own table" in found.reason


def test_a_pick_just_below_the_best_is_noted(judge: Judge) -> None:
    row = {"tokens": [1, 2], "top_logprobs": [table((1, -0.1)), table((9, -0.5), (2, -0.6))]}
    found = judge([row], [row])
    assert found.verdict == "PASS"
    assert "lie below the best of their own" in said(found)


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 0.7},
        {"sampling": {"temperature": 1}},
        {"sampling_params": {"temperature": 0, "repetition_penalty": 1.2}},
        {"do_sample": True},
        {"grammar": "root ::= [a-z]"},
        {"generation_config": {"num_beams": 4}},
    ],
)
def test_a_run_that_was_not_greedy_is_unproven(judge: Judge, settings: dict[str, Any]) -> None:
    found = judge([{"tokens": [1, 2], **settings}], [{"tokens": [3, 4], **settings}])
    assert found.verdict == "UNPROVEN"
    assert "was not greedy" in found.reason


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 0},
        {"temperature": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0},
        {"temperature": 0.8, "top_k": 1},
        {"do_sample": False, "temperature": 1.0},
        {"repetition_penalty": 0.0},
        {"grammar": "", "logit_bias": []},
    ],
)
def test_a_greedy_run_is_known_as_one(judge: Judge, settings: dict[str, Any]) -> None:
    rows = [{"tokens": [1, 2], **settings}]
    assert judge(rows, rows).verdict == "PASS"


def test_the_difference_has_a_maximum_a_median_and_a_place(judge: Judge) -> None:
    left = [{"tokens": [1, *range(99)], "logprobs": [-1.0] * 100}]
    right = [{"tokens": left[0]["tokens"], "logprobs": [-1.1] * 40 + [-1.01] * 59 + [-3.0]}]
    found = judge(left, right, logprob_tol=0.05)
    assert found.verdict == "FAIL"
    assert value(found, "max_logprob_abs_diff") == pytest.approx(2)
    assert value(found, "logprob_abs_diff", "median") == pytest.approx(0.01, rel=0.01)
    assert "up to 2 nats (line 1, token 99), over 0.05 at 41 of 100 positions" in found.reason


def test_differences_after_the_divergence_do_not_count(judge: Judge) -> None:
    left = [{"tokens": [1, 2, 3], "logprobs": [-0.1, -0.2, -0.3]}]
    right = [{"tokens": [1, 9, 3], "logprobs": [-0.15, -5.0, -9.0]}]
    assert value(judge(left, right), "max_logprob_abs_diff") == pytest.approx(0.05)


def cached(slots: int | None, prompt: int, length: int, seed: int) -> dict[str, Any]:
    """A run whose log-probabilities go wrong once the context is longer than `slots`."""
    rng = random.Random(seed)
    tokens = [rng.randrange(1000) for _ in range(length)]
    values = [-rng.random() for _ in tokens]
    if slots is not None:
        values = [v - 0.02 * (prompt + i >= slots) for i, v in enumerate(values)]
    return {"id": seed, "prompt_len": prompt, "tokens": tokens, "logprobs": values}


def test_the_noise_profile_names_where_a_cache_bug_starts(judge: Judge) -> None:
    left = [cached(None, 20 + n, 200, n) for n in range(20)]
    right = [cached(128, 20 + n, 200, n) for n in range(20)]
    found = judge(left, right)
    assert found.data.noise is not None
    assert found.data.noise.by_context is not None
    assert found.data.noise.by_context["32-127"] == 0
    assert found.data.noise.by_context["128-511"] == pytest.approx(0.02, rel=0.01)
    assert "Log-probabilities start to move at" in said(found)


def test_a_pass_says_how_far_it_reached(judge: Judge) -> None:
    short = [cached(None, 20, 64, n) for n in range(20)]
    found = judge(short, [cached(128, 20, 64, n) for n in range(20)])
    assert found.verdict == "PASS"
    assert "longest context 84" in found.reason
    assert found.data.exercised.longest_context == 84
    assert found.data.exercised.tokens_at_risk_by_index["128-511"] == 0
    assert "cache bug beyond" in said(judge([[1, 2]], [[1, 2]]))


def test_a_decode_bug_that_prefill_does_not_have_is_named(judge: Judge) -> None:
    left = [cached(None, 20, 30, n) for n in range(20)]
    right = [
        {**r, "logprobs": [v - 0.03 * (i > 0) for i, v in enumerate(r["logprobs"])]} for r in left
    ]
    assert "the decode path differs, prefill does not" in said(judge(left, right))


def test_a_criterion_or_threshold_that_cannot_be_is_refused_before_any_file_is_read() -> None:
    nowhere = FileSource(Path("/nowhere/at/all.jsonl"))
    for arguments in (
        {"min_prefix_agreement": float("nan")},
        {"min_prefix_agreement": 1.5},
        {"min_prefix_agreement": -0.1},
        {"min_prefix_agreement": True},
        {"min_prefix_agreement": "1"},
        {"logprob_tol": -1},
        {"logprob_tol": float("nan")},
        {"logprob_tol": float("inf")},
        {"criterion": "close"},
        {"max_decisive": -1},
        {"max_decisive": 0.5},
        {"max_divergences_per_1k": float("inf")},
        {"max_decisive_per_1k": -2},
        {"max_kl": float("nan")},
        {"min_sequences": 0},
        {"near_tie_nats": -1},
        {"near_tie_nats": None},
        {"decisive_nats": 0.1},
    ):
        with pytest.raises(InputError, match=next(iter(arguments))):
            check(nowhere, nowhere, Criteria(**arguments))
    with pytest.raises(InputError, match=r"0.99 means 99 %"):
        Criteria(min_prefix_agreement=99).validate()


def test_the_record_s_data_holds_no_line_of_the_input(record: Recorder, judge: Judge) -> None:
    rows = [{"id": "x", "tokens": [1, 2], "text": "confidential"}]
    found = judge(rows, [{**rows[0], "tokens": [1, 3]}])
    assert "confidential" not in json.dumps(found.data.model_dump()) + said(found)
