"""What stands in the way of measuring on a Mac: translation, a virtual GPU, power, missing tools."""

from collections.abc import Sequence
from typing import Any

from ...evidence.payloads import Fix
from ...evidence.redaction import redact
from ..command import Completed
from . import apple_tools
from .apple_tools import Answers, text
from .section import Section

_XCODE = "/Applications/Xcode.app/Contents/Developer"


def report(
    section: Section, answers: Answers, gpus: Sequence[dict[str, Any]], machine: str | None
) -> None:
    """Add every finding; `machine` is what this process is built for."""
    if text(answers, "sysctl.proc_translated") == "1":
        report_rosetta(section, machine or "x86_64", "sysctl.proc_translated: 1")
    _report_virtual(section, answers, gpus)
    _report_power(section, answers)
    asked = answers.get("xctrace") or answers.get("xcode")
    if asked and (asked.returncode or apple_tools.lacks_xctrace(asked.output)):
        _report_xctrace(section, asked, answers)


def report_rosetta(section: Section, machine: str, evidence: str) -> None:
    """Add the finding for an interpreter that is translated on Apple silicon."""
    section.find(
        "apple.rosetta",
        "error",
        f"Python is built for {machine} and translated by Rosetta on an arm64 Mac: no MPS, no MLX, "
        "and timings of a translated program",
        evidence=[evidence, "hw.optional.arm64: 1"],
        affects=("timing", "running"),
        fix=Fix(
            summary="install an arm64 Python and make the environment with it",
            commands=("arch -arm64 /opt/homebrew/bin/python3 -m venv DIR",),
            verify='python -c "import platform; print(platform.machine())"  # arm64',
        ),
    )


def _report_virtual(section: Section, answers: Answers, gpus: Sequence[dict[str, Any]]) -> None:
    names = [str(gpu["name"]) for gpu in gpus if "aravirtual" in str(gpu["name"])]
    present = text(answers, "kern.hv_vmm_present") == "1"
    if names or present:
        section.find(
            "apple.virtual_gpu",
            "error",
            "a virtual Mac: its GPU is paravirtual, so no GPU time here says anything about the chip",
            evidence=[*(f"GPU: {name}" for name in names), f"kern.hv_vmm_present: {int(present)}"],
            affects=("timing",),
            fix=Fix(
                summary="measure on real hardware",
                commands=(),
                where="host",
                verify="sysctl -n kern.hv_vmm_present",
            ),
        )


def _report_power(section: Section, answers: Answers) -> None:
    limit = apple_tools.speed_limit(text(answers, "therm"))
    if limit is not None and limit < 100:
        section.find(
            "apple.thermal",
            "warning",
            f"the CPU is held to {limit} % of its speed by temperature or power",
            evidence=[f"pmset -g therm: CPU_Speed_Limit = {limit}"],
            affects=("timing",),
            fix=Fix(summary="let it cool", commands=("pmset -g therm",), verify="pmset -g therm"),
        )
    if apple_tools.low_power(text(answers, "power")):
        section.find(
            "apple.low_power_mode",
            "warning",
            "low power mode is on: clocks are held down",
            evidence=["pmset -g: lowpowermode 1"],
            affects=("timing",),
            fix=Fix(
                summary="turn it off while measuring",
                commands=("sudo pmset -a lowpowermode 0",),
                needs_root=True,
                verify="pmset -g | grep lowpowermode",
            ),
        )


def _report_xctrace(section: Section, asked: Completed, answers: Answers) -> None:
    line = next((x.strip() for x in asked.output.splitlines() if x.strip()), asked.ending())
    asked_with = "xcrun --find xctrace" if "xctrace" in answers else "xcode-select -p"
    section.find(
        "apple.no_xctrace",
        "limitation",
        "xctrace is not here: it comes with Xcode, not with the command line tools",
        evidence=[
            f"{asked_with}: {redact(line)[:160]}",
            *(f"xcode-select -p: {redact(x)}" for x in [text(answers, "xcode")] if x),
        ],
        affects=("profiling",),
        fix=Fix(
            summary="install Xcode and select it",
            commands=(f"sudo xcode-select -s {_XCODE}",),
            needs_root=True,
            verify="xcrun xctrace version",
        ),
    )
