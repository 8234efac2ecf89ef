"""Versions kept by file: the same file is not asked twice, and nothing else is believed."""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from perfcite.probes import command
from perfcite.probes.command import Completed
from perfcite.probes.doctor import version_cache
from perfcite.probes.system import System

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="copies a native program"),
]
started: list[Sequence[str]] = []


class Counting(System):
    async def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 5.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        keep: int = command.KEEP_LIMIT,
    ) -> Completed:
        started.append(argv)
        return await super().run(argv, timeout_s=timeout_s, env=env, cwd=cwd, keep=keep)


@pytest.fixture
def tool(tmp_path: Path) -> str:
    path = tmp_path / "tool"
    shutil.copy2(os.path.realpath("/usr/bin/env"), path)
    return str(path)


@pytest.fixture(autouse=True)
def system(tmp_path: Path) -> Iterator[System]:
    (tmp_path / "store").mkdir()
    started.clear()
    _new_process()
    yield Counting(scratch=tmp_path / "store" / "scratch", cwd=str(tmp_path))
    _new_process()


def _new_process() -> None:
    for kept in (version_cache._known, version_cache._loaded, version_cache._unsaved):
        kept.clear()


async def test_the_same_file_is_asked_once_in_and_across_processes(
    system: System, tool: str, tmp_path: Path
) -> None:
    first = await version_cache.ask(system, [tool, "--version"])
    second = await version_cache.ask(system, [tool, "--version"])
    version_cache.save(system)
    _new_process()
    third = await version_cache.ask(system, [tool, "--version"])
    assert first.output.strip() == second.output.strip() == third.output.strip() != ""
    assert len(started) == 1
    place = tmp_path / "store" / "cache" / "tools.json"
    assert place.stat().st_mode & 0o777 == 0o600


async def test_a_changed_file_is_asked_again(system: System, tool: str) -> None:
    await version_cache.ask(system, [tool, "--version"])
    os.utime(tool, ns=(1, 1))
    await version_cache.ask(system, [tool, "--version"])
    assert len(started) == 2


async def test_a_script_is_run_each_time(system: System, tmp_path: Path) -> None:
    script = tmp_path / "wrapper"
    script.write_text("#!/bin/sh\necho version 1.0\n")
    script.chmod(0o755)
    for _ in range(2):
        await version_cache.ask(system, [str(script), "--version"])
    assert len(started) == 2


async def test_a_failure_is_not_kept(system: System, tool: str) -> None:
    for _ in range(2):
        assert not (await version_cache.ask(system, [tool, "--no-such-option"])).ok
    assert len(started) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"x": 7}', "\udcff"])
async def test_a_file_that_is_not_what_it_should_be_is_ignored(
    system: System, tool: str, tmp_path: Path, text: str
) -> None:
    place = tmp_path / "store" / "cache" / "tools.json"
    place.parent.mkdir()
    place.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert (await version_cache.ask(system, [tool, "--version"])).ok
    version_cache.save(system)
    assert len(json.loads(place.read_text())) == 1


async def test_a_file_that_others_may_write_is_ignored(
    system: System, tool: str, tmp_path: Path
) -> None:
    await version_cache.ask(system, [tool, "--version"])
    version_cache.save(system)
    _new_process()
    (tmp_path / "store" / "cache" / "tools.json").chmod(0o666)
    await version_cache.ask(system, [tool, "--version"])
    assert len(started) == 2


async def test_of_a_sysroot_nothing_is_kept(tool: str, tmp_path: Path) -> None:
    system = Counting(root=str(tmp_path), scratch=tmp_path / "store" / "scratch", cwd="/")
    for _ in range(2):
        await version_cache.ask(system, [tool, "--version"])
    version_cache.save(system)
    assert len(started) == 2
    assert not (tmp_path / "store" / "cache").exists()
