"""The vendor tools on this machine (nvcc, nsys, ncu, rocprofv3, hipcc, xcrun): every copy, which one runs, versions.

nvidia-smi is not among them: nvidia.py runs it anyway and names its copy. What nsys says about CPU
sampling is read here too, since it depends on which nsys runs.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from ...evidence.payloads import Fix
from ..command import Completed
from ..system import System
from .host import Host
from .section import Section, absent, unknown
from .tool_copies import Copy, Tool, chosen, find, first_on_path, inspect, newer_than
from .tool_places import directories, is_toolkit

TOOLS = (
    Tool(
        "nvcc",
        ("--version",),
        r"release (\d+\.\d+)",
        build=r"\bV(\d+\.\d+\.\d+)",
        compiler=True,
    ),
    Tool("nsys", ("--version",)),
    Tool("ncu", ("--version",), build=r"\(build (\d+)\)"),
    Tool("rocprofv3", ("--version",)),
    Tool("rocprofv2", ("--version",)),
    Tool("rocprof", ("--version",)),
    Tool("amd-smi", ("version",), r"AMDSMI Tool:\s*(\d+(?:\.\d+)+)"),
    Tool("rocm-smi", ("--version",)),
    Tool("rocminfo", None),
    Tool("hipcc", ("--version",), r"HIP version:\s*(\d+(?:\.\d+)+)", compiler=True),
    Tool("xcrun", ("--version",), r"version (\d+(?:\.\d+)*)", platforms=("darwin",)),
)
_XCTRACE = Tool("xctrace", ("xctrace", "version"), r"xctrace version (\S+ \([^)]+\)|\S+)")
# Version calls are light, but several of them start Python: leave the machine room to breathe.
_AT_ONCE = 4


async def examine(system: System, host: Host) -> Section:
    """Find and run the tools of this platform, judge each, and read what nsys says of the CPU."""
    section = Section()
    tools = [t for t in TOOLS if system.platform in t.platforms]
    if system.platform == "darwin" and not await _has_developer_directory(system):
        # Without one, Apple's stub of xcrun opens an installation dialogue.
        tools = []
    places = directories(system)
    copies = {tool.name: find(system, tool.name, places) for tool in tools}
    status = await _run_all(system, tools, copies)
    facts: dict[str, Any] = {name: _facts(found) for name, found in copies.items()}
    if copies.get("xcrun"):
        facts["xctrace"] = await _xctrace(system, copies["xcrun"][0])
    section.facts["tools"] = facts
    for tool in tools:
        judge(tool, copies[tool.name], section)
    if status is not None:
        _judge_nsys(status, section, live=system.live)
    return section


async def _run_all(
    system: System, tools: Sequence[Tool], copies: Mapping[str, Sequence[Copy]]
) -> Completed | None:
    """Run every copy for its version, and the nsys that is used for its view of the CPU."""
    limiter = anyio.CapacityLimiter(_AT_ONCE)
    statuses: list[Completed] = []

    async def one(tool: Tool, copy: Copy) -> None:
        async with limiter:
            await inspect(system, tool, copy)

    async def each(tool: Tool) -> None:
        async with anyio.create_task_group() as inner:
            for copy in copies[tool.name]:
                inner.start_soon(one, tool, copy)
        best = chosen(copies[tool.name])
        if tool.name == "nsys" and system.platform == "linux" and best and best.usable is not False:
            async with limiter:
                statuses.append(await system.run([best.path, "status", "-e"], timeout_s=5.0))

    async with anyio.create_task_group() as group:
        for tool in tools:
            group.start_soon(each, tool)
    return statuses[0] if statuses else None


def _facts(copies: Sequence[Copy]) -> Any:
    copy = chosen(copies)
    if copy is None:
        return absent()
    facts: dict[str, Any] = {
        "path": copy.shown,
        "version": copy.version or unknown(_why_no_version(copy)),
        "usable": unknown("not_run" if copy.done is None else "unclear")
        if copy.usable is None
        else copy.usable,
        "on_path": copy.on_path,
        "kind": copy.head.kind,
    }
    if copy.build:
        facts["build"] = copy.build
    if copy.head.machine:
        facts["machine"] = copy.head.machine
    if len(copies) > 1:
        facts["copies"] = [
            {"path": c.shown, "version": c.version, "on_path": c.on_path} for c in copies
        ]
    return facts


def _why_no_version(copy: Copy) -> str:
    if copy.done is None:
        return "not_supported" if copy.usable is None else "crashed"
    if copy.done.outcome == "timed_out":
        return "timeout"
    return "crashed" if copy.usable is False else "parse_error"


def judge(tool: Tool, copies: Sequence[Copy], section: Section) -> None:
    """Say which copy runs where that is not the one that should. Pure."""
    first, best = first_on_path(copies), chosen(copies)
    for copy in copies:
        if copy.usable is False and (copy.on_path or copy is best):
            _judge_broken(tool, copy, section)
    if best is None:
        return
    if first is not None and first.usable is False and best.usable is not False:
        section.find(
            "tool.wrong_copy",
            "error",
            f"the {tool.name} that a shell runs, {first.shown}, does not work; {best.shown} does",
            evidence=[first.why or first.shown, _told(best)],
            affects=("profiling", "running"),
            fix=_path_fix(tool, best),
        )
    elif first is None and best.usable is not False:
        section.find(
            "tool.hidden",
            "note",
            f"{tool.name} is installed but not on PATH: {best.shown}",
            evidence=[_told(best)],
            affects=("profiling",),
            fix=_path_fix(tool, best),
        )
    elif first is not None:
        _judge_versions(tool, first, copies, section)


def _judge_versions(tool: Tool, first: Copy, copies: Sequence[Copy], section: Section) -> None:
    """An older copy in front shadows a newer one; a toolkit chosen on purpose is only worth a note."""
    working = [c for c in copies if c.usable is not False and c.version is not None]
    versions = {c.version for c in working}
    if first.version is None or len(versions) < 2:
        return
    newer = newer_than(first, copies)
    on_purpose = not newer or (tool.compiler and is_toolkit(first.shown))
    section.find(
        "tool.duplicates",
        "note" if on_purpose else "warning",
        f"{len(versions)} versions of {tool.name} are installed; a shell runs {first.version} "
        f"({first.shown})"
        + (f", and {newer[0].version} ({newer[0].shown}) is newer" if newer else ""),
        evidence=[_told(c) for c in working[:6]],
        affects=("profiling", "comparison"),
        fix=_path_fix(tool, newer[0]) if newer else None,
    )


def _judge_broken(tool: Tool, copy: Copy, section: Section) -> None:
    if copy.wrong_machine:
        section.find(
            "tool.wrong_arch",
            "warning",
            f"{tool.name} ({copy.shown}) is a program for another kind of machine",
            evidence=[copy.why or copy.shown],
            affects=("profiling",),
            fix=Fix(
                summary=f"install the {tool.name} of this machine's architecture",
                commands=(f"file {copy.shown}", "uname -m"),
                verify=f"{tool.name} {' '.join(tool.arguments or ())}".strip(),
            ),
        )
        return
    section.find(
        "tool.broken_wrapper",
        "error",
        f"{tool.name} ({copy.shown}) is found but does not run",
        evidence=[copy.why or copy.shown],
        affects=("profiling",),
        fix=Fix(
            summary=f"install what it starts again, or remove {copy.shown}",
            commands=(f"ls -l {copy.shown}",),
            verify=f"{tool.name} {' '.join(tool.arguments or ())}".strip(),
        ),
    )


def _told(copy: Copy) -> str:
    return f"{copy.shown}: {copy.version or 'no version told'}"


def _path_fix(tool: Tool, copy: Copy) -> Fix:
    directory = os.path.dirname(copy.shown)
    return Fix(
        summary=f"put {directory} first on PATH, or call {copy.shown} by its full path",
        commands=(f"export PATH={directory}:$PATH",),
        verify=f"{copy.shown} {' '.join(tool.arguments or ())}".strip(),
    )


async def _has_developer_directory(system: System) -> bool:
    path = system.on_path("xcode-select") or "/usr/bin/xcode-select"
    return (await system.run([path, "-p"], timeout_s=2.0)).ok


async def _xctrace(system: System, xcrun: Copy) -> Any:
    done = await system.run([xcrun.path, *(_XCTRACE.arguments or ())], timeout_s=5.0)
    found = re.search(_XCTRACE.version, done.output)
    if found:
        return {"version": found.group(1), "usable": True}
    return absent("needs Xcode, not only its command line tools")


def _judge_nsys(done: Completed, section: Section, *, live: bool) -> None:
    sampling, failing = read_nsys_status(done)
    section.facts["nsys"] = {"cpu_sampling": sampling}
    if not live:  # it asked the kernel that runs, which is another machine's
        section.facts["nsys"]["asked"] = "the running kernel"
    if sampling != "denied":
        return
    section.find(
        "nsys.cpu_sampling_denied",
        "limitation",
        "nsys may not sample the CPU here, and with its defaults a run can fail or lose its "
        "backtraces: give it --sample=none --cpuctxsw=none; CUDA timelines do not need it",
        evidence=[f"nsys status -e: {line}" for line in failing[:6]],
        affects=("profiling",),
        fix=Fix(
            summary="trace without CPU sampling (perf_event_paranoid at most 2, or CAP_PERFMON, "
            "would allow it)",
            commands=("nsys profile --sample=none --cpuctxsw=none …",),
            verify="nsys status -e",
        ),
    )


def read_nsys_status(done: Completed) -> tuple[Any, list[str]]:
    """Read `nsys status -e`, which exits 0 whatever it found: (fact, failing lines).

    The line for the process tree decides (older releases have one line for all); a failure of the
    system-wide check alone denies nothing that a profile of one program needs.
    """
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    failing = [line for line in lines if re.search(r":\s*Fail\b", line)]
    verdicts = [
        line
        for line in lines
        if re.match(r"CPU Profiling Environment \(process-tree\)|Sampling Environment", line)
    ]
    if done.outcome == "timed_out":
        return unknown("timeout"), []
    if not verdicts:
        events = [x for x in lines if re.search(r"perf_event_open|Sampling trigger event", x)]
        if not events:
            return unknown("parse_error"), []
        verdicts = events
    denied = any(re.search(r":\s*Fail\b", line) for line in verdicts)
    return ("denied" if denied else "available"), failing
