"""AMD GPUs: KFD in sysfs first, then the ROCm tools in children."""

from ..system import System
from .host import Host
from .section import Section


async def examine(system: System, host: Host, probe: bool) -> Section:
    """Examine the machine."""
    return Section()
