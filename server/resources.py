"""evidence:// resources: a record's exact bytes, its artifacts, the newest; and completion of ids."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import orjson
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from ..evidence.errors import PerfciteError
from ..evidence.store import Store
from ..evidence.verifying import Verifier
from .lookup import read_row

LATEST = 20
_COMPLETIONS = 50


def add(server: MCPServer[Any], store: Callable[[], Store]) -> None:
    """Register the resources and the completion handler."""

    @server.resource(
        "evidence://latest",
        name="latest",
        title="Newest evidence",
        mime_type="application/json",
        description="The newest records: id, time, kind, verdict, summary.",
    )
    def latest() -> str:
        opened = store()
        glance = opened.glance()
        rows = list(islice(_rows(opened, glance), LATEST))
        return orjson.dumps(
            [{**row, "uri": f"evidence://{row['evidence_id']}"} for row in rows]
        ).decode()

    @server.resource(
        "evidence://{evidence_id}",
        name="evidence",
        title="Evidence record",
        mime_type="application/json",
        description="A record's exact stored bytes: hash them to check the id.",
    )
    def record(evidence_id: str) -> str:
        return _load(store(), evidence_id).decode()

    @server.resource(
        "evidence://{evidence_id}/artifacts/{name}",
        name="artifact",
        title="Artifact of a record",
        mime_type="application/octet-stream",
        description="A report, trace or picture kept with a record.",
    )
    def artifact(evidence_id: str, name: str) -> bytes:
        return _artifact(store(), evidence_id, name)

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        if argument.name not in ("evidence_id", "reference", "candidate"):
            return None
        found = []
        for line in store().newest():
            if line.evidence_id.startswith(argument.value):
                found.append(line.evidence_id)
            if len(found) > _COMPLETIONS:
                break
        return Completion(values=found[:_COMPLETIONS], has_more=len(found) > _COMPLETIONS)


def _rows(store: Store, glance: Verifier) -> Iterator[dict[str, Any]]:
    for line in store.newest():
        row = read_row(line, store, glance)
        if row is not None:
            yield row


def _load(store: Store, identifier: str) -> bytes:
    try:
        return store.verified(identifier).content
    except PerfciteError as error:
        raise ResourceNotFoundError(str(error)) from None


def _artifact(store: Store, identifier: str, name: str) -> bytes:
    try:
        stored = store.verified(identifier)  # an artifact that was altered is not served
    except PerfciteError as error:
        raise ResourceNotFoundError(str(error)) from None
    for item in stored.record.artifacts:
        if item.name == name:
            return store.blob(item.sha256) or b""
    raise ResourceNotFoundError(f"{identifier} has no artifact {name[:60]!r}")
