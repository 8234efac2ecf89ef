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
    SENTINEL,
    TOKEN_MAX,
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

_OTHER_NAMES = ("token_ids", "output_ids", "output_token_ids", "generated_ids", "ids", "input_ids")


def read_line(line: bytes, where: str, like: Generated | None = None) -> list[Generated]:
    """Read one line: one sequence, or those of a server's answer with several choices.

    `where` is `FILE line N` for messages. `like` is the other side's sequence: what has the same
    bytes there was read and checked already.

    Raises:
        InputError: the line is not JSON, or not one of the shapes, or holds something else than ids.
    """
    if like is not None and like.bare and line[:1] == b"[":
        found = _read_rest(line, like)
        if found is not None:
            return [found]
    value = _loads(line, where)
    if isinstance(value, dict):
        flat = line.count(b":") == len(value)
        if not flat:
            _refuse_repeated_keys(line, where)
        return _read_object(value, line if flat else b"", where, like)
    if isinstance(value, list):
        if _only_ids(line, value):
            return [Generated(value, bare=True, region=line)]
        if value and all(isinstance(v, dict) for v in value):
            return read_document(line, value, where)
        return [Generated(as_tokens(value, where))]
    raise InputError(f'{where}: neither a list of token ids nor an object with "tokens"')


def read_document(text: bytes, value: Any, where: str) -> list[Generated]:
    """Read one JSON document over the whole file, or an array: only server answers come so.

    SGLang and llama.cpp answer a batch with one array of objects.
    """
    _refuse_repeated_keys(text, where)
    answers = value if isinstance(value, list) else [value]
    if not answers or not all(isinstance(a, dict) and is_response(a) for a in answers):
        shape = "array" if isinstance(value, list) else "document over several lines"
        raise InputError(f"{where}: a JSON {shape}, not JSON Lines: write one sequence a line")
    return [g for answer in answers for g in read_response(answer, where)]


def _read_rest(line: bytes, like: Generated) -> Generated | None:
    """Read a list that starts as another does; only what follows their last common comma is parsed.

    None where that does not work; the whole line then says why.
    """
    comma = line.rfind(b",", 0, _common_length(line, like.region))
    rest = b"[" + line[comma + 1 :]
    if comma < 0 or rest == b"[]":
        return None
    try:
        values = orjson.loads(rest)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(values, list) or not _only_ids(rest, values):
        return None
    shared = line.count(b",", 0, comma) + 1
    return Generated(like.tokens[:shared] + values, bare=True, region=line)


def _common_length(one: bytes, other: bytes) -> int:
    """Give the length of the longest common prefix."""
    for start in range(0, min(len(one), len(other)), 256):
        a, b = one[start : start + 256], other[start : start + 256]
        if a != b:
            size = min(len(a), len(b))
            differing = int.from_bytes(a[:size], "big") ^ int.from_bytes(b[:size], "big")
            return start + size - (differing.bit_length() + 7) // 8
    return min(len(one), len(other))


def _read_object(
    value: dict[str, Any], flat: bytes, where: str, like: Generated | None
) -> list[Generated]:
    """Read an object; `flat` is its line where it holds no other object."""
    if is_response(value):
        return read_response(value, where)
    if "tokens" not in value:
        _refuse_keys(value, where)
    tokens, region = value["tokens"], _region(flat, b"tokens")
    if region and like is not None and like.region == region:
        tokens = like.tokens
    elif not (isinstance(tokens, list) and _only_ids(region, tokens)):
        tokens, region = as_tokens(tokens, where), b""
    logprobs, holes, flaw = value.get("logprobs"), False, None
    if not _only_logprobs(_region(flat, b"logprobs"), logprobs, len(tokens)):
        logprobs, holes, flaw = as_logprobs(logprobs, len(tokens))
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
            settings=NO_SETTINGS if SETTING_KEYS.isdisjoint(value) else read_settings(value),
            flaw=flaw,
            region=region,
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


def _region(line: bytes, key: bytes) -> bytes:
    """Give the bytes of the list that follows a key, brackets included; none where none does.

    Only for an object without others in it. A quote inside a string is written with a backslash,
    so the key with its colon and bracket can stand nowhere else.
    """
    start = line.find(b'"' + key + b'":[')
    if start < 0:
        start = line.find(b'"' + key + b'": [')
        if start < 0:
            return b""
    opening = line.index(b"[", start)
    return line[opening : line.find(b"]", opening) + 1]


def _only_ids(region: bytes, values: list[Any]) -> bool:
    """Tell from the bytes that a parsed list holds integers alone, and that none is too large.

    False means only that each value must be looked at. Digits alone are never negative, so a sum
    within the bound keeps each value within it (and is cheaper than the maximum).
    """
    if region.translate(None, b"0123456789, ") != b"[]":
        return False
    return bool(sum(values) <= TOKEN_MAX or max(values) <= TOKEN_MAX)


def _only_logprobs(region: bytes, values: Any, count: int) -> bool:
    """Tell from the bytes that a parsed list holds `count` negative numbers above the sentinel.

    JSON has a minus only before a number or an exponent. Negative numbers whose sum is above the
    sentinel are each above it. False means only that each value must be looked at.
    """
    signs = region.translate(None, b"0123456789., ")
    if signs != b"[" + b"-" * count + b"]":
        exponents = signs.count(b"e-")
        if len(signs) != 2 + count + 2 * exponents or signs.count(b"-") != count + exponents:
            return False
    return len(values) == count > 0 and (sum(values) > SENTINEL or min(values) > SENTINEL)


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


def _refuse_repeated_keys(text: bytes, where: str) -> None:
    """Refuse an object that names a key twice, which the fast parser would let pass.

    Every key has a colon: a line with as many colons as keys needs no such look.
    """

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
