"""Fork writers and kill each with SIGKILL at a random moment; print every acknowledged id.

Usage: killed_writers.py STORE TRIALS. A process of its own: forking inside a test runner is not safe.
"""

import os
import random
import select
import signal
import sys
import time

from perfcite.evidence.store import Store
from tests.evidence.test_store import make


def trial(root: str, pause_s: float) -> list[str]:
    """Let one child save records until it is killed; give the ids whose save had returned."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        store = Store.open(root)
        while True:
            os.write(writing, store.save(make()).evidence_id.encode() + b"\n")
    os.close(writing)
    select.select([reading], [], [], 10)  # the first record is there: now somewhere after it
    time.sleep(pause_s)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    told = b""
    while chunk := os.read(reading, 65536):
        told += chunk
    os.close(reading)
    return [line for line in told.decode().split("\n") if len(line) == 19]


if __name__ == "__main__":
    draw = random.Random(0)
    for _ in range(int(sys.argv[2])):
        for identifier in trial(sys.argv[1], draw.uniform(0, 0.02)):
            print(identifier)
