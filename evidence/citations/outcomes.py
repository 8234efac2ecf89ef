"""What becomes of a claim."""

from dataclasses import dataclass
from typing import Literal

from .cited import Value

ClaimVerdict = Literal[
    "supported", "contradicted", "unsupported", "not_found", "tampered", "unchecked"
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on a claim, by which records and metric, and why."""

    verdict: ClaimVerdict
    why: str
    evidence: tuple[str, ...] = ()
    metric: str | None = None
    recorded: str | None = None
    flags: tuple[str, ...] = ()
    loose: bool = False  # a mean that the text does not call one, where a median is recorded too


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim at its place in the text."""

    start: int
    end: int
    quote: str
    outcome: Outcome


def judged(right: bool) -> ClaimVerdict:
    """Give the verdict on a claim that a record decides."""
    return "supported" if right else "contradicted"


def held(value: Value, right: bool) -> Outcome:
    """Make the outcome of a claim held against one recorded value."""
    why = f"{value.label} is {value.told()}"
    return Outcome(judged(right), why, (value.evidence_id,), value.label, value.told())
