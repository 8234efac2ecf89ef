"""perf and py-spy: whether they are here and what the kernel allows them.

What is allowed follows capabilities and the kernel's settings, never the user id. Source:
https://docs.kernel.org/admin-guide/perf-security.html, …/LSM/Yama.html; capabilities(7).
"""

import os
import re
import sys
from typing import Any

import anyio

from ...evidence.payloads import Fix
from ...evidence.redaction import redact
from ..command import Completed
from ..system import System
from . import perf_access, ptrace_access, version_cache
from .host import Host
from .interpreter import Choice
from .section import Section, absent, unknown

_NO_KERNEL_TOOL = re.compile(
    r"perf not found for kernel|linux-perf-[\d.]+ is not installed|perf_[\d.]+: not found"
)


async def examine(system: System, host: Host, choice: Choice) -> Section:
    """Look for both and judge what they may do."""
    section = Section()
    section.facts |= {"perf": {}, "pyspy": {}}
    async with anyio.create_task_group() as group:
        group.start_soon(_perf, system, host, section)
        group.start_soon(_pyspy, system, section, choice)
    if system.platform == "linux":
        await perf_access.examine(system, host, section)
        ptrace_access.examine(system, host, section)
    elif system.platform == "darwin":
        ptrace_access.examine_macos(host, section)
    return section


async def _perf(system: System, host: Host, section: Section) -> None:
    facts = section.facts["perf"]
    copies = system.programs("perf") if system.platform == "linux" else []
    if not copies:
        facts |= {"path": absent(), "version": absent(), "usable": False}
        return
    done = await version_cache.ask(system, [copies[0], "--version"])
    found = re.search(r"perf version (\S+)", done.output)
    shown = redact(system.shown(copies[0]))
    facts |= _told(shown, found, done)
    if _NO_KERNEL_TOOL.search(done.output):
        _report_mismatch(section, host, shown, done, _real_copies(system))
    elif done.outcome != "exited" and done.outcome != "timed_out":
        _report_unusable(section, "perf", shown, done)


def _told(shown: str, found: re.Match[str] | None, done: Completed) -> dict[str, Any]:
    """A tool that ends well without telling its version may still work: unknown, not unusable."""
    silent = unknown("parse_error") if done.ok else False
    return {
        "path": shown,
        "version": found[1] if found else unknown("parse_error"),
        "usable": True if found else silent,
    }


def _real_copies(system: System) -> list[str]:
    """Ubuntu keeps a perf for each kernel release here, and the wrapper wants the very same one."""
    directory = "/usr/lib/linux-tools"
    paths = [f"{directory}/{name}/perf" for name in system.names(directory)]
    return [path for path in paths if system.exists(path)]


def _report_mismatch(
    section: Section, host: Host, shown: str, done: Completed, real: list[str]
) -> None:
    first = next((line.strip() for line in done.output.splitlines() if line.strip()), "")
    section.find(
        "perf.kernel_mismatch",
        "limitation",
        f"{shown} is a wrapper without a perf for this kernel ({host.kernel or 'release unknown'})",
        evidence=[f"{shown} --version: {redact(first)[:160]} ({done.ending()})"],
        affects=("profiling",),
        fix=Fix(
            summary="build perf from the WSL kernel's source, or call a real binary by its path",
            commands=(
                *(f"{path} --version" for path in real[-1:]),
                "git clone --depth 1 https://github.com/microsoft/WSL2-Linux-Kernel",
                "make -C WSL2-Linux-Kernel/tools/perf",
            ),
            verify="perf --version",
        )
        if host.wsl
        else Fix(
            summary="install the tools of the running kernel (Debian: linux-perf)",
            commands=(
                "sudo apt install linux-tools-$(uname -r)",
                *(f"{path} --version" for path in real[-1:]),
            ),
            where="host" if host.container else "host root",
            needs_root=True,
            verify="perf --version",
        ),
    )


def _report_unusable(section: Section, name: str, shown: str, done: Completed) -> None:
    wrong = done.outcome == "wrong_format"
    section.find(
        "tool.wrong_arch" if wrong else "tool.broken_wrapper",
        "warning",
        f"{name} at {shown} cannot be started: {done.ending()}",
        evidence=[f"{shown}: {done.ending()}"],
        affects=("profiling",),
        fix=Fix(
            summary=f"install {name} for this machine",
            commands=(f"file {shown}",),
            verify=f"{name} --version",
        ),
    )


async def _pyspy(system: System, section: Section, choice: Choice) -> None:
    facts = section.facts["pyspy"]
    copies = system.programs("py-spy") or [
        path for path in _beside_interpreters(system, choice) if os.access(path, os.X_OK)
    ]
    if not copies:
        facts |= {"path": absent(), "version": absent(), "usable": False}
        return
    done = await version_cache.ask(system, [copies[0], "--version"])
    found = re.search(r"py-spy (\d\S*)", done.output)
    shown = redact(system.shown(copies[0]))
    facts |= _told(shown, found, done)
    if done.outcome not in ("exited", "timed_out"):
        _report_unusable(section, "py-spy", shown, done)


def _beside_interpreters(system: System, choice: Choice) -> list[str]:
    """py-spy is a wheel, so it lies beside the interpreter that it was installed into."""
    interpreters = [choice.path] if choice.path else []
    interpreters += [sys.executable] if system.live and sys.executable else []
    name = "py-spy.exe" if system.platform == "windows" else "py-spy"
    return [os.path.join(os.path.dirname(i), name) for i in interpreters]
