"""Running inference engines: which interpreter runs each, with what flags and environment names.

A process's executable link names the base interpreter behind a virtual environment, so argv[0] is
preferred: it is the path that the engine was started with. Flag values pass the redaction function;
of the environment only names are taken. Source: proc_pid_cmdline(5), proc_pid_environ(5).
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...evidence.redaction import redact
from ..system import System
from .environment import telling_names

_MOST = 8
_FLAGS_SHOWN = 40
# What stands after `-m`, or the base name of the script or program that was started.
_ENGINES = (
    ("vllm", re.compile(r"vllm(?:\..+)?")),
    ("sglang", re.compile(r"sglang(?:\..+)?|sglang_router.*")),
    ("tensorrt_llm", re.compile(r"trtllm-(?:serve|llmapi-launch)|tensorrt_llm(?:\..+)?")),
    ("mlx_lm", re.compile(r"mlx_lm(?:\..+)?")),
    ("llama_cpp", re.compile(r"llama-(?:server|cli|bench)(?:\.exe)?|llama_cpp\.server")),
)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*(?:t|d)?(?:\.exe)?")


@dataclass(frozen=True)
class EngineProcess:
    """One running engine. `python` is a path of the machine; None for a native program."""

    pid: int
    engine: str
    python: str | None
    arguments: tuple[str, ...]
    env_names: tuple[str, ...] | None

    def fact(self) -> dict[str, Any]:
        """Give what the record keeps; the process id stays out, for it differs in every record."""
        kept = [os.path.basename(self.arguments[0]), *self.arguments[1:_FLAGS_SHOWN]]
        names = None if self.env_names is None else list(self.env_names)
        return {"engine": self.engine, "arguments": redact(kept), "env_names": names}


def find(system: System) -> list[EngineProcess]:
    """List running engines by process id, oldest first, eight at most."""
    if system.platform != "linux":
        return []
    own = {str(os.getpid()), str(os.getppid())} if system.live else set()
    found = []
    for pid in sorted((n for n in system.names("/proc") if n.isdigit() and n not in own), key=int):
        raw = system.read(f"/proc/{pid}/cmdline")
        if raw and (process := _process(system, pid, raw.rstrip("\0").split("\0"))):
            found.append(process)
            if len(found) == _MOST:
                break
    return found


def _process(system: System, pid: str, argv: Sequence[str]) -> EngineProcess | None:
    engine = engine_of(argv)
    if engine is None or _elsewhere(system, pid):
        return None
    python = None
    if _PYTHON.fullmatch(os.path.basename(argv[0])):
        # a bare `python` was found on a PATH that is not ours
        python = argv[0] if argv[0].startswith("/") else system.link_target(f"/proc/{pid}/exe")
    environ = system.read(f"/proc/{pid}/environ")
    names = None
    if environ is not None:
        names = tuple(telling_names(e.partition("=")[0] for e in environ.split("\0") if e))
    return EngineProcess(int(pid), engine, python, tuple(argv), names)


def _elsewhere(system: System, pid: str) -> bool:
    """Whether the process sees other files than we do (another container): its paths are not ours."""
    ours, theirs = (system.link_target(f"/proc/{p}/ns/mnt") for p in ("self", pid))
    return ours is not None and theirs is not None and ours != theirs


def engine_of(argv: Sequence[str]) -> str | None:
    """Name the engine that a command line starts; None where it only speaks of one."""
    program = os.path.basename(argv[0]) if argv else ""
    if not _PYTHON.fullmatch(program):
        return _named(program)
    rest = list(argv[1:])
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        # -X and -W take a value of their own
        rest = rest[2:] if rest[0] in ("-X", "-W") else rest[1:]
    if not rest or rest[0] == "-c":
        return None
    if rest[0] == "-m":
        return _named(rest[1]) if len(rest) > 1 else None
    return _named(os.path.basename(rest[0]))


def _named(name: str) -> str | None:
    return next((engine for engine, pattern in _ENGINES if pattern.fullmatch(name)), None)
