"""One source being read: its lines in order, and any sequence again by position."""

import io
from collections import deque
from collections.abc import Callable
from typing import BinaryIO

import orjson

from ...evidence.errors import InputError
from ...evidence.records import Input
from .generated import Generated
from .lines import LINE_LIMIT, Lines, line_at, spooled
from .recorded import read_document, read_line
from .settings import NO_SETTINGS, merged
from .sources import Source

Tick = Callable[[int], None]
# A position is offset << _SUB_BITS | index among the sequences of that line.
_SUB_BITS = 12


class Feed:
    """One source being read: raw lines in order, each read into sequences only when asked.

    `pending` holds sequences that were read and not yet taken; `settings` is what was recorded once
    for the whole source.
    """

    def __init__(self, source: Source, tick: Tick) -> None:
        """Open `source`.

        Raises:
            InputError: it cannot be opened, or starts as no recording does.
        """
        self.source = source
        self.pending: deque[Generated] = deque()
        self.settings = source.settings
        self._document: list[Generated] | None = None
        self._text: BinaryIO | None = None
        self._raw = source.open()
        try:
            self._lines = Lines(self._raw or io.BytesIO(), source.label, tick)
            self._first: bytes | None = None
            if self._raw is None:
                self._hold(source.held())
            else:
                self._open_document()
        except BaseException:
            self.close()  # nobody else has it yet
            raise

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
        return self.settings is NO_SETTINGS

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
            if self.settings is not NO_SETTINGS:
                sequence.bare = False
                sequence.settings = merged(self.settings, sequence.settings)
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
