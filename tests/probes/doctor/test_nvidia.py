"""NVIDIA, from the laid-out machine to facts and findings; NVML and nvidia-smi answer from rules."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from perfcite.evidence.payloads import Finding
from perfcite.probes.doctor import host, nvidia
from perfcite.probes.doctor.section import Section
from tests.replay import ReplaySystem

pytestmark = pytest.mark.anyio

OPEN_COUNTERS = {
    "/proc/driver/nvidia/params": "RmProfilingAdminOnly: 0\n",
    "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
    "580.95.05  Release Build  (builder@host)\n",
    "/proc/self/status": "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n",
}
CONTAINER = {
    "/.dockerenv": "",
    "/proc/self/cgroup": "0::/docker/0123456789abcdef0123\n",
    "/proc/self/mountinfo": "1 0 0:1 / / rw - overlay overlay rw\n",
}
WSL = {"/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n", "/dev/dxg": ""}
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that "
    "the latest NVIDIA driver is installed and running.\n\n"
)


def pci(count: int, driver: str | None = None) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for i in range(count):
        device = f"/sys/bus/pci/devices/0000:{i + 1:02x}:00.0"
        files |= {f"{device}/vendor": "0x10de\n", f"{device}/class": "0x030200\n"}
        if driver:
            files[f"{device}/driver"] = {"symlink": f"../../../bus/pci/drivers/{driver}"}
    return files


async def examine(**machine: Any) -> Section:
    system = ReplaySystem(**machine)
    return await nvidia.examine(system, host.read(system))


def found(section: Section, code: str) -> Finding:
    matching = [f for f in section.findings if f.code == code]
    assert matching, f"{code} not in {[f.code for f in section.findings]}"
    return matching[0]


def codes(section: Section, *, above_notes: bool = False) -> set[str]:
    return {f.code for f in section.findings if not above_notes or f.severity != "note"}


HEALTHY: dict[str, dict[str, Any]] = {
    "one card": {"files": {**pci(1), **OPEN_COUNTERS}, "nvml": {"count": 1, "processes": []}},
    "eight cards": {"files": {**pci(8), **OPEN_COUNTERS}, "nvml": {"count": 8, "processes": []}},
    "administrator": {
        "files": {
            **pci(1),
            **OPEN_COUNTERS,
            "/proc/driver/nvidia/params": "RmProfilingAdminOnly: 1\n",
            "/proc/self/status": "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n",
        },
        "nvml": {"count": 1, "processes": []},
    },
    "container with one card of four": {
        "files": {**pci(4), **OPEN_COUNTERS, **CONTAINER},
        "nvml": {"count": 1, "processes": []},
    },
    "card handed to a virtual machine": {
        "files": {**pci(1), **OPEN_COUNTERS, **pci(0)}
        | {
            "/sys/bus/pci/devices/0000:09:00.0/vendor": "0x10de\n",
            "/sys/bus/pci/devices/0000:09:00.0/class": "0x030000\n",
            "/sys/bus/pci/devices/0000:09:00.0/driver": {"symlink": "../drivers/vfio-pci"},
        },
        "nvml": {"count": 1, "processes": []},
    },
    "no card, NVIDIA's packages installed": {
        "files": {"/sys/bus/pci/devices/0000:00:02.0/vendor": "0x8086\n"},
        "executables": {"nvidia-smi": [{"stdout": NO_DRIVER, "exit": 9}]},
    },
    "nothing of NVIDIA's": {"files": {"/sys/bus/pci/devices/0000:00:02.0/vendor": "0x8086\n"}},
}


@pytest.mark.parametrize("machine", HEALTHY.values(), ids=HEALTHY.keys())
async def test_a_healthy_machine_yields_notes_at_most(machine: dict[str, Any]) -> None:
    assert codes(await examine(**machine), above_notes=True) == set()


async def test_a_machine_without_nvidia_starts_no_program() -> None:
    system = ReplaySystem(files={"/sys/bus/pci/devices/0000:00:02.0/vendor": "0x8086\n"})
    section = await nvidia.examine(system, host.read(system))
    assert system.started == []
    assert section.facts["nvidia"] == {"gpus": [], "pci_count": 0}


async def test_a_sysroot_without_any_listing_leaves_the_gpus_unknown() -> None:
    gpus = (await examine()).facts["nvidia"]["gpus"]
    assert gpus["state"] == "unknown"


async def test_a_row_holds_every_wanted_fact_and_no_uuid() -> None:
    section = await examine(nvml={"count": 2, "processes": []})
    first = section.facts["nvidia"]["gpus"][0]
    assert first["name"] == "NVIDIA Fake GPU"
    assert (first["memory_total_mib"], first["memory_reserved_mib"]) == (81920, 600)
    assert (first["power_w"], first["power_limit_w"], first["temperature_c"]) == (70.0, 700.0, 35)
    assert (first["pstate"], first["compute_capability"], first["mig"]) == ("P0", "9.0", False)
    assert "GPU-0" not in json.dumps(section.facts)
    assert "Clock locks" in section.limitations[0]


async def test_what_nvml_does_not_know_is_taken_from_nvidia_smi() -> None:
    document = (
        "<nvidia_smi_log><driver_version>580.95.05</driver_version><attached_gpus>1</attached_gpus>"
        '<gpu id="00000000:01:00.0"><product_name>NVIDIA L4</product_name>'
        "<utilization><gpu_util>3 %</gpu_util></utilization>"
        "<processes></processes></gpu></nvidia_smi_log>"
    )
    rules = {"nvidia-smi": [{"argv_prefix": ["-q", "-x"], "stdout": document}]}
    section = await examine(nvml={"count": 1, "util": 3, "garbage": True}, executables=rules)
    row = section.facts["nvidia"]["gpus"][0]
    assert (row["name"], row["utilization_pct"], row["processes"]) == ("NVIDIA L4", 3, [])
    assert row["memory_total_mib"] == 81920


async def test_an_unreadable_name_is_unknown_and_the_rest_is_kept() -> None:
    row = (await examine(nvml={"garbage": True})).facts["nvidia"]["gpus"][0]
    assert row["name"]["state"] == "unknown"
    assert row["temperature_c"] == 35


async def test_refused_memory_is_unknown_never_zero() -> None:
    row = (await examine(nvml={"mem": 4})).facts["nvidia"]["gpus"][0]
    assert row["memory_total_mib"] == {"value": None, "state": "unknown", "reason": "no_permission"}


async def test_when_both_are_silent_the_gpus_are_unknown_with_the_reason() -> None:
    section = await examine(
        nvml={"sleep_ms": 60000}, executables={"nvidia-smi": [{"sleep_ms": 60000}]}
    )
    assert section.facts["nvidia"]["gpus"]["reason"] == "timeout"
    assert found(section, "nvidia.smi_timeout").severity == "error"


async def test_a_silent_nvml_beside_a_working_nvidia_smi_is_a_warning() -> None:
    listed = "GPU 0: NVIDIA L4 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n"
    section = await examine(
        nvml={"sleep_ms": 60000}, executables={"nvidia-smi": [{"stdout": listed}]}
    )
    assert section.facts["nvidia"]["gpus"][0]["name"] == "NVIDIA L4"
    assert found(section, "nvidia.smi_timeout").severity == "warning"


async def test_a_crash_of_nvml_is_told_though_nvidia_smi_works() -> None:
    listed = "GPU 0: NVIDIA L4 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n"
    section = await examine(nvml={"segv": True}, executables={"nvidia-smi": [{"stdout": listed}]})
    assert "SIGSEGV" in found(section, "nvidia.nvml_crashed").what
    assert len(section.facts["nvidia"]["gpus"]) == 1


@pytest.mark.parametrize(
    ("state", "files", "code"),
    [
        ({"init": 18}, {}, "nvidia.driver_library_mismatch"),
        ({"init": 9}, {}, "nvidia.driver_not_loaded"),
        ({"init": 4}, {}, "nvidia.devnode_denied"),
        ({"init": 999}, CONTAINER, "nvidia.container_lost_gpu"),
        ({"init": 999}, {}, "nvidia.nvml_failed"),
        ({"init": 17}, WSL, "nvidia.blocked_by_windows"),
        ({"count": 0}, pci(1), "nvidia.no_devices_found"),
        ({"count": 1, "lost": 0, "lost_error": 16}, {}, "nvidia.gpu_lost"),
        ({"count": 1, "lost": 0, "lost_error": 4}, {}, "nvidia.devnode_denied"),
    ],
)
async def test_each_way_to_fail_has_its_finding(
    state: Mapping[str, Any], files: dict[str, Any], code: str
) -> None:
    section = await examine(files=files, nvml=state)
    assert found(section, code).severity == "error"


async def test_a_broken_gpu_does_not_make_a_machine_without_gpus() -> None:
    section = await examine(files=pci(1), nvml={"count": 0})
    assert section.facts["nvidia"]["gpus"]["state"] == "unknown"


async def test_no_cuda_version_is_reported_where_no_gpu_answers() -> None:
    facts = (await examine(nvml={"init": 9, "cuda_driver_version": 12020})).facts["nvidia"]
    assert facts["cuda_driver_version"]["value"] is None
    assert facts["cuda_driver_max"]["value"] is None


async def test_a_cuda_version_is_not_a_driver_version() -> None:
    facts = (await examine(nvml={"cuda_driver_version": 12080, "driver": "570.124.06"})).facts
    assert facts["nvidia"]["cuda_driver_max"] == "12.8"
    assert facts["nvidia"]["driver"]["version"] == "570.124.06"


BROKEN: dict[str, dict[str, Any]] = {
    "mismatch": {"nvml": {"init": 18}},
    "not loaded": {"nvml": {"init": 9}},
    "refused": {"nvml": {"init": 4}},
    "unknown error": {"nvml": {"init": 999}},
    "lost": {"nvml": {"count": 1, "lost": 0}},
    "silent": {"nvml": {"sleep_ms": 60000}},
    "crashed": {"nvml": {"segv": True}},
    "slow": {
        "nvml": {
            "util_pct": 99,
            "reasons": 0x4A,
            "clock_sm": 600,
            "persistence": 0,
            "compute_mode": 3,
            "power_limit_w": 300,
            "used_mib": 5000,
            "processes": [],
        }
    },
    "sliced": {"nvml": {"mig": 1}, "env": {"CUDA_VISIBLE_DEVICES": "MIG-1"}},
    "hidden": {"nvml": {"count": 2}, "env": {"CUDA_VISIBLE_DEVICES": "5"}},
}


@pytest.mark.parametrize("machine", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("files", [{}, CONTAINER, WSL], ids=["host", "container", "wsl"])
async def test_every_finding_is_complete(machine: dict[str, Any], files: dict[str, Any]) -> None:
    section = await examine(**machine, files=files)
    assert section.findings
    for finding in section.findings:
        assert finding.what
        assert all(": " in line for line in finding.evidence), finding
        assert finding.affects
        assert finding.fix is not None, finding.code
        assert finding.fix.summary
        assert finding.fix.verify


@pytest.mark.parametrize("machine", BROKEN.values(), ids=BROKEN.keys())
async def test_inside_a_container_no_command_of_the_host_is_suggested(
    machine: dict[str, Any],
) -> None:
    section = await examine(**machine, files=CONTAINER)
    for finding in section.findings:
        commands = " ".join(finding.fix.commands if finding.fix else ())
        assert "sudo" not in commands, finding
        assert "modprobe" not in commands, finding


@pytest.mark.parametrize("machine", BROKEN.values(), ids=BROKEN.keys())
async def test_under_wsl_no_driver_of_linux_is_advised(machine: dict[str, Any]) -> None:
    section = await examine(**machine, files=WSL)
    for finding in section.findings:
        commands = " ".join(finding.fix.commands if finding.fix else ())
        assert not any(w in commands for w in ("sudo", "modprobe", "docker", "dmesg")), finding


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


async def test_the_working_copy_of_nvidia_smi_is_believed_and_the_other_named() -> None:
    good = "GPU 0: NVIDIA L4 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n"
    section = await examine(
        files=WSL,
        executables={
            "nvidia-smi": [{"stdout": NO_DRIVER, "exit": 9}],
            "/usr/lib/wsl/lib/nvidia-smi": [{"argv_prefix": ["-L"], "stdout": good}],
        },
    )
    assert "/usr/lib/wsl/lib/nvidia-smi" in found(section, "tool.wrong_copy").what
    assert section.facts["tools"]["nvidia-smi"]["path"] == "/usr/lib/wsl/lib/nvidia-smi"
    assert "nvidia.driver_not_loaded" not in codes(section)


async def test_a_jetson_without_any_nvidia_program_has_its_gpu() -> None:
    section = await examine(files={"/etc/nv_tegra_release": "# R35 (release), REVISION: 4.1\n"})
    assert section.facts["nvidia"]["platform"] == "tegra"
    assert section.facts["nvidia"]["gpus"][0]["memory_kind"] == "unified"
    assert codes(section) <= {"nvidia.tegra", "nvidia.counters_unknown"}


async def test_dcgm_is_seen_by_the_name_of_its_process() -> None:
    section = await examine(files={"/proc/777/comm": "nv-hostengine\n"})
    finding = found(section, "nvidia.counters_busy")
    assert finding.evidence == ("/proc/777/comm: nv-hostengine",)
    assert finding.fix
    assert finding.fix.commands[0] == "dcgmi profile --pause"
