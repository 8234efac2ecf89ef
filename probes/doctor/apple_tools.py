"""Read what macOS tools print about the GPU, the power state and Xcode. Pure.

Source: ioreg(8), system_profiler(8), pmset(1), xcrun(1), sysctl(3).
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from ..command import Completed

Answers = dict[str, Completed]  # what was asked -> how it went
_NO_XCTRACE = re.compile(r"unable to find utility \"xctrace\"|is a command line tools instance")


def ioreg(output: str) -> dict[str, Any]:
    """Read core count and model of the AGX accelerator; absent keys are left out."""
    found: dict[str, Any] = {}
    if cores := re.search(r'"gpu-core-count"\s*=\s*(\d+)', output):
        found["cores"] = int(cores[1])
    if model := re.search(r'"model"\s*=\s*<?"([^"]+)"', output):
        found["name"] = model[1]
    return found


def displays(output: str) -> list[dict[str, Any]]:
    """Read the GPUs of `system_profiler SPDisplaysDataType -json`; an entry without a name is none.

    The model is what people call it; `_name` may be an internal key such as kHW_AppleM1Item.
    """
    try:
        rows = json.loads(output).get("SPDisplaysDataType")
    except (ValueError, AttributeError):
        return []
    return [gpu for row in rows or [] if isinstance(row, dict) and (gpu := _display(row))]


def _display(row: Mapping[str, Any]) -> dict[str, Any] | None:
    name = row.get("sppci_model") or row.get("_name")
    if not name:
        return None
    cores = str(row.get("sppci_cores", ""))
    metal = row.get("spdisplays_mtlgpufamilysupport") or row.get("spdisplays_metal")
    return {
        "name": str(name),
        "cores": int(cores) if cores.isdigit() else None,
        "metal": str(metal).removeprefix("spdisplays_") if metal else None,
        "memory_total_mib": _mebibytes(row.get("spdisplays_vram")),
    }


def _mebibytes(text: Any) -> int | None:
    """Read `4 GB`; Apple silicon has no memory of its own and no such key."""
    found = re.fullmatch(r"(\d+) (MB|GB)", str(text))
    return int(found[1]) * (1024 if found[2] == "GB" else 1) if found else None


def low_power(pmset: str) -> bool | None:
    """Whether low power mode is on; None where the answer has no such line."""
    found = re.search(r"^\s*(?:lowpowermode|powermode)\s+(\d)", pmset, re.MULTILINE)
    return found[1] == "1" if found else None


def speed_limit(therm: str) -> int | None:
    """Give CPU_Speed_Limit of `pmset -g therm`, in percent; None where nothing was recorded."""
    found = re.search(r"CPU_Speed_Limit\s*=\s*(\d+)", therm)
    return int(found[1]) if found else None


def lacks_xctrace(output: str) -> bool:
    """Whether xcrun says that only the command line tools are installed."""
    return bool(_NO_XCTRACE.search(output))


def version(output: str) -> str | None:
    """Read `xcrun version 70.` and `xctrace version 16.0 (17F113)`."""
    found = re.search(r"\b(?:xcrun|xctrace) version (\d+(?:\.\d+)*)", output)
    return found[1] if found else None


def text(answers: Answers, name: str) -> str:
    """Give the output of a question that was answered, else nothing."""
    done = answers.get(name)
    return done.stdout.strip() if done and done.ok else ""
