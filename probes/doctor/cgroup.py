"""Limits of the control group: CPU quota, throttling, memory, cpuset, in versions 1, 2 and hybrid.

A limit may stand on the leaf or on any parent, and the path in /proc/self/cgroup counts from the
root of the mount, which in a container is not the top. "No limit" is `max` in version 2, -1 for the
quota and a number near 2^63 for memory in version 1. Source:
https://docs.kernel.org/admin-guide/cgroup-v2.html and …/cgroup-v1/; cgroups(7), mountinfo(5).
"""

import posixpath
import re
from dataclasses import dataclass, field
from typing import Literal

from ..system import System
from . import cpu_list

_TOP = "/sys/fs/cgroup"
# Page counters of version 1 start at 2^63 less a page, whatever its size.
_NO_LIMIT = 1 << 60
_QUOTA = re.compile(r"(?:max|-1|\d+)(?: [1-9]\d*)?")
_MEMORY = re.compile(r"max|-1|\d+")


@dataclass(frozen=True)
class Limits:
    """What binds this process. None: no limit found; `readable` says whether one could have been."""

    version: Literal["v1", "v1-hybrid", "v2"] | None = None
    cpu_quota: float | None = None  # CPUs
    cpu_quota_file: str | None = None
    periods: int | None = None
    throttled: int | None = None
    memory_bytes: int | None = None
    memory_file: str | None = None
    cpuset: frozenset[int] | None = None
    cpuset_file: str | None = None
    cpu_unread: str | None = None  # why a limit that is there could not be read: a state's reason
    memory_unread: str | None = None


@dataclass(frozen=True)
class _Groups:
    version: Literal["v1", "v1-hybrid", "v2"] | None
    paths: dict[str, str]  # controller -> path; "" is the unified hierarchy
    mounts: dict[str, tuple[str, str]] = field(default_factory=dict)  # controller -> (root, point)


def read(system: System) -> Limits:
    """Read every limit that this process is under."""
    groups = _groups(system)
    quota, quota_file, cpu_unread = _quota(system, groups)
    stat = _cpu_stat(system, groups, quota_file)
    memory, memory_file, memory_unread = _memory(system, groups)
    cpus, cpus_file = _cpuset(system, groups)
    return Limits(
        version=groups.version,
        cpu_quota=quota,
        cpu_quota_file=quota_file,
        periods=stat.get("nr_periods"),
        throttled=stat.get("nr_throttled"),
        memory_bytes=memory,
        memory_file=memory_file,
        cpuset=cpus,
        cpuset_file=cpus_file,
        cpu_unread=cpu_unread,
        memory_unread=memory_unread,
    )


def _groups(system: System) -> _Groups:
    text = system.read("/proc/self/cgroup")
    if text is None:
        unified = any(
            system.exists(f"{_TOP}/{name}")
            for name in ("cgroup.controllers", "cpu.max", "cpuset.cpus.effective")
        )
        return _Groups("v2" if unified else None, {"": "/"} if unified else {})
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        names, colon, path = rest.partition(":")
        if colon:
            paths |= dict.fromkeys(names.split(",") if names else [""], path)
    numbered = any(name for name in paths)
    # "0::" stands beside numbered hierarchies in hybrid mode, where it has no cpu.max
    version: Literal["v1", "v1-hybrid", "v2"] | None = None
    if paths:
        version = ("v1-hybrid" if "" in paths else "v1") if numbered else "v2"
    return _Groups(version, paths, _mounts(system.read("/proc/self/mountinfo") or ""))


def _mounts(mountinfo: str) -> dict[str, tuple[str, str]]:
    mounts: dict[str, tuple[str, str]] = {}
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, tail = left.split(), right.split()
        if len(fields) < 5 or len(tail) < 3:
            continue
        if tail[0] == "cgroup2":
            mounts[""] = (fields[3], fields[4])
        elif tail[0] == "cgroup":
            mounts |= dict.fromkeys(tail[2].split(","), (fields[3], fields[4]))
    return mounts


def _chain(groups: _Groups, controller: str) -> tuple[list[str], bool]:
    """Give the directories from the leaf to the mount point, and whether they are version 2."""
    second = controller not in groups.paths
    key = "" if second else controller
    if key not in groups.paths:
        return [], second
    unified = _TOP if groups.version == "v2" else f"{_TOP}/unified"
    root, point = groups.mounts.get(key, ("/", unified if second else f"{_TOP}/{controller}"))
    path = groups.paths[key]
    if root != "/" and (path == root or path.startswith(root.rstrip("/") + "/")):
        path = path[len(root.rstrip("/")) :]
    inner = posixpath.normpath("/" + path).strip("/")  # "/../x": outside of our namespace's root
    parts = inner.split("/") if inner else []
    return [posixpath.join(point, *parts[:n]) for n in range(len(parts), -1, -1)], second


def _quota(system: System, groups: _Groups) -> tuple[float | None, str | None, str | None]:
    best: tuple[float | None, str | None] = (None, None)
    unread: str | None = None
    directories, second = _chain(groups, "cpu")
    for directory in directories:
        name = f"{directory}/{'cpu.max' if second else 'cpu.cfs_quota_us'}"
        words = (system.word(name) or "").split()
        unread = unread or _unread(system, name, words, _QUOTA)
        if not second and words:
            words += [system.word(f"{directory}/cpu.cfs_period_us") or "100000"]
        cpus = _ratio(words)
        if cpus is not None and (best[0] is None or cpus < best[0]):
            best = (cpus, name)
    return *best, unread


def _unread(system: System, name: str, words: list[str], known: re.Pattern[str]) -> str | None:
    """Say why a limit's file tells nothing; None where it does, or where there is none."""
    if words:
        return None if known.fullmatch(" ".join(words)) else f"parse_error: {name}"
    if not system.lexists(name):
        return None
    refused = system.why_unreadable(name) == "no_permission"
    return "no_permission" if refused else f"parse_error: {name} is empty"


def _ratio(words: list[str]) -> float | None:
    """Read `quota period` in microseconds; `max` and -1 mean no limit."""
    if not words or not words[0].isdigit() or int(words[0]) <= 0:
        return None
    period = int(words[1]) if len(words) > 1 and words[1].isdigit() else 100_000
    return int(words[0]) / period if period else None


def _cpu_stat(system: System, groups: _Groups, quota_file: str | None) -> dict[str, int]:
    directories, _ = _chain(groups, "cpu")
    if quota_file:
        directories = [posixpath.dirname(quota_file)]
    for directory in directories:
        text = system.read(f"{directory}/cpu.stat")
        if text is not None:
            pairs = (line.split() for line in text.splitlines())
            return {p[0]: int(p[1]) for p in pairs if len(p) == 2 and p[1].isdigit()}
    return {}


def _memory(system: System, groups: _Groups) -> tuple[int | None, str | None, str | None]:
    best: tuple[int | None, str | None] = (None, None)
    unread: str | None = None
    directories, second = _chain(groups, "memory")
    for directory in directories:
        name = f"{directory}/{'memory.max' if second else 'memory.limit_in_bytes'}"
        word = system.word(name) or ""
        unread = unread or _unread(system, name, word.split(), _MEMORY)
        if word.isdigit() and int(word) < _NO_LIMIT and (best[0] is None or int(word) < best[0]):
            best = (int(word), name)
    return *best, unread


def _cpuset(system: System, groups: _Groups) -> tuple[frozenset[int] | None, str | None]:
    directories, second = _chain(groups, "cpuset")
    names = ("cpuset.cpus.effective",) if second else ("cpuset.effective_cpus", "cpuset.cpus")
    for directory in directories:
        for name in names:
            cpus = cpu_list.parse(system.word(f"{directory}/{name}"))
            if cpus:
                return cpus, f"{directory}/{name}"
    return None, None
