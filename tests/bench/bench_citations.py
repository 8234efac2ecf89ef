"""Speed of check_citations beside its baseline in the same run. Not collected by pytest.

Usage: python -m tests.bench.bench_citations [--words N] [--ids N]. Prints a Markdown table. The baseline is
what cannot be avoided: reading, hashing and parsing each cited record once.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from perfcite.evidence.citations.check import check_citations
from perfcite.evidence.store import Store
from tests.evidence.citations.library import metric, record

_ROUNDS = 7
_LIMIT_S = 0.5
_PROSE = (
    "the kernel was measured again after the change and looks stable across runs with locked clocks "
    "so we keep it as the new default for every batch size that the service sees"
)


def records(store: Store, count: int) -> list[str]:
    """Save benchmarks that differ; give their ids."""
    ids = []
    for number in range(count):
        latency = 8 + number / 7
        metrics = [
            metric("attention_latency", latency, "ms", n=200),
            metric("attention_latency", latency + 1, "ms", "p95", 200),
            metric("throughput", 100 + number, "it/s", n=200),
        ]
        ids.append(store.save(record(metrics, nonce=f"{number:08x}")).evidence_id)
    return ids


def text_of(ids: list[str], words: int) -> str:
    """Write a report that cites every id with three numbers, and prose between."""
    chance, prose = random.Random(1), _PROSE.split()
    parts = []
    for number, identifier in enumerate(ids):
        latency = 8 + number / 7
        parts.append(
            f"Median latency is {latency:.2f} ms, p95 {latency + 1:.2f} ms and throughput "
            f"{100 + number} it/s [{identifier}]."
        )
        parts.append(
            " ".join(chance.choices(prose, k=max(1, words // len(ids) - 11))).capitalize() + "."
        )
        parts.append("\n\n" if number % 3 == 0 else "")
    return " ".join(parts)


def p50(call: Callable[[], object]) -> float:
    """Median seconds of a call."""
    spent = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        call()
        spent.append(time.perf_counter() - started)
    return statistics.median(spent)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--ids", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder))
        ids = records(store, given.ids)
        text = text_of(ids, given.words)
        result = check_citations(text, store)
        assert result.verdict == "PASS", result.summary
        whole = p50(lambda: check_citations(text, store))
        bare = p50(lambda: [store.load(i).record for i in ids])
        double = p50(lambda: check_citations(text + "\n\n" + text, store))
    print("| figure | value | target |")
    print("| --- | --- | --- |")
    print(f"| words, ids, claims | {len(text.split())}, {len(ids)}, {len(result.data.claims)} | |")
    print(f"| check_citations, p50 of {_ROUNDS} | {whole:.3f} s | < {_LIMIT_S} s |")
    print(f"| loading the cited records alone | {bare:.3f} s | |")
    print(f"| the text twice over, against once | {double / whole:.2f} x | about 2 |")


if __name__ == "__main__":
    main()
