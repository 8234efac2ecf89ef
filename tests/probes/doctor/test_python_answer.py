"""Interpreters that do not answer, each for its own reason, and ones that speak too much."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perfcite.probes.doctor import engines, python_answer
from perfcite.probes.doctor.interpreter import Choice, choose
from perfcite.probes.doctor.section import Section
from perfcite.probes.system import System
from tests.probes.doctor.machines import answer, codes, fact, finding, machine
from tests.replay import ReplaySystem

pytestmark = pytest.mark.anyio
SCRIPT = Path(python_answer.__file__).with_name("python_query.py")
OLD_PYTHONS = [p for v in ("3.6", "3.7", "3.8") if (p := shutil.which(f"python{v}"))]


async def ask(system: ReplaySystem, path: str) -> tuple[Section, str]:
    section = Section()
    _, reason = await python_answer.ask(system, system.real(path), section)
    return section, reason


async def test_a_stub_of_the_store_is_no_python() -> None:
    text = "Python was not found; run without arguments to install from the Microsoft Store, or …\n"
    system = machine(programs={"python.exe": answer(stderr=text, exit=9009)}, platform="windows")
    section, reason = await ask(system, "/apps/python.exe")
    assert reason == "shim_failed"
    assert codes(section) == {"python.shim_failed": "error"}


@pytest.mark.parametrize(
    "text",
    [
        "asdf: No version is set for command python3\nConsider adding one of the following\n",
        "mise ERROR No version is set for shim: python3\n",
        "No preset version installed for command python3\n",
    ],
)
async def test_other_version_managers_shims_fail_alike(text: str) -> None:
    section, _ = await ask(
        machine(programs={"/s/python": answer(stderr=text, exit=126)}), "/s/python"
    )
    assert codes(section) == {"python.shim_failed": "error"}


async def test_pythons_own_option_error_means_too_old() -> None:
    rules: list[dict[str, Any]] = [
        {"argv_prefix": ["-V"], "stderr": "Python 2.7.18\n"},
        {"stderr": "Unknown option: -I\nusage: python [option] …\n", "exit": 2},
    ]
    section, reason = await ask(machine(programs={"/p/python": rules}), "/p/python")
    assert reason == "too_old"
    assert "2.7" in finding(section, "python.too_old").what


async def test_a_syntax_error_of_a_new_python_is_not_called_too_old() -> None:
    rules: list[dict[str, Any]] = [
        {"argv_prefix": ["-V"], "stdout": "Python 3.12.1\n"},
        {"stderr": "SyntaxError: in sitecustomize\n", "exit": 1},
    ]
    section, _ = await ask(machine(programs={"/p/python": rules}), "/p/python")
    assert "python.broken" in codes(section)


async def test_a_crash_is_broken_and_quotes_the_end() -> None:
    text = (
        "Fatal Python error: init_fs_encoding\nModuleNotFoundError: No module named 'encodings'\n"
    )
    system = machine(programs={"/p/python": answer(stderr=text, exit=1)})
    section, reason = await ask(system, "/p/python")
    assert reason == "crashed"
    assert "encodings" in finding(section, "python.broken").evidence[0]


async def test_twenty_seconds_are_the_deadline() -> None:
    system = machine(programs={"/p/python": answer(sleep_ms=30000)})
    section, reason = await ask(system, "/p/python")
    assert reason == "timeout"
    assert "20 s" in finding(section, "python.timeout").what


async def test_a_chain_of_links_is_followed_to_its_missing_end(tmp_path: Path) -> None:
    (tmp_path / "python").symlink_to("python3.12")
    (tmp_path / "python3.12").symlink_to("/gone/bin/python3.12")
    section = Section()
    await python_answer.ask(System(), str(tmp_path / "python"), section)
    assert "/gone/bin/python3.12" in finding(section, "python.broken").what


async def test_a_script_whose_interpreter_is_gone_is_broken(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("#!/gone/python\n")
    (tmp_path / "python").chmod(0o755)
    section = Section()
    await python_answer.ask(System(), str(tmp_path / "python"), section)
    assert "/gone/python" in finding(section, "python.broken").what


async def test_our_own_interpreter_answers_when_named() -> None:
    section = Section()
    found, reason = await python_answer.ask(System(), sys.executable, section)
    assert found
    assert reason == ""
    assert found["python"]["version"] == sys.version.split()[0]
    assert section.findings == []


async def test_an_answer_survives_noise_on_both_sides() -> None:
    body = json.dumps({"python": {}, "dists": [], "modules": {}, "owners": {}})
    found, noise = python_answer.read(f"Welcome\n\x1e{body}\nGoodbye\n")
    assert found
    assert noise == "Welcome\n\nGoodbye"


async def test_half_an_answer_is_none() -> None:
    assert python_answer.read('\x1e{"python": {}')[0] is None
    assert python_answer.read("\x1e[1]\n")[0] is None


async def test_a_path_that_is_nothing_is_a_finding_and_not_an_error(tmp_path: Path) -> None:
    system = System(cwd=str(tmp_path))
    section = await engines.examine(system, choose(system, "no/such/python"))
    assert codes(section) == {"python.broken": "error"}
    assert section.facts["engines"]["vllm"]["state"] == "unknown"


async def test_without_an_interpreter_the_answer_says_how_to_name_one() -> None:
    section = await engines.examine(machine(), Choice(None, None, "none here"))
    assert "python=" in section.limitations[0]
    assert "engines" in section.missing
    assert fact(section, "python.executable") is None


@pytest.mark.parametrize("python", [sys.executable, *OLD_PYTHONS])
def test_the_query_runs_on_old_pythons_too(python: str) -> None:
    question = json.dumps({"modules": {"pip": "pip"}, "home": ""})
    done = subprocess.run(
        [python, "-I", str(SCRIPT), question],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    found, _ = python_answer.read(done.stdout)
    if found is None and "not found" in done.stderr:
        pytest.skip("a stand-in of a version manager")
    assert found, done.stderr
