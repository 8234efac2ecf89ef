"""check_citations: every id in a text and every number beside one, held against the store.

Verdict: any contradicted, tampered or missing citation is FAIL; else any unsupported is UNPROVEN, or none
at all where that is allowed; no claim and no id has no verdict; else PASS.
"""

import bisect
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import InputError
from ..payloads import CitationClaim, CitationData, CitedRecord
from ..records import Input, Metric, Verdict, one_line
from ..store import Store
from . import passages
from .assurance import assurance_of
from .cited import Cited, Library
from .claims import claims_of
from .commits import commit_problem
from .outcomes import Claim

TEXT_LIMIT = 1024 * 1024  # bytes
IDS_LIMIT = 2_000  # distinct ids
NUMBERS_LIMIT = 20_000
CLAIMS_LIMIT = 10_000
_FAILING = ("contradicted", "tampered", "not_found")
_SUMMARY = 240
_TOLD = 3  # claims named in the reason


@dataclass(frozen=True)
class CitationResult:
    """What a check of citations found; the parts of a record of kind citation_check."""

    verdict: Verdict | None
    reason: str | None
    summary: str
    data: CitationData
    metrics: tuple[Metric, ...]
    limitations: tuple[str, ...]
    inputs: tuple[Input, ...]
    missing: tuple[str, ...] = ()


def check_citations(
    text: str,
    store: Store,
    *,
    source: str | None = None,
    allow_unsupported: bool = False,
    commit: str | None = None,
    artifacts: bool = True,
) -> CitationResult:
    """Check what `text` claims from the records of `store`; nothing is written.

    `source` names the text. `commit`: cited records must have been made there, clean. `artifacts`:
    False where the store is an export that came without them.

    Raises:
        InputError: the text, its ids or its claims are more than the bounds above.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > TEXT_LIMIT:
        raise InputError(f"the text has {size} bytes; at most {TEXT_LIMIT} are checked at once")
    document = passages.read(text)
    if len(document.quantities) > NUMBERS_LIMIT:
        raise InputError(
            f"the text has {len(document.quantities)} numbers; at most {NUMBERS_LIMIT} are checked"
        )
    distinct = len({m.key for m in document.mentions})
    if distinct > IDS_LIMIT:
        raise InputError(f"the text cites {distinct} ids; at most {IDS_LIMIT} are checked at once")
    library = Library(store, artifacts).open(document.mentions)
    claims: list[Claim] = []
    for claim in claims_of(document, library):
        claims.append(claim)
        if len(claims) > CLAIMS_LIMIT:
            raise InputError(f"the text makes more than {CLAIMS_LIMIT} claims; check it in parts")
    cited = {m.key: library[m.key] for m in document.mentions}
    return _result(document, claims, cited, store, source, allow_unsupported, commit)


def _result(
    document: passages.Document,
    claims: Sequence[Claim],
    cited: dict[str, Cited],
    store: Store,
    source: str | None,
    allow_unsupported: bool,
    commit: str | None,
) -> CitationResult:
    places = _Places(document.source)
    content = document.source.encode("utf-8", "surrogatepass")
    ids = tuple(_ids(document, cited, places, commit))
    verified = [c for c in cited.values() if c.stored is not None]
    data = CitationData(
        claims=tuple(_claim(c, places) for c in claims),
        ids=ids,
        assurance=assurance_of(store, [c.key for c in verified]),
        source=source,
        text_sha256=hashlib.sha256(content).hexdigest(),
    )
    verdict, reason = _judge(data, allow_unsupported)
    return CitationResult(
        verdict=verdict,
        reason=reason,
        summary=one_line(f"{verdict}: {_counted(data)}" if verdict else _counted(data), _SUMMARY),
        data=data,
        metrics=tuple(_metrics(data)),
        limitations=tuple(_limitations(data, verified)),
        inputs=tuple(_inputs(verified, data, len(content))),
    )


def _inputs(verified: Sequence[Cited], data: CitationData, size: int) -> Iterator[Input]:
    """Name the records, then the text where it has a name, as what the result is derived from."""
    for one in verified:
        if one.stored is not None:
            yield one.stored.as_input()
    if data.source is not None:
        yield Input(path=data.source, sha256=data.text_sha256, bytes=size)


class _Places:
    """Turns an offset into line and column, both from 1."""

    def __init__(self, source: str) -> None:
        self._starts = [0]
        at = source.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = source.find("\n", at + 1)

    def of(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def _claim(claim: Claim, places: _Places) -> CitationClaim:
    line, column = places.of(claim.start)
    outcome = claim.outcome
    return CitationClaim(
        quote=claim.quote,
        evidence_id=outcome.evidence[-1] if outcome.evidence else None,
        evidence_ids=outcome.evidence,
        verdict=outcome.verdict,
        metric=outcome.metric,
        recorded=outcome.recorded,
        why=outcome.why,
        flags=outcome.flags,
        line=line,
        column=column,
        offset=claim.start,
    )


def _ids(
    document: passages.Document, cited: dict[str, Cited], places: _Places, commit: str | None
) -> list[CitedRecord]:
    first: dict[str, int] = {}
    for mention in document.mentions:
        first.setdefault(mention.key, mention.start)
    found = []
    for key, start in first.items():
        line, column = places.of(start)
        one = cited[key]
        problem = commit_problem(one, commit) if commit and one.status == "verified" else None
        found.append(
            CitedRecord(
                evidence_id=key,
                status=problem.status if problem else one.status,
                why=problem.why if problem else one.why,
                nearest=one.nearest,
                line=line,
                column=column,
            )
        )
    return found


def _judge(data: CitationData, allow_unsupported: bool) -> tuple[Verdict | None, str | None]:
    if not data.claims and not data.ids:
        return None, "no id and no number with a unit was found"
    wrong = [c for c in data.claims if c.verdict in _FAILING]
    lost = [i for i in data.ids if i.status in ("tampered", "not_found", "other_commit")]
    if wrong or lost:
        told = [f"line {c.line}: {c.quote} {c.verdict}, {c.why}" for c in wrong[:_TOLD]]
        told += [
            f"line {i.line}: {i.evidence_id} {i.status}" for i in lost[: max(0, _TOLD - len(told))]
        ]
        return "FAIL", _more("; ".join(told), len(wrong) or len(lost))
    open_ = [c for c in data.claims if c.verdict == "unsupported"]
    unclear = [i for i in data.ids if i.status in ("incomplete", "unknown_commit")]
    if unclear or open_:
        told = [f"line {c.line}: {c.quote} {c.why}" for c in open_[:_TOLD]]
        told += [
            f"line {i.line}: {i.evidence_id} {i.why}" for i in unclear[: max(0, _TOLD - len(told))]
        ]
        reason = _more("; ".join(told), len(open_) or len(unclear))
        return (None if allow_unsupported and not unclear else "UNPROVEN"), reason
    return "PASS", _counted(data)


def _more(told: str, count: int) -> str:
    return f"{told}; and {count - _TOLD} more" if count > _TOLD else told


def _counted(data: CitationData) -> str:
    if not data.claims and not data.ids:
        return "nothing to check: no id and no number with a unit"
    counts = Counter(c.verdict for c in data.claims)
    verified = sum(i.status == "verified" for i in data.ids)
    parts = [
        f"{counts[v]} {v.replace('_', ' ')}"
        for v in ("supported", "contradicted", "unsupported", "not_found", "tampered")
        if counts[v]
    ]
    claims = f"{len(data.claims)} claim{'s' if len(data.claims) != 1 else ''}"
    of = f" ({', '.join(parts)})" if parts else ""
    ids = f"{verified} of {len(data.ids)} cited ids verify" if data.ids else "no id cited"
    return f"{claims}{of}; {ids}"


def _metrics(data: CitationData) -> list[Metric]:
    counts = Counter(str(c.verdict) for c in data.claims)
    names = ("supported", "contradicted", "unsupported", "not_found", "tampered")
    found = [
        Metric(name=f"claims_{n}", value=counts[n], unit="count", statistic="total") for n in names
    ]
    return [*found, Metric(name="ids", value=len(data.ids), unit="count", statistic="total")]


def _limitations(data: CitationData, verified: Sequence[Cited]) -> list[str]:
    told = []
    if verified:
        told.append(f"assurance {data.assurance}")
    if any("not_comparable" in flag for c in data.claims for flag in c.flags):
        told.append("a ratio is of records made under different conditions: see the flags")
    if any(c.verdict == "supported" for c in data.claims):
        told.append(
            "supported means that the number is in the record, not that it was measured well"
        )
    for one in verified[:3]:
        told += [f"{one.key}: {text}" for text in one.record.limitations[:2]]
    return told
