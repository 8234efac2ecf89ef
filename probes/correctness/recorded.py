"""One line of a recording: a list of token ids, an object of ours, or a server's saved answer.

orjson reads the line; what it forgives is looked for in the bytes. It turns integers beyond 64 bits
into fractions and keeps the last of two equal keys, so a line that could hide either is read again
by the standard library's parser, which shows them.
"""

import json
from typing import Any, NoReturn

import orjson

from ...evidence.errors import InputError
from .generated import (
    Generated,
    as_finish,
    as_length,
    as_logprobs,
    as_text,
    as_tokens,
)
from .responses import is_response, read_response
from .settings import NO_SETTINGS, SETTING_KEYS, read_settings
from .tables import BadTable, Tables

# Each byte of a plain list of non-negative integers; every other byte becomes an x.
_SHAPE = bytes(
    ord("0") if chr(b).isdigit() and b < 128 else b if chr(b) in "[], \t" else ord("x")
    for b in range(256)
)
_TEN_DIGITS = b"0" * 10  # a token id of ten digits may be over 2^31-1
_OTHER_NAMES = ("token_ids", "output_ids", "output_token_ids", "generated_ids", "ids", "input_ids")


def read_line(line: bytes, where: str) -> list[Generated]:
    """Read one line: one sequence, or those of a server's answer with several choices.

    `where` is `FILE line N` for messages.

    Raises:
        InputError: the line is not JSON, or not one of the shapes, or holds something else than ids.
    """
    if line[:1] == b"[":
        shape = line.translate(_SHAPE)
        if b"x" not in shape and _TEN_DIGITS not in shape and shape.count(b"[") == 1:
            return [Generated(_loads(line, where))]
    value = _loads(line, where)
    if isinstance(value, dict):
        _refuse_repeated_keys(line, value, where)
        return _read_object(value, line, where)
    if isinstance(value, list):
        if value and all(isinstance(v, dict) for v in value):
            return read_document(line, value, where)
        return [Generated(as_tokens(value, where))]
    raise InputError(f'{where}: neither a list of token ids nor an object with "tokens"')


def read_document(text: bytes, value: Any, where: str) -> list[Generated]:
    """Read one JSON document over the whole file, or an array: only server answers come so.

    SGLang and llama.cpp answer a batch with one array of objects.
    """
    _refuse_repeated_keys(text, value, where)
    answers = value if isinstance(value, list) else [value]
    if not answers or not all(isinstance(a, dict) and is_response(a) for a in answers):
        shape = "array" if isinstance(value, list) else "document over several lines"
        raise InputError(f"{where}: a JSON {shape}, not JSON Lines: write one sequence a line")
    return [g for answer in answers for g in read_response(answer, where)]


def _read_object(value: dict[str, Any], line: bytes, where: str) -> list[Generated]:
    if is_response(value):
        return read_response(value, where)
    if "tokens" not in value:
        _refuse_keys(value, where)
    tokens = value["tokens"]
    if not (isinstance(tokens, list) and _plain_ids(line)):
        tokens = as_tokens(tokens, where)
    logprobs, holes, flaw = as_logprobs(value.get("logprobs"), len(tokens))
    tables, table_note = _tables(value.get("top_logprobs"), len(tokens))
    prompt = as_text(value.get("prompt_sha256"), where, "prompt_sha256")
    return [
        Generated(
            tokens,
            logprobs=logprobs,
            holes=holes,
            tables=tables,
            id=as_text(value.get("id"), where, "id"),
            prompt=f"sha256:{prompt}" if prompt else None,
            prompt_len=as_length(value.get("prompt_len"), where, "prompt_len"),
            finish=as_finish(value.get("finish_reason")),
            text=value["text"] if isinstance(value.get("text"), str) else None,
            settings=read_settings(value) if SETTING_KEYS & value.keys() else NO_SETTINGS,
            flaw=flaw,
            notes=(table_note,) if table_note else (),
        )
    ]


def _tables(value: Any, count: int) -> tuple[Tables | None, str | None]:
    if value is None:
        return None, None
    if not isinstance(value, list) or len(value) != count:
        return None, "top_logprobs left out: not one table a token"
    try:
        return Tables(value if _all_pairs(value) else [_pairs(row) for row in value]), None
    except BadTable as error:
        return None, f"top_logprobs left out: {error}"


def _all_pairs(rows: list[Any]) -> bool:
    """Tell whether no row needs rewriting, judged by each row's first entry."""
    return set(map(type, rows)) == {list} and {type(r[0]) for r in rows if r} <= {list}


def _pairs(row: Any) -> Any:
    """Give a table as pairs; besides pairs, {"id": logprob} and [{id, logprob}] are written."""
    if isinstance(row, dict):
        return [[int(k) if k.isdecimal() else k, v] for k, v in row.items()]
    if isinstance(row, list) and row and isinstance(row[0], dict):
        return [[e.get("id"), e.get("logprob")] if isinstance(e, dict) else e for e in row]
    return row


def _plain_ids(line: bytes) -> bool:
    """Tell from the bytes that the value of "tokens" is a list of integers of at most nine digits.

    False means only that it takes a look at each value.
    """
    start = line.find(b'"tokens"')
    if start < 0 or b"\\" in line or line.find(b'"tokens"', start + 8) >= 0:
        return False
    opening = line.find(b"[", start)
    shape = line[opening + 1 : line.find(b"]", opening)].translate(_SHAPE)
    return b"x" not in shape and b"[" not in shape and _TEN_DIGITS not in shape


def _loads(line: bytes, where: str) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        _refuse_json(line, where, error)


def _refuse_json(line: bytes, where: str, error: orjson.JSONDecodeError) -> NoReturn:
    """Say in a few words why a line is not JSON, without echoing it."""
    message = error.msg
    if b"NaN" in line or b"Infinity" in line or "infinity" in message:
        reason = "holds NaN or infinity, which JSON does not have; write null"
    elif "depth" in message:
        reason = "nested deeper than the bound of 1,024"
    elif line.startswith((b"data:", b"event:")):
        reason = "a streamed answer (data: …); save the answer of a request with stream=false"
    elif "unexpected end" in message:
        reason = (
            f"not JSON: it ends early after {len(line)} bytes, so the writer may have been cut off"
        )
    elif not _is_utf8(line):
        reason = "not UTF-8 text"
    else:
        reason = f"not JSON ({message.split(':')[0]}, column {error.colno})"
    raise InputError(f"{where}: {reason}") from None


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _refuse_keys(value: dict[str, Any], where: str) -> NoReturn:
    other = next((name for name in _OTHER_NAMES if name in value), None)
    if other:
        raise InputError(f'{where}: no "tokens"; rename "{other}" if it holds the generated ids')
    found = ", ".join(f'"{k[:24]}"' for k in list(value)[:4]) or "nothing"
    raise InputError(f'{where}: no "tokens" (a list of token ids); found {found}')


def _refuse_repeated_keys(text: bytes, value: Any, where: str) -> None:
    """Refuse an object that names a key twice.

    Every key has a colon, so as many colons as keys proves that none was dropped. Otherwise
    (colons inside strings) the standard library's parser looks at each object.
    """
    if text.count(b":") == (len(value) if isinstance(value, dict) else -1):
        return

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            names = [name for name, _ in pairs]
            repeated = next(name for name in names if names.count(name) > 1)
            raise InputError(f'{where}: the key "{repeated[:40]}" stands twice in one object')
        return made

    try:
        json.loads(text, object_pairs_hook=unique)
    except RecursionError:
        raise InputError(f"{where}: nested too deeply") from None
