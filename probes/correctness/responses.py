"""Saved answers of inference servers: token ids, log-probabilities and tables in one shape.

Read as the servers' sources write them: vLLM 0.32 (entrypoints/openai), SGLang 0.5 (io_struct.py,
openai/protocol.py), llama.cpp's server (server-task.cpp), mlx-lm (server.py), text-generation-
inference (router/src/lib.rs), and the batch files of OpenAI and vLLM. Text is never tokenised
again: tokenising an output need not give the ids that produced it, so an answer without ids is
refused with the request option that adds them.
"""

import hashlib
from typing import Any

from ...evidence.errors import InputError
from .generated import Generated, as_finish, as_logprobs, as_text, as_tokens
from .settings import Settings, read_settings
from .steps import (
    HOW_TO_ASK,
    Answer,
    Steps,
    as_id,
    content_steps,
    ids_of,
    is_triple,
    listed,
    listed_steps,
    tables_of,
    triples,
)

_LLAMACPP = ("completion_probabilities", "tokens_predicted", "stop_type")
_PARTS = ("meta_info", "details", "response")
_MARKS = frozenset((*_LLAMACPP, *_PARTS, "choices", "error", "done"))


def is_response(value: Answer) -> bool:
    """Tell a server's answer from an object of this project's own format."""
    if _MARKS.isdisjoint(value):
        return False
    return (
        isinstance(value.get("choices"), list)
        or any(isinstance(value.get(k), dict) for k in _PARTS)
        or any(k in value for k in _LLAMACPP)
        or ("tokens" not in value and ("error" in value or "done" in value))
    )


def read_response(value: Answer, where: str) -> list[Generated]:
    """Read one saved answer; a batch or `n` choices give several sequences.

    Raises:
        InputError: an error answer, or one without token ids.
    """
    if isinstance(value.get("response"), dict):
        return _read_wrapped(value, where)
    if value.get("error") is not None and "choices" not in value:
        raise InputError(f"{where}: a server's error answer, not a generation")
    if isinstance(value.get("choices"), list):
        return [_read_choice(c, value, where) for c in _in_order(value["choices"], where)]
    if isinstance(value.get("meta_info"), dict):
        return [_read_sglang(value, value["meta_info"], where)]
    if isinstance(value.get("details"), dict):
        return [_read_tgi(value["details"], value, where)]
    if any(k in value for k in _LLAMACPP):
        return [_read_llamacpp(value, where)]
    raise InputError(f"{where}: {HOW_TO_ASK}")  # Ollama's answers have none


def _read_wrapped(value: Answer, where: str) -> list[Generated]:
    """Read an answer kept beside its request or id: {custom_id, response: {status_code, body}}."""
    body = value["response"].get("body", value["response"])
    if value.get("error") is not None or not isinstance(body, dict) or not is_response(body):
        raise InputError(f"{where}: the request failed, or its answer holds no generation")
    sequences = read_response(body, where)
    name = as_text(value.get("custom_id", value.get("id")), where, "custom_id")
    request = value.get("request")
    for index, sequence in enumerate(sequences):
        sequence.id = name if name is None or len(sequences) == 1 else f"{name}#{index}"
        if isinstance(request, dict):
            sequence.settings = read_settings(body, request)
    return sequences


def _read_choice(choice: Answer, answer: Answer, where: str) -> Generated:
    """Read an OpenAI-shaped choice; vLLM and SGLang differ in the name of the ids."""
    block = choice.get("logprobs")
    block = block if isinstance(block, dict) else {}
    steps = content_steps(block["content"], where) if block.get("content") else listed_steps(block)
    recorded = choice.get("token_ids", choice.get("response_token_ids"))
    if recorded is None:
        recorded = ids_of(steps, where)
    prompt_ids = choice.get("prompt_token_ids", answer.get("prompt_token_ids"))
    usage = answer.get("usage") if len(answer["choices"]) == 1 else None
    message = choice.get("message")
    return _made(
        as_tokens(recorded, where, "token_ids"),
        steps,
        prompt=prompt_ids,
        prompt_len=usage.get("prompt_tokens") if isinstance(usage, dict) else None,
        finish=choice.get("finish_reason"),
        text=message.get("content") if isinstance(message, dict) else choice.get("text"),
        settings=read_settings(answer),
    )


def _read_sglang(answer: Answer, meta: Answer, where: str) -> Generated:
    """Read an answer of SGLang's /generate, which writes [log-probability, id, text]."""
    chosen = [
        e if is_triple(e) else (None, None, None) for e in listed(meta, "output_token_logprobs")
    ]
    steps = Steps(
        ids=[as_id(e[1]) for e in chosen],
        values=[e[0] for e in chosen],
        rows=[triples(row) for row in listed(meta, "output_top_logprobs")],
    )
    recorded = answer.get("output_ids")
    return _made(
        as_tokens(ids_of(steps, where) if recorded is None else recorded, where, "output_ids"),
        steps,
        prompt_len=meta.get("prompt_tokens"),
        finish=meta.get("finish_reason"),
        text=answer.get("text"),
        settings=read_settings(answer, meta),
    )


def _read_llamacpp(answer: Answer, where: str) -> Generated:
    """Read an answer of llama.cpp's /completion; `tokens` is empty unless return_tokens was asked."""
    steps = content_steps(answer.get("completion_probabilities"), where)
    recorded = answer.get("tokens")
    if not recorded and answer.get("tokens_predicted", 1) != 0:
        recorded = ids_of(steps, where)
    return _made(
        as_tokens(recorded or [], where),
        steps,
        prompt=answer.get("prompt"),
        prompt_len=answer.get("tokens_evaluated"),
        finish=answer.get("stop_type"),
        text=answer.get("content"),
        settings=read_settings(answer),
    )


def _read_tgi(details: Answer, answer: Answer, where: str) -> Generated:
    steps = content_steps(details.get("tokens"), where)
    steps.rows = listed(details, "top_tokens")
    prefill = [as_id(e.get("id")) for e in listed(details, "prefill") if isinstance(e, dict)]
    return _made(
        as_tokens(ids_of(steps, where), where),
        steps,
        prompt=prefill or None,
        finish=details.get("finish_reason"),
        text=answer.get("generated_text"),
        settings=read_settings(answer),
    )


def _made(
    tokens: list[int],
    steps: Steps,
    *,
    settings: Settings,
    prompt: Any = None,
    prompt_len: Any = None,
    finish: Any = None,
    text: Any = None,
) -> Generated:
    """Put one sequence together; values that belong to other tokens are a flaw, not an error."""
    logprobs, holes, flaw = None, False, None
    if any(v is not None for v in steps.values):
        logprobs, holes, flaw = as_logprobs(steps.values, len(tokens))
    other = next(
        (i for i, t in enumerate(steps.ids) if t is not None and tokens[i : i + 1] != [t]), None
    )
    if flaw is None and other is not None:
        logprobs, flaw = None, f"log-probability {other} is of another token than the recorded one"
    tables, note = tables_of(steps.rows, len(tokens)) if flaw is None else (None, None)
    if isinstance(prompt, list):
        prompt_len = len(prompt)
    return Generated(
        tokens,
        logprobs=logprobs,
        holes=holes,
        tables=tables,
        prompt=_prompt_key(prompt),
        prompt_len=prompt_len if type(prompt_len) is int and prompt_len >= 0 else None,
        finish=as_finish(finish),
        text=text if isinstance(text, str) else None,
        settings=settings,
        flaw=flaw,
        notes=(note,) if note else (),
    )


def _in_order(choices: list[Any], where: str) -> list[Answer]:
    if not choices or not all(isinstance(c, dict) for c in choices):
        raise InputError(f"{where}: an answer without choices")
    return sorted(choices, key=lambda c: c["index"] if type(c.get("index")) is int else 0)


def _prompt_key(prompt: Any) -> str | None:
    """Name a prompt by what was recorded of it; ids and texts are never compared with each other."""
    if isinstance(prompt, str):
        return "text:" + hashlib.sha256(prompt.encode(errors="replace")).hexdigest()
    if isinstance(prompt, list) and all(type(t) is int for t in prompt):
        return "ids:" + hashlib.sha256(repr(prompt).encode()).hexdigest()
    return None
