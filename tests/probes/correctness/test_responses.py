"""Saved answers of every server that gives token ids read as the same sequences."""

import json
from typing import Any

import pytest

from perfcite.evidence.errors import InputError

from .conftest import Judge

IDS = [7042, 30, 2]
VALUES = [-0.25, -0.5, -0.125]
TABLES = [[[t, v], [9, -3.0]] for t, v in zip(IDS, VALUES, strict=True)]
OURS = [{"tokens": IDS, "logprobs": VALUES, "top_logprobs": TABLES, "finish_reason": "stop"}]


def top(token: int, value: float) -> dict[str, float]:
    return {f"token_id:{token}": value, "token_id:9": -3.0}


def vllm_completion(**choice: Any) -> dict[str, Any]:
    return {
        "id": "cmpl-1",
        "object": "text_completion",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "text": "a: b",
                "token_ids": IDS,
                "prompt_token_ids": [1, 2, 3, 4],
                "logprobs": {
                    "text_offset": [0, 1, 2],
                    "tokens": [f"token_id:{t}" for t in IDS],
                    "token_logprobs": VALUES,
                    "top_logprobs": [top(t, v) for t, v in zip(IDS, VALUES, strict=True)],
                },
                "finish_reason": "stop",
                "stop_reason": None,
                **choice,
            }
        ],
        "usage": {"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7},
    }


def steps(name: str, *, with_bytes: bool = True) -> list[dict[str, Any]]:
    """OpenAI's logprobs.content; `name` is `id` or `token`, which vLLM fills with token_id:N."""

    def entry(token: int, value: float) -> dict[str, Any]:
        made: dict[str, Any] = {"token": f"token_id:{token}", "logprob": value}
        if name == "id":
            made = {"id": token, "token": "x", "logprob": value}
        return {**made, "bytes": [1]} if with_bytes else made

    return [
        {**entry(t, v), "top_logprobs": [entry(t, v), entry(9, -3.0)]}
        for t, v in zip(IDS, VALUES, strict=True)
    ]


VLLM_CHAT = {
    "id": "chatcmpl-1",
    "model": "m",
    "prompt_token_ids": [1, 2, 3, 4],
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "a"},
            "token_ids": IDS,
            "logprobs": {"content": steps("token")},
            "finish_reason": "stop",
        }
    ],
}
SGLANG = {
    "text": "a",
    "output_ids": IDS,
    "meta_info": {
        "id": "f00",
        "finish_reason": {"type": "stop", "matched": 2},
        "prompt_tokens": 4,
        "output_token_logprobs": [[v, t, "x"] for t, v in zip(IDS, VALUES, strict=True)],
        "output_top_logprobs": [
            [[v, t, "x"], [-3.0, 9, "y"]] for t, v in zip(IDS, VALUES, strict=True)
        ],
    },
}
LLAMACPP = {
    "index": 0,
    "content": "a",
    "tokens": IDS,
    "stop_type": "eos",
    "tokens_predicted": 3,
    "tokens_evaluated": 4,
    "generation_settings": {"temperature": 0.0, "top_k": 40, "repeat_penalty": 1.0, "grammar": ""},
    "prompt": "hello: you",
    "completion_probabilities": steps("id"),
}
LLAMACPP_CHAT = {
    "model": "/models/x.gguf",
    "choices": [
        {
            "index": 0,
            "message": {"content": "a"},
            "logprobs": {"content": steps("id")},
            "finish_reason": "stop",
        }
    ],
}
MLX = {
    "id": "chatcmpl-2",
    "system_fingerprint": "0.31.3",
    "model": "default_model",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "logprobs": {
                "content": [{"id": t, "logprob": v} for t, v in zip(IDS, VALUES, strict=True)]
            },
            "message": {"role": "assistant", "content": "a"},
        }
    ],
}
TGI = {
    "generated_text": "a",
    "details": {
        "finish_reason": "eos_token",
        "prefill": [{"id": 1}, {"id": 2}],
        "tokens": [
            {"id": t, "text": "x", "logprob": v, "special": False}
            for t, v in zip(IDS, VALUES, strict=True)
        ],
        "top_tokens": [
            [{"id": t, "logprob": v}, {"id": 9, "logprob": -3.0}]
            for t, v in zip(IDS, VALUES, strict=True)
        ],
    },
}
BATCH_LINE = {
    "id": "batch_req_1",
    "custom_id": "request-1",
    "response": {"status_code": 200, "body": vllm_completion()},
    "error": None,
}
ANSWERS = {
    "vllm completions": vllm_completion(),
    "vllm completions, ids from the logprobs": vllm_completion(token_ids=None),
    "vllm chat": VLLM_CHAT,
    "sglang generate": SGLANG,
    "sglang chat": {
        "choices": [
            {
                "index": 0,
                "response_token_ids": IDS,
                "message": {"content": "a"},
                "finish_reason": "stop",
            }
        ]
    },
    "llama.cpp completion": LLAMACPP,
    "llama.cpp completion without return_tokens": {**LLAMACPP, "tokens": []},
    "llama.cpp chat": LLAMACPP_CHAT,
    "mlx-lm chat": MLX,
    "tgi generate": TGI,
    "batch output": BATCH_LINE,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_reads_as_the_sequence_it_holds(judge: Judge, name: str) -> None:
    answer = ANSWERS[name]
    found = judge(OURS, [answer])
    assert found.verdict == "PASS", found.reason
    assert found.data.candidate.tokens == 3
    assert found.data.candidate.finish == {"stop": 1}
    has_values = name != "sglang chat"
    assert found.data.candidate.with_logprobs == has_values
    assert found.data.logprob_coverage == (1.0 if has_values else None)
    has_tables = name not in ("sglang chat", "mlx-lm chat")
    assert found.data.candidate.with_top_logprobs == has_tables


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_may_be_saved_pretty_printed(judge: Judge, name: str) -> None:
    pretty = json.dumps(ANSWERS[name], indent=2).encode()
    assert judge(OURS, pretty).verdict == "PASS"
    assert judge(pretty, pretty).verdict == "PASS"


def test_a_batch_answered_with_one_array_is_read(judge: Judge) -> None:
    batch = [{**SGLANG, "output_ids": [n, n + 1], "meta_info": {}} for n in range(5)]
    lists = [[n, n + 1] for n in range(5)]
    for text in (json.dumps(batch), json.dumps(batch, indent=1)):
        assert judge(lists, text.encode()).data.sequences == 5


def test_several_choices_are_several_sequences_in_order_of_their_index(judge: Judge) -> None:
    choices = [{"index": n, "token_ids": [n, n], "text": ""} for n in (2, 0, 1)]
    assert judge([[0, 0], [1, 1], [2, 2]], [{"choices": choices}]).verdict == "PASS"


@pytest.mark.parametrize(
    "answer",
    [
        {"choices": [{"text": "a", "logprobs": {"tokens": ["a"], "token_logprobs": [-0.1]}}]},
        {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": "a"}, "logprobs": {"content": [{"token": "a"}]}}]},
        {"model": "llama3", "response": "a", "done": True, "context": [1, 2]},
        {"model": "llama3", "message": {"content": "a"}, "done": True},
        {"content": "a", "tokens": [], "tokens_predicted": 4, "stop_type": "eos"},
    ],
)
def test_an_answer_without_ids_is_refused_with_how_to_ask_for_them(
    judge: Judge, answer: Any
) -> None:
    with pytest.raises(InputError, match="return_token_ids=true"):
        judge(OURS, [answer])


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"message": "model not found", "code": 404}},
        {"custom_id": "a", "response": {"status_code": 500, "body": {"error": {"message": "x"}}}},
        {"choices": []},
    ],
)
def test_an_error_answer_is_no_generation(judge: Judge, answer: Any) -> None:
    with pytest.raises(InputError, match=r"candidate.jsonl line 1"):
        judge(OURS, [answer])


def test_logprobs_of_other_tokens_than_the_recorded_ones_are_unsound(judge: Judge) -> None:
    answer = {**LLAMACPP, "tokens": [7042, 31, 2]}
    found = judge([{"tokens": [7042, 31, 2], "logprobs": VALUES}], [answer], logprob_tol=1)
    assert found.verdict == "UNPROVEN"
    assert "of another token than the recorded one" in found.reason


def test_an_unsorted_mlx_table_hides_the_sampled_token_and_is_refused(judge: Judge) -> None:
    content = [
        {
            "id": 9,
            "token": "x",
            "logprob": -3.0,
            "top_logprobs": [{"id": 9, "logprob": -3.0}, {"id": 7042, "logprob": -0.1}],
        }
    ]
    with pytest.raises(InputError, match="mlx-lm with top_logprobs over 1"):
        judge(OURS, [{"choices": [{"logprobs": {"content": content}}]}])


def test_a_table_keyed_by_text_is_left_out_with_a_note(judge: Judge) -> None:
    answer = vllm_completion()
    answer["choices"][0]["logprobs"]["top_logprobs"] = [{"a": -0.25, "b": -3.0}] * 3
    found = judge(OURS, [answer])
    assert found.data.candidate.with_top_logprobs == 0
    assert any("keyed by text" in text for text in found.limitations)


def test_the_sentinel_in_a_table_is_no_gap(judge: Judge) -> None:
    left = [{"tokens": [1], "top_logprobs": [[[1, -0.1], [2, -9999.0], [3, -2.0]]]}]
    right = [{"tokens": [2], "top_logprobs": [[[2, -0.1], [1, -0.2]]]}]
    [worst] = judge(left, right).data.worst
    assert worst.gaps == pytest.approx((1.9, 0.1))
    assert worst.lower_bound


@pytest.mark.parametrize(
    "settings", [{"temperature": 0.8}, {"temperature": 0.0, "repeat_penalty": 1.1}]
)
def test_sampling_recorded_in_an_answer_leaves_it_unproven(judge: Judge, settings: Any) -> None:
    answer = {**LLAMACPP, "generation_settings": settings}
    found = judge([answer], [answer])
    assert found.verdict == "UNPROVEN"
    assert "not greedy" in found.reason


def test_a_request_kept_beside_its_answer_counts(judge: Judge) -> None:
    line = {"id": "p0", "request": {"temperature": 0.7}, "response": vllm_completion()}
    assert "temperature 0.7" in judge([line], [line]).reason


def test_prompts_kept_as_ids_and_as_text_are_not_compared(judge: Judge) -> None:
    assert judge([vllm_completion()], [LLAMACPP]).verdict == "PASS"
    other = vllm_completion(prompt_token_ids=[1, 2, 3, 5])
    found = judge([vllm_completion()], [other])
    assert found.verdict == "UNPROVEN"
    assert "different prompts" in found.reason


@pytest.mark.parametrize("row", [[None], [[1]], [7], [["x", -0.1, 3]], "text", [{}]])
def test_a_table_of_another_shape_is_left_out_with_a_note(judge: Judge, row: Any) -> None:
    answer = vllm_completion()
    answer["choices"][0]["logprobs"]["top_logprobs"] = [row] * 3
    found = judge(OURS, [answer])
    assert found.verdict == "PASS"
    assert found.data.candidate.with_top_logprobs == 0
