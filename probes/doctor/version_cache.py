"""What a tool said of its version, kept by the file that said it: path, size and time of change.

Only native programs of the running machine are kept. A script says nothing of what it starts, which may
be gone, so it is run each time. Kept in this process and, where the store is a folder, in
`cache/tools.json` in it: disposable, ignored where it is not ours or not what it should be, and never
read for more than the version text.
"""

import json
import os
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..command import Completed
from ..system import System
from .tool_places import read_head

_NATIVE = ("elf", "macho", "pe")
_MOST_TEXT = 4096  # characters; ncu prints its licence before its version
_MOST_TOOLS = 64
_MOST_BYTES = 512 * 1024
_known: dict[str, str] = {}
_loaded: set[Path] = set()
_unsaved: set[str] = set()


async def ask(system: System, argv: Sequence[str], timeout_s: float = 5.0) -> Completed:
    """Run a command that prints a version, or give what this very file printed before."""
    key = _key(system, argv)
    if key is None:
        return await system.run(argv, timeout_s=timeout_s)
    _load(system)
    if key in _known:
        return Completed(
            argv=tuple(argv),
            outcome="exited",
            returncode=0,
            stdout=_known[key],
            stderr="",
            seconds=0.0,
        )
    done = await system.run(argv, timeout_s=timeout_s)
    if done.ok and done.output.strip() and len(done.output) <= _MOST_TEXT:
        _known[key] = done.output
        _unsaved.add(key)
    return done


def save(system: System) -> None:
    """Keep what was learned for the next process; where that cannot be, nothing is lost."""
    place = _place(system)
    if place is None or not _unsaved:
        return
    kept = dict(list(_known.items())[-_MOST_TOOLS:])
    with suppress(OSError):
        place.parent.mkdir(mode=0o700, exist_ok=True)
        number, name = tempfile.mkstemp(prefix=".tools-", dir=place.parent)
        try:
            with open(number, "w", encoding="utf-8") as file:
                json.dump(kept, file)
            os.replace(name, place)
        except OSError:
            os.unlink(name)
            raise
        _unsaved.clear()


def _key(system: System, argv: Sequence[str]) -> str | None:
    """Name the file behind a path, and the question; None: not to be kept."""
    if not system.live or read_head(argv[0]).kind not in _NATIVE:
        return None
    try:
        real = os.path.realpath(argv[0])
        status = os.stat(real)
    except OSError:
        return None
    return json.dumps([*argv, real, status.st_size, status.st_mtime_ns])


def _place(system: System) -> Path | None:
    """The scratch folder lies in the store's; without one the store is no folder that we may write."""
    store = system.scratch.parent if system.live and system.scratch else None
    return store / "cache" / "tools.json" if store is not None and store.is_dir() else None


def _load(system: System) -> None:
    place = _place(system)
    if place is None or place in _loaded:
        return
    _loaded.add(place)
    with suppress(OSError, ValueError):
        with place.open("rb") as file:
            if not _ours(os.fstat(file.fileno())):
                return
            document = json.loads(file.read(_MOST_BYTES))
        for key, text in document.items() if isinstance(document, dict) else ():
            if isinstance(text, str) and len(text) <= _MOST_TEXT:
                _known.setdefault(key, text)


def _ours(status: os.stat_result) -> bool:
    if os.name != "posix":
        return True
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == os.geteuid() and not shared
