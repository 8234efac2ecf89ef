"""The command line, as a shell sees it: one line on error, the exit status of the contract."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from perfcite.evidence.ids import evidence_id
from perfcite.evidence.layout import record_key
from perfcite.evidence.store import Store

from .test_lookup import save


def perfcite(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "perfcite.server", *arguments],
        env={**os.environ, "PERFCITE_STORE": str(folder / "store")},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("perfcite: ")
    return lines[0]


def test_doctor_prints_a_record_that_its_file_and_prefix_find(tmp_path: Path) -> None:
    done = perfcite(tmp_path, "doctor", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    identifier = record.pop("evidence_id")
    stored = (tmp_path / "store" / record_key(identifier)).read_bytes()
    assert evidence_id(stored) == identifier
    assert json.loads(stored) == record
    shown = perfcite(tmp_path, "show", identifier[3:9])
    assert shown.returncode == 0
    assert identifier in shown.stdout


def test_doctor_for_a_person_ends_in_its_evidence(tmp_path: Path) -> None:
    done = perfcite(tmp_path, "doctor")
    assert done.returncode == 0
    assert "Evidence: ev_" in done.stdout.splitlines()[-1]
    assert "Can measure" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["lst"], "lst"),
        (["doctor", "--pyton", "x"], "--pyton"),
        (["doctor", "--sysroot", "/no/such/folder"], "/no/such/folder"),
        (["list", "--limit", "many"], "limit"),
        (["list", "--kind", "speed"], "kind"),
        (["show"], "evidence_id"),
        (["show", "ev_zzz"], "ev_zzz"),
        (["show", "ev_zzzzzz"], "ev_zzzzzz"),
        (["check", "no.jsonl", "none.jsonl"], "no.jsonl"),
        (["check", "/", "/"], "/"),
        (["check", "a.jsonl", "b.jsonl", "--min-prefix-agreement=nan"], "min_prefix_agreement"),
        (["probe", "--profilers", "gprof"], "gprof"),
        (["verify", "ev_zzzzzz"], "ev_zzzzzz"),
        (["serve", "--tools", "profile_all"], "profile_all"),
    ],
)
def test_bad_input_is_one_clear_line_and_status_2(
    tmp_path: Path, arguments: list[str], named: str
) -> None:
    done = perfcite(tmp_path, *arguments)
    assert done.returncode == 2, done
    assert named in one_line(done)
    assert not (tmp_path / "store").exists()


def test_a_store_that_fails_is_status_4(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("in the way")
    done = perfcite(tmp_path, "doctor")
    assert done.returncode == 4
    assert "not a folder" in one_line(done)


def test_lists_and_pages_are_readable_and_json(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    ids = [save(store) for _ in range(3)]
    assert perfcite(tmp_path, "list").stdout.splitlines()[0].startswith(ids[-1])
    page = json.loads(perfcite(tmp_path, "list", "--limit", "2", "--json").stdout)
    assert [r["evidence_id"] for r in page["records"]] == ids[:0:-1]


def test_verify_names_the_damaged_and_what_was_derived(tmp_path: Path, shared: Path) -> None:
    shutil.copytree(shared / "cases/citations/store", tmp_path / "store")
    done = perfcite(tmp_path, "verify")
    assert done.returncode == 1
    assert "ev_ocbs77gcdq7ah6zb: tampered" in done.stdout
    assert "ev_a3oxgy5yxy6ff47y: derived from ev_ocbs77gcdq7ah6zb" in done.stdout
    assert "10 records, 2 do not verify" in done.stdout.splitlines()
    assert done.stdout.splitlines()[-1].startswith("assurance: same user")
    assert perfcite(tmp_path, "verify", "ev_k4tjim").returncode == 0


def test_the_version_is_told(tmp_path: Path) -> None:
    done = perfcite(tmp_path, "--version")
    assert done.stdout.startswith("perfcite ")


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    for _ in range(3):
        save(store)
    command = f"{sys.executable} -m perfcite.server list | head -c 1"
    env = {**os.environ, "PERFCITE_STORE": str(tmp_path / "store")}
    done = subprocess.run(command, shell=True, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_only_ascii_loses_no_verdict(tmp_path: Path) -> None:
    examples = Path(__file__).resolve().parents[2] / "examples"
    ascii_only = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "perfcite.server",
            "check",
            str(examples / "llama_kv_f16.jsonl"),
            str(examples / "llama_kv_q8_0.jsonl"),
        ],
        env={**os.environ, **ascii_only, "PERFCITE_STORE": str(tmp_path / "store")},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(b"FAIL")


def test_output_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    command = f"{sys.executable} -m perfcite.server list > /dev/full"
    env = {**os.environ, "PERFCITE_STORE": str(tmp_path / "store")}
    done = subprocess.run(command, shell=True, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("perfcite: the output cannot be written")
    assert len(done.stderr.splitlines()) == 1


def test_a_signal_leaves_no_scratch_behind(tmp_path: Path) -> None:
    from .raw import lay_trap, processes

    env = lay_trap(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "perfcite.server", "probe", "--profilers", "perf"],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    processes(tmp_path)
    process.terminate()
    assert process.wait(timeout=10) == 143
    assert list((tmp_path / "store" / "scratch").iterdir()) == []
    assert (tmp_path / "store").stat().st_mode & 0o077 == 0
