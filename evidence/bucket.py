"""A store's keys as objects of a bucket, through obstore (the extra `s3`): S3, GCS, Azure.

Conditional create is what makes a record immutable, so a bucket that ignores it is refused when opened.
"""

import io
import os
from pathlib import Path
from typing import Any, BinaryIO

from .errors import StoreError
from .records import one_line

SCHEMES = ("s3", "s3a", "gs", "az", "abfs", "abfss")
_PROBE = "probe"


class Bucket:
    """Keys under a bucket's prefix: `s3://bucket/prefix`. Credentials come from the environment."""

    def __init__(self, url: str) -> None:
        """Connect and make sure that the bucket honours conditional create.

        Raises:
            StoreError: obstore is not installed, the bucket cannot be reached, or it would overwrite.
        """
        try:
            import obstore
            from obstore import exceptions, store
        except ImportError:
            raise StoreError(f"the store {url} needs obstore: pip install 'perfcite[s3]'") from None
        self._url = url
        self._obstore: Any = obstore
        self._exists: Any = exceptions.AlreadyExistsError
        self._absent: Any = (exceptions.NotFoundError, FileNotFoundError)
        self._denied: Any = (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError)
        self._failures: Any = (exceptions.BaseError, OSError, ValueError)
        try:
            # A store that does not answer must not hang a tool call for minutes.
            self._store: Any = store.from_url(
                url,
                client_options={
                    "timeout": "30s",
                    "connect_timeout": "5s",
                    "allow_http": os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"),
                },
                retry_config={"max_retries": 3},
            )
        except self._failures as error:
            raise self._failed("opened", error) from None
        self._refuse_overwriting()

    def __str__(self) -> str:
        """Name the bucket, for messages."""
        return self._url

    def create(self, key: str, content: bytes | Path) -> bool:
        """Put an object unless it exists; the service acknowledges it when it is durable."""
        try:
            self._obstore.put(self._store, key, content, mode="create")
        except self._exists:
            return False
        except self._failures as error:
            raise self._failed("written", error) from None
        return True

    def read(self, key: str) -> bytes | None:
        """Get an object's bytes."""
        try:
            return bytes(self._obstore.get(self._store, key).bytes())
        except self._absent:
            return None
        except self._failures as error:
            raise self._failed("read", error) from None

    def open(self, key: str) -> BinaryIO | None:
        """Give a stream of an object."""
        try:
            return io.BufferedReader(_Raw(self._obstore.open_reader(self._store, key)))
        except self._absent:
            return None
        except self._failures as error:
            raise self._failed("read", error) from None

    def folder(self, key: str) -> list[str]:
        """List names with a delimiter."""
        try:
            found = self._obstore.list_with_delimiter(self._store, prefix=key)
        except self._absent:
            return []
        except self._failures as error:
            raise self._failed("listed", error) from None
        names = [str(o["path"]) for o in found["objects"]] + [*found["common_prefixes"]]
        return sorted(name.rstrip("/").rpartition("/")[2] for name in names)

    def size(self, key: str) -> int | None:
        """Ask for an object's size."""
        head = self._head(key)
        return int(head["size"]) if head else None

    def modified(self, key: str) -> float | None:
        """Ask when an object was written."""
        head = self._head(key)
        return float(head["last_modified"].timestamp()) if head else None

    def remove(self, key: str) -> None:
        """Delete an object."""
        try:
            self._obstore.delete(self._store, key)
        except self._absent:
            return
        except self._failures as error:
            raise self._failed("changed", error) from None

    def path(self, key: str) -> Path | None:
        """Nothing here is a local file."""
        return None

    def scratch(self) -> Path | None:
        """Nothing here is a local folder."""
        return None

    def _head(self, key: str) -> Any:
        try:
            return self._obstore.head(self._store, key)
        except self._absent:
            return None
        except self._failures as error:
            raise self._failed("read", error) from None

    def _refuse_overwriting(self) -> None:
        try:
            first = self._put_probe()
            second = self._put_probe() if first else False
        except self._denied:
            return  # reading a bucket that may not be written is fine
        except self._failures as error:
            raise self._failed("opened", error) from None
        if second:
            raise StoreError(
                f"the store {self._url} ignores conditional create, so records could be overwritten; "
                "use a service that honours If-None-Match"
            )

    def _put_probe(self) -> bool:
        try:
            self._obstore.put(self._store, _PROBE, b"", mode="create")
        except self._exists:
            return False
        return True

    def _failed(self, what: str, error: BaseException) -> StoreError:
        return StoreError(f"the store {self._url} cannot be {what}: {one_line(str(error), 160)}")


class _Raw(io.RawIOBase):
    """obstore's reader as a raw stream."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = bytes(self._reader.read(len(buffer)))
        buffer[: len(chunk)] = chunk
        return len(chunk)
