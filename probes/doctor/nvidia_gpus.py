"""The GPUs to be judged, with what judging them needs besides."""

from collections.abc import Sequence
from dataclasses import dataclass

from .nvidia_advice import Place
from .nvidia_machine import Machine
from .nvidia_reading import Gpu

BUSY_PCT = 5  # what a desktop's compositor takes at most


@dataclass(frozen=True)
class Gpus:
    """What there is to judge."""

    gpus: Sequence[Gpu]
    machine: Machine
    place: Place
    own_pids: frozenset[int]
    lost_lines: Sequence[str]

    @property
    def usable(self) -> list[Gpu]:
        """The GPUs that answer."""
        return [g for g in self.gpus if g.facts.get("state", "ok") == "ok"]


def label(gpu: Gpu) -> str:
    """Name a GPU for a sentence."""
    name = gpu.value("name")
    return f"GPU {gpu.index}" + (f" ({name})" if name else "")
