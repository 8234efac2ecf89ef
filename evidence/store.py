"""The evidence store: records by content id, artifacts by content hash, newest-first markers.

Layout, the same on every kind of store: `records/<2>/<id>.json`, `blobs/<2>/<sha256>`, zero-byte
`log/<inverted day>/<inverted time>~<kind>~<verdict>~<tool>~<id>`, and `salt`.
Write order: blobs, record (the commit point), marker. A crash between the last two leaves a complete
record without its marker, which `verify` adds again.
"""

import base64
import difflib
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from .artifacts import Attachment, describe, sha256_of
from .directory import Directory
from .errors import DamagedRecord, InputError, NextCall, NotFound, StoreError
from .ids import canonical_bytes, evidence_id, normalise
from .keys import Keys, walk
from .records import Input, Record
from .redaction import known_secrets, redact

RECORD_LIMIT = 64 * 1024 * 1024
_DAY_US = 86_400_000_000


@dataclass(frozen=True)
class Stored:
    """A record with the bytes that its id pins."""

    evidence_id: str
    record: Record
    content: bytes

    @property
    def sha256(self) -> str:
        """The full hash, as it stands in the `inputs` of a record derived from this one."""
        return hashlib.sha256(self.content).hexdigest()

    def as_input(self) -> Input:
        """Name this record as what another was derived from."""
        return Input(evidence_id=self.evidence_id, sha256=self.sha256, bytes=len(self.content))

    def plain(self) -> dict[str, Any]:
        """Give every stored field, exactly as stored."""
        loaded: dict[str, Any] = orjson.loads(self.content)
        return loaded


@dataclass(frozen=True)
class Line:
    """One record as its marker tells it, newest first, without opening the record."""

    evidence_id: str
    kind: str
    verdict: str | None
    tool: str
    created_at: str
    marker: str


class Store:
    """Evidence in one place. Opening reads and creates nothing."""

    def __init__(self, keys: Keys) -> None:
        """Take the keys as they are."""
        self.keys = keys
        self._salt: bytes | None = None

    @classmethod
    def open(cls, location: str | Path | None = None) -> "Store":
        """Open `location`, else $PERFCITE_STORE, else `perfcite` under the user's data folder.

        Raises:
            StoreError: for a kind of location that is not supported here, or no folder.
        """
        place = str(location or os.environ.get("PERFCITE_STORE") or _default_location())
        if "://" in place:
            return cls(_bucket(place))
        path = Path(place).expanduser().absolute()
        if path.exists() and not path.is_dir():
            raise StoreError(f"the store {path} is not a folder; set PERFCITE_STORE to one")
        return cls(Directory(path))

    def save(self, record: Record, attachments: Sequence[Attachment] = ()) -> Stored:
        """Redact, hash and keep a record and its artifacts; durable when this returns.

        Raises:
            StoreError: nothing was kept.
            InputError: the record holds a value that JSON cannot carry.
        """
        secrets = known_secrets(os.environ)
        artifacts = tuple(describe(a, secrets) for a in attachments)
        record = record.model_copy(update={"artifacts": artifacts})
        content = canonical_bytes(redact(record.to_plain(), secrets))
        if len(content) > RECORD_LIMIT:
            raise InputError(
                f"the record has {len(content)} bytes, at most {RECORD_LIMIT} are kept"
            )
        stored = parse_stored(evidence_id(content), content)
        for artifact, attachment in zip(artifacts, attachments, strict=True):
            self.keys.create(blob_key(artifact.sha256), attachment.content)
        self.keys.create(record_key(stored.evidence_id), content)
        self.keys.create(marker_key(stored), b"")
        return stored

    def load(self, given: str) -> Stored:
        """Find a record by its id or a unique prefix and verify its bytes.

        Raises:
            NotFound: no such record, with the nearest id; or several, with the candidates.
            DamagedRecord: it is there but does not verify.
        """
        identifier = self.resolve(given)
        content = self.keys.read(record_key(identifier))
        if content is None:
            raise NotFound(f"evidence {identifier} is not in the store {self.keys}")
        problem = bytes_problem(identifier, content)
        if problem:
            raise DamagedRecord(
                f"evidence {identifier} is {problem}", then=NextCall("list_evidence")
            )
        return parse_stored(identifier, content)

    def verified(self, given: str) -> Stored:
        """Load a record, having checked its artifacts and all that it was derived from too.

        Raises:
            NotFound: no such record, or several.
            DamagedRecord: it, an artifact or an input does not verify.
        """
        stored = self.load(given)
        problem = self.problem(stored.evidence_id)
        if problem:
            raise DamagedRecord(
                f"evidence {stored.evidence_id} does not verify: {problem}",
                then=NextCall("list_evidence"),
            )
        return stored

    def resolve(self, given: str) -> str:
        """Complete a prefix of at least 6 characters to the one id that has it."""
        wanted = normalise(given)
        names = [n[:-5] for n in self.keys.folder(f"records/{wanted[3:5]}") if n.endswith(".json")]
        found = [n for n in names if n.startswith(wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            listed = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
            raise NotFound(
                f"{wanted} fits {len(found)} records: {listed}",
                then=NextCall("get_evidence", {"evidence_id": found[0]}),
            )
        nearest = self._nearest(wanted)
        if nearest:
            raise NotFound(
                f"no evidence {wanted} in this store; the nearest is {nearest}",
                then=NextCall("get_evidence", {"evidence_id": nearest}),
            )
        raise NotFound(f"no evidence {wanted} in this store", then=NextCall("list_evidence"))

    def problem(self, identifier: str) -> str | None:
        """Say what is wrong with a record, its artifacts or anything it was derived from.

        None: the bytes hash to the id, every artifact is there unaltered, and so for all inputs.
        """
        return self._problem(identifier, {})

    def problems(self, identifiers: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """Give the problem of each record, checking what they share only once."""
        seen: dict[str, str | None] = {}
        for identifier in identifiers:
            yield identifier, self._problem(identifier, seen)

    def ids(self) -> Iterator[str]:
        """Give every id in the store, ascending."""
        for key in walk(self.keys, "records"):
            name = key.rpartition("/")[2]
            if name.startswith("ev_") and name.endswith(".json"):
                yield name[:-5]

    def newest(self, before: str | None = None) -> Iterator[Line]:
        """Give records newest first, from the markers; those older than the marker `before`."""
        days = self.keys.folder("log")
        if not days:
            yield from self._without_markers(before)
            return
        for day in days:
            if before and day < before.partition("/")[0]:
                continue
            for name in self.keys.folder(f"log/{day}"):
                if before and f"{day}/{name}" <= before:
                    continue
                line = _line(day, name)
                if line:
                    yield line

    def restore_markers(self) -> int:
        """Add the markers that a crash or a copy lost; give how many. Damaged records get none."""
        known = {line.evidence_id for line in self.newest()} if self.keys.folder("log") else set()
        added = 0
        for identifier in self.ids():
            content = None if identifier in known else self.keys.read(record_key(identifier))
            if content is not None and not bytes_problem(identifier, content):
                added += self.keys.create(marker_key(parse_stored(identifier, content)), b"")
        return added

    def blob(self, sha256: str) -> bytes | None:
        """Give an artifact's bytes; None where it is missing."""
        return self.keys.read(blob_key(sha256))

    def blob_path(self, sha256: str) -> Path | None:
        """Give the file that holds an artifact, to be read in parts; None where it is missing."""
        return self.keys.path(blob_key(sha256))

    def unverified(self, given: str) -> tuple[str, bytes, str | None]:
        """Give a record's id, its bytes as they stand, and what is wrong with it, if anything."""
        identifier = self.resolve(given)
        content = self.keys.read(record_key(identifier))
        if content is None:
            raise NotFound(
                f"no evidence {identifier} in this store", then=NextCall("list_evidence")
            )
        return identifier, content, self.problem(identifier)

    def pseudonym(self, host: str) -> str | None:
        """Hide a host name behind the store's salt: equal within a store, meaningless outside.

        None where the salt neither exists nor can be made.
        """
        salt = self._salt or self._make_salt()
        if salt is None:
            return None
        digest = hmac.new(salt, host.encode(), "sha256").digest()[:10]
        return "host-" + base64.b32encode(digest).decode().lower()

    def _make_salt(self) -> bytes | None:
        self._salt = self.keys.read("salt")
        if self._salt is None:
            try:
                self.keys.create("salt", secrets.token_hex(16).encode())
            except StoreError:
                return None
            self._salt = self.keys.read("salt")
        return self._salt

    def _problem(self, identifier: str, seen: dict[str, str | None]) -> str | None:
        if identifier in seen:
            return seen[identifier]
        seen[identifier] = None
        content = self.keys.read(record_key(identifier))
        problem = "not found" if content is None else bytes_problem(identifier, content)
        if problem is None and content is not None:
            record = parse_stored(identifier, content).record
            problem = self._artifact_problem(record) or self._input_problem(record, seen)
        seen[identifier] = problem
        return problem

    def _artifact_problem(self, record: Record) -> str | None:
        for artifact in record.artifacts:
            stream = self.keys.open(blob_key(artifact.sha256))
            if stream is None:
                pruned = self.keys.read(tombstone_key(artifact.sha256)) is not None
                return f"artifact {artifact.name} {'pruned' if pruned else 'missing'}"
            with stream:
                if sha256_of(stream) != artifact.sha256:
                    return f"artifact {artifact.name} altered"
        return None

    def _input_problem(self, record: Record, seen: dict[str, str | None]) -> str | None:
        for item in record.inputs:
            if item.evidence_id is None:
                continue
            problem = self._problem(item.evidence_id, seen)
            content = None if problem else self.keys.read(record_key(item.evidence_id))
            if content is not None and hashlib.sha256(content).hexdigest() != item.sha256:
                problem = "not the record that was used: its SHA-256 differs"
            if problem:
                return f"derived from {item.evidence_id}: {problem}"
        return None

    def _nearest(self, wanted: str) -> str | None:
        near = [wanted[3:5]]
        near += [s for s in self.keys.folder("records") if set(s) & set(wanted[3:6])]
        names = [n[:-5] for s in dict.fromkeys(near) for n in self.keys.folder(f"records/{s}")]
        cut = [n[: len(wanted)] for n in names]
        match = difflib.get_close_matches(wanted, cut, n=1, cutoff=0.8)
        return names[cut.index(match[0])] if match else None

    def _without_markers(self, before: str | None) -> Iterator[Line]:
        records = []
        for identifier in self.ids():
            content = self.keys.read(record_key(identifier))
            if content is not None and bytes_problem(identifier, content) is None:
                records.append(parse_stored(identifier, content))
        for stored in sorted(records, key=marker_key):
            day, _, name = marker_key(stored).removeprefix("log/").partition("/")
            line = _line(day, name)
            if line and not (before and line.marker <= before):
                yield line


def record_key(identifier: str) -> str:
    """Where a record lies."""
    return f"records/{identifier[3:5]}/{identifier}.json"


def blob_key(sha256: str) -> str:
    """Where an artifact lies."""
    return f"blobs/{sha256[:2]}/{sha256}"


def tombstone_key(sha256: str) -> str:
    """Where it stands that an artifact was removed on purpose."""
    return f"pruned/{sha256[:2]}/{sha256}"


def marker_key(stored: Stored) -> str:
    """Where a record's marker lies: names ascend from the newest to the oldest."""
    record = stored.record
    at = datetime.fromisoformat(record.created_at)
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    microseconds = round((at - midnight).total_seconds() * 1e6)
    day = 99_999_999 - int(at.strftime("%Y%m%d"))
    verdict = record.verdict or "-"
    tool = "".join(c for c in record.tool.name if c.isalnum() or c == "_")[:40]
    name = f"{_DAY_US - microseconds:011d}~{record.kind}~{verdict}~{tool}~{stored.evidence_id}"
    return f"log/{day:08d}/{name}"


def bytes_problem(identifier: str, content: bytes) -> str | None:
    """Say why stored bytes do not verify against their id; None where they do."""
    if evidence_id(content) == identifier:
        try:
            parse_stored(identifier, content)
        except DamagedRecord as error:
            return str(error)
        return None
    try:
        if evidence_id(canonical_bytes(orjson.loads(content))) == identifier:
            return "reformatted: the same content in other bytes"
    except (orjson.JSONDecodeError, InputError, RecursionError):
        return "tampered: its bytes do not hash to the id and are no JSON"
    return "tampered: its bytes do not hash to the id"


def parse_stored(identifier: str, content: bytes) -> Stored:
    """Read stored bytes as a record, whether or not they hash to the id.

    Raises:
        DamagedRecord: they are no record.
    """
    try:
        return Stored(identifier, Record.model_validate_json(content), content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DamagedRecord(f"of a form this version does not know ({where})") from error


def _line(day: str, name: str) -> Line | None:
    parts = name.split("~")
    if len(parts) < 3 or not day.isdigit() or not parts[0].isdigit():
        return None
    date = str(99_999_999 - int(day))
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


def _bucket(place: str) -> Keys:
    from .bucket import SCHEMES, Bucket  # obstore is an extra, and costs its import

    scheme = place.partition("://")[0].lower()
    if scheme not in SCHEMES:
        raise StoreError(
            f"the store {place} is not supported: a folder, or {', '.join(SCHEMES)}://bucket/prefix"
        )
    return Bucket(place)


def _default_location() -> Path:
    import platformdirs

    return platformdirs.user_data_path("perfcite", appauthor=False)
