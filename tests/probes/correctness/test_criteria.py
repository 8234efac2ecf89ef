"""The verdict under each criterion and threshold, and what the control changes."""

from typing import Any

import pytest

from perfcite.evidence.errors import InputError
from perfcite.probes.correctness.check import FileSource, check
from perfcite.probes.correctness.criteria import Criteria
from perfcite.probes.correctness.noise import kl_bound

from .conftest import Judge, Recorder

LENGTH = 50


def row(n: int, at: int | None = None, gap: float = 0.1, **more: Any) -> dict[str, Any]:
    """One greedy sequence; from `at` on it takes the second token, `gap` nats from the first."""
    tokens, tables = [], []
    for i in range(LENGTH):
        best, second = 1000 * n + 2 * i, 1000 * n + 2 * i + 1
        margin = gap if i == at else 3.0
        order = (second, best) if at is not None and i >= at else (best, second)
        tokens.append(order[0])
        tables.append([[order[0], -0.1], [order[1], -0.1 - margin]])
    return {"id": n, "prompt_len": 10, "tokens": tokens, "top_logprobs": tables, **more}


def run(*gaps: float | None, count: int = 20) -> tuple[list[Any], list[Any]]:
    """Pairs of which the first ones part at token 10 with these gaps on both sides."""
    reference, candidate = [], []
    for n in range(count):
        gap = gaps[n] if n < len(gaps) else None
        plain = row(n)
        if gap is not None:
            plain["top_logprobs"][10][1][1] = -0.1 - gap
        reference.append(plain)
        candidate.append(row(n) if gap is None else row(n, 10, gap))
    return reference, candidate


def test_rounding_passes_near_ties_and_says_that_there_is_no_control(judge: Judge) -> None:
    found = judge(*run(0.1, 0.0, 0.2), criterion="rounding")
    assert found.verdict == "PASS"
    assert found.data.divergences["near_tie"] == 3
    assert any(text.startswith("No control") for text in found.limitations)
    assert "longest context 60" in found.reason
    assert "20 distinct sequences without a decisive divergence" in found.reason


def test_rounding_fails_on_one_decisive_divergence(judge: Judge) -> None:
    found = judge(*run(0.1, 1.5), criterion="rounding")
    assert found.verdict == "FAIL"
    assert "1 divergence is decisive: a gap over 1 nat" in found.reason


def test_rounding_without_tables_is_unproven(judge: Judge) -> None:
    left, right = run(0.1)
    del right[0]["top_logprobs"]
    found = judge(left, right, criterion="rounding")
    assert found.verdict == "UNPROVEN"
    assert "cannot be told from a bug" in found.reason


def test_rounding_with_many_ambiguous_divergences_needs_a_control(judge: Judge) -> None:
    assert judge(*run(*[0.1] * 9, 0.5), criterion="rounding").verdict == "PASS"
    left, right = run(*[0.1] * 8, 0.5, 0.6)
    found = judge(left, right, criterion="rounding")
    assert found.verdict == "UNPROVEN"
    assert "2 of 10 divergences are ambiguous, over 10 %" in found.reason
    control = [row(n, 12) if n < 10 else row(n) for n in range(20)]
    assert judge(left, right, control, criterion="rounding").verdict == "PASS"


def test_rounding_fails_where_the_candidate_chose_to_stop(judge: Judge) -> None:
    left, right = run()
    right[3]["tokens"] = right[3]["tokens"][:20]
    right[3]["top_logprobs"] = right[3]["top_logprobs"][:20]
    assert judge(left, right, criterion="rounding").verdict == "UNPROVEN"
    right[3]["finish_reason"] = "stop"
    found = judge(left, right, criterion="rounding")
    assert found.verdict == "FAIL"
    assert "chose to stop where the reference went on" in found.reason


def test_rounding_fails_on_a_rise_over_the_control(judge: Judge) -> None:
    left, right = run(*[0.1] * 15)
    quiet = [row(n, 40, 0.1) if n < 2 else row(n) for n in range(20)]
    found = judge(left, right, quiet, criterion="rounding")
    assert found.verdict == "FAIL"
    assert "rise over the control's (p = " in found.reason
    assert found.data.control is not None
    assert (found.data.control.k1, found.data.control.k0) == (15, 2)
    loud = [row(n, 12, 0.1) if n < 14 else row(n) for n in range(20)]
    calm = judge(left, right, loud, criterion="rounding")
    assert calm.verdict == "PASS"
    assert len(calm.inputs) == 3


def test_a_control_that_varies_nothing_is_no_control(judge: Judge, record: Recorder) -> None:
    left, right = run(*[0.1] * 15)
    found = judge(left, right, left, criterion="rounding")
    assert found.verdict == "PASS"
    assert any(text.startswith("The control says nothing") for text in found.limitations)
    assert found.data.control is not None
    assert found.data.control.p_value is None


def test_a_control_that_diverges_says_that_exactness_cannot_be_had(judge: Judge) -> None:
    left, right = run(*[0.1] * 5)
    control = [row(n, 12) if n < 6 else row(n) for n in range(20)]
    found = judge(left, right, control)
    assert found.verdict == "FAIL"
    assert any("The control itself diverges in 6 of 20 sequences" in x for x in found.limitations)


def test_lossy_is_unproven_until_a_margin_is_declared(judge: Judge) -> None:
    pair = run(*[0.1] * 5, 1.5)
    assert judge(*pair, criterion="lossy").verdict == "UNPROVEN"
    assert judge(*run(), criterion="lossy").verdict == "UNPROVEN"
    assert judge(*pair, criterion="lossy", max_divergences_per_1k=10).verdict == "PASS"
    assert judge(*pair, criterion="lossy", max_divergences_per_1k=5).verdict == "FAIL"
    assert judge(*pair, criterion="lossy", max_decisive_per_1k=2).verdict == "PASS"
    found = judge(*pair, criterion="lossy", max_decisive_per_1k=1)
    assert found.verdict == "FAIL"
    assert "1.31 decisive divergences per 1,000 tokens exceed 1" in found.reason
    assert any(m.name == "decisive_per_1k" for m in found.metrics)


def test_lossy_lets_the_model_differ_in_name_but_not_the_tokenizer(judge: Judge) -> None:
    left = [{"tokens": [1, 2], "model": "m-f16.gguf", "tokenizer": "t"}]
    right = [{"tokens": [1, 2], "model": "m-q4.gguf", "tokenizer": "t"}]
    margin = {"criterion": "lossy", "max_divergences_per_1k": 1.0}
    assert judge(left, right).verdict == "UNPROVEN"
    assert judge(left, right, **margin).verdict == "PASS"
    right[0]["tokenizer"] = "u"
    assert judge(left, right, **margin).verdict == "UNPROVEN"


def test_a_threshold_beside_a_criterion_wins(judge: Judge) -> None:
    pair = run(1.5, 2.0)
    assert judge(*pair, criterion="rounding", max_decisive=2).verdict == "PASS"
    assert judge(*run(0.1), criterion="rounding", min_prefix_agreement=1.0).verdict == "FAIL"
    assert judge(*run(0.1), min_prefix_agreement=0.9).verdict == "PASS"
    assert judge(*pair, min_prefix_agreement=0.0, max_decisive=1).verdict == "FAIL"


def test_unknown_gaps_leave_a_limit_on_decisive_ones_open(judge: Judge) -> None:
    left, right = run(0.1, 1.5)
    del right[0]["top_logprobs"]
    free = {"min_prefix_agreement": 0.0}
    assert judge(left, right, max_decisive=0, **free).verdict == "FAIL"
    assert judge(left, right, max_decisive=1, **free).verdict == "UNPROVEN"
    assert judge(left, right, max_decisive=2, **free).verdict == "PASS"


def test_a_rate_is_met_with_room_to_spare(judge: Judge) -> None:
    found = judge(*run(0.1), min_prefix_agreement=0.0, max_divergences_per_1k=1000 / 961)
    assert found.verdict == "PASS"
    assert found.data.checks[1].met is True


def test_too_few_distinct_sequences_are_unproven(judge: Judge) -> None:
    assert judge(*run(), min_sequences=20).verdict == "PASS"
    found = judge(*run(), min_sequences=21)
    assert found.verdict == "UNPROVEN"
    assert "Only 20 distinct sequences of the 21 asked for" in found.reason
    assert judge([[1, 2]] * 30, [[1, 2]] * 30, min_sequences=2).verdict == "UNPROVEN"


def test_a_divergence_beats_what_is_left_open_but_not_what_cannot_be_compared(
    judge: Judge,
) -> None:
    left, right = run(0.1)
    assert judge(left, right[:-1], min_sequences=100).verdict == "FAIL"
    warm = [{**r, "temperature": 0.5} for r in right]
    assert judge(left, warm).verdict == "UNPROVEN"


def test_a_kl_bound_is_zero_between_equals_and_never_too_large() -> None:
    same = {1: -0.1, 2: -3.0}
    assert kl_bound(same, same) == 0
    p, q = {1: -0.6931471805599453, 2: -0.6931471805599453}, {1: -0.2876820724517809, 2: -1.386294}
    assert kl_bound(p, q) == pytest.approx(0.14384, abs=1e-4)
    assert kl_bound({1: -0.1}, {2: -0.1}) is None


def test_the_mean_kl_is_held_against_its_limit(judge: Judge) -> None:
    left, right = run()
    for r in right:
        for table in r["top_logprobs"]:
            table[0][1] = -0.3
    found = judge(left, right, criterion="lossy", max_kl=0.01)
    assert found.verdict == "FAIL"
    assert "Kullback-Leibler divergence is at least" in found.reason
    assert judge(left, right, criterion="lossy", max_kl=0.5).verdict == "PASS"
    bare = [{"id": r["id"], "tokens": r["tokens"]} for r in right]
    assert judge(left, bare, criterion="lossy", max_kl=0.5).verdict == "UNPROVEN"


def test_the_flip_is_shown_against_the_margins_own_noise(judge: Judge) -> None:
    found = judge(*run(0.1, 0.2))
    assert found.data.noise is not None
    assert found.data.noise.flip_max == pytest.approx(0.4)
    assert found.data.noise.margin_positions > 900
    assert "the largest flip is 0.4 nats" in found.reason.lower()
    assert found.data.near_tie_density == pytest.approx(0)


def test_the_worst_pairs_are_those_with_the_largest_gaps(judge: Judge) -> None:
    found = judge(*run(0.1, 0.4, 0.2, 2.0))
    assert [w.id for w in found.data.worst] == ["3", "1", "2"]
    assert found.data.worst[0].tokens == (3020, 3021)
    assert found.data.worst[0].index == 10


def test_intervals_stand_beside_the_figures_they_belong_to(judge: Judge) -> None:
    found = judge(*run(*[0.1] * 5))
    intervals = {m.name: m.interval for m in found.metrics if m.interval is not None}
    assert set(intervals) == {"exact_match_pct", "prefix_agreement_pct", "divergences_per_1k"}
    exact = intervals["exact_match_pct"]
    assert (exact.low, exact.high) == pytest.approx((50.8954, 91.3429))
    prefix = intervals["prefix_agreement_pct"]
    assert prefix.low < 80 < prefix.high
    assert judge(*run(*[0.1] * 5)).metrics == found.metrics


def test_summary_and_reason_fit_and_start_as_they_should(judge: Judge) -> None:
    for pair in (run(), run(0.1), run(0.1, 0.5, 3.0)):
        for criterion in ("identical", "rounding", "lossy"):
            found = judge(*pair, criterion=criterion)
            assert found.summary.startswith(f"{found.verdict}: ")
            assert len(found.summary) <= 240
            assert "\n" not in found.reason
            assert found.reason.endswith(".")


def test_the_control_is_read_as_strictly(record: Recorder) -> None:
    good = record("a.jsonl", [[1, 2]])
    with pytest.raises(InputError, match="no such file"):
        check(good, good, Criteria(), control=FileSource("gone.jsonl"))
