"""Which AMD GPUs a program sees: ROCR_VISIBLE_DEVICES filters first, HIP then counts what is left. Pure.

Source: https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .amd_kfd import Node

_MANY = 64
ROCR, HIP, CUDA = "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True)
class Visible:
    """`indices` are positions in the kernel's order; None where a device was named by its UUID."""

    indices: tuple[int, ...] | None
    after_rocr: tuple[int, ...] = ()
    variables: tuple[str, ...] = ()  # those that are set, in the order in which they apply
    conflict: str | None = None  # what is wrong with the variables taken together
    breaks: bool = False  # the conflict leaves no device, or another than was meant


def visible(environ: Mapping[str, str], nodes: Sequence[Node]) -> Visible:
    """Apply the variables in the runtime's order; without nodes, as if there were many devices."""
    names = tuple(name for name in (ROCR, HIP, CUDA) if name in environ)
    rocr, hip = environ.get(ROCR), environ.get(HIP, environ.get(CUDA))
    hip_name = HIP if HIP in environ else CUDA
    everything = tuple(range(len(nodes) or _MANY))
    after_rocr = _filtered(everything, rocr)
    if after_rocr is None:
        return Visible(None, variables=names)
    after_hip = _filtered(after_rocr, hip)
    if after_hip is None:
        return Visible(None, variables=names)
    conflict, breaks = None, False
    if rocr is not None and hip is not None:
        lost = len(after_hip) < len(_entries(hip))
        conflict = (
            f"{ROCR} leaves {len(after_rocr)} device{'s' if len(after_rocr) != 1 else ''}, which "
            f"{hip_name} then counts from 0"
        )
        breaks = lost or not after_hip
        if not breaks and after_hip == after_rocr:
            conflict += ": it changes nothing"
    elif HIP in environ and environ.get(CUDA) not in (None, environ[HIP]):
        conflict = f"{HIP} and {CUDA} differ, and engines read one or the other"
    return Visible(after_hip, after_rocr, names, conflict, breaks)


def _entries(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def _filtered(devices: tuple[int, ...], text: str | None) -> tuple[int, ...] | None:
    """Take positions until the first that is not there; None for a UUID, which is not resolved here."""
    if text is None:
        return devices
    taken: list[int] = []
    for entry in _entries(text):
        if entry.upper().startswith("GPU-"):
            return None
        if not re.fullmatch(r"\d+", entry) or int(entry) >= len(devices):
            break
        taken.append(devices[int(entry)])
    return tuple(taken)
