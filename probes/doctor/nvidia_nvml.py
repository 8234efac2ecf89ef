"""NVML's answers: run the child, and turn what it printed into a `Reading`.

Error codes and enums are those of nvml.h; https://docs.nvidia.com/deploy/nvml-api/
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from ..command import Completed
from ..system import System
from .nvidia_reading import MIB, Gpu, Problem, Process, Reading, Slice, cuda_text
from .nvidia_smi_cells import reasons_of_mask
from .nvidia_smi_document import program_name
from .section import unknown

CHILD = Path(__file__).with_name("nvml_child.py")
DEADLINE_S = 3.5
SOURCE = "NVML"

_REASONS = {
    3: "not_supported",
    4: "no_permission",
    10: "timeout",
    13: "not_supported",
}
_PROBLEMS: dict[int, Problem] = {
    4: "no_permission",
    9: "driver_not_loaded",
    12: "library_missing",
    17: "blocked",
    18: "library_mismatch",
    999: "unknown_error",
}
_STATES = {4: "no_permission", 15: "lost", 16: "requires_reset"}
_COMPUTE_MODES = {0: "Default", 1: "Exclusive_Thread", 2: "Prohibited", 3: "Exclusive_Process"}
_VIRTUALIZATION = {0: "None", 1: "Pass-Through", 2: "VGPU", 3: "Host VGPU", 4: "Host VSGA"}
_KEPT = 4 * MIB


async def ask(system: System, *, wsl_library: bool) -> Reading:
    """Run the child and read its answer; its crash or silence is an answer too."""
    env = {}
    if wsl_library:
        # A distribution's own libnvidia-ml knows no Windows driver; WSL's copy does.
        given = system.environ.get("LD_LIBRARY_PATH", "")
        env["LD_LIBRARY_PATH"] = os.pathsep.join(["/usr/lib/wsl/lib", *filter(None, [given])])
    argv = [sys.executable, "-I", str(CHILD)]
    return read(await system.run(argv, timeout_s=DEADLINE_S, env=env, keep=_KEPT))


def read(done: Completed) -> Reading:
    """Turn the child's end and output into a reading."""
    if done.outcome == "timed_out":
        return _failed("timeout", f"no answer in {done.seconds:.1f} s")
    if done.signal is not None:
        return _failed("crashed", f"killed by {done.signal}")
    _, mark, text = done.stdout.rpartition("\x1e")
    try:
        document = json.loads(text) if mark else None
    except ValueError:
        document = None
    if not isinstance(document, dict):
        return _failed("crashed", f"no answer ({done.ending()})")
    return read_document(document)


def read_document(document: dict[str, Any]) -> Reading:
    """Turn the child's document into a reading."""
    if "library" in document:
        return _failed("library_missing", str(document["library"]))
    if "binding" in document:
        return _failed("not_asked", f"no NVML binding: {document['binding']}")
    init = document.get("init", {})
    if "value" not in init:
        code = init.get("code")
        return _failed(_PROBLEMS.get(code, "failed"), f"nvmlInit: {init.get('error')} ({code})")
    reading = Reading(SOURCE, driver=_value(document, "driver"))
    reading.nvml_version = _value(document, "nvml")
    count = document.get("count", {})
    if "value" not in count:
        code = count.get("code")
        reading.problem = _PROBLEMS.get(code, "failed")
        reading.line = f"NVML: nvmlDeviceGetCount: {count.get('error')} ({code})"
        return reading
    reading.gpus = [_gpu(answers) for answers in document.get("gpus", [])]
    reading.attached = count["value"]
    version = _value(document, "cuda_driver_version")
    if isinstance(version, int) and version > 0:
        reading.cuda_version, reading.cuda = version, cuda_text(version)
    if reading.gpus == []:
        reading.problem, reading.line = "no_devices", "NVML: nvmlDeviceGetCount: 0"
    return reading


def _failed(problem: Problem, why: str) -> Reading:
    return Reading(SOURCE, problem=problem, line=f"NVML: {why}")


def _gpu(answers: dict[str, Any]) -> Gpu:
    gpu = Gpu(index=answers.get("index"))
    handle = answers.get("handle")
    if handle is not None:
        code = handle.get("code")
        gpu.error = f"NVML: nvmlDeviceGetHandleByIndex({gpu.index}): {handle.get('error')} ({code})"
        gpu.facts["state"] = _STATES.get(code, "unreachable")
        why = _REASONS.get(code, f"driver_error: {handle.get('error')}")
        gpu.facts |= {name: unknown(why) for name in ("name", "memory_total_mib")}
        gpu.processes_why = why
        return gpu
    gpu.uuid, gpu.bus_id = _value(answers, "uuid"), _value(answers, "bus_id")
    gpu.facts = {"state": "ok", **_numbers(answers), **_names(answers), **_memory(answers)}
    _states(gpu, answers)
    gpu.processes, gpu.processes_why = _processes(answers.get("processes", {}))
    if gpu.facts.get("mig") is True:
        gpu.slices = _slices(answers.get("mig_devices", {}))
        # NVML gives no utilisation under MIG; a number there is a shim's.
        if not isinstance(gpu.facts["utilization_pct"], dict):
            gpu.facts["utilization_pct"] = unknown("not_supported: MIG is on")
    return gpu


def _numbers(answers: dict[str, Any]) -> dict[str, Any]:
    return {
        "utilization_pct": _fact(answers, "utilization", lambda v: v["gpu"]),
        "temperature_c": _fact(answers, "temperature"),
        "power_w": _fact(answers, "power_mw", _watts),
        "power_limit_w": _fact(answers, "power_limit_mw", _watts),
        "power_limit_default_w": _fact(answers, "power_default_mw", _watts),
        "clock_sm_mhz": _fact(answers, "clock_sm"),
        "clock_mem_mhz": _fact(answers, "clock_mem"),
        "clock_sm_max_mhz": _fact(answers, "clock_sm_max"),
        "clock_mem_max_mhz": _fact(answers, "clock_mem_max"),
        "clock_app_mhz": _fact(answers, "clock_app"),
        "clock_app_default_mhz": _fact(answers, "clock_app_default"),
    }


def _names(answers: dict[str, Any]) -> dict[str, Any]:
    facts = {
        "name": _fact(answers, "name", _readable),
        "pstate": _fact(answers, "pstate", _pstate),
        "clocks_event_reasons": _fact(answers, "reasons", reasons_of_mask),
        "mig": _fact(answers, "mig_mode", lambda v: v[0] == 1),
        "persistence": _fact(answers, "persistence", lambda v: v == 1),
        "compute_mode": _fact(answers, "compute_mode", lambda v: _COMPUTE_MODES.get(v, str(v))),
        "compute_capability": _fact(answers, "compute_capability", lambda v: f"{v[0]}.{v[1]}"),
        "display_active": _fact(answers, "display_active", lambda v: v == 1),
        "virtualization": _fact(
            answers, "virtualization", lambda v: _VIRTUALIZATION.get(v, str(v))
        ),
        "remap_pending": _fact(answers, "remapped_rows", lambda v: bool(v[2])),
        "retirement_pending": _fact(answers, "retired_pending", lambda v: v == 1),
    }
    if "licences" in answers:
        facts["licence"] = _fact(answers, "licences", _licence)
    return facts


def _memory(answers: dict[str, Any]) -> dict[str, Any]:
    found = answers.get("memory", {})
    value = found.get("value")
    if not isinstance(value, dict):
        why = unknown(_reason(found))
        return {"memory_total_mib": why, "memory_used_mib": why}
    facts: dict[str, Any] = {
        "memory_total_mib": round(value["total"] / MIB),
        "memory_used_mib": round(value["used"] / MIB),
        "memory_reserved_mib": unknown("not_reported"),
    }
    if "reserved" in value:
        facts["memory_reserved_mib"] = round(value["reserved"] / MIB)
    else:
        facts["used_includes_reserved"] = True
    return facts


def _states(gpu: Gpu, answers: dict[str, Any]) -> None:
    """A GPU can be lost after its handle was given: then every question says so."""
    for answer in answers.values():
        if isinstance(answer, dict) and answer.get("code") in (15, 16):
            gpu.facts["state"] = _STATES[answer["code"]]
            gpu.error = f"NVML: GPU {gpu.index}: {answer.get('error')} ({answer['code']})"
            return


def _processes(answers: dict[str, Any]) -> tuple[list[Process] | None, str]:
    compute = answers.get("compute", {})
    if "value" not in compute:
        return None, _reason(compute)
    found: dict[int, Process] = {}
    for kind in ("mps", "compute", "graphics"):
        for entry in answers.get(kind, {}).get("value") or []:
            memory = entry.get("memory")
            found.setdefault(
                entry["pid"],
                Process(
                    pid=entry["pid"],
                    name=program_name(entry.get("name")),
                    memory_mib=None if memory is None else round(memory / MIB),
                    kind=kind,
                ),
            )
    return list(found.values()), ""


def _slices(answer: dict[str, Any]) -> list[Slice] | None:
    if "value" not in answer:
        return None
    slices = []
    for entry in answer["value"]:
        memory = entry.get("memory", {})
        value = memory.get("value")
        total = round(value["total"] / MIB) if value else unknown(_reason(memory))
        slices.append(Slice(entry["index"], _value(entry, "uuid"), None, total))
    return slices


def _fact(answers: dict[str, Any], key: str, convert: Any = None) -> Any:
    """Take one answer as a fact: its value converted, or why there is none."""
    answer = answers.get(key, {})
    if answer.get("value") is None:
        return unknown(_reason(answer))
    return answer["value"] if convert is None else convert(answer["value"])


def _reason(answer: dict[str, Any]) -> str:
    if "error" not in answer:
        return "not_reported"
    code = answer.get("code")
    return _REASONS.get(code, f"driver_error: {answer['error']}") if code else "parse_error"


def _value(answers: dict[str, Any], key: str) -> Any:
    answer = answers.get(key)
    return answer.get("value") if isinstance(answer, dict) else None


def _watts(milliwatts: int) -> float:
    return milliwatts / 1000


def _pstate(value: int) -> Any:
    return unknown("not_reported") if value > 15 else f"P{value}"


def _readable(name: str) -> Any:
    return unknown("parse_error: the driver's name for it is no text") if "\ufffd" in name else name


def _licence(features: list[dict[str, bool]]) -> Any:
    enabled = [f for f in features if f.get("enabled")]
    if not enabled:
        return unknown("not_reported")
    return "Licensed" if any(f.get("licensed") for f in enabled) else "Unlicensed"
