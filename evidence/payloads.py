"""The typed `data` of each kind of record: what outside checks may rely on (docs/evidence.md)."""

from typing import Any, Literal

from pydantic import Field

from .records import Frozen, Interval

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


class Change(Frozen):
    """A fact that is not what it was; None: not there."""

    fact: str
    before: Any
    after: Any


class EnvironmentData(Frozen):
    """kind environment."""

    facts: Facts
    findings: tuple[Finding, ...]
    can: Can
    profilers: dict[str, ProfilerResult] | None = None
    since: str | None = Field(default=None, description="The record that `changes` starts from.")
    changes: tuple[Change, ...] | None = None


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


class Exercised(Frozen):
    """What a correctness check put to the test; a clean result holds for no more than this."""

    pairs: int = Field(description="Pairs with at least one token.")
    distinct: int = Field(description="Distinct reference sequences among them.")
    tokens_at_risk: int = Field(description="Tokens generated in an equal context.")
    tokens_at_risk_by_index: dict[str, int]
    longest_generated: int = Field(description="The most tokens compared in one pair.")
    longest_context: int | None = Field(
        description="Prompt and compared tokens of the longest pair; None: no prompt lengths."
    )
    clean_bound_pct: float | None = Field(
        default=None,
        description="Where nothing diverged: the largest share of diverging prompts left (95 %).",
    )


class NoiseData(Frozen):
    """How far log-probabilities moved while the tokens agreed, in nats; absent without them."""

    by_index: dict[str, float] = Field(description="Median by bin of the generated index.")
    by_context: dict[str, float] | None = Field(
        default=None, description="Median by bin of the context's length."
    )
    flip_max: float | None = Field(
        default=None, description="The largest change of one margin that swapped two picks."
    )
    flip_median: float | None = None
    margin_change_median: float | None = Field(
        default=None, description="Of the best two tokens' margin where the pick stayed."
    )
    margin_change_max: float | None = None
    margin_positions: int = 0
    starts: dict[str, str | float] | None = Field(
        default=None, description="A step from silence: axis, bin, and the medians around it."
    )


class WorstPair(Frozen):
    """One of the pairs with the largest gaps (else the earliest divergences)."""

    id: str | None
    line: int
    index: int
    kind: str
    tokens: tuple[int | None, int | None] = Field(
        description="Reference's, candidate's; None: end."
    )
    gaps: tuple[float | None, float | None] = Field(
        description="Each side's own pick above the other's, in nats; None: no table."
    )
    lower_bound: bool = Field(default=False, description="A gap is at least that (outside top-k).")


class ControlData(Frozen):
    """A second reference run under other conditions: the noise floor."""

    p_value: float | None = Field(description="One-sided: chance of this rise at equal rates.")
    k1: int = Field(description="Diverging pairs, candidate.")
    k0: int = Field(description="Diverging pairs, control.")
    t1: int = Field(description="Tokens at risk, candidate.")
    t0: int = Field(description="Tokens at risk, control.")
    divergences: dict[str, int]
    flip_max: float | None = None


class RecordingData(Frozen):
    """One side of a correctness check."""

    sequences: int
    tokens: int
    with_logprobs: int
    with_top_logprobs: int
    finish: dict[str, int] = Field(description="stop, length, aborted, unknown.")
    near_tie_density: float | None = None


class ThresholdCheck(Frozen):
    """One threshold and what was measured against it; `met` is None where it cannot be told."""

    name: str
    threshold: float
    measured: float | None
    met: bool | None


class CorrectnessData(Frozen):
    """kind correctness. Definitions: docs/correctness.md."""

    criterion: str
    sequences: int = Field(description="Pairs compared, those of two empty sequences left out.")
    identical: int
    diverging: int
    vacuous: int = Field(description="Pairs of two empty sequences: no evidence.")
    first_divergence: tuple[int | None, ...] = Field(
        description="By pair in the reference's order; None: none. The first 1,000."
    )
    divergence_histogram: dict[str, int]
    divergences: dict[str, int] = Field(
        description="near_tie, ambiguous, decisive, length, unknown."
    )
    checks: tuple[ThresholdCheck, ...]
    exercised: Exercised
    reference: RecordingData
    candidate: RecordingData
    pairing: dict[str, str | bool | int]
    positionwise_macro_pct: float | None = None
    prefix_agreement_min_pct: float | None = None
    near_tie_density: float | None = Field(
        default=None, description="Share of reference positions with the best two within 0.1 nats."
    )
    logprob_coverage: float | None = Field(
        default=None, description="Share of agreeing positions with a value on both sides."
    )
    logprobs_over_tol: int | None = None
    noise: NoiseData | None = None
    worst: tuple[WorstPair, ...] = ()
    control: ControlData | None = None


class ConditionDifference(Frozen):
    """A condition of two records that is not the same; None: unknown on that side."""

    field: str
    baseline: Any
    candidate: Any


class ComparedMetric(Frozen):
    """One metric of both records, in the baseline's unit."""

    name: str
    statistic: str
    unit: str
    baseline: float | None
    candidate: float | None
    difference: float | None = None
    ratio: float | None = Field(default=None, description="candidate / baseline")
    interval: Interval | None = Field(default=None, description="Of the ratio.")
    verdict: Literal["better", "worse", "no_difference", "not_comparable"]
    why: str


class ComparisonData(Frozen):
    """kind comparison."""

    comparable: bool
    differences: tuple[ConditionDifference, ...]
    metrics: tuple[ComparedMetric, ...]
    varying: tuple[str, ...] = ()


class CitationClaim(Frozen):
    """One claim of a text and what the cited records say of it."""

    quote: str = Field(description="As written; a unit that it takes from its neighbour added.")
    evidence_id: str | None
    verdict: Literal[
        "supported", "contradicted", "unsupported", "not_found", "tampered", "unchecked"
    ]
    metric: str | None
    recorded: str | None = Field(description="The recorded or recomputed value with its unit.")
    why: str
    flags: tuple[str, ...] = Field(description="not_comparable: fields; did_you_mean.")
    evidence_ids: tuple[str, ...] = Field(description="All records used: two for a ratio.")
    line: int
    column: int
    offset: int = Field(description="Characters from the start of the text.")


class CitedRecord(Frozen):
    """One id in a text, where it first stands."""

    evidence_id: str = Field(description="As written, where it is no whole id.")
    status: Literal[
        "verified", "not_found", "tampered", "incomplete", "other_commit", "unknown_commit"
    ] = Field(description="incomplete: an artifact or an input is not there.")
    why: str | None
    nearest: str | None = None
    line: int
    column: int


class CitationData(Frozen):
    """kind citation_check."""

    claims: tuple[CitationClaim, ...]
    ids: tuple[CitedRecord, ...]
    assurance: str = Field(description="What stands behind the records beyond their ids.")
    source: str | None = None
    text_sha256: str
