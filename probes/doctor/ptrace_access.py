"""Whether py-spy may attach to a program: ptrace, Yama, CAP_SYS_PTRACE.

Source: https://docs.kernel.org/admin-guide/LSM/Yama.html; ptrace(2), capabilities(7).
"""

from ...evidence.payloads import Fix
from ..system import System
from .host import Host
from .perf_access import bits
from .section import Section, absent, unknown

CAP_SYS_PTRACE = 19
_YAMA = "/proc/sys/kernel/yama/ptrace_scope"


def examine(system: System, host: Host, section: Section) -> None:
    """Judge whether py-spy may attach: Yama's scope against CAP_SYS_PTRACE.

    No file beside the kernel's other settings: no limit. Without those nothing is known.
    """
    word = system.word(_YAMA)
    scope = int(word) if word and word.isdigit() else None
    capable = host.capable(CAP_SYS_PTRACE)
    facts = section.facts["pyspy"]
    readable = system.lexists(_YAMA) is False and system.is_dir("/proc/sys/kernel")
    without = absent("no Yama") if readable else unknown("not_readable")
    facts["ptrace_scope"] = without if scope is None else scope
    denied = scope == 3 or (bool(scope) and not capable)
    facts["can_attach"] = unknown("not_readable") if scope is None and not readable else not denied
    if not denied:
        return
    whom = {1: "only programs that it starts itself", 2: "nothing", 3: "nothing, even with it"}
    section.find(
        "pyspy.ptrace_denied",
        "limitation",
        f"ptrace_scope is {scope}"
        + _without(capable)
        + f": py-spy can sample {whom.get(scope or 0, 'nothing')}",
        evidence=[f"{_YAMA}: {scope}", f"CapEff: {bits(host)} (SYS_PTRACE is bit 19)"],
        affects=("profiling",),
        fix=_ptrace_fix(host, scope or 0),
    )


def _without(capable: bool | None) -> str:
    if capable is None:
        return " and CAP_SYS_PTRACE is not known to be held"
    return "" if capable else " and this process lacks CAP_SYS_PTRACE"


def _ptrace_fix(host: Host, scope: int) -> Fix:
    if scope == 3:
        return Fix(
            summary="scope 3 holds until the next boot: set a lower one and restart",
            commands=("set kernel.yama.ptrace_scope=0 in /etc/sysctl.d",),
            where="reboot",
            needs_root=True,
            needs_reboot=True,
            verify=f"cat {_YAMA}",
        )
    # In a container root is not the host's root: more privilege there does not give the capability.
    if host.container or host.euid == 0:
        return Fix(
            summary="start the container with the capability, or let py-spy start the program",
            commands=("docker run --cap-add=SYS_PTRACE …", "py-spy record -- python PROGRAM"),
            where="container launch",
            verify=f"cat {_YAMA}",
        )
    return Fix(
        summary="allow attaching, or let py-spy start the program",
        commands=("sudo sysctl kernel.yama.ptrace_scope=0", "py-spy record -- python PROGRAM"),
        where="host root",
        needs_root=True,
        verify=f"cat {_YAMA}",
    )


def examine_macos(host: Host, section: Section) -> None:
    """On macOS only root may read another program's memory, even one that it started."""
    if not section.facts["pyspy"].get("usable") or host.euid in (0, None):
        return
    section.find(
        "pyspy.ptrace_denied",
        "limitation",
        "macOS lets only root sample another program; the system's own Python never",
        evidence=[f"euid: {host.euid}"],
        affects=("profiling",),
        fix=Fix(
            summary="run py-spy as root on a Python that is not the system's",
            commands=("sudo py-spy record -- PYTHON PROGRAM",),
            needs_root=True,
            verify="sudo py-spy dump --pid PID",
        ),
    )
