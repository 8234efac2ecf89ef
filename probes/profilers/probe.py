"""Run each profiler on a tiny program of ours and judge it by what it measured."""

import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from ...evidence.errors import InputError, NextCall
from ...evidence.payloads import ProfilerResult
from ...evidence.records import one_line
from .. import command
from ..system import System
from . import PROFILERS
from .failures import Surroundings, explain, telling_lines
from .outcome import ProbeOutcome, assemble
from .profiler import Bench, Capture, Profiler
from .programs import Engine, Trial, try_family

Tell = Callable[[float, float | None, str], Awaitable[None]]
_VERSION_TIMEOUT_S = 20.0


async def probe(
    system: System,
    *,
    profilers: Sequence[str] | None = None,
    python: str | None = None,
    timeout_s: float = 300,
    where: Surroundings | None = None,
    refuse_python: bool = False,
    tell: Tell,
) -> ProbeOutcome:
    """Probe the named profilers, or all that exist here; `timeout_s` is each step's deadline.

    A failed capture is a result, never an error, and so is a `python` that cannot be run, unless
    `refuse_python`: a probe within a doctor must not cost the rest.

    Raises:
        InputError: a name is no profiler, or `python` is refused.
    """
    chosen = choose(profilers)
    engine = interpreter(system, python)
    if engine is not None and engine.problem and refuse_python:
        raise InputError(f"python: {python}: {engine.problem}", then=NextCall("doctor"))
    where = where or surroundings(system)
    named = engine.path if engine is not None and not engine.problem else None
    beside = [p for p in (named, _own_interpreter(system)) if p]
    copies = {p.name: _copies(p, system, beside) for p in chosen}
    results: dict[str, ProfilerResult] = {}
    trials: dict[str, Trial] = {}
    for profiler in chosen:
        if not copies[profiler.name] and (profilers is not None):
            results[profiler.name] = _not_installed(profiler, system)
    present = [p for p in chosen if copies[p.name]]
    with command.private_scratch(system.scratch) as scratch:
        for number, profiler in enumerate(present):
            await tell(number, len(present), f"probing {profiler.name}")
            if profiler.family not in trials:
                trials[profiler.family] = await _trial(
                    profiler, system, _folder(scratch, profiler.family), engine, timeout_s
                )
            results[profiler.name] = await _one(
                profiler,
                copies[profiler.name],
                trials[profiler.family],
                system,
                _folder(scratch, profiler.name),
                timeout_s,
                where,
            )
    await tell(len(present), len(present), "probed")
    absent = [p.name for p in chosen if not copies[p.name]]
    return assemble(chosen, results, trials, absent)


def choose(names: Sequence[str] | None) -> list[Profiler]:
    """Pick profilers by name or alias, each once; all when none is named."""
    if names is None:
        return list(PROFILERS)
    known = {alias: p for p in PROFILERS for alias in (p.name, *p.aliases)}
    chosen: dict[str, Profiler] = {}
    for name in names:
        found = known.get(name.strip().lower())
        if found is None:
            raise InputError(
                f"profilers: no profiler {name[:40]!r}; known are {', '.join(p.name for p in PROFILERS)}",
                then=NextCall("profiler_probe"),
            )
        chosen[found.name] = found
    if not chosen:
        raise InputError(
            f"profilers: name at least one of {', '.join(p.name for p in PROFILERS)}",
            then=NextCall("profiler_probe"),
        )
    return list(chosen.values())


def interpreter(system: System, given: str | None) -> Engine | None:
    """Resolve a given interpreter by doctor's own rule: a file, an environment or a command."""
    if not given:
        return None
    from ..doctor.interpreter import resolve

    return Engine(*resolve(system, given))


def surroundings(system: System) -> Surroundings:
    """Say where this runs, as far as advice depends on it."""
    from ..doctor import host

    here = host.read(system)
    return Surroundings(container=here.container == "yes", wsl=here.wsl, root=here.euid == 0)


def _folder(scratch: Path, name: str) -> Path:
    folder = scratch / name
    folder.mkdir(mode=0o700)
    return folder


def _own_interpreter(system: System) -> str | None:
    return sys.executable if system.live else None


def _copies(profiler: Profiler, system: System, beside: Sequence[str]) -> list[str]:
    if system.platform not in profiler.platforms:
        return []
    return profiler.copies(system, beside)


async def _trial(
    profiler: Profiler, system: System, scratch: Path, engine: Engine | None, timeout_s: float
) -> Trial:
    other = _other_vendor(system) if profiler.family == "cuda" else None
    if other:
        return Trial(None, (f"not applicable: the GPU here is from {other}",))
    return await try_family(profiler.family, system, scratch, engine, timeout_s)


def _other_vendor(system: System) -> str | None:
    if system.platform == "darwin":
        return "Apple"
    # libcuda makes /dev/nvidiactl when root asks it for a GPU that is not there
    nvidia = any(re.fullmatch(r"nvidia\d+", n) for n in system.names("/dev"))
    nvidia = nvidia or any(map(system.exists, ("/dev/dxg", "/proc/driver/nvidia/version")))
    return "AMD" if system.exists("/dev/kfd") and not nvidia else None


async def _one(
    profiler: Profiler,
    copies: Sequence[str],
    trial: Trial,
    system: System,
    scratch: Path,
    timeout_s: float,
    where: Surroundings,
) -> ProfilerResult:
    path = copies[0]
    shown = system.shown(path)
    # A hanging copy must not cost the whole deadline just for its version.
    asked = await command.run(
        [path, *profiler.version_argv],
        timeout_s=min(timeout_s, _VERSION_TIMEOUT_S),
        env=command.probe_environment(system.environ, scratch),
        cwd=system.cwd,
        scratch=scratch,
    )
    version = profiler.version(asked.output)
    if version is None:
        return _broken(profiler, shown, asked, where)
    if trial.program is None:
        return ProfilerResult(
            ran=False,
            capture_ok=None,
            error=one_line(trial.why_not, 300),
            cause=trial.cause,
            version=version,
            path=shown,
        )
    bench = Bench(path, trial.program, scratch, timeout_s, system.environ, system.cwd)
    capture = await profiler.capture(bench)
    return judge(profiler, capture, version, shown, where)


def judge(
    profiler: Profiler, capture: Capture, version: str | None, path: str, where: Surroundings
) -> ProfilerResult:
    """Turn a capture into a result: ok only with a measurement of our own kernel or function."""
    step = capture.step
    common: dict[str, Any] = {
        "ran": step.outcome in ("exited", "timed_out", "output_limit"),
        "returncode": step.returncode,
        "seconds": step.seconds,
        "version": version,
        "path": path,
    }
    if capture.measured is not None:
        return ProfilerResult(capture_ok=True, captured=dict(capture.measured), **common)
    known = explain(profiler.name, capture.text)
    if step.outcome != "exited" or step.signal:
        problem = step.ending()
    else:
        problem = capture.problem or step.ending()
    error = telling_lines(capture.text)
    return ProfilerResult(
        capture_ok=False,
        error=one_line(f"{problem}: {error}" if error else problem, 300),
        cause=known.cause if known else _cause(step.outcome, problem),
        fix=known.advice(where) if known else None,
        **common,
    )


def _cause(outcome: str, problem: str) -> str:
    if outcome == "timed_out":
        return "it did not end before its deadline and was killed"
    return f"no known line explains it: {problem}"


def _broken(
    profiler: Profiler, path: str, asked: command.Completed, where: Surroundings
) -> ProfilerResult:
    known = explain(profiler.name, asked.output)
    error = telling_lines(asked.output)
    late = asked.outcome == "timed_out"
    ending = f"timed out after {asked.seconds:.2g} s" if late else asked.ending()
    cause, fix = (
        f"a broken copy: {path} does not tell its version",
        f"reinstall it: {profiler.install}",
    )
    if late:
        cause = f"{path} did not tell its version before its deadline"
        fix = "allow a step more time (timeout_s); where it hangs all the same, reinstall it"
    return ProfilerResult(
        ran=False,
        capture_ok=None,
        error=one_line(f"{ending}{': ' + error if error else ''}", 300),
        cause=known.cause if known else cause,
        fix=known.advice(where) if known else fix,
        returncode=asked.returncode,
        seconds=asked.seconds,
        path=path,
    )


def _not_installed(profiler: Profiler, system: System) -> ProfilerResult:
    if system.platform not in profiler.platforms:
        return ProfilerResult(
            ran=False,
            capture_ok=None,
            error="not available",
            cause=f"{profiler.name} does not exist for {system.platform}",
        )
    return ProfilerResult(
        ran=False,
        capture_ok=None,
        error="not installed",
        cause=f"no {profiler.name} on PATH or in the folders where it is usually installed",
        fix=profiler.install,
    )
