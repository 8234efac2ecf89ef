"""What the machine's files say about NVIDIA, before any NVIDIA program is asked. Costs no GPU wake-up.

/proc/driver/nvidia, PCI in /sys, device nodes, Tegra's release file, WSL's /dev/dxg, and where
libnvidia-ml would be looked up. Nothing under /dev is opened: opening a node initialises the GPU.
"""

import os
import re
import stat
from dataclasses import dataclass, replace

from ..system import System

LIBRARY = "libnvidia-ml.so.1"
LIBRARY_PLACES = (
    "/usr/lib/wsl/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/local/nvidia/lib64",
    "/usr/lib64-nvidia",
    "/run/opengl-driver/lib",
    "/usr/lib/nvidia",
)
# Display controllers of PCI class 03: VGA (00) and 3D (02); 04.03 is the card's audio device.
_GPU_CLASSES = ("0x0300", "0x0302")
_VENDOR = "0x10de"
_WITHOUT_OUR_DRIVER = frozenset({"vfio-pci", "pci-stub", "nouveau", "nova_core", "xen-pciback"})
_SLURM = ("SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "SLURM_GPUS_ON_NODE")


@dataclass(frozen=True)
class PciGpu:
    """An NVIDIA GPU on the PCI bus; `driver` is the kernel driver bound to it."""

    bus_id: str
    driver: str | None


@dataclass(frozen=True)
class Machine:
    """What files say. None means that it could not be read."""

    pci: tuple[PciGpu, ...] | None = None
    device_nodes: tuple[str, ...] = ()
    refused_nodes: tuple[str, ...] = ()
    kernel_version: str | None = None
    open_module: bool | None = None
    proc_driver: bool = False
    admin_only: int | None = None
    params: str | None = None  # why admin_only is None: absent, no_permission, error, no_key
    tegra: str | None = None
    board: str | None = None
    dxg: bool = False
    library_directory: str | None = None  # a directory where the library should be
    preset_library: str | None = None  # the library in LD_LIBRARY_PATH
    hostengine: str | None = None  # `file: name` of a running DCGM host engine
    mps: bool = False
    in_slurm_job: bool = False
    memory_total_kib: int | None = None

    @property
    def expected(self) -> int | None:
        """How many GPUs our driver should list: those that no other driver holds."""
        if self.pci is None:
            return None
        return sum(g.driver not in _WITHOUT_OUR_DRIVER for g in self.pci)

    @property
    def has_sign(self) -> bool:
        """Whether any file points to an NVIDIA GPU or its driver."""
        return bool(
            self.pci
            or self.device_nodes
            or self.proc_driver
            or self.tegra
            or self.dxg
            or self.preset_library
            or self.library_directory
        )


def look(system: System) -> Machine:
    """Read all of it. Only Linux has these files; elsewhere the answer is empty."""
    if system.platform != "linux":
        return Machine()
    nodes = tuple(f"/dev/{n}" for n in system.names("/dev") if re.fullmatch(r"nvidia\d+", n))
    version = system.read("/proc/driver/nvidia/version")
    admin_only, params = _params(system)
    machine = Machine(
        pci=_pci(system),
        device_nodes=nodes,
        refused_nodes=tuple(n for n in nodes if _refused(system, n)),
        kernel_version=parse_kernel_version(version or ""),
        open_module=None if version is None else "Open Kernel Module" in version,
        proc_driver=system.lexists("/proc/driver/nvidia"),
        admin_only=admin_only,
        params=params,
        tegra=_tegra(system),
        board=_board(system),
        dxg=system.lexists("/dev/dxg"),
        library_directory=_library_directory(system),
        preset_library=preset_library(system),
        in_slurm_job=any(name in system.environ for name in _SLURM),
        memory_total_kib=_memory_total(system.read("/proc/meminfo") or ""),
    )
    if system.live and not machine.has_sign:
        return machine  # neither daemon runs without a driver, and /proc is long
    running = _running(system, {"nv-hostengine", "nvidia-cuda-mps"})
    return replace(
        machine, hostengine=running.get("nv-hostengine"), mps="nvidia-cuda-mps" in running
    )


def parse_kernel_version(text: str) -> str | None:
    """Read /proc/driver/nvidia/version: `NVRM version: … Kernel Module [for ARCH]  570.124.06  …`."""
    found = re.search(r"^NVRM version:.*?Module\b.*?\s(\d+\.\d+(?:\.\d+)?)\s", text, re.MULTILINE)
    return found.group(1) if found else None


def parse_admin_only(text: str) -> int | None:
    """Read RmProfilingAdminOnly of /proc/driver/nvidia/params; None where it has no such key.

    The keys come in any order, and RegistryDwords may hold `;` and `=`.
    """
    found = re.search(r"^RmProfilingAdminOnly:\s*(\d+)\s*$", text, re.MULTILINE)
    return int(found.group(1)) if found else None


def preset_library(system: System) -> str | None:
    """Find the library in LD_LIBRARY_PATH, whose directories are this host's own, sysroot or not."""
    for directory in system.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        path = os.path.join(directory, LIBRARY)
        if directory and os.path.isfile(path):
            return path
    return None


def _library_directory(system: System) -> str | None:
    for directory in system.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        if directory and os.path.isdir(os.path.join(directory, LIBRARY)):
            return system.shown(os.path.join(directory, LIBRARY))
    for directory in LIBRARY_PLACES:
        if system.is_dir(f"{directory}/{LIBRARY}"):
            return f"{directory}/{LIBRARY}"
    return None


def _params(system: System) -> tuple[int | None, str | None]:
    path = "/proc/driver/nvidia/params"
    text = system.read(path)
    if text is None:
        return None, system.why_unreadable(path)
    value = parse_admin_only(text)
    return value, None if value is not None else "no_key"


def _pci(system: System) -> tuple[PciGpu, ...] | None:
    root = "/sys/bus/pci/devices"
    if not system.is_dir(root):
        return None
    found = []
    for name in system.names(root):
        device = f"{root}/{name}"
        if system.word(f"{device}/vendor") != _VENDOR:
            continue
        if (system.word(f"{device}/class") or "").startswith(_GPU_CLASSES):
            driver = system.link_target(f"{device}/driver")
            found.append(PciGpu(name, os.path.basename(driver) if driver else None))
    return tuple(found)


def _refused(system: System, path: str) -> bool:
    """Whether a node's mode shuts this user out. Asked of the mode: opening would wake the GPU."""
    real = system.real(path)
    if system.live:
        return not os.access(real, os.R_OK | os.W_OK)
    try:
        return not os.stat(real).st_mode & (stat.S_IROTH | stat.S_IRGRP)
    except OSError:
        return False


def _tegra(system: System) -> str | None:
    release = system.word("/etc/nv_tegra_release")
    if release is not None:
        return release.splitlines()[0][:80]
    compatible = system.read("/proc/device-tree/compatible") or ""
    found = re.search(r"nvidia,tegra[\w-]*", compatible)
    return found.group() if found else None


def _board(system: System) -> str | None:
    model = (system.read("/proc/device-tree/model") or "").replace("\0", "").strip()
    return model or None


def _running(system: System, wanted: set[str]) -> dict[str, str]:
    """Find processes by the kernel's name for them, which is cut at 15 characters."""
    found: dict[str, str] = {}
    for pid in system.names("/proc"):
        if not pid.isdigit():
            continue
        comm = system.word(f"/proc/{pid}/comm") or ""
        for name in wanted:
            if comm.startswith(name):
                found.setdefault(name, f"/proc/{pid}/comm: {comm}")
    return found


def _memory_total(meminfo: str) -> int | None:
    found = re.search(r"^MemTotal:\s+(\d+) kB", meminfo, re.MULTILINE)
    return int(found.group(1)) if found else None
