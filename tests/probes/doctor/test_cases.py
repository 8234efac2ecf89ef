"""Every handed doctor case, in-process: the machine is laid out and the whole examination judged.

Programs with recorded answers are replayed, so none of them waits; an interpreter of a case's own is a
real virtual environment, made as the outside runner makes it, and really runs.
"""

import importlib.util
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from perfcite.probes import command
from perfcite.probes.command import Completed
from perfcite.probes.doctor.examine import examine
from perfcite.probes.system import System
from tests.conftest import SHARED
from tests.replay import ReplaySystem

CASES = sorted((SHARED / "cases" / "doctor").glob("*.json"))


class Machine(ReplaySystem):
    """A replayed machine on which a program without recorded answers is really started."""

    async def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 5.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        keep: int = command.KEEP_LIMIT,
    ) -> Completed:
        recorded = {self.shown(argv[0]), os.path.basename(argv[0])} & set(self.rules)
        if recorded or argv[0] == sys.executable:
            return await super().run(argv, timeout_s=timeout_s, env=env, cwd=cwd, keep=keep)
        return await System.run(self, argv, timeout_s=timeout_s, env=env, cwd=cwd, keep=keep)


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    """The outside runner, for how it makes interpreters and how it judges."""
    path = SHARED / "cases" / "run_doctor_cases.py"
    spec = importlib.util.spec_from_file_location("run_doctor_cases", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _machine(case: Mapping[str, Any]) -> Machine:
    return Machine(
        files=case["files"],
        executables=case["executables"],
        env=case["env"],
        platform=case["platform"] if case["platform"] in ("windows", "darwin") else "linux",
        nvml=case["nvml"],
    )


def _interpreter(
    runner: ModuleType, case: Mapping[str, Any], machine: Machine, folder: Path
) -> str | None:
    named: str | None = case["args"].get("python")
    if case["python_env"]:
        bare = {**case, "files": {}, "executables": {}, "nvml": None}
        return str(runner.lay_out(bare, folder)[2])
    return machine.real(named) if named and machine.lexists(named) else named


@pytest.mark.anyio
@pytest.mark.skipif(not CASES, reason="the handed cases are not beside this checkout")
@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
async def test_a_case_is_read_as_it_should_be(
    path: Path, tmp_path: Path, runner: ModuleType
) -> None:
    case = json.loads(path.read_text())
    machine = _machine(case)
    found = await examine(
        machine,
        python=_interpreter(runner, case, machine, tmp_path),
        probe_profilers=bool(case["args"].get("probe_profilers")),
    )
    findings = [f.model_dump(mode="json") for f in found.findings]
    record = {"data": {"facts": found.facts, "findings": findings}}
    assert runner.check(case, record) == []
    text = json.dumps([record, found.summary, found.limitations], ensure_ascii=False)
    assert "\x1b" not in text
    assert not [v for v in case["env"].values() if "SECRET" in v and v in text]
    assert "internal error" not in text
