"""list_evidence and get_evidence: what the store holds, read back in pages."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import Field

from ..evidence.errors import InputError, NextCall, PerfciteError
from ..evidence.layout import Line
from ..evidence.records import Kind, Verdict, one_line
from ..evidence.store import Store, Stored
from ..evidence.verifying import Verifier
from .answers import DEFAULT_BUDGET, of_record, size_of
from .definition import Answer, Arguments, Session, shorten

LIST_LIMIT = 100
_MARKER = re.compile(r"\d{8}/\d{11}~[\w~-]{1,120}")
_AGO = re.compile(r"(\d{1,5})\s*(m|min|h|d|w)")
_STRING_SHOWN = 400
_TEXT_PAGE = 2_000  # characters; at most 8 kB however they are written


class ListArguments(Arguments):
    """What to list."""

    kind: Kind | None = Field(default=None, description="Only this kind.")
    verdict: Verdict | None = Field(default=None, description="Only this verdict.")
    tool: str | None = Field(default=None, description="Only records of this tool.")
    since: str | None = Field(
        default=None, description="RFC 3339 time, date, or age such as 2h or 7d."
    )
    limit: int = Field(default=20, ge=1, le=LIST_LIMIT, description="1 to 100.")
    cursor: str | None = Field(default=None, description="`more.cursor` of the page before.")


class GetArguments(Arguments):
    """What to show."""

    evidence_id: str = Field(description="Id, or its first 6 characters or more.")
    section: str | None = Field(
        default=None, description="One part, e.g. metrics, data.findings, data.facts.host."
    )
    cursor: str | None = Field(default=None, description="`more.cursor` of the page before.")


LIST_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "records": {"type": "array", "items": {"type": "object"}},
        "more": {"type": "object"},
    },
    "required": ["records"],
}
GET_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "evidence_id": {"type": "string"},
        "kind": {"type": "string"},
        "section": {"type": "string"},
        "record": {"type": "object"},
        "fields": {"type": "object"},
        "items": {"type": "array"},
        "value": {"type": "string"},
        "more": {"type": "object"},
    },
    "required": ["evidence_id", "kind"],
}


async def list_evidence(arguments: ListArguments, session: Session) -> Answer:
    """List records newest first, one line each."""
    cursor = arguments.cursor
    if cursor is not None and not _MARKER.fullmatch(cursor):
        raise InputError(
            f"cursor: {shorten(cursor, 40)!r} is none that list_evidence gave",
            then=NextCall("list_evidence"),
        )
    since = _since(arguments.since) if arguments.since else ""
    rows: list[dict[str, Any]] = []
    last: Line | None = None
    more: dict[str, Any] = {}
    glance = session.store.glance()
    for line in session.store.newest(cursor, kind=arguments.kind):
        if line.created_at < since:
            break
        row = read_row(line, session.store, glance)
        if row is None or not _wanted(row, line, arguments):
            continue
        if len(rows) == arguments.limit or size_of([*rows, row]) > DEFAULT_BUDGET - 300:
            more["cursor"] = last.marker if last else line.marker
            break
        rows.append(row)
        last = line
    structured: dict[str, Any] = {"records": rows} | ({"more": more} if more else {})
    return Answer(structured, _list_text(rows, more))


def _wanted(row: Mapping[str, Any], line: Line, arguments: ListArguments) -> bool:
    return (
        (arguments.kind is None or row["kind"] == arguments.kind)
        and (arguments.verdict is None or row.get("verdict") == arguments.verdict)
        and (arguments.tool is None or line.tool == arguments.tool)
    )


def read_row(line: Line, store: Store, glance: Verifier) -> dict[str, Any] | None:
    """Give one record's line from the record itself; a marker only says where to look.

    None where the marker is not that of the record, or there is no such record.
    """
    row: dict[str, Any] = {"evidence_id": line.evidence_id}
    problem = glance.problem(line.evidence_id)
    if problem == "not found":
        return None
    try:
        record = store.load(line.evidence_id).record
    except PerfciteError:
        return row | {"kind": "unknown", "summary": f"does not verify: {problem}"}
    if not line.marker.startswith("~") and store.marker(line.evidence_id) != line.marker:
        return None
    row |= {"created_at": line.created_at, "kind": record.kind}
    if record.verdict:
        row["verdict"] = record.verdict
    summary = f"does not verify: {problem}. {record.summary}" if problem else record.summary
    return row | {"summary": one_line(summary, 240)}


def _list_text(rows: list[dict[str, Any]], more: Mapping[str, Any]) -> str:
    if not rows:
        return "no records"
    lines = [
        f"{r['evidence_id']}  {r.get('created_at', '-')}  {r['kind']}  {r.get('verdict', '-')}  "
        f"{r['summary']}"
        for r in rows
    ]
    if more.get("cursor"):
        lines.append(f'more: list_evidence(cursor="{more["cursor"]}")')
    return "\n".join(lines)


def _since(text: str) -> str:
    ago = _AGO.fullmatch(text.strip().lower())
    if ago:
        hours = {"m": 1 / 60, "min": 1 / 60, "h": 1, "d": 24, "w": 168}[ago[2]]
        at = datetime.now(UTC) - timedelta(hours=int(ago[1]) * hours)
    else:
        try:
            at = datetime.fromisoformat(text.strip())
        except ValueError:
            raise InputError(
                f"since: {shorten(text, 40)!r} is no time: 2026-11-30, 2026-11-30T10:00:00Z, 2h, 7d",
                then=NextCall("list_evidence", {"since": "7d"}),
            ) from None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
    try:
        return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except OverflowError:
        raise InputError(
            f"since: {shorten(text, 40)!r} is out of range", then=NextCall("list_evidence")
        ) from None


async def get_evidence(arguments: GetArguments, session: Session) -> Answer:
    """Show a record whole, or one part of it in pages, after checking it and what it stands on."""
    try:
        stored = session.store.verified(arguments.evidence_id)
    except InputError as error:
        raise type(error)(f"evidence_id: {error}", then=error.then) from None
    if arguments.section is None and arguments.cursor is None:
        return _whole(stored)
    return _part(stored, arguments.section or "data", arguments.cursor)


def _whole(stored: Stored) -> Answer:
    cut: list[str] = []
    plain = stored.plain()
    structured = {
        "evidence_id": stored.evidence_id,
        "kind": stored.record.kind,
        "record": _fitting(plain, "", cut),
    }
    structured["more"] = _more(stored, cut)
    record = of_record(stored)
    text = f"{record.text}\ncreated {stored.record.created_at} by {stored.record.tool.name}"
    return Answer(structured, text, stored)


def _part(stored: Stored, section: str, cursor: str | None) -> Answer:
    value = _dig(stored, section)
    structured: dict[str, Any] = {
        "evidence_id": stored.evidence_id,
        "kind": stored.record.kind,
        "section": section,
    }
    cut: list[str] = []
    if isinstance(value, list):
        start = _offset(cursor, len(value), stored, section)
        items = _page(value, start, section, cut)
        structured["items"] = items
        structured["more"] = _more(stored, cut)
        if start + len(items) < len(value):
            structured["more"] |= {"cursor": str(start + len(items)), "of": len(value)}
    elif isinstance(value, dict):
        _refuse_cursor(cursor, section)
        structured["fields"] = _fitting(value, section, cut)
        structured["more"] = _more(stored, cut)
    elif isinstance(value, str):
        start = _offset(cursor, len(value), stored, section)
        structured["value"] = value[start : start + _TEXT_PAGE]
        structured["more"] = _more(stored, cut)
        if start + _TEXT_PAGE < len(value):
            structured["more"] |= {"cursor": str(start + _TEXT_PAGE), "of": len(value)}
    else:
        _refuse_cursor(cursor, section)
        structured["value"] = str(value)
    return Answer(structured, _part_text(structured))


def _refuse_cursor(cursor: str | None, section: str) -> None:
    if cursor is not None:
        raise InputError(
            f"cursor: {section} is no list and has one page", then=NextCall("list_evidence")
        )


def _fitting(value: dict[str, Any], section: str, cut: list[str]) -> dict[str, Any]:
    """Trim an object until it fits; what was cut is named."""
    room = DEFAULT_BUDGET - 1_200
    while True:
        here: list[str] = []
        fields: dict[str, Any] = _trim(value, section, room, here)
        if size_of(fields) <= DEFAULT_BUDGET - 1_000 or room < 500:
            cut += here
            return fields
        room -= 500


def _part_text(structured: Mapping[str, Any]) -> str:
    import orjson

    lines = [f"{structured['evidence_id']} {structured['section']}:"]
    for item in structured.get("items", []):
        lines.append(item if isinstance(item, str) else orjson.dumps(item).decode())
    for key, item in structured.get("fields", {}).items():
        lines.append(f"{key}: {item if isinstance(item, str) else orjson.dumps(item).decode()}")
    if "value" in structured:
        lines.append(structured["value"])
    more = structured.get("more", {})
    call = f'get_evidence(evidence_id="{structured["evidence_id"]}", section='
    if "cursor" in more:
        lines.append(f'more: {call}"{structured["section"]}", cursor="{more["cursor"]}")')
    if more.get("sections"):
        lines.append(f"cut: {call}…) with {', '.join(more['sections'])}")
    return "\n".join(lines)


def _dig(stored: Stored, section: str) -> Any:
    value: Any = stored.plain()
    for part in section.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            known = list(value) if isinstance(value, dict) else []
            listed = ", ".join(known[:8]) + (", …" if len(known) > 8 else "")
            raise InputError(
                f"section: no {shorten(part, 40)!r} in {stored.evidence_id}"
                + (f"; there is {listed}" if listed else ""),
                then=NextCall("get_evidence", {"evidence_id": stored.evidence_id}),
            )
    return value


def _offset(cursor: str | None, length: int, stored: Stored, section: str) -> int:
    if cursor is None:
        return 0
    if not re.fullmatch(r"[0-9]{1,12}", cursor) or int(cursor) > length:
        raise InputError(
            f"cursor: {shorten(cursor, 40)!r} is none that get_evidence gave",
            then=NextCall("get_evidence", {"evidence_id": stored.evidence_id, "section": section}),
        )
    return int(cursor)


def _page(value: list[Any], start: int, section: str, cut: list[str]) -> list[Any]:
    items: list[Any] = []
    room = DEFAULT_BUDGET - 1_200
    for index, item in enumerate(value[start:], start):
        shown = _trim(item, f"{section}.{index}", max(room, 200), cut)
        room -= size_of(shown) + 1
        if room < 0 and items:
            break
        items.append(shown)
    return items


def _trim(value: Any, path: str, room: int, cut: list[str]) -> Any:
    """Cut long arrays and strings until a value fits; name each place that was cut."""
    if isinstance(value, str) and len(value) > min(_STRING_SHOWN, max(room, 40)):
        cut.append(path)
        return shorten(value, min(_STRING_SHOWN, max(room, 40)))
    if size_of(value) <= room or not isinstance(value, list | dict):
        return value
    if isinstance(value, list):
        cut.append(path)
        kept: list[Any] = []
        left = room
        for index, item in enumerate(value):
            shown = _trim(item, f"{path}.{index}", left, [])
            left -= size_of(shown) + 1
            if left < 0:
                break
            kept.append(shown)
        return kept
    return _trim_fields(value, path, room, cut)


def _trim_fields(value: dict[str, Any], path: str, room: int, cut: list[str]) -> dict[str, Any]:
    # Small fields first keep their whole value; what is left is shared by the large ones.
    sizes = sorted((size_of(item), key) for key, item in value.items())
    kept: dict[str, Any] = {}
    left = room
    for position, (size, key) in enumerate(sizes):
        share = left // (len(sizes) - position) - len(key) - 4
        here = f"{path}.{key}" if path else key
        if share < 40 and size > share:
            cut.append(here)
            continue
        kept[key] = _trim(value[key], here, share, cut)
        left -= size_of(kept[key]) + len(key) + 4
    return {key: kept[key] for key in value if key in kept}


def _more(stored: Stored, cut: list[str]) -> dict[str, Any]:
    more: dict[str, Any] = {"resource": f"evidence://{stored.evidence_id}"}
    if cut:
        more["sections"] = cut[:12]
    return more
