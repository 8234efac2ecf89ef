"""Apple GPUs, from ioreg, sysctl and system_profiler.

ioreg answers in milliseconds, system_profiler in seconds, so the latter is asked only for what the
former does not know. Architecture comes from sysctl, not from this process, which may be translated.
"""

import platform
from typing import Any

import anyio

from ...evidence.payloads import Fix
from ...evidence.redaction import redact
from ..command import Completed
from ..system import System
from . import apple_tools
from .host import Host
from .section import Section, absent, unknown

_DEADLINE_S = 5.0
_XCODE = "/Applications/Xcode.app/Contents/Developer"
_SYSCTL = (
    *("sysctl.proc_translated", "hw.optional.arm64", "kern.hv_vmm_present", "hw.memsize"),
    *("machdep.cpu.brand_string", "hw.perflevel0.logicalcpu", "hw.perflevel1.logicalcpu"),
)
_UNCHECKED = ("apple.counter_permission", "apple.processes", "apple.clocks")

Answers = dict[str, Completed]


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
        "xctrace": ("xcrun", "--find", "xctrace"),
        "xcode": ("xcode-select", "-p"),
    }
    async with anyio.create_task_group() as group:
        for name, argv in commands.items():
            group.start_soon(_ask, system, answers, name, argv)
    gpu = apple_tools.ioreg(_text(answers, "ioreg"))
    if "cores" not in gpu:
        argv = ("system_profiler", "SPDisplaysDataType", "-json")
        await _ask(system, answers, "displays", argv)
    gpus = _gpus(answers, gpu)
    _add_facts(system, section, answers, gpus)
    _report(section, answers, gpus, _machine(system, answers))
    section.missing += _UNCHECKED
    return section


async def _ask(system: System, answers: Answers, name: str, argv: tuple[str, ...]) -> None:
    path = next(iter(system.programs(argv[0])), None)
    if path:
        answers[name] = await system.run([path, *argv[1:]], timeout_s=_DEADLINE_S)


def _text(answers: Answers, name: str) -> str:
    done = answers.get(name)
    return done.stdout.strip() if done and done.ok else ""


def _machine(system: System, answers: Answers) -> str | None:
    """What this process is built for: a child of a translated process is translated too."""
    return platform.machine() if system.live else _text(answers, "machine") or None


def _gpus(answers: Answers, gpu: dict[str, Any]) -> list[dict[str, Any]]:
    chip = _text(answers, "machdep.cpu.brand_string")
    if "cores" not in gpu:
        listed = apple_tools.displays(_text(answers, "displays"))
        if listed:
            return listed
    name = gpu.get("name") or (chip if chip.startswith("Apple ") else None)
    return [{"name": name, "cores": gpu.get("cores")}] if gpu or name else []


def _add_facts(
    system: System, section: Section, answers: Answers, gpus: list[dict[str, Any]]
) -> None:
    first = gpus[0] if gpus else {}
    silicon = _text(answers, "hw.optional.arm64")
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
        "chip": _text(answers, "machdep.cpu.brand_string") or unknown("not_reported"),
        "metal": first.get("metal") or unknown("not_reported"),
        "translated": _flag(answers, "sysctl.proc_translated"),
        "apple_silicon": _flag(answers, "hw.optional.arm64"),
        "virtual_machine": _flag(answers, "kern.hv_vmm_present"),
        "low_power_mode": _known(apple_tools.low_power(_text(answers, "power"))),
        "speed_limit_pct": _known(apple_tools.speed_limit(_text(answers, "therm"))),
        "xctrace": redact(_text(answers, "xctrace")) or absent(),
    }
    section.facts["host"] = _host_facts(system, answers)


def _host_facts(system: System, answers: Answers) -> dict[str, Any]:
    """Add what only sysctl knows about the host; the host's own part runs no program."""
    facts: dict[str, Any] = {}
    if chip := _text(answers, "machdep.cpu.brand_string"):
        facts["cpu_name"] = chip
    if (size := _text(answers, "hw.memsize")).isdigit():
        facts["memory_total_bytes"] = int(size)
    if machine := _machine(system, answers):
        facts["machine"] = machine
    if _text(answers, "kern.hv_vmm_present") == "1":
        facts["vm"] = "apple"
    return facts


def _memory(answers: Answers, gpu: dict[str, Any], unified: bool) -> Any:
    size = _text(answers, "hw.memsize")
    if unified and size.isdigit():
        return int(size) >> 20
    return gpu.get("memory_total_mib") or unknown("not_reported")


def _why_no_gpu(answers: Answers) -> str:
    done = answers.get("displays")
    return "timeout" if done and done.outcome == "timed_out" else "not_reported"


def _flag(answers: Answers, name: str) -> Any:
    text = _text(answers, name)
    return text == "1" if text in ("0", "1") else unknown("not_reported")


def _known(value: Any) -> Any:
    return unknown("not_reported") if value is None else value


def _report(
    section: Section, answers: Answers, gpus: list[dict[str, Any]], machine: str | None
) -> None:
    if _text(answers, "sysctl.proc_translated") == "1":
        report_rosetta(section, machine or "x86_64", "sysctl.proc_translated: 1")
    _report_virtual(section, answers, gpus)
    _report_power(section, answers)
    xcrun = answers.get("xctrace")
    if xcrun and apple_tools.lacks_xctrace(xcrun.output):
        _report_xctrace(section, xcrun, answers)


def report_rosetta(section: Section, machine: str, evidence: str) -> None:
    """Add the finding for an interpreter that is translated on Apple silicon."""
    section.find(
        "apple.rosetta",
        "error",
        f"Python is built for {machine} and translated by Rosetta on an arm64 Mac: no MPS, no MLX, "
        "and timings of a translated program",
        evidence=[evidence, "hw.optional.arm64: 1"],
        affects=("timing", "running"),
        fix=Fix(
            summary="install an arm64 Python and make the environment with it",
            commands=("arch -arm64 /opt/homebrew/bin/python3 -m venv DIR",),
            verify='python -c "import platform; print(platform.machine())"  # arm64',
        ),
    )


def _report_virtual(section: Section, answers: Answers, gpus: list[dict[str, Any]]) -> None:
    names = [str(gpu["name"]) for gpu in gpus if "aravirtual" in str(gpu["name"])]
    present = _text(answers, "kern.hv_vmm_present") == "1"
    if names or present:
        section.find(
            "apple.virtual_gpu",
            "error",
            "a virtual Mac: its GPU is paravirtual, so no GPU time here says anything about the chip",
            evidence=[*(f"GPU: {name}" for name in names), f"kern.hv_vmm_present: {int(present)}"],
            affects=("timing",),
            fix=Fix(
                summary="measure on real hardware",
                commands=(),
                where="host",
                verify="sysctl -n kern.hv_vmm_present",
            ),
        )


def _report_power(section: Section, answers: Answers) -> None:
    limit = apple_tools.speed_limit(_text(answers, "therm"))
    if limit is not None and limit < 100:
        section.find(
            "apple.thermal",
            "warning",
            f"the CPU is held to {limit} % of its speed by temperature or power",
            evidence=[f"pmset -g therm: CPU_Speed_Limit = {limit}"],
            affects=("timing",),
            fix=Fix(summary="let it cool", commands=("pmset -g therm",), verify="pmset -g therm"),
        )
    if apple_tools.low_power(_text(answers, "power")):
        section.find(
            "apple.low_power_mode",
            "warning",
            "low power mode is on: clocks are held down",
            evidence=["pmset -g: lowpowermode 1"],
            affects=("timing",),
            fix=Fix(
                summary="turn it off while measuring",
                commands=("sudo pmset -a lowpowermode 0",),
                needs_root=True,
                verify="pmset -g | grep lowpowermode",
            ),
        )


def _report_xctrace(section: Section, xcrun: Completed, answers: Answers) -> None:
    line = next((x.strip() for x in xcrun.output.splitlines() if x.strip()), "")
    section.find(
        "apple.no_xctrace",
        "limitation",
        "xctrace is not here: it comes with Xcode, not with the command line tools",
        evidence=[
            f"xcrun --find xctrace: {redact(line)[:160]}",
            f"xcode-select -p: {redact(_text(answers, 'xcode')) or 'no answer'}",
        ],
        affects=("profiling",),
        fix=Fix(
            summary="install Xcode and select it",
            commands=(f"sudo xcode-select -s {_XCODE}",),
            needs_root=True,
            verify="xcrun xctrace version",
        ),
    )
