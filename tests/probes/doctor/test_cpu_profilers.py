"""perf and py-spy: presence, and what the kernel and a container allow them."""

from pathlib import Path

import pytest

from perfcite.probes.doctor import cpu_profilers, host
from perfcite.probes.doctor.interpreter import Choice
from perfcite.probes.doctor.perf_access import read_perf_stat
from perfcite.probes.doctor.section import Section
from tests.probes.doctor.machines import (
    DOCKER_ROOT,
    ROOT,
    USER,
    answer,
    codes,
    fact,
    finding,
    machine,
)
from tests.replay import ReplaySystem

pytestmark = pytest.mark.anyio
NOBODY = Choice(None, None, "none")
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
YAMA = "/proc/sys/kernel/yama/ptrace_scope"
DEVICES = "/sys/bus/event_source/devices/"


async def examine(system: ReplaySystem, choice: Choice = NOBODY) -> Section:
    return await cpu_profilers.examine(system, host.read(system), choice)


async def test_a_wrapper_without_its_kernels_perf_is_a_limitation() -> None:
    text = "WARNING: perf not found for kernel 5.15.0-91\n\n  You may need to install …\n"
    section = await examine(machine(programs={"perf": answer(stderr=text, exit=2)}))
    assert codes(section)["perf.kernel_mismatch"] == "limitation"
    assert fact(section, "perf.usable") is False
    fix = finding(section, "perf.kernel_mismatch").fix
    assert fix
    assert "linux-tools-$(uname -r)" in fix.commands[0]


async def test_under_wsl_the_wrappers_advice_is_to_build_perf() -> None:
    files = {"/proc/sys/kernel/osrelease": "5.15.133.1-microsoft-standard-WSL2\n"}
    text = "WARNING: perf not found for kernel 5.15.133.1-microsoft\n"
    section = await examine(machine(files, {"perf": answer(stderr=text, exit=2)}))
    fix = finding(section, "perf.kernel_mismatch").fix
    assert fix
    assert "WSL2-Linux-Kernel" in " ".join(fix.commands)


@pytest.mark.parametrize("name", ["cpu", "cpu_core", "armv8_pmuv3_0", "armv8_cortex_a76"])
async def test_a_core_pmu_means_hardware_counters(name: str) -> None:
    section = await examine(machine({f"{DEVICES}{name}/type": "4\n"}))
    assert fact(section, "perf.hw_counters") == "available"
    assert "perf.no_pmu" not in codes(section)


async def test_uncore_and_software_devices_are_no_core_pmu() -> None:
    files = {f"{DEVICES}{n}/type": "1\n" for n in ("software", "msr", "uncore_imc_0", "power")}
    section = await examine(machine(files))
    assert codes(section)["perf.no_pmu"] == "limitation"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("   <not supported>      cycles      \n", "absent"),
        ("     1,234,567      cycles      \n", "available"),
    ],
)
async def test_without_sys_perf_itself_is_asked(output: str, expected: str) -> None:
    assert read_perf_stat(output)[0] == expected


async def test_of_a_sysroot_perf_is_not_asked_what_the_running_kernel_counts() -> None:
    rules = [{"argv_prefix": ["--version"], "stdout": "perf version 6.1.0\n"}]
    system = machine(programs={"perf": rules})
    section = await examine(system)
    assert section.facts["perf"]["hw_counters"]["state"] == "unknown"
    assert not [argv for argv in system.started if "stat" in argv]


async def test_without_sys_and_perf_counters_are_unknown() -> None:
    section = await examine(machine())
    assert section.facts["perf"]["hw_counters"]["state"] == "unknown"


@pytest.mark.parametrize(
    ("level", "status", "severity"),
    [
        (4, USER, "limitation"),
        (3, USER, "limitation"),
        (2, USER, "note"),
        (1, USER, None),
        (-1, USER, None),
        (4, ROOT, None),
        (4, "CapEff:\t0000004000000000\n", None),
        (4, DOCKER_ROOT, "limitation"),
    ],
)
async def test_paranoid_is_judged_by_capability(
    level: int, status: str, severity: str | None
) -> None:
    section = await examine(machine({PARANOID: f"{level}\n", "/proc/self/status": status}))
    assert codes(section).get("perf.paranoid") == severity


async def test_capabilities_of_a_user_namespace_do_not_open_perf() -> None:
    files = {PARANOID: "4\n", "/proc/self/status": ROOT, "/proc/self/uid_map": "0 1000 1\n"}
    assert codes(await examine(machine(files)))["perf.paranoid"] == "limitation"


async def test_a_filter_in_a_container_may_refuse_perf() -> None:
    files = {"/.dockerenv": "", "/proc/self/status": DOCKER_ROOT}
    section = await examine(machine(files))
    assert codes(section)["perf.seccomp"] == "limitation"
    fix = finding(section, "perf.seccomp").fix
    assert fix
    assert "--security-opt seccomp=unconfined" in " ".join(fix.commands)


async def test_a_filter_outside_of_a_container_is_a_sandbox_of_the_program() -> None:
    assert "perf.seccomp" not in codes(await examine(machine({"/proc/self/status": DOCKER_ROOT})))


@pytest.mark.parametrize(
    ("value", "status", "hidden"),
    [("0", USER, False), ("1", USER, True), ("1", ROOT, False), ("2", ROOT, True)],
)
async def test_kernel_names_are_hidden_by_kptr_restrict(
    value: str, status: str, hidden: bool
) -> None:
    files = {"/proc/sys/kernel/kptr_restrict": value, "/proc/self/status": status}
    assert ("perf.kernel_symbols_hidden" in codes(await examine(machine(files)))) is hidden


@pytest.mark.parametrize(
    ("scope", "status", "denied"),
    [
        (None, USER, False),
        (0, USER, False),
        (1, USER, True),
        (2, USER, True),
        (1, ROOT, False),
        (2, ROOT, False),
        (3, ROOT, True),
    ],
)
async def test_attaching_is_judged_by_scope_and_capability(
    scope: int | None, status: str, denied: bool
) -> None:
    files = {"/proc/self/status": status} | ({} if scope is None else {YAMA: f"{scope}\n"})
    assert ("pyspy.ptrace_denied" in codes(await examine(machine(files)))) is denied


async def test_a_plain_user_on_a_host_is_told_the_sysctl() -> None:
    section = await examine(machine({YAMA: "1\n", "/proc/self/status": USER}))
    fix = finding(section, "pyspy.ptrace_denied").fix
    assert fix
    assert "sysctl kernel.yama.ptrace_scope=0" in fix.commands[0]


async def test_root_in_a_container_is_never_told_to_use_sudo() -> None:
    files = {"/.dockerenv": "", YAMA: "1\n", "/proc/self/status": DOCKER_ROOT}
    fix = finding(await examine(machine(files)), "pyspy.ptrace_denied").fix
    assert fix
    assert "sudo" not in " ".join((fix.summary, *fix.commands))


async def test_py_spy_is_found_beside_the_chosen_interpreter(tmp_path: Path) -> None:
    for name in ("python", "py-spy"):
        (tmp_path / name).touch(mode=0o755)
    system = machine(programs={"py-spy": answer("py-spy 0.4.3\n")})
    object.__setattr__(system, "environ", {"PATH": "/nowhere"})
    section = await examine(system, Choice(str(tmp_path / "python"), "argument", "given"))
    assert fact(section, "pyspy.version") == "0.4.3"


async def test_recorded_status_files_give_the_capabilities_they_show(shared: Path) -> None:
    folder = shared / "samples" / "proc_status"
    expected = {"docker_default_root": "limitation", "docker_cap_perfmon": None}
    expected |= {"docker_cap_sys_admin": None, "nonroot_ambient_perfmon": None}
    expected |= {"nonroot_user": "limitation", "nonroot_nonewprivs": "limitation"}
    for name, severity in expected.items():
        status = (folder / f"{name}.status").read_text()
        section = await examine(machine({PARANOID: "3\n", "/proc/self/status": status}))
        assert codes(section).get("perf.paranoid") == severity, name
