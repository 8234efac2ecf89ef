"""The report page: complete, self-contained, and rendered by a real browser without an error."""

import re
import shutil
import struct
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from perfcite.evidence.comparing.compare import compare
from perfcite.evidence.errors import InputError, NotFound
from perfcite.evidence.payloads import GenerationData
from perfcite.evidence.records import Identity, new_record
from perfcite.evidence.store import Store
from perfcite.server.report import page, write_report

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture
def store(shared: Path, tmp_path: Path) -> Store:
    shutil.copytree(shared / "cases/citations/store", tmp_path / "store")
    return Store.open(tmp_path / "store")


def report(store: Store, target: Path, *ids: str) -> str:
    write_report(store, ids, target)
    return target.read_text("utf-8")


class Links(HTMLParser):
    """Collects everything that a browser would fetch, and what is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        for name, value in attrs:
            if name in ("src", "href") and not str(value).startswith("#"):
                self.fetched.append(str(value))


def test_a_page_holds_verdict_metrics_lineage_and_how_to_verify(
    store: Store, tmp_path: Path
) -> None:
    text = report(store, tmp_path / "r.html", "k4tjim", "uhwwnu", "r5bjqo")
    for part in (
        "12.34 ms [ev_k4tjimcqqdbwpbfb]",
        "ev_f5f35fuv7zxgfwko",
        'class="badge pass">PASS',
        "basenc --base32",
        "records/k4/ev_k4tjimcqqdbwpbfb.json",
        'href="#ev_k4tjimcqqdbwpbfb"',
    ):
        assert part in text


def test_a_damaged_record_is_shown_as_damaged(store: Store, tmp_path: Path) -> None:
    text = report(store, tmp_path / "r.html", "a3oxgy")
    assert "does not verify" in text
    assert "tampered" in text


def test_a_page_fetches_nothing_and_runs_nothing(store: Store, tmp_path: Path) -> None:
    links = Links()
    links.feed(report(store, tmp_path / "r.html", "k4tjim", "nh3o3j"))
    assert links.fetched == []
    assert links.scripts == 0
    assert "url(" not in (tmp_path / "r.html").read_text("utf-8")


def test_what_a_record_says_never_becomes_markup(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "other")
    record = new_record(
        kind="generation",
        claim_class="observed",
        tool="t",
        version="0",
        arguments={"x": "<script>alert(1)</script>"},
        summary="<img src=x onerror=alert(1)> & more",
        data=GenerationData(tokens=(), engine={"<b>": "</pre><script>"}),
        identity=Identity(cpu='"><script>'),
        limitations=["<script>"],
    )
    text = page(store, [(store.save(record), None)])
    assert "<script" not in text
    assert "<img" not in text


def test_an_interval_is_drawn_with_its_numbers(store: Store) -> None:
    found = compare(store.load("ev_k4tjim"), store.load("ev_f5f35f"))
    record = new_record(
        kind="comparison",
        claim_class="derived",
        tool="compare_evidence",
        version="0",
        arguments={},
        summary=found.summary,
        data=found.data,
        identity=Identity(),
        verdict=found.verdict,
        reason=found.reason,
        metrics=found.metrics,
        inputs=found.inputs,
    )
    text = page(store, [(store.save(record), None)])
    assert re.search(r"<svg[^>]*aria-label=\"0\.55", text)
    assert "(95%)" in text


def test_a_file_is_not_overwritten_and_an_unknown_id_writes_none(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "r.html").write_text("mine")
    with pytest.raises(InputError, match="there already"):
        write_report(store, ["k4tjim"], tmp_path / "r.html")
    with pytest.raises(NotFound):
        write_report(store, ["zzzzzz"], tmp_path / "other.html")
    assert not (tmp_path / "other.html").exists()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_real_browser_renders_it_without_an_error(
    store: Store, tmp_path: Path, scheme: str
) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    report(store, tmp_path / "r.html", "k4tjim", "nh3o3j", "lm3scf")
    picture = tmp_path / "r.png"
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    done = subprocess.run(
        [
            browser,
            *FLAGS,
            *dark,
            f"--user-data-dir={tmp_path / 'profile'}",
            "--enable-logging=stderr",
            "--window-size=900,1400",
            f"--screenshot={picture}",
            (tmp_path / "r.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "CONSOLE" not in done.stderr
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    assert (width, height) == (900, 1400)
    assert picture.stat().st_size > 20_000  # a blank page is about 5 kB
