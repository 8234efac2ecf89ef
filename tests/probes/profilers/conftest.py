"""A fake CUDA driver and fake profilers, at the process boundary: there is no GPU here."""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from perfcite.probes.system import System

MakeTool = Callable[[str, str], Path]


@pytest.fixture(scope="session")
def fake_cuda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the stand-in for libcuda; its folder goes on LD_LIBRARY_PATH."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("fake_cuda")
    source = Path(__file__).with_name("fake_cuda.c")
    target = str(folder / "libcuda.so.1")
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", target, str(source)], check=True)
    return folder


@pytest.fixture
def tools(tmp_path: Path) -> MakeTool:
    """Write an executable shell script into a folder of its own."""

    def make(name: str, body: str) -> Path:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make


@pytest.fixture
def machine(tmp_path: Path) -> Callable[..., System]:
    """Give a machine whose programs are those in `bin`, with extra environment."""

    def make(**environ: str) -> System:
        (tmp_path / "root").mkdir(exist_ok=True)
        path = f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return System(
            root=str(tmp_path / "root"),
            environ={"PATH": path, **environ},
            cwd=str(tmp_path),
            scratch=tmp_path / "scratch",
        )

    return make
