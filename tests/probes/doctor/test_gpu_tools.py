"""Vendor tools: which copy runs, whether it works, and what nsys says of the CPU."""

import base64
import struct
from pathlib import Path
from typing import Any

import pytest

from perfcite.evidence.payloads import Finding
from perfcite.probes.command import Completed
from perfcite.probes.doctor import gpu_tools, host
from perfcite.probes.doctor.section import Section
from perfcite.probes.doctor.tool_places import directories, parse_head, version_key
from perfcite.probes.system import System
from tests.replay import ReplaySystem

pytestmark = pytest.mark.anyio

NSYS = "NVIDIA Nsight Systems version {}-df9881f\n"
LIBRARY = "error while loading shared libraries: libx.so.4: cannot open shared object file"
STATUS_OK = (
    "Timestamp counter supported: Yes\n\nCPU Profiling Environment Check\n"
    "Linux perf_event_open syscall available: OK\nSampling trigger event available: OK\n"
    "CPU Profiling Environment (process-tree): OK\nCPU Profiling Environment (system-wide): {}\n"
)


async def examine(**machine: Any) -> Section:
    system = ReplaySystem(**machine)
    return await gpu_tools.examine(system, host.read(system))


def found(section: Section, code: str) -> Finding:
    matching = [f for f in section.findings if f.code == code]
    assert matching, f"{code} not in {[f.code for f in section.findings]}"
    return matching[0]


def says(text: str, **more: Any) -> list[dict[str, Any]]:
    return [{"stdout": text, "argv_prefix": ["--version"], **more}]


@pytest.mark.parametrize(
    ("tool", "output", "version"),
    [
        ("nvcc", "Cuda compilation tools, release 13.0, V13.0.88\n", "13.0"),
        ("nsys", NSYS.format("2022.4.2.1"), "2022.4.2.1"),
        ("ncu", "Version 2022.3.0.0 (build 31729285) (public-release)\n", "2022.3.0.0"),
        ("rocprofv3", "    version: 1.0.0\n    git_revision: abc\n", "1.0.0"),
        ("rocm-smi", "ROCM-SMI version: 3.0.0+ca87df3\n", "3.0.0"),
        ("hipcc", "HIP version: 6.2.41133-dd7f95766\nAMD clang version 18.0.0\n", "6.2.41133"),
    ],
)
async def test_each_tool_tells_its_version_in_its_own_way(
    tool: str, output: str, version: str
) -> None:
    section = await examine(executables={tool: says(output)})
    fact = section.facts["tools"][tool]
    assert (fact["version"], fact["usable"]) == (version, True)
    assert [f for f in section.findings if f.severity != "note"] == []


async def test_amd_smi_is_asked_by_a_word_and_not_an_option() -> None:
    answer = (
        "AMDSMI Tool: 24.6.2+2b02a07 | AMDSMI Library version: 24.6.2.0 | ROCm version: 6.2.1\n"
    )
    rules = {"amd-smi": [{"argv_prefix": ["version"], "stdout": answer}]}
    assert (await examine(executables=rules)).facts["tools"]["amd-smi"]["version"] == "24.6.2"


async def test_a_tool_that_is_not_there_is_absent() -> None:
    assert (await examine()).facts["tools"]["ncu"] == {"value": None, "state": "absent"}


async def test_an_older_copy_in_front_of_a_newer_one_is_a_warning() -> None:
    section = await examine(
        executables={
            "/usr/local/bin/nsys": says(NSYS.format("2022.4.2.1")),
            "/opt/nvidia/nsight-systems/2026.3.1/bin/nsys": says(NSYS.format("2026.3.1.157")),
        }
    )
    finding = found(section, "tool.duplicates")
    assert finding.severity == "warning"
    assert section.facts["tools"]["nsys"]["version"] == "2022.4.2.1"
    assert finding.fix
    assert "/opt/nvidia/nsight-systems/2026.3.1/bin" in finding.fix.commands[0]


async def test_the_newest_copy_in_front_is_no_trouble() -> None:
    section = await examine(
        executables={
            "/usr/local/bin/nsys": says(NSYS.format("2026.3.1")),
            "/opt/nvidia/nsight-systems/2022.4.2/bin/nsys": says(NSYS.format("2022.4.2")),
        }
    )
    assert [f.severity for f in section.findings] == ["note"]


async def test_two_names_of_one_version_are_no_finding() -> None:
    section = await examine(
        executables={
            "/usr/local/bin/nsys": says(NSYS.format("2025.3.1")),
            "/opt/nvidia/nsight-systems/2025.3.1/bin/nsys": says(NSYS.format("2025.3.1")),
        }
    )
    assert section.findings == []


async def test_a_toolkit_chosen_on_purpose_is_only_worth_a_note() -> None:
    def nvcc(version: str) -> list[dict[str, Any]]:
        return says(f"Cuda compilation tools, release {version}, V{version}.88\n")

    machine: dict[str, Any] = {
        "executables": {
            "/usr/local/cuda-12.4/bin/nvcc": nvcc("12.4"),
            "/usr/local/cuda-13.0/bin/nvcc": nvcc("13.0"),
        },
        "env": {"PATH": "/usr/local/cuda-12.4/bin:/usr/bin"},
    }
    assert found(await examine(**machine), "tool.duplicates").severity == "note"
    in_front = {"/usr/bin/nvcc": nvcc("11.8"), **machine["executables"]}
    shadowed = await examine(executables=in_front, env={"PATH": "/usr/bin"})
    assert found(shadowed, "tool.duplicates").severity == "warning"


async def test_the_nsys_inside_ncu_s_package_counts_only_alone() -> None:
    bundled = "/opt/nvidia/nsight-compute/2025.2.0/host/target-linux-x64/nsys"
    alone = await examine(executables={bundled: says(NSYS.format("2025.9.9"))})
    assert bundled in found(alone, "tool.hidden").what
    beside = await examine(
        executables={
            bundled: says(NSYS.format("2025.9.9")),
            "nsys": says(NSYS.format("2025.3.1")),
        }
    )
    assert beside.findings == []


@pytest.mark.parametrize(
    "rules",
    [
        [{"stderr": "/usr/bin/ncu: line 9: /opt/x/ncu: No such file or directory", "exit": 127}],
        [{"stdout": "ERROR : nsight-compute directory is not found under /usr/bin/../", "exit": 1}],
        [{"stderr": f"ncu: {LIBRARY}", "exit": 127}],
        [{"signal": "SEGV"}],
        [{"sleep_ms": 60000}],
    ],
)
async def test_a_copy_that_cannot_start_is_broken(rules: list[dict[str, Any]]) -> None:
    section = await examine(executables={"ncu": rules})
    assert found(section, "tool.broken_wrapper").severity == "error"
    assert section.facts["tools"]["ncu"]["usable"] is False


async def test_a_broken_copy_in_front_of_a_working_one_is_the_wrong_copy() -> None:
    section = await examine(
        executables={
            "ncu": [{"stderr": "exec: /opt/x/ncu: not found", "exit": 127}],
            "/opt/nvidia/nsight-compute/2025.3.0/ncu": says("Version 2025.3.0.0 (build 1)\n"),
        }
    )
    finding = found(section, "tool.wrong_copy")
    assert finding.severity == "error"
    assert section.facts["tools"]["ncu"]["version"] == "2025.3.0.0"


async def test_a_profiler_that_only_complains_of_counters_is_usable() -> None:
    busy = "==ERROR== Profiling failed because a driver resource was unavailable.\n"
    section = await examine(executables={"ncu": [{"stdout": busy, "exit": 1}]})
    assert section.facts["tools"]["ncu"]["usable"] is True
    assert section.findings == []


async def test_a_dangling_link_on_path_is_broken() -> None:
    files = {"/usr/local/bin/ncu": {"symlink": "/opt/nvidia/removed/ncu"}}
    finding = found(await examine(files=files), "tool.broken_wrapper")
    assert "/opt/nvidia/removed/ncu" in finding.evidence[0]


def _real(folder: Path, programs: dict[str, bytes]) -> System:
    for name, content in programs.items():
        path = folder / name
        path.write_bytes(content)
        path.chmod(0o755)
    return System(root=str(folder / "root"), environ={"PATH": str(folder)})


async def test_files_that_are_no_programs_are_told_apart(tmp_path: Path) -> None:
    foreign = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 2, 0xB7) + bytes(44)
    system = _real(
        tmp_path,
        {
            "ncu": b"#!/no/such/interpreter\n",
            "nvcc": base64.b64decode("f0VMRgIBZ2FyYmFnZQ=="),
            "hipcc": foreign,
        },
    )
    section = await gpu_tools.examine(system, host.read(system))
    told = {
        f.evidence[0].split(":")[0].rsplit("/", 1)[-1].split()[0]: f.code for f in section.findings
    }
    assert told == {
        "ncu": "tool.broken_wrapper",
        "nvcc": "tool.wrong_arch",
        "hipcc": "tool.wrong_arch",
    }
    assert section.facts["tools"]["hipcc"]["machine"] == "aarch64"


@pytest.mark.parametrize(
    ("status", "fact"),
    [
        (STATUS_OK.format("OK"), "available"),
        (STATUS_OK.format("Fail"), "available"),
        ("CPU Profiling Environment (process-tree): Fail\n", "denied"),
        ("Sampling trigger event available: Fail\nSampling Environment: Fail\n", "denied"),
        ("Linux perf_event_open syscall available: Fail\n", "denied"),
        ("", "unknown"),
        ("Illegal command\n", "unknown"),
    ],
)
async def test_nsys_status_is_read_by_its_lines(status: str, fact: str) -> None:
    rules = [*says(NSYS.format("2025.3.1")), {"argv_prefix": ["status"], "stdout": status}]
    section = await examine(executables={"nsys": rules})
    sampling = section.facts["nsys"]["cpu_sampling"]
    assert (sampling["state"] if isinstance(sampling, dict) else sampling) == fact
    denied = [f for f in section.findings if f.code == "nsys.cpu_sampling_denied"]
    assert bool(denied) == (fact == "denied")


async def test_a_silent_nsys_status_is_unknown() -> None:
    done = Completed(
        argv=("nsys",), outcome="timed_out", returncode=None, stdout="", stderr="", seconds=5.0
    )
    sampling, _ = gpu_tools.read_nsys_status(done)
    assert sampling["reason"] == "timeout"


async def test_xcrun_is_not_started_without_a_developer_directory() -> None:
    system = ReplaySystem(executables={"xcrun": says("xcrun version 70.\n")}, platform="darwin")
    section = await gpu_tools.examine(system, host.read(system))
    assert section.facts["tools"] == {}
    assert not any(a[0].endswith("/xcrun") for a in system.started)


async def test_xctrace_is_asked_through_xcrun() -> None:
    rules: dict[str, Any] = {
        "xcode-select": [{"stdout": "/Applications/Xcode.app/Contents/Developer\n"}],
        "xcrun": [
            *says("xcrun version 70.\n"),
            {"argv_prefix": ["xctrace"], "stdout": "xctrace version 16.0 (17F113)\n"},
        ],
    }
    tools = (await examine(executables=rules, platform="darwin")).facts["tools"]
    assert tools["xcrun"]["version"] == "70"
    assert tools["xctrace"]["version"] == "16.0 (17F113)"


def test_the_directories_of_windows_are_looked_through() -> None:
    nsight = "/pf/NVIDIA Corporation/Nsight Systems 2025.3.1/target-windows-x64"
    files = {
        f"{nsight}/nsys.exe": "",
        "/pf/NVIDIA GPU Computing Toolkit/CUDA/v13.0/bin/nvcc.exe": "",
    }
    system = ReplaySystem(files=files, platform="windows", env={"ProgramFiles": "/pf"})
    assert directories(system) == [nsight, "/pf/NVIDIA GPU Computing Toolkit/CUDA/v13.0/bin"]


def test_versions_are_ordered_by_their_numbers() -> None:
    assert version_key("2022.4.2") < version_key("2022.10.1") < version_key("2026.1")


@pytest.mark.parametrize(
    ("head", "kind", "machine"),
    [
        (b"", "empty", None),
        (b"#!/bin/sh\n", "script", None),
        (b"\x7fELF\x02\x01" + bytes(12) + b"\x3e\x00", "elf", "x86_64"),
        (b"\x7fELF\x02\x02" + bytes(12) + b"\x00\x15", "elf", "ppc64le"),
        (b"\x7fELF\x02\x01garbage", "elf", None),
        (b"MZ" + bytes(58) + b"\x40\x00\x00\x00PE\x00\x00\x64\x86", "pe", "x86_64"),
        (b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01", "macho", "aarch64"),
        (b"plain text", "other", None),
    ],
)
def test_the_kind_of_a_file_is_in_its_first_bytes(
    head: bytes, kind: str, machine: str | None
) -> None:
    parsed = parse_head(head)
    assert (parsed.kind, parsed.machine) == (kind, machine)
