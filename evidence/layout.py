"""Where things lie in a store, and the markers that list records newest first without opening them.

`records/<2>/<id>.json`, `blobs/<2>/<sha256>`, `pruned/<2>/<sha256>`, and zero-byte
`log/<inverted day>/<inverted time>~<kind>~<verdict>~<tool>~<id>`: ascending names are the newest first.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from .ids import ID
from .records import Record

_DAY_US = 86_400_000_000
_LAST_DAY = 99_999_999
_DAY = re.compile(r"[0-9]{8}")
_TIME = re.compile(r"[0-9]{11}")


@dataclass(frozen=True)
class Line:
    """One record as its marker tells it."""

    evidence_id: str
    kind: str
    verdict: str | None
    tool: str
    created_at: str
    marker: str


def record_key(identifier: str) -> str:
    """Where a record lies."""
    return f"records/{identifier[3:5]}/{identifier}.json"


def blob_key(sha256: str) -> str:
    """Where an artifact lies."""
    return f"blobs/{sha256[:2]}/{sha256}"


def tombstone_key(sha256: str) -> str:
    """Where it stands that an artifact was removed on purpose."""
    return f"pruned/{sha256[:2]}/{sha256}"


def marker_key(identifier: str, record: Record) -> str:
    """Where a record's marker lies."""
    at = datetime.fromisoformat(record.created_at)
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    microseconds = round((at - midnight).total_seconds() * 1e6)
    day = _LAST_DAY - int(at.strftime("%Y%m%d"))
    verdict = record.verdict or "-"
    tool = "".join(c for c in record.tool.name if c.isalnum() or c == "_")[:40]
    name = f"{_DAY_US - microseconds:011d}~{record.kind}~{verdict}~{tool}~{identifier}"
    return f"log/{day:08d}/{name}"


def read_marker(day: str, name: str) -> Line | None:
    """Read a marker's name; None where it is none."""
    parts = name.split("~")
    if not (_DAY.fullmatch(day) and _TIME.fullmatch(parts[0]) and ID.fullmatch(parts[-1])):
        return None
    if len(parts) < 3:
        return None
    date = str(_LAST_DAY - int(day))
    seconds = (_DAY_US - int(parts[0])) // 1_000_000
    time = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    middle = parts[2:-1]
    return Line(
        evidence_id=parts[-1],
        kind=parts[1],
        verdict=middle[0] if middle and middle[0] != "-" else None,
        tool=middle[1] if len(middle) > 1 else "",
        created_at=f"{date[:4]}-{date[4:6]}-{date[6:8]}T{time}Z",
        marker=f"{day}/{name}",
    )
