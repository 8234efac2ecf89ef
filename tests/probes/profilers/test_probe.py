import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from perfcite.evidence.errors import InputError
from perfcite.probes.profilers.failures import Surroundings
from perfcite.probes.profilers.outcome import ProbeOutcome
from perfcite.probes.profilers.probe import _other_vendor, interpreter, probe
from perfcite.probes.system import System

from .conftest import MakeTool

WHERE = Surroundings()
VERSION_NCU = 'case "$1" in --version) echo "Version 2024.1.1.0 (build 1)"; exit 0;; esac\n'
VERSION_NSYS = (
    'case "$1" in --version) echo "NVIDIA Nsight Systems version 2024.6.2"; exit 0;; esac\n'
)
# Finds the log file and the program in ncu's arguments, runs the program as ncu does.
RUN_PROGRAM = """
while [ $# -gt 0 ]; do case "$1" in
  --log-file) log="$2"; shift 2;;
  --target-processes|--metrics|--print-units|--clock-control) shift 2;;
  --csv) shift;;
  *) break;;
esac; done
"$@" || exit $?
"""


async def quiet(done: float, total: float | None, message: str) -> None:
    return None


async def run(system: System, *names: str, timeout_s: float = 60) -> ProbeOutcome:
    return await probe(
        system, profilers=names or None, timeout_s=timeout_s, where=WHERE, tell=quiet
    )


@pytest.mark.anyio
async def test_perf_really_samples_our_function() -> None:
    if shutil.which("perf") is None:
        pytest.skip("perf is not installed")
    outcome = await run(System(), "perf")
    result = outcome.profilers["perf"]
    assert result.capture_ok is True, result
    assert result.captured is not None
    assert result.captured["function"] == "perfcite_hot"
    assert result.captured["samples"] > 100


@pytest.mark.anyio
async def test_pyspy_really_samples_our_function() -> None:
    here = Path(sys.executable).parent / "py-spy"
    if shutil.which("py-spy") is None and not here.exists():
        pytest.skip("py-spy is not installed")
    outcome = await run(System(), "pyspy")
    result = outcome.profilers["py-spy"]
    assert result.capture_ok is True, result
    assert result.captured is not None
    assert result.captured["samples"] >= 50


@pytest.mark.anyio
async def test_real_ncu_and_nsys_are_not_tried_without_a_gpu_and_say_why() -> None:
    present = [name for name in ("ncu", "nsys") if shutil.which(name)]
    if not present:
        pytest.skip("neither ncu nor nsys is installed")
    if os.path.exists("/proc/driver/nvidia/version"):
        pytest.skip("there is an NVIDIA GPU here")
    outcome = await run(System(), *present)
    for name in present:
        result = outcome.profilers[name]
        assert result.capture_ok is None
        assert result.ran is False
        assert result.version is not None
        assert result.error is not None
        assert "driver API" in result.error


@pytest.mark.anyio
async def test_ncu_is_ok_only_with_a_row_of_our_kernel(
    machine: Callable[..., System], tools: MakeTool, fake_cuda: Path
) -> None:
    row = '"0","perfcite_probe_kernel","gpu__time_duration.sum","nsecond","4096"'
    header = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
    tools("ncu", VERSION_NCU + RUN_PROGRAM + f"printf '%s\\n' '{header}' '{row}' > \"$log\"\n")
    outcome = await run(machine(LD_LIBRARY_PATH=str(fake_cuda)), "ncu")
    result = outcome.profilers["ncu"]
    assert result.capture_ok is True, result
    assert result.captured == {
        "kernel": "perfcite_probe_kernel",
        "launches": 1,
        "total_ns": 4096.0,
    }
    assert outcome.programs["cuda"]["device"] == "Fake GPU"


@pytest.mark.anyio
async def test_no_kernels_profiled_with_exit_status_0_is_a_failure(
    machine: Callable[..., System], tools: MakeTool, fake_cuda: Path
) -> None:
    message = "==WARNING== No kernels were profiled."
    tools("ncu", VERSION_NCU + RUN_PROGRAM + f'echo "{message}" > "$log"\n')
    result = (await run(machine(LD_LIBRARY_PATH=str(fake_cuda)), "ncu")).profilers["ncu"]
    assert result.capture_ok is False
    assert result.returncode == 0
    assert result.cause == "ncu ran but saw no kernel"


@pytest.mark.anyio
async def test_denied_counters_are_told_with_what_works_instead(
    machine: Callable[..., System], tools: MakeTool, fake_cuda: Path
) -> None:
    message = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission"
    tools("ncu", VERSION_NCU + RUN_PROGRAM + f'echo "{message}" > "$log"; exit 1\n')
    result = (await run(machine(LD_LIBRARY_PATH=str(fake_cuda)), "ncu")).profilers["ncu"]
    assert result.capture_ok is False
    assert result.error is not None
    assert "ERR_NVGPUCTRPERM" in result.error
    assert result.fix is not None
    assert "nsys" in result.fix


@pytest.mark.anyio
async def test_a_profiler_that_hangs_is_killed_at_its_deadline(
    machine: Callable[..., System], tools: MakeTool, fake_cuda: Path
) -> None:
    tools("nsys", VERSION_NSYS + "sleep 600 &\nsleep 600\n")
    system = machine(LD_LIBRARY_PATH=str(fake_cuda))
    result = (await run(system, "nsys", timeout_s=2)).profilers["nsys"]
    assert result.ran is True
    assert result.capture_ok is False
    assert result.cause == "it did not end before its deadline and was killed"


@pytest.mark.anyio
async def test_nsys_without_a_report_fails_although_it_exits_with_0(
    machine: Callable[..., System], tools: MakeTool, fake_cuda: Path
) -> None:
    line = "Importer error status: The importer binary and its dependencies were not found."
    tools("nsys", VERSION_NSYS + f"echo '{line}' >&2\n")
    result = (await run(machine(LD_LIBRARY_PATH=str(fake_cuda)), "nsys")).profilers["nsys"]
    assert result.capture_ok is False
    assert result.cause is not None
    assert "split package" in result.cause


@pytest.mark.anyio
async def test_a_broken_copy_is_not_called_available(
    machine: Callable[..., System], tools: MakeTool, fake_cuda: Path
) -> None:
    tools("ncu", "echo 'cannot execute: required file not found' >&2; exit 127\n")
    result = (await run(machine(LD_LIBRARY_PATH=str(fake_cuda)), "ncu")).profilers["ncu"]
    assert result.ran is False
    assert result.capture_ok is None
    assert result.cause is not None
    assert "broken copy" in result.cause


@pytest.mark.anyio
async def test_nothing_is_started_where_no_profiler_exists(tmp_path: Path) -> None:
    system = System(root=str(tmp_path), environ={"PATH": "/nowhere"}, cwd=str(tmp_path))
    outcome = await run(system, "ncu", "perf")
    assert outcome.programs == {}
    assert all(not r.ran and r.error == "not installed" for r in outcome.profilers.values())
    assert "ncu: not installed" in outcome.missing


@pytest.mark.anyio
async def test_an_unknown_profiler_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no profiler 'nvprof'"):
        await run(System(), "nvprof")


@pytest.mark.anyio
async def test_a_probe_leaves_nothing_behind(
    machine: Callable[..., System], tools: MakeTool, fake_cuda: Path, tmp_path: Path
) -> None:
    stray = tmp_path / "stray.pid"
    body = (
        f'touch "$HOME/left" "$TMPDIR/left"; setsid sh -c \'echo $$ > {stray}; exec sleep 600\' &\n'
    )
    tools("nsys", VERSION_NSYS + body + f'while [ ! -s "{stray}" ]; do :; done\n')
    await run(machine(LD_LIBRARY_PATH=str(fake_cuda)), "nsys")
    assert list((tmp_path / "scratch").iterdir()) == []
    assert not os.path.exists(f"/proc/{stray.read_text().strip()}/cwd")


@pytest.mark.anyio
@pytest.mark.parametrize("python", ["/nope", "python9", "."])
async def test_an_unusable_interpreter_fails_no_probe(
    machine: Callable[..., System], tools: MakeTool, python: str
) -> None:
    tools("perf", "echo 'perf version 6.1'\n")
    outcome = await probe(machine(), profilers=["perf"], python=python, where=WHERE, tell=quiet)
    assert outcome.profilers["perf"].capture_ok is False
    assert any("ran otherwise than asked" in line for line in outcome.limitations)


@pytest.mark.anyio
async def test_an_unusable_interpreter_is_refused_where_it_was_asked_for() -> None:
    with pytest.raises(InputError, match="python: /nope: no such file"):
        await probe(System(), python="/nope", refuse_python=True, where=WHERE, tell=quiet)


def test_a_bare_name_is_looked_for_on_path(machine: Callable[..., System], tools: MakeTool) -> None:
    path = tools("mypython", "exit 0\n")
    found = interpreter(machine(), "mypython")
    assert found is not None
    assert (found.path, found.problem) == (str(path), None)


@pytest.mark.anyio
async def test_a_deadline_too_short_for_a_version_is_no_broken_copy(
    machine: Callable[..., System], tools: MakeTool
) -> None:
    tools("perf", "sleep 5; echo 'perf version 6.1'\n")
    result = (await run(machine(), "perf", timeout_s=0.05)).profilers["perf"]
    assert result.error is not None
    assert result.error.startswith("timed out after")
    assert "deadline" in (result.cause or "")


def test_a_control_node_alone_does_not_make_an_amd_machine_nvidias(
    machine: Callable[..., System],
) -> None:
    system = machine()
    dev = Path(system.root) / "dev"
    dev.mkdir()
    (dev / "kfd").touch()
    (dev / "nvidiactl").touch()
    assert _other_vendor(system) == "AMD"
    (dev / "nvidia0").touch()
    assert _other_vendor(system) is None
