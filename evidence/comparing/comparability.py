"""Whether two records were made under conditions that make their numbers comparable.

Another GPU, model or (without a GPU) CPU makes a comparison meaningless; another driver, clock setting,
engine version or argument is named, and may be the very thing under test. The host is informational.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..records import Record

MEANINGLESS = ("gpu.name", "gpu.count", "model", "cpu")
FIELDS: tuple[str, ...] = (
    "gpu",
    "cpu",
    "os",
    "host",
    "engines",
    "model",
    "arguments",
    "git",
    "kind",
    "tool",
    "fingerprint",
)
_CPU_BOUND_ONLY = "cpu"


@dataclass(frozen=True)
class Difference:
    """One condition that is not the same on both sides."""

    field: str
    baseline: Any
    candidate: Any

    @property
    def meaningless(self) -> bool:
        """Whether it forbids a comparison unless it was declared as varying."""
        return self.field in MEANINGLESS

    def told(self) -> str:
        """Name it in a line."""
        return f"{self.field} {_shown(self.baseline)} against {_shown(self.candidate)}"


def differences(baseline: Record, candidate: Record) -> list[Difference]:
    """Name every condition that differs, or is known on one side only."""
    one, two = dict(_conditions(baseline)), dict(_conditions(candidate))
    found = []
    for field in sorted({*one, *two}):
        if one.get(field) != two.get(field):
            found.append(Difference(field, one.get(field), two.get(field)))
    if "gpu.name" in one and one.get("gpu.name") == two.get("gpu.name"):
        # The same GPU does the work: another CPU is a circumstance, named and not forbidding.
        found = [
            Difference("host.cpu", d.baseline, d.candidate) if d.field == _CPU_BOUND_ONLY else d
            for d in found
        ]
    return found


def forbidding(found: Sequence[Difference], varying: Sequence[str]) -> list[Difference]:
    """Give the differences that make the comparison meaningless and were not declared."""
    return [d for d in found if d.meaningless and not _declared(d.field, varying)]


def check_varying(varying: Sequence[str]) -> None:
    """Refuse a declared field that no record has.

    Raises:
        InputError: names the known fields.
    """
    for name in varying:
        if name.split(".")[0] not in FIELDS:
            raise InputError(f"varying: no field {name[:40]!r}; known are {', '.join(FIELDS)}")


def _declared(field: str, varying: Sequence[str]) -> bool:
    return any(field == name or field.startswith(name + ".") for name in varying)


def _conditions(record: Record) -> Iterator[tuple[str, Any]]:
    yield "kind", record.kind
    yield "tool.name", record.tool.name
    identity = record.identity
    for name in ("host", "os", "cpu"):
        value = getattr(identity, name)
        if value is not None:
            yield name, value
    if identity.gpu is not None:
        for name in ("name", "count", "driver", "cuda"):
            value = getattr(identity.gpu, name)
            if value is not None:
                yield f"gpu.{name}", value
        if identity.gpu.clocks is not None:
            yield "gpu.clocks", clock_setting(identity.gpu.clocks)
    for engine, version in (identity.engines or {}).items():
        yield f"engines.{engine}", version
    if identity.fingerprint is not None:
        yield "fingerprint", identity.fingerprint
    if identity.git is not None:
        yield "git.commit", identity.git.commit
    yield from _call(record)


def _call(record: Record) -> Iterator[tuple[str, Any]]:
    model = _model(record)
    if model is not None:
        yield "model", model
    for name, value in record.tool.arguments.items():
        if name != "model":
            yield f"arguments.{name}", value


def _model(record: Record) -> Any:
    for place in (record.data, record.data.get("engine"), record.tool.arguments):
        if isinstance(place, dict):
            for name in ("model_sha256", "model"):
                if place.get(name) is not None:
                    return place[name]
    return None


def clock_setting(clocks: str) -> str:
    """Keep a lock and its set point; a free-running clock's reading jitters and says nothing."""
    return (
        clocks if "locked" in clocks.lower() and "unlocked" not in clocks.lower() else "not locked"
    )


def _shown(value: Any) -> str:
    text = "unknown" if value is None else str(value)
    return text if len(text) <= 40 else text[:39] + "…"
