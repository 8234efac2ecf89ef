"""What one source said about the NVIDIA GPUs, in one shape, and how two sources complete each other.

NVML and every form of nvidia-smi's output become a `Reading`; only its `row`s reach the record.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from .section import unknown, value_of

MIB = 1024 * 1024

# The facts of one GPU, in the order of the record; units are in the names (MHz, W, degrees C, %).
ROW = (
    "index",
    "name",
    "state",
    "memory_kind",
    "memory_total_mib",
    "memory_used_mib",
    "memory_reserved_mib",
    "compute_capability",
    "pstate",
    "persistence",
    "clock_sm_mhz",
    "clock_sm_max_mhz",
    "clock_mem_mhz",
    "clock_mem_max_mhz",
    "clocks_event_reasons",
    "power_w",
    "power_limit_w",
    "power_limit_default_w",
    "temperature_c",
    "utilization_pct",
    "mig",
    "compute_mode",
    "virtualization",
    "licence",
    "processes",
)
# Known of few GPUs or drivers: named only where there is something to say.
OPTIONAL = frozenset(
    {"licence", "virtualization", "compute_mode", "memory_kind", "memory_reserved_mib"}
)

Problem = Literal[
    "driver_not_loaded",
    "library_mismatch",
    "library_missing",
    "no_devices",
    "no_permission",
    "blocked",
    "unknown_error",
    "failed",
    "crashed",
    "timeout",
    "not_asked",
]


@dataclass
class Process:
    """One process that uses a GPU."""

    pid: int | None
    name: str | None
    memory_mib: int | None
    kind: Literal["compute", "graphics", "mps"] = "compute"

    def row(self) -> dict[str, Any]:
        """Give the process as the record shows it."""
        return {"pid": self.pid, "name": self.name, "memory_mib": self.memory_mib}


@dataclass
class Slice:
    """One MIG instance of a GPU. `uuid` is for matching only and never recorded."""

    index: int
    uuid: str | None = None
    profile: str | None = None
    memory_total_mib: Any = field(default_factory=lambda: unknown("not_reported"))


@dataclass
class Gpu:
    """One GPU as one source sees it. `uuid` and `bus_id` are for matching; a UUID is never recorded.

    `facts` holds facts by their name in the record (a value, or `unknown(reason)`), and a few that
    only judgement needs. What the source was not asked or does not know is not in it.
    """

    index: int | None
    uuid: str | None = None
    bus_id: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    processes: list[Process] | None = None
    processes_why: str = "not_reported"
    slices: list[Slice] | None = None
    error: str | None = None

    def value(self, name: str) -> Any:
        """Give a fact's value, None where it has none."""
        return value_of(self.facts.get(name))

    def row(self) -> dict[str, Any]:
        """Give the GPU as the record shows it."""
        listed = (
            unknown(self.processes_why)
            if self.processes is None
            else [p.row() for p in self.processes]
        )
        facts = {**self.facts, "index": self.index, "processes": listed}
        return {
            name: facts.get(name, unknown("not_reported"))
            for name in ROW
            if name in facts or name not in OPTIONAL
        }


@dataclass
class Reading:
    """One source's answer. `gpus` None: it named none, `problem` says why."""

    source: str
    gpus: list[Gpu] | None = None
    driver: str | None = None
    cuda_version: int | None = None
    cuda: str | None = None
    nvml_version: str | None = None
    smi_version: str | None = None
    attached: int | None = None
    problem: Problem | None = None
    line: str | None = None  # `command: line`, the evidence for the problem
    lost: list[str] = field(default_factory=list)  # lines that name a GPU which cannot be opened


def cuda_text(version: int) -> str:
    """Turn NVML's 12080 into 12.8: thousands are the major version, tens the minor one."""
    return f"{version // 1000}.{version % 1000 // 10}"


def complete(first: Reading, second: Reading) -> None:
    """Fill in what the first source does not know from the second, GPU by GPU."""
    for name in ("driver", "cuda", "cuda_version", "nvml_version", "smi_version"):
        if getattr(first, name) is None:
            setattr(first, name, getattr(second, name))
    if first.gpus is None:
        first.gpus = second.gpus
        if second.gpus is not None:
            first.attached = second.attached
        return
    for gpu in first.gpus:
        other = _same(gpu, second.gpus or [])
        if other is not None:
            complete_gpu(gpu, other)


def complete_gpu(gpu: Gpu, other: Gpu) -> None:
    """Take over each fact that only the other source has a value for."""
    for name, fact in other.facts.items():
        if gpu.value(name) is None and (value_of(fact) is not None or name not in gpu.facts):
            gpu.facts[name] = fact
    gpu.uuid = gpu.uuid or other.uuid
    gpu.bus_id = gpu.bus_id or other.bus_id
    if gpu.index is None:
        gpu.index = other.index
    if gpu.processes is None and other.processes is not None:
        gpu.processes = other.processes
    if other.slices is not None:
        gpu.slices = _complete_slices(gpu.slices, other.slices)


def _complete_slices(known: list[Slice] | None, other: list[Slice]) -> list[Slice]:
    if known is None:
        return other
    by_index = {s.index: s for s in other}
    for mine in known:
        theirs = by_index.get(mine.index)
        if theirs is not None:
            mine.uuid = mine.uuid or theirs.uuid
            mine.profile = mine.profile or theirs.profile
            if value_of(mine.memory_total_mib) is None:
                mine.memory_total_mib = theirs.memory_total_mib
    return known


def _same(gpu: Gpu, others: list[Gpu]) -> Gpu | None:
    """Find the same GPU: by PCI address, else by index; UUIDs hide behind sharing layers."""
    for other in others:
        if gpu.bus_id and other.bus_id and same_bus(gpu.bus_id, other.bus_id):
            return other
    if any(gpu.bus_id and other.bus_id for other in others):
        return None
    return next((o for o in others if o.index is not None and o.index == gpu.index), None)


def same_bus(one: str, other: str) -> bool:
    """Compare PCI addresses; NVML writes eight digits of domain, the kernel four."""
    return one.lower().lstrip("0") == other.lower().lstrip("0")
