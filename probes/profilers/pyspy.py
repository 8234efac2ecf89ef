"""py-spy: samples the Python stack of the test program and finds its function by name.

It exits with 0 whatever the program does, and a short program yields only interpreter start-up, so the
number of samples inside our function decides. Source: https://github.com/benfred/py-spy
"""

import re

from .profiler import Bench, Capture, Profiler

HERTZ = 100
LEAST_SAMPLES = 10  # a tenth of what the shortest test program gives


def parse_version(text: str) -> str | None:
    """Read `py-spy 0.4.3`."""
    found = re.search(r"py-spy (\S+)", text)
    return found[1] if found else None


def samples_of(raw: str, function: str) -> int:
    """Sum the samples whose stack holds a function, in collapsed stacks: `a (f.py:1);b (f.py:2) 14`."""
    total = 0
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        names = [frame.partition(" ")[0] for frame in stack.split(";")]
        if count.isdigit() and function in names:
            total += int(count)
    return total


async def capture(bench: Bench) -> Capture:
    """Let py-spy start the test program and read the stacks it wrote."""
    raw = bench.scratch / "stacks.raw"
    options = ["-r", str(HERTZ), "-f", "raw", "-o", str(raw), "--"]
    step = await bench.run([bench.path, "record", *options, *bench.program.argv])
    stacks = raw.read_text("utf-8", "replace") if raw.exists() else ""
    samples = samples_of(stacks, bench.program.look_for)
    if samples < LEAST_SAMPLES:
        return Capture(step, None, step.output, f"{samples} samples fell into our function")
    return Capture(step, {"function": bench.program.look_for, "samples": samples}, step.output)


PROFILER = Profiler(
    name="py-spy",
    family="cpu",
    version_argv=("--version",),
    version=parse_version,
    capture=capture,
    install="pip install py-spy",
    aliases=("pyspy", "py_spy"),
)
