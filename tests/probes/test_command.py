import os
import sys
import time
from pathlib import Path

import anyio
import pytest

from perfcite.probes import command

ENV = {"PATH": os.environ["PATH"]}


def alive(pid_file: Path) -> bool:
    return os.path.exists(f"/proc/{pid_file.read_text().strip()}/cwd")


async def written(path: Path) -> None:
    with anyio.fail_after(10):
        while not path.exists() or not path.read_text().strip():
            await anyio.sleep(0.01)


def tree(tmp_path: Path) -> tuple[list[str], list[Path]]:
    """A child, a grandchild, one that has left the session, one that cleared its environment too."""
    files = [tmp_path / name for name in ("child", "grandchild", "stray", "bare")]
    script = (
        f"echo $$ > {files[0]}; sh -c 'echo $$ > {files[1]}; exec sleep 600' & "
        f"setsid sh -c 'echo $$ > {files[2]}; exec sleep 600' & "
        f"setsid env -i /bin/sh -c 'echo $$ > {files[3]}; exec /bin/sleep 600' & wait"
    )
    return ["sh", "-c", script], files


@pytest.mark.anyio
async def test_both_streams_and_the_status_come_back() -> None:
    done = await command.run(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout_s=10, env=ENV)
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 3)
    assert done.outcome == "exited"
    assert not done.ok


@pytest.mark.anyio
async def test_standard_input_is_closed() -> None:
    done = await command.run(["cat"], timeout_s=10, env=ENV)
    assert done.ok


@pytest.mark.anyio
async def test_a_grandchild_that_holds_the_output_open_costs_nothing() -> None:
    started = time.monotonic()
    done = await command.run(["sh", "-c", "sleep 600 & echo here"], timeout_s=30, env=ENV)
    assert done.stdout == "here\n"
    assert time.monotonic() - started < 10


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.anyio
async def test_a_time_out_kills_the_whole_tree_even_what_left_the_session(tmp_path: Path) -> None:
    argv, files = tree(tmp_path)
    done = await command.run(argv, timeout_s=5, env=ENV)
    assert done.outcome == "timed_out"
    assert done.returncode is None
    assert not any(alive(f) for f in files)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.anyio
async def test_cancelling_kills_the_whole_tree(tmp_path: Path) -> None:
    argv, files = tree(tmp_path)
    async with anyio.create_task_group() as group:

        async def start() -> None:
            await command.run(argv, timeout_s=600, env=ENV)

        group.start_soon(start)
        for file in files:
            await written(file)
        started = time.monotonic()
        group.cancel_scope.cancel()
    assert time.monotonic() - started < 2
    assert not any(alive(f) for f in files)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.anyio
async def test_kill_all_kills_every_tree_without_an_event_loop(tmp_path: Path) -> None:
    argv, files = tree(tmp_path)
    async with anyio.create_task_group() as group:

        async def start() -> None:
            await command.run(argv, timeout_s=600, env=ENV)

        group.start_soon(start)
        for file in files:
            await written(file)
        command.kill_all()
        with anyio.fail_after(2):
            while any(alive(f) for f in files):
                await anyio.sleep(0.01)


@pytest.mark.anyio
async def test_endless_output_is_stopped_and_cut() -> None:
    done = await command.run(["yes"], timeout_s=30, env=ENV, output_limit=1_000_000)
    assert done.outcome == "output_limit"
    assert done.truncated
    assert len(done.stdout) < 70_000


@pytest.mark.anyio
async def test_ways_of_not_being_a_program_are_told_apart(tmp_path: Path) -> None:
    def write(name: str, content: bytes, mode: int = 0o755) -> str:
        path = tmp_path / name
        path.write_bytes(content)
        path.chmod(mode)
        return str(path)

    async def outcome(path: str) -> str:
        return (await command.run([path], timeout_s=10, env=ENV)).outcome

    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert await outcome(str(tmp_path / "none")) == "not_found"
    assert await outcome(str(tmp_path / "dangling")) == "not_found"
    assert await outcome(write("shebang", b"#!/no/such/interpreter\n")) == "bad_interpreter"
    assert await outcome(write("foreign", b"\x7fELF\x02\x01garbage")) == "wrong_format"
    assert await outcome(str(tmp_path / "folder")) == "not_permitted"
    assert await outcome(write("plain", b"#!/bin/sh\n", 0o644)) == "not_permitted"


@pytest.mark.anyio
async def test_a_signal_is_named() -> None:
    done = await command.run(["sh", "-c", "kill -SEGV $$"], timeout_s=10, env=ENV)
    assert done.signal == "SIGSEGV"
    assert done.ending() == "killed by SIGSEGV"


@pytest.mark.anyio
async def test_bytes_that_are_no_text_and_colours_are_cleaned() -> None:
    script = r"printf '\033[31mred\033[0m \202 caf\303\251\r\n'"
    done = await command.run(["sh", "-c", script], timeout_s=10, env=ENV)
    assert done.stdout == "red � café\n"


def test_a_probes_environment_is_private_and_holds_no_secret(tmp_path: Path) -> None:
    base = {"PATH": "/bin", "HF_TOKEN": "hf_x", "LANG": "de_DE.UTF-8", "HOME": "/home/a"}
    env = command.probe_environment(base, tmp_path)
    assert "HF_TOKEN" not in env
    assert env["LC_ALL"] == "C"
    assert env["HOME"] == env["TMPDIR"] == str(tmp_path)


def test_a_callers_command_keeps_its_home_and_loses_unnamed_secrets(tmp_path: Path) -> None:
    base = {"HOME": "/home/a", "LANG": "de_DE.UTF-8", "HF_TOKEN": "hf_x", "WANDB_API_KEY": "w"}
    env, dropped = command.caller_environment(base, tmp_path, pass_env=["HF_TOKEN"])
    assert dropped == ["WANDB_API_KEY"]
    assert env["HF_TOKEN"] == "hf_x"
    assert (env["HOME"], env["LANG"]) == ("/home/a", "de_DE.UTF-8")


def test_scratch_is_removed_with_what_was_left_in_it(tmp_path: Path) -> None:
    with command.private_scratch(tmp_path / "store" / "scratch") as scratch:
        (scratch / "left").write_text("x")
        assert scratch.stat().st_mode & 0o077 == 0
    assert not scratch.exists()
    with command.private_scratch(Path("/proc/none")) as scratch:
        assert scratch.is_dir()
