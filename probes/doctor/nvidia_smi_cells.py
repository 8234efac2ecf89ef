"""One value of nvidia-smi's output, and the sentences that it prints in place of values.

nvidia-smi writes its errors to standard output and gives cells such as `[N/A]`, `ERR!` or
`[Unknown Error]` where a number is expected: each becomes an unknown fact with its reason, never 0.
"""

import re
from typing import Any

from .nvidia_reading import Problem
from .section import unknown

# What NVML calls bit by bit, nvidia-smi calls by name (nvml.h, nvmlClocksEventReason*).
REASON_BITS = {
    0x1: "gpu_idle",
    0x2: "applications_clocks_setting",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}
_OTHER_SPELLINGS = {"idle": "gpu_idle", "display_clocks_setting": "display_clock_setting"}

_NOT_THERE = {
    "",
    "n/a",
    "not supported",
    "not available",
    "not found",
    "function not found",
    "deprecated",
    "requested functionality has been deprecated",
}
_REFUSED = {"insufficient permissions", "no permission", "insufficient permission"}
_BROKEN = {"unknown error", "err!", "error", "unknown"}
UNUSABLE = {
    "gpu is lost": "lost",
    "gpu requires reset": "requires_reset",
    "requires reset": "requires_reset",
}


def why_not(text: str) -> str | None:
    """Give the reason why a cell holds no value; None where it holds one."""
    stripped = text.strip()
    inner = stripped.strip("[]").strip()
    folded = inner.lower()
    if folded in _NOT_THERE:
        return "not_supported"
    if folded in _REFUSED:
        return "no_permission"
    if folded in _BROKEN or folded in UNUSABLE:
        return f"driver_error: {inner}"
    if stripped.startswith("[") and stripped.endswith("]"):
        return f"driver_error: {inner}"
    return None


def unusable(text: str) -> str | None:
    """Tell whether a cell says that its GPU cannot be used: `lost` or `requires_reset`."""
    return UNUSABLE.get(text.strip().strip("[]").strip().lower())


def number(text: str) -> Any:
    """Read the number at the start of a cell, its unit dropped; unknown where there is none."""
    reason = why_not(text)
    if reason is not None:
        return unknown(reason)
    found = re.match(r"\s*(-?\d+)(\.\d+)?", text)
    if found is None:
        return unknown("parse_error")
    return float(found.group()) if found.group(2) else int(found.group(1))


def word(text: str) -> Any:
    """Take a cell as it stands; unknown where it holds no value or bytes that were no text."""
    reason = why_not(text)
    if reason is not None:
        return unknown(reason)
    return unknown("parse_error: not text") if "\ufffd" in text else " ".join(text.split())


def switch(text: str) -> Any:
    """Read `Enabled`, `On` or `Yes` as True and their opposites as False."""
    folded = text.strip().lower()
    if folded in ("enabled", "on", "yes", "active", "1", "true"):
        return True
    if folded in ("disabled", "off", "no", "not active", "0", "false"):
        return False
    return unknown(why_not(text) or "parse_error")


def reasons_of_mask(mask: int) -> list[str]:
    """Name the bits of a clocks event reason mask, the lowest first."""
    named = [name for bit, name in REASON_BITS.items() if mask & bit]
    rest = mask & ~sum(REASON_BITS)
    return [*named, f"0x{rest:x}"] if rest else named


def mask(text: str) -> Any:
    """Read a hexadecimal reason mask such as 0x0000000000000004."""
    found = re.fullmatch(r"\s*0x([0-9a-fA-F]{1,16})\s*", text)
    if found is None:
        return unknown(why_not(text) or "parse_error")
    return reasons_of_mask(int(found.group(1), 16))


def reason_name(label: str) -> str | None:
    """Give a reason its common name from any of its spellings; None for what is none."""
    name = re.sub(r"^clocks_(?:throttle|event)_reasons?[._]", "", label)
    name = _OTHER_SPELLINGS.get(name, name)
    return name if name in REASON_BITS.values() else None


_SENTENCES: tuple[tuple[str, Problem], ...] = (
    (r"couldn't communicate with the NVIDIA driver", "driver_not_loaded"),
    (r"Driver/library version mismatch", "library_mismatch"),
    (r"Failed to initialize NVML: Driver Not Loaded", "driver_not_loaded"),
    (r"Failed to initialize NVML: Insufficient Permissions", "no_permission"),
    (r"GPU access blocked by the operating system", "blocked"),
    (
        r"couldn't find libnvidia-ml|Failed to initialize NVML: .*Library Not Found",
        "library_missing",
    ),
    (r"No devices were found\. Please make sure /dev/nvidia", "no_permission"),
    (r"No devices were found", "no_devices"),
    (r"Failed to initialize NVML: Unknown Error", "unknown_error"),
    (r"Failed to initialize NVML", "failed"),
    (r"NVIDIA-SMI has failed", "failed"),
)
_STATUSES: dict[int, Problem] = {
    6: "no_devices",
    9: "driver_not_loaded",
    12: "library_missing",
    18: "library_mismatch",
}
_LOST_LINE = re.compile(
    r"Unable to determine the device handle for (?:gpu|GPU)\s*[0-9A-Fa-f]+:[0-9A-Fa-f:.]+.*"
)


def without_uuids(line: str) -> str:
    """Take out what identifies a card: a UUID must not reach a record."""
    return re.sub(r"\b(GPU|MIG)-[0-9A-Fa-f][0-9A-Fa-f-]{7,}", r"\1-…", line.strip())


def problem_in(output: str, status: int | None = None) -> tuple[Problem, str] | None:
    """Find the known sentence (or exit status) that says why nvidia-smi answered nothing."""
    for pattern, problem in _SENTENCES:
        for line in output.splitlines():
            if re.search(pattern, line):
                return problem, without_uuids(line)
    if status in _STATUSES:
        first = next((x.strip() for x in output.splitlines() if x.strip()), "(no output)")
        return _STATUSES[status], f"{without_uuids(first)[:200]} (exit status {status})"
    return None


def lost_lines(output: str) -> list[str]:
    """Give the lines that name a GPU whose handle cannot be had."""
    return [without_uuids(m.group()) for m in map(_LOST_LINE.search, output.splitlines()) if m]
