"""check_correctness: find the two recordings, compare them in a thread, keep the judgement."""

import hashlib
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import orjson
from pydantic import Field

from ..evidence.errors import DamagedRecord, InputError, NextCall, NotFound
from ..evidence.records import Identity, one_line
from ..evidence.store import Store
from .answers import of_record
from .definition import Answer, Arguments, Session, looks_like_path, shorten
from .measuring import keep, this_machine

if TYPE_CHECKING:
    from ..probes.correctness.check import Judgement, Source

_TICK_S = 1.0
GENERATION_FILE = "generation.jsonl"


class CheckArguments(Arguments):
    """What to compare, and what counts as the same."""

    reference: str = Field(
        description="Evidence id, or JSONL file: token-id list or {tokens, logprobs} a line.",
        json_schema_extra={"file": True},
    )
    candidate: str = Field(
        description="The same of the run to judge.", json_schema_extra={"file": True}
    )
    min_prefix_agreement: float = Field(
        default=1.0, description="Least mean prefix agreement, 0 to 1."
    )
    logprob_tol: float | None = Field(
        default=None, description="Largest log-probability difference allowed, nats."
    )


@dataclass(frozen=True)
class Recording:
    """One side: what to read, whose machine it was made on, and why it cannot be trusted."""

    source: "Source"
    identity: Identity | None = None
    problem: str | None = None


async def check_correctness(arguments: CheckArguments, session: Session) -> Answer:
    """Compare two generations and keep the judgement."""
    from ..probes.correctness.check import Criteria

    criteria = Criteria(
        min_prefix_agreement=arguments.min_prefix_agreement, logprob_tol=arguments.logprob_tol
    )
    criteria.validate()
    sides = [
        find_recording(name, getattr(arguments, name), session.store)
        for name in ("reference", "candidate")
    ]
    judgement = await _in_thread(sides, criteria, session)
    judgement = _distrust(judgement, sides)
    identities = [side.identity for side in reversed(sides) if side.identity is not None]
    stored = keep(
        session,
        "check_correctness",
        arguments,
        kind="correctness",
        claim_class="derived",
        summary=judgement.summary,
        data=judgement.data,
        # A recording from elsewhere must not borrow this host.
        identity=identities[0] if identities else this_machine(session),
        verdict=judgement.verdict,
        reason=judgement.reason,
        metrics=judgement.metrics,
        missing=judgement.missing,
        limitations=judgement.limitations,
        inputs=judgement.inputs,
    )
    return of_record(stored)


def find_recording(name: str, given: str, store: Store) -> Recording:
    """Read an argument as a file or an evidence id. A file of that name wins.

    Raises:
        InputError: neither is there, or the record holds no generation.
    """
    from ..probes.correctness.check import FileSource

    path = os.path.expanduser(given)
    if looks_like_path(given) or os.path.exists(path):
        if not os.path.lexists(path) and "/" not in given and "." not in given:
            raise NotFound(
                f"{name}: {shorten(given, 60)!r} is neither a file nor an evidence id",
                then=NextCall("list_evidence"),
            )
        return Recording(FileSource(path))
    return _from_evidence(name, given, store)


def _from_evidence(name: str, given: str, store: Store) -> Recording:
    from ..probes.correctness.check import RecordSource

    identifier, content, problem = store.unverified(given)
    try:
        plain = orjson.loads(content)
        data = plain["data"]
        artifacts = plain.get("artifacts") or []
        kind = plain["kind"]
        identity = Identity.model_validate(plain.get("identity") or {})
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DamagedRecord(
            f"{name}: evidence {identifier} is {problem}", then=NextCall("list_evidence")
        ) from None
    files = [a["sha256"] for a in artifacts if a.get("name") == GENERATION_FILE]
    artifact = store.blob_path(files[0]) if files else None
    if artifact is None and not isinstance(data.get("tokens"), list):
        raise InputError(
            f"{name}: {identifier} is a record of kind {kind} and holds no generation",
            then=NextCall("list_evidence", {"kind": "generation"}),
        )
    digest = hashlib.sha256(content).hexdigest()
    return Recording(RecordSource(identifier, digest, data, artifact), identity, problem)


async def _in_thread(sides: Sequence[Recording], criteria: object, session: Session) -> "Judgement":
    from ..probes.correctness.check import Criteria, check

    assert isinstance(criteria, Criteria)
    stop = threading.Event()
    seen = [0, 0]

    def tick(done: int, total: int) -> None:
        seen[:] = done, total
        if stop.is_set():
            raise InterruptedError

    def work() -> "Judgement":
        return check(sides[0].source, sides[1].source, criteria, tick=tick)

    async def tell() -> None:
        while True:
            await anyio.sleep(_TICK_S)
            await session.progress(seen[0] / 1e6, seen[1] / 1e6, "comparing, MB read")

    async with anyio.create_task_group() as group:
        group.start_soon(tell)
        try:
            judgement = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        finally:
            stop.set()  # a cancelled call must not keep a core busy
        group.cancel_scope.cancel()
    return judgement


def _distrust(judgement: "Judgement", sides: Sequence[Recording]) -> "Judgement":
    """Never let a result stand that is derived from what does not verify."""
    wrong = [
        f"{side.source.label} does not verify: {side.problem}" for side in sides if side.problem
    ]
    if not wrong:
        return judgement
    told = "; ".join(wrong)
    return replace(
        judgement,
        verdict="UNPROVEN",
        summary=one_line(f"UNPROVEN: {told}", 240),
        reason=f"{told}. Compared as it stands: {judgement.reason}",
        limitations=(f"derived from damaged evidence: {told}", *judgement.limitations),
    )
