"""The typed `data` of each kind of record: what outside checks may rely on (docs/evidence.md)."""

from typing import Any, Literal

from pydantic import Field

from .records import Frozen

Severity = Literal["error", "warning", "limitation", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "limitation", "note")

# A fact is a bare value, None, or {value, state: known|absent|unknown, reason}.
Facts = dict[str, Any]


class Fix(Frozen):
    """What to do about a finding; `commands` are suggestions, never run by doctor."""

    summary: str
    commands: tuple[str, ...] = ()
    where: str = Field(
        default="this shell",
        description="this shell, container launch, host, host root, Windows host or reboot",
    )
    needs_root: bool = False
    needs_reboot: bool = False
    verify: str | None = Field(default=None, description="A command that shows the fix worked.")


class Finding(Frozen):
    """One thing about the machine that distorts, limits or forbids a measurement."""

    code: str
    severity: Severity
    what: str
    evidence: tuple[str, ...] = Field(description="`file: value` or `command: line`.")
    affects: tuple[Literal["timing", "profiling", "correctness", "running", "comparison"], ...]
    fix: Fix | None = None


class Capability(Frozen):
    """Whether one kind of profiling works here, and how that is known."""

    answer: Literal["yes", "no", "unknown"]
    how: Literal["static", "probed"]
    tool: str | None = None
    why: str


class Can(Frozen):
    """What can be measured on this machine."""

    gpu_timeline: Capability
    gpu_counters: Capability
    cpu_sampling: Capability
    cpu_hw_counters: Capability
    python_stacks: Capability


class ProfilerResult(Frozen):
    """What really happened when one profiler was run on our own tiny program."""

    ran: bool = Field(description="The profiler process was started.")
    capture_ok: bool | None = Field(
        description="True: our kernel or function was measured, by name. None: not tried."
    )
    error: str | None = Field(default=None, description="The telling lines, redacted, 300 chars.")
    cause: str | None = None
    fix: str | None = None
    returncode: int | None = None
    seconds: float | None = None
    version: str | None = None
    path: str | None = None
    captured: dict[str, Any] | None = Field(
        default=None, description="What was measured: name, value or samples, and the unit."
    )


class EnvironmentData(Frozen):
    """kind environment."""

    facts: Facts
    findings: tuple[Finding, ...]
    can: Can
    profilers: dict[str, ProfilerResult] | None = None


class ProfilerProbeData(Frozen):
    """kind profiler_probe."""

    profilers: dict[str, ProfilerResult]
    programs: dict[str, Any] | None = Field(
        default=None, description="Each test program run bare: family, ok, error."
    )


class GenerationData(Frozen):
    """kind generation; log-probabilities lie in the artifact generation.jsonl."""

    tokens: tuple[tuple[int, ...], ...]
    ids: tuple[str, ...] = ()
    prompts_sha256: str | None = None
    engine: dict[str, Any] = Field(default_factory=dict)
    sampling: dict[str, Any] = Field(default_factory=dict)
