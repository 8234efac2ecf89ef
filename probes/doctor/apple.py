"""Apple GPUs, from ioreg, sysctl and system_profiler."""

from ..system import System
from .host import Host
from .section import Section


async def examine(system: System, host: Host) -> Section:
    """Examine the machine."""
    return Section()
