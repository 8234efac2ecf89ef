"""Doctor: put the parts together, side by side, and say what the machine can measure."""

from dataclasses import dataclass
from typing import Any

import anyio

from ...evidence.payloads import SEVERITIES, Can, Capability, Finding
from ..system import System
from . import amd, apple, cpu_profilers, cross, engines, gpu_tools, host, llamacpp, nvidia
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


async def examine(
    system: System, *, python: str | None = None, probe_profilers: bool = False
) -> Examination:
    """Examine a machine: every part runs at the same time, each child with its own deadline."""
    here = host.read(system)
    parts: dict[str, Section] = {}

    async def part(name: str, work: Any) -> None:
        parts[name] = await work

    async with anyio.create_task_group() as group:
        group.start_soon(part, "cpu_profilers", cpu_profilers.examine(system, here))
        group.start_soon(part, "nvidia", nvidia.examine(system, here))
        group.start_soon(part, "amd", amd.examine(system, here, probe_profilers))
        group.start_soon(part, "apple", apple.examine(system, here))
        group.start_soon(part, "gpu_tools", gpu_tools.examine(system, here))
        group.start_soon(part, "engines", engines.examine(system, here, python))
        group.start_soon(part, "llamacpp", llamacpp.examine(system))
    order = ("cpu_profilers", "nvidia", "amd", "apple", "gpu_tools", "engines", "llamacpp")
    sections = [here.section, *(parts[name] for name in order)]
    facts: dict[str, Any] = {}
    for section in sections:
        _merge(facts, section.facts)
    sections.append(cross.compare(facts))
    findings = [f for s in sections for f in s.findings]
    findings.sort(key=lambda f: SEVERITIES.index(f.severity))
    nothing = Capability(answer="unknown", how="static", why="")
    return Examination(
        facts=facts,
        findings=tuple(findings),
        can=Can(
            gpu_timeline=nothing,
            gpu_counters=nothing,
            cpu_sampling=nothing,
            cpu_hw_counters=nothing,
            python_stacks=nothing,
        ),
        missing=tuple(m for s in sections for m in s.missing),
        limitations=tuple(x for s in sections for x in s.limitations),
        summary="",
    )


def _merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value
