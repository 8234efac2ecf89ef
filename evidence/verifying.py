"""Does stored evidence verify: its bytes, its artifacts, and everything it was derived from?"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from .artifacts import sha256_of
from .errors import InputError, StoreError
from .ids import canonical_bytes, evidence_id, id_of_hash
from .keys import Keys
from .layout import blob_key, record_key, tombstone_key

TAMPERED = "tampered: its bytes do not hash to the id"


@dataclass(frozen=True)
class _Own:
    """What is wrong with a record by itself, its hash, and what it was derived from."""

    problem: str | None
    sha256: str = ""
    inputs: tuple[tuple[str, str], ...] = ()  # evidence id, SHA-256


class Verifier:
    """Checks records, each once: what many derive from is hashed for the first of them."""

    def __init__(self, keys: Keys, *, hash_artifacts: bool = True) -> None:
        """Take a store's keys; without hashing, an artifact is only looked for."""
        self._keys = keys
        self._hash_artifacts = hash_artifacts
        self._own: dict[str, _Own] = {}
        self._known: dict[str, str | None] = {}

    def problems(self, identifiers: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """Give each record's problem, None where it verifies to its roots."""
        for identifier in identifiers:
            yield identifier, self.problem(identifier)

    def problem(self, identifier: str) -> str | None:
        """Say why a record does not verify; lineage of any depth is followed."""
        if identifier in self._known:
            return self._known[identifier]
        own = self._read(identifier)
        if not own.inputs:  # most records: nothing to follow
            self._known[identifier] = own.problem
            return own.problem
        waiting, entered = [identifier], set[str]()
        while waiting:
            current = waiting[-1]
            own = self._read(current)
            pending = [i for i, _ in own.inputs if i not in self._known and i not in entered]
            if current not in self._known and pending and current not in entered:
                entered.add(current)
                waiting += pending
                continue
            if current not in self._known:
                self._known[current] = own.problem or self._derived(own)
            waiting.pop()
        return self._known[identifier]

    def _read(self, identifier: str) -> _Own:
        if identifier not in self._own:
            self._own[identifier] = self._check(identifier)
        return self._own[identifier]

    def _check(self, identifier: str) -> _Own:
        try:
            content = self._keys.read(record_key(identifier))
        except StoreError as error:
            return _Own(f"unreadable: {error}")
        if content is None:
            return _Own("not found")
        digest = hashlib.sha256(content)
        if id_of_hash(digest.digest()) != identifier:
            return _Own(bytes_problem(identifier, content), digest.hexdigest())
        plain = orjson.loads(content)
        if not isinstance(plain, dict) or plain.get("schema_version") != "1":
            return _Own("of a form that this version does not know", digest.hexdigest())
        return _Own(
            self._artifact_problem(plain.get("artifacts") or []),
            digest.hexdigest(),
            tuple(
                (str(i["evidence_id"]), str(i.get("sha256")))
                for i in plain.get("inputs") or []
                if i.get("evidence_id")
            ),
        )

    def _derived(self, own: _Own) -> str | None:
        for identifier, sha256 in own.inputs:
            problem = self._known.get(identifier)
            if problem is None and self._read(identifier).sha256 != sha256:
                problem = "not the record that was used: its SHA-256 differs"
            if problem:
                return f"derived from {identifier}: {problem}"
        return None

    def _artifact_problem(self, artifacts: list[dict[str, Any]]) -> str | None:
        for artifact in artifacts:
            name, sha256 = artifact["name"], artifact["sha256"]
            if self._keys.size(blob_key(sha256)) is None:
                pruned = self._keys.size(tombstone_key(sha256)) is not None
                return f"artifact {name} {'pruned' if pruned else 'missing'}"
            if not self._hash_artifacts:
                continue
            try:
                stream = self._keys.open(blob_key(sha256))
            except StoreError as error:
                return f"artifact {name} unreadable: {error}"
            if stream is None:
                return f"artifact {name} missing"
            with stream:
                if sha256_of(stream) != sha256:
                    return f"artifact {name} altered"
        return None


def bytes_problem(identifier: str, content: bytes) -> str | None:
    """Say why stored bytes do not verify against their id; None where they do."""
    if evidence_id(content) == identifier:
        return None
    try:
        if evidence_id(canonical_bytes(orjson.loads(content))) == identifier:
            return "reformatted: the same content in other bytes"
    except (orjson.JSONDecodeError, InputError, RecursionError):
        return "tampered: its bytes do not hash to the id and are no JSON"
    return TAMPERED
