"""Work grows with the length of a text and no faster, whatever it holds."""

import time

import pytest

from perfcite.evidence.errors import InputError
from tests.evidence.citations.conftest import Shelf

HOSTILE = [
    "12.34 ms ", "1,", "1.5x ", "**", "`", "` ``", "[", "](", "[a](b", "ev_", "ev_abc ", "{base} ",
    "[{base}] ", "12 ms [{base}] ", "from 1.2 to 3.4 ms ", "<!--", "<a ", "|", "| 1 ms |\n", "- 1 ms\n",
    "  - 1 ms\n", "# 1 ms\n", "a.", "\n\n", "```\n", "~~a", "$1 ", "p95 ", "median/", "1 of 2 cases ",
    "e.g. ", "(", ")", "[1]: {base}\n", "[^1]: {base} [^1] ", "https://a/", "and ", "faster 1.2x than ",
    "about ", "1-2-3-", "1 ± ", "\x01", "_a", "* ", "\\", "&lt;", "1e5", "10^", "1 h ", "1x1", "1/2/3/4 ",
    "12 ms [{base}, {opt}] faster by 5 % ", "1 %", "—", "warm-up ", "1.0x of the 3 GB ", "\n", "> ", "1. ",
    "a|b\n--|--\n1|2\n", "{base}: 12 ms, 13 ms ", "[{base} {opt} ",
]  # fmt: skip
_LONG, _TIMES = 12_000, 4
_SHORTEST_S = 0.02  # below, the clock says little


@pytest.mark.parametrize("piece", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_takes_linear_time(shelf: Shelf, piece: str) -> None:
    piece = shelf.put(piece)
    spent = []
    for size in (_LONG // _TIMES, _LONG):
        text = (piece * (size // len(piece) + 1))[:size]
        started = time.process_time()
        try:
            shelf.check(text)
        except InputError:
            return
        spent.append(time.process_time() - started)
    assert spent[1] < 2.5 * _TIMES * max(spent[0], _SHORTEST_S)
