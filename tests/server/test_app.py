"""What an agent meets: every refusal says what is wrong and names a call that works."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from perfcite.evidence.store import Store
from perfcite.server.app import build
from perfcite.server.definition import Guard
from perfcite.server.serving import session_maker
from perfcite.server.tools import BY_NAME

from .test_lookup import save

pytestmark = pytest.mark.anyio
NEXT = re.compile(r"Next: (\w+)\((.*)\)$")


@asynccontextmanager
async def client(store: Store, guard: Guard | None = None) -> AsyncIterator[Client]:
    server = build(session_maker(store, guard or Guard()))
    with anyio.fail_after(120):
        async with Client(server) as connected:
            yield connected


def next_call(text: str) -> tuple[str, dict[str, Any]]:
    found = NEXT.search(text)
    assert found, text
    pairs = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|[^,]+)', found[2])
    import json

    return found[1], {name: json.loads(value) for name, value in pairs}


WRONG_TURNS: list[tuple[str, dict[str, Any], str]] = [
    ("doctor", {"pyton": "x", "probe_profilers": False}, "did you mean python"),
    ("doctor", {"probe_profilers": "perhaps"}, "probe_profilers"),
    ("doctor", {"sysroot": "/"}, "no argument sysroot"),
    ("profiler_probe", {"profilers": "perf"}, "profilers"),
    ("profiler_probe", {"profilers": ["nvprof"]}, "nvprof"),
    ("profiler_probe", {"timeout_s": -1, "profilers": []}, "timeout_s"),
    ("profiler_probe", {"python": "/no/such/python", "profilers": ["perf"]}, "/no/such/python"),
    ("check_correctness", {}, "reference is required"),
    ("check_correctness", {"reference": "a.jsonl"}, "candidate is required"),
    ("check_correctness", {"reference": "no.jsonl", "candidate": "no.jsonl"}, "no.jsonl"),
    ("check_correctness", {"reference": "/", "candidate": "/"}, "/"),
    ("check_correctness", {"reference": "ev_aaaaaaaaaaaaaaaa", "candidate": "x"}, "ev_aaaa"),
    ("check_correctness", {"reference": 5, "candidate": "x"}, "reference"),
    ("list_evidence", {"kind": "correctnes"}, "kind"),
    ("list_evidence", {"limt": 5}, "did you mean limit"),
    ("list_evidence", {"limit": 0}, "limit"),
    ("list_evidence", {"limit": "many"}, "limit"),
    ("list_evidence", {"since": "whenever"}, "since"),
    ("list_evidence", {"cursor": "12"}, "cursor"),
    ("list_evidence", {"verdict": "pass"}, "verdict"),
    ("get_evidence", {}, "evidence_id is required"),
    ("get_evidence", {"evidence_id": "ev_"}, "evidence id"),
    ("get_evidence", {"evidence_id": "ev_aaaaaa"}, "ev_aaaaaa"),
    ("get_evidence", {"evidence_id": "x" * 9000}, "evidence id"),
    ("get_evidence", {"id": "ev_aaaaaa"}, "no argument id"),
]


@pytest.mark.parametrize(("tool", "arguments", "named"), WRONG_TURNS)
async def test_a_wrong_turn_is_refused_with_a_call_that_works(
    store: Store, tool: str, arguments: dict[str, Any], named: str
) -> None:
    save(store)
    async with client(store) as connected:
        result = await connected.call_tool(tool, arguments)
        assert result.is_error
        text = result.content[0].text  # type: ignore[union-attr]
        assert named in text
        assert len(text.encode()) <= 300
        assert "\n" not in text
        following, given = next_call(text)
        if following == "profiler_probe" or (following == "doctor" and given.get("python") == "x"):
            return  # works, but takes long, or names the caller's own wrong path
        again = await connected.call_tool(following, given)
        assert not again.is_error, again.content[0].text  # type: ignore[union-attr]


async def test_an_unknown_tool_is_a_protocol_error_that_names_the_known(store: Store) -> None:
    async with client(store) as connected:
        with pytest.raises(MCPError, match=r"check_correctness") as caught:
            await connected.call_tool("check_corectness", {})
        assert caught.value.error.code == -32602


async def test_answers_validate_against_the_declared_schema(store: Store) -> None:
    identifier = save(store)
    async with client(store) as connected:
        listed = {t.name: t for t in (await connected.list_tools()).tools}
        for tool, arguments in (
            ("list_evidence", {}),
            ("get_evidence", {"evidence_id": identifier}),
            ("doctor", {}),
        ):
            result = await connected.call_tool(tool, arguments)
            schema = listed[tool].output_schema
            assert schema is not None
            jsonschema.validate(result.structured_content, schema)
            assert result.content[0].text  # type: ignore[union-attr]


async def test_every_tool_tells_all_four_hints(store: Store) -> None:
    async with client(store) as connected:
        for tool in (await connected.list_tools()).tools:
            hints = tool.annotations
            assert hints is not None
            assert hints.read_only_hint is BY_NAME[tool.name].read_only
            assert hints.destructive_hint is False
            assert hints.idempotent_hint is not None
            assert hints.open_world_hint is False


async def test_a_resource_gives_the_exact_stored_bytes(store: Store) -> None:
    identifier = save(store)
    async with client(store) as connected:
        contents = (await connected.read_resource(f"evidence://{identifier}")).contents
        assert contents[0].text.encode() == store.load(identifier).content  # type: ignore[union-attr]
        latest = (await connected.read_resource("evidence://latest")).contents
        assert identifier in latest[0].text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="no evidence"):
            await connected.read_resource("evidence://ev_aaaaaaaaaaaaaaaa")


async def test_prompts_name_the_tools_and_wrong_ones_are_told(store: Store) -> None:
    async with client(store) as connected:
        names = [p.name for p in (await connected.list_prompts()).prompts]
        assert names == ["investigate_performance", "verify_optimisation", "review_claims"]
        given = {"reference": "a", "candidate": "b"}
        prompt = await connected.get_prompt("verify_optimisation", given)
        assert "check_correctness(reference='a'" in prompt.messages[0].content.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="candidate is required"):
            await connected.get_prompt("verify_optimisation", {"reference": "a"})
        with pytest.raises(MCPError, match="known are investigate_performance"):
            await connected.get_prompt("verify", {})


async def test_a_store_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    (tmp_path / "store").write_text("in the way")
    async with client(store) as connected:
        result = await connected.call_tool("doctor", {})
        assert result.is_error
        text = result.content[0].text  # type: ignore[union-attr]
        assert "store" in text
        assert len(text.encode()) <= 300


async def test_progress_flows_while_a_tool_runs(store: Store) -> None:
    seen: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(message)

    async with client(store) as connected:
        await connected.call_tool("doctor", {}, progress_callback=note)
    assert "examining the machine" in seen


async def test_an_altered_artifact_is_not_served(store: Store, tmp_path: Path) -> None:
    from perfcite.evidence.artifacts import Attachment
    from perfcite.evidence.layout import blob_key

    record = store.load(save(store)).record
    saved = store.save(record, [Attachment("report.txt", "text/plain", b"measured")])
    uri = f"evidence://{saved.evidence_id}/artifacts/report.txt"
    path = tmp_path / "store" / blob_key(saved.record.artifacts[0].sha256)
    async with client(store) as connected:
        assert (await connected.read_resource(uri)).contents
        path.chmod(0o600)
        path.write_bytes(b"invented")
        with pytest.raises(MCPError, match="altered"):
            await connected.read_resource(uri)
