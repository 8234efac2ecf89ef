import sqlite3
from contextlib import closing
from pathlib import Path

from perfcite.probes.profilers import ncu, nsys, perf, pyspy

KERNEL = "perfcite_probe_kernel"
HEADER = '"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'


def row(name: str, value: str) -> str:
    return f'"0","7","{name}","gpu__time_duration.sum","nsecond","{value}"\n'


def test_ncu_counts_only_rows_of_our_kernel_with_a_positive_duration() -> None:
    log = f"==PROF== Connected to process 7\n{HEADER}{row(KERNEL, '1,234')}{row(KERNEL, '2000')}"
    assert ncu.measured(log, KERNEL) == {"kernel": KERNEL, "launches": 2, "total_ns": 3234.0}
    assert ncu.measured(HEADER + row("another", "5"), KERNEL) is None
    assert ncu.measured(HEADER + row(KERNEL, "0"), KERNEL) is None
    assert ncu.measured(HEADER + row(KERNEL, "(!) n/a"), KERNEL) is None
    assert ncu.measured("==WARNING== No kernels were profiled.\n", KERNEL) is None


def test_ncu_reads_rows_shorter_than_the_header() -> None:
    assert ncu.measured(HEADER + f'"0","7","{KERNEL}"\n', KERNEL) is None


def export(path: Path, *rows: tuple[str, int, int]) -> Path:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
        if rows:
            db.execute(
                "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, shortName INT)"
            )
        for number, (name, start, end) in enumerate(rows):
            db.execute("INSERT INTO StringIds VALUES (?, ?)", (number, name))
            db.execute(
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?)", (start, end, number)
            )
        db.commit()
    return path


def test_nsys_finds_our_kernel_by_name(tmp_path: Path) -> None:
    database = export(tmp_path / "a.sqlite", (KERNEL, 10, 30), ("other", 0, 900))
    assert nsys.kernel_rows(database, KERNEL) == {"kernel": KERNEL, "launches": 1, "total_ns": 20.0}


def test_nsys_without_the_kernel_table_is_no_measurement(tmp_path: Path) -> None:
    assert nsys.kernel_rows(export(tmp_path / "a.sqlite"), KERNEL) is None
    (tmp_path / "b.sqlite").write_bytes(b"not a database at all, whatever its name says")
    assert nsys.kernel_rows(tmp_path / "b.sqlite", KERNEL) is None


def test_perf_counts_samples_by_thread_name() -> None:
    assert perf.samples_by_thread("python \nperfcite_hot \nperfcite_hot\n\n") == {
        "python": 1,
        "perfcite_hot": 2,
    }


def test_perf_cycles_are_none_where_the_machine_has_no_pmu() -> None:
    assert perf.cycles("<not supported>,,cycles,0,100.00,,\n") is None
    assert perf.cycles("1234567,,cycles:u,998,100.00,,\n") == 1234567


def test_pyspy_counts_stacks_that_hold_our_function() -> None:
    raw = "<module> (b.py:9);perfcite_hot (b.py:4) 140\n<module> (b.py:1) 3\nx perfcite_hot 9\n"
    assert pyspy.samples_of(raw, "perfcite_hot") == 140


def test_versions_are_read_from_what_the_tools_print() -> None:
    assert perf.parse_version("perf version 6.1.187\n") == "6.1.187"
    assert perf.parse_version("WARNING: perf not found for kernel 5.15.133.1\n") is None
    assert pyspy.parse_version("py-spy 0.4.3\n") == "0.4.3"
    text = "NVIDIA (R) Nsight Compute\nVersion 2022.3.0.0 (build 31729285) (public-release)\n"
    assert ncu.parse_version(text) == "2022.3.0.0"
    text = "NVIDIA Nsight Systems version 2022.4.2.1-df9881f\n"
    assert nsys.parse_version(text) == "2022.4.2.1-df9881f"
