"""Which GPUs CUDA would see under CUDA_VISIBLE_DEVICES, and what their NVML indices are.

Unset: all. Empty: none. Numbers are read as strtoul reads them (`1gpu` is 1); the first negative,
out of range or unreadable entry ends the list; a repeated one empties it. `GPU-` entries may be
prefixes of a UUID as long as one GPU matches. MIG: CUDA uses one instance, and then no other GPU.

Sources: CUDA C++ Programming Guide (environment variables), MIG User Guide (device enumeration),
pytorch torch/cuda/__init__.py `_parse_visible_devices`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .nvidia_reading import Gpu, Slice
from .section import unknown, value_of


@dataclass
class Visible:
    """What CUDA would see. `count` None: it cannot be told; `stopped` says what ended the list."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    count: int | None = None
    entries: int | None = None  # None: the variable is not set
    stopped: str | None = None
    at: int | None = None  # the entry that ended the list, from 1
    by_uuid: bool = False
    by_mig: bool = False
    order_unsure: bool = False


def resolve(value: str | None, order: str | None, gpus: Sequence[Gpu]) -> Visible:
    """Apply the rules. `order` is CUDA_DEVICE_ORDER; UUIDs are matched and never passed on."""
    if value is None:
        visible = Visible()
        _take(visible, list(range(len(gpus))), gpus, order)
        return visible
    entries = [e.strip() for e in value.split(",")]
    visible = Visible(entries=len(entries))
    if not value.strip():
        visible.entries, visible.count = 0, 0
        visible.stopped = "the variable is set and empty"
        return visible
    if entries[0].startswith("MIG-"):
        visible.by_uuid = visible.by_mig = True
        _take_instance(visible, entries[0], gpus)
        return visible
    visible.by_uuid = entries[0].startswith("GPU-")
    positions = _positions(visible, entries, gpus)
    _take(visible, positions, gpus, "PCI_BUS_ID" if visible.by_uuid else order)
    return visible


def _positions(visible: Visible, entries: Sequence[str], gpus: Sequence[Gpu]) -> list[int]:
    chosen: list[int] = []
    for number, entry in enumerate(entries, start=1):
        position, why = _by_uuid(entry, gpus) if visible.by_uuid else _by_number(entry, len(gpus))
        if position is None:
            visible.stopped, visible.at = why, number
            return chosen
        if position in chosen:
            visible.stopped, visible.at = "names a GPU twice, which hides all of them", number
            return []
        chosen.append(position)
    return chosen


def _by_number(entry: str, count: int) -> tuple[int | None, str | None]:
    found = re.match(r"[+-]?\d+", entry)
    if found is None:
        return None, "is no number"
    value = int(found.group())
    if value < 0:
        return None, f"is {value}"
    if value >= count:
        return None, f"is {value}, and there are {count} GPUs"
    return value, None


def _by_uuid(entry: str, gpus: Sequence[Gpu]) -> tuple[int | None, str | None]:
    if not entry.startswith("GPU-"):
        return None, "is no GPU UUID, after an entry that is one"
    matching = [i for i, g in enumerate(gpus) if (g.uuid or "").startswith(entry)]
    if len(matching) == 1:
        return matching[0], None
    return None, "matches several GPUs" if matching else "matches no GPU"


def _take(
    visible: Visible, positions: Sequence[int], gpus: Sequence[Gpu], order: str | None
) -> None:
    """Turn positions among the GPUs into rows, in CUDA's order."""
    parents = [gpus[p] for p in positions if gpus[p].value("mig") is True]
    instances = [(g, s) for g in parents for s in g.slices or []]
    if parents and (instances or any(g.slices is None for g in parents)):
        # As soon as one instance is visible CUDA uses that one alone.
        first = instances[0] if instances else (parents[0], None)
        visible.rows, visible.count = [_instance_row(*first)], 1
        return
    usable = [p for p in positions if gpus[p].value("mig") is not True]
    if parents and not usable:
        visible.stopped = "MIG is on and no instance has been made"
    visible.order_unsure = (order or "FASTEST_FIRST") != "PCI_BUS_ID" and not _alike(gpus)
    visible.rows = [
        _row(cuda, gpus[position], sure=not visible.order_unsure)
        for cuda, position in enumerate(usable)
    ]
    visible.count = len(usable)


def _take_instance(visible: Visible, entry: str, gpus: Sequence[Gpu]) -> None:
    parents = [g for g in gpus if g.value("mig") is True]
    named = [
        (g, s)
        for g in parents
        for s in g.slices or []
        if s.uuid is not None and s.uuid.startswith(entry)
    ]
    if len(named) == 1:
        visible.rows, visible.count = [_instance_row(*named[0])], 1
    elif any(g.slices is None or any(s.uuid is None for s in g.slices) for g in parents):
        parent = parents[0] if len(parents) == 1 else None
        visible.rows, visible.count = [_instance_row(parent, None)], 1
    else:
        visible.count, visible.at = 0, 1
        visible.stopped = "matches no MIG instance" if not named else "matches several instances"


def _row(cuda: int, gpu: Gpu, *, sure: bool) -> dict[str, Any]:
    total = gpu.facts.get("memory_total_mib", unknown("not_reported"))
    if not sure:
        return {
            "cuda_index": cuda,
            "nvml_index": unknown("CUDA orders unlike GPUs by speed"),
            "memory_total_mib": unknown("CUDA orders unlike GPUs by speed"),
        }
    return {"cuda_index": cuda, "nvml_index": gpu.index, "memory_total_mib": total}


def _instance_row(gpu: Gpu | None, found: Slice | None) -> dict[str, Any]:
    row: dict[str, Any] = {"cuda_index": 0}
    row["nvml_index"] = unknown("not_reported") if gpu is None else gpu.index
    row["memory_total_mib"] = unknown("not_reported") if found is None else found.memory_total_mib
    if found is not None:
        row["mig_index"] = found.index
        if found.profile:
            row["mig_profile"] = found.profile
    return row


def _alike(gpus: Sequence[Gpu]) -> bool:
    return len({value_of(g.facts.get("name")) for g in gpus}) <= 1
