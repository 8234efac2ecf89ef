"""One finding for all GPUs that it holds of: eight that are throttled alike are one thing to know.

What differs from GPU to GPU (a clock, a process) is told of the first few and kept as evidence of each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...evidence.payloads import Fix, Severity
from .nvidia_gpus import label
from .nvidia_reading import Gpu
from .section import Section

_DETAILED = 3  # GPUs whose particulars are told in the sentence


@dataclass
class _Group:
    affects: Sequence[Any]
    fix: Callable[[str], Fix]
    gpus: list[Gpu] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)


class Gathered:
    """Collects what holds of one GPU at a time; `report` writes one finding a cause."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._groups: dict[tuple[str, Severity, str], _Group] = {}

    def find(
        self,
        gpu: Gpu,
        code: str,
        severity: Severity,
        what: str,
        *,
        detail: str = "",
        evidence: Sequence[str],
        affects: Sequence[Any],
        fix: Callable[[str], Fix],
    ) -> None:
        """Add one GPU to the finding for this cause.

        `what` is the cause, with the places {gpus}, {is} (or are), {s} (runs, or run) and {details};
        `fix` is given the GPUs' indices as nvidia-smi's -i takes them.
        """
        group = self._groups.setdefault((code, severity, what), _Group(affects, fix))
        group.gpus.append(gpu)
        group.details.append(detail)
        group.evidence.extend(evidence)

    def report(self, section: Section) -> None:
        """Write the findings, in the order in which their causes were met."""
        for (code, severity, what), group in self._groups.items():
            one = len(group.gpus) == 1
            section.find(
                code,
                severity,
                what.replace("{gpus}", together(group.gpus))
                .replace("{is}", "is" if one else "are")
                .replace("{s}", "s" if one else "")
                .replace("{details}", _details(group)),
                evidence=group.evidence,
                affects=group.affects,
                fix=group.fix(",".join(str(g.index) for g in group.gpus)),
            )


def _details(group: _Group) -> str:
    if len(set(group.details)) == 1:
        return group.details[0]
    told = [
        f"GPU {gpu.index}: {detail}"
        for gpu, detail in zip(group.gpus, group.details, strict=True)
        if detail
    ]
    more = len(told) - _DETAILED
    return "; ".join(told[:_DETAILED]) + (f"; and {more} more" if more > 0 else "")


def together(gpus: Sequence[Gpu]) -> str:
    """Name several GPUs for a sentence; those of one name share it."""
    if len(gpus) == 1:
        return label(gpus[0])
    names = {gpu.value("name") for gpu in gpus}
    if len(names) > 1:
        return ", ".join(map(label, gpus))
    name = names.pop()
    return f"GPUs {_numbers([g.index for g in gpus])}" + (f" ({name})" if name else "")


def _numbers(indices: Sequence[int | None]) -> str:
    known = [i for i in indices if i is not None]
    if len(known) == len(indices) > 2 and known == list(range(known[0], known[-1] + 1)):
        return f"{known[0]} to {known[-1]}"
    *first, last = map(str, indices)
    return f"{', '.join(first)} and {last}"
