"""Seals: chained manifests that `sha256sum -c` checks, each pinned by one line to keep elsewhere.

An id pins a record's bytes; a seal also pins that a record existed, so that deleting or backdating one
shows. Its line belongs where the store's owner cannot change it: a pull request, a CI log, a git tag.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from .errors import InputError, StoreError
from .layout import record_key
from .store import Store

_LINE = re.compile(r"perfcite-seal ([0-9]{8}) ([0-9a-f]{64})")
_ENTRY = re.compile(r"([0-9a-f]{64})  (records/[a-z2-7]{2}/ev_[a-z2-7]{16}\.json)")
_PREVIOUS = re.compile(r"# previous ([0-9a-f]{64}|none)")


@dataclass(frozen=True)
class Seal:
    """One seal: its number, the hash of its manifest, how many records it added."""

    number: int
    sha256: str
    records: int

    def line(self) -> str:
        """The line to keep elsewhere."""
        return f"perfcite-seal {self.number:08d} {self.sha256}"


def seal(store: Store) -> Seal:
    """Write a manifest of the records that no seal lists yet.

    Raises:
        StoreError: another process sealed at the same moment; try again.
        InputError: a record does not verify, or there is nothing new to seal.
    """
    number, previous, listed = _last(store)
    entries = []
    for identifier in store.ids():
        key = record_key(identifier)
        if key not in listed:
            entries.append(f"{store.load(identifier).sha256}  {key}")
    if not entries:
        raise InputError("nothing to seal: every record stands in a seal already")
    head = [f"# perfcite seal {number:08d} {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"]
    head.append(f"# previous {previous or 'none'}")
    content = "\n".join([*head, *entries]).encode() + b"\n"
    if not store.keys.create(_key(number), content):
        raise StoreError(f"seal {number:08d} was made by another process just now; try again")
    return Seal(number, hashlib.sha256(content).hexdigest(), len(entries))


def seal_problems(store: Store, line: str) -> list[str]:
    """Check the store against a seal's line: the manifest, the chain before it, every record in it.

    Raises:
        InputError: the line is none.
    """
    match = _LINE.search(line)
    if match is None:
        raise InputError(
            "--seal: not a line that perfcite seal printed: perfcite-seal NUMBER SHA256"
        )
    problems: list[str] = []
    listed: set[str] = set()
    sealed_at = ""
    number, wanted = int(match[1]), match[2]
    while True:
        content = store.keys.read(_key(number))
        if content is None:
            return [*problems, f"seal {number:08d}: missing"]
        if hashlib.sha256(content).hexdigest() != wanted:
            return [*problems, f"seal {number:08d}: altered"]
        text = content.decode()
        sealed_at = sealed_at or _date(text)
        for sha256, key in _ENTRY.findall(text):
            listed.add(key)
            kept = store.keys.read(key)
            name = key.rpartition("/")[2].removesuffix(".json")
            if kept is None:
                problems.append(f"{name}: missing, sealed in {number:08d}")
            elif hashlib.sha256(kept).hexdigest() != sha256:
                problems.append(f"{name}: altered since it was sealed in {number:08d}")
        previous = _PREVIOUS.search(text)
        if number == 0 or previous is None or previous[1] == "none":
            return problems + _backdated(store, listed, sealed_at)
        number, wanted = number - 1, previous[1]


def _date(text: str) -> str:
    found = re.search(r"# perfcite seal \d{8} (\S+)", text)
    return found[1] if found else ""


def _backdated(store: Store, listed: set[str], sealed_at: str) -> list[str]:
    """Name records that claim to be older than the seal and do not stand in it."""
    found = []
    for identifier in store.ids():
        if record_key(identifier) not in listed:
            made = str(store.load(identifier).record.created_at)
            if made[:19] < sealed_at[:19]:
                found.append(
                    f"{identifier}: says it was made at {made}, before the seal that lacks it"
                )
    return found


def _key(number: int) -> str:
    return f"seals/{number:08d}.sha256"


def _last(store: Store) -> tuple[int, str | None, set[str]]:
    """The next number, the hash of the last manifest, and every key that is sealed."""
    names = store.keys.folder("seals")
    listed: set[str] = set()
    previous = None
    for name in names:
        content = store.keys.read(f"seals/{name}") or b""
        listed |= {key for _, key in _ENTRY.findall(content.decode("utf-8", "replace"))}
        previous = hashlib.sha256(content).hexdigest()
    return len(names), previous, listed
