"""NVIDIA GPUs: NVML in a child process, nvidia-smi as second opinion, files before both.

Order of evidence: /proc and PCI, which cost nothing; then NVML and nvidia-smi side by side, each with
its own deadline; then nvidia-smi's narrower questions where no GPU was named. NVML leads, nvidia-smi
fills in what it does not know. UUIDs serve to match GPUs with variables and never become facts.
"""

import os
from typing import Any

import anyio

from ...evidence.payloads import Fix
from ..system import System
from . import (
    nvidia_driver,
    nvidia_gpu_kind,
    nvidia_gpu_sharing,
    nvidia_gpu_speed,
    nvidia_machine,
    nvidia_nvml,
    nvidia_smi,
    nvidia_use,
)
from .host import Host
from .nvidia_advice import Place, place_of
from .nvidia_answers import Driver
from .nvidia_counters import judge as judge_counters
from .nvidia_gpus import Gpus
from .nvidia_machine import LIBRARY, Machine
from .nvidia_reading import Gpu, Reading, complete
from .nvidia_smi import Answers
from .nvidia_visible import resolve
from .section import Section, absent, unknown

_CLOCK_LOCKS = "Clock locks set with nvidia-smi -lgc are not visible on every driver."


async def examine(system: System, host: Host) -> Section:
    """Examine the NVIDIA side of the machine."""
    section = Section()
    machine = nvidia_machine.look(system)
    place = place_of(host, system.platform)
    nvidia_use.judge_busy(machine, section)
    paths = [] if system.platform == "darwin" else nvidia_smi.find(system)
    nvml, smi = await _ask(system, machine, paths, wsl=host.wsl)
    reading = _together(nvml, smi)
    gpus = reading.gpus or []
    if not gpus and machine.tegra:
        # JetPack 5 has neither NVML nor nvidia-smi, but the board has a GPU.
        gpus = [Gpu(index=0, facts={"state": "ok", "name": unknown("not_reported")})]
        reading.gpus = gpus
    _mark_memory(gpus, machine)
    driver = Driver(machine, place, nvml, smi, bool(gpus), system.live)
    section.facts["nvidia"] = _facts(system, machine, driver, reading)
    if smi.copies:
        section.facts["tools"] = {"nvidia-smi": _tool(smi)}
    nvidia_driver.judge(driver, section)
    _judge_copies(smi, place, section)
    _judge_gpus(system, machine, place, reading, smi, section)
    if gpus or _known_driver(machine, host, reading):
        _add_use(system, machine, host, place, reading, section)
    return section


async def _ask(
    system: System, machine: Machine, paths: list[str], *, wsl: bool
) -> tuple[Reading, Answers]:
    """Ask NVML and nvidia-smi at the same time; ask nvidia-smi more where no GPU was named."""
    answers: dict[str, Any] = {"nvml": _not_asked(system, machine), "smi": Answers()}

    async def nvml() -> None:
        library = system.live and wsl and system.exists(f"/usr/lib/wsl/lib/{LIBRARY}")
        answers["nvml"] = await nvidia_nvml.ask(system, wsl_library=library)

    async def smi() -> None:
        answers["smi"] = await nvidia_smi.ask(system, paths)

    async with anyio.create_task_group() as group:
        if _nvml_wanted(system, machine, paths):
            group.start_soon(nvml)
        if paths:
            group.start_soon(smi)
    if not answers["nvml"].gpus:
        await nvidia_smi.ask_more(system, answers["smi"])
    nvidia_smi.settle(answers["smi"])
    return answers["nvml"], answers["smi"]


def _nvml_wanted(system: System, machine: Machine, paths: list[str]) -> bool:
    """Skip the child where nothing points to NVIDIA: it costs 50 ms. See facts in the module head."""
    if not system.live:
        return nvidia_machine.preset_library(system) is not None
    if system.platform == "windows":
        system32 = os.path.join(system.environ.get("WINDIR", r"C:\Windows"), "System32", "nvml.dll")
        return bool(paths) or os.path.exists(system32)
    return system.platform == "linux" and (machine.has_sign or bool(paths))


def _not_asked(system: System, machine: Machine) -> Reading:
    """Say why NVML is not asked. A directory in the library's place needs no asking."""
    if machine.library_directory is not None:
        line = f"NVML: {machine.library_directory}: cannot read file data: Is a directory"
        return Reading("NVML", problem="library_missing", line=line)
    why = "nothing points to an NVIDIA GPU" if system.live else "not loaded for a sysroot"
    return Reading("NVML", problem="not_asked", line=f"NVML: {why}")


def _together(nvml: Reading, smi: Answers) -> Reading:
    """Let nvidia-smi fill in what NVML did not say; neither original changes in its problem."""
    reading = Reading("NVML", gpus=nvml.gpus or None, driver=nvml.driver, cuda=nvml.cuda)
    reading.cuda_version, reading.nvml_version = nvml.cuda_version, nvml.nvml_version
    reading.attached = nvml.attached
    best = smi.best
    if best is not None:
        complete(reading, best.reading)
        reading.lost = best.reading.lost
    if reading.gpus is None and nvml.gpus is not None:
        reading.gpus = nvml.gpus
    return reading


def _mark_memory(gpus: list[Gpu], machine: Machine) -> None:
    for gpu in gpus:
        if nvidia_gpu_kind.is_unified(gpu, machine):
            gpu.facts["memory_kind"] = "unified"
            gpu.facts.setdefault("memory_total_mib", unknown("not_supported"))


def _facts(system: System, machine: Machine, driver: Driver, reading: Reading) -> dict[str, Any]:
    gpus = reading.gpus
    facts: dict[str, Any] = {"gpus": _gpu_rows(system, machine, driver, gpus)}
    if machine.pci is not None:
        facts["pci_count"] = len(machine.pci)
    if not gpus and not machine.has_sign and not driver.smi.copies:
        return facts
    if machine.tegra or machine.dxg:
        facts["platform"] = "tegra" if machine.tegra else "wsl"
    if machine.board:
        facts["board"] = machine.board
    version = reading.driver or machine.kernel_version
    facts["driver"] = {"version": version or unknown("not_reported")}
    if machine.kernel_version:
        facts["driver"]["kernel_version"] = machine.kernel_version
        facts["driver"]["open_module"] = machine.open_module
    # libcuda names a version even where no GPU can be used, so without a GPU there is none.
    facts["cuda_driver_version"] = reading.cuda_version if gpus else absent("no GPU answers")
    facts["cuda_driver_max"] = reading.cuda if gpus else absent("no GPU answers")
    if gpus and reading.cuda_version is None:
        facts["cuda_driver_version"] = unknown("not_reported")
        facts["cuda_driver_max"] = reading.cuda or unknown("not_reported")
    facts["nvml"] = {"version": reading.nvml_version or unknown(_why(driver.nvml))}
    best = driver.smi.best
    facts["smi"] = absent() if best is None else {"version": _smi_version(driver.smi)}
    return facts


def _gpu_rows(system: System, machine: Machine, driver: Driver, gpus: list[Gpu] | None) -> Any:
    """Give the rows, an empty list where it is known that there are none, else why it is not known."""
    if gpus or (gpus is not None and machine.pci == ()):
        return [gpu.row() for gpu in gpus]
    asked = driver.nvml.problem not in (None, "not_asked") or bool(driver.smi.copies)
    if not asked and not machine.has_sign:
        known = system.live or system.platform == "darwin" or machine.pci is not None
        return [] if known else unknown("the sysroot holds nothing about GPUs")
    if machine.pci == () and not (machine.dxg or machine.tegra or driver.place.windows):
        return []  # the bus was looked at: what failed had no GPU to find
    reasons = [driver.nvml, *(c.reading for c in driver.smi.copies)]
    told = next((r for r in reasons if r.problem not in (None, "not_asked")), driver.nvml)
    if any(c.hung for c in driver.smi.copies) and told.problem == "not_asked":
        return unknown("timeout")
    return unknown(_why(told))


def _why(reading: Reading) -> str:
    """Give the reason for an unknown fact: one of the words of the contract first."""
    problem = reading.problem
    if problem is None:
        return "not_reported"
    word = {"timeout": "timeout", "crashed": "crashed", "no_permission": "no_permission"}
    line = (reading.line or "").partition(": ")[2] or problem.replace("_", " ")
    return word.get(problem) or ("not_asked" if problem == "not_asked" else f"driver_error: {line}")


def _smi_version(smi: Answers) -> Any:
    best = smi.best
    version = best.reading.smi_version if best else None
    return version or unknown(_why(best.reading) if best else "not_reported")


def _tool(smi: Answers) -> dict[str, Any]:
    best = smi.best
    assert best is not None  # there is at least one copy
    usable: Any = True if best.answered else None
    if best.hung or best.crashed or best.reading.problem:
        usable = False
    return {
        "path": best.shown,
        "version": _smi_version(smi),
        "usable": unknown("printed nothing that is known") if usable is None else usable,
    }


def _judge_copies(smi: Answers, place: Place, section: Section) -> None:
    """The first copy on PATH fails and another works: a distribution's copy shadows the driver's."""
    best = smi.best
    if best is None or not best.answered or best is smi.copies[0]:
        return
    first = smi.copies[0]
    why = first.reading.line or (first.endings[0] if first.endings else f"{first.shown}: no answer")
    directory = os.path.dirname(best.shown)
    version = best.reading.driver or best.reading.smi_version
    section.find(
        "tool.wrong_copy",
        "error",
        f"the nvidia-smi that runs, {first.shown}, does not work here; {best.shown} does",
        evidence=[f"{first.shown}: {why}", f"{best.shown}: driver {version or '(not named)'}"],
        affects=("running", "profiling"),
        fix=Fix(
            summary=f"put {directory} first on PATH, or remove the other package",
            commands=(f"export PATH={directory}:$PATH", f"{best.shown} -L"),
            verify="command -v nvidia-smi && nvidia-smi -L",
        ),
    )


def _judge_gpus(
    system: System,
    machine: Machine,
    place: Place,
    reading: Reading,
    smi: Answers,
    section: Section,
) -> None:
    gpus = reading.gpus or []
    own = nvidia_use.own_pids() if system.live else frozenset[int]()
    given = Gpus(gpus, machine, place, own, reading.lost)
    nvidia_gpu_sharing.judge(given, section)
    nvidia_gpu_speed.judge(given, section)
    nvidia_gpu_kind.judge(given, section)
    nvidia_use.judge_shim(system, section)
    section.missing += _missing(gpus)
    if gpus and not machine.tegra:
        listed = reading.attached if reading.attached is not None else len(gpus)
        nvidia_use.judge_count(listed, len(gpus), machine, place, section)
        section.limitations.append(_CLOCK_LOCKS)


def _missing(gpus: list[Gpu]) -> list[str]:
    """Name what was wanted of the GPUs and could not be had."""
    names = []
    if any(g.processes is None for g in gpus):
        names.append("nvidia.processes")
    if any(g.value("clock_sm_mhz") is None for g in gpus):
        names.append("nvidia.clocks")
    return names


def _known_driver(machine: Machine, host: Host, reading: Reading) -> bool:
    return machine.kernel_version is not None or machine.params not in (None, "absent")


def _add_use(
    system: System,
    machine: Machine,
    host: Host,
    place: Place,
    reading: Reading,
    section: Section,
) -> None:
    """Add what CUDA would see, and whether counters may be read."""
    facts = section.facts["nvidia"]
    gpus = reading.gpus
    if gpus:
        environ = system.environ
        visible = resolve(
            environ.get("CUDA_VISIBLE_DEVICES"), environ.get("CUDA_DEVICE_ORDER"), gpus
        )
        facts["visible"] = visible.rows
        facts["visible_count"] = unknown("not_reported") if visible.count is None else visible.count
        nvidia_use.judge_visible(visible, len(gpus), section)
    version = machine.kernel_version or reading.driver
    counters = judge_counters(machine, host, version, system.platform)
    facts["counters"] = counters.status
    facts["counters_detail"] = counters.facts()
    if counters.status == "unknown":
        section.missing.append("nvidia.counter_permission")
    nvidia_use.judge_counters(counters, machine, place, section)
