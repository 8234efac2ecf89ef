"""What a server's answer says of each generated position: token, log-probability, table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...evidence.errors import InputError
from .tables import BadTable, Tables

HOW_TO_ASK = (
    "no token ids in this answer, and text is never tokenised again: ask vLLM or SGLang for"
    " return_token_ids=true, llama.cpp for return_tokens=true, mlx-lm for logprobs=true"
)

Answer = Mapping[str, Any]


@dataclass
class Steps:
    """What an answer says a position: the token its value is for, the value, the table."""

    ids: list[int | None]
    values: list[Any]
    rows: list[Any]


def content_steps(content: Any, where: str) -> Steps:
    """Read steps that are objects: OpenAI's `content`, llama.cpp's probabilities, TGI's tokens."""
    steps = [s if isinstance(s, dict) else {} for s in content] if isinstance(content, list) else []
    for index, step in enumerate(steps):
        _refuse_unsorted(step, f"{where}, log-probability {index}")
    return Steps(
        ids=[_step_id(s) for s in steps],
        values=[s.get("logprob") for s in steps],
        rows=[s.get("top_logprobs") for s in steps],
    )


def listed_steps(block: Answer) -> Steps:
    """Read the completions shape: parallel lists of tokens, values and tables."""
    return Steps(
        ids=[as_id(t) for t in listed(block, "tokens")],
        values=listed(block, "token_logprobs"),
        rows=listed(block, "top_logprobs"),
    )


def _refuse_unsorted(step: Answer, where: str) -> None:
    """Refuse mlx-lm's answer where its first table entry need not be the token it sampled.

    It writes the unsorted table's first entry as the step (server.py: dict(top[0], top_logprobs=
    top)) and, alone among the servers that give ids, no `bytes`.
    """
    table = step.get("top_logprobs")
    if not isinstance(table, list) or len(table) < 2 or "id" not in step or "bytes" in step:
        return
    values = [e.get("logprob") for e in table if isinstance(e, dict)]
    known = [float(v) for v in values if isinstance(v, int | float)]
    own = step.get("logprob")
    if known and isinstance(own, int | float) and max(known) > own:
        raise InputError(
            f"{where}: mlx-lm with top_logprobs over 1 does not say which token was sampled;"
            " record with logprobs=true and top_logprobs 0 or 1"
        )


def tables_of(rows: list[Any], count: int) -> tuple[Tables | None, str | None]:
    """Give the tables, or the reason why they had to be left out."""
    if not any(rows):
        return None, None
    if len(rows) != count:
        return None, "top_logprobs left out: not one table a token"
    try:
        pairs = [_pairs(row) for row in rows]
        if any(token is None for row in pairs if row for token, _ in row):
            text = "keyed by text, where different tokens can look alike"
            return None, f"top_logprobs left out: {text}"
        return Tables(list(pairs)), None
    except BadTable as error:
        return None, f"top_logprobs left out: {error}"


def _pairs(row: Any) -> list[tuple[int | None, Any]] | None:
    """Give a table as (token id, log-probability); the id is None where only a text stands."""
    if isinstance(row, dict):
        return [(as_id(k), v) for k, v in row.items()]
    if isinstance(row, list):
        return [_pair(entry) for entry in row]
    if row is not None:
        raise BadTable("a table is neither an object nor a list")
    return None


def _pair(entry: Any) -> tuple[int | None, Any]:
    if isinstance(entry, dict):
        return _step_id(entry), entry.get("logprob")
    if isinstance(entry, list | tuple) and len(entry) == 2:
        return as_id(entry[0]), entry[1]
    raise BadTable("an entry is neither an object nor a pair")


def ids_of(steps: Steps, where: str) -> list[int]:
    """Take the ids from the steps where the answer lists none of its own."""
    known = [t for t in steps.ids if t is not None]
    if not known or len(known) != len(steps.ids):
        raise InputError(f"{where}: {HOW_TO_ASK}")
    return known


def _step_id(step: Answer) -> int | None:
    return as_id(step["id"] if "id" in step else step.get("token"))


def as_id(name: Any) -> int | None:
    """Read an id written as an integer or as vLLM's "token_id:7042"."""
    if isinstance(name, str):
        digits = name.removeprefix("token_id:")
        return int(digits) if digits != name and digits.isdecimal() else None
    return name if type(name) is int else None


def is_triple(entry: Any) -> bool:
    """Tell whether an entry is SGLang's [log-probability, id, text]."""
    return isinstance(entry, list) and len(entry) >= 2


def triples(row: Any) -> Any:
    """Turn a table of SGLang's into (token id, log-probability)."""
    return [(e[1], e[0]) for e in row if is_triple(e)] if isinstance(row, list) else None


def listed(block: Answer, name: str) -> list[Any]:
    """Give a list by name, empty where there is none."""
    value = block.get(name)
    return value if isinstance(value, list) else []
