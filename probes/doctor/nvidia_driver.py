"""Findings about the driver as a whole: crashed, silent, or failed for a cause.

They are judged from what NVML and nvidia-smi answered together: where either named GPUs the driver
works, and the other's failure is at most a warning.
"""

from . import nvidia_problems
from .nvidia_answers import Driver
from .nvidia_problems import CONTAINER_RUN
from .section import Section


def judge(driver: Driver, section: Section) -> None:
    """Add what is wrong with the driver, if anything."""
    _judge_crash(driver, section)
    _judge_silence(driver, section)
    if driver.gpus_named or _silent(driver) or _crash(driver):
        return
    nvidia_problems.judge(driver, section)


def _crash(driver: Driver) -> str | None:
    """Say how NVML ended; nvidia-smi's own crash counts where nothing else answered."""
    if driver.nvml.problem == "crashed":
        return (driver.nvml.line or "").removeprefix("NVML: ")
    signals = [c.crashed for c in driver.smi.copies if c.crashed]
    return f"killed by {signals[0]}" if signals and not driver.gpus_named else None


def _judge_crash(driver: Driver, section: Section) -> None:
    how = _crash(driver)
    if how is None:
        return
    section.find(
        "nvidia.nvml_crashed",
        "error",
        f"NVML does not survive being asked ({how}); CUDA itself may work, but every program that "
        "loads NVML (vLLM, monitors) ends with it",
        evidence=driver.lines(),
        affects=("running", "profiling"),
        fix=driver.place.fix(
            "install the user-space libraries of the loaded kernel module's version",
            ("cat /proc/driver/nvidia/version", "ldconfig -p | grep libnvidia-ml"),
            container="start the container with the host's libraries, not with some of its image",
            launch=(CONTAINER_RUN,),
            windows="update the NVIDIA driver on Windows, and WSL itself",
            windows_commands=("wsl --update", "wsl --shutdown"),
        ),
    )


def _silent(driver: Driver) -> bool:
    return driver.nvml.problem == "timeout" or any(c.hung for c in driver.smi.copies)


def _judge_silence(driver: Driver, section: Section) -> None:
    if not _silent(driver):
        return
    section.find(
        "nvidia.smi_timeout",
        "warning" if driver.gpus_named else "error",
        "the driver does not answer in time: it waits in the kernel (D state, as after Xid 45 or "
        "79), or persistence mode is off and every question initialises all GPUs, which takes up "
        "to half a minute on large hosts",
        evidence=driver.lines(),
        affects=("running", "timing"),
        fix=driver.place.fix(
            "look for Xid messages in dmesg; a hung GPU needs a reset or a reboot",
            ("sudo dmesg | grep -i -E 'xid|nvrm'", "ps -eo pid,stat,comm | grep ' D'"),
            container=None,
            windows="restart WSL, then Windows",
            windows_commands=("wsl --shutdown",),
        ),
    )
