"""Apple: what macOS tools print, translated interpreters, virtual Macs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from perfcite.probes.doctor import apple, apple_tools, host
from perfcite.probes.doctor.joint import compare
from perfcite.probes.doctor.section import Section
from tests.probes.doctor.machines import answer, codes, fact, finding, machine
from tests.replay import Rules

M2 = {
    "hw.optional.arm64": "1",
    "machdep.cpu.brand_string": "Apple M2 Pro",
    "hw.memsize": str(32 << 30),
}


def sysctl(values: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
    return [{"argv_prefix": ["-n", name], "stdout": value + "\n"} for name, value in values.items()]


async def examine(programs: Rules) -> Section:
    system = machine(programs=programs, platform="darwin")
    return await apple.examine(system, host.read(system))


@pytest.mark.anyio
async def test_ioreg_spares_the_slow_tool() -> None:
    programs = {
        "ioreg": answer('  |   "gpu-core-count" = 19\n  |   "model" = "Apple M2 Pro"\n'),
        "system_profiler": answer(sleep_ms=30000),
        "sysctl": sysctl(M2),
    }
    section = await examine(programs)
    rows = fact(section, "apple.gpus")
    assert (rows[0]["name"], rows[0]["cores"]) == ("Apple M2 Pro", 19)
    assert (rows[0]["memory_kind"], rows[0]["memory_total_mib"]) == ("unified", 32768)
    assert codes(section) == {}


@pytest.mark.anyio
async def test_nothing_in_time_is_unknown_and_not_zero() -> None:
    section = await examine({"ioreg": answer(), "system_profiler": answer(sleep_ms=30000)})
    assert section.facts["apple"]["gpu_cores"] == {
        "value": None,
        "state": "unknown",
        "reason": "timeout",
    }


@pytest.mark.anyio
async def test_a_paravirtual_gpu_is_an_error_for_timing() -> None:
    text = '{"SPDisplaysDataType": [{"sppci_model": "Apple Paravirtual device"}]}'
    programs = {"system_profiler": answer(text), "sysctl": sysctl({"kern.hv_vmm_present": "1"})}
    section = await examine(programs)
    assert codes(section)["apple.virtual_gpu"] == "error"
    assert "Paravirtual" in finding(section, "apple.virtual_gpu").evidence[0]


@pytest.mark.anyio
async def test_command_line_tools_alone_have_no_xctrace() -> None:
    text = 'xcrun: error: unable to find utility "xctrace", not a developer tool or in PATH\n'
    programs = {
        "xcrun": answer(stderr=text, exit=72),
        "xcode-select": answer("/Library/Developer/CommandLineTools\n"),
    }
    section = await examine(programs)
    assert codes(section) == {"apple.no_xctrace": "limitation"}
    fix = finding(section, "apple.no_xctrace").fix
    assert fix
    assert "sudo xcode-select -s /Applications/Xcode.app" in fix.commands[0]
    assert "--install" not in str(fix)


@pytest.mark.anyio
async def test_xcode_has_it() -> None:
    rules = [
        {"argv_prefix": ["--version"], "stdout": "xcrun version 70.\n"},
        {"argv_prefix": ["--find"], "stdout": "/Applications/Xcode.app/usr/bin/xctrace\n"},
        {"argv_prefix": ["xctrace", "version"], "stdout": "xctrace version 16.0 (17F113)\n"},
    ]
    section = await examine({"xcrun": rules})
    assert codes(section) == {}
    assert str(fact(section, "apple.xctrace")).endswith("xctrace")
    assert fact(section, "tools.xctrace.version") == "16.0"
    assert fact(section, "tools.xcrun.version") == "70"


@pytest.mark.anyio
async def test_low_power_and_heat_are_warnings() -> None:
    rules = [
        {"argv_prefix": ["-g", "therm"], "stdout": "\tCPU_Speed_Limit \t= 70\n"},
        {"argv_prefix": ["-g"], "stdout": " lowpowermode         1\n"},
    ]
    section = await examine({"pmset": rules})
    assert codes(section) == {"apple.thermal": "warning", "apple.low_power_mode": "warning"}


@pytest.mark.anyio
async def test_a_cool_mac_on_mains_is_fine() -> None:
    rules = [
        {
            "argv_prefix": ["-g", "therm"],
            "stdout": "Note: No thermal warning level has been recorded\n",
        },
        {"argv_prefix": ["-g"], "stdout": " lowpowermode         0\n"},
    ]
    assert codes(await examine({"pmset": rules})) == {}


@pytest.mark.anyio
async def test_other_systems_are_not_asked() -> None:
    system = machine(programs={"sysctl": sysctl(M2)})
    section = await apple.examine(system, host.read(system))
    assert section.facts == {}
    assert system.started == []


def test_an_engines_interpreter_may_be_translated_while_ours_is_not() -> None:
    facts: dict[str, dict[str, Any]] = {
        "apple": {"apple_silicon": True, "translated": False},
        "python": {"machine": "x86_64", "executable": "/v/bin/python"},
    }
    assert codes(compare(facts)) == {"apple.rosetta": "error"}
    facts["python"]["machine"] = "arm64"
    assert codes(compare(facts)) == {}


def test_an_intel_mac_is_not_translated() -> None:
    facts = {
        "apple": {"apple_silicon": {"value": None, "state": "unknown"}},
        "python": {"machine": "x86_64"},
    }
    assert codes(compare(facts)) == {}


def test_recorded_displays_give_their_gpus(shared: Path) -> None:
    folder = shared / "samples" / "apple"
    m5 = apple_tools.displays((folder / "sp_apple_m5.json").read_text())
    assert [(g["name"], g["cores"]) for g in m5] == [("Apple M5", 10)]
    intel = apple_tools.displays((folder / "sp_intel_dual_nvidia.json").read_text())
    assert [g["name"] for g in intel] == ["Intel Iris Pro", "NVIDIA GeForce GT 750M"]
    assert [g["memory_total_mib"] for g in intel] == [None, 2048]


def test_an_internal_key_gives_way_to_the_models_name() -> None:
    text = '{"SPDisplaysDataType": [{"_name": "kHW_AppleM1Item", "sppci_model": "Apple M1"}]}'
    assert apple_tools.displays(text)[0]["name"] == "Apple M1"


@pytest.mark.parametrize("text", ["", "not json", "[]", '{"SPDisplaysDataType": null}'])
def test_an_empty_answer_holds_no_gpu(text: str) -> None:
    assert apple_tools.displays(text) == []


@pytest.mark.anyio
async def test_without_developer_tools_xcrun_is_not_started_for_it_opens_a_dialogue() -> None:
    text = "xcode-select: error: unable to get active developer directory\n"
    programs = {"xcode-select": answer(stderr=text, exit=2), "xcrun": answer("never")}
    system = machine(programs=programs, platform="darwin")
    section = await apple.examine(system, host.read(system))
    assert codes(section) == {"apple.no_xctrace": "limitation"}
    assert not [argv for argv in system.started if argv[0].endswith("xcrun")]
