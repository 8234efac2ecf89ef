"""Clocks, load, memory, storage, environment names: the rest of the host."""

import pytest

from perfcite.probes.doctor.environment import telling_names
from perfcite.probes.doctor.host_clock import steal_share
from perfcite.probes.doctor.host_cpu import identity
from perfcite.probes.doctor.host_storage import mount_options
from tests.probes.doctor.machines import codes, fact, finding, read_host

FREQ = "/sys/devices/system/cpu/cpu0/cpufreq/"
CLOCK = "/sys/devices/system/clocksource/clocksource0/"


@pytest.mark.parametrize(
    ("governor", "driver", "severity"),
    [
        ("powersave", "intel_pstate", "note"),
        ("powersave", "amd-pstate-epp", "note"),
        ("powersave", "acpi-cpufreq", "warning"),
        ("schedutil", "intel_cpufreq", "warning"),
        ("ondemand", "", "warning"),
        ("performance", "acpi-cpufreq", None),
    ],
)
def test_a_governor_is_judged_with_its_driver(
    governor: str, driver: str, severity: str | None
) -> None:
    here = read_host({FREQ + "scaling_governor": governor, FREQ + "scaling_driver": driver})
    assert codes(here.section).get("host.governor_not_performance") == severity
    assert fact(here.section, "host.governor") == governor


def test_one_slow_policy_among_fast_ones_is_found() -> None:
    policy = "/sys/devices/system/cpu/cpufreq/policy"
    files = {
        f"{policy}0/scaling_governor": "performance",
        f"{policy}4/scaling_governor": "ondemand",
    }
    assert codes(read_host(files).section)["host.governor_not_performance"] == "warning"


@pytest.mark.parametrize(
    "clock", ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"]
)
def test_fast_clock_sources_are_fine(clock: str) -> None:
    here = read_host({CLOCK + "current_clocksource": clock})
    assert "host.clocksource_slow" not in codes(here.section)


def test_a_slow_clock_source_is_a_warning_with_a_fix() -> None:
    here = read_host({CLOCK + "current_clocksource": "hpet\n"})
    assert codes(here.section)["host.clocksource_slow"] == "warning"
    fix = finding(here.section, "host.clocksource_slow").fix
    assert fix
    assert fix.needs_reboot
    assert "clocksource=tsc" in fix.commands[-1]


def test_steal_is_an_error_above_a_tenth() -> None:
    here = read_host({"/proc/stat": "cpu 800 0 0 50 0 0 0 150 0 0\n"})
    assert codes(here.section)["host.steal"] == "error"


def test_a_short_stat_line_of_an_old_kernel_has_no_steal() -> None:
    assert steal_share("cpu 1 2 3 4\n") is None


def test_pressure_and_load_are_told_together() -> None:
    files = {
        "/proc/pressure/cpu": "some avg10=99.00 avg60=80.00 avg300=50.00 total=1\n",
        "/proc/loadavg": "10.60 8.00 4.00 5/100 999\n",
        "/sys/devices/system/cpu/online": "0-1\n",
    }
    found = finding(read_host(files).section, "host.busy")
    assert found.severity == "warning"
    assert "99" in found.what
    assert "10.6" in found.what


def test_a_load_below_the_number_of_cpus_is_quiet() -> None:
    files = {"/proc/loadavg": "1.90 1 1 1/9 9\n", "/sys/devices/system/cpu/online": "0-1\n"}
    assert "host.busy" not in codes(read_host(files).section)


@pytest.mark.parametrize(
    ("used", "available", "severity"),
    [(0, 1, None), (1024, 1, None), (524288, 1000, "warning"), (524288, 60000000, "note")],
)
def test_swap_in_use_is_judged_with_the_memory_left(
    used: int, available: int, severity: str | None
) -> None:
    files = {
        "/proc/swaps": f"Filename Type Size Used Priority\n/dev/sda2 partition 8388604 {used} -2\n",
        "/proc/meminfo": f"MemTotal: 65000000 kB\nMemAvailable: {available} kB\n",
    }
    assert codes(read_host(files).section).get("host.swap_in_use") == severity


def test_a_dead_profiler_and_one_of_another_name_are_no_leftovers() -> None:
    files = {
        "/proc/10/comm": "nsys\n",
        "/proc/10/status": "Name:\tnsys\nState:\tZ (zombie)\n",
        "/proc/11/comm": "perfetto\n",
    }
    assert "host.other_profiler_running" not in codes(read_host(files).section)


def test_a_profiler_that_is_a_script_is_found_by_its_command_line() -> None:
    files = {
        "/proc/12/comm": "python3\n",
        "/proc/12/cmdline": "/usr/bin/python3\0/opt/rocm/bin/rocprofv3\0--kernel-trace\0",
    }
    assert "rocprofv3" in finding(read_host(files).section, "host.other_profiler_running").what


def test_the_last_of_two_mounts_at_one_point_counts() -> None:
    mounts = "1 0 0:1 / / rw - ext4 d rw\n2 1 0:2 / /tmp rw,noexec - tmpfs t rw\n"
    mounts += "3 1 0:3 / /tmp rw - tmpfs t rw\n"
    assert mount_options(mounts, "/tmp") == ("/tmp", ["rw"])
    assert mount_options(mounts, "/var") == ("/", ["rw"])


def test_another_tmpdir_makes_noexec_on_tmp_harmless() -> None:
    mounts = "1 0 0:1 / / rw - ext4 d rw\n2 1 0:2 / /tmp rw,noexec - tmpfs t rw\n"
    here = read_host({"/proc/self/mountinfo": mounts}, env={"TMPDIR": "/scratch"})
    assert "host.tmp_noexec" not in codes(here.section)


def test_a_process_far_from_its_gpu_is_told_where_to_run() -> None:
    node = "/sys/devices/system/node/"
    gpu = "/sys/bus/pci/devices/0000:41:00.0/"
    files = {
        node + "online": "0-1\n",
        node + "node0/cpulist": "0-7\n",
        node + "node1/cpulist": "8-15\n",
        gpu + "vendor": "0x10de\n",
        gpu + "class": "0x030200\n",
        gpu + "numa_node": "1\n",
        "/proc/self/status": "Cpus_allowed_list:\t0-7\n",
    }
    fix = finding(read_host(files).section, "host.numa_remote").fix
    assert fix
    assert "numactl --cpunodebind=1 --membind=1" in fix.commands[0]


def test_an_arm_cpu_is_named_by_its_numbers() -> None:
    cpuinfo = "processor\t: 0\nFeatures\t: fp asimd asimddp sve i8mm\n"
    cpuinfo += "CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n"
    facts = identity(cpuinfo)
    assert facts["cpu_model"] == "implementer 0x41 part 0xd4f"
    assert facts["cpu_isa"] == ["dotprod", "i8mm", "neon", "sve"]


def test_a_clock_of_zero_is_unknown() -> None:
    assert identity("cpu MHz : 0.000\nflags : fpu\n")["cpu_mhz"]["state"] == "unknown"


def test_names_that_explain_or_hide_something_are_kept_and_others_not() -> None:
    given = ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "HOME", "PERFCITE_HTTP_TOKEN"]
    given += ["NCCL_DEBUG", "TORCHINDUCTOR_CACHE_DIR", "MY_API_KEY_2", "TOKENIZERS_PARALLELISM"]
    assert telling_names(given) == [
        "LD_PRELOAD",
        "MY_API_KEY_2",
        "NCCL_DEBUG",
        "TOKENIZERS_PARALLELISM",
        "TORCHINDUCTOR_CACHE_DIR",
    ]


def test_unreadable_corners_cost_only_themselves() -> None:
    here = read_host({"/proc/cpuinfo": {"dir": True}, "/proc/stat": "nonsense", "/proc/swaps": ""})
    assert here.section.limitations == []
    assert fact(here.section, "host.os") == "linux"
