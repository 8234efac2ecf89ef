"""What NVML and nvidia-smi answered together, and which cause of failure that comes down to."""

from dataclasses import dataclass

from .nvidia_advice import Place
from .nvidia_machine import Machine
from .nvidia_reading import Problem, Reading
from .nvidia_smi import Answers

# The first that applies is the cause; what comes later follows from it or says less.
_ORDER: tuple[Problem, ...] = (
    "library_mismatch",
    "blocked",
    "no_permission",
    "driver_not_loaded",
    "unknown_error",
    "no_devices",
    "library_missing",
    "failed",
)


@dataclass(frozen=True)
class Driver:
    """What there is to judge. `gpus_named`: one of the sources listed at least one GPU."""

    machine: Machine
    place: Place
    nvml: Reading
    smi: Answers
    gpus_named: bool
    live: bool

    def lines(self) -> list[str]:
        """Collect the evidence of both sources, NVML first."""
        unasked = self.nvml.problem == "not_asked"
        lines = [self.nvml.line] if self.nvml.line and not unasked else []
        for copy in self.smi.copies:
            if copy.reading.line:
                lines.append(copy.reading.line)
            lines.extend(copy.endings)
        # That NVML was not asked is only said where nothing else was said.
        lines = lines or ([self.nvml.line] if self.nvml.line else [])
        return list(dict.fromkeys(lines))[:6]

    def problem(self) -> Problem | None:
        """Choose the cause among what the sources reported."""
        best = self.smi.best
        reported = [self.nvml.problem, best.reading.problem if best else None]
        return next((p for p in _ORDER if p in reported), None)
