"""The evidence store: records by content id, artifacts by content hash, newest-first markers.

Write order: blobs, record (the commit point), marker. A crash between the last two leaves a complete
record without its marker, which `verify` adds again. evidence/layout.py says where things lie.
"""

import base64
import difflib
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from .artifacts import Attachment, describe
from .directory import Directory
from .errors import DamagedRecord, InputError, NextCall, NotFound, StoreError
from .ids import ID, canonical_bytes, evidence_id, normalise
from .keys import Keys, walk
from .layout import Line, blob_key, marker_key, read_marker, record_key
from .records import Input, Record
from .redaction import known_secrets, redact
from .verifying import TAMPERED, Verifier, bytes_problem

RECORD_LIMIT = 64 * 1024 * 1024


@dataclass(frozen=True)
class Stored:
    """A record with the bytes that its id pins; read as a record only when that is asked for."""

    evidence_id: str
    content: bytes

    @cached_property
    def record(self) -> Record:
        """The record.

        Raises:
            DamagedRecord: the bytes are no record.
        """
        try:
            return Record.model_validate_json(self.content)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise DamagedRecord(
                f"evidence {self.evidence_id} is of a form that this version does not know ({where})"
            ) from error

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
        stored = Stored(evidence_id(content), content)
        for artifact, attachment in zip(artifacts, attachments, strict=True):
            self.keys.create(blob_key(artifact.sha256), attachment.content)
        self.keys.create(record_key(stored.evidence_id), content)
        self.keys.create(marker_key(stored.evidence_id, record), b"")
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
        stored = Stored(identifier, content)
        assert stored.record  # refuses here what is no record
        return stored

    def content(self, identifier: str) -> bytes:
        """Give the bytes of a whole id, checked against it; nothing is parsed.

        Raises:
            NotFound: no such record.
            DamagedRecord: the bytes do not hash to the id.
        """
        content = self.keys.read(record_key(identifier))
        if content is None:
            raise NotFound(
                f"no evidence {identifier} in this store", then=NextCall("list_evidence")
            )
        if evidence_id(content) != identifier:
            raise DamagedRecord(f"evidence {identifier} is {TAMPERED}")
        return content

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
        return Verifier(self.keys).problem(identifier)

    def glance(self) -> Verifier:
        """Give a verifier that looks for artifacts without hashing them, for lists."""
        return Verifier(self.keys, hash_artifacts=False)

    def problems(self, identifiers: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """Give the problem of each record, checking what they share only once."""
        return Verifier(self.keys).problems(identifiers)

    def ids(self) -> Iterator[str]:
        """Give every id in the store, ascending."""
        for key in walk(self.keys, "records"):
            name = key.rpartition("/")[2]
            if name.endswith(".json") and ID.fullmatch(name[:-5]):
                yield name[:-5]

    def newest(self, before: str | None = None, *, kind: str | None = None) -> Iterator[Line]:
        """Give records newest first, from the markers: those after the marker `before`, of a kind."""
        days = self.keys.folder("log")
        if not days:
            yield from self._without_markers(before, kind)
            return
        sought = f"~{kind}~" if kind else ""
        for day in days:
            if before and day < before.partition("/")[0]:
                continue
            for name in self.keys.folder(f"log/{day}"):
                if sought not in name or (before and f"{day}/{name}" <= before):
                    continue
                line = read_marker(day, name)
                if line:
                    yield line

    def marker(self, identifier: str) -> str | None:
        """Give the marker that a record should have; None where it does not verify."""
        content = self.keys.read(record_key(identifier))
        if content is None or bytes_problem(identifier, content):
            return None
        record = Stored(identifier, content).record
        return marker_key(identifier, record).removeprefix("log/")

    def restore_markers(self) -> int:
        """Add the markers that a crash or a copy lost; give how many. Damaged records get none."""
        known = {line.marker for line in self.newest()} if self.keys.folder("log") else set()
        named = {marker.rpartition("~")[2] for marker in known}
        added = 0
        for identifier in self.ids():
            # A marker that says something else of the record does not count as its marker.
            right = identifier in named and self.marker(identifier) in known
            content = None if right else self.keys.read(record_key(identifier))
            if content is not None and not bytes_problem(identifier, content):
                record = Stored(identifier, content).record
                added += self.keys.create(marker_key(identifier, record), b"")
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

    def _nearest(self, wanted: str) -> str | None:
        near = [wanted[3:5]]
        near += [s for s in self.keys.folder("records") if set(s) & set(wanted[3:6])]
        names = [n[:-5] for s in dict.fromkeys(near) for n in self.keys.folder(f"records/{s}")]
        cut = [n[: len(wanted)] for n in names]
        match = difflib.get_close_matches(wanted, cut, n=1, cutoff=0.8)
        return names[cut.index(match[0])] if match else None

    def _without_markers(self, before: str | None, kind: str | None) -> Iterator[Line]:
        keys, damaged = [], []
        for identifier in self.ids():
            marker = self.marker(identifier)
            if marker is None:
                damaged.append(identifier)
            else:
                keys.append(marker)
        for key in sorted(keys):
            line = read_marker(*key.split("/", 1))
            if line and not (before and line.marker <= before) and kind in (None, line.kind):
                yield line
        for identifier in damaged:  # listed last: nothing that they say can be believed
            yield Line(identifier, "unknown", None, "", "", f"~{identifier}")


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
