"""The whole examination: a healthy host, lost parts, capabilities, summary, identity, captures."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from perfcite.evidence.payloads import Finding, ProfilerResult
from perfcite.probes.doctor import (
    capabilities,
    git_state,
    host_load,
    identity,
    llamacpp,
    summary,
)
from perfcite.probes.doctor.examine import Examination, apply_probe, examine
from perfcite.probes.doctor.joint import platform_of
from perfcite.probes.system import System
from tests.probes.doctor.machines import ROOT, answer, machine
from tests.replay import ReplaySystem

HEALTHY = {
    "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n',
    "/etc/hostname": "workbench\n",
    "/proc/sys/kernel/osrelease": "6.12.0-1-amd64\n",
    "/proc/cpuinfo": "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
    "model name\t: AMD EPYC 9354\nflags\t\t: fpu avx avx2 avx512f\n",
    "/proc/meminfo": "MemTotal: 263000000 kB\nMemAvailable: 250000000 kB\n",
    "/proc/swaps": "Filename Type Size Used Priority\n",
    "/proc/loadavg": "0.50 0.40 0.30 1/900 4321\n",
    "/proc/pressure/cpu": "some avg10=0.10 avg60=0.00 avg300=0.00 total=1\n",
    "/proc/stat": "cpu  1000 0 300 90000 10 0 5 0 0 0\n",
    "/proc/self/status": ROOT + "Cpus_allowed_list:\t0-31\n",
    "/proc/self/uid_map": "0 0 4294967295\n",
    "/proc/self/cgroup": "0::/user.slice/user-0.slice/session-1.scope\n",
    "/proc/self/limits": "Max open files            524288               524288               files     \n",
    "/proc/self/mountinfo": "1 0 259:2 / / rw,relatime - ext4 /dev/nvme0n1p2 rw\n"
    "2 1 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    "/proc/1/cgroup": "0::/init.scope\n",
    "/proc/1/comm": "systemd\n",
    "/proc/sys/kernel/perf_event_paranoid": "2\n",
    "/proc/sys/kernel/yama/ptrace_scope": "1\n",
    "/proc/sys/kernel/kptr_restrict": "0\n",
    "/sys/bus/event_source/devices/cpu/type": "4\n",
    "/sys/bus/pci/devices/0000:00:00.0/vendor": "0x1022\n",
    "/sys/bus/pci/devices/0000:00:00.0/class": "0x060000\n",
    "/sys/devices/system/cpu/online": "0-31\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "acpi-cpufreq\n",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "/sys/devices/system/node/online": "0\n",
}
PROFILERS = {"perf": answer("perf version 6.12.1\n"), "py-spy": answer("py-spy 0.4.3\n")}

pytestmark = pytest.mark.anyio


def healthy() -> ReplaySystem:
    return machine(HEALTHY, PROFILERS)


async def test_a_healthy_host_has_no_finding_above_a_note() -> None:
    found = await examine(healthy())
    assert [f.code for f in found.findings if f.severity != "note"] == []
    assert found.facts["platform"] == "cpu"


async def test_without_a_gpu_its_count_is_zero_and_it_is_missing() -> None:
    found = await examine(healthy())
    assert "gpu" in found.missing
    assert [(m.name, m.value, m.unit, m.statistic) for m in found.metrics] == [
        ("gpu_count", 0, "count", "count")
    ]
    assert (found.can.gpu_timeline.answer, found.can.gpu_counters.answer) == ("no", "no")


async def test_a_healthy_host_can_be_profiled_by_the_tools_it_has() -> None:
    can = (await examine(healthy())).can
    assert (can.cpu_sampling.answer, can.cpu_sampling.tool) == ("yes", "perf")
    assert (can.cpu_hw_counters.answer, can.python_stacks.answer) == ("yes", "yes")
    assert {can.cpu_sampling.how, can.gpu_timeline.how} == {"static"}


async def test_where_nothing_is_known_the_count_is_left_out() -> None:
    found = await examine(machine())
    assert found.facts["platform"] == "unknown"
    assert "gpu_count" not in found.facts
    assert found.metrics == ()
    assert found.can.gpu_timeline.answer == "unknown"


async def test_a_part_that_raises_loses_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(llamacpp, "examine", broken)
    found = await examine(healthy())
    assert any("internal error in llamacpp" in x for x in found.limitations)
    assert "llamacpp" in found.missing
    assert found.facts["perf"]["version"] == "6.12.1"


async def test_a_corner_of_the_host_that_raises_loses_only_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any) -> Any:
        raise IndexError

    monkeypatch.setattr(host_load, "examine", broken)
    found = await examine(healthy())
    assert any("internal error in host.load" in x for x in found.limitations)
    assert found.facts["host"]["governor"] == "performance"


async def test_errors_come_first() -> None:
    found = await examine(
        machine(
            HEALTHY | {"/proc/stat": "cpu 1 0 0 1 0 0 0 8\n", "/proc/loadavg": "99 1 1 1/1 1\n"}
        )
    )
    assert [f.severity for f in found.findings][:2] == ["error", "warning"]


async def test_paths_of_the_sysroot_and_people_stay_out() -> None:
    system = machine(HEALTHY | {"/home/alice/v/bin/python": {"symlink": "/gone"}})
    found = await examine(system, python=system.real("/home/alice/v/bin/python"))
    text = str(found)
    assert system.root not in text
    assert "alice" not in text


async def test_identity_holds_what_makes_records_comparable() -> None:
    found = (await examine(healthy())).identity
    assert found.host == "workbench"  # the store hashes it
    assert found.os == "Debian GNU/Linux 13 (trixie) 6.12.0-1-amd64"
    assert found.cpu == "AMD EPYC 9354 (family 25 model 17)"
    assert (found.gpu, found.git) == (None, None)


async def test_the_hosts_name_is_in_the_identity_only() -> None:
    found = await examine(healthy())
    assert "workbench" not in str(found.facts) + str(found.findings) + found.summary


def nvidia_facts(**counters: Any) -> dict[str, Any]:
    row = {"name": "NVIDIA H200", "clock_sm_max_mhz": 1980, "power_limit_w": 700}
    return {
        "platform": "nvidia",
        "gpu_count": 2,
        "nvidia": {
            "gpus": [row, row],
            "driver": {"version": "580.95.05"},
            "cuda_driver_max": "13.0",
            **counters,
        },
        "tools": {
            "nsys": {"version": "2025.3.1", "usable": True},
            "ncu": {"version": "2025.3.0", "usable": True},
        },
        "engines": {"vllm": {"version": "0.11.0"}, "torch": {"version": "2.9.0+cu130"}},
        "python": {"version": "3.12.3"},
    }


UNKNOWN = {"counters": "unknown", "counters_detail": {"status": "unknown", "reason": "not read"}}


def examination(facts: Mapping[str, Any], *findings: Finding) -> Examination:
    return Examination(
        facts=dict(facts),
        findings=findings,
        can=capabilities.judge(facts, findings),
        missing=(),
        limitations=(),
        summary=summary.summarise(facts, findings),
    )


def result(ok: bool | None, **more: Any) -> ProfilerResult:
    return ProfilerResult(ran=ok is not None, capture_ok=ok, **more)


async def test_the_summary_names_gpus_profilers_counters_and_engines() -> None:
    line = summary.summarise(nvidia_facts(counters="denied"), ())
    assert line == (
        "2 x NVIDIA H200 (driver 580.95.05); nsys 2025.3.1, ncu 2025.3.0; GPU counters denied; "
        "vllm 0.11.0, torch 2.9.0+cu130"
    )


async def test_a_long_summary_drops_engines_before_captures() -> None:
    facts = nvidia_facts(**UNKNOWN)
    version = "0.23.1rc1.dev1403+g4080263bb.cu129"
    facts["engines"] = {
        n: {"version": version} for n in ("vllm", "sglang", "torch", "transformers")
    }
    results = {n: result(None) for n in ("nsys", "ncu", "perf", "py-spy")}
    line = summary.summarise(facts, (), results)
    assert len(line) <= 240
    assert "py-spy not tried" in line
    assert "NVIDIA H200" in line


async def test_identity_names_gpus_and_what_bounds_their_clocks() -> None:
    found = identity.identity(machine(), nvidia_facts())
    assert found.gpu
    assert (found.gpu.name, found.gpu.count) == ("NVIDIA H200", 2)
    assert (found.gpu.driver, found.gpu.cuda) == ("580.95.05", "13.0")
    assert found.gpu.clocks == "SM at most 1980 MHz, power limit 700 W"
    assert found.engines == {"vllm": "0.11.0", "torch": "2.9.0+cu130"}


@pytest.mark.parametrize(
    ("status", "answer"), [("allowed", "yes"), ("denied", "no"), ("unknown", "unknown")]
)
async def test_counters_follow_the_permission(status: str, answer: str) -> None:
    can = capabilities.judge(nvidia_facts(counters=status), ())
    assert can.gpu_counters.answer == answer
    assert can.gpu_timeline.answer == "yes"


async def test_a_gpu_without_tools_cannot_be_profiled() -> None:
    can = capabilities.judge(nvidia_facts(counters="allowed") | {"tools": {}}, ())
    assert (can.gpu_timeline.answer, can.gpu_counters.answer) == ("no", "no")


async def test_a_capture_that_works_allows_counters_and_keeps_the_static_reason() -> None:
    note = Finding(
        code="nvidia.counters_unknown", severity="limitation", what="?", evidence=(), affects=()
    )
    found = apply_probe(examination(nvidia_facts(**UNKNOWN), note), {"ncu": result(True)})
    nvidia = found.facts["nvidia"]
    assert (nvidia["counters"], nvidia["counters_static"]) == ("allowed", "unknown")
    assert nvidia["counters_detail"]["static_reason"] == "not read"
    assert found.findings == ()
    assert (found.can.gpu_counters.answer, found.can.gpu_counters.how) == ("yes", "probed")
    assert "ncu ok" in found.summary


async def test_a_refused_capture_denies_counters() -> None:
    error = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission"
    found = apply_probe(examination(nvidia_facts(**UNKNOWN)), {"ncu": result(False, error=error)})
    assert found.facts["nvidia"]["counters"] == "denied"
    assert [f.code for f in found.findings] == ["nvidia.counters_denied"]
    assert (found.can.gpu_counters.answer, found.can.gpu_counters.how) == ("no", "probed")


async def test_any_other_failure_says_nothing_about_permission() -> None:
    before = examination(nvidia_facts(**UNKNOWN))
    found = apply_probe(before, {"ncu": result(False, error="==ERROR== LaunchFailed")})
    assert found.facts == before.facts
    assert found.can.gpu_counters.answer == "no"
    assert "ncu failed" in found.summary


async def test_a_profiler_that_was_not_tried_changes_nothing() -> None:
    before = examination(nvidia_facts(**UNKNOWN))
    found = apply_probe(before, {"ncu": result(None), "nsys": result(None)})
    assert (found.facts, found.can) == (before.facts, before.can)
    assert "ncu not tried, nsys not tried" not in before.summary
    assert "ncu not tried, nsys not tried" in found.summary


async def test_perfs_capture_answers_for_hardware_counters_too() -> None:
    captured = {"function": "f", "samples": 90, "hardware_cycles": None}
    before = examination({"platform": "cpu", "gpu_count": 0})
    found = apply_probe(before, {"perf": result(True, captured=captured)})
    assert (found.can.cpu_sampling.answer, found.can.cpu_hw_counters.answer) == ("yes", "no")
    assert found.can.cpu_hw_counters.how == "probed"


NONE = {"value": None, "state": "absent"}
UNTOLD = {"value": None, "state": "unknown", "reason": "driver_error"}


@pytest.mark.parametrize(
    ("nvidia", "amd", "expected"),
    [
        ({"gpus": [{}, {}]}, {"gpus": NONE}, ("nvidia", 2)),
        ({"gpus": [{}]}, {"gpus": [{}]}, ("nvidia", 2)),
        ({"gpus": []}, {"gpus": [{}]}, ("rocm", 1)),
        ({"gpus": []}, {"gpus": NONE}, ("cpu", 0)),
        ({"gpus": UNTOLD, "driver": {}}, {"gpus": NONE}, ("nvidia", None)),
        ({"gpus": []}, {"gpus": UNTOLD, "driver": {}}, ("rocm", None)),
        ({"gpus": UNTOLD}, {"gpus": NONE}, ("unknown", None)),
    ],
)
async def test_the_platform_and_its_count(
    nvidia: dict[str, Any], amd: dict[str, Any], expected: tuple[str, int | None]
) -> None:
    assert platform_of({"nvidia": nvidia, "amd": amd}, "linux") == expected


async def test_git_status_gives_commit_and_dirt() -> None:
    sha = "a" * 40
    assert git_state.parse_status(f"# branch.oid {sha}\n# branch.head main\n") == (sha, False)
    assert git_state.parse_status(f"# branch.oid {sha}\n1 .M N... 1 1 1 a b f.py\n") == (sha, True)
    assert git_state.parse_status("# branch.oid (initial)\n") == (None, None)


async def test_a_commit_is_read_without_git(tmp_path: Path) -> None:
    sha = "b" * 40
    (tmp_path / ".git" / "refs" / "heads").mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git" / "packed-refs").write_text(f"# pack-refs\n{sha} refs/heads/main\n")
    (tmp_path / "inner").mkdir()
    assert git_state.commit_from_files(System(cwd=str(tmp_path / "inner"))) == sha
    (tmp_path / ".git" / "refs" / "heads" / "main").write_text("c" * 40 + "\n")
    assert git_state.commit_from_files(System(cwd=str(tmp_path))) == "c" * 40


async def test_a_worktrees_file_leads_to_its_repository(tmp_path: Path) -> None:
    sha = "d" * 40
    real = tmp_path / "main" / ".git"
    (real / "worktrees" / "w").mkdir(parents=True)
    (real / "worktrees" / "w" / "HEAD").write_text("ref: refs/heads/w\n")
    (real / "worktrees" / "w" / "commondir").write_text("../..\n")
    (real / "packed-refs").write_text(f"{sha} refs/heads/w\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".git").write_text(f"gitdir: {real}/worktrees/w\n")
    assert git_state.commit_from_files(System(cwd=str(tmp_path / "w"))) == sha


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git = System().on_path("git")
    if git is None:
        pytest.skip("git is not here")
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for arguments in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([git, *arguments], cwd=tmp_path, check=True, timeout=30)
    return tmp_path


async def test_a_real_repository_gives_its_state(repository: Path) -> None:
    section = await git_state.examine(System(cwd=str(repository)))
    assert section.facts["git"]["dirty"] is False
    assert len(section.facts["git"]["commit"]) == 40


async def test_outside_of_a_repository_there_is_no_commit(tmp_path: Path) -> None:
    section = await git_state.examine(System(cwd=str(tmp_path)))
    assert section.facts == {}


async def test_a_name_that_is_no_text_can_still_be_kept() -> None:
    system = machine(env={"CUDA_\udcff": "1"})
    found = await examine(system)
    assert found.facts["env"]["names"] == ["CUDA_?"]


async def test_gpus_that_do_not_answer_are_unknown_with_the_reason() -> None:
    untold = {"value": None, "state": "unknown", "reason": "timeout"}
    facts = {"platform": "nvidia", "nvidia": {"gpus": untold, "driver": {}}}
    assert summary.summarise(facts, ()).startswith("NVIDIA GPUs unknown (timeout)")


async def test_an_engine_without_a_readable_version_is_still_found() -> None:
    untold = {"value": None, "state": "unknown", "reason": "parse_error"}
    facts = {
        "platform": "cpu",
        "gpu_count": 0,
        "engines": {"vllm": {"version": untold}, "sglang": {"value": None, "state": "absent"}},
        "python": {"version": "3.12.3"},
    }
    line = summary.summarise(facts, ())
    assert "vllm (version unknown)" in line
    assert "no engine found" not in line
    assert "sglang" not in line
