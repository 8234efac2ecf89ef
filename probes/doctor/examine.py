"""Doctor: put the parts together, side by side, and say what the machine can measure."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from ...evidence.payloads import SEVERITIES, Can, Finding, ProfilerResult
from ...evidence.records import Identity, Metric
from ..system import System
from . import (
    amd,
    apple,
    capabilities,
    cpu_profilers,
    cross,
    engines,
    git_state,
    gpu_tools,
    host,
    interpreter,
    joint,
    llamacpp,
    nvidia,
    probed,
    summary,
    version_cache,
)
from .clean import Cleaner
from .host import Host
from .identity import identity
from .interpreter import Choice
from .section import Section


@dataclass(frozen=True)
class Examination:
    """Doctor's whole answer, before it becomes a record."""

    facts: dict[str, Any]
    findings: tuple[Finding, ...]
    can: Can
    missing: tuple[str, ...]
    limitations: tuple[str, ...]
    summary: str
    metrics: tuple[Metric, ...] = ()
    identity: Identity = field(default_factory=Identity)


async def examine(
    system: System, *, python: str | None = None, probe_profilers: bool = False
) -> Examination:
    """Examine a machine: every part runs at the same time, each child with its own deadline."""
    here = _host(system)
    parts = await _parts(system, here, python, probe_profilers)
    version_cache.save(system)
    merged = Section(facts=_merged([here.section, *parts]))
    joint.place(system, merged)
    merged.findings += [f for section in (here.section, *parts) for f in section.findings]
    # what only the whole can tell comes last, on top of what the parts found
    for name, compare in (("cross", cross.compare), ("joint", joint.compare)):
        more = _compared(name, compare, merged.facts)
        merged.facts = _merged([merged, more])
        merged.findings += more.findings
        parts.append(more)
    return _assemble(system, merged, [here.section, merged, *parts])


def apply_probe(examination: Examination, results: dict[str, ProfilerResult]) -> Examination:
    """Put into an examination what real captures showed (see probed.py)."""
    facts, findings = examination.facts, examination.findings
    status = probed.counter_status(results.get("ncu"))
    if status is not None:
        facts = {**facts, "nvidia": probed.with_counters(facts.get("nvidia") or {}, status)}
        findings = _sorted(probed.corrected(findings, status))
    return replace(
        examination,
        facts=facts,
        findings=findings,
        can=probed.capabilities(examination.can, results),
        summary=summary.summarise(facts, findings, results),
    )


def _host(system: System) -> Host:
    try:
        return host.read(system)
    except Exception as error:  # noqa: BLE001  the rest is still worth having
        return Host(section=_lost("host", error))


def _choice(system: System, python: str | None) -> Choice:
    try:
        return interpreter.choose(system, python)
    except Exception as error:  # noqa: BLE001  as above
        return Choice(
            None, None, f"unknown: internal error in interpreter ({type(error).__name__})"
        )


async def _parts(
    system: System, here: Host, python: str | None, probe_profilers: bool
) -> list[Section]:
    choice = _choice(system, python)
    work: dict[str, Callable[[], Awaitable[Section]]] = {
        "cpu_profilers": lambda: cpu_profilers.examine(system, here, choice),
        "nvidia": lambda: nvidia.examine(system, here),
        "amd": lambda: amd.examine(system, here, probe_profilers),
        "apple": lambda: apple.examine(system, here),
        "gpu_tools": lambda: gpu_tools.examine(system, here),
        "engines": lambda: engines.examine(system, choice),
        "llamacpp": lambda: llamacpp.examine(system),
        "git": lambda: git_state.examine(system),
    }
    answers: dict[str, Section] = {}

    async def part(name: str) -> None:
        try:
            answers[name] = await work[name]()
        except Exception as error:  # noqa: BLE001  one part must not cost the others
            answers[name] = _lost(name, error)

    async with anyio.create_task_group() as group:
        for name in work:
            group.start_soon(part, name)
    return [answers[name] for name in work]


def _compared(
    name: str, compare: Callable[[Mapping[str, Any]], Section], facts: Mapping[str, Any]
) -> Section:
    try:
        return compare(facts)
    except Exception as error:  # noqa: BLE001  as above
        return _lost(name, error)


def _lost(name: str, error: Exception) -> Section:
    why = f"unknown: internal error in {name} ({type(error).__name__})"
    return Section(limitations=[why], missing=[name])


def _assemble(system: System, merged: Section, sections: list[Section]) -> Examination:
    clean = Cleaner(system)
    facts = clean.value(merged.facts)
    findings = _sorted(tuple(clean.finding(f) for f in merged.findings))
    limitations = [x for s in sections for x in s.limitations]
    return Examination(
        facts=facts,
        findings=findings,
        can=capabilities.judge(facts, findings),
        missing=tuple(dict.fromkeys(m for s in sections for m in s.missing)),
        limitations=tuple(dict.fromkeys(clean.value(limitations))),
        summary=summary.summarise(facts, findings),
        metrics=_metrics(facts),
        identity=identity(system, facts),
    )


def _metrics(facts: Mapping[str, Any]) -> tuple[Metric, ...]:
    count = facts.get("gpu_count")
    if not isinstance(count, int):
        return ()  # an unknown count is left out, never 0
    return (Metric(name="gpu_count", value=count, unit="count", statistic="count"),)


def _sorted(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda f: SEVERITIES.index(f.severity)))


def _merged(sections: list[Section]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for section in sections:
        _merge(facts, section.facts)
    return facts


def _merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        old = into.get(key)
        if isinstance(old, dict) and _is_branch(value) and _is_branch(old):
            merged = dict(old)
            _merge(merged, value)
            into[key] = merged
        else:
            into[key] = value


def _is_branch(value: Any) -> bool:
    """A fact with a state is a leaf, though it is a dict."""
    return isinstance(value, dict) and not ({"value", "state"} <= set(value))
