"""Engine packages of a real virtual environment: odd installs, each told apart."""

import base64
import hashlib
import json
import venv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from perfcite.probes.doctor import engines
from perfcite.probes.doctor.engine_packages import build_of
from perfcite.probes.doctor.interpreter import Choice
from perfcite.probes.doctor.section import Section
from perfcite.probes.system import System
from tests.probes.doctor.machines import codes, fact, finding

pytestmark = pytest.mark.anyio
Install = Callable[[Mapping[str, str]], None]


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    return tmp_path / "env"


@pytest.fixture
def install(environment: Path) -> Install:
    site = next((environment / "lib").glob("python*/site-packages"))

    def put(files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_text(text)

    return put


def metadata(name: str, version: str, **more: str) -> dict[str, str]:
    directory = f"{name.replace('-', '_')}-{version}.dist-info"
    files = {
        f"{directory}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\n"
    }
    return files | {f"{directory}/{key}": text for key, text in more.items()}


async def examine(environment: Path, **system: Any) -> Section:
    choice = Choice(str(environment / "bin" / "python"), "argument", "given")
    return await engines.examine(System(**system), choice)


async def test_the_version_comes_from_the_metadata_and_not_from_the_directory(
    environment: Path, install: Install
) -> None:
    install({"flash_attn-2.8.0.dist-info/METADATA": "Name: flash_attn\nVersion: 2.8.3\n"})
    section = await examine(environment)
    assert fact(section, "engines.flash_attn.version") == "2.8.3"


async def test_an_empty_dist_info_has_no_version(environment: Path, install: Install) -> None:
    install({"vllm-0.9.0.dist-info/INSTALLER": "pip\n", "vllm/__init__.py": ""})
    section = await examine(environment)
    assert section.facts["engines"]["vllm"]["version"]["state"] == "unknown"
    assert "engine.source_tree_no_metadata" not in codes(section)


async def test_copies_that_disagree_make_the_version_unknown(
    environment: Path, install: Install
) -> None:
    install(metadata("vllm", "0.9.2") | metadata("vllm", "0.11.0"))
    section = await examine(environment)
    assert codes(section)["engine.duplicate_metadata"] == "warning"
    assert section.facts["engines"]["vllm"]["version"]["state"] == "unknown"


async def test_a_recorded_hash_decides_who_owns_a_module(
    environment: Path, install: Install
) -> None:
    code = "print()\n"
    digest = base64.urlsafe_b64encode(hashlib.sha256(code.encode()).digest()).decode().rstrip("=")
    install({"triton/__init__.py": code})
    install(metadata("triton", "3.6.0", RECORD="triton/__init__.py,sha256=AAAA,10\n"))
    install(metadata("triton-rocm", "3.7.0", RECORD=f"triton/__init__.py,sha256={digest},8\n"))
    section = await examine(environment)
    assert "triton-rocm's" in finding(section, "engine.duplicate_owner").what
    assert fact(section, "engines.triton.version") == "3.7.0"
    assert fact(section, "engines.triton.distribution") == "triton-rocm"


async def test_distributions_that_share_no_file_do_not_conflict(
    environment: Path, install: Install
) -> None:
    install({"flashinfer/__init__.py": ""})
    install(metadata("flashinfer-python", "0.6.17") | metadata("flashinfer-cubin", "0.6.17"))
    install(metadata("nvidia-ml-py", "13.0") | metadata("pynvml", "13.0.1"))
    section = await examine(environment)
    assert codes(section) == {}
    names = fact(section, "engines.flashinfer.distributions")
    assert names == {"flashinfer-cubin": "0.6.17", "flashinfer-python": "0.6.17"}


async def test_both_names_of_a_renamed_kernel_package_conflict(
    environment: Path, install: Install
) -> None:
    install(metadata("sglang-kernel", "0.4.6") | metadata("sgl-kernel", "0.3.0"))
    section = await examine(environment)
    assert codes(section)["engine.duplicate_owner"] == "warning"


async def test_an_editable_install_is_a_note(environment: Path, install: Install) -> None:
    url = json.dumps({"url": "file:///src/sglang", "dir_info": {"editable": True}})
    install(metadata("sglang", "0.5.0", **{"direct_url.json": url}))
    section = await examine(environment)
    assert codes(section)["engine.editable"] == "note"
    assert fact(section, "engines.sglang.editable") is True


async def test_damaged_metadata_of_an_install_is_no_crash(
    environment: Path, install: Install
) -> None:
    install(metadata("vllm", "0.11.0", **{"direct_url.json": "[not json"}))
    assert fact(await examine(environment), "engines.vllm.version") == "0.11.0"


async def test_a_source_tree_may_state_its_version(environment: Path, install: Install) -> None:
    text = "__version__ = version = '0.12.0.dev3'\n"
    install({"vllm/__init__.py": "", "vllm/_version.py": text})
    section = await examine(environment)
    assert codes(section)["engine.source_tree_no_metadata"] == "note"
    assert fact(section, "engines.vllm.version") == "0.12.0.dev3"


async def test_an_empty_folder_is_no_package(environment: Path, install: Install) -> None:
    install({"vllm/__pycache__/x.pyc": "", "sglang/data/x.json": "{}"})
    section = await examine(environment)
    assert codes(section) == {}
    assert section.facts["engines"]["vllm"]["state"] == "absent"


async def test_mlx_is_a_namespace_on_purpose(environment: Path, install: Install) -> None:
    install({"mlx/core.cpython-312-darwin.so": ""})
    install(metadata("mlx", "0.29.0") | metadata("mlx-metal", "0.29.0"))
    section = await examine(environment)
    assert fact(section, "engines.mlx.importable") is True
    assert codes(section) == {}


async def test_torch_lists_what_it_was_built_for(environment: Path, install: Install) -> None:
    install(metadata("torch", "2.9.0+rocm6.4"))
    library = "torch/lib/rocblas/library/"
    install(
        {library + n: "" for n in ("Kernels.so-000-gfx1100.hsaco", "Tensile_gfx90a-xnack+.dat")}
    )
    section = await examine(environment)
    assert fact(section, "engines.torch.kernels") == ["gfx1100", "gfx90a"]
    assert fact(section, "engines.torch.rocm") == "6.4"


async def test_lib64_that_is_a_link_to_lib_gives_no_duplicate(
    environment: Path, install: Install
) -> None:
    install(metadata("vllm", "0.11.0"))
    place = next((environment / "lib").glob("python*"))
    twin = environment / "twin"
    twin.symlink_to(place / "site-packages")
    (place / "site-packages" / "again.pth").write_text(f"{twin}\n")
    assert codes(await examine(environment)) == {}


async def test_what_pth_files_add_is_seen(
    environment: Path, install: Install, tmp_path: Path
) -> None:
    (tmp_path / "src" / "vllm").mkdir(parents=True)
    (tmp_path / "src" / "vllm" / "__init__.py").touch()
    (tmp_path / "src" / "vllm.egg-info").mkdir()
    (tmp_path / "src" / "vllm.egg-info" / "PKG-INFO").write_text("Name: vllm\nVersion: 0.12\n")
    install({"easy-install.pth": f"{tmp_path / 'src'}\n"})
    section = await examine(environment)
    assert fact(section, "engines.vllm.version") == "0.12"
    assert "engine.editable" in codes(section)


async def test_a_checkout_in_the_working_directory_shadows_the_install(
    environment: Path, install: Install, tmp_path: Path
) -> None:
    install(metadata("vllm", "0.11.0"))
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").touch()
    assert "engine.cwd_shadows" in codes(await examine(environment, cwd=str(tmp_path)))


@pytest.mark.parametrize(
    ("version", "built"),
    [
        ("2.11.0+cu130", {"cuda": "13.0"}),
        ("2.4.0+cu118", {"cuda": "11.8"}),
        ("2.12.0.dev20260408+rocm7.2", {"rocm": "7.2"}),
        ("2.7.0a0+79aa17489c.nv25.04", {"variant": "NVIDIA container 25.04"}),
        ("2.13.0+cpu", {"variant": "cpu"}),
        ("2.13.0", {}),
        ("2.9.0+gitabcdef", {}),
    ],
)
def test_build_tags_of_torch(version: str, built: dict[str, str]) -> None:
    assert build_of(version) == built
