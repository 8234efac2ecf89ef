"""nvidia-smi's recorded outputs, read as they stand; skipped where they do not lie beside the checkout."""

from pathlib import Path

import pytest

from perfcite.probes.doctor.nvidia_reading import Gpu
from perfcite.probes.doctor.nvidia_smi_lines import QUERY, parse_apps, parse_output
from perfcite.probes.doctor.section import value_of

# What the recorded outputs hold: (file, driver, CUDA, GPUs described, first name, first memory).
RECORDED = [
    ("k8s-test-infra-hw__qx-a100.xml", "570.148.08", "12.8", 1, "NVIDIA A100-SXM4-40GB", 40960),
    ("k8s-test-infra-hw__qx-h100.xml", "580.105.08", "13.0", 8, "NVIDIA H100 80GB HBM3", 81559),
    ("k8s-test-infra-hw__qx-gb200.xml", "580.173.02", "13.0", 4, "NVIDIA GB200", 189471),
    ("k8s-test-infra-hw__qx-gb300.xml", "580.173.02", "13.0", 4, "NVIDIA GB300", 284208),
    ("netdata__a100-sxm4-mig.xml", "510.47.03", "11.6", 1, "NVIDIA A100-SXM4-40GB", 40960),
    ("netdata__rtx-2080-win.xml", "516.59", "11.7", 1, "NVIDIA GeForce RTX 2080", 8192),
    ("netdata__rtx-4090-driver-535.xml", "535.86.05", "12.2", 1, "NVIDIA GeForce RTX 4090", 24564),
    ("netdata__rtx-pro-6000-driver-580.xml", None, None, 1, "NVIDIA RTX PRO 6000 Blackwell", None),
    ("telegraf__a10g.xml", "515.105.01", "11.7", 1, "NVIDIA A10G", 23028),
    ("telegraf__gtx-1660-ti.xml", "418.43", "10.1", 1, "Graphics Device", 5912),
    ("telegraf__rtx-3080-v13.xml", "595.58.03", "13.2", 1, "NVIDIA GeForce RTX 3080", 10240),
    ("xml_v9_gt730_head.xml", "384.111", None, 1, "GeForce GT 730", None),
    (
        "gpud__nvidia-smi-query.535.161.08.out.0.valid",
        "535.161.08",
        "12.2",
        8,
        "NVIDIA H100 80GB HBM3",
        81559,
    ),
    (
        "gpud__nvidia-smi-query.535.183.01.out.0.invalid",
        "535.183.01",
        "12.2",
        1,
        "NVIDIA H100 80GB HBM3",
        None,
    ),
    ("gh200_570_table.txt", "570.133.20", "12.8", 1, "NVIDIA GH200 480GB", 97871),
    ("gb10_dgx_spark_table.txt", "580.95.05", "13.0", 1, "NVIDIA GB10", None),
    ("v100_power9_418_table.txt", "418.39", "10.1", 2, "Tesla V100-SXM2...", 16130),
    ("v100_535_table.txt", "535.183.01", "12.2", 2, "Tesla V100-SXM2-32GB", 32768),
    ("vgpu_guest_grid_p40_q.txt", "535.161.08", "12.2", 1, "GRID P40-24Q", None),
    (
        "extracted/linux-x86_64__nvidia-l40s__595.80__q.txt",
        "595.80",
        "13.2",
        1,
        "NVIDIA L40S",
        46068,
    ),
    (
        "extracted/linux-x86_64__nvidia-h200__590.48.01__table.txt",
        "590.48.01",
        "13.1",
        1,
        "NVIDIA H200",
        143771,
    ),
    (
        "extracted/windows-x86_64__nvidia-geforce-rtx-2080-super__610.62__q.txt",
        "610.62",
        "13.3",
        1,
        "NVIDIA GeForce RTX 2080 SUPER",
        8192,
    ),
]


@pytest.mark.parametrize("expected", RECORDED, ids=[str(r[0]) for r in RECORDED])
def test_a_recorded_output_is_read_as_it_stands(
    shared: Path, expected: tuple[str, str | None, str | None, int, str, int | None]
) -> None:
    name, driver, cuda, count, first, memory = expected
    text = (shared / "samples" / "nvidia-smi" / name).read_text("utf-8", "replace")
    reading = parse_output(text, 0, name)
    assert (reading.driver, reading.cuda) == (driver, cuda)
    assert len(reading.gpus or []) == count
    gpu = (reading.gpus or [])[0]
    assert (gpu.value("name"), gpu.value("memory_total_mib")) == (first, memory)


def _recorded(shared: Path, name: str) -> list[Gpu]:
    text = (shared / "samples" / "nvidia-smi" / name).read_text("utf-8", "replace")
    gpus = parse_output(text, 0, name, QUERY if name.endswith(".csv") else ()).gpus
    assert gpus
    return gpus


def test_recorded_mig_outputs_have_their_instances(shared: Path) -> None:
    a100 = _recorded(shared, "netdata__a100-sxm4-mig.xml")[0]
    h100 = _recorded(shared, "extracted/linux-x86_64__nvidia-h100-mig__590.48.01__q.txt")[0]
    listed = _recorded(shared, "extracted/linux-x86_64__nvidia-h100-mig__590.48.01__L.txt")[0]
    assert [s.memory_total_mib for s in a100.slices or []] == [19968, 19968]
    assert [s.memory_total_mib for s in h100.slices or []] == [40448, 20096, 9984, 9984]
    assert [s.profile for s in listed.slices or []] == ["3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"]
    assert value_of(h100.facts["utilization_pct"]) is None


@pytest.mark.parametrize(
    ("name", "power"),
    [
        ("telegraf__rtx-3080-v12.xml", 22.78),
        ("telegraf__rtx-3080-v13.xml", 142.33),
        ("netdata__rtx-4090-driver-535.xml", 26.84),
        ("netdata__rtx-pro-6000-driver-580.xml", 66.84),
        ("telegraf__quadro-p2000-v12.xml", 4.61),
        ("telegraf__gtx-1070-ti.xml", None),
    ],
)
def test_recorded_power_is_read_whatever_the_driver(
    shared: Path, name: str, power: float | None
) -> None:
    assert _recorded(shared, name)[0].value("power_w") == power


def test_the_full_recorded_csv_is_read(shared: Path) -> None:
    gpu = _recorded(shared, "extracted/linux-x86_64__nvidia-h200__590.48.01__query_gpu.csv")[0]
    row = gpu.row()
    assert (row["memory_total_mib"], row["memory_reserved_mib"]) == (143771, 614)
    assert (row["compute_capability"], row["clock_sm_max_mhz"], row["mig"]) == ("9.0", 1980, False)
    assert row["clocks_event_reasons"] == ["gpu_idle"]


def test_a_recorded_gpu_that_needs_a_reset_is_unusable(shared: Path) -> None:
    assert _recorded(shared, "gpu_requires_reset.csv")[0].facts["state"] == "requires_reset"


def test_recorded_unified_memory_is_unknown_and_the_rest_is_read(shared: Path) -> None:
    gpu = _recorded(shared, "gb10_query_gpu.csv")[0]
    assert gpu.value("memory_total_mib") is None
    assert (gpu.value("power_w"), gpu.value("temperature_c")) == (11.17, 35)


def test_no_recorded_output_is_a_stumbling_block(shared: Path) -> None:
    folder = shared / "samples" / "nvidia-smi"
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        text = path.read_text("utf-8", "replace")
        for columns in ((), QUERY, ("driver_version",)):
            reading = parse_output(text, 0, path.name, columns)
            for gpu in reading.gpus or []:
                assert "GPU-0000" not in str(gpu.row())
        parse_apps(text)
