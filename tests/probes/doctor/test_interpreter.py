"""Which Python would run the engine: the order, the forms of a first line, our own environment."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from perfcite.probes.doctor import engine_processes, interpreter
from perfcite.probes.doctor.interpreter import choose, resolve
from perfcite.probes.system import System
from tests.probes.doctor.machines import machine
from tests.replay import ReplaySystem

EXECUTABLE = {"text": "", "mode": "755"}


def script(first: str) -> dict[str, str]:
    return {"text": first + "\nimport sys\n", "mode": "755"}


def chosen(system: ReplaySystem, python: str | None = None) -> tuple[str | None, str | None]:
    choice = choose(system, python)
    return (system.shown(choice.path) if choice.path else None), choice.chosen_by


def test_the_one_given_goes_before_everything() -> None:
    files = {"/given/bin/python": EXECUTABLE, "/env/bin/python": EXECUTABLE}
    system = machine(files, env={"VIRTUAL_ENV": "/env"})
    assert chosen(system, system.real("/given/bin/python")) == ("/given/bin/python", "argument")


def test_a_running_engine_goes_before_commands_and_environments() -> None:
    files = {
        "/proc/77/cmdline": "/srv/bin/python3\0/srv/bin/vllm\0serve\0model\0",
        "/srv/bin/python3": EXECUTABLE,
        "/usr/local/bin/vllm": script("#!/opt/venv/bin/python"),
        "/env/bin/python": EXECUTABLE,
    }
    assert chosen(machine(files, env={"VIRTUAL_ENV": "/env"})) == ("/srv/bin/python3", "process")


def test_the_command_on_path_goes_before_an_environment() -> None:
    files = {
        "/usr/local/bin/vllm": script("#!/opt/venv/bin/python"),
        "/env/bin/python": EXECUTABLE,
    }
    assert chosen(machine(files, env={"VIRTUAL_ENV": "/env"})) == (
        "/opt/venv/bin/python",
        "command",
    )


def test_an_environment_goes_before_the_working_directory() -> None:
    system = machine({"/env/bin/python": EXECUTABLE}, env={"CONDA_PREFIX": "/env"})
    assert chosen(system) == ("/env/bin/python", "environment")


def test_the_working_directorys_environment_is_last() -> None:
    system = machine()
    folder = Path(system.real(system.cwd + "/.venv/bin"))
    folder.mkdir(parents=True)
    (folder / "python").touch(mode=0o755)
    assert chosen(system)[1] == "working directory"


def test_without_any_there_is_none_and_a_reason() -> None:
    choice = choose(machine(), None)
    assert (choice.path, choice.chosen_by) == (None, None)
    assert ".venv" in choice.why


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#!/opt/v/bin/python3.12\n", "/opt/v/bin/python3.12"),
        ("#!/usr/bin/env python3\n", "/usr/bin/python3"),
        ("#!/usr/bin/env -S python3 -I\n", "/usr/bin/python3"),
        ("#!/bin/sh\n'''exec' \"/a b/bin/python\" \"$0\" \"$@\"\n' '''\n", "/a b/bin/python"),
        (
            "#!/bin/sh\n'''exec' /very/long/bin/python \"$0\" \"$@\"\n' '''\n",
            "/very/long/bin/python",
        ),
        ("#!/bin/bash\ndocker run vllm\n", None),
        ("", None),
    ],
)
def test_the_first_lines_of_console_scripts(text: str, expected: str | None) -> None:
    files: dict[str, Any] = {
        "/usr/local/bin/vllm": {"text": text, "mode": "755"},
        "/usr/bin/python3": EXECUTABLE,
    }
    assert chosen(machine(files))[0] == expected


@pytest.mark.parametrize(
    ("argv", "engine"),
    [
        (["/v/bin/python", "/v/bin/vllm", "serve", "m"], "vllm"),
        (["python3", "-m", "vllm.entrypoints.openai.api_server"], "vllm"),
        (["python3", "-X", "dev", "-u", "-m", "sglang.launch_server"], "sglang"),
        (["/usr/bin/llama-server", "-m", "x.gguf"], "llama_cpp"),
        (["/v/bin/python", "/v/bin/trtllm-serve", "m"], "tensorrt_llm"),
        (["bash", "-c", "python -m vllm serve"], None),
        (["python3", "-c", "import vllm"], None),
        (["vim", "vllm"], None),
        (["python3", "bench_vllm.py"], None),
        ([], None),
    ],
)
def test_command_lines_that_start_an_engine(argv: list[str], engine: str | None) -> None:
    assert engine_processes.engine_of(argv) == engine


def test_a_running_engines_secrets_are_not_kept() -> None:
    files = {
        "/proc/77/cmdline": "/v/bin/python\0/v/bin/vllm\0serve\0--api-key\0sk-0123456789\0--port\08000\0",
        "/proc/77/environ": "HF_TOKEN=hf_abcdefghijkl\0PATH=/bin\0CUDA_VISIBLE_DEVICES=0\0",
    }
    fact = engine_processes.find(machine(files))[0].fact()
    assert "sk-0123456789" not in str(fact)
    assert "hf_abc" not in str(fact)
    assert "8000" in fact["arguments"]
    assert fact["env_names"] == ["CUDA_VISIBLE_DEVICES", "HF_TOKEN"]
    assert "pid" not in fact


def test_the_executable_link_names_the_python_of_a_bare_command() -> None:
    files: dict[str, Any] = {
        "/proc/9/cmdline": "python3\0-m\0sglang.launch_server\0",
        "/proc/9/exe": {"symlink": "/usr/bin/python3.12"},
    }
    assert engine_processes.find(machine(files))[0].python == "/usr/bin/python3.12"


def test_a_process_whose_python_is_not_here_is_passed_over() -> None:
    files = {"/proc/9/cmdline": "/in/a/container/python\0-m\0vllm.server\0"}
    assert choose(machine(files), None).path is None


def test_a_directory_is_an_environment_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    path, problem = resolve(System(), str(tmp_path))
    assert (path, problem) == (str(tmp_path / "bin" / "python"), None)


def test_a_directory_without_python_and_a_missing_file_are_problems(tmp_path: Path) -> None:
    assert resolve(System(), str(tmp_path))[1] == "a directory without bin/python"
    assert resolve(System(), str(tmp_path / "no"))[1] == "no such file"


def test_a_bare_name_is_looked_up_on_path() -> None:
    system = machine({"/usr/bin/python3.12": EXECUTABLE})
    assert system.shown(str(resolve(system, "python3.12")[0])) == "/usr/bin/python3.12"


def test_a_relative_path_counts_from_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "python").touch(mode=0o755)
    system = System(cwd=str(tmp_path))
    assert resolve(system, "./python")[0] == os.path.join(str(tmp_path), "./python")


def test_our_own_environment_does_not_answer_for_the_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch(mode=0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    environ = {"VIRTUAL_ENV": str(tmp_path), "PATH": ""}
    system = System(environ=environ, cwd=str(tmp_path))
    found = [c.path for c in interpreter.candidates(system, ()) if c.chosen_by == "environment"]
    assert found == []


def test_our_own_environment_answers_where_the_engine_is_in_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch(mode=0o755)
    (tmp_path / "lib/python3.12/site-packages/vllm-0.11.0.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    system = System(environ={"VIRTUAL_ENV": str(tmp_path), "PATH": ""}, cwd=str(tmp_path))
    found = [c.path for c in interpreter.candidates(system, ()) if c.chosen_by == "environment"]
    assert found == [str(tmp_path / "bin" / "python")]


def test_a_process_of_another_container_is_passed_over() -> None:
    files: dict[str, Any] = {
        "/proc/9/cmdline": "/usr/bin/python3\0-m\0vllm.server\0",
        "/proc/9/ns/mnt": {"symlink": "mnt:[4026532999]"},
        "/proc/self/ns/mnt": {"symlink": "mnt:[4026531841]"},
        "/usr/bin/python3": EXECUTABLE,
    }
    assert engine_processes.find(machine(files)) == []


def test_a_folder_that_may_not_be_entered_is_named_and_not_called_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    # root enters every folder, so the kernel's answer to a plain user is given here
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(closed))
    monkeypatch.setattr(os.path, "lexists", lambda path: False)
    path, problem = interpreter.resolve(System(), str(closed / "bin" / "python"))
    assert path.endswith("bin/python")
    assert problem == f"no permission: this user may not look into {closed}"
