"""A result as GitHub annotations, and as a table for a terminal.

Annotation syntax: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from collections.abc import Iterator

from ..payloads import CitationClaim
from .check import CitationResult

_ERRORS = ("contradicted", "tampered", "not_found")
_LOST = ("tampered", "not_found", "other_commit")
_UNCLEAR = ("incomplete", "unknown_commit")
_QUOTE = 24
_WHY = 100


def github(result: CitationResult, path: str) -> list[str]:
    """Give one workflow command for each claim or id that is not in order."""
    return list(_commands(result, path))


def _commands(result: CitationResult, path: str) -> Iterator[str]:
    told = set()
    for claim in result.data.claims:
        if claim.verdict == "supported":
            if claim.flags:
                yield _command("warning", path, claim.line, claim.column, _message(claim))
            continue
        told.add(claim.evidence_id)
        level = "error" if claim.verdict in _ERRORS else "warning"
        yield _command(level, path, claim.line, claim.column, _message(claim))
    for one in result.data.ids:
        if one.evidence_id in told or one.status not in (*_LOST, *_UNCLEAR):
            continue
        level = "error" if one.status in _LOST else "warning"
        message = f"{one.evidence_id} {one.status.replace('_', ' ')}: {one.why}"
        yield _command(level, path, one.line, one.column, message)


def _message(claim: CitationClaim) -> str:
    flags = f" ({'; '.join(claim.flags)})" if claim.flags else ""
    return f"{claim.quote}: {claim.verdict.replace('_', ' ')}, {claim.why}{flags}"


def _command(level: str, path: str, line: int, column: int, message: str) -> str:
    return f"::{level} file={_property(path)},line={line},col={column}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def table(result: CitationResult) -> str:
    """Give one line a claim, then one an id that is not in order, for a terminal."""
    rows = [("line", "quote", "verdict", "record", "why")]
    for claim in result.data.claims:
        why = "; ".join([claim.why, *claim.flags])
        rows.append((str(claim.line), claim.quote, claim.verdict, claim.evidence_id or "-", why))
    for one in result.data.ids:
        if one.status != "verified":
            rows.append((str(one.line), "-", one.status, one.evidence_id, one.why or ""))
    widths = [min(_QUOTE, max(len(row[i]) for row in rows)) for i in range(4)]
    lines = [_line(row, widths) for row in rows]
    return "\n".join([*lines, "", result.summary, f"assurance: {result.data.assurance}"]) + "\n"


def _line(row: tuple[str, str, str, str, str], widths: list[int]) -> str:
    cells = [_cut(cell, width).ljust(width) for cell, width in zip(row[:4], widths, strict=True)]
    return "  ".join([*cells, _cut(row[4], _WHY)]).rstrip()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
