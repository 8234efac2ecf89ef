"""The short forms of nvidia-smi: `-L`, the banner and table, `--version`, and CSV queries.

Any of them may come where another was asked for: a wrapper or an old release ignores arguments. So
`parse_output` tries each form on each output, and a CSV without its header is read in the order asked.
"""

import csv
import io
import re
from collections.abc import Callable, Sequence
from typing import Any

from .nvidia_reading import Gpu, Process, Reading, Slice, complete
from .nvidia_smi_cells import (
    lost_lines,
    mask,
    number,
    problem_in,
    reason_name,
    switch,
    unusable,
    why_not,
    word,
)
from .nvidia_smi_document import looks_like_document, parse_document, program_name
from .section import unknown, value_of

# Fields that every release since 2013 knows: one unknown name would cost the whole answer.
QUERY = (
    "index",
    "name",
    "memory.total",
    "memory.used",
    "utilization.gpu",
    "power.draw",
    "temperature.gpu",
    "pstate",
    "persistence_mode",
    "clocks.sm",
    "clocks.max.sm",
    "power.limit",
    "pci.bus_id",
)
APPS_QUERY = ("gpu_bus_id", "pid", "process_name", "used_gpu_memory")

COLUMNS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "name": ("name", word),
    "gpu_name": ("name", word),
    "memory.total": ("memory_total_mib", number),
    "memory.used": ("memory_used_mib", number),
    "memory.reserved": ("memory_reserved_mib", number),
    "utilization.gpu": ("utilization_pct", number),
    "power.draw": ("power_w", number),
    "power.draw.instant": ("power_w", number),
    "power.draw.average": ("power_w", number),
    "power.limit": ("power_limit_w", number),
    "enforced.power.limit": ("power_limit_w", number),
    "power.default_limit": ("power_limit_default_w", number),
    "temperature.gpu": ("temperature_c", number),
    "pstate": ("pstate", word),
    "persistence_mode": ("persistence", switch),
    "clocks.sm": ("clock_sm_mhz", number),
    "clocks.current.sm": ("clock_sm_mhz", number),
    "clocks.mem": ("clock_mem_mhz", number),
    "clocks.current.memory": ("clock_mem_mhz", number),
    "clocks.max.sm": ("clock_sm_max_mhz", number),
    "clocks.max.mem": ("clock_mem_max_mhz", number),
    "clocks.max.memory": ("clock_mem_max_mhz", number),
    "mig.mode.current": ("mig", switch),
    "compute_mode": ("compute_mode", word),
    "compute_cap": ("compute_capability", word),
    "display_active": ("display_active", switch),
    "clocks_event_reasons.active": ("clocks_event_reasons", mask),
    "clocks_throttle_reasons.active": ("clocks_event_reasons", mask),
}
_IDENTITY = {"index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "driver_version"}
_VERSION = r"(\d+(?:\.\d+)+)"


def parse_output(
    text: str, status: int | None, source: str, columns: Sequence[str] = ()
) -> Reading:
    """Read whatever nvidia-smi printed: first the known sentences, then each form it may have.

    `columns` are those of a CSV query, empty where none was asked. `status` is the exit status.
    """
    reading = Reading(source, lost=lost_lines(text))
    problem = problem_in(text, status)
    if problem is not None:
        reading.problem, reading.line = problem[0], f"{source}: {problem[1]}"
    banner = parse_banner(text, source)
    complete(reading, banner)
    if looks_like_document(text):
        complete(reading, parse_document(text, source))
    for gpus in (parse_list(text), parse_table(text), parse_csv(text, columns)):
        if gpus:
            complete(reading, Reading(source, gpus=gpus))
    if reading.driver is None and tuple(columns) == ("driver_version",):
        found = re.search(rf"^\s*{_VERSION}\s*$", text, re.MULTILINE)
        reading.driver = found.group(1) if found else None
    return reading


def parse_banner(text: str, source: str) -> Reading:
    """Read the versions of the table's head or of `--version`; since 610 they have other names."""

    def version(*labels: str) -> str | None:
        for label in labels:
            found = re.search(rf"\b{label}\s*:?\s+{_VERSION}", text, re.IGNORECASE)
            if found:
                return found.group(1)
        return None

    return Reading(
        source,
        smi_version=version(r"NVIDIA-SMI(?: version)?"),
        driver=version(r"KMD version", r"driver version"),
        cuda=version(r"CUDA UMD version", r"CUDA version"),
    )


_GPU_LINE = re.compile(r"^GPU (\d+): (.+?) \(UUID: ([^)]*)\)")
_SLICE_LINE = re.compile(r"^\s+MIG (\S+)\s+Device\s+(\d+): \(UUID: ([^)]*)\)")


def parse_list(text: str) -> list[Gpu]:
    """Read `-L`: one line a GPU, one indented line a MIG instance."""
    gpus: list[Gpu] = []
    for line in text.splitlines():
        gpu, part = _GPU_LINE.match(line), _SLICE_LINE.match(line)
        if gpu:
            facts = {"name": word(gpu.group(2)), "state": "ok"}
            gpus.append(Gpu(index=int(gpu.group(1)), uuid=gpu.group(3), facts=facts))
        elif part and gpus:
            found = Slice(int(part.group(2)), uuid=part.group(3), profile=part.group(1))
            gpus[-1].slices = [*(gpus[-1].slices or []), found]
            gpus[-1].facts["mig"] = True
    return gpus


_ROW_HEAD = re.compile(
    r"^\|\s+(\d+)\s+(\S.*?)\s+(On|Off|N/A|WDDM|TCC|MCDM)\s*\|"
    r"\s*(N/A|[0-9A-Fa-f]+:[0-9A-Fa-f:.]+)\s+\S+\s*\|"
)
_MEMORY = re.compile(r"(\d+)\s*MiB\s*/\s*(\d+)\s*MiB")


def parse_table(text: str) -> list[Gpu]:
    """Read the table: two lines a GPU, a third for MIG since 450. Long names end in `...` there."""
    gpus: list[Gpu] = []
    lines = text.splitlines()
    for position, line in enumerate(lines):
        head = _ROW_HEAD.match(line)
        if not head:
            continue
        gpu = Gpu(index=int(head.group(1)), facts={"name": word(head.group(2)), "state": "ok"})
        gpu.bus_id = head.group(4) if why_not(head.group(4)) is None else None
        if head.group(3) in ("On", "Off"):
            gpu.facts["persistence"] = head.group(3) == "On"
        _second_row(gpu, lines[position + 1 : position + 2])
        _third_row(gpu, lines[position + 2 : position + 3])
        gpus.append(gpu)
    return gpus


def _second_row(gpu: Gpu, lines: Sequence[str]) -> None:
    cells = [c.strip() for c in lines[0].strip().strip("|").split("|")] if lines else []
    if len(cells) < 3:
        return
    left = re.match(r"(\S+?)\s+(\S+)\s+(\S+)\s+(\S+)\s*/\s*(\S+)", cells[0])
    if left:
        gpu.facts["temperature_c"] = number(left.group(2))
        gpu.facts["pstate"] = word(left.group(3))
        gpu.facts["power_w"] = number(left.group(4))
        gpu.facts["power_limit_w"] = number(left.group(5))
    memory = _MEMORY.search(cells[1])
    why = unknown(why_not(cells[1]) or "parse_error")
    gpu.facts["memory_used_mib"] = int(memory.group(1)) if memory else why
    gpu.facts["memory_total_mib"] = int(memory.group(2)) if memory else why
    gpu.facts["utilization_pct"] = number(cells[2].split()[0] if cells[2] else "")


def _third_row(gpu: Gpu, lines: Sequence[str]) -> None:
    found = re.match(
        r"^\|\s+\|\s+\|\s+(Enabled\*?|Disabled\*?|N/A)\s*\|", lines[0] if lines else ""
    )
    if found:
        gpu.facts["mig"] = switch(found.group(1).rstrip("*"))


def parse_csv(text: str, columns: Sequence[str] = ()) -> list[Gpu]:
    """Read a `--query-gpu` answer by its header, or in the order asked where it has none."""
    rows = _csv_rows(text)
    names = _header(rows[0]) if rows else None
    if names is not None:
        rows = rows[1:]
    elif columns and rows and _fits(rows[0], columns):
        names = list(columns)
    if names is None or not _describes_gpus(names):
        return []
    return [_csv_gpu(names, row, position) for position, row in enumerate(rows)]


def _describes_gpus(names: Sequence[str]) -> bool:
    return "pid" not in names and any(n in COLUMNS for n in names)


def _csv_gpu(names: Sequence[str], row: Sequence[str], position: int) -> Gpu:
    cells = dict(zip(names, row, strict=False))
    index = value_of(number(cells["index"])) if "index" in cells else position
    gpu = Gpu(index=index if isinstance(index, int) else position)
    bus = cells.get("pci.bus_id", cells.get("gpu_bus_id", ""))
    gpu.bus_id = bus if why_not(bus) is None else None
    reasons = []
    for name, cell in cells.items():
        if name in COLUMNS:
            fact, convert = COLUMNS[name]
            if value_of(gpu.facts.get(fact)) is None:
                gpu.facts[fact] = convert(cell)
        elif reason_name(name) and name.startswith("clocks_") and cell.strip() == "Active":
            reasons.append(str(reason_name(name)))
    if value_of(gpu.facts.get("clocks_event_reasons")) is None and reasons:
        gpu.facts["clocks_event_reasons"] = reasons
    states = [s for s in map(unusable, row) if s]
    gpu.facts["state"] = states[0] if states else "ok"
    return gpu


def parse_apps(text: str) -> list[tuple[str | None, Process]] | None:
    """Read a `--query-compute-apps` answer: (PCI address, process); None where it is none."""
    rows = _csv_rows(text)
    names = _header(rows[0]) if rows else None
    if names is not None:
        rows = rows[1:]
    elif rows and _fits(rows[0], APPS_QUERY) and len(rows[0]) == len(APPS_QUERY):
        names = list(APPS_QUERY)
    if names is None or "pid" not in names:
        return None
    found = []
    for row in rows:
        cells = dict(zip(names, row, strict=False))
        pid = value_of(number(cells.get("pid", "")))
        used = cells.get("used_gpu_memory", cells.get("used_memory", ""))
        process = Process(
            pid=pid if isinstance(pid, int) else None,
            name=program_name(cells.get("process_name") or cells.get("name")),
            memory_mib=value_of(number(used)),
        )
        found.append((cells.get("gpu_bus_id"), process))
    return found


def _csv_rows(text: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text), skipinitialspace=True)
    try:
        return [[c.strip() for c in row] for row in reader if any(c.strip() for c in row)]
    except csv.Error:
        return []


def _header(row: Sequence[str]) -> list[str] | None:
    """Take a row as the header when each cell looks like a field's name, its unit in brackets."""
    names = [re.sub(r"\s*\[[^\]]*\]$", "", cell) for cell in row]
    known = set(COLUMNS) | _IDENTITY | {"pid", "process_name", "used_gpu_memory", "timestamp"}
    if any(n in known for n in names) and all(re.fullmatch(r"[A-Za-z0-9_.]+", n) for n in names):
        return names
    return None


def _fits(row: Sequence[str], columns: Sequence[str]) -> bool:
    """Guard a header-less row: an index is a number, a name is none."""
    if len(row) < 2 or len(row) > len(columns):
        return False
    cells = dict(zip(columns, row, strict=False))
    for name, cell in cells.items():
        whole = re.fullmatch(r"\d+", cell) is not None
        if (name in ("index", "pid") and not whole) or (name == "name" and whole):
            return False
    return True
