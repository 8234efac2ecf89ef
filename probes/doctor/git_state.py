"""The commit of the caller's working directory, and whether tracked files differ from it.

As `git describe --dirty` does, files that git does not track are left out of "dirty". Nothing in the
repository is written (no refresh of the index) and no file-system monitor of its configuration starts.
Source: git-status(1), porcelain format version 2.
"""

import os
import re

from ..system import System
from .section import Section, unknown

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_COMMAND = ("-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "-uno")


async def examine(system: System) -> Section:
    """Add `git` {commit, dirty} where a live working directory lies in a repository."""
    section = Section()
    if not system.live or repository(system.cwd) is None:
        return section
    commit, dirty = None, None
    git = system.on_path("git")
    if git:
        done = await system.run([git, *_COMMAND], env={"GIT_OPTIONAL_LOCKS": "0"})
        if done.ok:
            commit, dirty = parse_status(done.stdout)
    commit = commit or commit_from_files(system)  # git refuses a repository of another user
    if commit:
        known = unknown("git gave no answer") if dirty is None else dirty
        section.facts["git"] = {"commit": commit, "dirty": known}
    return section


def parse_status(output: str) -> tuple[str | None, bool | None]:
    """Read the commit and whether any tracked file changed."""
    found = re.search(r"^# branch\.oid (\w+)$", output, re.MULTILINE)
    commit = found[1] if found and _SHA.fullmatch(found[1]) else None
    changed = any(line and not line.startswith("#") for line in output.splitlines())
    return commit, changed if commit else None


def repository(directory: str) -> str | None:
    """Find `.git` in a directory or above it; a file there names the real place (worktrees)."""
    while True:
        path = os.path.join(directory, ".git")
        if os.path.isdir(path):
            return path
        text = _read(path)
        if text and text.startswith("gitdir:"):
            return os.path.join(directory, text.partition(":")[2].strip())
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def commit_from_files(system: System) -> str | None:
    """Read HEAD without git: a commit, or a branch that is a file or a line of packed-refs."""
    place = repository(system.cwd) if system.live else None
    if place is None:
        return None
    head = (_read(os.path.join(place, "HEAD")) or "").strip()
    common = (_read(os.path.join(place, "commondir")) or ".").strip()
    places = (place, os.path.normpath(os.path.join(place, common)))
    if not head.startswith("ref:"):
        return head if _SHA.fullmatch(head) else None
    name = head.partition(":")[2].strip()
    for directory in places:
        commit = (_read(os.path.join(directory, *name.split("/"))) or "").strip()
        if _SHA.fullmatch(commit):
            return commit
        packed = _read(os.path.join(directory, "packed-refs")) or ""
        if found := re.search(rf"^(\w+) {re.escape(name)}$", packed, re.MULTILINE):
            return found[1]
    return None


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except OSError:
        return None
