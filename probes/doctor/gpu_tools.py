"""The vendor tools on this machine (nvcc, nsys, ncu, rocprofv3, hipcc, xcrun): every copy, which one runs, versions."""

from ..system import System
from .host import Host
from .section import Section


async def examine(system: System, host: Host) -> Section:
    """Examine the machine."""
    return Section()
