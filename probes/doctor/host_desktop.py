"""The host on macOS and Windows: what psutil and the standard library can tell.

psutil is imported here and late: it costs 40 ms and Linux does without it. Nothing is asked of the
running kernel when a machine's files are examined from elsewhere.
"""

import os
import sys
from typing import Any

from ..system import System
from .section import Section, absent, unknown

_NOT_LIVE = "not_readable"


def examine(system: System, section: Section) -> None:
    """Add CPU, memory and load."""
    facts = section.facts["host"]
    names = ("cpu_name", "cpu_mhz", "cpu_online", "cpu_effective", "load_1min")
    facts |= dict.fromkeys(names, unknown(_NOT_LIVE))
    facts |= dict.fromkeys(
        ("memory_total_bytes", "memory_available_bytes", "swap_used_bytes"), unknown(_NOT_LIVE)
    )
    # neither exists on these systems
    facts |= dict.fromkeys(("cgroup", "cpu_quota", "memory_limit", "governor"), absent())
    if not system.live:
        return
    cpus = os.cpu_count()
    if cpus:
        facts |= {"cpu_online": cpus, "cpu_effective": float(cpus)}
    facts["cpu_name"] = _cpu_name() or unknown("not_supported")
    if hasattr(os, "getloadavg"):
        facts["load_1min"] = os.getloadavg()[0]
    facts |= _from_psutil()


def _from_psutil() -> dict[str, Any]:
    try:
        import psutil
    except ImportError:
        return {}
    facts: dict[str, Any] = {"cpu_mhz": _megahertz()}
    try:
        memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    except (OSError, RuntimeError):
        return facts
    return facts | {
        "memory_total_bytes": memory.total,
        "memory_available_bytes": memory.available,
        "swap_used_bytes": swap.used,
    }


def _megahertz() -> Any:
    """Give the highest clock in MHz: psutil says 0.0 in virtual machines and raised on virtual Macs."""
    import psutil

    try:
        clock = psutil.cpu_freq()
    except Exception as error:  # noqa: BLE001  which one depends on the release
        return unknown(f"not_supported ({type(error).__name__})")
    highest = (clock.max or clock.current) if clock else 0.0
    return highest if highest > 0 else unknown("not_supported")


def _cpu_name() -> str | None:
    if sys.platform != "win32":
        return None  # apple.py asks sysctl
    import winreg

    try:
        place = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
            return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()
    except OSError:
        return None
