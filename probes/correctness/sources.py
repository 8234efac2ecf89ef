"""Where recordings come from: a file of the user's, or a generation record kept as evidence.

A source is opened as a `Feed` (feed.py) to be read.
"""

import io
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from ...evidence.errors import InputError, NotFound
from ...evidence.records import Input
from .generated import Generated, as_tokens
from .settings import NO_SETTINGS, Settings, read_settings


class Source(ABC):
    """A recording that can be read several times. `label` names it in messages."""

    label: str

    @property
    @abstractmethod
    def size(self) -> int:
        """Bytes to read, for progress."""

    @abstractmethod
    def open(self) -> BinaryIO | None:
        """Give the recording's bytes at their start; None where it is held in memory."""

    @abstractmethod
    def as_input(self, sha256: str, size: int) -> Input:
        """Say what was read, given the hash and size of the bytes that were read."""

    @property
    def settings(self) -> Settings:
        """Give what is recorded once for the whole source."""
        return NO_SETTINGS

    def held(self) -> list[Generated]:
        """Give the sequences of a source that has no bytes of its own."""
        return []

    def same_as(self, other: "Source") -> bool:
        """Tell whether both are the same file or the same evidence."""
        return False

    def unchanged(self) -> None:  # noqa: B027 - evidence never changes
        """Raise InputError where the source is no longer what was read."""


class FileSource(Source):
    """A recording in a file: JSON Lines or saved server answers, plain, gzip or zstd."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Look at nothing yet; `path` is kept as given."""
        self.path = os.fspath(path)
        self._stamp: tuple[int, int, int] | None = None
        self.label = self.path if len(self.path) <= 100 else "…/" + Path(self.path).name

    @property
    def size(self) -> int:
        """The file's size on disk; 0 where it cannot be read (opening it says why)."""
        try:
            return os.stat(self.path).st_size
        except (OSError, ValueError):
            return 0

    def open(self) -> BinaryIO:
        """Open the file.

        Raises:
            InputError: not there, a directory, not a regular file, unreadable.
        """
        try:
            status = os.stat(self.path)
            if stat.S_ISDIR(status.st_mode):
                raise InputError(f"{self.label} is a directory; give a JSON Lines file")
            if not stat.S_ISREG(status.st_mode):
                raise InputError(
                    f"{self.label} is not a regular file (it is read more than once);"
                    " save it to a file first"
                )
            self._pin(status)
            return open(self.path, "rb", buffering=0)
        except FileNotFoundError:
            raise NotFound(f"{self.label}: no such file") from None
        except PermissionError:
            raise InputError(f"{self.label}: no permission to read it") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"{self.label} cannot be read: {reason}") from None

    def same_as(self, other: Source) -> bool:
        """Tell whether both name one file."""
        try:
            return isinstance(other, FileSource) and os.path.samefile(self.path, other.path)
        except (OSError, ValueError):
            return False

    def unchanged(self) -> None:
        """Raise InputError where the file was written to since it was first opened."""
        try:
            self._pin(os.stat(self.path))
        except OSError:
            raise InputError(f"{self.label} was removed while it was read") from None

    def _pin(self, status: os.stat_result) -> None:
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self._stamp not in (None, stamp):
            raise InputError(f"{self.label} changed while it was read; wait for its writer to end")
        self._stamp = stamp

    def as_input(self, sha256: str, size: int) -> Input:
        """Name the path as it was given."""
        return Input(path=self.path, sha256=sha256, bytes=size)


class RecordSource(Source):
    """A generation record: its `data`, and its artifact generation.jsonl where it has one.

    The caller has verified the record. `sha256` is that of the record's stored bytes; `data` is
    its data (tokens, ids, engine, sampling, prompts_sha256); a flat list of tokens is one sequence.
    """

    def __init__(
        self,
        evidence_id: str,
        sha256: str,
        data: Mapping[str, Any],
        artifact: str | os.PathLike[str] | bytes | None = None,
    ) -> None:
        """Keep what is given; the artifact holds the log-probabilities, `data` only the tokens."""
        self.evidence_id = evidence_id
        self.sha256 = sha256
        self.label = evidence_id
        self._data = data
        self._artifact = artifact

    @property
    def size(self) -> int:
        """The artifact's size."""
        if isinstance(self._artifact, bytes):
            return len(self._artifact)
        return FileSource(self._artifact).size if self._artifact is not None else 0

    def open(self) -> BinaryIO | None:
        """Open the artifact, if there is one."""
        if self._artifact is None or isinstance(self._artifact, bytes):
            return io.BytesIO(self._artifact) if self._artifact is not None else None
        return FileSource(self._artifact).open()

    def as_input(self, sha256: str, size: int) -> Input:
        """Name the record, whose hash pins the artifact's."""
        return Input(evidence_id=self.evidence_id, sha256=self.sha256)

    def same_as(self, other: Source) -> bool:
        """Tell whether both name one record."""
        return isinstance(other, RecordSource) and self.evidence_id == other.evidence_id

    @property
    def settings(self) -> Settings:
        """Read what the record says of engine and sampling."""
        parts = [p for k in ("sampling", "engine") if isinstance(p := self._data.get(k), dict)]
        return read_settings(*parts, self._data)

    def held(self) -> list[Generated]:
        """Read the sequences that the record itself holds.

        Raises:
            InputError: `data.tokens` is not a list of lists of ids, nor one list of ids.
        """
        tokens = self._data.get("tokens")
        if not isinstance(tokens, list | tuple):
            raise InputError(f"{self.label} holds no data.tokens to compare")
        nested = bool(tokens) and all(isinstance(t, list | tuple) for t in tokens)
        lists = list(tokens) if nested else [tokens] if tokens else []
        ids = self._data.get("ids")
        names = ids if isinstance(ids, list | tuple) and len(ids) == len(lists) else None
        return [
            Generated(
                as_tokens(list(t), f"{self.label} sequence {k + 1}"),
                id=str(names[k]) if names else None,
                line=k + 1,
            )
            for k, t in enumerate(lists)
        ]
