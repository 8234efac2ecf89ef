"""What one part of doctor answers: facts, findings, what could not be had, what limits the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...evidence.payloads import Facts, Finding, Fix, Severity


@dataclass
class Section:
    """The answer of one part. `facts` are merged by top-level name (host, nvidia, engines, …)."""

    facts: Facts = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    limitations: list[str] = field(default_factory=list)

    def find(
        self,
        code: str,
        severity: Severity,
        what: str,
        *,
        evidence: Sequence[str],
        affects: Sequence[Any],
        fix: Fix | None = None,
    ) -> None:
        """Add a finding; a code may come several times (one a GPU, say)."""
        self.findings.append(
            Finding(
                code=code,
                severity=severity,
                what=what,
                evidence=tuple(evidence),
                affects=tuple(affects),
                fix=fix,
            )
        )


def unknown(reason: str) -> dict[str, Any]:
    """A fact that could not be read: timeout, no_permission, not_supported, crashed, parse_error, …"""
    return {"value": None, "state": "unknown", "reason": reason}


def absent(reason: str | None = None) -> dict[str, Any]:
    """A fact that was looked for and is not there."""
    return {"value": None, "state": "absent", **({"reason": reason} if reason else {})}


def value_of(fact: Any) -> Any:
    """Give a fact's value, whichever of the two forms it has; None where it has none."""
    if isinstance(fact, dict) and "state" in fact and "value" in fact:
        return fact["value"]
    return fact
