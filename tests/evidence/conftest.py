"""A store on a folder and one on a real S3 endpoint, for one suite of tests."""

import http.server
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from perfcite.evidence.store import Store

_LIMIT_S = 60.0


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """Start moto's S3 server."""
    pytest.importorskip("obstore", reason="the extra s3 is not installed")
    pytest.importorskip("moto", reason="moto is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + _LIMIT_S
        while not _answers(url):
            assert process.poll() is None, "moto ended"
            assert time.monotonic() < deadline, "moto does not answer"
            time.sleep(0.05)
        yield url
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except urllib.error.HTTPError as error:
        error.close()
        return True
    except OSError:
        return False


@pytest.fixture
def s3_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test-secret-value",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def bucket(
    s3_endpoint: str, s3_environment: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> str:
    """Make a bucket and give its store's URL."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_endpoint)
    name = "b" + tmp_path.name.replace("_", "-").lower()[-40:] + str(os.getpid())
    request = urllib.request.Request(f"{s3_endpoint}/{name}", method="PUT")
    with urllib.request.urlopen(request, timeout=10):
        pass
    return f"s3://{name}/evidence"


@pytest.fixture(params=["folder", "bucket"])
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Each kind of store in turn."""
    if request.param == "folder":
        return Store.open(tmp_path / "store")
    return Store.open(str(request.getfixturevalue("bucket")))


class _Forgetful(http.server.BaseHTTPRequestHandler):
    """An object store that takes every PUT, whatever its conditions."""

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("etag", '"1"')
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def forgetful_endpoint() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Forgetful) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()
