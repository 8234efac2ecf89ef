"""One suite for every kind of store: a folder, and a bucket on a real S3 endpoint."""

import hashlib
from pathlib import Path

import pytest

from perfcite.evidence.artifacts import Attachment
from perfcite.evidence.bundle import export, import_into, lineage
from perfcite.evidence.errors import InputError, NotFound, StoreError
from perfcite.evidence.layout import blob_key, record_key
from perfcite.evidence.pruning import prune
from perfcite.evidence.seal import seal, seal_problems
from perfcite.evidence.store import Store

from .test_store import make


def test_create_is_once_and_read_gives_the_bytes(any_store: Store) -> None:
    keys = any_store.keys
    assert keys.read("records/aa/x") is None
    assert keys.create("records/aa/x", b"one") is True
    assert keys.create("records/aa/x", b"two") is False
    assert keys.read("records/aa/x") == b"one"
    assert keys.size("records/aa/x") == 3
    assert keys.size("records/aa/y") is None
    assert keys.folder("records") == ["aa"]
    assert keys.folder("nothing") == []


def test_a_file_is_kept_as_it_is_and_streamed_back(any_store: Store, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 3_000_000)
    assert any_store.keys.create("blobs/aa/b", tmp_path / "big")
    stream = any_store.keys.open("blobs/aa/b")
    assert stream is not None
    with stream:
        assert hashlib.sha256(stream.read()).hexdigest() == (
            hashlib.sha256(b"x" * 3_000_000).hexdigest()
        )
    assert any_store.keys.open("blobs/aa/none") is None


def test_records_are_saved_found_and_listed(any_store: Store) -> None:
    ids = [any_store.save(make(f"run {n}")).evidence_id for n in range(3)]
    assert sorted(any_store.ids()) == sorted(ids)
    assert [line.evidence_id for line in any_store.newest()] == ids[::-1]
    assert any_store.load(ids[0][:10]).evidence_id == ids[0]
    with pytest.raises(NotFound):
        any_store.load("ev_aaaaaaaaaaaaaaaa")
    assert all(problem is None for _, problem in any_store.problems(ids))
    assert any_store.pseudonym("host") == any_store.pseudonym("host")


def test_an_artifact_that_holds_a_secret_is_marked_and_not_exported(
    any_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "correct-horse-battery")
    leak = b"env: correct-horse-battery" + b"." * 2_000_000
    saved = any_store.save(
        make(),
        [Attachment("leak.bin", "application/x", leak), Attachment("fine.txt", "text/plain", b"f")],
    )
    leaked, fine = saved.record.artifacts
    assert leaked.sensitive is True
    assert fine.sensitive is None
    moved = export(any_store, [saved.evidence_id], tmp_path / "out.tar")
    assert moved.artifacts == 1
    assert "leak.bin" in moved.left_out[0]
    assert b"correct-horse" not in (tmp_path / "out.tar").read_bytes()


def test_a_secret_across_the_border_of_two_chunks_is_found(
    any_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "correct-horse-battery")
    content = b"." * (1024 * 1024 - 5) + b"correct-horse-battery" + b"." * 100
    saved = any_store.save(make(), [Attachment("a", "application/x", content)])
    assert saved.record.artifacts[0].sensitive is True


def test_an_export_moves_with_its_lineage_and_ids_unchanged(
    any_store: Store, tmp_path: Path
) -> None:
    first = any_store.save(make(), [Attachment("r.txt", "text/plain", b"report")])
    second = any_store.save(make("derived", (first.as_input(),)))
    wanted = lineage(any_store, [second.evidence_id])
    assert wanted == [first.evidence_id, second.evidence_id]
    export(any_store, wanted, tmp_path / "out.tar.gz")
    other = Store.open(tmp_path / "other")
    moved = import_into(other, tmp_path / "out.tar.gz")
    assert (moved.records, moved.artifacts) == (2, 1)
    assert other.load(second.evidence_id).content == second.content
    assert other.problem(second.evidence_id) is None
    assert {line.evidence_id for line in other.newest()} == set(wanted)
    again = import_into(other, tmp_path / "out.tar.gz")
    assert (again.records, again.artifacts) == (0, 0)


def test_an_altered_export_imports_nothing(any_store: Store, tmp_path: Path) -> None:
    saved = any_store.save(make())
    export(any_store, [saved.evidence_id], tmp_path / "out.tar")
    raw = (tmp_path / "out.tar").read_bytes()
    (tmp_path / "out.tar").write_bytes(raw.replace(b"12.3412", b"11.3412"))
    other = Store.open(tmp_path / "other")
    with pytest.raises(InputError, match="tampered"):
        import_into(other, tmp_path / "out.tar")
    (tmp_path / "text").write_text("no export")
    with pytest.raises(InputError, match="no perfcite export"):
        import_into(other, tmp_path / "text")
    assert list(other.ids()) == []


def test_seals_chain_and_name_what_was_deleted_or_altered(any_store: Store) -> None:
    first = any_store.save(make("one"))
    seal(any_store)
    second = any_store.save(make("two"))
    latest = seal(any_store)
    assert latest.records == 1
    assert seal_problems(any_store, f"CI log: {latest.line()}") == []
    with pytest.raises(InputError, match="nothing to seal"):
        seal(any_store)
    any_store.keys.remove(record_key(first.evidence_id))
    assert seal_problems(any_store, latest.line()) == [
        f"{first.evidence_id}: missing, sealed in 00000000"
    ]
    any_store.keys.remove(record_key(second.evidence_id))
    any_store.keys.create(record_key(second.evidence_id), b"{}")
    assert any("altered since" in p for p in seal_problems(any_store, latest.line()))
    any_store.keys.remove("seals/00000000.sha256")
    assert "seal 00000000: missing" in seal_problems(any_store, latest.line())
    with pytest.raises(InputError, match="not a line"):
        seal_problems(any_store, "perfcite-seal 1 abc")


def test_pruning_leaves_records_and_a_tombstone(any_store: Store) -> None:
    saved = any_store.save(make(), [Attachment("r.txt", "text/plain", b"report")])
    assert prune(any_store, older_than_s=3600) == (0, 0)
    assert prune(any_store, keep_bytes=0) == (1, 6)
    assert any_store.blob(saved.record.artifacts[0].sha256) is None
    assert any_store.problem(saved.evidence_id) == "artifact r.txt pruned"
    assert any_store.load(saved.evidence_id)


def test_a_missing_artifact_is_named_by_export(any_store: Store, tmp_path: Path) -> None:
    saved = any_store.save(make(), [Attachment("r.txt", "text/plain", b"report")])
    any_store.keys.remove(blob_key(saved.record.artifacts[0].sha256))
    moved = export(any_store, [saved.evidence_id], tmp_path / "out.tar")
    assert moved.left_out == (f"{saved.evidence_id} r.txt",)


def test_a_bucket_that_ignores_conditional_create_is_refused(
    forgetful_endpoint: str, s3_environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("obstore", reason="the extra s3 is not installed")
    monkeypatch.setenv("AWS_ENDPOINT_URL", forgetful_endpoint)
    with pytest.raises(StoreError, match="ignores conditional create"):
        Store.open("s3://forgetful/prefix")


def test_a_bucket_that_does_not_answer_is_one_clear_line(
    s3_environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("obstore", reason="the extra s3 is not installed")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(StoreError) as caught:
        Store.open("s3://nowhere/prefix")
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)
