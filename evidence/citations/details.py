"""Numbers in a record's `data`: a profile's kernels by name, the facts of a machine.

A kernel or function counts where the text writes its identifier; a fact only supports, since its name can
fit by chance.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from . import naming
from .cited import Cited, Value
from .direct import fits
from .outcomes import Outcome, held
from .quantities import Quantity
from .scopes import Scope
from .units import COUNT, conversion, recorded_unit

_SUFFIXES = {"ns": "ns", "us": "us", "ms": "ms", "s": "s", "bytes": "B", "kib": "KiB", "mib": "MiB"}
_SUFFIXES |= {"gib": "GiB", "mhz": "MHz", "hz": "Hz", "w": "W", "c": "degC", "celsius": "degC"}
_SUFFIXES |= {
    "pct": "%",
    "percent": "%",
    "share": "fraction",
    "ratio": "ratio",
    "mb": "MB",
    "gb": "GB",
}
_COUNTS = frozenset({"calls", "samples", "count", "launches"})
_ROWS = 500  # kernels, functions, copies of one record
_LEAVES = 5_000
_DEEP = 8
_IDENTIFIER = re.compile(r"([A-Za-z_]\w{3,})\s*(?:<|\(|$)")


def judge_row(quantity: Quantity, cited: Sequence[Cited], said: Scope) -> Outcome | None:
    """Hold a quantity against the rows that the text names; None where none has its dimension.

    A count is only ever supported: `128 warps` beside a kernel's name need not be its calls.
    """
    for text in (said.own, said.everything()):
        found = [
            outcome
            for record in cited
            for value in _named_rows(record, text)
            if (outcome := _hold(quantity, value)) is not None
        ]
        right = next((o for o in found if o.verdict == "supported"), None)
        if right or (found and quantity.unit is not None):
            return right or found[0]
    return None


def judge_fact(quantity: Quantity, cited: Sequence[Cited], said: Scope) -> Outcome | None:
    """Find a quantity among the facts that the words of its clause name; None where it is none."""
    if quantity.unit is None:
        return None
    spoken = naming.words(said.own)
    for record in cited:
        for value in _facts(record):
            outcome = _hold(quantity, value)
            right = outcome is not None and outcome.verdict == "supported"
            if right and naming.likeness(value.name, spoken)[0] >= 2:
                return outcome
    return None


def _hold(quantity: Quantity, value: Value) -> Outcome | None:
    factor = 1.0 if quantity.unit is None else conversion(quantity.unit, value.unit)
    if factor is None or (quantity.unit is None) != (value.unit.dimension == COUNT):
        return None
    return held(value, fits(quantity, value.value * factor, None))


def _named_rows(record: Cited, text: str) -> Iterator[Value]:
    """Give the numbers of the rows (kernels, functions) whose identifier stands in the text."""
    if record.rows is None:
        record.rows = _rows(record)
    for identifier, values in record.rows.items():
        if identifier in text:
            yield from values


def _rows(record: Cited) -> dict[str, tuple[Value, ...]]:
    found: dict[str, tuple[Value, ...]] = {}
    rows = [r for part in record.record.data.values() if isinstance(part, list) for r in part]
    for row in rows[:_ROWS]:
        name = row.get("name") if isinstance(row, dict) else None
        match = _IDENTIFIER.search(name) if isinstance(name, str) else None
        if match and match[1] not in found:
            numbers = [
                value
                for key, number in row.items()
                if isinstance(number, int | float) and not isinstance(number, bool)
                for value in _value(record.key, f"{match[1]}.{key}", key, number)
            ]
            found[match[1]] = tuple(numbers)
    return found


def _facts(record: Cited) -> tuple[Value, ...]:
    """Give the numbers of an environment's facts that carry a unit in their name."""
    if record.facts is None:
        facts = record.record.data.get("facts")
        found = _walk(record.key, facts, (), [_LEAVES]) if isinstance(facts, dict) else ()
        record.facts = tuple(found)
    return record.facts


def _walk(identifier: str, part: Any, path: tuple[str, ...], left: list[int]) -> Iterator[Value]:
    left[0] -= 1
    if left[0] < 0 or len(path) > _DEEP:
        return
    if isinstance(part, dict):
        if "state" in part and "value" in part:
            part = {path[-1] if path else "value": part["value"]}
            path = path[:-1]
        for key, item in part.items():
            yield from _walk(identifier, item, (*path, str(key)), left)
    elif isinstance(part, list):
        for item in part:
            yield from _walk(identifier, item, path, left)
    elif path and isinstance(part, int | float) and not isinstance(part, bool):
        yield from _value(identifier, ".".join(("facts", *path)), path[-1], part)


def _value(identifier: str, name: str, key: str, number: float) -> Iterator[Value]:
    last = key.rpartition("_")[2].lower()
    unit = "count" if key in _COUNTS else _SUFFIXES.get(last)
    if unit is not None:
        yield Value(identifier, name, "", recorded_unit(unit), unit, float(number), alone=True)
