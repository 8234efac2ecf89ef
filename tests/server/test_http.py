"""Streamable HTTP: the same tools, guarded; and no child outlives its call."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from .raw import all_gone, environment, lay_trap, processes, until

LIMIT_S = 2.0
ACCEPT = {"accept": "application/json, text/event-stream"}


@contextmanager
def http_server(env: dict[str, str], *arguments: str) -> Iterator[tuple[str, Any]]:
    """Serve on a free loopback port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = [sys.executable, "-m", "perfcite.server", "serve", "--http", "--port", str(port)]
    process = subprocess.Popen([*argv, *arguments], env=env, stderr=subprocess.PIPE)
    try:
        until(lambda: process.poll() is not None or answers(port))
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def legacy(url: str, **headers: str) -> Iterator["Legacy"]:
    """Open a session and close its connections."""
    session = Legacy(url, **headers)
    try:
        yield session
    finally:
        session.client.close()


class Legacy:
    """A session of the 2025 protocol in bare HTTP."""

    def __init__(self, url: str, **headers: str) -> None:
        self.url = url
        self.client = httpx2.Client(headers={**ACCEPT, **headers}, timeout=60, trust_env=False)
        info = {"name": "test", "version": "0"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
        first = self.post(id=1, method="initialize", params=params)
        assert first.status_code == 200, first.text
        self.client.headers["mcp-session-id"] = first.headers["mcp-session-id"]
        self.post(method="notifications/initialized")

    def post(self, **message: Any) -> httpx2.Response:
        return self.client.post(self.url, json={"jsonrpc": "2.0", **message})

    def call(self, number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments}
        answer = self.post(id=number, method="tools/call", params=params)
        lines = [line for line in answer.text.splitlines() if line.startswith("data: ")]
        return dict(json.loads(lines[-1].removeprefix("data: ")))


def test_the_tools_answer_over_http(tmp_path: Path) -> None:
    with http_server(environment(tmp_path)) as (url, _), legacy(url) as session:
        result = session.call(2, "list_evidence", {})["result"]
        assert result["structuredContent"] == {"records": []}
        assert result["content"][0]["text"] == "no records"


def test_foreign_hosts_and_origins_are_refused(tmp_path: Path) -> None:
    with http_server(environment(tmp_path)) as (url, _):
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        with httpx2.Client(headers=ACCEPT, trust_env=False) as client:
            assert client.post(url, json=body, headers={"host": "evil.example"}).status_code == 421
            evil = {"origin": "https://evil.example"}
            assert client.post(url, json=body, headers=evil).status_code == 403
            local = client.post(url, json=body, headers={"host": "localhost"})
            assert local.status_code not in (421, 403)


def test_callers_name_no_program_and_no_file_unless_the_operator_lets_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "a.jsonl").write_text("[1, 2]\n")
    (tmp_path / "b.jsonl").write_text("[1, 2]\n")
    roots = ("--root", str(tmp_path / "open"))
    with http_server(environment(tmp_path), *roots) as (url, _), legacy(url) as session:
        refused = session.call(2, "doctor", {"python": sys.executable})["result"]
        assert refused["isError"]
        assert "--allow-commands" in refused["content"][0]["text"]
        inside = str(tmp_path / "open" / "a.jsonl")
        outside = {"reference": inside, "candidate": str(tmp_path / "open" / ".." / "b.jsonl")}
        refused = session.call(3, "check_correctness", outside)["result"]
        assert refused["isError"]
        assert "outside" in refused["content"][0]["text"]
        same = {"reference": inside, "candidate": inside}
        assert not session.call(4, "check_correctness", same)["result"].get("isError")


def test_a_bearer_token_is_asked_for_when_one_is_set(tmp_path: Path) -> None:
    token = "t" * 32
    env = environment(tmp_path) | {"PERFCITE_HTTP_TOKEN": token}
    with http_server(env) as (url, _):
        with httpx2.Client(headers=ACCEPT, trust_env=False) as client:
            answer = client.post(url, json={})
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        with legacy(url, authorization=f"Bearer {token}") as session:
            assert "result" in session.call(2, "list_evidence", {})


def test_binding_beyond_loopback_needs_a_token(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "perfcite.server", "serve", "--http", "--host", "0.0.0.0"]
    done = subprocess.run(
        argv, env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "PERFCITE_HTTP_TOKEN" in done.stderr
    assert len(done.stderr.splitlines()) == 1


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux
def test_a_cancelled_request_kills_the_tree(tmp_path: Path) -> None:
    with http_server(lay_trap(tmp_path)) as (url, _), legacy(url) as session:
        params = {"name": "profiler_probe", "arguments": {"profilers": ["perf"]}}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        with session.client.stream("POST", url, json=body):
            files = processes(tmp_path)
            session.post(method="notifications/cancelled", params={"requestId": 2})
            assert all_gone(files, LIMIT_S)


@linux
def test_a_closed_stream_kills_the_tree_of_a_modern_client(tmp_path: Path) -> None:
    with http_server(lay_trap(tmp_path)) as (url, _):
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        arguments = {"profilers": ["perf"]}
        params = {"name": "profiler_probe", "arguments": arguments, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        headers = {**ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call"}
        headers |= {"mcp-name": "profiler_probe", "content-type": "application/json"}
        # Closing the socket is what a client that gives up does; no answer has come yet.
        with socket.create_connection(("127.0.0.1", int(url.split(":")[2].split("/")[0]))) as raw:
            content = json.dumps(body).encode()
            head = f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(content)}\r\n"
            head += "".join(f"{k}: {v}\r\n" for k, v in headers.items())
            raw.sendall(head.encode() + b"\r\n" + content)
            files = processes(tmp_path)
        assert all_gone(files, LIMIT_S)


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_kills_the_tree_and_ends_the_server(
    tmp_path: Path, number: signal.Signals
) -> None:
    with http_server(lay_trap(tmp_path)) as (url, process), legacy(url) as session:
        params = {"name": "profiler_probe", "arguments": {"profilers": ["perf"]}}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        with session.client.stream("POST", url, json=body):
            files = processes(tmp_path)
            os.kill(process.pid, number)
            assert all_gone(files, LIMIT_S)
        process.wait(timeout=5)


def test_names_that_only_begin_like_ours_are_refused(tmp_path: Path) -> None:
    with http_server(environment(tmp_path)) as (url, _):
        authority = url.split("/")[2]
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        with httpx2.Client(headers=ACCEPT, trust_env=False) as client:
            for host in (f"{authority}.evil.example", f"{authority}@evil", "127.0.0.1:80:80"):
                assert client.post(url, json=body, headers={"host": host}).status_code == 421
            evil = {"origin": f"http://{authority}.evil.example"}
            assert client.post(url, json=body, headers=evil).status_code == 403
            own = {"origin": f"http://{authority}"}
            assert client.post(url, json=body, headers=own).status_code not in (403, 421)


def test_a_file_named_like_an_id_is_not_read_around_the_roots(tmp_path: Path) -> None:
    env = environment(tmp_path)
    (tmp_path / "open").mkdir()
    name = "ev_aaaaaaaaaaaaaaaa"
    (Path.cwd() / name).write_text("[1, 2]\n")
    try:
        roots = ("--root", str(tmp_path / "open"))
        with http_server(env, *roots) as (url, _), legacy(url) as session:
            both = {"reference": name, "candidate": name}
            result = session.call(2, "check_correctness", both)["result"]
            assert result["isError"]
            assert "no evidence" in result["content"][0]["text"]
    finally:
        (Path.cwd() / name).unlink()


@pytest.mark.parametrize("root", ["", "/no/such/folder", "/etc/hostname"])
def test_a_root_that_is_no_folder_is_refused(tmp_path: Path, root: str) -> None:
    argv = [sys.executable, "-m", "perfcite.server", "serve", "--http", "--root", root]
    done = subprocess.run(
        argv, env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "--root" in done.stderr


def test_a_port_in_use_is_told_before_anything_is_served(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        argv = [sys.executable, "-m", "perfcite.server", "serve", "--http"]
        argv += ["--port", str(taken.getsockname()[1])]
        done = subprocess.run(
            argv, env=environment(tmp_path), capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "choose another --port" in done.stderr
