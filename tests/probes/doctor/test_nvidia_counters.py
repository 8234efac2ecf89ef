"""Permission for GPU counters: the driver's setting and CapEff decide, the user id does not."""

from pathlib import Path

import pytest

from perfcite.probes.doctor import host_privileges
from perfcite.probes.doctor.host import Host
from perfcite.probes.doctor.nvidia_counters import driver_branch, judge
from perfcite.probes.doctor.nvidia_machine import (
    Machine,
    parse_admin_only,
    parse_kernel_version,
)

SYS_ADMIN, PERFMON = 1 << 21, 1 << 38
RESTRICTED = Machine(admin_only=1)
UNREADABLE = Machine(params="absent")


@pytest.mark.parametrize(
    ("machine", "host", "driver", "status", "expected"),
    [
        (Machine(admin_only=0), Host(cap_eff=0, euid=1000), "580.1.1", "allowed", False),
        (RESTRICTED, Host(cap_eff=0, euid=1000), "580.1.1", "denied", False),
        (RESTRICTED, Host(cap_eff=0xA80425FB, euid=0), "580.1.1", "denied", False),
        (RESTRICTED, Host(cap_eff=SYS_ADMIN, euid=1000), "470.1.1", "unknown", True),
        (RESTRICTED, Host(cap_eff=PERFMON, euid=1000), "565.57.01", "unknown", True),
        (RESTRICTED, Host(cap_eff=PERFMON, euid=1000), "560.35.03", "denied", False),
        (RESTRICTED, Host(cap_eff=PERFMON, euid=1000), None, "unknown", False),
        (RESTRICTED, Host(euid=0), "580.1.1", "unknown", False),
        (
            RESTRICTED,
            Host(cap_eff=2**41 - 1, euid=0, user_namespace=True),
            "580.1",
            "denied",
            False,
        ),
        (UNREADABLE, Host(cap_eff=0, euid=1000), "580.1.1", "unknown", False),
        (UNREADABLE, Host(cap_eff=0xA80425FB, euid=0), "580.1.1", "denied", False),
        (UNREADABLE, Host(cap_eff=SYS_ADMIN, euid=0), "580.1.1", "unknown", True),
        (Machine(params="no_key"), Host(cap_eff=0, euid=1000), "180.44", "unknown", False),
        (UNREADABLE, Host(wsl=True, cap_eff=SYS_ADMIN, euid=0), "580.1", "unknown", False),
    ],
)
def test_permission_is_judged_by_setting_and_capability(
    machine: Machine, host: Host, driver: str | None, status: str, expected: bool
) -> None:
    counters = judge(machine, host, driver, "linux")
    assert (counters.status, counters.expected) == (status, expected)
    assert counters.facts()["euid"] == host.euid
    assert counters.reason


def test_the_detail_names_the_capability_that_counts() -> None:
    held = judge(RESTRICTED, Host(cap_eff=SYS_ADMIN | PERFMON), "580.1.1", "linux")
    assert held.facts() == {
        "status": "unknown",
        "reason": held.reason,
        "admin_only": 1,
        "euid": None,
        "capability": "CAP_SYS_ADMIN",
    }


def test_on_windows_the_setting_cannot_be_read() -> None:
    assert judge(Machine(), Host(), "580.1", "windows").status == "unknown"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("RmLogonRC: 1\nRmProfilingAdminOnly: 1\n", 1),
        ('RegistryDwords: "A=2;RmProfilingAdminOnly: 1"\nRmProfilingAdminOnly: 0\n', 0),
        ("VideoMemoryTypeOverride: 1\n", None),
        ("", None),
    ],
)
def test_the_setting_is_read_by_its_exact_key(text: str, value: int | None) -> None:
    assert parse_admin_only(text) == value


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("Open Kernel Module for x86_64  570.124.06  Release Build  (b@h)", "570.124.06"),
        ("x86_64 Kernel Module  535.129.03  Thu Oct 19", "535.129.03"),
        ("x86_64 Kernel Module for x86_64  595.80  Release Build", "595.80"),
        ("x86 Kernel Module  180.44  Mon Mar 23", "180.44"),
    ],
)
def test_the_module_version_is_read_from_its_line(line: str, version: str) -> None:
    assert parse_kernel_version(f"NVRM version: NVIDIA UNIX {line}\nGCC version: 12\n") == version


def test_a_branch_is_the_first_number() -> None:
    assert driver_branch("565.57.01") == 565
    assert driver_branch(None) is None
    assert driver_branch("not a version") is None


def test_recorded_parameters_are_read(shared: Path) -> None:
    folder = shared / "samples" / "nvidia_params"
    assert parse_admin_only((folder / "h100_580_open_params.txt").read_text()) == 1
    assert parse_admin_only((folder / "unrestricted_with_regdwords.txt").read_text()) == 0
    assert parse_kernel_version((folder / "version_proprietary_180.txt").read_text()) == "180.44"


@pytest.mark.parametrize(
    ("name", "driver", "status"),
    [
        ("docker_default_root", "580.95.05", "denied"),
        ("docker_cap_sys_admin", "580.95.05", "unknown"),
        ("docker_cap_perfmon", "580.95.05", "unknown"),
        ("docker_cap_perfmon", "550.54.15", "denied"),
        ("here_root_vm", "580.95.05", "unknown"),
        ("nonroot_user", "580.95.05", "denied"),
        ("nonroot_nonewprivs", "580.95.05", "denied"),
        ("nonroot_ambient_perfmon", "580.95.05", "unknown"),
        ("nonroot_ambient_perfmon", "535.129.03", "denied"),
    ],
)
def test_recorded_processes_are_judged(shared: Path, name: str, driver: str, status: str) -> None:
    text = (shared / "samples" / "proc_status" / f"{name}.status").read_text()
    held = host_privileges.parse(host_privileges.fields(text), None)
    host = Host(cap_eff=held.cap_eff, euid=held.euid)
    assert judge(RESTRICTED, host, driver, "linux").status == status
