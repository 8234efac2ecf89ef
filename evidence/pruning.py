"""prune: remove artifacts by age or total size, never records, and leave a tombstone for each."""

import time
from collections.abc import Iterable

from .keys import walk
from .layout import blob_key, tombstone_key
from .store import Store


def prune(
    store: Store, *, older_than_s: float | None = None, keep_bytes: int | None = None
) -> tuple[int, int]:
    """Remove artifacts older than `older_than_s` seconds, then the oldest until `keep_bytes` remain.

    Gives how many artifacts and bytes were removed. A tombstone is written before each removal, so that
    a missing artifact is never taken for a lost one.
    """
    found = sorted(_artifacts(store))
    doomed = [a for a in found if older_than_s is not None and time.time() - a[0] > older_than_s]
    left = found[len(doomed) :]
    total = sum(size for _, size, _ in left)
    for artifact in left:
        if keep_bytes is None or total <= keep_bytes:
            break
        doomed.append(artifact)
        total -= artifact[1]
    for _, _, sha256 in doomed:
        store.keys.create(tombstone_key(sha256), b"")
        store.keys.remove(blob_key(sha256))
    return len(doomed), sum(size for _, size, _ in doomed)


def _artifacts(store: Store) -> Iterable[tuple[float, int, str]]:
    for key in walk(store.keys, "blobs"):
        at, size = store.keys.modified(key), store.keys.size(key)
        if at is not None and size is not None:
            yield at, size, key.rpartition("/")[2]
