import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from perfcite.probes.profilers.programs import FOLDER, Engine, last_json, try_family
from perfcite.probes.system import System

DRIVER = [
    sys.executable,
    "-I",
    str(FOLDER / "perfcite_cuda_driver.py"),
    str(FOLDER / "perfcite_probe_kernel.ptx"),
]


def launch(folder: Path, **environ: str) -> tuple[int, dict[str, object]]:
    done = subprocess.run(
        DRIVER, env={"LD_LIBRARY_PATH": str(folder), **environ}, capture_output=True, check=False
    )
    return done.returncode, json.loads(done.stdout)


def test_the_kernel_assembles(tmp_path: Path) -> None:
    if shutil.which("ptxas") is None:
        pytest.skip("no ptxas here")
    kernel = str(FOLDER / "perfcite_probe_kernel.ptx")
    subprocess.run(["ptxas", kernel, "-o", str(tmp_path / "k.cubin")], check=True)
    assert (tmp_path / "k.cubin").stat().st_size > 0


def test_the_driver_program_launches_and_checks_its_numbers(fake_cuda: Path) -> None:
    status, answer = launch(fake_cuda)
    assert status == 0
    assert answer == {
        "ok": True,
        "device": "Fake GPU",
        "kernel": "perfcite_probe_kernel",
        "launches": 3,
    }


def test_wrong_numbers_on_the_device_are_a_failure(fake_cuda: Path) -> None:
    status, answer = launch(fake_cuda, FAKE_CUDA_WRONG="1")
    assert status == 4
    assert answer["error"] == "1 values are wrong"


def test_no_device_is_told_with_the_drivers_own_name(fake_cuda: Path) -> None:
    status, answer = launch(fake_cuda, FAKE_CUDA_DEVICES="0")
    assert status == 3
    assert (answer["stage"], answer["code"]) == ("cuInit", 100)
    assert answer["error"] == "CUDA_ERROR_NO_DEVICE"


@pytest.mark.parametrize(
    "function",
    [
        "cuDevicePrimaryCtxRetain",
        "cuModuleLoadData",
        "cuMemAlloc_v2",
        "cuLaunchKernel",
        "cuCtxSynchronize",
    ],
)
def test_each_failing_step_is_named(fake_cuda: Path, function: str) -> None:
    status, answer = launch(fake_cuda, FAKE_CUDA_FAIL=function)
    assert status == 3
    assert answer["stage"] == function


@pytest.mark.anyio
async def test_the_cpu_program_runs_and_names_its_function(tmp_path: Path) -> None:
    trial = await try_family("cpu", System(), tmp_path, None, 60)
    assert trial.program is not None
    assert trial.program.look_for == "perfcite_hot"


@pytest.mark.anyio
async def test_all_fallbacks_are_told_where_none_works(
    machine: Callable[..., System], fake_cuda: Path, tmp_path: Path
) -> None:
    system = machine(LD_LIBRARY_PATH=str(fake_cuda), FAKE_CUDA_DEVICES="0", PATH="/nowhere")
    trial = await try_family("cuda", system, tmp_path, Engine(sys.executable), 60)
    assert trial.program is None
    assert "driver API: cuInit 100 CUDA_ERROR_NO_DEVICE" in trial.why_not
    assert "torch:" in trial.why_not
    assert "nvcc: not installed" in trial.why_not


def test_a_json_line_is_found_after_what_libraries_print() -> None:
    assert last_json('warning: hello\n{"ok": true}\n') == {"ok": True}
    assert last_json("nothing\n[1]\n") is None


@pytest.mark.anyio
async def test_a_test_program_that_times_out_is_told_from_one_that_does_not_run(
    tmp_path: Path,
) -> None:
    trial = await try_family("cpu", System(), tmp_path, None, 0.01)
    assert trial.program is None
    assert "timed out after" in trial.why_not
    assert trial.cause.startswith("the test program timed out")


@pytest.mark.anyio
async def test_an_interpreter_that_is_not_there_leaves_the_cpu_program_to_our_own(
    tmp_path: Path,
) -> None:
    engine = Engine("/nope", "no such file")
    trial = await try_family("cpu", System(), tmp_path, engine, 60)
    assert trial.program is not None
    assert trial.program.argv[0] == sys.executable
    assert trial.instead
    assert "/nope: no such file" in trial.why_not


@pytest.mark.anyio
async def test_the_torch_route_says_why_the_named_interpreter_cannot_be_run(
    tmp_path: Path,
) -> None:
    system = System(environ={"PATH": "/nowhere"})
    trial = await try_family("cuda", system, tmp_path, Engine("/nope", "no such file"), 60)
    assert trial.program is not None or "torch: /nope: no such file" in trial.why_not
