"""Where recordings come from: a file of the user's, or a generation record kept as evidence.

A source is opened as a `Feed`, which gives its lines in order and any sequence again by position.
"""

import io
import os
import stat
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ...evidence.errors import InputError, NotFound
from ...evidence.records import Input
from .generated import Generated, as_tokens
from .lines import LINE_LIMIT, Lines, line_at, spooled
from .recorded import read_document, read_line
from .settings import NO_SETTINGS, Settings, merged, read_settings

Tick = Callable[[int], None]
# A position is offset << _SUB_BITS | index among the sequences of that line.
_SUB_BITS = 12


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


class Feed:
    """One source being read: raw lines in order, each read into sequences only when asked.

    `pending` holds sequences that were read and not yet taken.
    """

    def __init__(self, source: Source, tick: Tick) -> None:
        """Open `source`.

        Raises:
            InputError: it cannot be opened, or starts as no recording does.
        """
        self.source = source
        self.pending: deque[Generated] = deque()
        self._settings = source.settings
        self._document: list[Generated] | None = None
        self._text: BinaryIO | None = None
        self._raw = source.open()
        self._lines = Lines(self._raw or io.BytesIO(), source.label, tick)
        self._first: bytes | None = None
        if self._raw is None:
            self._hold(source.held())
        else:
            self._open_document()

    def close(self) -> None:
        """Close the files."""
        for file in (self._raw, self._text):
            if file is not None:
                file.close()

    def raw(self) -> bytes | None:
        """Give the next line as it stands; None at the end."""
        if self._first is not None:
            line, self._first = self._first, None
            return line
        return self._lines.next()

    @property
    def only_lines(self) -> bool:
        """Whether nothing is recorded beside the lines, for the whole source."""
        return self._settings is NO_SETTINGS

    @property
    def number(self) -> int:
        """The number of the line that `raw` gave last."""
        return self._lines.number

    def ahead(self) -> list[bytes]:
        """Give the following lines, as far as they are in memory, with white space around them."""
        return [] if self._first is not None else self._lines.ahead()

    def skip(self, count: int) -> None:
        """Go past `count` of the lines that `ahead` gave."""
        self._lines.skip(count)

    def read(
        self, line: bytes, number: int | None = None, like: Generated | None = None
    ) -> list[Generated]:
        """Read a line: the one that `raw` gave last, or that of a number.

        `like` is the other side's sequence, which often starts the same.
        """
        number = self._lines.number if number is None else number
        return self._finished(read_line(line, f"{self.source.label} line {number}", like), number)

    def take(self, line: bytes | None, beside: deque[Generated] | None = None) -> None:
        """Read a line that `raw` gave into `pending`; `beside` is the other side's pending."""
        if line is not None:
            like = beside[0] if beside is not None and len(beside) == 1 else None
            self.pending.extend(self.read(line, like=like))

    def position(self, index: int) -> int:
        """Say where sequence `index` of the line given last can be found again."""
        return self._lines.offset << _SUB_BITS | index

    def fetch(self, position: int, number: int) -> Generated:
        """Give the sequence at a position; `number` is its line's."""
        if self._document is not None:
            return self._document[position]
        if self._text is None:
            raw = self.source.open()
            assert raw is not None, "a source without bytes is held"
            self._text = spooled(raw, self.source.label)
        line = line_at(self._text, position >> _SUB_BITS)
        sequences = read_line(line, f"{self.source.label} line {number}")
        return self._finished(sequences, number)[position % (1 << _SUB_BITS)]

    @property
    def is_document(self) -> bool:
        """Whether every sequence is held in memory; a position is then its index."""
        return self._document is not None

    def as_input(self) -> Input:
        """Say what was read; valid once the end was reached."""
        return self.source.as_input(self._lines.sha256, self._lines.size)

    @property
    def sha256(self) -> str | None:
        """The hash of the bytes that were read; None where there are none."""
        return self._lines.sha256 if self._raw is not None else None

    def _finished(self, sequences: list[Generated], number: int) -> list[Generated]:
        if len(sequences) >= 1 << _SUB_BITS and number:
            raise InputError(f"{self.source.label}: over {1 << _SUB_BITS} sequences in one line")
        for sequence in sequences:
            sequence.line = number or sequence.line
            if self._settings is not NO_SETTINGS:
                sequence.bare = False
                sequence.settings = merged(self._settings, sequence.settings)
        return sequences

    def _hold(self, sequences: list[Generated]) -> None:
        self._finished(sequences, 0)
        self._document = sequences
        self.pending.extend(sequences)

    def _open_document(self) -> None:
        """Read a file that is one JSON document over several lines, as pretty-printed answers are."""
        first = self._lines.next()
        if first is None or first[:1] not in (b"{", b"[") or first[-1:] in (b"}", b"]"):
            self._first = first
            return
        parts, size = [first], len(first)
        try:
            while (line := self._lines.next()) is not None:
                parts.append(line)
                size += len(line)
                if size > LINE_LIMIT:
                    break
            text = b"\n".join(parts)
            value = orjson.loads(text)
        except (InputError, orjson.JSONDecodeError):
            read_line(first, f"{self.source.label} line 1")  # says what is wrong with the line
            raise
        sequences = read_document(text, value, self.source.label)
        for index, sequence in enumerate(sequences):
            sequence.line = index + 1
        self._hold(sequences)
