"""CPUs, quotas, memory and files: how much of the machine is ours."""

import pytest

from perfcite.probes.doctor import cgroup, cpu_list
from tests.probes.doctor.machines import codes, fact, finding, machine, read_host

GIB = 1 << 30


def test_cpu_lists_are_read_and_written_as_the_kernel_does() -> None:
    assert cpu_list.parse("0-3,8,10-11\n") == frozenset({0, 1, 2, 3, 8, 10, 11})
    assert cpu_list.show(frozenset({0, 1, 2, 3, 8, 10, 11})) == "0-3,8,10-11"
    assert cpu_list.parse("garbage") is None


def test_the_tightest_quota_of_all_parents_counts() -> None:
    limits = cgroup.read(
        machine(
            {
                "/proc/self/cgroup": "0::/a/b/c\n",
                "/sys/fs/cgroup/a/cpu.max": "200000 100000\n",
                "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
                "/sys/fs/cgroup/a/b/c/cpu.max": "800000 100000\n",
            }
        )
    )
    assert (limits.cpu_quota, limits.cpu_quota_file) == (2.0, "/sys/fs/cgroup/a/cpu.max")


def test_a_path_counts_from_the_root_of_its_mount() -> None:
    limits = cgroup.read(
        machine(
            {
                "/proc/self/cgroup": "4:cpu,cpuacct:/docker/abc/job\n",
                "/proc/self/mountinfo": "31 30 0:26 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - "
                "cgroup cgroup rw,cpu,cpuacct\n",
                "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "250000\n",
                "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
            }
        )
    )
    assert (limits.version, limits.cpu_quota) == ("v1", 2.5)


def test_a_group_outside_of_the_namespace_is_read_at_the_mount() -> None:
    files = {"/proc/self/cgroup": "0::/../other\n", "/sys/fs/cgroup/cpu.max": "50000 100000\n"}
    assert cgroup.read(machine(files)).cpu_quota == 0.5


def test_a_quota_that_gives_all_cpus_is_no_finding() -> None:
    files = {
        "/proc/self/cgroup": "0::/\n",
        "/sys/fs/cgroup/cpu.max": "400000 100000\n",
        "/sys/devices/system/cpu/online": "0-3\n",
    }
    assert "host.cpu_quota" not in codes(read_host(files).section)


def test_a_quota_in_a_container_is_raised_where_the_container_starts() -> None:
    files = {
        "/.dockerenv": "",
        "/proc/self/cgroup": "0::/\n",
        "/sys/fs/cgroup/cpu.max": "150000 100000\n",
        "/sys/devices/system/cpu/online": "0-7\n",
    }
    fix = finding(read_host(files).section, "host.cpu_quota").fix
    assert fix
    assert fix.where == "container launch"
    assert any("--cpus=" in c for c in fix.commands)


def test_rare_throttling_is_a_note() -> None:
    stat = "nr_periods 100000\nnr_throttled 3\n"
    files = {"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.stat": stat}
    assert codes(read_host(files).section)["host.cpu_throttled"] == "note"


def test_a_cpuset_narrower_than_the_machine_is_a_note_and_counts() -> None:
    files = {
        "/proc/self/cgroup": "0::/job\n",
        "/sys/fs/cgroup/job/cpuset.cpus.effective": "0-3\n",
        "/sys/devices/system/cpu/online": "0-15\n",
    }
    here = read_host(files)
    assert codes(here.section)["host.cpuset"] == "note"
    assert fact(here.section, "host.cpu_effective") == 4.0


def test_an_affinity_is_a_cpuset_too() -> None:
    files = {
        "/proc/self/status": "Cpus_allowed_list:\t2-3\n",
        "/sys/devices/system/cpu/online": "0-7\n",
    }
    here = read_host(files)
    assert "2 of 8" in finding(here.section, "host.cpuset").what
    assert fact(here.section, "host.cpu_effective") == 2.0


def test_possible_cpus_in_the_affinity_are_no_more_than_those_online() -> None:
    files = {
        "/proc/self/status": "Cpus_allowed_list:\t0-127\n",
        "/sys/devices/system/cpu/online": "0-7\n",
    }
    here = read_host(files)
    assert "host.cpuset" not in codes(here.section)
    assert fact(here.section, "host.cpu_effective") == 8.0


def test_less_than_half_of_the_memory_is_a_warning() -> None:
    files = {
        "/proc/self/cgroup": "0::/\n",
        "/sys/fs/cgroup/memory.max": f"{4 * GIB}\n",
        "/proc/meminfo": "MemTotal: 67108864 kB\nMemAvailable: 60000000 kB\n",
    }
    here = read_host(files)
    assert codes(here.section)["host.memory_limit"] == "warning"
    assert fact(here.section, "host.memory_limit") == 4 * GIB


def test_no_control_group_at_all_is_unknown_and_no_limit() -> None:
    here = read_host({})
    assert here.section.facts["host"]["cpu_quota"]["state"] == "unknown"
    assert here.section.facts["host"]["cpu_effective"]["state"] == "unknown"


def test_few_files_that_a_server_can_raise_itself_are_a_note() -> None:
    line = "Max open files            1024                 1048576              files     \n"
    assert codes(read_host({"/proc/self/limits": line}).section)["host.open_files_low"] == "note"


def test_few_files_for_good_are_a_warning() -> None:
    line = "Max open files            1024                 1024                 files     \n"
    here = read_host({"/proc/self/limits": line})
    assert codes(here.section)["host.open_files_low"] == "warning"


@pytest.mark.parametrize(
    ("text", "state"), [("lots 100000\n", "unknown"), ("\n", "unknown"), ("max 100000\n", "absent")]
)
def test_a_quota_that_cannot_be_parsed_is_unknown_and_not_absent(text: str, state: str) -> None:
    here = read_host(
        {"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": text, "/sys/fs/cgroup/x": ""}
    )
    quota = here.section.facts["host"]["cpu_quota"]
    assert quota["state"] == state
    assert state == "absent" or quota["reason"].startswith("parse_error")


def test_a_memory_limit_that_cannot_be_parsed_is_unknown() -> None:
    files = {"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "4G\n"}
    assert read_host(files).section.facts["host"]["memory_limit"]["state"] == "unknown"
