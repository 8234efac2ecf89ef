"""perf: samples the test function on the processor clock, and says whether hardware counters exist.

`perf record -e cycles` silently falls back to the clock on machines without a PMU, so the clock is
asked for by name and cycles are tried apart with `perf stat`.
Source: https://man7.org/linux/man-pages/man1/perf-record.1.html
"""

import re

from .profiler import Bench, Capture, Profiler

HERTZ = 499


def parse_version(text: str) -> str | None:
    """Read `perf version 6.1.187`."""
    found = re.search(r"perf version (\S+)", text)
    return found[1] if found else None


def samples_by_thread(script: str) -> dict[str, int]:
    """Count the samples of each thread name in `perf script -F comm`."""
    counts: dict[str, int] = {}
    for line in script.splitlines():
        name = line.strip().rstrip(":")
        if name:
            counts[name] = counts.get(name, 0) + 1
    return counts


def cycles(stat: str) -> int | None:
    """Read cycles from `perf stat -x,`; None where the machine does not count them."""
    found = re.search(r"^(\d+),[^,]*,cycles", stat, re.MULTILINE)
    return int(found[1]) if found else None


async def capture(bench: Bench) -> Capture:
    """Record the test program and count the samples that fell into its named thread."""
    data = bench.scratch / "perf.data"
    options = ["-e", "cpu-clock", "-F", str(HERTZ), "-o", str(data), "--"]
    step = await bench.run([bench.path, "record", *options, *bench.program.argv])
    text = step.output
    if not data.exists():
        return Capture(step, None, text, "perf wrote no data")
    script = await bench.run([bench.path, "script", "-F", "comm", "-i", str(data)])
    samples = samples_by_thread(script.stdout).get(bench.program.look_for, 0)
    if not samples:
        return Capture(step, None, text + "\n" + script.stderr, "no sample fell into our function")
    stat = await bench.run(
        [bench.path, "stat", "-x,", "-e", "cycles", "--", *bench.program.argv[:1], "-V"]
    )
    return Capture(
        step,
        {
            "function": bench.program.look_for,
            "samples": samples,
            "event": "cpu-clock",
            "hardware_cycles": cycles(stat.stderr),
        },
        text,
    )


PROFILER = Profiler(
    name="perf",
    family="cpu",
    version_argv=("--version",),
    version=parse_version,
    capture=capture,
    install="apt install linux-perf (Debian) or linux-tools-$(uname -r) (Ubuntu)",
    platforms=("linux",),
)
