"""Burn processor time in one function with a known name and check its result.

Usage: perfcite_burn.py SECONDS. Prints one JSON line. On Linux the thread takes the function's name, so
that a profiler which knows no Python can still find it by name.
"""

import json
import sys
import time

NAME = "perfcite_hot"  # at most 15 characters: the kernel's limit for a thread's name


def perfcite_hot(seconds):
    """Sum a fixed series over and over; every pass must give the same sum."""
    passes, wrong = 0, 0
    until = time.process_time() + seconds
    while time.process_time() < until:
        total = 0
        for i in range(20000):
            total += i * i % 7
        passes += 1
        wrong += total != 39998
    return passes, wrong


def take_name():
    """Name this thread as the function (prctl PR_SET_NAME)."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(15, NAME.encode(), 0, 0, 0)
    except (OSError, AttributeError, ImportError):
        return


if __name__ == "__main__":
    if sys.platform.startswith("linux"):
        take_name()
    done, bad = perfcite_hot(float(sys.argv[1]))
    print(json.dumps({"ok": done > 0 and bad == 0, "function": NAME, "passes": done}))
    sys.exit(0 if done > 0 and bad == 0 else 4)
