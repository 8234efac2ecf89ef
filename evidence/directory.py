"""A store's keys as files of a folder: create if absent, read, list. Standard library only.

Each write: temporary file, fsync, link(), fsync of the directory. link() creates or fails as a whole,
also on a network file system and between processes, so there is no lock, append or overwrite.
"""

import contextlib
import errno
import os
import secrets
import shutil
import time
from pathlib import Path
from typing import BinaryIO

from .errors import StoreError

_STALE_S = 86_400  # a temporary file this old belongs to a process that died


class Directory:
    """Keys are relative paths with `/`. Opening creates nothing; the first write makes the folders."""

    def __init__(self, root: Path) -> None:
        """Take the folder as it is, there or not."""
        self.root = root
        self._base = str(root)
        self._prepared = False

    def __str__(self) -> str:
        """Name the folder, for messages."""
        return str(self.root)

    def create(self, key: str, content: bytes | Path) -> bool:
        """Write `content` under `key`, durable on return; False, and nothing changed, if it exists.

        Raises:
            StoreError: the disk is full, the folder cannot be written, …; nothing half-written stays.
        """
        target = self.root / key
        try:
            self._prepare()
            _make_folder(target.parent, self.root)
            return _publish(content, self.root / "tmp" / secrets.token_hex(12), target)
        except OSError as error:
            raise StoreError(self._explain(error)) from error

    def read(self, key: str) -> bytes | None:
        """Give the bytes under `key`; None where there is no such key.

        Raises:
            StoreError: it is there and cannot be read.
        """
        try:
            # pathlib would cost as much again as the reading
            with open(f"{self._base}/{key}", "rb", buffering=0) as file:
                return file.readall()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(
                f"cannot read {key} in the store {self.root}: {error.strerror}"
            ) from error

    def folder(self, key: str) -> list[str]:
        """List the names directly under `key`, ascending; empty where there is none."""
        try:
            return sorted(os.listdir(f"{self._base}/{key}"))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StoreError(
                f"cannot list {key} in the store {self.root}: {error.strerror}"
            ) from error

    def open(self, key: str) -> BinaryIO | None:
        """Give a stream of the bytes under `key`; None where there is no such key."""
        try:
            return (self.root / key).open("rb")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(
                f"cannot read {key} in the store {self.root}: {error.strerror}"
            ) from error

    def size(self, key: str) -> int | None:
        """Give the size in bytes of what lies under `key`; None where there is no such key."""
        try:
            return (self.root / key).stat().st_size
        except OSError:
            return None

    def modified(self, key: str) -> float | None:
        """When the file was written, in seconds since 1970."""
        try:
            return (self.root / key).stat().st_mtime
        except OSError:
            return None

    def remove(self, key: str) -> None:
        """Remove a file."""
        try:
            (self.root / key).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(self._explain(error)) from error

    def path(self, key: str) -> Path | None:
        """The file itself."""
        path = self.root / key
        return path if path.is_file() else None

    def scratch(self) -> Path | None:
        """Give the folder for temporary work, or None where the store cannot be written."""
        probe = self.root if self.root.exists() else self.root.parent
        return self.root / "scratch" if os.access(probe, os.W_OK | os.X_OK) else None

    def _prepare(self) -> None:
        if self._prepared and (self.root / "tmp").is_dir():
            return
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self.root / "tmp"
        _make_folder(temporary, self.root)
        for left in temporary.iterdir():
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > _STALE_S:
                    left.unlink()
        self._prepared = True

    def _explain(self, error: OSError) -> str:
        where = f"the store {self.root}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return f"{where} is on a full disk; nothing was kept. Free space or set PERFCITE_STORE"
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return f"{where} cannot be written ({error.strerror}); set PERFCITE_STORE to a folder you own"
        if error.errno in (errno.ENOTDIR, errno.EEXIST):
            return f"{where} is not a folder; set PERFCITE_STORE to one"
        if error.errno in (errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV):
            return (
                f"{where} lies on a file system without hard links ({error.strerror}); use another"
            )
        return f"{where} failed: {error.strerror or error}; nothing was kept"


def _publish(content: bytes | Path, temporary: Path, target: Path) -> bool:
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
    try:
        with os.fdopen(handle, "wb") as file:
            if isinstance(content, Path):
                with content.open("rb") as source:
                    shutil.copyfileobj(source, file, 1024 * 1024)
            else:
                file.write(content)
            file.flush()
            os.fsync(handle)
        try:
            os.link(temporary, target)
        except FileExistsError:
            # Over NFS a lost reply can report our own link as existing: then it has two names.
            if os.stat(temporary).st_nlink != 2:
                return False
        _sync_folder(target.parent)
        return True
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _make_folder(path: Path, root: Path) -> None:
    if path.is_dir():
        return
    if path != root and path.parent != path:
        _make_folder(path.parent, root)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
        _sync_folder(path.parent)


def _sync_folder(path: Path) -> None:
    if os.name != "posix":  # Windows cannot open a folder; its rename is journalled
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
