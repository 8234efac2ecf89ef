"""Which Python would really run the engine: the path, who chose it, and why.

The one given; else that of a running engine; else the first line of `vllm` or `sglang` on PATH; else
an active environment; else `.venv` in the working directory; else none. Our own interpreter never
answers for the engine, and no link is resolved: behind its link a virtual environment is lost.
"""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..system import System
from . import engine_processes, site_packages
from .engine_processes import EngineProcess

ChosenBy = Literal["argument", "process", "command", "environment", "working directory"]
_COMMANDS = ("vllm", "sglang", "trtllm-serve")
# pip writes this where the interpreter's path is too long or holds a space
_LONG_PATH = re.compile(r"""^'''exec' (?:"([^"]+)"|(\S+)) """, re.MULTILINE)


@dataclass(frozen=True)
class Choice:
    """`path` is on this host, ready to run; None where no interpreter was given or found."""

    path: str | None
    chosen_by: ChosenBy | None
    why: str
    problem: str | None = None  # why a given path cannot be run at all
    processes: tuple[EngineProcess, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """An interpreter of this host that an engine may be run with."""

    path: str
    chosen_by: ChosenBy
    why: str


def choose(system: System, python: str | None) -> Choice:
    """Choose by the order above; a given interpreter is taken whatever it is."""
    processes = tuple(engine_processes.find(system))
    if python:
        path, problem = resolve(system, python)
        return Choice(path, "argument", "given as python=", problem, processes)
    for candidate in candidates(system, processes):
        return Choice(candidate.path, candidate.chosen_by, candidate.why, processes=processes)
    return Choice(
        None,
        None,
        "no engine runs, no vllm or sglang command, no active environment and no .venv here",
        processes=processes,
    )


def candidates(system: System, processes: tuple[EngineProcess, ...]) -> Iterator[Candidate]:
    """Give every interpreter that could be meant, the likeliest first."""
    for process in processes:
        if process.python and system.exists(process.python):
            why = f"a running {process.engine} uses it"
            yield Candidate(system.real(process.python), "process", why)
    for command in _COMMANDS:
        for copy in system.programs(command)[:1]:
            if found := _from_first_line(system, copy):
                why = f"{system.shown(copy)} starts it"
                yield Candidate(found, "command", why)
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        directory = system.environ.get(variable)
        if directory and (found := _of_engine(system, directory)):
            yield Candidate(found, "environment", f"{variable} is set")
    if found := _of_engine(system, os.path.join(system.cwd, ".venv")):
        yield Candidate(found, "working directory", ".venv in the working directory")


def _of_engine(system: System, directory: str) -> str | None:
    """Give an environment's interpreter; our own environment counts only where an engine is in it.

    Tool runners start us in an environment of our own and set VIRTUAL_ENV to it.
    """
    place = system.real(directory)
    own = system.live and os.path.realpath(place) == os.path.realpath(sys.prefix)
    if own and not any(site_packages.engines(place)):
        return None
    found = inside(system, place)
    # a link out of a sysroot would start this host's interpreter in place of the machine's
    theirs = found is not None and system.placed(found) != found and os.path.exists(found)
    return None if theirs else found


def inside(system: System, directory: str) -> str | None:
    """Give the interpreter of an environment's directory (a path of this host)."""
    windows = system.platform == "windows"
    names = ("Scripts/python.exe", "python.exe") if windows else ("bin/python", "bin/python3")
    paths = [os.path.join(directory, *name.split("/")) for name in names]
    # a dangling link is an environment too, and a broken one is worth saying
    return next((p for p in paths if os.path.lexists(p)), None)


def resolve(system: System, python: str) -> tuple[str, str | None]:
    """Turn what was given into a path to run: a file, an environment's directory or a command.

    The second of the pair says why it is none of these.
    """
    home = system.environ.get("HOME", "~")
    given = re.sub(r"^~(?=/|$)", lambda _: home, python)
    if not {"/", os.sep, "\\" if system.platform == "windows" else os.sep} & set(given):
        copies = system.programs(given)
        if copies:
            return copies[0], None
    path = os.path.join(system.cwd, given)
    if os.path.isdir(path):
        found = inside(system, path)
        return (found, None) if found else (path, _why_not(path, "a directory without bin/python"))
    return path, None if os.path.lexists(path) else _why_not(path, "no such file")


def _why_not(path: str, otherwise: str) -> str:
    """Say which folder keeps us out, where one does: a file behind it is not an absent one."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    if os.access(folder, os.X_OK):
        return otherwise
    return f"no permission: this user may not look into {folder}"


def _from_first_line(system: System, script: str) -> str | None:
    """Read the interpreter of a console script, as a path of this host."""
    try:
        with open(script, "rb") as file:
            head = file.read(1024).decode("utf-8", "replace")
    except OSError:
        return None
    if not head.startswith("#!"):
        return _beside(system, script)
    words = head[2:].partition("\n")[0].split()
    if not words:
        return None
    if os.path.basename(words[0]) == "env":
        names = [w for w in words[1:] if not w.startswith("-") and "=" not in w]
        copies = system.programs(names[0]) if names and "python" in names[0] else []
        return copies[0] if copies else None
    if "python" in os.path.basename(words[0]) or "pypy" in os.path.basename(words[0]):
        return system.real(words[0])
    found = _LONG_PATH.search(head)
    return system.real(found[1] or found[2]) if found else None


def _beside(system: System, program: str) -> str | None:
    """On Windows a console script is a program; its interpreter lies in the same directory."""
    if system.platform != "windows":
        return None
    path = os.path.join(os.path.dirname(program), "python.exe")
    return path if os.path.exists(path) else None
