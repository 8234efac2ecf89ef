"""NVIDIA, from the laid-out machine to facts and findings; NVML and nvidia-smi answer from rules."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from perfcite.probes.doctor import host, nvidia
from tests.probes.doctor.nvidia_machines import (
    CONTAINER,
    NO_DRIVER,
    OPEN_COUNTERS,
    WSL,
    codes,
    examine,
    found,
    pci,
)
from tests.replay import ReplaySystem

pytestmark = pytest.mark.anyio

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


async def test_an_nvidia_smi_that_fails_at_every_query_is_a_finding_with_its_own_words() -> None:
    failing = [{"stderr": "Segfault in libfoo, code 7\n", "exit": 3}]
    section = await examine(executables={"nvidia-smi": failing}, files=pci(1))
    finding = found(section, "nvidia.nvml_failed")
    assert finding.severity == "error"
    assert "Segfault in libfoo" in finding.evidence[0]
    assert "Segfault in libfoo" in section.facts["nvidia"]["gpus"]["reason"]
    assert section.facts["tools"]["nvidia-smi"]["usable"] is False
    bus = {"/sys/bus/pci/devices/0000:00:00.0/vendor": "0x8086\n"}
    spare = await examine(executables={"nvidia-smi": failing}, files=bus)
    assert codes(spare) == {"nvidia.no_gpu"}


async def test_a_control_node_alone_is_neither_a_gpu_nor_a_broken_driver() -> None:
    files = {
        "/dev/nvidiactl": "",
        "/sys/bus/pci/devices/0000:00:00.0/vendor": "0x8086\n",
        "/sys/bus/pci/devices/0000:00:00.0/class": "0x060000\n",
    }
    section = await examine(files=files)
    assert codes(section) == set()
    assert section.facts["nvidia"]["gpus"] == []
