"""What can be measured: a GPU that cannot be reached is not measured, one of several leaves the others."""

from typing import Any

import pytest

from perfcite.evidence.payloads import Finding, Severity
from perfcite.probes.doctor import capabilities, summary
from perfcite.probes.doctor.examine import examine
from tests.probes.doctor.machines import answer, machine
from tests.probes.doctor.nvidia_machines import OPEN_COUNTERS
from tests.replay import ReplaySystem

TOOLS = {"nsys": {"version": "2025.3.1", "usable": True}, "ncu": {"version": "2025.3.0"}}
ROCPROF = {"rocprofv3": {"version": "1.0.0", "usable": True}}


def facts(*rows: dict[str, Any], **nvidia: Any) -> dict[str, Any]:
    found = {"gpus": list(rows) or [{"state": "ok"}], "counters": "allowed", **nvidia}
    return {"platform": "nvidia", "gpu_count": len(rows), "nvidia": found, "tools": TOOLS}


def finding(code: str, severity: Severity = "error") -> Finding:
    return Finding(code=code, severity=severity, what=f"said by {code}", evidence=(), affects=())


def timeline(given: dict[str, Any], *findings: Finding) -> tuple[str, str]:
    can = capabilities.judge(given, findings)
    return can.gpu_timeline.answer, can.gpu_timeline.why


@pytest.mark.parametrize(
    "code", ["nvidia.visible_none", "nvidia.driver_library_mismatch", "nvidia.blocked_by_windows"]
)
def test_nothing_is_measured_where_no_gpu_can_be_reached(code: str) -> None:
    can = capabilities.judge(facts({"state": "ok"}), [finding(code)])
    assert (can.gpu_timeline.answer, can.gpu_counters.answer) == ("no", "no")
    assert can.gpu_timeline.why == f"said by {code}"


@pytest.mark.parametrize("code", ["nvidia.devnode_denied", "nvidia.gpu_lost"])
@pytest.mark.parametrize(("other", "expected"), [("ok", "yes"), ("lost", "no")])
def test_a_finding_about_one_gpu_leaves_the_others(code: str, other: str, expected: str) -> None:
    given = facts({"state": "no_permission"}, {"state": other})
    assert timeline(given, finding(code))[0] == expected


def test_prohibited_compute_mode_shuts_out_only_the_gpu_that_has_it() -> None:
    shut, free = {"state": "ok", "compute_mode": "Prohibited"}, {"state": "ok"}
    assert timeline(facts(shut), finding("nvidia.exclusive_mode"))[0] == "no"
    assert timeline(facts(shut, free), finding("nvidia.exclusive_mode"))[0] == "yes"


@pytest.mark.parametrize("code", ["nvidia.nvml_crashed", "nvidia.smi_timeout"])
def test_a_driver_that_answers_badly_makes_it_unknown_unless_it_is_only_slow(code: str) -> None:
    assert timeline(facts(), finding(code)) == ("unknown", f"said by {code}")
    assert timeline(facts(), finding(code, "warning"))[0] == "yes"


def test_variables_that_leave_no_amd_gpu_leave_nothing_to_measure() -> None:
    given = {
        "platform": "rocm",
        "gpu_count": 1,
        "amd": {"gpus": [{"gfx": "gfx942"}], "visible_count": 0},
        "tools": ROCPROF,
    }
    assert timeline(given, finding("amd.visible_none"))[0] == "no"
    assert timeline(given)[0] == "no"


def test_of_two_vendors_the_one_that_can_be_measured_answers() -> None:
    given = facts({"state": "ok"}) | {"amd": {"gpus": [{"gfx": "gfx1100"}]}}
    given["tools"] = TOOLS | ROCPROF
    can = capabilities.judge(given, [finding("nvidia.visible_none")])
    assert (can.gpu_timeline.answer, can.gpu_timeline.tool) == ("yes", "rocprofv3")


@pytest.mark.parametrize("code", ["nvidia.counters_busy", "nvidia.vgpu"])
def test_counters_that_another_may_hold_are_not_promised(code: str) -> None:
    can = capabilities.judge(facts(), [finding(code, "warning")])
    assert (can.gpu_counters.answer, can.gpu_timeline.answer) == ("unknown", "yes")


@pytest.mark.anyio
async def test_an_empty_list_of_visible_devices_is_seen_in_the_answer() -> None:
    system = ReplaySystem(
        files=OPEN_COUNTERS,
        executables={
            "nsys": answer("NVIDIA Nsight Systems version 2025.3.1\n"),
            "ncu": answer("Version 2025.3.0.0 (build 1)\n"),
        },
        env={"CUDA_VISIBLE_DEVICES": ""},
        nvml={"count": 1},
    )
    found = await examine(system)
    assert "nvidia.visible_none" in [f.code for f in found.findings]
    assert (found.can.gpu_timeline.answer, found.can.gpu_counters.answer) == ("no", "no")


def test_the_summary_names_the_gpus_of_both_vendors() -> None:
    given = facts({"name": "NVIDIA H200"}) | {"amd": {"gpus": [{"gfx": "gfx1100"}]}}
    assert summary.summarise(given, ()).startswith("NVIDIA H200 and gfx1100; ")


@pytest.mark.anyio
async def test_where_the_count_is_unknown_the_gpu_is_missing() -> None:
    assert "gpu" in (await examine(machine())).missing


@pytest.mark.anyio
async def test_of_an_empty_sysroot_nothing_of_the_running_kernel_is_answered() -> None:
    status = "Sampling Environment: OK\nCPU Profiling Environment (process-tree): OK\n"
    nsys = [
        {"argv_prefix": ["--version"], "stdout": "NVIDIA Nsight Systems version 2025.3.1\n"},
        {"argv_prefix": ["status"], "stdout": status},
    ]
    programs = {
        "perf": answer("perf version 6.1.0\n"),
        "py-spy": answer("py-spy 0.4.3\n"),
        "nsys": nsys,
    }
    found = await examine(machine({}, programs))
    assert found.can.cpu_hw_counters.answer == "unknown"
    assert found.can.cpu_sampling.answer == "unknown"
    assert found.can.python_stacks.answer == "unknown"
