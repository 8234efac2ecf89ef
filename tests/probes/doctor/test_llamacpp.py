"""llama.cpp's version in all its forms, and in none."""

from pathlib import Path

import pytest

from perfcite.probes.doctor import llamacpp
from tests.probes.doctor.machines import answer, codes, fact, machine


def test_recorded_outputs_give_the_versions_they_show(shared: Path) -> None:
    folder = shared / "samples" / "llama-cli"
    expected = {
        "v_classic_ubuntu": (3928, "16f30fcf3"),
        "v_shallow_clone": (1313, "086cf81"),
        "v_msvc_no_arch": (4291, "ce8784bd"),
        "v_new_semver_mac": (10991, "930e2fa59"),
        "v_new_semver_build1": (1, "xxxxxx"),
    }
    for name, (build, commit) in expected.items():
        found = llamacpp.parse((folder / f"{name}.txt").read_text()) or {}
        assert (found.get("build"), found.get("commit")) == (build, commit), name
    assert llamacpp.parse((folder / "v_empty_windows.txt").read_text()) is None


def test_the_first_line_need_not_be_the_version() -> None:
    text = "ggml_cuda_init: found 1 CUDA devices:\n  Device 0: L4\nversion: 4291 (ce8784bd)\nbuilt with cc\n"
    assert llamacpp.parse(text) == {"version": "4291", "build": 4291, "commit": "ce8784bd"}


@pytest.mark.anyio
async def test_a_build_without_git_is_unreliable() -> None:
    section = await llamacpp.examine(
        machine(programs={"llama-cli": answer("version: 0 (unknown)\n")})
    )
    assert codes(section) == {"llamacpp.version_unreliable": "note"}


@pytest.mark.anyio
async def test_the_next_program_answers_for_a_silent_one() -> None:
    programs = {"llama-cli": answer(), "llama-server": answer(stderr="version: 4291 (ce8784bd)\n")}
    section = await llamacpp.examine(machine(programs=programs))
    assert codes(section) == {}
    assert fact(section, "engines.llama_cpp.build") == 4291


@pytest.mark.anyio
async def test_a_missing_library_is_quoted() -> None:
    text = "llama-cli: error while loading shared libraries: libcudart.so.12: cannot open\n"
    section = await llamacpp.examine(machine(programs={"llama-cli": answer(stderr=text, exit=127)}))
    assert "libcudart" in section.findings[0].what


@pytest.mark.anyio
async def test_no_llama_cpp_is_absent() -> None:
    section = await llamacpp.examine(machine())
    assert section.facts["engines"]["llama_cpp"]["state"] == "absent"
    assert section.findings == []


@pytest.mark.anyio
async def test_two_binaries_of_different_builds_are_worth_a_note() -> None:
    programs = {
        "llama-cli": answer("version: 4291 (ce8784bd)\n"),
        "llama-server": answer("version: 5000 (0123abcd)\n"),
    }
    section = await llamacpp.examine(machine(programs=programs))
    assert codes(section) == {"tool.duplicates": "note"}
    assert fact(section, "engines.llama_cpp.build") == 4291
    same = dict.fromkeys(programs, programs["llama-cli"])
    assert codes(await llamacpp.examine(machine(programs=same))) == {}
