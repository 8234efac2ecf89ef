"""The NVML child as a real process, with a library that only we made; and its document read back."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perfcite.probes.command import Completed
from perfcite.probes.doctor import nvidia_nvml
from perfcite.probes.system import System
from tests.replay import nvml_document

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A libnvidia-ml.so.1 that answers what environment variables tell it to."""
    source = Path(__file__).resolve().parents[4] / "shared" / "cases" / "fake_nvml.c"
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux" or compiler is None or not source.is_file():
        pytest.skip("needs a C compiler and the handed fake library")
    folder = tmp_path_factory.mktemp("nvml")
    built = folder / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", built, source], check=True, timeout=60)
    return folder


async def ask(library: Path, **state: int | str) -> Any:
    environ = {f"FAKE_NVML_{k.upper()}": str(v) for k, v in state.items()}
    system = System(environ={"LD_LIBRARY_PATH": str(library), **environ})
    return await nvidia_nvml.ask(system, wsl_library=False)


async def test_a_working_library_names_its_gpus(library: Path) -> None:
    reading = await ask(library, count=2, cuda=12080, gpu_util=7)
    assert (reading.driver, reading.cuda, reading.cuda_version) == ("580.95.05", "12.8", 12080)
    assert [g.row()["name"] for g in reading.gpus] == ["NVIDIA Fake GPU"] * 2
    row = reading.gpus[0].row()
    assert (row["memory_total_mib"], row["memory_used_mib"]) == (81920, 0)
    assert (row["memory_reserved_mib"], row["utilization_pct"]) == (600, 7)
    assert row["processes"]["reason"] == "not_supported"


async def test_a_replayed_document_reads_as_the_real_one(library: Path) -> None:
    real = await ask(library, count=1, gpu_util=98, clk=1200, reasons=2)
    state = {"count": 1, "util_pct": 98, "clock_sm": 1200, "reasons": 2}
    replayed = nvidia_nvml.read_document(nvml_document(state))
    assert replayed.gpus
    assert real.gpus[0].row() == replayed.gpus[0].row()


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ({"init": 9}, "driver_not_loaded"),
        ({"init": 18}, "library_mismatch"),
        ({"init": 999}, "unknown_error"),
        ({"init": 4}, "no_permission"),
        ({"segv": 1}, "crashed"),
        ({"count": 0}, "no_devices"),
    ],
)
async def test_each_end_is_told_by_its_problem(
    library: Path, state: dict[str, int], problem: str
) -> None:
    assert (await ask(library, **state)).problem == problem


async def test_bytes_that_are_no_text_do_no_harm(library: Path) -> None:
    row = (await ask(library, garbage=1)).gpus[0].row()
    assert row["name"]["reason"].startswith("parse_error")
    assert row["temperature_c"] == 35


async def test_a_lost_gpu_leaves_the_others(library: Path) -> None:
    reading = await ask(library, count=2, lost=0)
    assert [g.facts["state"] for g in reading.gpus] == ["lost", "ok"]


async def test_a_directory_in_the_library_s_place_is_a_missing_library(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("dlopen's search path is Linux's")
    (tmp_path / "libnvidia-ml.so.1").mkdir()
    reading = await ask(tmp_path)
    assert reading.problem == "library_missing"


def _done(stdout: str, **changed: Any) -> Completed:
    given: dict[str, Any] = {"argv": ("python",), "outcome": "exited", "returncode": 0}
    given |= {"stdout": stdout, "stderr": "", "seconds": 0.1}
    return Completed(**(given | changed))


def test_what_a_library_prints_before_the_document_does_no_harm() -> None:
    reading = nvidia_nvml.read(
        _done('banner {"init": 1}\n\x1e{"init": {"code": 9, "error": "x"}}\n')
    )
    assert reading.problem == "driver_not_loaded"


@pytest.mark.parametrize("stdout", ["", "no document", "\x1e{broken", "\x1e[]"])
def test_no_document_is_a_crash_and_never_an_exception(stdout: str) -> None:
    assert nvidia_nvml.read(_done(stdout)).problem == "crashed"


def test_the_first_memory_call_says_that_it_counts_reserved_as_used() -> None:
    document = nvml_document({"count": 1})
    document["gpus"][0]["memory"] = {"value": {"total": 1 << 34, "free": 0, "used": 600 << 20}}
    reading = nvidia_nvml.read_document(document)
    assert reading.gpus
    row = reading.gpus[0].row()
    assert row["memory_used_mib"] == 600
    assert row["memory_reserved_mib"]["state"] == "unknown"
    assert reading.gpus[0].facts["used_includes_reserved"] is True


def test_a_program_on_two_lists_is_one_program() -> None:
    document = nvml_document({"count": 1})
    both = {"value": [{"pid": 5, "memory": None, "name": "/usr/bin/x"}]}
    document["gpus"][0]["processes"] = {"compute": both, "graphics": both, "mps": {"code": 3}}
    reading = nvidia_nvml.read_document(document)
    assert reading.gpus
    assert [(p.pid, p.name, p.kind) for p in reading.gpus[0].processes or []] == [
        (5, "x", "compute")
    ]


def test_a_licence_is_judged_by_the_features_that_are_on() -> None:
    document = nvml_document({"count": 1})
    row = document["gpus"][0]
    row["virtualization"] = {"value": 2}
    row["licences"] = {
        "value": [{"enabled": False, "licensed": True}, {"enabled": True, "licensed": False}]
    }
    reading = nvidia_nvml.read_document(document)
    assert reading.gpus
    assert reading.gpus[0].value("licence") == "Unlicensed"
    assert reading.gpus[0].value("virtualization") == "VGPU"
