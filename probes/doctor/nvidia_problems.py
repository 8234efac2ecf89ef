"""Findings about a driver that lists no GPU, one for each cause."""

from collections.abc import Callable

from ...evidence.payloads import Fix
from .nvidia_answers import Driver
from .nvidia_machine import Machine
from .nvidia_reading import Problem
from .section import Section

CONTAINER_RUN = "docker run --gpus all …"
_NOT_LOADED = {
    None: "the NVIDIA driver is not loaded, so no GPU can be used",
    "yes": "no GPU was passed into this container: the image brings its own libcuda and "
    "libnvidia-ml, and what they answer without a driver proves nothing",
    "uncertain": "the NVIDIA driver is not loaded, or this is a container that was given no GPU; "
    "what libcuda answers without a driver proves nothing",
}


def judge(driver: Driver, section: Section) -> None:
    """Add the finding for the cause; where no source failed and none answered, that may be one too."""
    problem = driver.problem()
    if problem is None:
        _judge_no_answer(driver, section)
    else:
        _JUDGES[problem](driver, section)


def _library_mismatch(driver: Driver, section: Section) -> None:
    kernel = driver.machine.kernel_version
    loaded = f"the loaded kernel module is {kernel}, " if kernel else ""
    section.find(
        "nvidia.driver_library_mismatch",
        "error",
        f"{loaded}the user-space library is of another version: it was upgraded under the running "
        "module. Jobs that are running may be fine; new programs fail",
        evidence=[*driver.lines(), *_kernel_line(driver.machine)],
        affects=("running",),
        fix=driver.place.fix(
            "reboot, or unload and reload the modules when nothing uses the GPU",
            ("sudo reboot",),
            container="start the container again, so that it gets the host's current libraries",
            launch=("docker restart CONTAINER",),
            windows="restart WSL",
            windows_commands=("wsl --shutdown",),
            needs_reboot=True,
            where="reboot",
        ),
    )


def _no_permission(driver: Driver, section: Section) -> None:
    machine = driver.machine
    nodes = ", ".join(machine.refused_nodes or machine.device_nodes) or "/dev/nvidia*"
    section.find(
        "nvidia.devnode_denied",
        "error",
        f"this user may not open {nodes}",
        evidence=[*driver.lines(), *(f"{n}: not accessible" for n in machine.refused_nodes[:4])],
        affects=("running",),
        fix=driver.place.fix(
            "give this user access: the group that owns the nodes, or mode 0666 by the driver's "
            "NVreg_DeviceFileMode; SELinux may refuse too",
            ("ls -l /dev/nvidia*", "sudo chmod 0666 /dev/nvidia*"),
            container="start the container with the GPUs passed in",
            launch=(CONTAINER_RUN,),
        ),
    )


def _driver_not_loaded(driver: Driver, section: Section) -> None:
    machine, place = driver.machine, driver.place
    if machine.tegra:
        return
    if machine.pci == () and not machine.dxg and not place.windows:
        _no_gpu(driver, section)
        return
    section.find(
        "nvidia.driver_not_loaded",
        "error",
        _NOT_LOADED[place.container],
        evidence=driver.lines() or _pci_lines(machine),
        affects=("running", "profiling"),
        fix=place.fix(
            "load the kernel module, or install it for the running kernel",
            ("sudo modprobe nvidia", "sudo dmesg | grep -i -E 'nvrm|nvidia'"),
            container="start the container with its GPUs (needs nvidia-container-toolkit there)",
            launch=(CONTAINER_RUN,),
            windows="install the NVIDIA driver on Windows, and none inside WSL; then restart WSL",
            windows_commands=("wsl --update", "wsl --shutdown"),
        ),
    )


def _no_gpu(driver: Driver, section: Section) -> None:
    section.find(
        "nvidia.no_gpu",
        "note",
        "NVIDIA's programs or libraries are installed, but no NVIDIA GPU is on the PCI bus for them",
        evidence=[*driver.lines(), "/sys/bus/pci/devices: no display device of vendor 0x10de"],
        affects=("comparison",),
        fix=Fix(
            summary="nothing, where no NVIDIA GPU is expected",
            commands=("lspci -d 10de:",),
            verify="lspci -d 10de:",
        ),
    )


def _unknown_error(driver: Driver, section: Section) -> None:
    if driver.place.container is None:
        _failed(driver, section)
        return
    nodes = ", ".join(driver.machine.device_nodes[:4])
    section.find(
        "nvidia.container_lost_gpu",
        "error",
        "this container has lost its GPUs: the nodes are there, the device cgroup no longer allows "
        "them (a `systemctl daemon-reload` on the host does that)",
        evidence=[*driver.lines(), *([f"/dev: {nodes}"] if nodes else [])],
        affects=("running",),
        fix=driver.place.fix(
            "restart the container; to keep it from happening, use CDI or the cgroupfs driver",
            ("docker restart CONTAINER",),
            container="restart the container; its host avoids this with CDI or the cgroupfs driver",
            launch=("docker restart CONTAINER",),
        ),
    )


def _no_devices(driver: Driver, section: Section) -> None:
    machine = driver.machine
    if machine.tegra:
        return
    if machine.refused_nodes:
        _no_permission(driver, section)
        return
    if machine.expected == 0 and not machine.dxg:
        _no_gpu(driver, section)
        return
    count = f"{machine.expected} on the PCI bus" if machine.expected else "some expected"
    section.find(
        "nvidia.no_devices_found",
        "error",
        f"the NVIDIA driver lists no GPU ({count}): the wrong flavour of module (newer GPUs need "
        "the open one), a GPU that failed to start, or devices that were not passed in",
        evidence=[*driver.lines(), *_pci_lines(machine)],
        affects=("running",),
        fix=driver.place.fix(
            "read why the driver refuses them; install the open kernel module where it says so",
            ("sudo dmesg | grep -i -E 'nvrm|xid'", "modinfo nvidia | grep license"),
            container="start the container with its GPUs",
            launch=(CONTAINER_RUN,),
        ),
    )


def _library_missing(driver: Driver, section: Section) -> None:
    machine = driver.machine
    if machine.tegra:
        return
    directory = machine.library_directory
    if directory is None and not _expects_gpu(driver):
        return
    installed = machine.proc_driver or machine.device_nodes or machine.dxg
    if directory is None and not installed:
        _driver_not_loaded(driver, section)
        return
    what = (
        f"{directory} is a directory, so libnvidia-ml cannot be loaded (a runtime made the "
        "mount point before the library was there)"
        if directory
        else "libnvidia-ml is not there or does not load, so no GPU can be listed"
    )
    section.find(
        "nvidia.library_missing",
        "error",
        what,
        evidence=[*([f"{directory}: is a directory"] if directory else []), *driver.lines()],
        affects=("running", "profiling"),
        fix=driver.place.fix(
            "remove what stands in its place and install the driver's libraries again"
            if directory
            else "install the driver's user-space libraries, of the kernel module's version",
            (f"ls -ld {directory}",) if directory else ("ldconfig -p | grep libnvidia-ml",),
            container="start the container with the driver's libraries",
            launch=("docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …",),
        ),
    )


def _failed(driver: Driver, section: Section) -> None:
    machine = driver.machine
    if machine.pci == () and not (machine.dxg or machine.tegra or driver.place.windows):
        _no_gpu(driver, section)
        return
    section.find(
        "nvidia.nvml_failed",
        "error",
        "NVML does not start"
        if driver.nvml.problem == "failed"
        else "nvidia-smi fails at every query, so no GPU can be listed",
        evidence=driver.lines(),
        affects=("running", "profiling"),
        fix=driver.place.fix(
            "read what the kernel module says", ("sudo dmesg | grep -i -E 'nvrm|xid'",)
        ),
    )


def _blocked(driver: Driver, section: Section) -> None:
    section.find(
        "nvidia.blocked_by_windows",
        "error",
        "the operating system keeps the GPU from WSL: an old WSL or driver, or a GPU in TCC mode",
        evidence=driver.lines(),
        affects=("running",),
        fix=driver.place.fix(
            "update WSL and the Windows driver",
            windows="update WSL and the NVIDIA driver on Windows; a GPU in TCC mode is not passed in",
            windows_commands=("wsl --update", "wsl --shutdown"),
        ),
    )


def _judge_no_answer(driver: Driver, section: Section) -> None:
    """No source failed and none answered: only a live machine without the driver is a finding."""
    machine = driver.machine
    if driver.live and machine.pci and not machine.tegra and not machine.proc_driver:
        _driver_not_loaded(driver, section)


def _expects_gpu(driver: Driver) -> bool:
    machine = driver.machine
    return bool(machine.pci or machine.device_nodes or machine.proc_driver or machine.dxg)


def _kernel_line(machine: Machine) -> list[str]:
    version = machine.kernel_version
    return [f"/proc/driver/nvidia/version: {version}"] if version else []


def _pci_lines(machine: Machine) -> list[str]:
    return [
        f"/sys/bus/pci/devices/{g.bus_id}: NVIDIA display device, driver {g.driver or '(none)'}"
        for g in (machine.pci or ())[:4]
    ]


_JUDGES: dict[Problem, Callable[[Driver, Section], None]] = {
    "library_mismatch": _library_mismatch,
    "blocked": _blocked,
    "no_permission": _no_permission,
    "driver_not_loaded": _driver_not_loaded,
    "unknown_error": _unknown_error,
    "no_devices": _no_devices,
    "library_missing": _library_missing,
    "failed": _failed,
}
