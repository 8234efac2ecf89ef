"""What speaks for which verdict, collected while the thresholds are applied."""

from dataclasses import dataclass, field

from ...evidence.payloads import ThresholdCheck
from ...evidence.records import Verdict
from .compare import Compared


@dataclass
class Ruling:
    """What speaks for which verdict."""

    blocked: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    checks: list[ThresholdCheck] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """Incomparable beats FAIL, FAIL beats what is left open."""
        if self.blocked:
            return "UNPROVEN"
        if self.failed:
            return "FAIL"
        return "UNPROVEN" if self.open else "PASS"

    @property
    def decisive(self) -> list[str]:
        """What the verdict rests on; empty for PASS."""
        return list(dict.fromkeys(self.blocked or self.failed or self.open))

    @property
    def aside(self) -> list[str]:
        """What else was found, beyond the two things that the reason has room for."""
        rest = self.decisive[2:]
        return [*rest, *self.open] if self.failed and not self.blocked else rest

    def check(self, name: str, threshold: float, measured: float | None, met: bool | None) -> None:
        """Note one threshold and whether it was met."""
        self.checks.append(
            ThresholdCheck(name=name, threshold=threshold, measured=measured, met=met)
        )


@dataclass(frozen=True)
class Control:
    """The control's comparison with the reference, and the chance of the candidate's rise."""

    compared: Compared
    usable: bool
    p_value: float | None
