"""What a store stands on: create if absent, read, list; over a folder or a bucket, the same keys."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol


class Keys(Protocol):
    """Keys are relative paths with `/`. Every method raises StoreError where the place fails."""

    def create(self, key: str, content: bytes | Path) -> bool:
        """Write `content`, bytes or a file's, under `key`: atomic, durable on return.

        False, and nothing changed, where the key exists.
        """
        ...

    def read(self, key: str) -> bytes | None:
        """Give the bytes under `key`; None where there is no such key."""
        ...

    def open(self, key: str) -> BinaryIO | None:
        """Give a stream of the bytes under `key`; None where there is no such key."""
        ...

    def folder(self, key: str) -> list[str]:
        """List the names directly under `key`, ascending; empty where there is none."""
        ...

    def modified(self, key: str) -> float | None:
        """When the key was written, in seconds since 1970; None where there is no such key."""
        ...

    def size(self, key: str) -> int | None:
        """Bytes under `key`; None where there is no such key."""
        ...

    def remove(self, key: str) -> None:
        """Remove an artifact; records are never removed."""
        ...

    def path(self, key: str) -> Path | None:
        """The local file under `key`, where there is one to read in parts."""
        ...

    def scratch(self) -> Path | None:
        """A local folder for temporary work, where the store has one that can be written."""
        ...


def walk(keys: Keys, key: str) -> Iterator[str]:
    """Give every key two levels below `key`, ascending: `records/ab/…`, `log/<day>/…`."""
    for shard in keys.folder(key):
        for name in keys.folder(f"{key}/{shard}"):
            yield f"{key}/{shard}/{name}"
