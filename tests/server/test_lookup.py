from pathlib import Path

import pytest

from perfcite.evidence.errors import DamagedRecord, InputError, NotFound
from perfcite.evidence.payloads import GenerationData
from perfcite.evidence.records import Identity, new_record
from perfcite.evidence.store import Store
from perfcite.probes.system import System
from perfcite.server.answers import DEFAULT_BUDGET, size_of
from perfcite.server.definition import Session
from perfcite.server.lookup import GetArguments, ListArguments, get_evidence, list_evidence

pytestmark = pytest.mark.anyio


async def quiet(done: float, total: float | None, message: str) -> None:
    return None


def session(store: Store) -> Session:
    return Session(store, System(), quiet)


def save(store: Store, rows: int = 2) -> str:
    record = new_record(
        kind="generation",
        claim_class="observed",
        tool="record",
        version="0",
        arguments={},
        summary=f"{rows} sequences",
        data=GenerationData(tokens=tuple(tuple(range(n, n + 40)) for n in range(rows))),
        identity=Identity(os="linux"),
    )
    return store.save(record).evidence_id


async def test_pages_of_a_list_join_without_gap_or_overlap(store: Store) -> None:
    ids = [save(store) for _ in range(7)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        answer = await list_evidence(ListArguments(limit=3, cursor=cursor), session(store))
        seen += [r["evidence_id"] for r in answer.structured["records"]]
        assert all(r["evidence_id"] in answer.text for r in answer.structured["records"])
        cursor = answer.structured.get("more", {}).get("cursor")
        if cursor is None:
            break
    assert seen == ids[::-1]


async def test_a_list_is_filtered_by_kind_verdict_tool_and_age(store: Store) -> None:
    save(store)

    async def count(**filters: str) -> int:
        answer = await list_evidence(ListArguments.model_validate(filters), session(store))
        return len(answer.structured["records"])

    assert await count(kind="generation") == 1
    assert await count(kind="correctness") == 0
    assert await count(verdict="PASS") == 0
    assert await count(tool="record") == 1
    assert await count(since="1h") == 1
    assert await count(since="2099-01-01") == 0
    with pytest.raises(InputError, match="since"):
        await count(since="yesterday-ish")


async def test_a_long_record_is_cut_and_every_part_can_be_paged(store: Store) -> None:
    identifier = save(store, rows=300)
    answer = await get_evidence(GetArguments(evidence_id=identifier), session(store))
    assert size_of(answer.structured) <= DEFAULT_BUDGET
    assert "data.tokens" in answer.structured["more"]["sections"]
    rows: list[list[int]] = []
    cursor: str | None = None
    while True:
        arguments = GetArguments(evidence_id=identifier, section="data.tokens", cursor=cursor)
        page = await get_evidence(arguments, session(store))
        assert size_of(page.structured) <= DEFAULT_BUDGET
        rows += page.structured["items"]
        cursor = page.structured["more"].get("cursor")
        if cursor is None:
            break
    assert rows == [list(range(n, n + 40)) for n in range(300)]


async def test_a_part_that_is_not_there_is_refused_with_what_there_is(store: Store) -> None:
    identifier = save(store)
    with pytest.raises(InputError, match="there is engine, ids, sampling, tokens"):
        await get_evidence(
            GetArguments(evidence_id=identifier, section="data.tokns"), session(store)
        )


async def test_damaged_and_unknown_records_are_errors(shared: Path) -> None:
    handed = session(Store.open(shared / "cases/citations/store"))
    with pytest.raises(DamagedRecord, match="tampered"):
        await get_evidence(GetArguments(evidence_id="ev_ocbs77gcdq7ah6zb"), handed)
    with pytest.raises(DamagedRecord, match="derived from ev_ocbs77gcdq7ah6zb"):
        await get_evidence(GetArguments(evidence_id="ev_a3oxgy"), handed)
    with pytest.raises(NotFound, match="ev_k4tjimcqqdbwpbfb"):
        await get_evidence(GetArguments(evidence_id="ev_k4tjimcqqdbwpbfc"), handed)
    listed = await list_evidence(ListArguments(), handed)
    rows = {r["evidence_id"]: r for r in listed.structured["records"]}
    assert len(rows) == 10
    for identifier in ("ev_ocbs77gcdq7ah6zb", "ev_a3oxgy5yxy6ff47y"):
        assert rows[identifier]["summary"].startswith("does not verify")


async def test_a_marker_that_says_otherwise_does_not_change_a_verdict(store: Store) -> None:
    identifier = save(store)
    marker = store.marker(identifier)
    assert marker is not None
    forged = marker.replace("~-~", "~PASS~")
    store.keys.create(f"log/{forged}", b"")
    store.keys.remove(f"log/{marker}")
    listed = await list_evidence(ListArguments(), session(store))
    assert all("verdict" not in r for r in listed.structured["records"])
    assert store.restore_markers() == 1
    listed = await list_evidence(ListArguments(), session(store))
    assert [r["evidence_id"] for r in listed.structured["records"]] == [identifier]
    assert "verdict" not in listed.structured["records"][0]


async def test_no_answer_is_over_the_budget_whatever_a_record_holds(store: Store) -> None:
    record = new_record(
        kind="generation",
        claim_class="observed",
        tool="t",
        version="0",
        arguments={"long": "x" * 300_000, "wide": {f"k{n}": "v" * 300 for n in range(500)}},
        summary="s",
        data=GenerationData(tokens=(), engine={"text": "é" * 300_000}),
        identity=Identity(),
    )
    identifier = store.save(record).evidence_id
    for section in (None, "tool", "tool.arguments", "tool.arguments.long", "data.engine.text"):
        arguments = GetArguments(evidence_id=identifier, section=section)
        answer = await get_evidence(arguments, session(store))
        assert size_of(answer.structured) <= DEFAULT_BUDGET, section
        assert len(answer.text.encode()) <= DEFAULT_BUDGET, section
    text = ""
    cursor: str | None = None
    while True:
        arguments = GetArguments(evidence_id=identifier, section="data.engine.text", cursor=cursor)
        page = await get_evidence(arguments, session(store))
        text += page.structured["value"]
        cursor = page.structured["more"].get("cursor")
        if cursor is None:
            break
    assert text == "é" * 300_000
