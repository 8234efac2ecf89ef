"""doctor and profiler_probe: call the probes, keep one record, answer from it.

The probes are imported when they are called: a server answers its first request sooner without them.
"""

from collections.abc import Sequence
from itertools import islice

from pydantic import BaseModel, Field

from .. import __version__
from ..evidence.errors import InputError, NextCall, PerfciteError
from ..evidence.payloads import EnvironmentData, ProfilerProbeData
from ..evidence.records import ClaimClass, Identity, Input, Kind, Metric, Verdict, new_record
from ..evidence.store import Store, Stored
from .answers import of_record
from .definition import Answer, Arguments, Session

_ENVIRONMENTS_SEARCHED = 20
PYTHON = Field(
    default=None,
    description="Interpreter or venv that runs the engine; default: the one found here.",
    json_schema_extra={"runs": True},
)


class DoctorArguments(Arguments):
    """What doctor looks at."""

    python: str | None = PYTHON
    probe_profilers: bool = Field(
        default=False, description="Also run each profiler on a tiny program (minutes)."
    )
    since: str | None = Field(
        default=None, description="Evidence id of an earlier doctor: say what changed since."
    )


class ProbeArguments(Arguments):
    """Which profilers to try."""

    profilers: list[str] | None = Field(
        default=None, description="Of ncu, nsys, perf, py-spy; default: all that exist here."
    )
    python: str | None = PYTHON
    timeout_s: float = Field(
        default=300, gt=0, le=3600, description="Deadline of each step, seconds."
    )


async def doctor(arguments: DoctorArguments, session: Session) -> Answer:
    """Examine the machine and keep the record."""
    from ..probes.doctor import changes, examine as doctor_examine

    earlier = _earlier(arguments.since, session.store) if arguments.since else None
    await session.progress(0, None, "examining the machine")
    found = await doctor_examine.examine(
        session.system, python=arguments.python, probe_profilers=arguments.probe_profilers
    )
    profilers = None
    if arguments.probe_profilers:
        from ..probes.profilers.probe import probe

        outcome = await probe(session.system, python=arguments.python, tell=session.progress)
        found = doctor_examine.apply_probe(found, outcome.profilers)
        profilers = outcome.profilers
    limitations = list(found.limitations)
    if session.sysroot:
        limitations.insert(0, f"describes the machine whose files lie under {session.sysroot}")
    stored = keep(
        session,
        "doctor",
        arguments,
        kind="environment",
        claim_class="observed",
        summary=found.summary,
        data=EnvironmentData(
            facts=found.facts,
            findings=found.findings,
            can=found.can,
            profilers=profilers,
            since=earlier.evidence_id if earlier else None,
            changes=changes.changes(earlier.record.data["facts"], found.facts) if earlier else None,
        ),
        identity=hide_host(found.identity, session.store).model_copy(
            update={"fingerprint": changes.fingerprint(found.facts)}
        ),
        inputs=[earlier.as_input()] if earlier else [],
        metrics=found.metrics,
        missing=found.missing,
        limitations=limitations,
    )
    return of_record(stored)


async def profiler_probe(arguments: ProbeArguments, session: Session) -> Answer:
    """Run each profiler on a tiny program of ours and keep what really happened."""
    from ..probes.profilers.probe import probe

    outcome = await probe(
        session.system,
        profilers=arguments.profilers,
        python=arguments.python,
        timeout_s=arguments.timeout_s,
        refuse_python=True,
        tell=session.progress,
    )
    stored = keep(
        session,
        "profiler_probe",
        arguments,
        kind="profiler_probe",
        claim_class="observed",
        summary=outcome.summary,
        data=ProfilerProbeData(profilers=outcome.profilers, programs=outcome.programs),
        identity=this_machine(session),
        metrics=outcome.metrics,
        missing=outcome.missing,
        limitations=outcome.limitations,
    )
    return of_record(stored)


def this_machine(session: Session) -> Identity:
    """Say where this runs, from files only."""
    from ..probes.doctor import host
    from ..probes.doctor.identity import identity

    here = identity(session.system, host.read(session.system).section.facts)
    here = hide_host(here, session.store)
    return here.model_copy(update={"fingerprint": _last_fingerprint(here, session.store)})


def _last_fingerprint(here: Identity, store: Store) -> str | None:
    """What doctor said last of this machine, so that a later comparison knows."""
    for line in islice(store.newest(kind="environment"), _ENVIRONMENTS_SEARCHED):
        try:
            record = store.load(line.evidence_id).record
        except PerfciteError:
            continue
        if (
            record.identity.host == here.host
            and here.host
            and "sysroot" not in record.tool.arguments
        ):
            return record.identity.fingerprint
    return None


def _earlier(given: str, store: Store) -> Stored:
    """Open the record that `since` names.

    Raises:
        InputError: it is no record of doctor, or it does not verify.
    """
    stored = store.verified(given)
    if stored.record.kind != "environment" or "facts" not in stored.record.data:
        raise InputError(
            f"since: {stored.evidence_id} is a record of kind {stored.record.kind}, not of doctor",
            then=NextCall("list_evidence", {"kind": "environment"}),
        )
    return stored


def hide_host(identity: Identity, store: Store) -> Identity:
    """Put the store's pseudonym in the place of this host's name; a record's identity has one."""
    if identity.host is None:
        return identity
    return identity.model_copy(update={"host": store.pseudonym(identity.host)})


def keep(
    session: Session,
    tool: str,
    arguments: Arguments,
    *,
    kind: Kind,
    claim_class: ClaimClass,
    summary: str,
    data: BaseModel,
    identity: Identity,
    verdict: Verdict | None = None,
    reason: str | None = None,
    metrics: Sequence[Metric] = (),
    missing: Sequence[str] = (),
    limitations: Sequence[str] = (),
    inputs: Sequence[Input] = (),
) -> Stored:
    """Make the record and save it: the one place where a tool's result becomes evidence."""
    given = arguments.model_dump(mode="json", exclude_none=True)
    if session.sysroot:
        given["sysroot"] = session.sysroot
    record = new_record(
        kind=kind,
        claim_class=claim_class,
        tool=tool,
        version=__version__,
        arguments=given,
        summary=summary,
        data=data,
        identity=identity,
        verdict=verdict,
        reason=reason,
        metrics=metrics,
        missing=missing,
        limitations=limitations,
        inputs=inputs,
    )
    return session.store.save(record)
