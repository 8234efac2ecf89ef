"""How fast and how large a correctness check is, beside a naive loop, in one run.

    python tests/bench/bench_correctness.py [--mb 100] [--repeats 3] [--keep FOLDER]

Writes two pairs of recordings (token lists; objects with log-probabilities) of `--mb` megabytes a
side, 20 % of the pairs diverging, and prints CPU seconds, throughput, the ratio to the naive loop
and peak memory above a bare interpreter that has imported the package. The naive loop reads line by
line with `json` and walks both lists in Python for the same basic figures, checking nothing.
"""

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

METHODS = ("naive", "perfcite")


def write_pair(folder: Path, kind: str, megabytes: float) -> tuple[Path, Path]:
    """Write a reference and a candidate; sequences of 128 to 1,023 ids of a 49,152-token model."""
    rng = random.Random(7)
    paths = (folder / f"{kind}.reference.jsonl", folder / f"{kind}.candidate.jsonl")
    written, number = 0, 0
    with open(paths[0], "w") as left, open(paths[1], "w") as right:
        while written < megabytes * 1e6:
            length = rng.randint(128, 1023)
            tokens = [rng.randrange(49_152) for _ in range(length)]
            other = tokens
            if rng.random() < 0.2:
                at = rng.randrange(length)
                other = tokens[:at] + [rng.randrange(49_152) for _ in range(length - at)]
            if kind == "lists":
                lines = [_compact(tokens), _compact(other)]
            else:
                values = [-round(rng.expovariate(1) + 1e-4, 7) for _ in tokens]
                moved = [round(v - abs(rng.gauss(0, 0.005)), 7) for v in values]
                lines = [
                    _compact({"id": f"p{number}", "tokens": t, "logprobs": v})
                    for t, v in ((tokens, values), (other, moved))
                ]
            left.write(lines[0])
            right.write(lines[1])
            written += len(lines[0])
            number += 1
    return paths


def naive(reference: Path, candidate: Path) -> None:
    """Compare as a literal reading of the basic rule does."""
    pairs = exact = equal = positions = 0
    prefix = largest = 0.0
    with open(reference) as left, open(candidate) as right:
        for one, other in zip(left, right, strict=False):
            a, b = json.loads(one), json.loads(other)
            values = None
            if isinstance(a, dict):
                values = (a["logprobs"], b["logprobs"])
                a, b = a["tokens"], b["tokens"]
            first = None
            for index, (x, y) in enumerate(zip(a, b, strict=False)):
                if x == y:
                    equal += 1
                elif first is None:
                    first = index
            longer = max(len(a), len(b))
            first = min(len(a), len(b)) if first is None else first
            if values is not None:
                for index in range(first):
                    largest = max(largest, abs(values[0][index] - values[1][index]))
            pairs += 1
            exact += first == longer
            prefix += first / longer
            positions += longer


def perfcite(reference: Path, candidate: Path) -> None:
    """Compare as the tool does: strict, hashed, classed, with intervals."""
    from perfcite.probes.correctness.check import Criteria, FileSource, check

    check(FileSource(reference), FileSource(candidate), Criteria())


def measure_here(method: str, reference: Path, candidate: Path) -> None:
    """Run one method in this process; print CPU seconds, and memory above what importing took."""
    import perfcite.probes.correctness.check  # noqa: F401 - imported before the clock starts

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    globals()[method](reference, candidate)
    spent = time.process_time() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps([spent, grown]))


def measure(method: str, pair: tuple[Path, Path], repeats: int) -> tuple[float, float]:
    """Give the median CPU seconds and the largest growth in megabytes, each in a process anew."""
    command = [sys.executable, __file__, "--one", method, *map(str, pair)]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(repeats)
    ]
    return statistics.median(r[0] for r in runs), max(r[1] for r in runs) / 1024


def main() -> None:
    """Write the recordings, measure both methods, print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mb", type=float, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--one", nargs=3)
    options = parser.parse_args()
    if options.one:
        measure_here(options.one[0], Path(options.one[1]), Path(options.one[2]))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        print(
            f"{'recordings':12} {'method':9} {'CPU s':>7} {'MB/s':>7} {'ratio':>6} {'MB more':>8}"
        )
        for kind in ("lists", "logprobs"):
            pair = write_pair(folder, kind, options.mb)
            size = sum(p.stat().st_size for p in pair) / 1e6
            base = 0.0
            for method in METHODS:
                seconds, grown = measure(method, pair, options.repeats)
                base = base or seconds
                print(
                    f"{kind:12} {method:9} {seconds:7.2f} {size / seconds:7.0f}"
                    f" {base / seconds:5.2f}x {grown:8.1f}"
                )


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    main()
