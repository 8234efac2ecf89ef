"""Lines of a recording: decompressed, bounded, hashed on the way, cut at nothing but a line feed.

`str.splitlines` would also cut at U+2028 inside a text, and skipping a blank line would shift every
pair after it, so both are avoided here. gzip and zstd are known by their first bytes, never by the
file's name.
"""

import gzip
import hashlib
import io
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import IO, Any, BinaryIO, cast

from ...evidence.errors import InputError

CHUNK = 1 << 18
LINE_LIMIT = 64 << 20  # one line: 32,000 tokens with top-5 tables are about 5 MB
SIZE_LIMIT = 1 << 38  # decompressed: 256 GiB

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
BOM = b"\xef\xbb\xbf"
_FOREIGN = {
    b"BZh": "bzip2-compressed",
    b"\xfd7zXZ": "xz-compressed",
    b"PK\x03\x04": "a zip archive",
    b"PAR1": "a Parquet file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
BLANK = b" \t\r"


class _Hashing(io.RawIOBase):
    """The bytes of a file as they are on disk, hashed and counted in the order they are read."""

    def __init__(self, raw: BinaryIO, label: str, tick: Callable[[int], None]) -> None:
        self._raw = raw
        self._label = label
        self._tick = tick
        # A file that grows while it is read would otherwise never end.
        self._left = raw.seek(0, io.SEEK_END)
        raw.seek(0)
        self.digest = hashlib.sha256()
        self.size = 0
        # Whoever writes faster than we read must not keep us for ever: no further than it was.
        self._end = os.fstat(raw.fileno()).st_size if isinstance(raw, io.FileIO) else None

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._end is not None:
            left = self._end - self.size
            size = left if size < 0 else min(size, left)
        try:
            data = self._raw.read(self._left if size < 0 else min(size, self._left))
        except OSError as error:
            raise InputError(f"{self._label} cannot be read: {error.strerror or error}") from None
        self._left -= len(data)
        self.digest.update(data)
        self.size += len(data)
        self._tick(len(data))
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class Lines:
    """The lines of one file, given once and in order. Blank lines may only stand at its end.

    `number` (from 1) and `offset` (bytes into the decompressed text) belong to the line given last;
    `sha256` and `size` are those of the whole file as it lies on disk, once the end was reached.
    """

    def __init__(self, raw: BinaryIO, label: str, tick: Callable[[int], None]) -> None:
        """Read from `raw`, a binary file at its start; `label` names it in messages."""
        self.label = label
        self.number = 0
        self.offset = 0
        self._raw = raw
        self._hashing = _Hashing(raw, label, tick)
        self._blocks = self._cut()
        self._block: list[bytes] = []
        self._at = 0
        self._end = 0
        self._blank = 0

    @property
    def sha256(self) -> str:
        """SHA-256 of what was read, in hexadecimal."""
        return self._hashing.digest.hexdigest()

    @property
    def size(self) -> int:
        """Bytes that were read from disk."""
        return self._hashing.size

    def next(self) -> bytes | None:
        """Give the next line without white space around it; None at the end.

        Raises:
            InputError: a blank line inside, a line or file over its bound, a damaged or foreign file.
        """
        while True:
            while self._at >= len(self._block):
                block = next(self._blocks, None)
                if block is None:
                    return None
                self._block, self._at = block, 0
            line = self._block[self._at]
            self.skip(1)
            line = line.strip(BLANK)
            if self.number == 1:
                line = line.removeprefix(BOM).strip(BLANK)
            if not line:
                self._blank = self._blank or self.number
                continue
            if self._blank:
                raise InputError(
                    f"{self.label} line {self._blank}: a blank line inside the file may be a lost"
                    " generation and shifts the pairing; write [] for an empty one"
                )
            return line

    def ahead(self) -> list[bytes]:
        """Give the lines after the last one that are in memory already, white space included."""
        return self._block[self._at :]

    def skip(self, count: int) -> None:
        """Go past `count` of the lines that `ahead` gives."""
        skipped = self._block[self._at : self._at + count]
        self._at += count
        self.number += count
        self.offset = self._end
        self._end += sum(map(len, skipped)) + count

    def _cut(self) -> Iterator[list[bytes]]:
        """Cut the decompressed text at line feeds, a block of lines at a time."""
        held: list[bytes] = []
        held_size = 0
        for chunk in self._chunks():
            lines = chunk.split(b"\n")
            if len(lines) > 1 and held:
                held.append(lines[0])
                lines[0] = b"".join(held)
                held, held_size = [], 0
            held.append(lines.pop())
            held_size += len(held[-1])
            yield lines
            if held_size > LINE_LIMIT:
                raise InputError(
                    f"{self.label} line {self.number + 1}: longer than the bound of"
                    f" {LINE_LIMIT >> 20} MiB a line; write one sequence a line"
                )
        if held_size:
            yield [b"".join(held)]

    def _chunks(self) -> Iterator[bytes]:
        total = 0
        text = decompressed(self._hashing, self._raw, self.label)
        try:
            while chunk := text.read(CHUNK):
                if not total:
                    _refuse_foreign(chunk, self.label)
                total += len(chunk)
                if total > SIZE_LIMIT:
                    raise InputError(f"{self.label} is over the bound of {SIZE_LIMIT >> 30} GiB")
                yield chunk
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            reason = str(error) or "the compressed data end early"
            raise InputError(f"{self.label} is damaged: {reason}") from None
        except Exception as error:
            # zstd bindings each have an error class of their own, known by its name alone.
            if type(error).__name__ != "ZstdError":
                raise
            raise InputError(f"{self.label} is damaged: {error}") from None
        while self._hashing.read(CHUNK):  # what a decompressor left unread belongs to the hash
            pass


def decompressed(reader: io.RawIOBase, raw: BinaryIO, label: str) -> IO[bytes]:
    """Give the text behind `reader`, which reads `raw`: plain, gzip or zstd by its first bytes."""
    magic = raw.read(len(ZSTD))
    raw.seek(0)
    if magic.startswith(GZIP):
        return cast(IO[bytes], gzip.GzipFile(fileobj=io.BufferedReader(reader, CHUNK), mode="rb"))
    if magic.startswith(ZSTD):
        return _zstd(io.BufferedReader(reader, CHUNK), label)
    return cast(IO[bytes], reader)


def spooled(raw: BinaryIO, label: str) -> BinaryIO:
    """Give the decompressed text as a file that can be read at any offset.

    A plain file is used as it is; a compressed one is written out to a temporary file.
    """
    reader = cast(io.RawIOBase, raw)
    text = decompressed(reader, raw, label)
    if cast(object, text) is reader:
        return cast(BinaryIO, raw if isinstance(raw, io.BytesIO) else io.BufferedReader(reader))
    copy = tempfile.TemporaryFile(prefix="perfcite-")  # noqa: SIM115 - the caller closes it
    with raw:
        while chunk := text.read(CHUNK):
            copy.write(chunk)
    raw.close()
    return cast(BinaryIO, copy)


def line_at(text: BinaryIO, offset: int) -> bytes:
    """Read the line that starts at `offset` of a decompressed text."""
    text.seek(offset)
    line = text.readline(LINE_LIMIT + 1)
    return line.strip(b"\n" + BLANK).removeprefix(BOM).strip(BLANK)


def _zstd(raw: Any, label: str) -> IO[bytes]:
    try:
        return cast(IO[bytes], import_module("compression.zstd").ZstdFile(raw))
    except ImportError:
        pass
    try:
        decompressor = import_module("zstandard").ZstdDecompressor()
    except ImportError:
        raise InputError(
            f"{label} is zstd-compressed, and this Python cannot read that: unpack it with"
            " zstd -d, or install the zstandard package"
        ) from None
    return cast(IO[bytes], _ZstdFrames(raw, decompressor))


class _ZstdFrames:
    """Frames of zstd one after another. zstandard's own reader takes a cut file for a whole one."""

    # A block of four bytes can stand for 128 KiB, so more at a time would not be bounded well.
    _PIECE = 1 << 12

    def __init__(self, raw: Any, decompressor: Any) -> None:
        self._raw = raw
        self._decompressor = decompressor
        self._frame: Any = None
        self._rest = b""

    def read(self, size: int) -> bytes:
        """Give the next piece of text, of any size; empty at the end."""
        while True:
            piece = self._rest or self._raw.read(self._PIECE)
            if not piece:
                if self._frame is not None:
                    raise EOFError
                return b""
            if self._frame is None:
                self._frame = self._decompressor.decompressobj()
            text: bytes = self._frame.decompress(piece)
            self._rest = b""
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
            if text:
                return text


def _refuse_foreign(head: bytes, label: str) -> None:
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise InputError(f"{label} is {what}, not JSON Lines in UTF-8 (plain, gzip or zstd)")
    if b"\0" in head:
        raise InputError(f"{label} is a binary file, not JSON Lines of token ids")
