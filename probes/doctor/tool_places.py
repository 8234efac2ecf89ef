"""Where vendors put their tools besides PATH, and what kind of file a tool is.

Sources: the installers of Nsight Compute and Systems (/opt/nvidia), CUDA (/usr/local/cuda-X.Y), the HPC
SDK, ROCm (/opt/rocm-X.Y.Z), conda, WSL; ELF, PE and Mach-O headers as in their specifications.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..system import System

FileKind = Literal["elf", "pe", "macho", "script", "empty", "other", "unreadable"]

_ELF_MACHINES = {
    0x03: "i386",
    0x08: "mips",
    0x15: "ppc64le",
    0x28: "arm",
    0x3E: "x86_64",
    0xB7: "aarch64",
    0xF3: "riscv64",
}
_PE_MACHINES = {0x014C: "i386", 0x8664: "x86_64", 0xAA64: "aarch64"}
_MACHO_MACHINES = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
_HEAD = 4096


@dataclass(frozen=True)
class FileHead:
    """What the first bytes of a file say; `machine` is None where they name none."""

    kind: FileKind
    machine: str | None = None
    interpreter: str | None = None


def directories(system: System) -> list[str]:
    """List the tool directories of this machine that are there, the newest version of each first."""
    found = _windows(system) if system.platform == "windows" else _unix(system)
    return list(dict.fromkeys(d for d in found if system.is_dir(d)))


def _unix(system: System) -> Iterator[str]:
    environ = system.environ
    for name in ("CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "ROCM_HOME", "HIP_PATH", "CONDA_PREFIX"):
        if environ.get(name):
            yield f"{environ[name].rstrip('/')}/bin"
    yield "/usr/lib/wsl/lib"
    for name in ["cuda", *_newest(system, "/usr/local", "cuda-")]:
        yield f"/usr/local/{name}/bin"
    nvidia = "/opt/nvidia"
    for version in _newest(system, f"{nvidia}/nsight-systems", ""):
        yield f"{nvidia}/nsight-systems/{version}/bin"
        yield from _targets(system, f"{nvidia}/nsight-systems/{version}")
    for version in _newest(system, f"{nvidia}/nsight-systems-cli", ""):
        yield f"{nvidia}/nsight-systems-cli/{version}/bin"
        yield from _targets(system, f"{nvidia}/nsight-systems-cli/{version}")
    for version in _newest(system, f"{nvidia}/nsight-compute", ""):
        yield f"{nvidia}/nsight-compute/{version}"
    for family in system.names(f"{nvidia}/hpc_sdk"):
        for version in _newest(system, f"{nvidia}/hpc_sdk/{family}", ""):
            base = f"{nvidia}/hpc_sdk/{family}/{version}"
            yield f"{base}/cuda/bin"
            yield f"{base}/profilers/Nsight_Systems/bin"
            yield f"{base}/profilers/Nsight_Compute"
    for name in ["rocm", *_newest(system, "/opt", "rocm-")]:
        yield f"/opt/{name}/bin"
    # ncu's package carries an nsys of its own: the last resort, never a second copy.
    for version in _newest(system, f"{nvidia}/nsight-compute", ""):
        yield from _targets(system, f"{nvidia}/nsight-compute/{version}/host")


def is_bundled(path: str) -> bool:
    """Tell whether a copy belongs to another tool's package, such as the nsys inside ncu's."""
    return "/nsight-compute/" in path and "/host/" in path


def is_toolkit(path: str) -> bool:
    """Tell whether a copy lies in a toolkit's own directory: on PATH it was put there on purpose."""
    marks = ("/usr/local/cuda", "/opt/nvidia/", "/opt/rocm", "/hpc_sdk/", "conda", "/envs/")
    return any(mark in path for mark in marks)


def _windows(system: System) -> Iterator[str]:
    environ = system.environ
    files = environ.get("ProgramFiles", r"C:\Program Files")
    corporation = os.path.join(files, "NVIDIA Corporation")
    for name in reversed(system.names(corporation)):
        if name.startswith("Nsight Compute"):
            yield os.path.join(corporation, name)
        elif name.startswith("Nsight Systems"):
            yield os.path.join(corporation, name, "target-windows-x64")
    yield os.path.join(corporation, "NVSMI")
    toolkit = os.path.join(files, "NVIDIA GPU Computing Toolkit", "CUDA")
    for version in reversed(system.names(toolkit)):
        yield os.path.join(toolkit, version, "bin")
    rocm = os.path.join(files, "AMD", "ROCm")
    for version in reversed(system.names(rocm)):
        yield os.path.join(rocm, version, "bin")
    for name in ("CUDA_PATH", "HIP_PATH"):
        if environ.get(name):
            yield os.path.join(environ[name], "bin")


def _targets(system: System, base: str) -> list[str]:
    return [
        f"{base}/{n}" for n in system.names(base) if n.startswith(("target-linux", "host-linux"))
    ]


def _newest(system: System, parent: str, prefix: str) -> list[str]:
    named = [
        n for n in system.names(parent) if n.startswith(prefix) and n[len(prefix) :][:1].isdigit()
    ]
    return sorted(named, key=version_key, reverse=True)


def version_key(text: str) -> tuple[int, ...]:
    """Order versions by their numbers: 2022.4.2 before 2026.1."""
    digits = "".join(c if c.isdigit() else " " for c in text.split("-g", maxsplit=1)[0])
    return tuple(int(part) for part in digits.split())


def read_head(path: str) -> FileHead:
    """Read what kind of file a program is. `path` is of this host."""
    try:
        with Path(path).open("rb") as file:
            return parse_head(file.read(_HEAD))
    except OSError:
        return FileHead("unreadable")


def parse_head(head: bytes) -> FileHead:
    """Tell the kind from the first bytes; a machine that no table knows is given as its number."""
    if not head:
        return FileHead("empty")
    if head.startswith(b"#!"):
        words = head[2:].split(b"\n", 1)[0].decode("utf-8", "replace").split()
        return FileHead("script", interpreter=words[0] if words else None)
    if head.startswith(b"\x7fELF"):
        order: Literal["little", "big"] = "big" if head[5:6] == b"\x02" else "little"
        return FileHead("elf", _named(_ELF_MACHINES, head[18:20], order))
    if head.startswith(b"MZ"):
        offset = int.from_bytes(head[0x3C:0x40], "little")
        return FileHead("pe", _named(_PE_MACHINES, head[offset + 4 : offset + 6], "little"))
    if head[:4] in (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe"):
        return FileHead("macho", _named(_MACHO_MACHINES, head[4:8], "little"))
    return FileHead("macho" if head[:4] == b"\xca\xfe\xba\xbe" else "other")


def _named(table: dict[int, str], raw: bytes, order: Literal["little", "big"]) -> str | None:
    if len(raw) not in (2, 4):
        return None
    number = int.from_bytes(raw, order)
    return table.get(number, f"machine 0x{number:x}")
