"""The engine packages of the interpreter that would run them, and engines found elsewhere."""

import os
from collections.abc import Iterator
from typing import Any

from ...evidence.payloads import Fix
from ...evidence.redaction import redact
from ..system import System
from . import engine_packages, python_answer, site_packages
from .engine_table import ENGINES, MAIN_DISTRIBUTIONS
from .interpreter import Choice
from .section import Section, absent, unknown

HOW_TO_NAME_ONE = (
    'engine versions are unknown: no interpreter was named or found. Call doctor(python="PATH") with '
    "the Python, or the virtual environment, that runs the engine"
)


async def examine(system: System, choice: Choice) -> Section:
    """Query the chosen interpreter; its absence or failure is an answer too."""
    section = Section()
    facts: dict[str, Any] = {"chosen_by": choice.chosen_by or absent(), "why": choice.why}
    section.facts["python"] = facts
    if choice.processes:
        section.facts["engine_processes"] = [p.fact() for p in choice.processes]
    if choice.path is None or choice.problem:
        reason = _no_interpreter(system, choice, section, facts)
    else:
        shown = redact(system.shown(choice.path))
        answer, reason = await python_answer.ask(system, choice.path, section)
        facts["executable"] = shown
        if answer is not None:
            facts |= _described(system, answer["python"], shown)
            _report_build(section, answer["python"])
            engine_packages.judge(answer, section, facts["executable"])
    if reason:
        facts.setdefault("version", unknown(reason))
        section.facts["engines"] = {k: unknown(reason) for k, e in ENGINES.items() if e.main}
        section.missing.append("engines")
    _elsewhere(system, choice, section)
    _shadowed(system, section)
    return section


def _no_interpreter(system: System, choice: Choice, section: Section, facts: dict[str, Any]) -> str:
    if choice.problem:
        shown = redact(system.shown(choice.path or ""))
        facts["executable"] = shown
        python_answer.report_broken(section, shown, choice.problem)
        return "not_started"
    facts |= {"executable": absent(choice.why), "version": absent()}
    section.limitations.append(HOW_TO_NAME_ONE)
    return "no interpreter"


def _described(system: System, python: dict[str, Any], shown: str) -> dict[str, Any]:
    executable = redact(system.shown(python.get("executable") or "")) or shown
    kept = ("version", "implementation", "virtual_environment", "machine", "debug", "gil")
    return {"executable": executable} | {name: python.get(name) for name in kept}


def _report_build(section: Section, python: dict[str, Any]) -> None:
    if python.get("debug"):
        section.find(
            "python.debug_build",
            "warning",
            "the engine's interpreter is a debug build, several times slower than a release build",
            evidence=["sys.gettotalrefcount: present"],
            affects=("timing",),
            fix=Fix(
                summary="run the engine with a release build",
                commands=('doctor(python="/path/to/bin/python")',),
            ),
        )


def _elsewhere(system: System, choice: Choice, section: Section) -> None:
    """Say where an engine is installed that the chosen interpreter does not have."""
    engines = section.facts["engines"]
    examined = isinstance(section.facts["python"].get("version"), str)
    seen = set()
    for directory in _environments(system, choice):
        for name, version in site_packages.engines(directory):
            key = MAIN_DISTRIBUTIONS[name]
            if key in seen or "version" in engines.get(key, {}):
                continue
            seen.add(key)
            shown = redact(system.shown(directory))
            section.find(
                "engine.not_in_this_python",
                "note",
                f"{name} {version or ''} is installed in {shown}, "
                + (
                    "not in the interpreter that was examined" if examined else "which was not read"
                ),
                evidence=[f"{shown}: {name}"],
                affects=("comparison",),
                fix=Fix(
                    summary="examine that environment instead",
                    commands=(f'doctor(python="{shown}")', f"perfcite doctor --python={shown}"),
                    verify=f"ls {shown}",
                ),
            )


def _environments(system: System, choice: Choice) -> Iterator[str]:
    """Give directories of environments on this host, the chosen one left out."""
    chosen = os.path.dirname(os.path.dirname(choice.path)) if choice.path else None
    given = [system.environ.get(v) for v in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    given.append(os.path.join(system.cwd, ".venv"))
    given += [os.path.dirname(os.path.dirname(p.python)) for p in choice.processes if p.python]
    for directory in dict.fromkeys(system.real(d) for d in given if d):
        if directory != chosen and os.path.isdir(directory):
            yield directory


def _shadowed(system: System, section: Section) -> None:
    """`python -m vllm` in a checkout imports the checkout, not what is installed."""
    for key, engine in ENGINES.items():
        installed = "version" in section.facts["engines"].get(key, {})
        checkout = f"{system.cwd.rstrip('/')}/{engine.module}/__init__.py"
        if engine.main and installed and system.exists(checkout):
            section.find(
                "engine.cwd_shadows",
                "note",
                f"the working directory holds a folder {engine.module}: `python -m {engine.module}` "
                "started here runs that, not the installed package",
                evidence=[f"./{engine.module}/__init__.py: present"],
                affects=("comparison",),
                fix=Fix(summary="start the engine from another directory", commands=("cd /tmp",)),
            )
