"""What only the merged facts tell: which platform this is, how many GPUs, and parts that disagree."""

from collections.abc import Mapping
from typing import Any

from ..system import System
from . import apple_findings
from .section import Section, value_of

Facts = Mapping[str, Any]
_PLATFORMS = (("nvidia", "nvidia"), ("amd", "rocm"), ("apple", "metal"))


def place(system: System, section: Section) -> None:
    """Add `platform` and `gpu_count`; name the GPU as missing where there is none."""
    facts = section.facts
    platform, count = platform_of(facts, system.platform)
    facts["platform"] = platform
    if count is not None:
        facts["gpu_count"] = count
    if not count:  # none, or nobody knows
        section.missing.append("gpu")
    if platform in ("rocm", "metal"):
        section.limitations.append(
            "NVIDIA's counter permission does not apply to this GPU, and nsys and ncu are not probed"
        )


def platform_of(facts: Facts, system: str) -> tuple[str, int | None]:
    """Name the platform and count its GPUs; None where the count is not known.

    A discrete AMD GPU beside no NVIDIA one is rocm; a processor's integrated one does not outvote
    NVIDIA, but all that answer are counted. An unknown count is not 0.
    """
    counts: dict[str, int | None] = {family: _count(facts.get(family)) for family, _ in _PLATFORMS}
    for family, platform in _PLATFORMS:
        if counts[family]:
            return platform, sum(count or 0 for count in counts.values())
    for family, platform in _PLATFORMS:
        if counts[family] is None and _signs(family, facts.get(family) or {}):
            return platform, None
    if system == "darwin":
        return "metal" if _chip(facts) else "unknown", None
    if system == "windows":
        return "unknown", None  # only NVIDIA's GPUs are looked for there
    known = counts["nvidia"] == 0 and counts["amd"] == 0
    return ("cpu", 0) if known else ("unknown", None)


def _count(vendor: Any) -> int | None:
    """Count a vendor's GPUs: 0 where it was looked for and none is there."""
    if not isinstance(vendor, dict):
        return None
    gpus = vendor.get("gpus")
    if isinstance(gpus, list):
        return len(gpus)
    return 0 if isinstance(gpus, dict) and gpus.get("state") == "absent" else None


def _signs(family: str, vendor: Facts) -> bool:
    """Whether something speaks of that vendor's GPU although none answers."""
    return "driver" in vendor if family in ("nvidia", "amd") else False


def _chip(facts: Facts) -> bool:
    return str(value_of((facts.get("apple") or {}).get("chip")) or "").startswith("Apple")


def compare(facts: Facts) -> Section:
    """Hold parts against each other: an interpreter against its Mac."""
    section = Section()
    _translated(facts, section)
    return section


def _translated(facts: Facts, section: Section) -> None:
    """The engine's interpreter may be translated although this process is not."""
    mac = facts.get("apple") or {}
    machine = value_of((facts.get("python") or {}).get("machine"))
    if (
        value_of(mac.get("apple_silicon"))
        and machine == "x86_64"
        and not value_of(mac.get("translated"))
    ):
        executable = value_of((facts.get("python") or {}).get("executable"))
        apple_findings.report_rosetta(section, machine, f"{executable}: built for {machine}")
