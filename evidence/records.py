"""The evidence record: its fields, and the one place that makes one.

Writing is strict, reading is lenient: `new_record` refuses what the contract does not allow, while
`Record` itself loads records made by other versions (unknown fields, other units, any data).
"""

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .errors import InputError

Kind = Literal[
    "environment",
    "profiler_probe",
    "correctness",
    "generation",
    "benchmark",
    "profile",
    "comparison",
    "citation_check",
]
ClaimClass = Literal["observed", "derived", "imported"]
Verdict = Literal["PASS", "FAIL", "UNPROVEN"]

VERDICT_KINDS = frozenset({"correctness", "comparison", "citation_check"})
SUMMARY_LIMIT = 240

_PREFIXED = {
    "B": ("", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"),
    "Hz": ("", "k", "M", "G"),
    "FLOP/s": ("", "k", "M", "G", "T", "P"),
}
UNITS = frozenset(
    ["s", "ms", "us", "ns", "%", "ratio", "x", "1", "count", "tokens", "tokens/s", "it/s"]
    + ["nats", "W", "J", "degC"]
    + [prefix + unit for unit, prefixes in _PREFIXED.items() for prefix in prefixes]
    + [f"{prefix}B/s" for prefix in _PREFIXED["B"]]
)


class Frozen(BaseModel):
    """A reading that never changes once made; unknown keys and non-finite numbers are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Lenient(BaseModel):
    """A stored shape: fields that this version does not know are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)


class Interval(Lenient):
    """An interval that holds the true value with probability `level` (0 to 1)."""

    low: float
    high: float
    level: float


class Metric(Lenient):
    """One number; `value` is None where it was wanted and could not be measured."""

    name: str = Field(max_length=120)
    value: float | int | None
    unit: str = Field(max_length=16)
    statistic: str = Field(max_length=40)
    n: int | None = Field(default=None, ge=0)
    samples: tuple[float, ...] | None = None
    interval: Interval | None = None


class Gpu(Lenient):
    """The GPUs of one host, as far as two records can be compared by them."""

    name: str | None = None
    count: int | None = None
    driver: str | None = None
    cuda: str | None = None
    clocks: str | None = None


class Git(Lenient):
    """The commit of the caller's working directory."""

    commit: str
    dirty: bool | None = None


class Identity(Lenient):
    """Where a record was made: enough to tell whether two are comparable. Absent is left out."""

    host: str | None = None
    os: str | None = None
    cpu: str | None = None
    gpu: Gpu | None = None
    engines: dict[str, str] | None = None
    git: Git | None = None
    fingerprint: str | None = None  # of the machine's stable facts, by doctor


class Tool(Lenient):
    """What was called."""

    name: str
    version: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Input(Lenient):
    """What a record was derived from: another record or a file, pinned by its SHA-256."""

    evidence_id: str | None = None
    path: str | None = None
    sha256: str
    bytes: int | None = None


class Artifact(Lenient):
    """A file kept beside the record by content hash."""

    name: str
    media_type: str
    bytes: int
    sha256: str
    sensitive: bool | None = None  # holds the value of a secret: never exported


class Record(Lenient):
    """One piece of evidence. `evidence/ids.py` gives its bytes and id."""

    schema_version: Literal["1"] = "1"
    kind: Kind
    claim_class: ClaimClass
    tool: Tool
    created_at: str
    summary: str
    verdict: Verdict | None = None
    reason: str | None = None
    identity: Identity = Field(default_factory=Identity)
    metrics: tuple[Metric, ...] = ()
    missing: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    data: dict[str, Any] = Field(default_factory=dict)
    nonce: str

    def to_plain(self) -> dict[str, Any]:
        """Give the stored shape: absent optional parts of identity, metrics and inputs left out."""
        plain = self.model_dump(
            mode="json", exclude={"identity", "metrics", "inputs", "artifacts", "data"}
        )
        # A null metric is a statement ("wanted, not measured"), so its value stays.
        plain["metrics"] = [
            {"value": None, **m.model_dump(mode="json", exclude_none=True)} for m in self.metrics
        ]
        plain["identity"] = self.identity.model_dump(mode="json", exclude_none=True)
        plain["inputs"] = [i.model_dump(mode="json", exclude_none=True) for i in self.inputs]
        plain["artifacts"] = [a.model_dump(mode="json", exclude_none=True) for a in self.artifacts]
        plain["data"] = self.data
        return plain


def new_record(
    *,
    kind: Kind,
    claim_class: ClaimClass,
    tool: str,
    version: str,
    arguments: Mapping[str, Any],
    summary: str,
    data: BaseModel,
    identity: Identity,
    verdict: Verdict | None = None,
    reason: str | None = None,
    metrics: Sequence[Metric] = (),
    missing: Sequence[str] = (),
    limitations: Sequence[str] = (),
    inputs: Sequence[Input] = (),
) -> Record:
    """Make a record of what this process just measured or computed.

    `data` is the typed payload of the kind (evidence/payloads.py). A metric without a value is
    named in `missing` whether or not the caller did so.

    Raises:
        InputError: where the parts contradict the contract (a verdict that the kind does not have,
            an unknown unit); a defect of the caller in this package, never of the user.
    """
    if (verdict is not None) and kind not in VERDICT_KINDS:
        raise InputError(f"a record of kind {kind} carries no verdict")
    for metric in metrics:
        if metric.unit not in UNITS:
            raise InputError(f"metric {metric.name}: unknown unit {metric.unit!r}")
    unmeasured = [m.name for m in metrics if m.value is None]
    return Record(
        kind=kind,
        claim_class=claim_class,
        tool=Tool(name=tool, version=version, arguments=dict(arguments)),
        created_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        summary=one_line(summary, SUMMARY_LIMIT),
        verdict=verdict,
        reason=reason,
        identity=identity,
        metrics=tuple(metrics),
        missing=tuple(dict.fromkeys([*missing, *unmeasured])),
        limitations=tuple(dict.fromkeys(limitations)),
        inputs=tuple(inputs),
        data={k: v for k, v in data.model_dump(mode="json").items() if v is not None},
        nonce=secrets.token_hex(4),
    )


def one_line(text: str, limit: int) -> str:
    """Fold white space and cut at `limit` characters with an ellipsis."""
    folded = " ".join(text.split())
    if len(folded) <= limit:
        return folded
    cut = folded[: limit - 1]
    word = cut.rfind(" ")
    return (cut[:word] if word > limit // 2 else cut) + "…"
