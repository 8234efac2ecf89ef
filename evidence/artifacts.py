"""Artifacts: reports, traces and pictures, described by streaming over them once.

A raw profiler report holds the environment and arguments of what it saw, so its bytes are searched for
the values of secret-named variables; a hit marks the artifact `sensitive` and keeps it out of exports.
"""

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .errors import InputError
from .records import Artifact

ARTIFACT_LIMIT = 8 * 1024**3
_CHUNK = 1024 * 1024


@dataclass(frozen=True)
class Attachment:
    """Something to keep with a record: bytes, or a file that stays as it is until it is kept."""

    name: str
    media_type: str
    content: bytes | Path

    def open(self) -> BinaryIO:
        """Give its bytes from the start."""
        return (
            self.content.open("rb") if isinstance(self.content, Path) else io.BytesIO(self.content)
        )


def describe(attachment: Attachment, secrets: Sequence[str] = ()) -> Artifact:
    """Hash an attachment and search it for secrets, in memory that does not grow with its size.

    Raises:
        InputError: it is over 8 GiB.
    """
    digest, size, sensitive = hashlib.sha256(), 0, False
    wanted = [s.encode() for s in secrets]
    overlap = max((len(s) for s in wanted), default=1) - 1
    tail = b""
    with attachment.open() as stream:
        for chunk in chunks(stream):
            digest.update(chunk)
            size += len(chunk)
            if size > ARTIFACT_LIMIT:
                raise InputError(f"artifact {attachment.name} is over {ARTIFACT_LIMIT} bytes")
            window = tail + chunk
            sensitive = sensitive or any(s in window for s in wanted)
            tail = window[-overlap:] if overlap else b""
    return Artifact(
        name=attachment.name,
        media_type=attachment.media_type,
        bytes=size,
        sha256=digest.hexdigest(),
        sensitive=True if sensitive else None,
    )


def chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Read a stream in parts of a megabyte."""
    while chunk := stream.read(_CHUNK):
        yield chunk


def sha256_of(stream: BinaryIO) -> str:
    """Hash a stream in constant memory."""
    digest = hashlib.sha256()
    for chunk in chunks(stream):
        digest.update(chunk)
    return digest.hexdigest()
