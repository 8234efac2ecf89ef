"""llama.cpp on this machine: binary, version, build and commit."""

from ..system import System
from .section import Section


async def examine(system: System) -> Section:
    """Examine the machine."""
    return Section()
