"""One line about a machine: GPUs, profilers with versions, counters, engines, captures. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...evidence.payloads import Finding, ProfilerResult
from ...evidence.records import SUMMARY_LIMIT, one_line
from .identity import engine_versions, gpus, names, vendors
from .section import value_of

Facts = Mapping[str, Any]
_VENDOR_TOOLS = ("nsys", "ncu", "rocprofv3", "xctrace")
_BRANDS = {"nvidia": "NVIDIA", "amd": "AMD", "apple": "Apple"}
_FIRST_ENGINES = ("vllm", "sglang", "tensorrt_llm", "llama_cpp", "mlx", "torch")


def summarise(
    facts: Facts,
    findings: Sequence[Finding],
    results: Mapping[str, ProfilerResult] | None = None,
) -> str:
    """Write the line; engines and profilers give way first where it grows too long."""
    engines = _engines(facts)
    profilers = _profilers(facts)
    while True:
        line = "; ".join(
            part
            for part in (
                _gpus(facts),
                ", ".join(profilers) or "no profiler",
                _counters(facts),
                _captures(results),
                ", ".join(engines) or _no_engine(facts),
                _counts(findings),
            )
            if part
        )
        if len(line) <= SUMMARY_LIMIT or not (engines or profilers):
            return one_line(line, SUMMARY_LIMIT)
        longest = engines if len(engines) > 1 or not profilers else profilers
        longest.pop()


def _gpus(facts: Facts) -> str:
    family, rows = gpus(facts)
    if not rows:
        return "no GPU" if facts.get("gpu_count") == 0 else _unknown_gpus(family, facts)
    told = []
    for vendor, listed in vendors(facts):
        if listed:
            driver = value_of((facts[vendor].get("driver") or {}).get("version"))
            told.append(_named(vendor, listed) + (f" (driver {driver})" if driver else ""))
    return " and ".join(told)


def _unknown_gpus(family: str | None, facts: Facts) -> str:
    fact = (facts.get(family or "") or {}).get("gpus")
    reason = fact.get("reason") if isinstance(fact, dict) else None
    return f"{_BRANDS.get(family or '', '')} GPUs unknown".strip() + (
        f" ({one_line(str(reason), 60)})" if family and reason else ""
    )


def _named(family: str | None, rows: Sequence[Mapping[str, Any]]) -> str:
    brand = _BRANDS.get(family or "", "")
    counts = Counter((names([row]) or [f"{brand} GPU"])[0] for row in rows)
    shown = [f"{n} x {name}" if n > 1 else name for name, n in counts.most_common(3)]
    return " and ".join(shown) + (f" and {len(counts) - 3} more" if len(counts) > 3 else "")


def _profilers(facts: Facts) -> list[str]:
    found = []
    tools = facts.get("tools") or {}
    for name in _VENDOR_TOOLS:
        tool: Facts = tools.get(name) or {}
        version = value_of(tool.get("version"))
        if version:
            unusable = value_of(tool.get("usable")) is False
            found.append(f"{name} {version}" + (" (unusable)" if unusable else ""))
    for name, key in (("perf", "perf"), ("py-spy", "pyspy")):
        part: Facts = facts.get(key) or {}
        version = value_of(part.get("version"))
        if version:
            found.append(f"{name} {version}")
    return found


def _counters(facts: Facts) -> str:
    family, rows = gpus(facts)
    if family == "nvidia" and rows:
        return f"GPU counters {value_of(facts['nvidia'].get('counters')) or 'unknown'}"
    if rows:
        return "GPU counters not checked"
    state = value_of((facts.get("perf") or {}).get("hw_counters"))
    return f"CPU counters {state}" if state else ""


def _captures(results: Mapping[str, ProfilerResult] | None) -> str:
    if results is None:
        return ""
    words = {True: "ok", False: "failed", None: "not tried"}
    return "captures: " + (
        ", ".join(f"{name} {words[r.capture_ok]}" for name, r in results.items()) or "none"
    )


def _engines(facts: Facts) -> list[str]:
    versions = engine_versions(facts) | dict.fromkeys(_untold(facts), "(version unknown)")
    order = [n for n in _FIRST_ENGINES if n in versions]
    order += [n for n in versions if n not in order and n == "transformers"]
    return [
        f"{name.replace('_', '-').replace('llama-cpp', 'llama.cpp')} {versions[name]}"
        for name in order
    ]


def _untold(facts: Facts) -> list[str]:
    """Name the engines that are here and do not tell their version."""
    return [
        name
        for name, engine in (facts.get("engines") or {}).items()
        if isinstance(engine, dict)
        and isinstance(version := engine.get("version"), dict)
        and version.get("state") == "unknown"
    ]


def _no_engine(facts: Facts) -> str:
    python: Facts = facts.get("python") or {}
    if value_of(python.get("version")):
        return "no engine found"
    return "engines unknown" + (
        "" if value_of(python.get("executable")) else ": no interpreter named"
    )


def _counts(findings: Sequence[Finding]) -> str:
    parts = []
    for severity in ("error", "warning"):
        count = sum(f.severity == severity for f in findings)
        if count:
            parts.append(f"{count} {severity}{'s' if count > 1 else ''}")
    return ", ".join(parts)
