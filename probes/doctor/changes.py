"""What changed on a machine since an earlier record, and the fingerprint of what should not. Pure.

Readings that move by themselves (load, temperature, free memory) are no change; another process on the GPU,
a clock limit, a driver or a version is.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...evidence.payloads import Change
from .section import value_of

# Last words of a fact's name that are readings, not settings.
_READINGS = (
    *("load", "load_1min", "pressure_pct", "available_bytes", "available_mib", "used_bytes"),
    *("used_mib", "free_bytes", "free_mib", "cpu_mhz", "steal_pct", "cpu_periods"),
    *("cpu_throttled", "utilization_pct", "memory_utilization_pct", "temperature_c", "power_w"),
    *("clock_sm_mhz", "clock_mem_mhz", "pstate", "clocks_event_reasons", "fan_pct"),
)
# Compared, but no part of the fingerprint: they belong to the moment or to the call.
_MOMENT = ("processes", "other_profilers", "env", "git", "python", "store", "tmp_noexec", "running")
_SHOWN = 120


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Change, ...]:
    """Name every setting, version and process list that is not what it was."""
    old, new = dict(flatten(before)), dict(flatten(after))
    found = []
    for name in sorted({*old, *new}):
        if not is_reading(name) and old.get(name) != new.get(name):
            found.append(
                Change(fact=name, before=_shown(old.get(name)), after=_shown(new.get(name)))
            )
    return tuple(found)


def fingerprint(facts: Mapping[str, Any]) -> str:
    """Hash the stable facts: equal for two looks at an unchanged machine. 16 hex digits."""
    stable = {
        name: value
        for name, value in flatten(facts)
        if not is_reading(name) and not any(p.partition("[")[0] in _MOMENT for p in name.split("."))
    }
    text = json.dumps(stable, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def is_reading(name: str) -> bool:
    """Tell whether a fact moves by itself."""
    return any(name == r or name.endswith((f".{r}", f"_{r}")) for r in _READINGS)


def flatten(facts: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Give each fact by its dotted path; rows of a list by their index."""
    if isinstance(facts, Mapping) and not ("state" in facts and "value" in facts):
        for key, value in facts.items():
            yield from flatten(value, f"{path}.{key}" if path else str(key))
    elif isinstance(facts, list) and facts and all(isinstance(f, Mapping) for f in facts):
        for index, row in enumerate(facts):
            yield from flatten(row, f"{path}[{index}]")
    else:
        yield path, value_of(facts)


def _shown(value: Any) -> Any:
    text = str(value)
    return value if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
