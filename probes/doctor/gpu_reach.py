"""Whether the GPUs that are here can be used at all: what stands in the way of every one of them.

A profiler on PATH proves nothing where CUDA sees no device. A finding about some of the GPUs leaves
the others to be measured, so states a row decide there, not the finding's code. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from ...evidence.payloads import Finding
from .section import value_of

Facts = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]
Block = tuple[Literal["no", "unknown"], str]

# These speak of the whole driver: no GPU of the vendor can be used while they hold.
_ALL = frozenset(
    {
        *("nvidia.driver_not_loaded", "nvidia.driver_library_mismatch", "nvidia.no_devices_found"),
        *("nvidia.container_lost_gpu", "nvidia.blocked_by_windows", "nvidia.visible_none"),
        *("amd.driver_not_loaded", "amd.kfd_missing", "amd.kfd_denied", "amd.kfd_unusable"),
        "amd.visible_none",
    }
)
# These speak of what lists GPUs; CUDA needs neither NVML nor nvidia-smi and may work all the same.
_UNSURE = frozenset(
    {
        *("nvidia.nvml_failed", "nvidia.nvml_crashed", "nvidia.smi_timeout"),
        "nvidia.library_missing",
    }
)
# These may be about some GPUs only.
_SOME = frozenset(
    {
        *("nvidia.devnode_denied", "nvidia.gpu_lost", "nvidia.exclusive_mode"),
        "amd.visible_conflict",
    }
)
# A limitation is enough for a driver that is not loaded beside a GPU that is here.
_COUNT = frozenset({"error", "limitation"})


def blocked(family: str, facts: Facts, rows: Rows, findings: Iterable[Finding]) -> Block | None:
    """Say why nothing of this vendor can be measured, or may not be; None: nothing is in the way."""
    mine = [f for f in findings if f.severity in _COUNT and f.code.startswith(f"{family}.")]
    for finding in mine:
        if finding.code in _ALL:
            return "no", finding.what
    reachable = _reachable(facts.get(family) or {}, rows)
    if not reachable:
        for finding in mine:
            if finding.code in _SOME:
                return "no", finding.what
    if rows and not reachable:
        return "no", "none of the GPUs here can be used by a program started here"
    unsure = next((f.what for f in mine if f.code in _UNSURE), None)
    return ("unknown", unsure) if unsure else None


def _reachable(vendor: Facts, rows: Rows) -> list[Mapping[str, Any]]:
    """Give the GPUs that a program started here could use; the variables may leave none."""
    if value_of(vendor.get("visible_count")) == 0:
        return []
    return [row for row in rows if _usable(row)]


def _usable(row: Mapping[str, Any]) -> bool:
    state, mode = value_of(row.get("state")), value_of(row.get("compute_mode"))
    return state in (None, "ok") and str(mode).lower() != "prohibited"
