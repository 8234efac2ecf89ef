"""Nsight Compute: measures the test kernel's duration from a GPU counter.

Exit status 0 does not mean a capture ("No kernels were profiled" exits with 0): a data row with our
kernel's name decides. Clocks are left alone, so none stays locked.
Source: https://docs.nvidia.com/nsight-compute/NsightComputeCli/
"""

import csv
import re
from typing import Any

from .profiler import Bench, Capture, Profiler

METRIC = "gpu__time_duration.sum"


def parse_version(text: str) -> str | None:
    """Read `Version 2022.3.0.0 (build 31729285) (public-release)`."""
    found = re.search(r"^Version (\S+)", text, re.MULTILINE)
    return found[1] if found else None


def measured(log: str, kernel: str) -> dict[str, Any] | None:
    """Find our kernel's rows in ncu's CSV log (base units: nanoseconds) and sum their durations."""
    lines = log.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return None
    durations = []
    for row in csv.DictReader(lines[start:]):
        name, value = row.get("Kernel Name") or "", row.get("Metric Value") or ""
        if kernel in name and row.get("Metric Name") == METRIC:
            number = value.replace(",", "")
            if re.fullmatch(r"\d+(?:\.\d+)?", number) and float(number) > 0:
                durations.append(float(number))
    if not durations:
        return None
    return {"kernel": kernel, "launches": len(durations), "total_ns": sum(durations)}


async def capture(bench: Bench) -> Capture:
    """Profile the test program and read the log that ncu wrote apart from the program's output."""
    log = bench.scratch / "ncu.log"
    options = ["--target-processes", "all", "--metrics", METRIC, "--print-units", "base"]
    options += ["--clock-control", "none", "--csv", "--log-file", str(log)]
    step = await bench.run([bench.path, *options, *bench.program.argv])
    text = log.read_text("utf-8", "replace") if log.exists() else ""
    found = measured(text, bench.program.look_for)
    return Capture(step, found, text + "\n" + step.output, "ncu's log holds no row of our kernel")


PROFILER = Profiler(
    name="ncu",
    family="cuda",
    version_argv=("--version",),
    version=parse_version,
    capture=capture,
    install="it comes with the CUDA toolkit, or as nsight-compute",
    directories=(
        "/usr/local/cuda*/bin",
        "/opt/nvidia/nsight-compute/*",
        "/usr/local/NVIDIA-Nsight-Compute*",
        "/opt/nvidia/hpc_sdk/Linux_x86_64/*/compilers/bin",
    ),
    platforms=("linux", "windows"),
)
