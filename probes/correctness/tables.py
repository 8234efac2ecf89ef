"""The top-k log-probabilities of one sequence, read whole: a table a position.

A sequence's tables are flattened and looked at column by column, because a Python loop over every
entry would cost several times the JSON parser. Rows of unequal width or order take the slow way.
"""

from collections.abc import Sequence
from itertools import chain
from operator import ge
from typing import Any

# Same meaning and source as in generated.py; a table entry at the sentinel has probability 0.
_SENTINEL = -9999.0
_ABOVE_ZERO = 1e-6
_TOKEN_MAX = 2**31 - 1

Row = Sequence[Sequence[Any]]


class BadTable(Exception):
    """A row of top log-probabilities is not what it must be."""


class Tables:
    """Tables of one sequence, and the best two entries of each position.

    `best_id`, `best`, `second_id` and `second` have one entry a position; -1 and None where a
    position has no table, or one of a single entry.
    """

    __slots__ = ("best", "best_id", "rows", "second", "second_id")

    def __init__(self, rows: list[Row | None]) -> None:
        """Take rows of [token id, log-probability] pairs in any order; None for no table.

        Raises:
            BadTable: a row is not that, or a value is above 0; the message says where.
        """
        self.rows = rows
        self.best_id: list[int]
        self.second_id: list[int]
        self.best: list[float | None]
        self.second: list[float | None]
        if not self._read_columns():
            self._read_rows()

    def row(self, index: int) -> dict[int, float]:
        """Give one table as token id -> log-probability, entries of probability 0 left out."""
        row = self.rows[index]
        return {e[0]: e[1] for e in row if e[1] > _SENTINEL} if row else {}

    def _read_columns(self) -> bool:
        """Read rows that all have the same width and are sorted, as most engines write them."""
        rows: list[Any] = self.rows
        if not set(map(type, rows)) <= {list, tuple}:
            return False
        widths = set(map(len, rows))
        width = widths.pop() if len(widths) == 1 else 0
        flat = list(chain.from_iterable(rows))
        if width < 2 or not set(map(type, flat)) <= {list, tuple} or set(map(len, flat)) != {2}:
            return False
        ids = [entry[0] for entry in flat]
        values = [entry[1] for entry in flat]
        if set(map(type, ids)) != {int} or not set(map(type, values)) <= {float, int}:
            return False
        if min(ids) < 0 or max(ids) > _TOKEN_MAX:
            return False
        if max(values) > _ABOVE_ZERO or min(values) <= _SENTINEL:
            return False
        columns = [values[k::width] for k in range(width)]
        if not all(all(map(ge, columns[k], columns[k + 1])) for k in range(width - 1)):
            return False
        return self._keep(ids[0::width], columns[0], ids[1::width], columns[1])

    def _keep(
        self, best_id: list[int], best: list[Any], second_id: list[int], second: list[Any]
    ) -> bool:
        self.best_id, self.best, self.second_id, self.second = best_id, best, second_id, second
        return True

    def _read_rows(self) -> None:
        self._keep([], [], [], [])
        for index, row in enumerate(self.rows):
            pairs = _sorted_row(row, index)
            first = pairs[0] if pairs else (-1, None)
            second = pairs[1] if len(pairs) > 1 else (-1, None)
            self.best_id.append(first[0])
            self.best.append(first[1])
            self.second_id.append(second[0])
            self.second.append(second[1])


def _sorted_row(row: Row | None, index: int) -> list[tuple[int, float]]:
    """Check one table; give its entries of a probability above 0, best first."""
    if row is None:
        return []
    where = f"top_logprobs {index}"
    if not isinstance(row, list | tuple):
        raise BadTable(f"{where} is not a list of [token id, log-probability] pairs")
    pairs: list[tuple[int, float]] = []
    for entry in row:
        if not isinstance(entry, list | tuple) or len(entry) != 2:
            raise BadTable(f"{where} holds something else than [token id, log-probability]")
        token, value = entry
        if type(token) is not int or not 0 <= token <= _TOKEN_MAX:
            raise BadTable(f"{where} holds a token that is no id")
        if type(value) not in (float, int) or value > _ABOVE_ZERO:
            raise BadTable(f"{where} holds a value that is no log-probability")
        if value > _SENTINEL:
            pairs.append((token, value))
    return sorted(pairs, key=lambda pair: -pair[1])
