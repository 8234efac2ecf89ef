"""compare_evidence: two records, comparability first, then metric by metric."""

from pydantic import Field

from ..evidence.errors import InputError
from ..evidence.records import Identity
from ..evidence.store import Store, Stored
from .answers import of_record
from .definition import Answer, Arguments, Session
from .measuring import keep


class CompareArguments(Arguments):
    """Which two records, and what is meant to differ."""

    baseline: str = Field(description="Evidence id of the state before.")
    candidate: str = Field(description="Evidence id of the state after.")
    varying: list[str] | None = Field(
        default=None, description="Conditions meant to differ, e.g. gpu, model, engines.torch."
    )


async def compare_evidence(arguments: CompareArguments, session: Session) -> Answer:
    """Compare and keep the comparison; what does not verify makes it UNPROVEN."""
    from ..evidence.comparing.compare import compare

    sides = [_open(session.store, name, arguments) for name in ("baseline", "candidate")]
    problems = [f"{stored.evidence_id} does not verify: {p}" for stored, p in sides if p]
    found = compare(sides[0][0], sides[1][0], varying=arguments.varying or (), problems=problems)
    identity: Identity = sides[1][0].record.identity
    stored = keep(
        session,
        "compare_evidence",
        arguments,
        kind="comparison",
        claim_class="derived",
        summary=found.summary,
        data=found.data,
        identity=identity,
        verdict=found.verdict,
        reason=found.reason,
        metrics=found.metrics,
        limitations=found.limitations,
        inputs=found.inputs,
    )
    return of_record(stored, damaged=bool(problems))


def _open(store: Store, name: str, arguments: CompareArguments) -> tuple[Stored, str | None]:
    """Open a record even if it is damaged: a comparison names that and is never a PASS."""
    try:
        identifier, content, problem = store.unverified(getattr(arguments, name))
    except InputError as error:
        raise type(error)(f"{name}: {error}", then=error.then) from None
    return Stored(identifier, content), problem
