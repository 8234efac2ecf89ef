"""Where a record was made: what two records must share to be comparable.

The host name is given as it is; the store replaces it by a salted hash before anything is kept.
"""

import platform
from collections.abc import Mapping, Sequence
from typing import Any

from ...evidence.records import Git, Gpu, Identity
from ..system import System
from . import git_state
from .section import value_of

Facts = Mapping[str, Any]


def identity(system: System, facts: Facts) -> Identity:
    """Make the identity from doctor's facts; what they do not hold is left out."""
    host = facts.get("host") or {}
    engines = engine_versions(facts)
    return Identity(
        host=_host_name(system),
        os=_os(host),
        cpu=_cpu(host),
        gpu=_gpu(facts),
        engines=engines or None,
        git=_git(system, facts),
    )


def engine_versions(facts: Facts) -> dict[str, str]:
    """Give the versions that are known, by engine."""
    found = {}
    for name, engine in (facts.get("engines") or {}).items():
        version = value_of(engine.get("version")) if isinstance(engine, dict) else None
        if isinstance(version, str):
            found[name] = version
    return found


_FAMILIES = {"nvidia": "nvidia", "rocm": "amd", "metal": "apple"}


def vendors(facts: Facts) -> list[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Give every vendor that the facts speak of, with its GPUs, the platform's own first."""
    first = _FAMILIES.get(facts.get("platform") or "")
    order = sorted((f for f in _FAMILIES.values() if facts.get(f)), key=lambda f: f != first)
    listed = ((family, value_of(facts[family].get("gpus"))) for family in order)
    return [(family, rows if isinstance(rows, list) else []) for family, rows in listed]


def gpus(facts: Facts) -> tuple[str | None, Sequence[Mapping[str, Any]]]:
    """Give the platform's vendor and its GPUs' rows; none where none is known."""
    family = _FAMILIES.get(facts.get("platform") or "")
    rows = value_of((facts.get(family) or {}).get("gpus")) if family else None
    return family, rows if isinstance(rows, list) else []


def names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Give the names of GPUs, each once; a target's name where a GPU has none."""
    found = (value_of(row.get("name")) or value_of(row.get("gfx")) for row in rows)
    return list(dict.fromkeys(str(name) for name in found if name))


def _host_name(system: System) -> str | None:
    name = platform.node() if system.live else system.word("/etc/hostname")
    return name or None


def _os(host: Facts) -> str | None:
    name = value_of(host.get("os_name")) or host.get("os")
    parts = [name, value_of(host.get("kernel")), value_of(host.get("machine"))]
    return " ".join(str(part) for part in parts if part) or None


def _cpu(host: Facts) -> str | None:
    name, model = _text(value_of(host.get("cpu_name"))), _text(value_of(host.get("cpu_model")))
    if name and model:
        return f"{name} ({model})"
    return name or model


def _gpu(facts: Facts) -> Gpu | None:
    family, rows = gpus(facts)
    if not family or not rows:
        return None
    rows = [row for _, listed in vendors(facts) for row in listed]
    vendor = facts[family]
    driver = value_of((vendor.get("driver") or {}).get("version"))
    return Gpu(
        name=", ".join(names(rows)) or None,
        count=len(rows),
        driver=driver if isinstance(driver, str) else None,
        cuda=_text(value_of(vendor.get("cuda_driver_max"))),
        clocks=_clocks(rows),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _clocks(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Say what bounds the clocks: maxima and power limits, not what they happen to be now."""
    parts = []
    for key, words in (
        ("clock_sm_max_mhz", "SM at most {} MHz"),
        ("clock_mem_max_mhz", "memory at most {} MHz"),
        ("power_limit_w", "power limit {} W"),
    ):
        values = {value_of(row.get(key)) for row in rows} - {None}
        if values:
            parts.append(words.format("/".join(f"{v:g}" for v in sorted(values))))
    return ", ".join(parts) or None


def _git(system: System, facts: Facts) -> Git | None:
    known = facts.get("git") or {}
    commit = known.get("commit") or git_state.commit_from_files(system)
    return Git(commit=commit, dirty=value_of(known.get("dirty"))) if commit else None
