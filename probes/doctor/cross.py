"""Findings that need two parts at once: a wheel against its driver, kernels against a GPU."""

import re
from collections.abc import Mapping
from typing import Any

from ...evidence.payloads import Fix
from .section import Section, value_of

_WHEELS = "https://download.pytorch.org/whl"
_OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


def compare(facts: Mapping[str, Any]) -> Section:
    """Hold the merged facts of all parts against each other."""
    section = Section()
    _cuda_versions(facts, section)
    _torch_driver(facts, section)
    _torch_without_gpu(facts, section)
    _gfx_kernels(facts, section)
    return section


def fact(facts: Mapping[str, Any], path: str) -> Any:
    """Give the value at a dotted path; None where any part of it is missing or unknown."""
    value: Any = facts
    for name in path.split("."):
        value = value_of(value)
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value_of(value)


def _cuda_versions(facts: Mapping[str, Any], section: Section) -> None:
    """Three versions with three meanings; that they differ is usual, and worth knowing."""
    driver = fact(facts, "nvidia.cuda_driver_max")
    nvcc = fact(facts, "tools.nvcc.version")
    torch = fact(facts, "engines.torch.cuda")
    known = {"driver supports": driver, "nvcc is": nvcc, "torch was built for": torch}
    told = {name: version for name, version in known.items() if version is not None}
    if driver is None or len(set(told.values())) < 2:
        return
    section.find(
        "nvidia.cuda_versions_differ",
        "note",
        "CUDA versions differ: " + ", ".join(f"{name} {version}" for name, version in told.items()),
        evidence=[f"CUDA, {name}: {version}" for name, version in told.items()],
        affects=("comparison",),
        fix=Fix(
            summary="nothing, unless code is compiled here: then build with the toolkit that torch "
            "was built for, and with none newer than the driver supports",
            commands=("nvcc --version", "nvidia-smi"),
            verify="perfcite doctor",
        ),
    )


def _torch_driver(facts: Mapping[str, Any], section: Section) -> None:
    """A wheel for a later major version of CUDA than the driver's cannot run.

    Within one major version a newer wheel runs on an older driver (CUDA minor version compatibility,
    https://docs.nvidia.com/deploy/cuda-compatibility/).
    """
    driver, torch = fact(facts, "nvidia.cuda_driver_max"), fact(facts, "engines.torch.cuda")
    if driver is None or torch is None or _major(torch) <= _major(driver):
        return
    version = fact(facts, "nvidia.driver.version")
    wheels = f"cu{driver.replace('.', '')}"
    section.find(
        "nvidia.torch_driver_too_old",
        "error",
        f"torch is built for CUDA {torch}, the driver ({version or 'version unknown'}) supports "
        f"up to CUDA {driver}: torch finds no GPU and works on the CPU without an error",
        evidence=[
            f"torch {fact(facts, 'engines.torch.version')}: CUDA {torch}",
            f"NVIDIA driver {version}: CUDA {driver} at most",
        ],
        affects=("running", "timing"),
        fix=Fix(
            summary=f"install a torch wheel for CUDA {_major(driver)}, or a newer driver on the host",
            commands=(f"pip install --force-reinstall torch --index-url {_WHEELS}/{wheels}",),
            verify='python -c "import torch; print(torch.cuda.is_available())"',
        ),
    )


def _torch_without_gpu(facts: Mapping[str, Any], section: Section) -> None:
    """A CPU build of torch beside a GPU that works."""
    version = fact(facts, "engines.torch.version")
    gpus = fact(facts, "nvidia.gpus")
    if not isinstance(version, str) or not version.endswith("+cpu") or not gpus:
        return
    section.find(
        "nvidia.torch_cpu_build",
        "warning",
        f"torch {version} is a CPU build, though this machine has an NVIDIA GPU",
        evidence=[f"torch: {version}", f"nvidia.gpus: {len(gpus)}"],
        affects=("running", "timing"),
        fix=Fix(
            summary="install a CUDA build of torch into the interpreter that runs the engine",
            commands=("pip install --force-reinstall torch",),
            verify='python -c "import torch; print(torch.version.cuda)"',
        ),
    )


def _gfx_kernels(facts: Mapping[str, Any], section: Section) -> None:
    """A ROCm wheel holds compiled kernels for some targets only; on another GPU the first call fails."""
    kernels, gpus = fact(facts, "engines.torch.kernels"), fact(facts, "amd.gpus")
    if not kernels or not isinstance(gpus, list):
        return
    overridden = _OVERRIDE in (fact(facts, "env.names") or ())
    discrete = any(value_of(g.get("integrated")) is False for g in gpus)
    lacking: dict[tuple[str, bool], list[Any]] = {}
    for gpu in gpus:
        gfx = str(value_of(gpu.get("gfx")) or "").partition(":")[0]
        if gfx and gfx not in kernels:
            # Beside a discrete GPU nobody means to compute on the integrated one.
            spare = discrete and value_of(gpu.get("integrated")) is True
            lacking.setdefault((gfx, spare), []).append(gpu.get("index"))
    for (gfx, spare), indices in lacking.items():
        numbers = ", ".join(map(str, indices))
        section.find(
            "amd.gfx_unsupported",
            "note" if spare else "warning" if overridden else "error",
            f"torch has no kernels for {gfx} (GPU{'s' if len(indices) > 1 else ''} {numbers}); it "
            f"has {', '.join(kernels)}"
            + (f", and {_OVERRIDE} makes it use another's" if overridden else ""),
            evidence=[
                *(f"amd.gpus, GPU {index}: {gfx}" for index in indices),
                f"torch/lib: kernels for {', '.join(kernels)}",
            ],
            affects=("running",),
            fix=Fix(
                summary=f"install a wheel that is built for {gfx}",
                commands=("pip index versions torch",),
                verify='python -c "import torch; print(torch.cuda.get_arch_list())"',
            ),
        )


def _major(version: str) -> int:
    found = re.match(r"\d+", version)
    return int(found.group()) if found else 0
