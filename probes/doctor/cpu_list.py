"""The kernel's CPU lists, such as `0-3,8`: cpuset(7), List format."""

import re
from itertools import groupby

_MOST = 1 << 16


def parse(text: str | None) -> frozenset[int] | None:
    """Read a list; None where there is none or it is not one. An empty list is an empty set."""
    if text is None:
        return None
    numbers: set[int] = set()
    for part in (p.strip() for p in text.strip().split(",") if p.strip()):
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if not found or int(found[2] or 0) - int(found[1]) > _MOST:
            return None
        numbers.update(range(int(found[1]), int(found[2] or found[1]) + 1))
    return frozenset(numbers)


def show(numbers: frozenset[int]) -> str:
    """Write a set of CPUs as the kernel does."""
    runs = []
    for _, group in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        runs.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return ",".join(runs)
