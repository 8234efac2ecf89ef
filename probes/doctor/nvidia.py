"""NVIDIA GPUs: NVML in a child process, nvidia-smi as second opinion."""

from ..system import System
from .host import Host
from .section import Section


async def examine(system: System, host: Host) -> Section:
    """Examine the machine."""
    return Section()
