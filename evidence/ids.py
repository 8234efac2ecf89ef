"""The canonical bytes of a record and the id that pins them.

Id: `ev_` + the first 80 bits of SHA-256 of the stored bytes in RFC 4648 base32, lower case.
80 bits: 4e-7 chance of one collision among 1e9 records; forging a second preimage is out of reach
(docs/evidence.md says what an id does not prove).
"""

import base64
import hashlib
import math
import re
from typing import Any

import orjson

from .errors import InputError

ID = re.compile(r"ev_[a-z2-7]{16}")
MAX_INT = 2**53 - 1
_MISREAD = str.maketrans("018", "olb")


def canonical_bytes(plain: dict[str, Any]) -> bytes:
    """Serialise once: sorted keys, no spaces, UTF-8. What is hashed is what is stored.

    Raises:
        InputError: for NaN, infinity, an integer beyond 2^53-1 or a key that is no string, naming
            the place; other JSON readers would change such a value silently.
    """
    _refuse_unportable(plain, "record")
    try:
        return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise InputError(f"the record cannot be written as JSON: {error}") from error


def _refuse_unportable(value: Any, where: str) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InputError(f"{where}: key {key!r} is not a string")
            _refuse_unportable(item, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        if set(map(type, value)) == {int} and -MAX_INT <= min(value) and max(value) <= MAX_INT:
            return  # token ids come by the hundred thousand
        for index, item in enumerate(value):
            _refuse_unportable(item, f"{where}[{index}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where}: {value} is not a finite number")
    elif isinstance(value, int) and abs(value) > MAX_INT:
        raise InputError(f"{where}: {value} is beyond 2^53-1; write it as a string")


def evidence_id(stored: bytes) -> str:
    """Give the id of the stored bytes."""
    return id_of_hash(hashlib.sha256(stored).digest())


def id_of_hash(sha256: bytes) -> str:
    """Give the id from the SHA-256 of the stored bytes."""
    return "ev_" + base64.b32encode(sha256[:10]).decode().lower()


def normalise(text: str) -> str:
    """Read an id or prefix as typed: any case, `0 1 8` as `o l b`, `ev\\_` as `ev_`, `ev_` optional.

    Raises:
        InputError: when what remains is not 6 to 16 characters of the id alphabet.
    """
    body = text.strip().strip("[]()`").replace("\\_", "_").lower().removeprefix("ev_")
    body = body.translate(_MISREAD)
    if not re.fullmatch(r"[a-z2-7]{6,16}", body):
        shown = text if len(text) <= 40 else text[:20] + "…" + text[-10:]
        raise InputError(
            f"{shown!r} is no evidence id: ev_ and 16 characters of a-z and 2-7, at least 6 of them"
        )
    return "ev_" + body
