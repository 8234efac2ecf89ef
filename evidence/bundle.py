"""export and import: records and artifacts as one tar file, ids unchanged and verified on the way in."""

import io
import re
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .artifacts import sha256_of
from .errors import InputError
from .layout import blob_key, marker_key, record_key
from .store import RECORD_LIMIT, Store
from .verifying import bytes_problem

_RECORD = re.compile(r"records/([a-z2-7]{2})/(ev_[a-z2-7]{16})\.json")
_BLOB = re.compile(r"blobs/([0-9a-f]{2})/([0-9a-f]{64})")


@dataclass(frozen=True)
class Moved:
    """How much was moved, and which sensitive or missing artifacts stayed behind."""

    records: int
    artifacts: int
    left_out: tuple[str, ...] = ()


def lineage(store: Store, identifiers: Iterable[str]) -> list[str]:
    """Give the records and all that they were derived from, each once, inputs first."""
    ordered: dict[str, None] = {}

    def visit(identifier: str) -> None:
        if identifier in ordered:
            return
        for item in store.load(identifier).record.inputs:
            if item.evidence_id is not None and item.evidence_id not in ordered:
                visit(item.evidence_id)
        ordered[identifier] = None

    for identifier in identifiers:
        visit(identifier)
    return list(ordered)


def export(
    store: Store, identifiers: Iterable[str], target: Path, *, with_artifacts: bool = True
) -> Moved:
    """Write records to a tar file (gzip by its name); nothing is left where it cannot be finished.

    Artifacts marked sensitive stay behind.

    Raises:
        InputError: a record does not verify, or the file exists or cannot be written.
    """
    mode = "w:gz" if target.name.endswith((".gz", ".tgz")) else "w:"
    blobs: dict[str, str] = {}
    left: list[str] = []
    count = 0
    partial = target.with_name(target.name + ".part")
    if target.exists():
        raise InputError(f"{target} is there already; name another file")
    try:
        with tarfile.open(partial, mode) as tar:  # type: ignore[call-overload]
            for identifier in identifiers:
                stored = store.load(identifier)
                _add(tar, record_key(identifier), len(stored.content), io.BytesIO(stored.content))
                count += 1
                for artifact in stored.record.artifacts:
                    if artifact.sensitive or not with_artifacts:
                        left.append(f"{identifier} {artifact.name}")
                    else:
                        blobs[artifact.sha256] = f"{identifier} {artifact.name}"
            for sha256, name in blobs.items():
                key = blob_key(sha256)
                stream, size = store.keys.open(key), store.keys.size(key)
                if stream is None or size is None:
                    left.append(name)
                    continue
                with stream:
                    _add(tar, key, size, stream)
        partial.replace(target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        partial.unlink(missing_ok=True)
    return Moved(count, len(blobs), tuple(left))


def import_into(store: Store, source: Path) -> Moved:
    """Take records and artifacts from an export; what is there already stays.

    Everything is verified before anything is kept.

    Raises:
        InputError: no such file, no export, or a member that does not verify.
    """
    records, blobs = 0, 0
    with tempfile.TemporaryDirectory(prefix="perfcite-") as folder:
        members = list(_checked(source, Path(folder)))
        # Artifacts first: a record is complete when it appears.
        for key, path in sorted(members, key=lambda m: m[0].startswith("records/")):
            if key.startswith("blobs/"):
                blobs += store.keys.create(key, path)
            else:
                records += store.keys.create(key, path)
                stored = store.load(key.rpartition("/")[2].removesuffix(".json"))
                store.keys.create(marker_key(stored.evidence_id, stored.record), b"")
    return Moved(records, blobs)


def _checked(source: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    try:
        with tarfile.open(source, "r:*") as tar:
            for number, member in enumerate(tar):
                stream = tar.extractfile(member) if member.isfile() else None
                if stream is None:
                    raise InputError(f"{source}: {member.name[:80]!r} is no file of an export")
                path = folder / str(number)
                with stream, path.open("wb") as file:
                    while chunk := stream.read(1024 * 1024):
                        file.write(chunk)
                _verify(source, member.name, path)
                yield member.name, path
    except FileNotFoundError:
        raise InputError(f"{source}: no such file") from None
    except (tarfile.TarError, EOFError, OSError) as error:
        raise InputError(f"{source} is no perfcite export: {error}") from None


def _verify(source: Path, name: str, path: Path) -> None:
    record, blob = _RECORD.fullmatch(name), _BLOB.fullmatch(name)
    if record and record[2][3:5] == record[1] and path.stat().st_size <= RECORD_LIMIT:
        problem = bytes_problem(record[2], path.read_bytes())
        if problem:
            raise InputError(f"{source}: {record[2]} is {problem}; nothing was imported")
    elif blob and blob[2].startswith(blob[1]):
        with path.open("rb") as file:
            if sha256_of(file) != blob[2]:
                raise InputError(
                    f"{source}: artifact {blob[2][:12]} is altered; nothing was imported"
                )
    else:
        raise InputError(f"{source}: {name[:80]!r} is nothing that an export holds")


def _add(tar: tarfile.TarFile, key: str, size: int, stream: BinaryIO) -> None:
    info = tarfile.TarInfo(key)
    info.size = size
    info.mode = 0o444
    tar.addfile(info, stream)
