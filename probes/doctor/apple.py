"""Apple GPUs, from ioreg, sysctl and system_profiler.

ioreg answers in milliseconds, system_profiler in seconds, so the latter is asked only for what the
former does not know. Architecture comes from sysctl, not from this process, which may be translated.
"""

import platform
from typing import Any

import anyio

from ...evidence.redaction import redact
from ..system import System
from . import apple_findings, apple_tools
from .apple_tools import Answers, text
from .host import Host
from .section import Section, absent, unknown

_DEADLINE_S = 5.0
_SYSCTL = (
    *("sysctl.proc_translated", "hw.optional.arm64", "kern.hv_vmm_present", "hw.memsize"),
    *("machdep.cpu.brand_string", "hw.perflevel0.logicalcpu", "hw.perflevel1.logicalcpu"),
)
_UNCHECKED = ("apple.counter_permission", "apple.processes", "apple.clocks")


async def examine(system: System, host: Host) -> Section:
    """Examine a Mac; every other system gives an empty section."""
    section = Section()
    if system.platform != "darwin":
        return section
    answers: Answers = {}
    commands: dict[str, tuple[str, ...]] = {n: ("sysctl", "-n", n) for n in _SYSCTL}
    commands |= {
        "machine": ("uname", "-m"),
        "ioreg": ("ioreg", "-rc", "AGXAccelerator"),
        "power": ("pmset", "-g"),
        "therm": ("pmset", "-g", "therm"),
    }
    async with anyio.create_task_group() as group:
        for name, argv in commands.items():
            group.start_soon(_ask, system, answers, name, argv)
        group.start_soon(_xctrace, system, answers)
    gpu = apple_tools.ioreg(text(answers, "ioreg"))
    if "cores" not in gpu:
        argv = ("system_profiler", "SPDisplaysDataType", "-json")
        await _ask(system, answers, "displays", argv)
    gpus = _gpus(answers, gpu)
    _add_facts(system, section, answers, gpus)
    apple_findings.report(section, answers, gpus, _machine(system, answers))
    section.missing += _UNCHECKED
    return section


async def _ask(system: System, answers: Answers, name: str, argv: tuple[str, ...]) -> None:
    path = next(iter(system.programs(argv[0])), None)
    if path:
        answers[name] = await system.run([path, *argv[1:]], timeout_s=_DEADLINE_S)


async def _xctrace(system: System, answers: Answers) -> None:
    """Ask for xctrace only where developer tools are selected: else xcrun opens an install dialogue."""
    await _ask(system, answers, "xcode", ("xcode-select", "-p"))
    selected = answers.get("xcode")
    if selected is None or selected.ok:
        await _ask(system, answers, "xcrun", ("xcrun", "--version"))
        await _ask(system, answers, "xctrace", ("xcrun", "--find", "xctrace"))
    if text(answers, "xctrace"):
        await _ask(system, answers, "xctrace version", ("xcrun", "xctrace", "version"))


def _machine(system: System, answers: Answers) -> str | None:
    """What this process is built for: a child of a translated process is translated too."""
    return platform.machine() if system.live else text(answers, "machine") or None


def _gpus(answers: Answers, gpu: dict[str, Any]) -> list[dict[str, Any]]:
    chip = text(answers, "machdep.cpu.brand_string")
    if "cores" not in gpu:
        listed = apple_tools.displays(text(answers, "displays"))
        if listed:
            return listed
    name = gpu.get("name") or (chip if chip.startswith("Apple ") else None)
    return [{"name": name, "cores": gpu.get("cores")}] if gpu or name else []


def _add_facts(
    system: System, section: Section, answers: Answers, gpus: list[dict[str, Any]]
) -> None:
    first = gpus[0] if gpus else {}
    silicon = text(answers, "hw.optional.arm64")
    rows = [
        {
            "index": index,
            "name": gpu["name"] or unknown("not_reported"),
            "cores": gpu.get("cores") or unknown("not_reported"),
            "memory_kind": "unified" if silicon == "1" else "own",
            "memory_total_mib": _memory(answers, gpu, silicon == "1"),
        }
        for index, gpu in enumerate(gpus)
    ]
    section.facts["apple"] = {
        "gpus": rows or unknown(_why_no_gpu(answers)),
        "gpu_cores": first.get("cores") or unknown(_why_no_gpu(answers)),
        "chip": text(answers, "machdep.cpu.brand_string") or unknown("not_reported"),
        "metal": first.get("metal") or unknown("not_reported"),
        "translated": _flag(answers, "sysctl.proc_translated"),
        "apple_silicon": _flag(answers, "hw.optional.arm64"),
        "virtual_machine": _flag(answers, "kern.hv_vmm_present"),
        "low_power_mode": _known(apple_tools.low_power(text(answers, "power"))),
        "speed_limit_pct": _known(apple_tools.speed_limit(text(answers, "therm"))),
        "xctrace": redact(text(answers, "xctrace")) or absent(),
        "sample": next((system.shown(p) for p in system.programs("sample")), None) or absent(),
    }
    section.facts["host"] = _host_facts(system, answers)
    section.facts["tools"] = _tools(answers)


def _tools(answers: Answers) -> dict[str, Any]:
    tools: dict[str, Any] = {}
    for name, asked in (("xcrun", "xcrun"), ("xctrace", "xctrace version")):
        done = answers.get(asked)
        version = apple_tools.version(done.output) if done else None
        tools[name] = (
            {"version": version or unknown("parse_error"), "usable": done.ok} if done else absent()
        )
    return tools


def _host_facts(system: System, answers: Answers) -> dict[str, Any]:
    """Add what only sysctl knows about the host; the host's own part runs no program."""
    facts: dict[str, Any] = {}
    if chip := text(answers, "machdep.cpu.brand_string"):
        facts["cpu_name"] = chip
    if (size := text(answers, "hw.memsize")).isdigit():
        facts["memory_total_bytes"] = int(size)
    if machine := _machine(system, answers):
        facts["machine"] = machine
    if text(answers, "kern.hv_vmm_present") == "1":
        facts["vm"] = "apple"
    return facts


def _memory(answers: Answers, gpu: dict[str, Any], unified: bool) -> Any:
    size = text(answers, "hw.memsize")
    if unified and size.isdigit():
        return int(size) >> 20
    return gpu.get("memory_total_mib") or unknown("not_reported")


def _why_no_gpu(answers: Answers) -> str:
    done = answers.get("displays")
    return "timeout" if done and done.outcome == "timed_out" else "not_reported"


def _flag(answers: Answers, name: str) -> Any:
    word = text(answers, name)
    return word == "1" if word in ("0", "1") else unknown("not_reported")


def _known(value: Any) -> Any:
    return unknown("not_reported") if value is None else value
