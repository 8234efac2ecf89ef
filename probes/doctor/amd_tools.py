"""Read what rocminfo, amd-smi, rocm-smi and rocprofv3 print. Pure.

rocminfo colours its output into a pipe; amd-smi may speak before its JSON, whose outer shape changes by
release; rocm-smi gives every value as text under names that change. Exit codes tell little: rocm-smi
ends with 0 when no driver is loaded. Source: the tools' output, https://rocm.docs.amd.com.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

Kfd = Literal["missing", "denied", "unusable"]
_OPEN_FAILED = re.compile(
    r"Unable to open /dev/kfd read-write: (.+)|/dev/kfd: (Permission denied)"
    r"|User is missing the following required (groups): .+"
)
_KFD_STATES: tuple[tuple[str, Kfd], ...] = (
    ("No such file", "missing"),
    ("Permission denied", "denied"),
    ("groups", "denied"),
    ("", "unusable"),  # Invalid argument, Cannot allocate memory
)
NOT_LOADED = re.compile(
    r"ROCk module is NOT loaded|amdgpu not found in modules|Driver not initialized"
)
# The tool itself fell over, as against a tool that has nothing to say.
BROKEN = re.compile(
    r"Traceback \(most recent|Failed to execute script|UnicodeDecodeError|ModuleNotFoundError|"
    r"ImportError|error while loading shared libraries|KeyError|SyntaxError"
)
LACKS_PERMISSION = re.compile(r"could not be locked for profiling due to lack of permissions")
_NO_COUNTERS = re.compile(r"HW architecture is not supported, no counter metrics found")
_CRASH = re.compile(r"died with <Signals\.(SIG[A-Z]+)")


def kfd_state(output: str) -> tuple[Kfd, str] | None:
    """Say why a tool could not open /dev/kfd, with the line; None where it does not complain."""
    found = _OPEN_FAILED.search(output)
    if not found:
        return None
    why = next(group for group in found.groups() if group)
    state = next(state for words, state in _KFD_STATES if words in why)
    return state, found[0].strip()


def agents(output: str) -> list[dict[str, str | None]]:
    """List rocminfo's GPU agents in its order: gfx and marketing name."""
    found = []
    gfx: str | None = None
    marketing: str | None = None
    for line in output.splitlines():
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon:
            continue
        if key == "Name" and not value.startswith("amdgcn"):  # an ISA's name lies deeper
            gfx, marketing = (value if value.startswith("gfx") else None), None
        elif key == "Marketing Name":
            marketing = value or None
        elif key == "Device Type" and value == "GPU" and gfx:
            found.append({"gfx": gfx, "name": marketing})
    return found


def document(stdout: str) -> Any:
    """Find the JSON in a tool's output, whatever stands before or after; None where there is none."""
    for start in (m.start() for m in re.finditer(r"[\[{]", stdout)):
        try:
            value, _ = json.JSONDecoder().raw_decode(stdout[start:])
        except ValueError:
            continue
        if value and isinstance(value, dict | list):
            return value
    return None


def smi_gpus(value: Any) -> list[dict[str, Any]]:
    """Read GPUs from amd-smi (object or bare array) or rocm-smi (`card0` keys): what is there."""
    if isinstance(value, dict) and "gpu_data" in value:
        value = value["gpu_data"]
    if isinstance(value, list):
        return [_amd_smi(row) for row in value if isinstance(row, dict) and "gpu" in row]
    cards = {k: v for k, v in value.items() if re.fullmatch(r"card\d+", k)} if value else {}
    system = value.get("system", {}) if isinstance(value, dict) else {}
    driver = system.get("Driver version") if isinstance(system, dict) else None
    order = sorted(cards, key=lambda k: int(k[4:]))
    return [{**_rocm_smi(cards[k]), "driver": driver} for k in order if isinstance(cards[k], dict)]


def _amd_smi(row: Mapping[str, Any]) -> dict[str, Any]:
    asic, limit, vram = (_section(row, name) for name in ("asic", "limit", "vram"))
    power = limit.get("socket_power") or _section(limit, "ppt0").get("socket_power_limit")
    driver = _section(row, "driver").get("version")
    return {
        "name": _text(asic.get("market_name")),
        "gfx": _text(asic.get("target_graphics_version")),
        "pci": _text(_section(row, "bus").get("bdf")),
        "memory_total_mib": _number(vram.get("size")),
        "power_limit_w": _number(power),
        # some releases put the whole kernel banner here
        "driver": driver if isinstance(driver, str) and len(driver) <= 32 else None,
    }


def _rocm_smi(card: Mapping[str, Any]) -> dict[str, Any]:
    total = _number(card.get("VRAM Total Memory (B)"))
    name = next(
        (n for key in ("Card series", "Card Series", "Device Name") if (n := _name(card, key))),
        None,
    )
    return {
        "name": name,
        "gfx": _text(card.get("GFX Version")),
        "pci": _text(card.get("PCI Bus")),
        "memory_total_mib": None if total is None else int(total) >> 20,
        "power_limit_w": _number(card.get("Max Graphics Package Power (W)")),
    }


def _name(card: Mapping[str, Any], key: str) -> str | None:
    text = _text(card.get(key))
    return None if text is None or text.startswith("0x") else text  # an id, in some releases


def _section(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Any section may be the text "N/A" as a whole."""
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) and value.strip() != "N/A" else None


def _number(value: Any) -> float | int | None:
    """Read 300, "211.0" or {"value": 300, "unit": "W"}; "N/A" is no number."""
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", value):
        number = float(value)
        return int(number) if number.is_integer() else number
    return None


def counters(output: str) -> dict[str, int]:
    """Count the counters that rocprofv3 --list-avail names for each GPU target.

    Releases differ: `Name:SQ_WAVES` lines after `Name:gfx90a`, `Counter_Name : X`, or bare words in
    columns after `PMC :`.
    """
    found: dict[str, int] = {}
    target: str | None = None
    for line in output.splitlines():
        key, colon, value = (part.strip() for part in line.partition(":"))
        if colon and key == "Name" and value.startswith("gfx"):
            target = value
            found.setdefault(target, 0)
        elif target and colon and key.lower().replace("_", " ") in ("name", "counter name"):
            found[target] += 1
        elif target and not colon:
            found[target] += len(re.findall(r"\b[A-Za-z]\w{2,}\b", line))
    return found


def crash(output: str, signal: str | None) -> str | None:
    """Name the signal that ended a profiler, its own or that of the program below its wrapper."""
    found = _CRASH.search(output)
    return signal or (found[1] if found else None)


def says_unsupported(output: str) -> bool:
    """Whether the profiler itself says that it has no counters for an agent."""
    return bool(_NO_COUNTERS.search(output))
