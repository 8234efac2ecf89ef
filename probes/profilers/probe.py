"""Run each profiler on a tiny program of ours and judge it by what it measured."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...evidence.payloads import ProfilerResult
from ...evidence.records import Metric
from ..system import System

Tell = Callable[[float, float | None, str], Awaitable[None]]


@dataclass(frozen=True)
class ProbeOutcome:
    """The probe's whole answer, before it becomes a record."""

    profilers: dict[str, ProfilerResult]
    programs: dict[str, Any]
    summary: str
    metrics: tuple[Metric, ...] = ()
    missing: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()


async def probe(
    system: System,
    *,
    profilers: Sequence[str] | None = None,
    python: str | None = None,
    timeout_s: float = 300,
    tell: Tell,
) -> ProbeOutcome:
    """Probe the named profilers, or all that exist here."""
    return ProbeOutcome({}, {}, "no profiler was tried")
