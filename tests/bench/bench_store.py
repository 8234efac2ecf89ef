"""Speed of the store, each figure beside its baseline in the same run. Not collected by pytest.

Usage: python -m tests.bench.bench_store [--records N] [--markers N] [--folder DIR]. Prints a Markdown table.
"""

import argparse
import hashlib
import multiprocessing
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from multiprocessing.synchronize import Barrier
from pathlib import Path

from perfcite.evidence.layout import record_key
from perfcite.evidence.payloads import GenerationData
from perfcite.evidence.records import Identity, Metric, Record, new_record
from perfcite.evidence.store import Store

_DIGITS = str.maketrans("0189", "abcd")  # an id's alphabet has none of these
_KINDS = ["environment"] * 10 + ["profile"] * 5 + ["benchmark"] * 4 + ["correctness"]


def make(number: int = 0) -> Record:
    """A record of about 3 kB."""
    return new_record(
        kind="generation",
        claim_class="observed",
        tool="bench",
        version="0",
        arguments={"n": number},
        summary="a record for timing",
        data=GenerationData(tokens=(tuple(range(500)),)),
        identity=Identity(os="linux", cpu="cpu"),
        metrics=[Metric(name="m", value=1.5, unit="ms", statistic="median", n=3)] * 5,
    )


def p50(call: Callable[[], object], rounds: int) -> float:
    """Median seconds of a call."""
    spent = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        spent.append(time.perf_counter() - started)
    return statistics.median(spent)


def bare_save(root: Path, content: bytes, number: int) -> None:
    """The same durable writes as bare system calls: two files, three folders synced."""
    for folder, name, data in (
        (root / "records" / f"{number % 1024:02d}", f"r{number}.json", content),
        (root / "log" / "day", f"m{number}", b""),
    ):
        temporary = root / "tmp" / f"{os.getpid()}-{number}-{len(data)}"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
        os.write(handle, data)
        os.fsync(handle)
        os.close(handle)
        os.link(temporary, folder / name)
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
        os.unlink(temporary)


def prepare_bare(root: Path) -> None:
    """Make the folders that the store makes once."""
    for number in range(1024):
        (root / "records" / f"{number:02d}").mkdir(parents=True, exist_ok=True)
    (root / "log" / "day").mkdir(parents=True, exist_ok=True)
    (root / "tmp").mkdir(exist_ok=True)


def bench_save(folder: Path, rounds: int) -> tuple[float, float]:
    """p50 of a save, and of the bare calls, taken in turns."""
    store, bare = Store.open(folder / "save"), folder / "bare"
    prepare_bare(bare)
    content = store.save(make()).content
    for number in range(1100):  # so that most shard folders exist, as in a store in use
        store.save(make(number))
    ours, theirs = [], []
    for number in range(rounds):
        record = make(number)
        ours.append(p50(lambda record=record: store.save(record), 1))  # type: ignore[misc]
        theirs.append(p50(lambda number=number: bare_save(bare, content, number), 1))  # type: ignore[misc]
    return statistics.median(ours), statistics.median(theirs)


def bench_get(folder: Path, rounds: int) -> tuple[float, float]:
    """p50 of verified bytes by id, and of open, read, hash."""
    store = Store.open(folder / "save")
    ids = list(islice(store.ids(), 500))
    paths = [folder / "save" / record_key(i) for i in ids]
    ours, theirs = [], []
    for number in range(rounds):
        identifier, path = ids[number % len(ids)], paths[number % len(ids)]
        ours.append(p50(lambda i=identifier: store.content(i), 1))  # type: ignore[misc]
        theirs.append(p50(lambda p=path: hashlib.sha256(p.read_bytes()).digest(), 1))  # type: ignore[misc]
    return statistics.median(ours), statistics.median(theirs)


def make_markers(root: Path, count: int) -> None:
    """Write only markers, spread over a year of days: listing opens nothing else."""
    days = 365
    for day in range(days):
        where = root / "log" / f"{79_739_000 + day:08d}"
        where.mkdir(parents=True, exist_ok=True)
        for number in range(count // days):
            kind = _KINDS[number % len(_KINDS)]
            identifier = f"ev_{number:016d}".translate(_DIGITS)
            name = f"{number * 1_000_000:011d}~{kind}~-~bench~{identifier}"
            os.close(os.open(where / name, os.O_CREAT | os.O_WRONLY, 0o400))


def bench_newest(folder: Path, count: int, rounds: int) -> tuple[float, float]:
    """p50 of the newest 50, and of the newest 50 of one kind in twenty."""
    root = folder / f"markers{count}"
    make_markers(root, count)
    store = Store.open(root)

    def of_kind() -> Iterator[object]:
        return islice(store.newest(kind="correctness"), 50)

    newest = p50(lambda: list(islice(store.newest(), 50)), rounds)
    kind = p50(lambda: list(of_kind()), rounds)
    shutil.rmtree(root)
    return newest, kind


def _saver(folder: Path, count: int, bare: bool, ready: Barrier) -> None:
    store = Store.open(folder)
    records = [make(number) for number in range(count)]
    content = b"x" * 3000
    ready.wait()
    for number, record in enumerate(records):
        if bare:
            bare_save(folder, content, os.getpid() * 100_000 + number)
        else:
            store.save(record)


def bench_writers(folder: Path, count: int) -> tuple[float, float, int]:
    """Records a second of 8 processes, ours and bare, and how many of ours verify after."""
    prepare_bare(folder / "bare8")
    store = Store.open(folder / "save")  # in use: its shard folders are there
    before = set(store.ids())
    rates: dict[bool, list[float]] = {False: [], True: []}
    for bare in (False, True, True, False):
        place = folder / ("bare8" if bare else "save")
        ready = multiprocessing.Barrier(9)
        workers = [
            multiprocessing.Process(target=_saver, args=(place, count, bare, ready))
            for _ in range(8)
        ]
        for worker in workers:
            worker.start()
        ready.wait()
        started = time.perf_counter()
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0
        rates[bare].append(8 * count / (time.perf_counter() - started))
    new = [i for i in store.ids() if i not in before]
    good = sum(problem is None for _, problem in store.problems(new))
    return statistics.mean(rates[False]), statistics.mean(rates[True]), good


def bench_verify(folder: Path, count: int) -> tuple[float, float]:
    """Seconds to verify all records, and to read and hash the same files."""
    root = folder / "verify"
    store = Store.open(root)
    template = store.save(make()).plain()
    from perfcite.evidence.ids import canonical_bytes, evidence_id

    for number in range(count):
        template["nonce"] = f"{number:08x}"
        content = canonical_bytes(template)
        path = root / record_key(evidence_id(content))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    started = time.perf_counter()
    for path in root.glob("records/*/*.json"):
        hashlib.sha256(path.read_bytes()).digest()
    bare = time.perf_counter() - started
    started = time.perf_counter()
    assert all(problem is None for _, problem in store.problems(store.ids()))
    return time.perf_counter() - started, bare


def main() -> None:
    """Run all and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--markers", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        print("| what | ours | baseline | ratio | goal |")
        print("| --- | --- | --- | --- | --- |")
        ours, bare = bench_save(folder, 200)
        print(
            f"| save, p50 | {ours * 1e3:.2f} ms | {bare * 1e3:.2f} ms bare calls | "
            f"{ours / bare:.2f} | {(1.5 * bare + 1e-3) / bare:.2f} |"
        )
        ours, bare = bench_get(folder, 2000)
        print(
            f"| get by id, verified bytes, p50 | {ours * 1e6:.0f} us | {bare * 1e6:.0f} us open, "
            f"read, hash | {ours / bare:.2f} | 3 |"
        )
        small = bench_newest(folder, 10_000, 50)
        large = bench_newest(folder, options.markers, 50)
        for label, few, many in zip(("newest 50", "of one kind"), small, large, strict=True):
            print(
                f"| {label}, {options.markers:,} records, p50 | {many * 1e3:.2f} ms | "
                f"{few * 1e3:.2f} ms at 10,000 | {many / few:.2f} | 8, and 5 ms |"
            )
        rate, bare_rate, good = bench_writers(folder, 50)
        print(
            f"| 8 processes saving | {rate:.0f}/s, {good} of 800 verify | {bare_rate:.0f}/s bare | "
            f"{rate / bare_rate:.2f} | 0.8 |"
        )
        spent, bare = bench_verify(folder, options.records)
        print(
            f"| verify {options.records:,} records | {spent:.1f} s | {bare:.1f} s read and hash | "
            f"{spent / bare:.2f} | 2 |"
        )


if __name__ == "__main__":
    main()
