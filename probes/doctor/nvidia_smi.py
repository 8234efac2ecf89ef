"""Ask nvidia-smi: every copy of it, in two rounds, each question with its own deadline.

First `-q -x`, which holds everything, and `--version`. Only where neither that nor NVML named a GPU
follow the narrower questions, for a release or wrapper that answers only some of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from ...evidence.redaction import redact
from ..command import Completed
from ..system import System
from .nvidia_reading import MIB, Process, Reading, complete, same_bus
from .nvidia_smi_lines import APPS_QUERY, QUERY, parse_apps, parse_output

DEADLINE_S = 3.5
_KEPT = 4 * MIB
_WSL = "/usr/lib/wsl/lib"
_COPIES = 3
_FIRST = (("-q", "-x"), ("--version",))
_NARROW: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("-L",), ()),
    (("--query-gpu=driver_version", "--format=csv,noheader"), ("driver_version",)),
    ((f"--query-gpu={','.join(QUERY)}", "--format=csv"), QUERY),
    ((), ()),
)
_APPS = (f"--query-compute-apps={','.join(APPS_QUERY)}", "--format=csv")


@dataclass
class Copy:
    """One nvidia-smi and what it answered."""

    path: str
    shown: str
    reading: Reading
    answered: bool = False
    endings: list[str] = field(default_factory=list)
    hung: bool = False
    crashed: str | None = None
    failures: list[str] = field(default_factory=list)  # queries that ended badly, and how
    succeeded: bool = False  # a query ended well, whatever it printed


@dataclass
class Answers:
    """All copies, as PATH has them first; `best` is the first that answered anything."""

    copies: list[Copy] = field(default_factory=list)

    @property
    def best(self) -> Copy | None:
        """The copy to believe: the first with an answer, else the first."""
        return next((c for c in self.copies if c.answered), None) or next(iter(self.copies), None)


def find(system: System) -> list[str]:
    """Find the copies: PATH, the usual directories, and WSL's own."""
    return system.programs("nvidia-smi", (_WSL,))[:_COPIES]


async def ask(system: System, paths: Sequence[str]) -> Answers:
    """Ask every copy the first questions, all at the same time."""
    copies = [Copy(p, redact(system.shown(p)), Reading("nvidia-smi")) for p in paths]
    async with anyio.create_task_group() as group:
        for copy in copies:
            group.start_soon(_first_round, system, copy)
    return Answers(copies)


async def ask_more(system: System, answers: Answers) -> None:
    """Ask the narrow questions, of the first copy that neither failed nor named a GPU."""
    for copy in answers.copies:
        if copy.hung or copy.crashed is not None or copy.reading.problem is not None:
            continue
        if not copy.reading.gpus:
            await _second_round(system, copy)
        if copy.answered:
            return


def settle(answers: Answers) -> None:
    """A copy that failed at all it was asked, in words that nobody knows, has failed all the same."""
    for copy in answers.copies:
        if copy.answered or copy.succeeded or copy.hung or copy.crashed or copy.reading.problem:
            continue
        if copy.failures:
            copy.reading.problem, copy.reading.line = "failed", copy.failures[0]


async def _first_round(system: System, copy: Copy) -> None:
    done: dict[tuple[str, ...], Completed] = {}

    async def one(arguments: tuple[str, ...]) -> None:
        done[arguments] = await _run(system, copy, arguments)

    async with anyio.create_task_group() as group:
        for arguments in _FIRST:
            group.start_soon(one, arguments)
    for arguments in _FIRST:
        _take(copy, arguments, done[arguments])


async def _second_round(system: System, copy: Copy) -> None:
    done: dict[tuple[str, ...], Completed] = {}

    async def one(arguments: tuple[str, ...]) -> None:
        done[arguments] = await _run(system, copy, arguments)

    async with anyio.create_task_group() as group:
        for arguments, _ in _NARROW:
            group.start_soon(one, arguments)
        group.start_soon(one, _APPS)
    for arguments, columns in _NARROW:
        _take(copy, arguments, done[arguments], columns)
    _take_apps(copy, done[_APPS])


async def _run(system: System, copy: Copy, arguments: tuple[str, ...]) -> Completed:
    return await system.run([copy.path, *arguments], timeout_s=DEADLINE_S, keep=_KEPT)


def _take(
    copy: Copy, arguments: tuple[str, ...], done: Completed, columns: Sequence[str] = ()
) -> None:
    """Read one answer into the copy's reading."""
    command = " ".join(["nvidia-smi", *(a.split("=")[0] for a in arguments)])
    if done.outcome == "timed_out":
        copy.hung = True
        copy.endings.append(f"{command}: {done.ending()}")
        return
    if done.signal is not None:
        copy.crashed = done.signal
        copy.endings.append(f"{command}: {done.ending()}")
        return
    if done.outcome != "exited":
        copy.reading.problem = copy.reading.problem or "failed"
        copy.reading.line = copy.reading.line or f"{copy.shown}: {done.ending()}"
        return
    if done.returncode:
        first = next((x.strip() for x in done.output.splitlines() if x.strip()), "no output")
        copy.failures.append(f"{command}: {redact(first)[:160]} ({done.ending()})")
    else:
        copy.succeeded = True
    found = parse_output(done.output, done.returncode, command, columns)
    reading = copy.reading
    reading.problem = reading.problem or found.problem
    reading.line = reading.line or found.line
    reading.lost.extend(line for line in found.lost if line not in reading.lost)
    complete(reading, found)
    if reading.gpus or reading.driver or reading.smi_version:
        copy.answered = True


def _take_apps(copy: Copy, done: Completed) -> None:
    """Give each process to its GPU; a list that was answered and is empty is a list."""
    gpus = copy.reading.gpus or []
    apps: list[tuple[str | None, Process]] | None = parse_apps(done.stdout) if done.ok else None
    if apps is None or not gpus:
        return
    for gpu in gpus:
        if gpu.processes is None:
            gpu.processes = [
                p
                for bus, p in apps
                if len(gpus) == 1 or (bus and gpu.bus_id and same_bus(bus, gpu.bus_id))
            ]
