"""The one door to other programs: every child process of perfcite is started here.

No shell; standard input closed; a session of its own, so that a time-out, a cancelled request or the
death of the server kills the whole tree; output to bounded temporary files, because a grandchild can
hold a pipe open for ever. Exit status is evidence, not proof: `Completed` reports, callers judge.

A process that leaves its session (an nsys agent does) is found by a mark in its environment, so
nothing started here survives. Linux reads the mark from /proc; elsewhere the tree is walked by parent.
"""

import contextlib
import errno
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Literal

import anyio
from anyio.abc import Process

from ..evidence.records import Frozen
from ..evidence.redaction import is_secret_name

Outcome = Literal[
    "exited",  # ran to its end; returncode or signal says how
    "timed_out",  # killed at its deadline
    "output_limit",  # killed because it wrote more than it may
    "not_found",  # no such file
    "bad_interpreter",  # the file is there, what its first line names is not
    "not_permitted",  # not executable, or a directory
    "wrong_format",  # not a program for this machine
    "not_started",  # anything else the operating system said
]

OUTPUT_LIMIT = 4 * 1024 * 1024
KEEP_LIMIT = 64 * 1024
MARK = "PERFCITE_CHILD"
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_POLL_S = 0.1
_PREFIX = "perfcite-"
_STALE_S = 86_400
_live: dict[int, str] = {}  # process-group leader -> mark, for the signal handler
_scratch: set[Path] = set()  # private folders in use, for the signal handler


class Completed(Frozen):
    """What one child process did. Text is UTF-8 with replacements, without ANSI codes, and bounded."""

    argv: tuple[str, ...]
    outcome: Outcome
    returncode: int | None
    signal: str | None = None
    stdout: str
    stderr: str
    truncated: bool = False
    seconds: float
    error: str | None = None

    @property
    def ok(self) -> bool:
        """The process ended by itself with status 0, which proves nothing about what it made."""
        return self.outcome == "exited" and self.returncode == 0

    @property
    def output(self) -> str:
        """Both streams, for tools that say important things on either."""
        return self.stdout + ("\n" if self.stdout and self.stderr else "") + self.stderr

    def ending(self) -> str:
        """Say in words how it ended."""
        if self.outcome == "exited":
            return f"killed by {self.signal}" if self.signal else f"exit status {self.returncode}"
        if self.outcome == "timed_out":
            return f"no answer in {self.seconds:.0f} s"
        return self.error or self.outcome.replace("_", " ")


async def run(
    argv: Sequence[str],
    *,
    timeout_s: float,
    env: Mapping[str, str],
    cwd: str | Path | None = None,
    output_limit: int = OUTPUT_LIMIT,
    keep: int = KEEP_LIMIT,
    scratch: Path | None = None,
    grace_s: float = 0.0,
    sweep: bool = True,
) -> Completed:
    """Run one program to its end, its deadline (seconds) or cancellation; never raise for its failure.

    `env` is the whole environment (`probe_environment` and `caller_environment` make one). `scratch`
    is where its output files lie meanwhile. `keep` characters of each stream are kept, the head and
    the tail. With `grace_s` it is asked to stop by SIGTERM that long before SIGKILL. Without `sweep`
    a program that ends by itself is not searched for strays that left its session, which costs a
    look at every process.
    """
    started = time.monotonic()
    with _output_files(scratch) as (out, err):
        try:
            async with _child(argv, env, cwd, out, err, grace_s, sweep) as process:
                outcome = await _wait(process, started + timeout_s, (out, err), output_limit)
                status = process.returncode
        except OSError as error:
            return _not_started(argv, error, time.monotonic() - started)
        seconds = time.monotonic() - started
        stdout, cut_out = _read(out, keep)
        stderr, cut_err = _read(err, keep)
    killed = outcome != "exited"
    return Completed(
        argv=tuple(argv),
        outcome=outcome,
        returncode=None if killed else status,
        signal=_signal_name(status) if not killed else None,
        stdout=stdout,
        stderr=stderr,
        truncated=cut_out or cut_err,
        seconds=seconds,
        error="wrote more than it may" if outcome == "output_limit" else None,
    )


def probe_environment(base: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """Give a probe's environment: the caller's, in the C locale, with private HOME and TMPDIR."""
    env = {k: v for k, v in base.items() if not is_secret_name(k)}
    env |= {"LC_ALL": "C", "LANG": "C", "HOME": str(scratch), "TMPDIR": str(scratch)}
    env |= {"XDG_CACHE_HOME": str(scratch), "XDG_CONFIG_HOME": str(scratch)}
    return env


def caller_environment(
    base: Mapping[str, str], scratch: Path, pass_env: Sequence[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Give the environment of a caller's own command and the names of the secrets left out."""
    dropped = sorted(k for k in base if is_secret_name(k) and k not in pass_env)
    env = {k: v for k, v in base.items() if k not in dropped}
    return env | {"TMPDIR": str(scratch)}, dropped


@contextmanager
def private_scratch(parent: Path | None = None) -> Iterator[Path]:
    """Make a directory that only we can read and remove it with all that was left in it.

    `parent` (the store's scratch folder) is used where it can be written, else the system's own.
    """
    try:
        if parent is not None:
            _make_private(parent)
            _remove_stale(parent)
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    except OSError:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
    _scratch.add(path)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        _scratch.discard(path)


def _make_private(folder: Path) -> None:
    """Make a folder and its missing parents for their owner only."""
    for missing in reversed([f for f in (folder, *folder.parents) if not f.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


def _remove_stale(parent: Path) -> None:
    """Remove what a process that was killed left a day ago or more."""
    for left in parent.glob(_PREFIX + "*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_S:
                shutil.rmtree(left, ignore_errors=True)


def kill_all() -> None:
    """Kill every child tree at once. Safe in a signal handler: no locks, no event loop."""
    for leader, mark in list(_live.items()):
        _kill_tree(leader, mark, _KILL)
    for folder in list(_scratch):
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def _child(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | Path | None,
    out: IO[bytes],
    err: IO[bytes],
    grace_s: float,
    sweep: bool,
) -> AsyncIterator[Process]:
    mark = secrets.token_hex(8)
    process = await anyio.open_process(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        env={**env, MARK: mark},
        cwd=cwd,
        start_new_session=os.name == "posix",
    )
    _live[process.pid] = mark
    try:
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None and grace_s:
                _signal_group(process.pid, signal.SIGTERM)
                with anyio.move_on_after(grace_s):
                    await process.wait()
            # Also after a normal end: what the program left in the background is ours to end.
            if process.returncode is None or sweep:
                _kill_tree(process.pid, mark, _KILL)
            else:
                _signal_group(process.pid, _KILL)
            with anyio.move_on_after(1.0):  # in D state not even SIGKILL is heard
                await process.wait()
            _live.pop(process.pid, None)
            if process.returncode is not None:
                await process.aclose()


_KILL = signal.SIGKILL if os.name == "posix" else signal.SIGTERM


async def _wait(
    process: Process, deadline: float, files: Sequence[IO[bytes]], limit: int
) -> Literal["exited", "timed_out", "output_limit"]:
    pause = 0.01
    while True:
        remaining = deadline - time.monotonic()
        with anyio.move_on_after(max(0.0, min(pause, remaining))):
            await process.wait()
        if process.returncode is not None:
            return "exited"
        if any(os.fstat(f.fileno()).st_size > limit for f in files):
            return "output_limit"
        if time.monotonic() >= deadline:
            return "timed_out"
        pause = min(pause * 2, _POLL_S)


def _kill_tree(leader: int, mark: str, number: signal.Signals) -> None:
    """Signal a group, its descendants and all that carries its mark, until nothing does; 1 s at most."""
    if sys.platform != "linux":
        _signal_group(leader, number)
        _kill_descendants(leader)
        return
    deadline, clean = time.monotonic() + 1.0, 0
    doomed: set[int] = set()
    while clean < 2 and time.monotonic() < deadline:
        # By parent for what cleared its environment, by mark for what lost its parent.
        strays = {leader, *doomed} & _alive()
        strays = _descendants(strays) | set(_marked(mark))
        strays.discard(leader)
        doomed |= strays
        _signal_group(leader, number)
        for pid in strays:
            _signal_one(pid, number)
        # Twice: a process shows no environment for a moment while it executes another program.
        clean = 0 if strays else clean + 1
        time.sleep(0.002)


def _alive() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def _descendants(roots: set[int]) -> set[int]:
    """Everything that was started by the roots, as far as the parents are still there."""
    parents: dict[int, list[int]] = {}
    for pid in _alive():
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if fields[0] != b"Z":
            parents.setdefault(int(fields[1]), []).append(pid)
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        for child in parents.get(waiting.pop(), []):
            if child not in found and child != os.getpid():
                found.add(child)
                waiting.append(child)
    return found


def _marked(mark: str) -> Iterator[int]:
    wanted = f"{MARK}={mark}".encode()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    environ = file.read()
            except OSError:
                continue
            if wanted in environ.split(b"\0"):
                yield int(name)


def _kill_descendants(leader: int) -> None:
    import psutil  # only where there is no /proc: importing it costs 40 ms

    try:
        for child in psutil.Process(leader).children(recursive=True):
            child.kill()
        psutil.Process(leader).kill()
    except psutil.Error:
        return


def _signal_group(leader: int, number: signal.Signals) -> None:
    try:
        if os.name == "posix":
            os.killpg(leader, number)
        else:
            os.kill(leader, number)
    except (ProcessLookupError, PermissionError):
        return


def _signal_one(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


@contextmanager
def _output_files(scratch: Path | None) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    with tempfile.TemporaryFile(dir=scratch) as out, tempfile.TemporaryFile(dir=scratch) as err:
        yield out, err


def _read(file: IO[bytes], keep: int) -> tuple[str, bool]:
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    if size <= keep:
        return clean(file.read()), False
    head = file.read(keep // 2)
    file.seek(-(keep // 2), os.SEEK_END)
    return clean(head) + "\n[…]\n" + clean(file.read()), True


def clean(raw: bytes) -> str:
    """Decode as UTF-8 with replacements and remove ANSI codes, NULs and carriage returns."""
    text = _ANSI.sub("", raw.decode("utf-8", "replace"))
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _signal_name(status: int | None) -> str | None:
    if status is None or status >= 0:
        return None
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _not_started(argv: Sequence[str], error: OSError, seconds: float) -> Completed:
    """Tell apart the four ways in which a file on PATH is not a program."""
    path = Path(argv[0])
    outcome: Outcome = "not_started"
    why = error.strerror or str(error)
    if error.errno == errno.ENOENT:
        missing = _interpreter(path)
        if path.exists() and missing:
            outcome, why = "bad_interpreter", f"its interpreter {missing} is not there"
        elif path.is_symlink() and not path.exists():
            outcome, why = "not_found", f"a link to {os.readlink(path)}, which is not there"
        else:
            outcome = "not_found"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EISDIR):
        outcome = "not_permitted"
        why = "it is a directory" if path.is_dir() else why
    elif error.errno == errno.ENOEXEC:
        outcome, why = "wrong_format", "not a program for this machine (Exec format error)"
    return Completed(
        argv=tuple(argv),
        outcome=outcome,
        returncode=None,
        stdout="",
        stderr="",
        seconds=seconds,
        error=why,
    )


def _interpreter(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return None
    if first.startswith(b"#!"):
        return first[2:].decode("utf-8", "replace").split()[0] if first[2:].split() else None
    return "(its dynamic loader)" if first.startswith(b"\x7fELF") else None
