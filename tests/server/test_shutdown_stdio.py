"""Every way to end a call or the server kills the whole process tree within two seconds."""

import signal
import sys
import time
from pathlib import Path

import pytest

from .raw import all_gone, lay_trap, processes, raw_server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
LIMIT_S = 2.0


def test_a_cancelled_request_kills_the_tree_and_the_server_goes_on(tmp_path: Path) -> None:
    with raw_server(lay_trap(tmp_path)) as raw:
        raw.initialize()
        raw.call(2, "profiler_probe", {"profilers": ["perf"]})
        files = processes(tmp_path)
        raw.send(method="notifications/cancelled", params={"requestId": 2})
        assert all_gone(files, LIMIT_S)
        raw.call(3, "list_evidence", {})
        assert raw.answer(3)["result"]["structuredContent"] == {"records": []}


def test_a_time_out_kills_the_tree_and_is_a_result(tmp_path: Path) -> None:
    with raw_server(lay_trap(tmp_path)) as raw:
        raw.initialize()
        raw.call(2, "profiler_probe", {"profilers": ["perf"], "timeout_s": 3})
        files = processes(tmp_path)
        result = raw.answer(2)["result"]
        assert all_gone(files, LIMIT_S)
        probed = result["structuredContent"]["data"]["profilers"]["perf"]
        assert probed["capture_ok"] is False
        assert "deadline" in probed["cause"]


def test_the_end_of_standard_input_kills_the_tree_and_ends_the_server(tmp_path: Path) -> None:
    with raw_server(lay_trap(tmp_path)) as raw:
        raw.initialize()
        raw.call(2, "profiler_probe", {"profilers": ["perf"]})
        files = processes(tmp_path)
        assert raw.process.stdin is not None
        raw.process.stdin.close()
        assert all_gone(files, LIMIT_S)
        assert raw.process.wait(timeout=5) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_kills_the_tree_and_ends_the_server(
    tmp_path: Path, number: signal.Signals
) -> None:
    with raw_server(lay_trap(tmp_path)) as raw:
        raw.initialize()
        raw.call(2, "profiler_probe", {"profilers": ["perf"]})
        files = processes(tmp_path)
        started = time.monotonic()
        raw.process.send_signal(number)
        assert all_gone(files, LIMIT_S)
        assert raw.process.wait(timeout=5) == 128 + number
        assert time.monotonic() - started < LIMIT_S
