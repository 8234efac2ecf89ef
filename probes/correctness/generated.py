"""One generated sequence, and the strict reading of its token ids and log-probabilities."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...evidence.errors import InputError
from .settings import NO_SETTINGS, Settings
from .tables import Tables

TOKEN_MAX = 2**31 - 1
# vLLM and OpenAI write -9999.0 for minus infinity, llama.cpp -3.4028e38 (facts of their sources).
SENTINEL = -9999.0
# A rounded sum of exponentials may put a log-probability this far above 0.
ABOVE_ZERO = 1e-6

_NUMBERS = {float, int, type(None)}

Finish = Literal["stop", "length", "aborted"]
_FINISH: dict[str, Finish] = {
    **dict.fromkeys(
        ["stop", "eos", "eos_token", "stop_sequence", "stop_token", "word", "end_turn"], "stop"
    ),
    **dict.fromkeys(["tool_calls", "function_call"], "stop"),
    **dict.fromkeys(["length", "limit", "max_tokens", "max_new_tokens"], "length"),
    **dict.fromkeys(["abort", "aborted", "cancelled", "canceled", "error", "timeout"], "aborted"),
}


@dataclass(slots=True)
class Generated:
    """What one prompt produced, as far as it was recorded.

    `logprobs` has one value a token, in nats; `holes` says that some are None. `flaw` says what is
    wrong with the recorded log-probabilities, which are then None: tokens remain usable.
    `region` is the JSON list that the tokens were read from, where it holds nothing but ids; `bare`
    says that nothing but tokens was recorded.
    `notes` are things about the recording that a reader should know.
    """

    tokens: list[int]
    logprobs: list[float | None] | None = None
    holes: bool = False
    tables: Tables | None = None
    id: str | None = None
    prompt: str | None = None
    prompt_len: int | None = None
    finish: Finish | None = None
    text: str | None = None
    settings: Settings = NO_SETTINGS
    flaw: str | None = None
    notes: tuple[str, ...] = field(default=())
    line: int = 0
    region: bytes = b""
    bare: bool = False


def as_tokens(value: Any, where: str, what: str = "tokens") -> list[int]:
    """Check that `value` is a list of JSON integers from 0 to 2^31-1; give it as it is.

    Python holds True equal to 1 and 1.0 equal to 1, so the types are looked at, not the values.
    """
    if not isinstance(value, list):
        raise InputError(f'{where}: "{what}" is {_kind(value)}, not a list of token ids')
    if set(map(type, value)) <= {int} and (
        not value or (0 <= min(value) and max(value) <= TOKEN_MAX)
    ):
        return value
    for index, token in enumerate(value):
        if type(token) is not int or not 0 <= token <= TOKEN_MAX:
            raise InputError(f"{where}: {_wrong_token(index, token)}")
    return value


def as_logprobs(value: Any, count: int) -> tuple[list[float | None] | None, bool, str | None]:
    """Check log-probabilities: one a token, finite, at most 0, none a sentinel for minus infinity.

    Gives the list, whether some are null (a position without a value), and what is wrong; the
    list is None where something is.
    """
    if value is None:
        return None, False, None
    if not isinstance(value, list):
        return None, False, f'"logprobs" is {_kind(value)}, not a list'
    if len(value) != count:
        hint = " (is the prompt's first null value included?)" if len(value) == count + 1 else ""
        return None, False, f"{len(value)} log-probabilities for {count} tokens{hint}"
    types = set(map(type, value))
    if not types <= _NUMBERS:
        index = next(i for i, v in enumerate(value) if type(v) not in _NUMBERS)
        return None, False, f"log-probability {index} is {_kind(value[index])}, not a number"
    holes = type(None) in types
    known = [v for v in value if v is not None] if holes else value
    if known and (max(known) > ABOVE_ZERO or min(known) <= SENTINEL):
        return None, False, wrong_logprob(value)
    return (value if known or not value else None), holes, None


def wrong_logprob(values: list[float | None]) -> str:
    """Say which log-probability is out of range, and what it probably is."""
    for index, value in enumerate(values):
        if value is not None and value <= SENTINEL:
            return f"log-probability {index} is {value:g}, which stands for minus infinity"
        if value is not None and value > ABOVE_ZERO:
            known = [v for v in values if v is not None]
            likely = " (probabilities instead of logarithms?)" if 0 <= min(known) else ""
            return f"log-probability {index} is {value:g}, above 0{likely}"
    return "a log-probability is out of range"


def as_text(value: Any, where: str, what: str) -> str | None:
    """Check that `value` is a string, an integer (given as its digits) or absent."""
    if value is None or isinstance(value, str):
        return value
    if type(value) is int:
        return str(value)
    raise InputError(f'{where}: "{what}" is {_kind(value)}, not a string')


def as_length(value: Any, where: str, what: str) -> int | None:
    """Check that `value` is a non-negative integer or absent."""
    if value is None or (type(value) is int and 0 <= value <= TOKEN_MAX):
        return value
    raise InputError(f'{where}: "{what}" is {_shown(value)}, not a number of tokens')


def as_finish(value: Any) -> Finish | None:
    """Read why a generation ended, in any engine's words; None where it does not say."""
    if isinstance(value, Mapping):  # SGLang: {"type": "length", "length": 64}
        value = value.get("type")
    return _FINISH.get(value.lower()) if isinstance(value, str) else None


def _wrong_token(index: int, token: Any) -> str:
    accepted = "token ids are JSON integers from 0 to 2,147,483,647"
    if isinstance(token, list):
        return (
            "a list of lists (a JSON array or a batch), not JSON Lines: write one sequence a line"
        )
    if type(token) is int and token < 0:
        return f"token {index} is {token}, a padding label?; {accepted}"
    return f"token {index} is {_shown(token)}; {accepted}"


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "an integer", float: "a fraction", str: "a string"}
    return (
        "null"
        if value is None
        else names.get(type(value), "a list" if isinstance(value, list) else "an object")
    )


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 24 else text[:23] + "…"
