"""What stands behind a store's records beyond their ids."""

from collections.abc import Sequence

from ..layout import record_key
from ..store import Store

SAME_USER = "same user: an id pins the record's bytes, not that its numbers were measured"
_SEALS = 64  # manifests read, the newest first


def assurance_of(store: Store, identifiers: Sequence[str]) -> str:
    """Say `sealed` where every cited record stands in a seal, else `same user`.

    A seal only counts with its line kept outside the store: the text says so.
    """
    left = {record_key(i).encode() for i in identifiers}
    names = store.keys.folder("seals") if left else []
    for name in list(reversed(names))[:_SEALS]:
        content = store.keys.read(f"seals/{name}") or b""
        left = {key for key in left if key not in content}
        if not left:
            return "sealed: check the seal's line, kept elsewhere, with perfcite verify --seal"
    return SAME_USER
