"""The records that a text cites, as far as a number can be held against them."""

import difflib
import re
import statistics as stats
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from ..errors import DamagedRecord, InputError, NotFound
from ..records import Interval, Metric, Record
from ..store import Store, Stored
from . import naming
from .mentions import Mention
from .quantities import find
from .units import Unit, recorded_unit

Status = Literal["verified", "not_found", "tampered", "incomplete"]

_ARTIFACT_GONE = re.compile(r"artifact .* (?:missing|pruned)$")
_GONE = re.compile(r" (?:missing|pruned)$|: not found$|of a form that this version")
_SUGGESTIONS = 10  # each may list much of a large store


@dataclass(frozen=True, slots=True)
class Value:
    """One recorded number: a metric's value, or what follows from its samples."""

    evidence_id: str
    name: str
    statistic: str
    unit: Unit
    unit_name: str
    value: float
    interval: Interval | None = None
    alone: bool = False  # the only statistic that the record has of this metric
    sampled: bool = False  # computed from the metric's samples, not written in the record

    @property
    def label(self) -> str:
        """Name it as a citation binds it: metric.statistic."""
        return f"{self.name}.{self.statistic.replace(' ', '_')}" if self.statistic else self.name

    def told(self) -> str:
        """Write the value with its unit as recorded."""
        unit = "" if self.unit_name in ("1", "count", "ratio") else self.unit_name
        whole = self.value.is_integer() and abs(self.value) < 2**53
        number = f"{self.value:.0f}" if whole else f"{self.value:.10g}"
        return f"{number}{'' if unit in ('', 'x') else ' '}{unit}"


@dataclass
class Cited:
    """One cited id: whether it verifies, and what it records.

    `incomplete`: the bytes are those that were cited, and an artifact or an input is not there.
    """

    key: str
    status: Status
    why: str | None = None
    nearest: str | None = None
    stored: Stored | None = None
    values: tuple[Value, ...] = ()
    inputs: tuple["Cited", ...] = ()
    facts: tuple[Value, ...] | None = None  # filled by details.py when first wanted
    rows: dict[str, tuple[Value, ...]] | None = None

    @property
    def record(self) -> Record:
        """The record of a verified id."""
        assert self.stored is not None
        return self.stored.record

    def reachable(self) -> list["Cited"]:
        """Give the record and, for a comparison, the records that it compares."""
        return [self, *self.inputs]


@dataclass
class Library:
    """Looks ids up in a store, each once.

    `artifacts`: whether a missing artifact matters; an export that goes with a text has none.
    """

    store: Store
    artifacts: bool = True
    _known: dict[str, Cited] = field(default_factory=dict)
    _suggested: int = 0

    def open(self, mentioned: Iterable[Mention]) -> dict[str, Cited]:
        """Look up everything that a text cites."""
        keys = {m.key: m.identifier for m in mentioned}
        whole = [i for i in keys.values() if i]
        for identifier, problem in self.store.problems(whole):
            self._known[identifier] = self._judge(identifier, problem)
        good = [k for k, cited in self._known.items() if cited.status == "verified"]
        for key, name in keys.items():
            if name is None or self._known[key].status == "not_found":
                self._known[key] = self._missing(key, good)
        for identifier in whole:
            self._link(self._known[identifier])
        return self._known

    def _judge(self, identifier: str, problem: str | None) -> Cited:
        if problem == "not found":
            return Cited(identifier, "not_found", "no such record in the store")
        if problem and not self.artifacts and _ARTIFACT_GONE.search(problem):
            problem = self._lineage_problem(identifier)
        if problem:
            gone = _GONE.search(problem)
            return Cited(identifier, "incomplete" if gone else "tampered", problem)
        stored = Stored(identifier, self.store.content(identifier))
        try:
            return Cited(identifier, "verified", stored=stored, values=tuple(_values(stored)))
        except DamagedRecord as error:
            return Cited(identifier, "incomplete", str(error))

    def _lineage_problem(self, identifier: str) -> str | None:
        """Check the bytes of a record and of all it was derived from, artifacts aside."""
        waiting, seen = [identifier], set[str]()
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            try:
                record = Stored(current, self.store.content(current)).record
                for item in record.inputs:
                    if item.evidence_id:
                        found = Stored(item.evidence_id, self.store.content(item.evidence_id))
                        if found.sha256 != item.sha256:
                            return f"derived from {item.evidence_id}: its SHA-256 differs"
                        waiting.append(item.evidence_id)
            except NotFound:
                return f"derived from {current}: not found"
            except DamagedRecord as error:
                return f"derived from {current}: {error}"
        return None

    def _missing(self, key: str, good: list[str]) -> Cited:
        nearest = self._nearest(key, good)
        why = "no whole evidence id" if key.endswith("…") or len(key) != 19 else "no such record"
        if nearest:
            why += f"; the nearest is {nearest}"
        return Cited(key, "not_found", why, nearest)

    def _nearest(self, key: str, good: list[str]) -> str | None:
        cut = key.lower().rstrip("…")
        match = [g for g in good if g.startswith(cut)] or difflib.get_close_matches(
            cut, good, n=1, cutoff=0.8
        )
        if match or self._suggested >= _SUGGESTIONS:
            return match[0] if match else None
        self._suggested += 1
        shard = self.store.keys.folder(f"records/{cut[3:5]}")
        begun = [n[:-5] for n in shard if n.startswith(cut) and n.endswith(".json")]
        if len(begun) == 1:
            return begun[0]
        try:
            return self.store.resolve(cut)
        except NotFound as error:
            near = error.then.arguments.get("evidence_id") if error.then else None
            return str(near) if near else None
        except InputError:
            return None

    def _link(self, cited: Cited) -> None:
        """Open what a comparison compares: its text may quote either side."""
        if cited.stored is None or cited.record.kind != "comparison":
            return
        found = []
        for item in cited.record.inputs[:2]:
            if item.evidence_id and item.evidence_id not in self._known:
                known = self._judge(item.evidence_id, None)  # verified with the comparison
                self._known[item.evidence_id] = known
            if item.evidence_id:
                found.append(self._known[item.evidence_id])
        cited.inputs = tuple(c for c in found if c.status == "verified")


def _values(stored: Stored) -> Iterator[Value]:
    record, identifier = stored.record, stored.evidence_id
    counts: dict[str, int] = {}
    for metric in record.metrics:
        if metric.value is not None and naming.statistic(metric.statistic) not in naming.SPREADS:
            counts[metric.name] = counts.get(metric.name, 0) + 1
    for metric in record.metrics:
        if metric.value is not None:
            yield _value(identifier, metric, metric.value, metric.statistic, counts)
    recorded = {(m.name, naming.statistic(m.statistic)) for m in record.metrics}
    for metric in record.metrics:
        for name, value in _from_samples(metric):
            if (metric.name, name) not in recorded:
                recorded.add((metric.name, name))
                yield replace(_value(identifier, metric, value, name, {}), sampled=True)
    yield from _clocks(record, identifier)


def _value(
    identifier: str, metric: Metric, value: float, statistic: str, counts: dict[str, int]
) -> Value:
    return Value(
        evidence_id=identifier,
        name=metric.name,
        statistic=naming.statistic(statistic),
        unit=recorded_unit(metric.unit),
        unit_name=metric.unit,
        value=float(value),
        interval=metric.interval if statistic == metric.statistic else None,
        alone=counts.get(metric.name) == 1,
    )


def _from_samples(metric: Metric) -> Iterator[tuple[str, float]]:
    samples = metric.samples or ()
    if len(samples) > 1:
        yield "min", min(samples)
        yield "max", max(samples)
        yield "mean", stats.fmean(samples)
        yield "median", stats.median(samples)
        yield "std", stats.stdev(samples)


def _clocks(record: Record, identifier: str) -> Iterator[Value]:
    """Read the clock that was set, from the identity: `locked 1980 MHz`."""
    clocks = record.identity.gpu.clocks if record.identity.gpu else None
    for quantity in find(clocks or ""):
        if quantity.unit is not None and quantity.unit.dimension == "frequency":
            value = quantity.figure.value
            unit, name = quantity.unit, quantity.unit_text
            yield Value(identifier, "identity.gpu.clocks", "", unit, name, value, alone=True)


def missing_of(cited: Cited, words: frozenset[str]) -> str | None:
    """Give the entry of `missing` that a text's words speak of."""
    for entry in cited.record.missing:
        name = entry.split(":")[0]
        if any(w in words for w in naming.name_words(name)):
            return entry
    return None
