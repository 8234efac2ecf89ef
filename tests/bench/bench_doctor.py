"""Speed of doctor, each figure beside its baseline in the same run. Not collected by pytest.

Usage: python -m tests.bench.bench_doctor [--torch-python PYTHON]. Prints a Markdown table. With an
interpreter that has torch, the cold command is timed against `python -m torch.utils.collect_env`.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from perfcite.probes.doctor.examine import examine
from perfcite.probes.system import System


@dataclass(frozen=True)
class Watched(System):
    """This machine, remembering which files and folders were read."""

    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)

    def read(self, path: str) -> str | None:
        """Read and remember."""
        self.files.append(path)
        return super().read(path)

    def names(self, path: str) -> list[str]:
        """List and remember."""
        self.folders.append(path)
        return super().names(path)


def p50(call: Callable[[], object], rounds: int) -> float:
    """Median seconds of a call, after one to warm up."""
    call()
    spent = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        spent.append(time.perf_counter() - started)
    return statistics.median(spent)


def look(python: str | None = None) -> None:
    """One warm examination in this process."""
    anyio.run(lambda: examine(System(), python=python))


def same_files() -> tuple[Callable[[], None], int]:
    """Give a function that only reads the files and lists the folders that doctor does."""
    watched = Watched()
    anyio.run(lambda: examine(watched))
    files, folders = watched.files, watched.folders

    def read() -> None:
        for path in files:
            try:
                with open(path, "rb") as file:
                    file.read()
            except OSError:
                continue
        for path in folders:
            try:
                os.listdir(path)
            except OSError:
                continue

    return read, len(files) + len(folders)


def bare_start(python: str) -> None:
    """Start an interpreter and list one folder."""
    code = "import os, sys; os.listdir(sys.prefix)"
    subprocess.run([python, "-I", "-c", code], check=True, stdin=subprocess.DEVNULL)


def cold(argv: list[str]) -> Callable[[], None]:
    """A whole command as a fresh process."""
    store = tempfile.mkdtemp(prefix="bench-")

    def run() -> None:
        subprocess.run(
            argv,
            env={**os.environ, "PERFCITE_STORE": store},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            check=True,
        )

    return run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--torch-python")
    parser.add_argument("--command", default=str(Path(sys.executable).parent / "perfcite"))
    options = parser.parse_args()
    print("| what | ours | baseline | ratio | goal |")
    print("| --- | --- | --- | --- | --- |")
    read, count = same_files()
    ours, bare = p50(look, 30), p50(read, 30)
    print(
        f"| a warm look | {ours * 1e3:.1f} ms | {bare * 1e3:.2f} ms reading the same {count} files and "
        f"folders | {ours / bare:.1f} | 3 |"
    )
    python = options.torch_python or sys.executable
    ours, bare = p50(lambda: look(python), 10), p50(lambda: bare_start(python), 10)
    print(
        f"| with another interpreter | {ours * 1e3:.1f} ms | {bare * 1e3:.1f} ms its bare start and "
        f"one listing | {ours / bare:.2f} | 1.6 |"
    )
    ours = p50(cold([options.command, "doctor"]), 7)
    if options.torch_python:
        bare = p50(cold([options.torch_python, "-m", "torch.utils.collect_env"]), 3)
        print(
            f"| cold `perfcite doctor` | {ours * 1e3:.0f} ms | {bare * 1e3:.0f} ms collect_env | "
            f"1/{bare / ours:.1f} | 1/10 |"
        )
    else:
        print(f"| cold `perfcite doctor` | {ours * 1e3:.0f} ms | not measured: no torch | | 1/10 |")


if __name__ == "__main__":
    main()
