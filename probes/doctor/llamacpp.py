"""llama.cpp on this machine: binary, version, build and commit, from `--version`.

It prints on standard error, in two forms: `version: 3928 (16f30fcf3)` and, from 2026 on,
`version: 0.3.0-dev (build 10621, commit c1d0e7a00)`. A build made outside of a full git checkout counts
from 0 or 1, which tells nothing.
"""

import re
from typing import Any

import anyio

from ...evidence.payloads import Fix
from ...evidence.redaction import redact
from ..command import Completed
from ..system import System
from . import version_cache
from .section import Section, absent, unknown

PROGRAMS = ("llama-cli", "llama-bench", "llama-server")
_CLASSIC = re.compile(r"version: (\d+) \((\w+)\)")  # commit "unknown" where git was not there
_SEMANTIC = re.compile(r"version: (\d+\.\d+\.\d+\S*) \(build (\d+), commit (\w+)\)")
_MOST = 6
_UNRELIABLE = 1  # builds up to this one


async def examine(system: System) -> Section:
    """Ask the programs that are there; the first that answers speaks for the engine."""
    section = Section()
    paths = [path for program in PROGRAMS for path in system.programs(program)][:_MOST]
    done: dict[str, Completed] = {}

    async def ask(path: str) -> None:
        done[path] = await version_cache.ask(system, [path, "--version"])

    async with anyio.create_task_group() as group:
        for path in paths:
            group.start_soon(ask, path)
    answers = [(redact(system.shown(p)), done[p], parse(done[p].output)) for p in paths]
    told = [(shown, version) for shown, _, version in answers if version is not None]
    if not told:
        failures = [(shown, d.ending(), d.output.strip()) for shown, d, _ in answers]
        section.facts["engines"] = {"llama_cpp": _unanswered(section, failures)}
        return section
    shown, version = told[0]
    section.facts["engines"] = {"llama_cpp": {"binary": shown, **version}}
    _report_unreliable(section, shown, version)
    _report_differences(section, told)
    return section


def _report_differences(section: Section, told: list[tuple[str, dict[str, Any]]]) -> None:
    """A server of one build and a benchmark of another measure two engines."""
    if len({(v["build"], v["commit"]) for _, v in told}) < 2:
        return
    lines = [f"{shown}: build {v['build']}, commit {v['commit']}" for shown, v in told]
    section.find(
        "tool.duplicates",
        "note",
        f"llama.cpp is here in different builds: {'; '.join(lines[:4])}",
        evidence=lines,
        affects=("comparison",),
        fix=Fix(
            summary="name the binary by its path where you measure, or keep one build",
            commands=tuple(f"{shown} --version" for shown, _ in told[:2]),
            verify="llama-server --version",
        ),
    )


def parse(output: str) -> dict[str, Any] | None:
    """Find the version in any line of both streams; None where there is none."""
    if found := _SEMANTIC.search(output):
        return {"version": found[1], "build": int(found[2]), "commit": found[3]}
    if found := _CLASSIC.search(output):
        return {"version": found[1], "build": int(found[1]), "commit": found[2]}
    return None


def _report_unreliable(section: Section, shown: str, version: dict[str, Any]) -> None:
    if version["build"] > _UNRELIABLE:
        return
    section.find(
        "llamacpp.version_unreliable",
        "note",
        f"{shown} calls itself build {version['build']}: it was built without the project's history, "
        "so neither build nor version tells what code it is",
        evidence=[f"{shown} --version: build {version['build']}, commit {version['commit']}"],
        affects=("comparison",),
        fix=Fix(
            summary="build from a full clone, or take a release of the project",
            commands=("git fetch --unshallow --tags",),
            verify=f"{shown} --version",
        ),
    )


def _unanswered(section: Section, failures: list[tuple[str, str, str]]) -> dict[str, Any]:
    if not failures:
        return absent("not_installed")
    shown, ending, output = failures[0]
    first = redact(output.splitlines()[0])[:160] if output else "no output"
    section.find(
        "llamacpp.version_unknown",
        "warning",
        f"{shown} --version does not tell its version ({ending}, {first})",
        evidence=[f"{shown} --version: {ending}: {first}"],
        affects=("comparison",),
        fix=Fix(
            summary="use a build that tells its version, or note the build beside the numbers",
            commands=(f"{shown} --version",),
            verify=f"{shown} --version",
        ),
    )
    reason = "parse_error" if output else "no output"
    return {
        "binary": shown,
        "version": unknown(reason),
        "build": unknown(reason),
        "commit": unknown(reason),
    }
