"""CUDA_VISIBLE_DEVICES: which GPUs are left, and which entry ended the list."""

import pytest

from perfcite.probes.doctor.nvidia_reading import Gpu, Slice
from perfcite.probes.doctor.nvidia_use import judge_visible
from perfcite.probes.doctor.nvidia_visible import resolve
from perfcite.probes.doctor.section import Section, value_of


def alike(count: int) -> list[Gpu]:
    return [
        Gpu(i, uuid=f"GPU-{i}a{i}b-0000", facts={"name": "L4", "memory_total_mib": 100 + i})
        for i in range(count)
    ]


def sliced() -> list[Gpu]:
    slices = [Slice(0, "MIG-aaaa", "3g.20gb", 20096), Slice(1, "MIG-bbbb", "1g.5gb", 4864)]
    return [Gpu(0, uuid="GPU-0", facts={"name": "A100", "mig": True}, slices=slices)]


@pytest.mark.parametrize(
    ("value", "indices"),
    [
        (None, [0, 1, 2, 3]),
        ("", []),
        ("0", [0]),
        ("2,0", [2, 0]),
        (" 1 , 3 ", [1, 3]),
        ("1gpu2,2ampere", [1, 2]),
        ("+1", [1]),
        ("0,-1,2", [0]),
        ("0,7,2", [0]),
        ("0,none", [0]),
        ("-1", []),
        ("NoDevFiles", []),
        ("1,1", []),
        ("GPU-2a", [2]),
        ("GPU-2a,GPU-0a", [2, 0]),
        ("GPU-", []),
        ("GPU-9", []),
        ("GPU-1a,0", [1]),
        ("GPU-1a,GPU-1a1b", []),
    ],
)
def test_entries_are_read_as_cuda_reads_them(value: str | None, indices: list[int]) -> None:
    visible = resolve(value, None, alike(4))
    assert [row["nvml_index"] for row in visible.rows] == indices
    assert visible.count == len(indices)
    assert [row["cuda_index"] for row in visible.rows] == list(range(len(indices)))


def test_unlike_gpus_are_numbered_by_speed_unless_told_otherwise() -> None:
    gpus = [Gpu(0, facts={"name": "T4"}), Gpu(1, facts={"name": "H100"})]
    unsure = resolve("0", None, gpus)
    assert unsure.order_unsure
    assert value_of(unsure.rows[0]["nvml_index"]) is None
    assert unsure.count == 1
    assert resolve("0", "PCI_BUS_ID", gpus).rows[0]["nvml_index"] == 0


@pytest.mark.parametrize(
    ("value", "memory"),
    [(None, 20096), ("0", 20096), ("MIG-bbbb", 4864), ("MIG-cccc,MIG-bbbb", None)],
)
def test_cuda_uses_one_instance_under_mig(value: str | None, memory: int | None) -> None:
    visible = resolve(value, None, sliced())
    assert visible.count == (1 if memory else 0)
    assert [row["memory_total_mib"] for row in visible.rows] == ([memory] if memory else [])


def test_an_instance_that_nobody_listed_is_one_of_unknown_size() -> None:
    gpus = [Gpu(0, facts={"name": "A100", "mig": True})]
    visible = resolve("MIG-cccc", None, gpus)
    assert visible.count == 1
    assert value_of(visible.rows[0]["memory_total_mib"]) is None


def test_mig_without_an_instance_leaves_nothing() -> None:
    visible = resolve(None, None, [Gpu(0, facts={"mig": True}, slices=[])])
    assert visible.count == 0
    assert "no instance" in str(visible.stopped)


@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        ("0,1,2,3,-1,5,6,7", "nvidia.visible_truncated", ("-1", "4 of 8", "entry 5")),
        ("0,9", "nvidia.visible_truncated", ("1 of 8", "9")),
        ("", "nvidia.visible_none", ("empty",)),
        ("3,3", "nvidia.visible_none", ("twice",)),
        ("GPU-1a", "nvidia.visible_uuid", ("vLLM",)),
    ],
)
def test_what_hides_gpus_is_a_finding(value: str, code: str, words: tuple[str, ...]) -> None:
    section = Section()
    judge_visible(resolve(value, None, alike(8)), 8, section)
    finding = next(f for f in section.findings if f.code == code)
    assert all(word in finding.what for word in words)
    assert "GPU-" not in finding.what


def test_a_chosen_part_is_no_finding() -> None:
    section = Section()
    judge_visible(resolve("1,0", None, alike(8)), 8, section)
    assert section.findings == []
