"""perf and py-spy: whether they are here and what the kernel allows them."""

from ..system import System
from .host import Host
from .section import Section


async def examine(system: System, host: Host) -> Section:
    """Examine the machine."""
    return Section()
