"""Many equal lines of token ids at once, checked as strictly as one, without Python code a line.

Most lines of two recordings that agree are equal, and a line's figures are then its length and its
hash. Where anything else than a compact or spaced list of ids stands, the lines are read one by one.
"""

from typing import NamedTuple

import orjson

from .generated import TOKEN_MAX
from .side import LOOP_LENGTH


class Plain(NamedTuple):
    """Sequences of which only tokens were recorded, none empty."""

    lengths: list[int]
    hashes: list[int]
    loops: int
    varied: int


def looks_plain(line: bytes) -> bool:
    """Tell whether a line starts as one list of numbers, which gives one sequence or an error."""
    return line[:1] == b"[" and line[1:2].isdigit()


def plain_lines(lines: list[bytes]) -> Plain | None:
    """Read lines that are lists of ids and nothing else; None where one may not be."""
    lengths, loops, varied = [], 0, 0
    try:
        for line in lines:
            # One line at a time: its integers are checked and freed while they are in the cache.
            tokens = orjson.loads(line)
            total = sum(tokens)
            # A sum of integers is one unless a boolean was among them, and no boolean is spelt
            # without an e. None is negative, so a sum within the bound keeps each within it.
            if not tokens or type(total) is not int or b"-" in line or b"e" in line:
                return None
            if total > TOKEN_MAX and max(tokens) > TOKEN_MAX:
                return None
            lengths.append(len(tokens))
            if len(tokens) >= LOOP_LENGTH:
                looped = tokens[0] == tokens[-1] and tokens.count(tokens[0]) == len(tokens)
                loops += looped
                varied += not looped
    except (orjson.JSONDecodeError, TypeError):
        return None
    compact = [line.translate(None, b" ") if b" " in line else line for line in lines]
    return Plain(lengths, list(map(hash, compact)), loops, varied)
