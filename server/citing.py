"""check_citations: a text's ids and numbers against the records it cites."""

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ..evidence.errors import InputError, NextCall, NotFound
from ..evidence.records import Identity
from ..evidence.store import Store
from .answers import of_record
from .definition import Answer, Arguments, Session, shorten
from .measuring import keep

if TYPE_CHECKING:
    from ..evidence.citations.check import CitationResult

TEXT_LIMIT = 16 * 1024 * 1024


class CiteArguments(Arguments):
    """The text, and how strict to be."""

    path: str | None = Field(
        default=None, description="File with the text.", json_schema_extra={"file": True}
    )
    text: str | None = Field(default=None, description="The text itself.")
    allow_unsupported: bool = Field(
        default=False, description="Numbers without evidence do not make it UNPROVEN."
    )
    commit: str | None = Field(
        default=None, description="Cited records must have been made at this commit, clean."
    )
    records: str | None = Field(
        default=None,
        description="An export to check against instead of the store.",
        json_schema_extra={"file": True},
    )
    format: Literal["text", "github"] = Field(
        default="text", description="github prints annotations and allows unsupported numbers."
    )


RARE = ("records", "format")


async def check_citations(arguments: CiteArguments, session: Session) -> Answer:
    """Check a text and keep the result; against an export nothing is kept in the store."""
    if (arguments.path is None) == (arguments.text is None):
        raise InputError(
            "give either text or path, not both or neither", then=NextCall("list_evidence")
        )
    text = arguments.text if arguments.path is None else _read(arguments.path)
    if arguments.records is None:
        return _answer(arguments, text or "", session, session.store)
    from ..evidence.bundle import import_into

    with tempfile.TemporaryDirectory(prefix="perfcite-") as folder:
        library = Store.open(Path(folder) / "store")
        import_into(library, Path(arguments.records))
        return _answer(arguments, text or "", session, library)


def _answer(arguments: CiteArguments, text: str, session: Session, library: Store) -> Answer:
    from ..evidence.citations.check import check_citations as check

    whole = arguments.records is None
    result = check(
        text,
        library,
        source=arguments.path,
        # In CI annotations, a number without evidence is a remark and fails nothing.
        allow_unsupported=arguments.allow_unsupported or arguments.format == "github",
        commit=arguments.commit,
        artifacts=whole,
    )
    recorded = arguments
    if arguments.text is not None and len(arguments.text) > 200:
        recorded = arguments.model_copy(update={"text": shorten(arguments.text, 200)})
    stored = keep(
        Session(library, session.system, session.progress) if not whole else session,
        "check_citations",
        recorded,
        kind="citation_check",
        claim_class="derived",
        summary=result.summary,
        data=result.data,
        identity=Identity(),
        verdict=result.verdict,
        reason=result.reason,
        metrics=result.metrics,
        missing=result.missing,
        limitations=result.limitations,
        inputs=result.inputs,
    )
    answer = of_record(stored)
    return Answer(
        answer.structured,
        answer.text,
        stored,
        answer.exit_code,
        terminal=_terminal(result, arguments, stored.evidence_id if whole else None),
    )


def _terminal(result: "CitationResult", arguments: CiteArguments, identifier: str | None) -> str:
    from ..evidence.citations.formats import github, table

    if arguments.format == "github":
        return "\n".join(github(result, arguments.path or "text"))
    kept = (
        f"evidence: {identifier}" if identifier else "checked against an export; nothing was kept"
    )
    return f"{table(result)}\n{result.data.assurance}\n{kept}"


def _read(path: str) -> str:
    if path == "-":
        return sys.stdin.read(TEXT_LIMIT)
    file = Path(path).expanduser()
    try:
        if file.is_dir():
            raise InputError(f"path: {path} is a directory; give a text file")
        if file.stat().st_size > TEXT_LIMIT:
            raise InputError(f"path: {path} has over {TEXT_LIMIT} bytes, more than is checked")
        content = file.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"path: {shorten(path, 100)}: no such file") from None
    except OSError as error:
        raise InputError(f"path: {shorten(path, 100)} cannot be read: {error.strerror}") from None
    if b"\0" in content[:65536]:
        raise InputError(f"path: {shorten(path, 100)} is a binary file; give a text")
    return content.decode("utf-8", "replace")
