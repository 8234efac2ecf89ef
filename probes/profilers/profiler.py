"""What a profiler is to us: where it lies, how it is run on a test program, how success is judged."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .. import command
from ..command import Completed
from ..system import System

Family = Literal["cpu", "cuda"]


@dataclass(frozen=True)
class Program:
    """A test program that ran bare and was right: what to run, and the name to look for."""

    argv: tuple[str, ...]
    look_for: str


@dataclass(frozen=True)
class Bench:
    """Where one capture happens: the profiler's copy, the program, a private folder, a deadline."""

    path: str
    program: Program
    scratch: Path
    timeout_s: float
    environ: Mapping[str, str]
    cwd: str

    async def run(self, argv: Sequence[str], timeout_s: float | None = None) -> Completed:
        """Run one step in the private folder, which is also HOME and TMPDIR."""
        return await command.run(
            argv,
            timeout_s=timeout_s or self.timeout_s,
            env=command.probe_environment(self.environ, self.scratch),
            cwd=self.cwd,
            scratch=self.scratch,
        )


@dataclass(frozen=True)
class Capture:
    """What a capture gave: the decisive step, all its text, and what was measured, if anything."""

    step: Completed
    measured: Mapping[str, Any] | None
    text: str = ""
    problem: str | None = None  # why nothing was measured, where no known line says it


@dataclass(frozen=True)
class Profiler:
    """One profiler. `capture` runs it; it never raises for the profiler's failure."""

    name: str
    family: Family
    version_argv: tuple[str, ...]
    version: Callable[[str], str | None]
    capture: Callable[[Bench], Awaitable[Capture]]
    install: str
    aliases: tuple[str, ...] = ()
    directories: tuple[str, ...] = field(default=())
    platforms: tuple[str, ...] = ("linux", "darwin", "windows")

    def copies(self, system: System, beside: Sequence[str] = ()) -> list[str]:
        """Give every copy, the one that a shell would run first; `beside` are interpreters."""
        folders = [str(Path(python).parent) for python in beside]
        extra = [d for pattern in self.directories for d in _matches(system, pattern)]
        found = system.programs(self.name, extra)
        for folder in folders:
            candidate = str(Path(folder) / self.name)
            if Path(candidate).is_file() and candidate not in found:
                found.append(candidate)
        return found


def _matches(system: System, pattern: str) -> list[str]:
    """Expand `*` in a folder pattern of the machine, newest version last becoming first."""
    found = [""]
    for part in pattern.strip("/").split("/"):
        if "*" in part:
            head = part.split("*")[0]
            found = [
                f"{base}/{name}"
                for base in found
                for name in reversed(system.names(base or "/"))
                if name.startswith(head)
            ]
        else:
            found = [f"{base}/{part}" for base in found]
    return [f for f in found if system.is_dir(f)]
