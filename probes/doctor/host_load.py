"""What else runs here: memory, swap, load, CPU pressure, profilers left behind.

Source: proc_meminfo(5), proc_swaps(5), proc_loadavg(5), https://docs.kernel.org/accounting/psi.html.
"""

import os
import re

from ...evidence.payloads import Fix
from ..system import System
from .host_cpu import online_cpus
from .section import Section, absent, unknown

# `some avg10` above this share of the last ten seconds: somebody waited for a CPU.
_PRESSURE_PCT = 10.0
_MIB = 1 << 20
# Less than this in swap is what the kernel puts away in idle hours.
_SWAP_NOISE = 64 * _MIB
_SWAP_MUCH = 1024 * _MIB
_PROFILERS = frozenset(
    {
        *("nsys", "nsys-launcher", "ncu", "nv-nsight-cu-cl", "nvprof", "nv-hostengine"),
        *("rocprof", "rocprofv2", "rocprofv3", "perf", "vtune", "py-spy"),
    }
)
# Profilers that are scripts show their interpreter's name.
_INTERPRETERS = re.compile(r"(?:python[\d.]*|perl|bash|sh)")


def examine(system: System, section: Section) -> None:
    """Add memory, swap, load and leftover profilers."""
    memory = _memory(system, section)
    _swap(system, section, memory)
    _busy(system, section)
    _profilers(system, section)


def _memory(system: System, section: Section) -> dict[str, int]:
    found = re.findall(r"^(\w+):\s*(\d+) kB", system.read("/proc/meminfo") or "", re.MULTILINE)
    memory = {key: int(value) * 1024 for key, value in found}
    section.facts["host"] |= {
        name: memory.get(key, unknown("not_readable"))
        for name, key in (
            ("memory_total_bytes", "MemTotal"),
            ("memory_available_bytes", "MemAvailable"),
        )
    }
    return memory


def _swap(system: System, section: Section, memory: dict[str, int]) -> None:
    used = swap_used(system.read("/proc/swaps"))
    if used is None and "SwapTotal" in memory and "SwapFree" in memory:
        used = memory["SwapTotal"] - memory["SwapFree"]
    section.facts["host"]["swap_used_bytes"] = unknown("not_readable") if used is None else used
    if not used or used < _SWAP_NOISE:
        return
    total, available = memory.get("MemTotal"), memory.get("MemAvailable")
    tight = total is None or available is None or available < total / 2
    section.find(
        "host.swap_in_use",
        "warning" if tight or used >= _SWAP_MUCH else "note",
        f"{used / _MIB:.0f} MiB are swapped out: what is needed again is read from disk",
        evidence=[f"/proc/swaps: {used // 1024} kB used"],
        affects=("timing",),
        fix=Fix(
            summary="free memory, then bring the pages back",
            commands=("ps aux --sort=-rss | head", "sudo swapoff -a && sudo swapon -a"),
            where="host root",
            needs_root=True,
            verify="swapon --show",
        ),
    )


def swap_used(swaps: str | None) -> int | None:
    """Sum the Used column (KiB) of /proc/swaps, in bytes; None where the file is not there."""
    if swaps is None:
        return None
    rows = [line.split() for line in swaps.splitlines()[1:]]
    return sum(int(row[3]) for row in rows if len(row) > 3 and row[3].isdigit()) * 1024


def _busy(system: System, section: Section) -> None:
    pressure = _pressure(system.read("/proc/pressure/cpu"))
    load = _first_number(system.read("/proc/loadavg"))
    online = online_cpus(system)
    section.facts["host"] |= {
        "cpu_pressure_pct": unknown("not_readable") if pressure is None else pressure,
        "load_1min": unknown("not_readable") if load is None else load,
    }
    reasons = []
    if pressure is not None and pressure > _PRESSURE_PCT:
        reasons.append(f"/proc/pressure/cpu: some avg10={pressure:g}")
    if load is not None and online and load > len(online):
        reasons.append(f"/proc/loadavg: {load:g} on {len(online)} CPUs")
    if reasons:
        section.find(
            "host.busy",
            "warning",
            "the CPUs are busy with other work: " + "; ".join(r.split(": ", 1)[1] for r in reasons),
            evidence=reasons,
            affects=("timing",),
            fix=Fix(
                summary="stop the other work, or measure again when it has ended",
                commands=("top -b -n 1 | head -20",),
                verify="cat /proc/pressure/cpu",
            ),
        )


def _pressure(text: str | None) -> float | None:
    found = re.search(r"^some avg10=([\d.]+)", text or "", re.MULTILINE)
    return float(found[1]) if found else None


def _first_number(text: str | None) -> float | None:
    found = re.match(r"\s*(\d+(?:\.\d+)?)", text or "")
    return float(found[1]) if found else None


def _profilers(system: System, section: Section) -> None:
    own = str(os.getpid()) if system.live else ""
    pids = [n for n in system.names("/proc") if n.isdigit() and n != own]
    running = [f"{name} (pid {pid})" for pid in pids if (name := _profiler(system, pid))]
    section.facts["host"]["other_profilers"] = (
        sorted({r.split(" ")[0] for r in running})
        if running
        else (absent() if pids else unknown("not_readable"))
    )
    if not running:
        return
    first = running[0].split(" ")[0]
    section.find(
        "host.other_profiler_running",
        "warning",
        f"a profiler is running already: {', '.join(running[:4])}. It takes CPU time and may hold "
        "the counters",
        evidence=[f"/proc/*/comm: {r}" for r in running[:4]],
        affects=("timing", "profiling"),
        fix=Fix(
            summary="stop it if it is a leftover",
            commands=(
                "nsys shutdown --kill=none"
                if first.startswith("nsys")
                else "dcgmi profile --pause"
                if first == "nv-hostengine"
                else f"ps -o pid,etime,user,args -C {first}",
            ),
            verify=f"pgrep -l {first}",
        ),
    )


def _profiler(system: System, pid: str) -> str | None:
    comm = system.word(f"/proc/{pid}/comm")
    if comm is None:
        return None
    name = comm
    if comm not in _PROFILERS:
        if not _INTERPRETERS.fullmatch(comm):
            return None
        arguments = (system.read(f"/proc/{pid}/cmdline") or "").split("\0")
        name = os.path.basename(arguments[1]) if len(arguments) > 1 else ""
        if name not in _PROFILERS:
            return None
    state = re.search(r"^State:\s*(\w)", system.read(f"/proc/{pid}/status") or "", re.MULTILINE)
    return None if state and state[1] in "ZX" else name
