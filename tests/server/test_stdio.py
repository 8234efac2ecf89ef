"""The wire: protocol and nothing else, whichever way a client opens the connection."""

from pathlib import Path

from perfcite.server.tools import TOOLS

from .raw import environment, raw_server

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def test_a_client_that_discovers_and_then_initializes_connects(tmp_path: Path) -> None:
    with raw_server(environment(tmp_path)) as raw:
        raw.send(id=7, method="server/discover", params={"_meta": META})
        assert "2026-07-28" in raw.answer(7)["result"]["supportedVersions"]
        assert raw.initialize()["result"]["serverInfo"]["name"] == "perfcite"
        raw.send(id=8, method="tools/list")
        assert len(raw.answer(8)["result"]["tools"]) == len(TOOLS)


def test_a_client_that_discovers_and_stays_modern_is_served(tmp_path: Path) -> None:
    with raw_server(environment(tmp_path)) as raw:
        raw.send(id=7, method="server/discover", params={"_meta": META})
        raw.answer(7)
        raw.send(id=8, method="tools/list", params={"_meta": META})
        assert raw.answer(8)["result"]["tools"]


def test_an_unknown_version_is_told_what_is_supported(tmp_path: Path) -> None:
    with raw_server(environment(tmp_path)) as raw:
        meta = META | {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}
        raw.send(id=7, method="server/discover", params={"_meta": meta})
        assert raw.answer(7)["error"]["data"]["supported"] == ["2026-07-28"]
        assert "result" in raw.initialize()


def test_old_revisions_negotiate(tmp_path: Path) -> None:
    for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
        with raw_server(environment(tmp_path)) as raw:
            assert raw.initialize(version)["result"]["protocolVersion"] == version


def test_nothing_but_protocol_is_on_standard_output(tmp_path: Path) -> None:
    with raw_server(environment(tmp_path)) as raw:
        raw.initialize()
        raw.call(2, "list_evidence", {})
        raw.answer(2)  # reads every line as JSON-RPC
        raw.call(3, "no_such_tool", {})
        assert raw.answer(3)["error"]["code"] == -32602
