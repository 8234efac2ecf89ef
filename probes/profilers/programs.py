"""The test programs, one a family, each run bare first: where it fails, no profiler can succeed."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import command
from ..command import Completed
from ..system import System
from .profiler import Family, Program

FOLDER = Path(__file__).parent / "programs"
_TIMED_OUT = "timed out after"
BURN_S = 1.5  # py-spy needs more than a second to see past interpreter start-up


@dataclass(frozen=True)
class Engine:
    """The interpreter that a caller named; `problem` says why it cannot be run, where that is known."""

    path: str
    problem: str | None = None


@dataclass(frozen=True)
class Trial:
    """The bare run of a family's program, through its fallbacks."""

    program: Program | None
    attempts: tuple[str, ...] = field(default=())
    device: str | None = None
    instead: bool = False  # it runs, though not in the interpreter that was named

    @property
    def why_not(self) -> str:
        """The chained reasons of all fallbacks."""
        return "; ".join(self.attempts)

    @property
    def cause(self) -> str:
        """The one thing behind those reasons, where they show it."""
        text = self.why_not
        if text.startswith("not applicable"):
            return text
        if "no CUDA driver library" in text:
            return "no NVIDIA driver here"
        if "CUDA_ERROR_NO_DEVICE" in text or "no CUDA device" in text:
            return "no CUDA device here"
        if _TIMED_OUT in text:
            return (
                "the test program timed out: the deadline of a step (timeout_s) is too short for it"
            )
        return "the test program does not run here, so no profiler of it can succeed"


async def try_family(
    family: Family, system: System, scratch: Path, engine: Engine | None, timeout_s: float
) -> Trial:
    """Run a family's program bare; the first that checks its own result is the one."""
    if family == "cpu":
        return await _try_cpu(system, scratch, engine, timeout_s)
    return await _try_cuda(system, scratch, engine, timeout_s)


async def _try_cpu(system: System, scratch: Path, engine: Engine | None, timeout_s: float) -> Trial:
    """Run it in the interpreter that was named; in our own where that one does not run it."""
    attempts: list[str] = []
    pythons = [*([engine.path] if engine else []), sys.executable]
    for python in dict.fromkeys(pythons):
        if engine and engine.problem and python == engine.path:
            attempts.append(f"the CPU test program: {system.shown(python)}: {engine.problem}")
            continue
        argv = (python, "-I", str(FOLDER / "perfcite_burn.py"), str(BURN_S))
        answer, why = await _bare(argv, system, scratch, timeout_s)
        if answer is not None:
            program = Program(argv, str(answer["function"]))
            return Trial(program, tuple(attempts), instead=bool(attempts))
        attempts.append(f"the CPU test program: {why}")
    return Trial(None, tuple(dict.fromkeys(attempts)))


async def _try_cuda(
    system: System, scratch: Path, engine: Engine | None, timeout_s: float
) -> Trial:
    attempts: list[str] = []
    driver = str(FOLDER / "perfcite_cuda_driver.py")
    kernel = str(FOLDER / "perfcite_probe_kernel.ptx")
    routes: list[tuple[str, tuple[str, ...]]] = [
        ("driver API", (sys.executable, "-I", driver, kernel))
    ]
    if engine and engine.problem:
        attempts.append(f"torch: {system.shown(engine.path)}: {engine.problem}")
    elif engine:
        torch = str(FOLDER / "perfcite_cuda_torch.py")
        routes.append(("torch", (engine.path, "-I", torch)))
    else:
        attempts.append("torch: no interpreter was given (python=)")
    for name, argv in routes:
        answer, why = await _bare(argv, system, scratch, timeout_s)
        if answer is not None:
            return Trial(Program(argv, str(answer["kernel"])), device=answer.get("device"))
        attempts.insert(len(attempts) if name == "torch" else 0, f"{name}: {why}")
    return await _try_nvcc(system, scratch, timeout_s, attempts)


async def _try_nvcc(system: System, scratch: Path, timeout_s: float, attempts: list[str]) -> Trial:
    compilers = system.programs("nvcc", ("/usr/local/cuda/bin",))
    if not compilers:
        return Trial(None, (*attempts, "nvcc: not installed"))
    target = scratch / "perfcite_probe_kernel"
    source = str(FOLDER / "perfcite_probe_kernel.cu")
    compiled = await _run((compilers[0], "-o", str(target), source), system, scratch, timeout_s)
    if compiled.outcome == "timed_out":
        return Trial(None, (*attempts, f"nvcc: {_TIMED_OUT} {compiled.seconds:.2g} s"))
    if not target.exists():
        last = (compiled.output.strip().splitlines() or [compiled.ending()])[-1]
        return Trial(None, (*attempts, f"nvcc: {last}"))
    answer, why = await _bare((str(target),), system, scratch, timeout_s)
    if answer is None:
        return Trial(None, (*attempts, f"nvcc: {why}"))
    return Trial(Program((str(target),), str(answer["kernel"])))


async def _bare(
    argv: tuple[str, ...], system: System, scratch: Path, timeout_s: float
) -> tuple[Mapping[str, Any] | None, str]:
    completed = await _run(argv, system, scratch, timeout_s)
    answer = last_json(completed.stdout)
    if answer is not None and answer.get("ok") is True and completed.ok:
        return answer, ""
    return None, reason(answer, completed)


async def _run(argv: tuple[str, ...], system: System, scratch: Path, timeout_s: float) -> Completed:
    return await command.run(
        argv,
        timeout_s=timeout_s,
        env=command.probe_environment(system.environ, scratch),
        cwd=system.cwd,
        scratch=scratch,
    )


def last_json(text: str) -> Mapping[str, Any] | None:
    """Read the last line that is a JSON object; a library may have printed before it."""
    for line in reversed(text.splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return None


def reason(answer: Mapping[str, Any] | None, completed: Completed) -> str:
    """Say why a bare run does not count."""
    if completed.outcome == "timed_out":
        return f"{_TIMED_OUT} {completed.seconds:.2g} s"
    if answer is None:
        last = (completed.output.strip().splitlines() or [""])[-1]
        return f"{completed.ending()}{': ' + last if last else ''}"[:200]
    code = f" {answer['code']}" if answer.get("code") else ""
    return f"{answer.get('stage', 'program')}{code} {answer.get('error', 'failed')}"[:200]
