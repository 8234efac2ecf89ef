"""Room for evidence, and whether programs may be started from the temporary directory."""

import os

from ...evidence.payloads import Fix
from ..system import System
from .section import Section, unknown

_LITTLE = 2 << 30  # a trace of a minute's work can take more than a gigabyte


def examine(system: System, section: Section) -> None:
    """Add the room for the store and the options of the temporary directory's mount."""
    _room(system, section)
    if system.platform == "linux":
        _temporary(system, section)


def _room(system: System, section: Section) -> None:
    free = _free_bytes(_store(system)) if system.live else None
    section.facts["host"]["store_free_bytes"] = unknown("not_readable") if free is None else free
    if free is None or free >= _LITTLE:
        return
    section.find(
        "host.disk_low",
        "warning",
        f"{free / (1 << 30):.1f} GiB are left where evidence is kept: a capture may not fit",
        evidence=[f"statvfs: {free} bytes available"],
        affects=("running",),
        fix=Fix(
            summary="keep evidence elsewhere, or drop old artifacts (records stay)",
            commands=("export PERFCITE_STORE=DIR", "perfcite prune"),
            verify="df -h .",
        ),
    )


def _store(system: System) -> str:
    chosen = system.environ.get("PERFCITE_STORE", "")
    if chosen and "://" not in chosen:
        return chosen
    data = system.environ.get("XDG_DATA_HOME") or os.path.join(
        system.environ.get("HOME") or os.path.expanduser("~"), ".local", "share"
    )
    return os.path.join(data, "perfcite")


def _free_bytes(path: str) -> int | None:
    while not os.path.exists(path):  # the store is made when the first record is kept
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent
    try:
        if hasattr(os, "statvfs"):
            status = os.statvfs(path)
            return status.f_bavail * status.f_frsize
        import shutil

        return shutil.disk_usage(path).free
    except OSError:
        return None


def mount_options(mountinfo: str, path: str) -> tuple[str, list[str]] | None:
    """Give mount point and options of the mount that holds `path`: the longest, of equals the last."""
    best: tuple[str, list[str]] | None = None
    for line in mountinfo.splitlines():
        fields = line.partition(" - ")[0].split()
        if len(fields) < 6:
            continue
        point = fields[4].replace("\\040", " ")
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and (best is None or len(point) >= len(best[0])):
            best = (point, fields[5].split(","))
    return best


def _temporary(system: System, section: Section) -> None:
    path = system.environ.get("TMPDIR") or "/tmp"
    mount = mount_options(system.read("/proc/self/mountinfo") or "", path)
    noexec = None if mount is None else "noexec" in mount[1]
    section.facts["host"]["tmp_noexec"] = unknown("not_readable") if noexec is None else noexec
    if not mount or not noexec:
        return
    section.find(
        "host.tmp_noexec",
        "warning",
        f"{path} is mounted noexec: profilers that put libraries or programs there fail. "
        "Set TMPDIR to a directory without it",
        evidence=[f"/proc/self/mountinfo: {mount[0]} {','.join(mount[1])}"],
        affects=("profiling", "running"),
        fix=Fix(
            summary="use a temporary directory from which programs may run",
            commands=('mkdir -p "$HOME/tmp" && export TMPDIR="$HOME/tmp"',),
            verify='findmnt -no OPTIONS -T "$TMPDIR"',
        ),
    )
