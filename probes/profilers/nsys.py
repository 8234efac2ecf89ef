"""Nsight Systems: traces the test program and finds its kernel in the exported SQLite.

CPU sampling and context switches stay off: with them on, an old nsys on a new kernel hangs for ever.
nsys exits with 0 without a report, and a report without GPU work has no kernel table, so the rows
decide. Source: https://docs.nvidia.com/nsight-systems/UserGuide/
"""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from .profiler import Bench, Capture, Profiler


def parse_version(text: str) -> str | None:
    """Read `NVIDIA Nsight Systems version 2022.4.2.1-df9881f`."""
    found = re.search(r"Nsight Systems version (\S+)", text)
    return found[1] if found else None


def kernel_rows(database: Path, kernel: str) -> dict[str, Any] | None:
    """Sum our kernel's rows in an exported report; None where there is none.

    A table exists only if it has rows: no CUDA work means no CUPTI_ACTIVITY_KIND_KERNEL at all.
    """
    query = (
        "SELECT count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k "
        "JOIN StringIds s ON s.id = k.shortName WHERE instr(s.value, ?) > 0"
    )
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            launches, total = connection.execute(query, (kernel,)).fetchone()
    except sqlite3.Error:
        return None
    if not launches or not total or total <= 0:
        return None
    return {"kernel": kernel, "launches": int(launches), "total_ns": float(total)}


async def capture(bench: Bench) -> Capture:
    """Trace the test program, export the report, look for the kernel."""
    report, database = bench.scratch / "probe.nsys-rep", bench.scratch / "probe.sqlite"
    options = ["--trace=cuda,nvtx,osrt", "--sample=none", "--cpuctxsw=none", "-f", "true"]
    step = await bench.run(
        [bench.path, "profile", *options, "-o", str(report.with_suffix("")), *bench.program.argv]
    )
    if not report.exists():
        return Capture(step, None, step.output, "nsys wrote no .nsys-rep")
    export = await bench.run(
        [bench.path, "export", "--type", "sqlite", "-o", str(database), str(report)]
    )
    text = step.output + "\n" + export.output
    found = kernel_rows(database, bench.program.look_for) if database.exists() else None
    problem = "captured, but the report holds no kernel of ours"
    return Capture(step, found, text, problem if database.exists() else "nsys could not export it")


PROFILER = Profiler(
    name="nsys",
    family="cuda",
    version_argv=("--version",),
    version=parse_version,
    capture=capture,
    install="it comes with the CUDA toolkit, or as nsight-systems",
    directories=(
        "/usr/local/cuda*/bin",
        "/opt/nvidia/nsight-systems/*/bin",
        "/opt/nvidia/nsight-systems-cli/*/bin",
        "/opt/nvidia/hpc_sdk/Linux_x86_64/*/compilers/bin",
    ),
    platforms=("linux", "windows"),
)
