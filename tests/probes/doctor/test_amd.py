"""AMD: KFD's topology, visibility, access, and what the ROCm tools print."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from perfcite.probes.doctor import amd, amd_tools, host
from perfcite.probes.doctor.amd_kfd import Node, gfx_name
from perfcite.probes.doctor.amd_visible import visible
from perfcite.probes.doctor.section import Section
from tests.probes.doctor.machines import answer, codes, fact, finding, machine
from tests.replay import Rules

NODES = "/sys/class/kfd/kfd/topology/nodes/"


def node(number: int, gfx: int, simds: int, **more: int) -> dict[str, str]:
    values = {"cpu_cores_count": 0, "simd_count": simds, "gfx_target_version": gfx}
    values |= {"vendor_id": 4098, "device_id": 29772, "location_id": number << 8, **more}
    text = "".join(f"{key} {value}\n" for key, value in values.items())
    return {f"{NODES}{number}/properties": text}


CPU = {f"{NODES}0/properties": "cpu_cores_count 16\nsimd_count 0\ngfx_target_version 0\n"}
TWO = CPU | node(1, 90402, 1216) | node(2, 90402, 1216)


async def examine(
    files: Mapping[str, Any],
    programs: Rules | None = None,
    env: Mapping[str, str] | None = None,
    *,
    probe: bool = False,
) -> Section:
    system = machine(files, programs, env)
    return await amd.examine(system, host.read(system), probe)


@pytest.mark.parametrize(
    ("version", "name"),
    [
        (90010, "gfx90a"),
        (90402, "gfx942"),
        (100306, "gfx1036"),
        (110000, "gfx1100"),
        (110501, "gfx1151"),
        (120001, "gfx1201"),
        (90000, "gfx900"),
    ],
)
def test_target_versions_are_named_as_the_compiler_does(version: int, name: str) -> None:
    assert gfx_name(version) == name


@pytest.mark.anyio
async def test_a_machine_without_anything_of_amds_says_nothing() -> None:
    section = await examine({}, env={"HIP_VISIBLE_DEVICES": "1", "ROCR_VISIBLE_DEVICES": "1"})
    assert (section.findings, section.missing) == ([], [])


@pytest.mark.anyio
async def test_gpus_are_counted_and_processors_are_not() -> None:
    section = await examine(TWO)
    rows = fact(section, "amd.gpus")
    assert [(r["index"], r["gfx"], r["pci"]) for r in rows] == [
        (0, "gfx942", "0000:01:00.0"),
        (1, "gfx942", "0000:02:00.0"),
    ]
    assert section.missing == ["amd.counter_permission", "amd.processes", "amd.clocks"]


@pytest.mark.anyio
async def test_memory_comes_from_the_kernel() -> None:
    files = TWO | {"/sys/bus/pci/devices/0000:01:00.0/mem_info_vram_total": "206158430208\n"}
    rows = fact(await examine(files), "amd.gpus")
    assert rows[0]["memory_total_mib"] == 196608
    assert rows[1]["memory_total_mib"]["state"] == "unknown"


def nodes(count: int) -> list[Node]:
    return [Node(i, i + 1, "gfx942", 1216, False, None, None, None, None) for i in range(count)]


@pytest.mark.parametrize(
    ("environ", "indices", "breaks"),
    [
        ({}, (0, 1, 2), False),
        ({"HIP_VISIBLE_DEVICES": "2,0"}, (2, 0), False),
        ({"ROCR_VISIBLE_DEVICES": "1,2"}, (1, 2), False),
        ({"ROCR_VISIBLE_DEVICES": "1,2", "HIP_VISIBLE_DEVICES": "1"}, (2,), False),
        ({"ROCR_VISIBLE_DEVICES": "2", "HIP_VISIBLE_DEVICES": "2"}, (), True),
        ({"ROCR_VISIBLE_DEVICES": "0,1", "HIP_VISIBLE_DEVICES": "1,2"}, (1,), True),
        ({"HIP_VISIBLE_DEVICES": "-1"}, (), False),
        ({"HIP_VISIBLE_DEVICES": "0,-1,2"}, (0,), False),
        ({"HIP_VISIBLE_DEVICES": ""}, (), False),
        ({"CUDA_VISIBLE_DEVICES": "1"}, (1,), False),
        ({"ROCR_VISIBLE_DEVICES": "GPU-1234"}, None, False),
    ],
)
def test_rocr_filters_first_and_hip_counts_what_is_left(
    environ: dict[str, str], indices: tuple[int, ...] | None, breaks: bool
) -> None:
    seen = visible(environ, nodes(3))
    assert (seen.indices, seen.breaks) == (indices, breaks)


@pytest.mark.anyio
async def test_both_variables_that_agree_are_a_warning() -> None:
    env = {"ROCR_VISIBLE_DEVICES": "0,1", "HIP_VISIBLE_DEVICES": "0,1"}
    assert codes(await examine(TWO, env=env))["amd.visible_conflict"] == "warning"


@pytest.mark.anyio
async def test_hip_and_cuda_variables_that_differ_are_told() -> None:
    env = {"HIP_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "1"}
    assert codes(await examine(TWO, env=env))["amd.visible_conflict"] == "warning"


@pytest.mark.anyio
async def test_cudas_variable_speaks_of_nvidia_where_that_driver_is_loaded() -> None:
    files = TWO | {"/proc/driver/nvidia/version": "NVRM version: …\n"}
    section = await examine(files, env={"CUDA_VISIBLE_DEVICES": "7"})
    assert codes(section) == {}
    assert fact(section, "amd.visible_count") == 2


@pytest.mark.anyio
async def test_hiding_every_gpu_is_an_error() -> None:
    section = await examine(TWO, env={"HIP_VISIBLE_DEVICES": "-1"})
    assert codes(section)["amd.visible_none"] == "error"


MIXED = CPU | node(1, 100306, 4) | node(2, 110000, 192) | node(3, 110000, 192)


@pytest.mark.anyio
async def test_the_index_of_the_discrete_gpus_is_computed() -> None:
    fix = finding(await examine(MIXED), "amd.igpu_and_dgpu").fix
    assert fix
    assert fix.commands == ("export HIP_VISIBLE_DEVICES=1,2",)


@pytest.mark.anyio
async def test_the_index_counts_what_rocr_has_left() -> None:
    section = await examine(MIXED, env={"ROCR_VISIBLE_DEVICES": "0,2"})
    fix = finding(section, "amd.igpu_and_dgpu").fix
    assert fix
    assert fix.commands == ("export HIP_VISIBLE_DEVICES=1",)


@pytest.mark.anyio
async def test_an_integrated_gpu_that_is_hidden_already_is_no_finding() -> None:
    assert codes(await examine(MIXED, env={"HIP_VISIBLE_DEVICES": "1,2"})) == {}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Unable to open /dev/kfd read-write: Permission denied", "amd.kfd_denied"),
        ("Unable to open /dev/kfd read-write: Invalid argument", "amd.kfd_unusable"),
        ("Unable to open /dev/kfd read-write: Cannot allocate memory", "amd.kfd_unusable"),
        ("Unable to open /dev/kfd read-write: No such file or directory", "amd.kfd_missing"),
    ],
)
async def test_rocminfo_says_why_the_device_cannot_be_opened(line: str, code: str) -> None:
    text = f"\x1b[37mROCk module is loaded\x1b[0m\n{line}\n"
    assert codes(await examine({}, {"rocminfo": answer(text, exit=1)}))[code] == "error"


@pytest.mark.anyio
async def test_a_missing_device_is_seen_without_any_tool() -> None:
    section = await examine(TWO | {"/dev/null": ""})
    assert codes(section)["amd.kfd_missing"] == "error"


@pytest.mark.anyio
async def test_a_denied_user_on_a_host_joins_the_group() -> None:
    text = "Unable to open /dev/kfd read-write: Permission denied\n"
    fix = finding(await examine({}, {"rocminfo": answer(text, exit=1)}), "amd.kfd_denied").fix
    assert fix
    assert "usermod -aG render" in fix.commands[0]


@pytest.mark.anyio
async def test_a_card_without_its_driver_is_a_limitation() -> None:
    card = "/sys/bus/pci/devices/0000:03:00.0/"
    section = await examine({card + "vendor": "0x1002\n", card + "class": "0x030000\n"})
    assert codes(section) == {"amd.driver_not_loaded": "limitation"}
    assert section.facts["amd"]["gpus"]["state"] == "unknown"


@pytest.mark.anyio
async def test_rocm_smi_with_nothing_on_stdout_has_failed_whatever_its_status() -> None:
    text = "ERROR:root:Driver not initialized (amdgpu not found in modules)\n"
    section = await examine({}, {"rocm-smi": answer(stderr=text, exit=0)})
    assert codes(section) == {"amd.driver_not_loaded": "note", "amd.smi_failed": "warning"}


@pytest.mark.anyio
async def test_an_override_explains_what_the_runtime_says() -> None:
    text = "  Name:  gfx1030\n  Device Type:  GPU\n"
    env = {"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}
    section = await examine(CPU | node(1, 100302, 160), {"rocminfo": answer(text)}, env)
    assert codes(section) == {"amd.gfx_override_set": "warning"}
    assert "10.3.0" not in str(section.findings)


@pytest.mark.anyio
async def test_wsl_is_a_limitation_for_rocm() -> None:
    files = {"/proc/sys/kernel/osrelease": "5.15.1-microsoft-standard-WSL2\n"}
    text = "  Name:  gfx1100\n  Marketing Name:  AMD Radeon RX 7900 XTX\n  Device Type:  GPU\n"
    section = await examine(files, {"rocminfo": answer(text)})
    assert codes(section) == {"amd.wsl": "limitation"}
    assert fact(section, "amd.gpus")[0]["name"] == "AMD Radeon RX 7900 XTX"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("GPU:0\nName:gfx1103\n\n", "amd.counters_unsupported"),
        ("GPU    : 0\nName   : gfx1103\nPMC    :\n\n", "amd.counters_unsupported"),
        (
            "… Agent HW architecture is not supported, no counter metrics found.\n",
            "amd.counters_unsupported",
        ),
        (
            "[rocprofv3] Fatal error: Command '['x']' died with <Signals.SIGSEGV: 11>.\n",
            "amd.profiler_crashed",
        ),
    ],
)
async def test_what_the_profiler_lists(text: str, code: str) -> None:
    section = await examine(CPU | node(1, 110003, 24), {"rocprofv3": answer(text)}, probe=True)
    assert codes(section) == {code: "limitation"}


@pytest.mark.anyio
async def test_counters_are_listed_only_when_profilers_are_probed() -> None:
    section = await examine(
        CPU | node(1, 110003, 24), {"rocprofv3": answer("GPU:0\nName:gfx1103\n")}
    )
    assert codes(section) == {}


@pytest.mark.parametrize(
    "text",
    [
        "GPU:0\nName:gfx90a\n\nName:SQ_WAVES\nDescription:waves\nName:GRBM_COUNT\n",
        "GPU : 0\nName : gfx90a\nPMC :\n\nSQ_WAVES   GRBM_COUNT\n",
        "GPU:0\nName:gfx90a\nCounter_Name\t:\tSQ_WAVES\nCounter_Name\t:\tGRBM_COUNT\n",
    ],
)
def test_counters_are_counted_in_every_releases_form(text: str) -> None:
    assert amd_tools.counters(text) == {"gfx90a": 2}


def test_an_instruction_sets_name_is_no_agent(shared: Path) -> None:
    text = (shared / "samples" / "amd" / "rocminfo_mi300x_vf.txt").read_text()
    assert amd_tools.agents(text) == [{"gfx": "gfx942", "name": "AMD Instinct MI300X VF"}]


def test_recorded_smi_output_gives_what_it_holds(shared: Path) -> None:
    folder = shared / "samples" / "amd"

    def gpus(name: str) -> list[dict[str, Any]]:
        return amd_tools.smi_gpus(amd_tools.document((folder / name).read_text()))

    mi210 = gpus("amd_smi_static_mi210.json")[0]
    assert (mi210["gfx"], mi210["memory_total_mib"], mi210["power_limit_w"]) == (
        "gfx90a",
        65520,
        300,
    )
    assert mi210["driver"] is None  # a kernel's banner is no driver version
    assert gpus("amd_smi_static_mi355_ppt0.json")[0]["power_limit_w"] == 1400
    assert gpus("amd_smi_static_bare_array.json")[0]["driver"] == "6.16.6"
    assert gpus("amd_smi_permission_preamble.txt")[0]["name"] == "AMD Instinct MI300X"
    card = gpus("rocm_smi_7900xt_partial.json")[0]
    assert (card["name"], card["memory_total_mib"]) == ("Radeon RX 7900 XT", 20464)
    assert amd_tools.document((folder / "rocm_smi_here_no_gpu.txt").read_text()) is None


def test_rocm_smi_of_many_releases_is_read(shared: Path) -> None:
    for path in sorted((shared / "samples" / "rocm-smi").glob("*.json")):
        gpu = amd_tools.smi_gpus(json.loads(path.read_text()))[0]
        assert gpu["memory_total_mib"] == 12272, path.name
        assert gpu["pci"] == "0000:07:00.0"
        assert gpu["power_limit_w"] == 211


def test_a_permission_preamble_before_the_json_is_a_denial(shared: Path) -> None:
    text = (shared / "samples" / "amd" / "amd_smi_permission_preamble.txt").read_text()
    found = amd_tools.kfd_state(text)
    assert found
    assert found[0] == "denied"


def test_sections_that_are_not_available_are_no_crash() -> None:
    row = {"gpu": 0, "asic": "N/A", "vram": "N/A", "limit": "N/A", "driver": "N/A", "bus": "N/A"}
    assert amd_tools.smi_gpus([row]) == [
        dict.fromkeys(("name", "gfx", "pci", "memory_total_mib", "power_limit_w", "driver"))
    ]
