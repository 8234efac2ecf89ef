import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from perfcite.evidence.artifacts import Attachment
from perfcite.evidence.citing import phrase
from perfcite.evidence.errors import DamagedRecord, InputError, NotFound, StoreError
from perfcite.evidence.ids import canonical_bytes, evidence_id
from perfcite.evidence.layout import record_key
from perfcite.evidence.payloads import GenerationData
from perfcite.evidence.records import Identity, Input, Metric, Record, new_record
from perfcite.evidence.store import Store, Stored


def make(summary: str = "three tokens", inputs: tuple[Input, ...] = ()) -> Record:
    return new_record(
        kind="generation",
        claim_class="observed",
        tool="test",
        version="0",
        arguments={"token": "abc123", "n": 1},
        summary=summary,
        data=GenerationData(tokens=((1, 2, 3),)),
        identity=Identity(os="linux"),
        metrics=[Metric(name="wall_time", value=12.3412, unit="ms", statistic="median", n=3)],
        inputs=inputs,
    )


def test_a_saved_record_loads_by_id_and_prefix(store: Store) -> None:
    saved = store.save(make())
    assert store.load(saved.evidence_id).content == saved.content
    assert store.load(saved.evidence_id[3:9].upper()).evidence_id == saved.evidence_id
    assert store.problem(saved.evidence_id) is None


def test_secrets_are_redacted_before_hashing(store: Store) -> None:
    saved = store.save(make(summary="ran /home/alice/x"))
    assert b"abc123" not in saved.content
    assert saved.record.summary == "ran ~/x"


def test_two_equal_runs_stay_two_records(store: Store) -> None:
    assert store.save(make()).evidence_id != store.save(make()).evidence_id


def test_files_are_the_owners_and_not_writable(store: Store, tmp_path: Path) -> None:
    saved = store.save(make())
    path = tmp_path / "store" / record_key(saved.evidence_id)
    assert path.stat().st_mode & 0o777 == 0o400
    assert (tmp_path / "store").stat().st_mode & 0o077 == 0


def test_newest_come_first_and_pages_join(store: Store) -> None:
    ids = [store.save(make(f"run {n}")).evidence_id for n in range(5)]
    lines = list(store.newest())
    assert [line.evidence_id for line in lines] == ids[::-1]
    rest = list(store.newest(lines[1].marker))
    assert [line.evidence_id for line in rest] == ids[2::-1]


def test_lost_markers_are_listed_again_after_restoring(store: Store, tmp_path: Path) -> None:
    saved = store.save(make())
    shutil.rmtree(tmp_path / "store" / "log")
    assert [line.evidence_id for line in store.newest()] == [saved.evidence_id]
    assert store.restore_markers() == 1
    assert store.restore_markers() == 0


def test_a_renamed_marker_is_put_right_and_junk_is_no_record(store: Store, tmp_path: Path) -> None:
    saved = store.save(make())
    marker = next((tmp_path / "store" / "log").glob("*/*"))
    marker.rename(marker.with_name(marker.name.replace("generation", "correctness")))
    (marker.parent / "junk").write_bytes(b"")
    (marker.parent / f"{'0' * 11}~generation~-~t~no-id").write_bytes(b"")
    (tmp_path / "store" / "records" / "zz").mkdir()
    (tmp_path / "store" / "records" / "zz" / "ev_ZZ.json").write_bytes(b"x")
    assert store.restore_markers() == 1
    lines = list(store.newest(kind="generation"))
    assert [line.evidence_id for line in lines] == [saved.evidence_id]
    assert list(store.ids()) == [saved.evidence_id]


def test_a_tampered_record_without_a_marker_is_listed_last(store: Store, tmp_path: Path) -> None:
    one, two = store.save(make()), store.save(make())
    path = tmp_path / "store" / record_key(two.evidence_id)
    path.chmod(0o600)
    path.write_bytes(b"{}")
    shutil.rmtree(tmp_path / "store" / "log")
    assert [line.evidence_id for line in store.newest()] == [one.evidence_id, two.evidence_id]


def test_a_lineage_of_any_depth_is_followed(store: Store) -> None:
    last = store.save(make())
    for _ in range(3):
        last = store.save(make("next", (last.as_input(),)))
    chain = [last]
    for number in range(1_200):
        plain = chain[-1].plain()
        plain["inputs"] = [{"evidence_id": chain[-1].evidence_id, "sha256": chain[-1].sha256}]
        plain["nonce"] = f"{number:08x}"
        content = canonical_bytes(plain)
        chain.append(Stored(evidence_id(content), content))
    for link in chain[1:]:
        path = store.keys.root / record_key(link.evidence_id)  # type: ignore[attr-defined]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(link.content)
    assert store.problem(chain[-1].evidence_id) is None


def test_an_edited_record_is_tampered_and_a_pretty_one_reformatted(
    store: Store, tmp_path: Path
) -> None:
    saved = store.save(make())
    path = tmp_path / "store" / record_key(saved.evidence_id)
    path.chmod(0o600)
    path.write_bytes(saved.content.replace(b"12.3412", b"11.3412"))
    assert "tampered" in (store.problem(saved.evidence_id) or "")
    path.write_bytes(saved.content + b"\n")
    assert "reformatted" in (store.problem(saved.evidence_id) or "")
    with pytest.raises(DamagedRecord, match="reformatted"):
        store.load(saved.evidence_id)
    path.write_bytes(b"\xff\x00 no json")
    assert "tampered" in (store.problem(saved.evidence_id) or "")


def test_damage_reaches_what_was_derived_from_it(store: Store, tmp_path: Path) -> None:
    first = store.save(make())
    second = store.save(make("derived", (first.as_input(),)))
    assert store.problem(second.evidence_id) is None
    path = tmp_path / "store" / record_key(first.evidence_id)
    path.chmod(0o600)
    path.write_bytes(first.content.replace(b"12.3412", b"11.3412"))
    problem = store.problem(second.evidence_id) or ""
    assert first.evidence_id in problem
    assert "tampered" in problem
    with pytest.raises(DamagedRecord, match="derived from"):
        store.verified(second.evidence_id)


def test_an_artifact_is_kept_by_its_hash_and_missed_when_gone(store: Store, tmp_path: Path) -> None:
    blob = b"report"
    digest = hashlib.sha256(blob).hexdigest()
    saved = store.save(make(), [Attachment("r.txt", "text/plain", blob)])
    assert saved.record.artifacts[0].sha256 == digest
    assert store.blob(digest) == blob
    path = tmp_path / "store" / "blobs" / digest[:2] / digest
    path.chmod(0o600)
    path.write_bytes(b"rapport")
    assert store.problem(saved.evidence_id) == "artifact r.txt altered"
    path.unlink()
    assert store.problem(saved.evidence_id) == "artifact r.txt missing"


def test_the_handed_store_loads_and_its_tampered_record_is_named(shared: Path) -> None:
    store = Store.open(shared / "cases/citations/store")
    problems = dict(store.problems(store.ids()))
    assert len(problems) == 10
    wrong = {i: p for i, p in problems.items() if p}
    assert set(wrong) == {"ev_ocbs77gcdq7ah6zb", "ev_a3oxgy5yxy6ff47y"}
    assert "tampered" in str(wrong["ev_ocbs77gcdq7ah6zb"])
    assert "ev_ocbs77gcdq7ah6zb" in str(wrong["ev_a3oxgy5yxy6ff47y"])


def test_unknown_ids_suggest_the_nearest_and_ambiguous_ones_list_candidates(
    store: Store, tmp_path: Path
) -> None:
    saved = store.save(make())
    wrong = saved.evidence_id[:-1] + ("a" if saved.evidence_id[-1] != "a" else "b")
    with pytest.raises(NotFound, match=saved.evidence_id):
        store.load(wrong)
    twin = tmp_path / "store" / record_key(saved.evidence_id)
    other = twin.with_name(f"{saved.evidence_id[:12]}aaaaaaa.json")
    other.write_bytes(b"{}")
    with pytest.raises(NotFound, match="fits 2 records"):
        store.load(saved.evidence_id[:11])


def test_opening_and_reading_create_nothing(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "none")
    assert list(store.newest()) == []
    with pytest.raises(NotFound):
        store.load("ev_aaaaaaaaaaaaaaaa")
    assert not (tmp_path / "none").exists()


def test_a_store_that_is_a_file_or_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="not a folder"):
        Store.open(tmp_path / "file")
    with pytest.raises(StoreError, match="not supported"):
        Store.open("ftp://host/x")


def test_a_full_disk_keeps_nothing_half_written(store: Store, tmp_path: Path) -> None:
    """/dev/full is no folder, so the limit is set on the size of a file instead."""
    store.save(make())
    before = sorted(p for p in (tmp_path / "store").rglob("*") if p.is_file())
    script = (
        "import resource, sys; from tests.evidence.test_store import make; "
        "from perfcite.evidence.store import Store; import signal; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))\n"
        "try: Store.open(sys.argv[1]).save(make())\n"
        "except Exception as e: print(type(e).__name__, e)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "store")],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    assert done.stdout.startswith("StoreError"), done.stdout + done.stderr
    after = sorted(p for p in (tmp_path / "store").rglob("*") if p.is_file())
    assert after == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_store_reads_and_refuses_to_save(store: Store, tmp_path: Path) -> None:
    saved = store.save(make())
    for folder in [tmp_path / "store", *(tmp_path / "store").rglob("*")]:
        if folder.is_dir():
            folder.chmod(0o500)
    again = Store.open(tmp_path / "store")
    assert again.load(saved.evidence_id)
    with pytest.raises(StoreError, match="cannot be written"):
        again.save(make())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_200_writers_killed_at_random_moments_lose_nothing_acknowledged(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.evidence.killed_writers", str(tmp_path / "store"), "200"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    acknowledged = set(done.stdout.split())
    assert len(acknowledged) >= 200
    store = Store.open(tmp_path / "store")
    listed = {line.evidence_id for line in store.newest()}
    assert acknowledged <= listed  # the marker is written before the id is returned
    store.restore_markers()
    assert all(problem is None for _, problem in store.problems(store.ids()))
    assert {line.evidence_id for line in store.newest()} == set(store.ids())


def test_a_store_removed_while_it_is_open_loses_no_later_record(
    store: Store, tmp_path: Path
) -> None:
    first = store.save(make())
    shutil.rmtree(tmp_path / "store")
    with pytest.raises(NotFound):
        store.load(first.evidence_id)
    second = store.save(make())
    assert store.problem(second.evidence_id) is None


def test_a_host_name_is_hidden_behind_the_stores_salt(store: Store, tmp_path: Path) -> None:
    one = store.pseudonym("gpu-017")
    assert one is not None
    assert "gpu" not in one
    assert store.pseudonym("gpu-017") == one
    assert Store.open(tmp_path / "other").pseudonym("gpu-017") != one


def test_a_record_that_breaks_the_contract_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="no verdict"):
        new_record(
            kind="generation",
            claim_class="observed",
            tool="t",
            version="0",
            arguments={},
            summary="s",
            data=GenerationData(tokens=()),
            identity=Identity(),
            verdict="PASS",
        )
    with pytest.raises(InputError, match="unknown unit"):
        new_record(
            kind="generation",
            claim_class="observed",
            tool="t",
            version="0",
            arguments={},
            summary="s",
            data=GenerationData(tokens=()),
            identity=Identity(),
            metrics=[Metric(name="m", value=1, unit="furlong", statistic="mean")],
        )


def test_a_metric_without_a_value_is_named_as_missing(store: Store) -> None:
    record = make().model_copy(
        update={"metrics": (Metric(name="power", value=None, unit="W", statistic="mean"),)}
    )
    assert record.to_plain()["metrics"] == [
        {"name": "power", "value": None, "unit": "W", "statistic": "mean"}
    ]


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (12.3412, "ms", "12.34 ms [ev_x]"),
        (1.8124834777500367, "x", "1.812x [ev_x]"),
        (44.10832157784744, "%", "44.11 % [ev_x]"),
        (100.0, "%", "100 % [ev_x]"),
        (0.00516, "nats", "0.00516 nats [ev_x]"),
        (1980, "MHz", "1980 MHz [ev_x]"),
        (26.5, "tokens", "26.50 tokens [ev_x]"),
    ],
)
def test_ready_phrases_round_to_what_is_recorded(value: float, unit: str, expected: str) -> None:
    metric = Metric(name="m", value=value, unit=unit, statistic="median")
    assert phrase(metric, "ev_x") == expected
