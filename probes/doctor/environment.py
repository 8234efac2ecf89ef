"""The environment variables that change what engines and GPU libraries do: names, never values.

Also this Python, which is the one that measures: a debug build is much slower.
"""

import sys
import sysconfig
from collections.abc import Iterable
from typing import Any

from ..system import System
from .section import Section

_PREFIXES = (
    *("CUDA_", "NVIDIA_", "NCCL_", "HIP_", "ROCR_", "HSA_", "ROCM_", "GPU_"),
    *("VLLM_", "SGLANG_", "SGL_", "HF_", "TORCH", "PYTORCH_", "TRITON_"),
    *("OMP_", "MKL_", "LLAMA_", "GGML_", "MLX_", "MTL_", "XLA_"),
)
_SECRET_PARTS = ("TOKEN", "SECRET", "PASSWORD", "API_KEY")
_NEVER = ("PATH", "LD_LIBRARY_PATH")


def examine(system: System, section: Section) -> None:
    """Add the names that matter, and this interpreter."""
    section.facts["env"] = {"names": telling_names(system.environ)}
    if system.live:
        section.facts["host"]["python"] = _this_python()
        _report(section, section.facts["host"]["python"])


def telling_names(names: Iterable[str]) -> list[str]:
    """Pick the names that explain behaviour or hold a secret, sorted."""
    return sorted(n for n in names if _telling(n.upper()))


def _telling(name: str) -> bool:
    if name in _NEVER or name.startswith("PERFCITE_"):
        return False
    return (
        name.startswith(_PREFIXES)
        or name == "LD_PRELOAD"
        or any(part in name for part in _SECRET_PARTS)
    )


def _this_python() -> dict[str, Any]:
    gil = getattr(sys, "_is_gil_enabled", None)
    jit = getattr(sys, "_jit", None)
    return {
        "version": sys.version.split()[0],
        "implementation": sys.implementation.name,
        "debug": hasattr(sys, "gettotalrefcount"),
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "gil": bool(gil()) if gil else True,
        "jit": bool(jit.is_enabled()) if jit else False,
    }


def _report(section: Section, python: dict[str, Any]) -> None:
    if python["debug"]:
        section.find(
            "host.python_debug",
            "warning",
            "perfcite runs under a debug build of Python, which is several times slower",
            evidence=["sys.gettotalrefcount: present"],
            affects=("timing",),
        )
    elif python["free_threaded"] or python["jit"]:
        section.find(
            "host.python_unusual",
            "note",
            "perfcite runs under a free-threaded or JIT build of Python",
            evidence=[f"gil {python['gil']}, jit {python['jit']}"],
            affects=("comparison",),
        )
