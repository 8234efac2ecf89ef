"""Every copy of one tool: which one a shell runs, its version, and whether a copy works at all.

Finding a file proves nothing (a wrapper of a removed package is found too), so each copy is run for
its version. Judging is pure and works on what `inspect` brought back.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...evidence.redaction import redact
from ..command import Completed
from ..system import System
from . import version_cache
from .tool_places import FileHead, is_bundled, read_head, version_key

DEADLINE_S = 5.0
_BROKEN = re.compile(
    r"No such file or directory|: not found|command not found|is not found under|is not installed"
    r"|cannot open shared object file|Unsupported Architecture|cannot execute",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Tool:
    """A tool and how it tells its version. `version` matches the version, `build` a longer form."""

    name: str
    arguments: tuple[str, ...] | None  # None: it has no harmless way to tell
    version: str = r"version:?\s+v?(\d+(?:\.\d+)+)"
    build: str | None = None
    platforms: tuple[str, ...] = ("linux", "windows")
    compiler: bool = False  # several toolkits side by side are normal


@dataclass
class Copy:
    """One copy. `usable` None: it runs, but did not say what was expected."""

    path: str
    shown: str
    on_path: bool
    head: FileHead
    version: str | None = None
    build: str | None = None
    usable: bool | None = None
    wrong_machine: bool = False
    dangling: bool = False
    why: str | None = None  # `command: line` for a copy that does not work
    done: Completed | None = field(default=None, repr=False)


def find(system: System, name: str, extra: Sequence[str]) -> list[Copy]:
    """Find the copies, PATH first; one file reached by two names is one copy."""
    on_path = {os.path.realpath(d) for d in system.environ.get("PATH", "").split(os.pathsep) if d}
    found: dict[str, Copy] = {}
    dangling = _dangling(system, name)
    for path in [*system.programs(name, extra), *dangling]:
        copy = Copy(
            path,
            redact(system.shown(path)),
            os.path.realpath(os.path.dirname(path)) in on_path,
            read_head(path),
        )
        if path in dangling:
            copy.usable, copy.dangling = False, True
            target = system.link_target(system.shown(path))
            copy.why = f"{copy.shown}: a link to {redact(target)}, which is not there"
        found.setdefault(os.path.realpath(path), copy)
    copies = [c for c in found.values() if not is_bundled(c.shown)]
    # Only where nothing else is found does the copy inside another tool's package count.
    return copies or list(found.values())


def _dangling(system: System, name: str) -> list[str]:
    """Find links on PATH whose target is gone: a shell skips them, a user sees them listed."""
    directories = [d for d in system.environ.get("PATH", "").split(os.pathsep) if d]
    paths = [os.path.join(d, name) for d in directories]
    return [p for p in paths if os.path.islink(p) and not os.path.exists(system.placed(p))]


async def inspect(system: System, tool: Tool, copy: Copy) -> None:
    """Run one copy for its version."""
    if copy.usable is False or tool.arguments is None:
        return
    done = await version_cache.ask(system, [copy.path, *tool.arguments], DEADLINE_S)
    take(tool, copy, done)


def take(tool: Tool, copy: Copy, done: Completed) -> None:
    """Read version and health from how a copy ran."""
    copy.done = done
    command = " ".join([copy.shown, *(tool.arguments or ())])
    copy.version = _first(tool.version, done.output)
    copy.build = _first(tool.build, done.output) if tool.build else None
    if done.outcome == "wrong_format":
        copy.usable, copy.wrong_machine = False, True
        machine = f" for {copy.head.machine}" if copy.head.machine else ""
        copy.why = f"{copy.shown}: Exec format error, a program{machine}"
        return
    broken = _BROKEN.search(done.output) if copy.version is None else None
    if done.outcome in ("bad_interpreter", "not_found", "not_permitted", "not_started"):
        copy.usable, copy.why = False, f"{command}: {done.error or done.ending()}"
    elif done.outcome == "timed_out" or done.signal is not None:
        copy.usable, copy.why = False, f"{command}: {done.ending()}"
    elif broken or done.returncode in (126, 127):
        line = _line_with(done.output, broken.group() if broken else "") or done.ending()
        copy.usable, copy.why = False, f"{command}: {redact(line)[:200]}"
    elif copy.version is not None or done.returncode == 0 or "==ERROR==" in done.output:
        copy.usable = True  # ncu complains in this form only once it runs


def first_on_path(copies: Sequence[Copy]) -> Copy | None:
    """Give the copy that a shell would run."""
    return next((c for c in copies if c.on_path and not c.dangling), None)


def chosen(copies: Sequence[Copy]) -> Copy | None:
    """Give the copy to use: the one on PATH where it works, else the first that does, else any."""
    first = first_on_path(copies)
    if first is not None and first.usable is not False:
        return first
    return next((c for c in copies if c.usable is not False), None) or next(iter(copies), None)


def newer_than(copy: Copy, others: Sequence[Copy]) -> list[Copy]:
    """Give the other copies that work and are of a later version."""
    if copy.version is None:
        return []
    return [
        o
        for o in others
        if o is not copy
        and o.usable is not False
        and o.version is not None
        and version_key(o.version) > version_key(copy.version)
    ]


def _first(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text, re.IGNORECASE)
    return found.group(1) if found else None


def _line_with(text: str, part: str) -> str | None:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if part in line), None)
