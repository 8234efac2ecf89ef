"""check_correctness: find the two recordings, compare them in a thread, keep the judgement."""

import hashlib
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.to_thread
import orjson
from pydantic import Field

from ..evidence.errors import DamagedRecord, InputError, NextCall, NotFound, PerfciteError
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
        description="Evidence id or JSONL: ids, or {tokens, logprobs}, a line.",
        json_schema_extra={"file": True},
    )
    candidate: str = Field(description="The run to judge.", json_schema_extra={"file": True})
    control: str | None = Field(
        default=None,
        description="Reference rerun in another batch.",
        json_schema_extra={"file": True},
    )
    criterion: Literal["identical", "rounding", "lossy"] = Field(
        default="identical", description="What may differ."
    )
    min_prefix_agreement: float | None = Field(default=None, description="0 to 1; identical: 1.0.")
    logprob_tol: float | None = Field(default=None, description="In nats.")
    max_decisive: int | None = Field(default=None, description="Gap over 1 nat.")
    max_divergences_per_1k: float | None = Field(default=None, description="Tokens at risk.")
    min_sequences: int | None = Field(
        default=None, description="Fewer distinct sequences are UNPROVEN."
    )
    max_decisive_per_1k: float | None = Field(
        default=None, description="Decisive divergences per 1,000 tokens at risk (lossy)."
    )
    max_kl: float | None = Field(
        default=None,
        description="Mean Kullback-Leibler divergence, nats, from top-k tables (lossy).",
    )
    near_tie_nats: float = Field(default=0.25, description="Largest gap of a near tie, nats.")
    decisive_nats: float = Field(default=1.0, description="A larger gap is decisive, nats.")


# Thresholds that the criteria have defaults for: offered at the command line, not to every agent.
RARE = ("min_sequences", "max_decisive_per_1k", "max_kl", "near_tie_nats", "decisive_nats")
_SIDES = ("reference", "candidate", "control")


@dataclass(frozen=True)
class Recording:
    """One side: what to read, whose machine it was made on, and why it cannot be trusted."""

    source: "Source"
    identity: Identity | None = None
    problem: str | None = None


async def check_correctness(arguments: CheckArguments, session: Session) -> Answer:
    """Compare two generations and keep the judgement."""
    from ..probes.correctness.check import Criteria

    criteria = Criteria(**arguments.model_dump(exclude=set(_SIDES)))
    criteria.validate()
    sides = [
        find_recording(name, getattr(arguments, name), session.store)
        for name in _SIDES
        if getattr(arguments, name) is not None
    ]
    judgement = await _in_thread(sides, criteria, session)
    judgement = _distrust(judgement, sides)
    identities = [s.identity for s in (sides[1], sides[0]) if s.identity is not None]
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
    return of_record(stored, damaged=any(side.problem for side in sides))


def find_recording(name: str, given: str, store: Store) -> Recording:
    """Read an argument as a file or an evidence id.

    Raises:
        InputError: neither is there, or the record holds no generation.
    """
    from ..probes.correctness.check import FileSource

    path = os.path.expanduser(given)
    if "\0" in given:
        raise InputError(f"{name}: a path holds no NUL", then=NextCall("list_evidence"))
    if looks_like_path(given):  # a file called ev_… is named ./ev_…
        if not os.path.lexists(path) and "/" not in given and "." not in given:
            raise NotFound(
                f"{name}: {shorten(given, 60)!r} is neither a file nor an evidence id",
                then=NextCall("list_evidence"),
            )
        return Recording(FileSource(path))
    return _from_evidence(name, given, store)


def _from_evidence(name: str, given: str, store: Store) -> Recording:
    from ..probes.correctness.check import RecordSource

    try:
        identifier, content, problem = store.unverified(given)
    except InputError as error:
        raise type(error)(f"{name}: {error}", then=error.then) from None
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
        control = sides[2].source if len(sides) > 2 else None
        return check(sides[0].source, sides[1].source, criteria, control=control, tick=tick)

    async def tell() -> None:
        while True:
            await anyio.sleep(_TICK_S)
            await session.progress(seen[0] / 1e6, seen[1] / 1e6, "comparing, MB read")

    refused: PerfciteError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(tell)
        try:
            judgement = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except PerfciteError as error:
            refused = _named(error, sides)  # raised outside, where the group does not wrap it
        finally:
            stop.set()  # a cancelled call must not keep a core busy
        group.cancel_scope.cancel()
    if refused is not None:
        raise refused
    return judgement


def _named(error: PerfciteError, sides: Sequence[Recording]) -> PerfciteError:
    """Put the argument's name before a message that starts with its value."""
    for name, side in zip(_SIDES, sides, strict=False):
        if str(error).startswith(side.source.label):
            return type(error)(f"{name}: {error}", then=error.then or NextCall("list_evidence"))
    return error


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
