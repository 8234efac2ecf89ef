"""What can be measured here: one answer a kind of profiling, from facts alone.

"Yes" means that nothing known stands in the way; only a probe proves it. Pure.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ...evidence.payloads import Can, Capability, Finding
from . import gpu_reach
from .identity import vendors
from .section import value_of

Facts = Mapping[str, Any]
Answer = Literal["yes", "no", "unknown"]
# Permission is not all: another program may hold the counters, or a hypervisor.
_DOUBTS = ("nvidia.counters_busy", "nvidia.vgpu")
_ORDER: tuple[Answer, ...] = ("yes", "unknown", "no")


def judge(facts: Facts, findings: Sequence[Finding]) -> Can:
    """Answer all five questions."""
    codes = {f.code: f.what for f in findings}
    return Can(
        gpu_timeline=_gpu(facts, codes, findings, _gpu_timeline),
        gpu_counters=_gpu(facts, codes, findings, _gpu_counters),
        cpu_sampling=_cpu_sampling(facts, codes),
        cpu_hw_counters=_cpu_counters(facts, codes),
        python_stacks=_python_stacks(facts, codes),
    )


def _say(answer: Answer, why: str, tool: str | None = None) -> Capability:
    return Capability(answer=answer, how="static", tool=tool, why=why)


def _gpu(
    facts: Facts,
    codes: Mapping[str, str],
    findings: Sequence[Finding],
    ask: Callable[[Facts, Mapping[str, str], str], Capability],
) -> Capability:
    """Answer for the vendor that can be measured best, where there are GPUs of two."""
    answers = []
    for family, rows in vendors(facts):
        block = gpu_reach.blocked(family, facts, rows, findings)
        if block is None and rows:
            answers.append(ask(facts, codes, family))
        elif block is not None and rows:
            answers.append(_at_most(ask(facts, codes, family), *block))
        elif block is not None:
            answers.append(_say(*block))
    if answers:
        return min(answers, key=lambda a: _ORDER.index(a.answer))
    if facts.get("gpu_count") == 0:
        return _say("no", "there is no GPU here")
    return _say("unknown", "whether there is a GPU here is unknown")


def _at_most(found: Capability, answer: Answer, why: str) -> Capability:
    """Keep an answer that is worse anyway; what blocks the GPU is the reason for the others."""
    worse = _ORDER.index(found.answer) >= _ORDER.index(answer)
    return found if worse and answer != "no" else _say(answer, why)


def _tool(facts: Facts, name: str) -> tuple[Answer, str]:
    """Say whether a vendor's tool is here and usable, with its version."""
    tool = (facts.get("tools") or {}).get(name)
    if not isinstance(tool, dict) or ("usable" not in tool and "version" not in tool):
        return "no", f"{name} is not installed"
    usable, version = value_of(tool.get("usable")), value_of(tool.get("version"))
    if usable is False:
        return "no", f"{name} is here and does not work"
    named = f"{name} {version}" if version else name
    return ("yes" if usable or version else "unknown"), f"{named} is here"


def _gpu_timeline(facts: Facts, codes: Mapping[str, str], family: str) -> Capability:
    if family == "apple":
        return _xctrace(facts, "xctrace is here")
    name = "nsys" if family == "nvidia" else "rocprofv3"
    answer, why = _tool(facts, name)
    return _say(answer, why, name if answer != "no" else None)


def _gpu_counters(facts: Facts, codes: Mapping[str, str], family: str) -> Capability:
    if family == "apple":
        return _say("unknown", "xctrace reads Metal counters on some chips; this was not tried")
    if family == "amd":
        return _amd_counters(facts, codes)
    answer, why = _tool(facts, "ncu")
    if answer == "no":
        return _say("no", why)
    nvidia = facts["nvidia"]
    status = value_of(nvidia.get("counters"))
    reason = str((nvidia.get("counters_detail") or {}).get("reason") or "permission unknown")
    if status == "denied":
        return _say("no", f"counters denied: {reason}", "ncu")
    doubt = next((codes[c] for c in _DOUBTS if c in codes), None)
    if status == "allowed" and doubt:
        return _say("unknown", doubt, "ncu")
    return _say(answer if status == "allowed" else "unknown", reason, "ncu")


def _amd_counters(facts: Facts, codes: Mapping[str, str]) -> Capability:
    answer, why = _tool(facts, "rocprofv3")
    for code in ("amd.wsl", "amd.counters_unsupported", "amd.profiler_crashed"):
        if code in codes:
            return _say("no", codes[code], "rocprofv3")
    if answer == "no":
        return _say("no", why)
    listed = value_of(facts["amd"].get("counters"))
    if isinstance(listed, dict) and any(listed.values()):
        return _say("yes", "rocprofv3 lists counters for this GPU", "rocprofv3")
    return _say("unknown", f"{why}; whether it may read counters was not checked", "rocprofv3")


def _xctrace(facts: Facts, why: str) -> Capability:
    if value_of((facts.get("apple") or {}).get("xctrace")):
        return _say("yes", why, "xctrace")
    return _say("no", "xctrace is not here: it comes with Xcode")


def _cpu_sampling(facts: Facts, codes: Mapping[str, str]) -> Capability:
    perf = facts.get("perf") or {}
    usable = value_of(perf.get("usable"))
    if usable and "perf.seccomp" in codes:
        return _say("unknown", codes["perf.seccomp"], "perf")
    if usable and value_of(perf.get("user_sampling")):
        return _say("yes", "perf is here and may sample own programs", "perf")
    nsys = facts.get("nsys") or {}
    if value_of(nsys.get("cpu_sampling")) == "available" and "asked" not in nsys:
        return _say("yes", "nsys says that it may sample the CPU", "nsys")
    for name in ("xctrace", "sample"):
        if value_of((facts.get("apple") or {}).get(name)):
            return _say("yes", f"{name} is here", name)
    why = codes.get("perf.kernel_mismatch") or codes.get("perf.paranoid") or "perf is not installed"
    pyspy = facts.get("pyspy") or {}
    if value_of(pyspy.get("usable")) and value_of(pyspy.get("can_attach", True)):
        return _say("yes", f"{why}; py-spy samples Python programs only", "py-spy")
    if usable and value_of(perf.get("user_sampling")) is None:
        return _say("unknown", "perf is here; what the kernel allows could not be read", "perf")
    if usable is None and value_of(perf.get("path")):
        return _say("unknown", "perf is here and did not tell its version", "perf")
    return _say("no", why)


def _cpu_counters(facts: Facts, codes: Mapping[str, str]) -> Capability:
    perf = facts.get("perf") or {}
    counters = value_of(perf.get("hw_counters"))
    if counters == "absent":
        return _say("no", codes.get("perf.no_pmu", "no hardware counters here"))
    usable = value_of(perf.get("usable"))
    if not usable:
        known = usable is False or not value_of(perf.get("path"))
        return _say(
            "no" if known else "unknown", codes.get("perf.kernel_mismatch", "no usable perf")
        )
    allowed = value_of(perf.get("user_sampling"))
    if allowed is False:
        return _say("no", codes.get("perf.paranoid", "perf is denied"), "perf")
    if counters == "available" and allowed and "perf.seccomp" not in codes:
        return _say("yes", "the processor's counters are listed and perf may read them", "perf")
    return _say(
        "unknown", codes.get("perf.seccomp", "hardware counters were not found out"), "perf"
    )


def _python_stacks(facts: Facts, codes: Mapping[str, str]) -> Capability:
    pyspy = facts.get("pyspy") or {}
    if not value_of(pyspy.get("path")):
        return _say("no", "py-spy is not installed: pip install py-spy")
    usable = value_of(pyspy.get("usable"))
    if usable is False:
        return _say("no", "py-spy is here and does not work")
    scope = value_of(pyspy.get("ptrace_scope"))
    if "pyspy.ptrace_denied" in codes and scope != 1:  # 1 leaves the programs that it starts itself
        return _say("no", codes["pyspy.ptrace_denied"], "py-spy")
    if scope == 1 and "pyspy.ptrace_denied" in codes:
        return _say(
            "yes", "py-spy may sample what it starts itself, not what runs already", "py-spy"
        )
    if value_of(pyspy.get("can_attach", True)) is None:
        return _say("unknown", "py-spy is here; whether it may attach could not be read", "py-spy")
    return _say("yes" if usable else "unknown", "py-spy is here and may attach", "py-spy")
