"""Which interpreter would run the engine, and the engine packages it holds."""

from ..system import System
from .host import Host
from .section import Section


async def examine(system: System, host: Host, python: str | None) -> Section:
    """Examine the machine."""
    return Section()
