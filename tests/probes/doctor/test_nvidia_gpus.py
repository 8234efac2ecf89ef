"""Single GPUs: who uses them, what slows them down, and what kind they are."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from perfcite.evidence.payloads import Fix
from perfcite.probes.doctor.nvidia_gathered import Gathered, together
from perfcite.probes.doctor.nvidia_reading import Gpu
from perfcite.probes.doctor.section import Section
from tests.probes.doctor.nvidia_machines import codes, examine, found, pci

pytestmark = pytest.mark.anyio


async def test_programs_that_compute_are_named_and_paths_are_not() -> None:
    listed = [{"pid": 42, "name": "/home/alice/venv/bin/python3", "used_mib": 900}]
    section = await examine(nvml={"processes": listed, "util_pct": 60})
    finding = found(section, "nvidia.other_process")
    assert finding.severity == "warning"
    assert "python3 (pid 42, 900 MiB)" in finding.what
    assert "alice" not in json.dumps([finding.model_dump(), section.facts])


async def test_the_server_of_mps_is_no_other_program() -> None:
    listed = [{"pid": 7, "name": "nvidia-cuda-mps-server", "used_mib": 30}]
    assert "nvidia.other_process" not in codes(await examine(nvml={"processes": listed}))


async def test_exclusive_mode_is_right_with_mps() -> None:
    machine: dict[str, Any] = {"nvml": {"compute_mode": 3}}
    assert "nvidia.exclusive_mode" in codes(await examine(**machine))
    files = {"/proc/88/comm": "nvidia-cuda-mps\n"}
    assert "nvidia.exclusive_mode" not in codes(await examine(**machine, files=files))


@pytest.mark.parametrize(
    ("state", "hidden"),
    [
        ({"processes": [], "used_mib": 150}, False),
        ({"processes": [], "used_mib": 250}, True),
        ({"processes": [], "util_pct": 5}, False),
        ({"processes": [], "util_pct": 6}, True),
        ({"util_pct": 40}, True),
        ({"mig": 1, "util": 3, "used_mib": 9000}, False),
    ],
)
async def test_use_by_nobody_listed_is_hidden_use(state: Mapping[str, Any], hidden: bool) -> None:
    section = await examine(nvml=state)
    assert ("nvidia.other_process_hidden" in codes(section)) == hidden


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"reasons": 0x1}, None),
        ({"reasons": 0x4, "util_pct": 0}, None),
        ({"reasons": 0x4, "util_pct": 99}, "warning"),
        ({"reasons": 0x20, "util_pct": 99}, "warning"),
        ({"reasons": 0x8}, "error"),
        ({"reasons": 0x40, "util_pct": 99}, "error"),
        ({"reasons": 0x80}, "error"),
        ({"reasons": 0x100, "util_pct": 99}, None),
    ],
)
async def test_throttling_is_judged_by_its_reason(
    state: Mapping[str, Any], expected: str | None
) -> None:
    throttled = [f for f in (await examine(nvml=state)).findings if f.code == "nvidia.throttled"]
    assert [f.severity for f in throttled] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("state", "locked"),
    [
        ({"reasons": 0x2, "util_pct": 98, "clock_sm": 1200}, True),
        ({"reasons": 0x0, "util_pct": 98, "clock_sm": 1200}, True),
        ({"reasons": 0x4, "util_pct": 98, "clock_sm": 1200}, False),
        ({"reasons": 0x1, "util_pct": 0, "clock_sm": 210}, False),
        ({"reasons": 0x0, "util_pct": 98, "clock_sm": 2745, "clock_sm_max": 3105}, False),
        ({"reasons": 0x0, "util_pct": 40, "clock_sm": 1200}, False),
    ],
)
async def test_a_clock_below_its_maximum_is_a_lock_only_without_another_reason(
    state: Mapping[str, Any], locked: bool
) -> None:
    assert ("nvidia.clocks_locked_low" in codes(await examine(nvml=state))) == locked


async def test_a_share_of_a_card_is_recognised_by_its_name() -> None:
    answer = "0, Tesla V100-PCIE-16GB, 3000, 2716\n"
    rules = {"nvidia-smi": [{"argv_prefix": ["--query-gpu="], "stdout": answer}]}
    assert "nvidia.memory_virtualised" in codes(await examine(executables=rules))
    whole = {
        "nvidia-smi": [{"argv_prefix": ["--query-gpu="], "stdout": "0, GH200 480GB, 97871, 1\n"}]
    }
    assert "nvidia.memory_virtualised" not in codes(await examine(executables=whole))


async def test_the_value_of_a_preload_is_not_recorded() -> None:
    section = await examine(nvml={}, env={"LD_PRELOAD": "/secret/place/libvgpu.so"})
    assert "nvidia.memory_virtualised" in codes(section)
    assert "/secret/place" not in json.dumps([f.model_dump() for f in section.findings])


async def test_fewer_gpus_than_on_the_bus_is_an_error_only_where_all_were_given() -> None:
    alone = found(await examine(files=pci(4), nvml={"count": 3}), "nvidia.gpu_count_mismatch")
    job = await examine(files=pci(4), nvml={"count": 3}, env={"SLURM_JOB_GPUS": "0,1,2"})
    assert alone.severity == "error"
    assert found(job, "nvidia.gpu_count_mismatch").severity == "note"


async def test_eight_gpus_with_one_trouble_are_one_finding_that_names_them() -> None:
    state = {"count": 8, "reasons": 72, "util_pct": 99, "clock_sm": 600, "name": "NVIDIA H100"}
    section = await examine(nvml={**state, "persistence": 0, "power_limit_w": 400})
    throttled = [f for f in section.findings if f.code == "nvidia.throttled"]
    assert len(throttled) == 1
    assert throttled[0].what.startswith("GPUs 0 to 7 (NVIDIA H100) are slowed down now: hw ")
    assert "(SM clock 600 of 1980 MHz)" in throttled[0].what
    assert [e for e in throttled[0].evidence if e.startswith("clocks event reasons, GPU 7:")]
    limit = found(section, "nvidia.power_limit_reduced")
    assert limit.fix is not None
    assert limit.fix.commands == ("sudo nvidia-smi -i 0,1,2,3,4,5,6,7 -pl 700",)
    repeated = [f.code for f in section.findings]
    assert len(repeated) == len(set(repeated))


def test_gpus_with_different_causes_stay_apart_and_their_figures_are_told() -> None:
    section, told = Section(), Gathered()
    for index in range(6):
        told.find(
            Gpu(index=index, facts={"name": "A" if index < 5 else "B"}),
            "nvidia.throttled",
            "warning" if index else "error",
            "{gpus} run{s} slowly: {details}",
            detail=f"{index} MHz",
            evidence=[f"GPU {index}"],
            affects=("timing",),
            fix=lambda indices: Fix(summary=indices),
        )
    told.report(section)
    alone, rest = section.findings
    assert alone.what == "GPU 0 (A) runs slowly: 0 MHz"
    assert rest.what == (
        "GPU 1 (A), GPU 2 (A), GPU 3 (A), GPU 4 (A), GPU 5 (B) run slowly: "
        "GPU 1: 1 MHz; GPU 2: 2 MHz; GPU 3: 3 MHz; and 2 more"
    )
    assert rest.evidence == ("GPU 1", "GPU 2", "GPU 3", "GPU 4", "GPU 5")


@pytest.mark.parametrize(
    ("indices", "words"),
    [([0, 1, 2], "GPUs 0 to 2"), ([0, 1], "GPUs 0 and 1"), ([0, 2, 5], "GPUs 0, 2 and 5")],
)
def test_several_gpus_are_named_shortly(indices: list[int], words: str) -> None:
    assert together([Gpu(index=i) for i in indices]) == words
