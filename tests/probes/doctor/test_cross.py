"""Findings that need two parts: a wheel against its driver, kernels against a GPU."""

from typing import Any

import pytest

from perfcite.probes.doctor.cross import compare, fact
from perfcite.probes.doctor.section import unknown


def facts(driver: Any, torch: dict[str, Any], **more: Any) -> dict[str, Any]:
    nvidia = {"gpus": [{"index": 0}], "cuda_driver_max": driver, "driver": {"version": "570.124"}}
    return {"nvidia": nvidia, "engines": {"torch": torch}, **more}


def codes(given: dict[str, Any]) -> dict[str, str]:
    return {f.code: f.severity for f in compare(given).findings}


@pytest.mark.parametrize(
    ("driver", "torch", "too_old"),
    [
        ("12.8", "13.0", True),
        ("12.2", "12.8", False),
        ("13.0", "12.8", False),
        ("13.0", "13.0", False),
        (unknown("timeout"), "13.0", False),
    ],
)
def test_a_wheel_of_a_later_major_version_cannot_run(
    driver: Any, torch: str, too_old: bool
) -> None:
    given = facts(driver, {"version": f"2.11.0+cu{torch.replace('.', '')}", "cuda": torch})
    assert ("nvidia.torch_driver_too_old" in codes(given)) == too_old


def test_versions_that_differ_are_a_note_that_names_only_what_is_known() -> None:
    given = facts("12.8", {"version": "2.9.0", "cuda": "12.8"}, tools={"nvcc": {"version": "10.1"}})
    finding = compare(given).findings[0]
    assert (finding.code, finding.severity) == ("nvidia.cuda_versions_differ", "note")
    assert all(w in finding.what for w in ("driver supports 12.8", "nvcc is 10.1", "torch"))
    assert codes(facts("12.8", {"cuda": "12.8"})) == {}
    assert codes(facts("12.8", {})) == {}


def test_a_cpu_build_beside_a_gpu_is_a_warning() -> None:
    assert codes(facts("13.0", {"version": "2.9.0+cpu"})) == {"nvidia.torch_cpu_build": "warning"}
    without = facts("13.0", {"version": "2.9.0+cpu"})
    without["nvidia"]["gpus"] = unknown("timeout")
    assert codes(without) == {}


@pytest.mark.parametrize(
    ("gpus", "names", "severities"),
    [
        ([{"index": 0, "gfx": "gfx900", "integrated": False}], [], ["error"]),
        ([{"index": 0, "gfx": "gfx900"}], ["HSA_OVERRIDE_GFX_VERSION"], ["warning"]),
        ([{"index": 0, "gfx": "gfx942:sramecc+", "integrated": False}], [], []),
        (
            [
                {"index": 0, "gfx": "gfx1100", "integrated": False},
                {"index": 1, "gfx": "gfx1036", "integrated": True},
            ],
            [],
            ["note"],
        ),
        ([{"index": 0, "gfx": unknown("not_supported")}], [], []),
    ],
)
def test_a_gpu_without_kernels_is_named(
    gpus: list[dict[str, Any]], names: list[str], severities: list[str]
) -> None:
    kernels = ["gfx1100", "gfx90a", "gfx942"]
    given = {"amd": {"gpus": gpus}, "engines": {"torch": {"kernels": kernels}}}
    found = compare({**given, "env": {"names": names}}).findings
    assert [f.severity for f in found] == severities
    assert all(f.code == "amd.gfx_unsupported" for f in found)


def test_a_path_through_unknown_facts_has_no_value() -> None:
    given = {"engines": {"torch": unknown("timeout")}, "tools": {"nvcc": {"version": "13.0"}}}
    assert fact(given, "engines.torch.cuda") is None
    assert fact(given, "tools.nvcc.version") == "13.0"
    assert fact(given, "nothing.here") is None
