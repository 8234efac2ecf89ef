"""What a check is judged by: a named criterion, and thresholds that win over it."""

import math
from dataclasses import dataclass
from typing import Any

from ...evidence.errors import InputError
from .divergence import DECISIVE_NATS, NEAR_TIE_NATS

CRITERIA = ("identical", "rounding", "lossy")
# rounding: a rise over the control is believed below this; sequential looks stay rare enough.
CONTROL_P = 0.01
# rounding: more ambiguous divergences than this need a control (facts: benign pairs had under 10 %).
AMBIGUOUS_SHARE = 0.10
# A threshold is met with this to spare, so that 0.99 of 100 sequences is 0.99.
SPARE = 1e-12


@dataclass(frozen=True)
class Criteria:
    """Thresholds of a check; None: not given.

    identical: the mean prefix agreement must be 1. rounding: no divergence that rounding cannot
    explain. lossy: only the margins declared here. `near_tie_nats` and `decisive_nats` class the
    divergences (probes/correctness/divergence.py says where they come from).
    """

    min_prefix_agreement: float | None = None
    logprob_tol: float | None = None
    criterion: str = "identical"
    max_decisive: int | None = None
    max_divergences_per_1k: float | None = None
    max_decisive_per_1k: float | None = None
    max_kl: float | None = None
    min_sequences: int | None = None
    near_tie_nats: float = NEAR_TIE_NATS
    decisive_nats: float = DECISIVE_NATS

    def validate(self) -> None:
        """Refuse what no threshold can be, before any file is read.

        Raises:
            InputError: names the argument and what it accepts.
        """
        if self.criterion not in CRITERIA:
            raise InputError(
                f"criterion must be identical, rounding or lossy, not {_shown(self.criterion)}"
            )
        _number("min_prefix_agreement", self.min_prefix_agreement, 1.0)
        for name in ("logprob_tol", "max_divergences_per_1k", "max_decisive_per_1k", "max_kl"):
            _number(name, getattr(self, name), None)
        for name in ("near_tie_nats", "decisive_nats"):
            _number(name, getattr(self, name), None, required=True)
        _whole("max_decisive", self.max_decisive, 0)
        _whole("min_sequences", self.min_sequences, 1)
        if self.decisive_nats < self.near_tie_nats:
            raise InputError(
                f"decisive_nats ({self.decisive_nats:g}) must not be below near_tie_nats"
                f" ({self.near_tie_nats:g})"
            )

    @property
    def prefix_threshold(self) -> float | None:
        """The mean prefix agreement that is asked for; None: not judged."""
        if self.min_prefix_agreement is not None:
            return self.min_prefix_agreement
        return 1.0 if self.criterion == "identical" else None

    @property
    def decisive_limit(self) -> int | None:
        """How many decisive divergences are allowed; None: not judged."""
        if self.max_decisive is not None:
            return self.max_decisive
        return 0 if self.criterion == "rounding" else None

    @property
    def declares_margin(self) -> bool:
        """Whether the caller declared anything that a lossy change can be judged by."""
        return any(
            threshold is not None
            for threshold in (
                self.min_prefix_agreement,
                self.max_decisive,
                self.max_divergences_per_1k,
                self.max_decisive_per_1k,
                self.max_kl,
            )
        )


def _number(name: str, value: Any, high: float | None, *, required: bool = False) -> None:
    if value is None and not required:
        return
    accepted = f"a number from 0 to {high:g}" if high is not None else "a finite number from 0 up"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} must be {accepted}, not {_shown(value)}")
    if not math.isfinite(value) or value < 0 or (high is not None and value > high):
        hint = " (0.99 means 99 %)" if high == 1 and 1 < value <= 100 else ""
        raise InputError(f"{name} must be {accepted}{hint}, not {value}")


def _whole(name: str, value: Any, low: int) -> None:
    if value is not None and (type(value) is not int or value < low):
        raise InputError(f"{name} must be a whole number from {low} up, not {_shown(value)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
