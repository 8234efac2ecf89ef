"""A client of bare JSON lines, and a fake profiler whose process tree can be watched."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FAKE_PERF = """#!/bin/sh
case "$1" in --version) echo "perf version 6.0.0"; exit 0;; esac
echo $$ > {folder}/child
sh -c 'echo $$ > {folder}/grandchild; exec sleep 600' &
setsid sh -c 'echo $$ > {folder}/stray; exec sleep 600' &
echo started
wait
"""
WAIT_S = 20.0


def lay_trap(folder: Path) -> dict[str, str]:
    """Put a profiler that never ends on PATH; its three processes write their ids into `folder`."""
    tools = folder / "bin"
    tools.mkdir()
    perf = tools / "perf"
    perf.write_text(FAKE_PERF.format(folder=folder))
    perf.chmod(0o755)
    return environment(folder) | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}


def environment(folder: Path) -> dict[str, str]:
    """Give a server a store of its own."""
    return {**os.environ, "PERFCITE_STORE": str(folder / "store"), "PYTHONUNBUFFERED": "1"}


def processes(folder: Path) -> list[Path]:
    """Wait until the trap has sprung and give the files with its process ids."""
    files = [folder / name for name in ("child", "grandchild", "stray")]
    until(lambda: all(f.exists() and f.read_text().strip() for f in files))
    return files


def all_gone(files: list[Path], seconds: float) -> bool:
    """Tell whether every process ends in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(os.path.exists(f"/proc/{f.read_text().strip()}/cwd") for f in files):
            return True
        time.sleep(0.02)
    return False


def until(condition: Any) -> None:
    """Wait for a condition, bounded."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


class Raw:
    """One stdio server and its lines."""

    def __init__(self, env: dict[str, str], *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "perfcite.server", "serve", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        )
        self.lines: list[dict[str, Any]] = []

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, number: int) -> dict[str, Any]:
        """Read lines until the answer to a request; every line must be JSON-RPC."""
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            assert line, "the server ended"
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            self.lines.append(message)
            if message.get("id") == number and "method" not in message:
                return dict(message)

    def initialize(self, version: str = "2025-06-18") -> dict[str, Any]:
        info = {"name": "test", "version": "0"}
        parameters = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
        self.send(id=1, method="initialize", params=parameters)
        answer = self.answer(1)
        self.send(method="notifications/initialized")
        return answer

    def call(self, number: int, tool: str, arguments: dict[str, Any]) -> None:
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": number}}
        self.send(id=number, method="tools/call", params=params)

    def stop(self) -> None:
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process.kill()
        self.process.wait()


@contextmanager
def raw_server(env: dict[str, str], *arguments: str) -> Iterator[Raw]:
    """Start a stdio server and end it for certain."""
    raw = Raw(env, *arguments)
    try:
        yield raw
    finally:
        raw.stop()
