"""What the kernel lets perf do: hardware counters, perf_event_paranoid, seccomp, kernel symbols.

Capabilities decide, not the user id, and they must hold outside of a user namespace. Source:
https://docs.kernel.org/admin-guide/perf-security.html, …/sysctl/kernel.html; capabilities(7).
"""

import re
from typing import Any

from ...evidence.payloads import Fix
from ..system import System
from .host import Host
from .section import Section, unknown

CAP_SYS_ADMIN, CAP_SYSLOG, CAP_PERFMON = 21, 34, 38
_DEVICES = "/sys/bus/event_source/devices"
# A core's own counters: cpu, cpu_core and cpu_atom (x86), armv8_…, apple_icestorm_pmu, cpum_cf (s390).
_CORE_PMU = re.compile(r"cpu(?:$|_|m_)|armv\d|arm_?v\d|apple_\w+_pmu|riscv")
_PARANOID = "/proc/sys/kernel/perf_event_paranoid"
_USER_SAMPLING = 2  # the highest perf_event_paranoid that lets a user sample own programs


async def examine(system: System, host: Host, section: Section) -> None:
    """Add to the `perf` facts what is allowed, and why not."""
    await _counters(system, section)
    _paranoid(system, host, section)
    _seccomp(host, section)
    _kernel_symbols(system, host, section)


async def _counters(system: System, section: Section) -> None:
    """Say whether the CPU's own counters are here: in many virtual machines they are not."""
    names = system.names(_DEVICES)
    pmus = [name for name in names if _CORE_PMU.match(name)]
    facts = section.facts["perf"]
    evidence = f"{_DEVICES}: {', '.join(names)}"
    if names:
        facts["hw_counters"] = "available" if pmus else "absent"
        facts["pmus"] = pmus
    else:
        facts["hw_counters"], evidence = await _ask_perf(system, facts)
    if facts["hw_counters"] == "absent":
        section.find(
            "perf.no_pmu",
            "limitation",
            "no hardware counters here: perf has software events only, and samples by the clock",
            evidence=[evidence],
            affects=("profiling",),
            fix=Fix(
                summary="measure on bare metal, or let the hypervisor pass a virtual PMU (vPMU)",
                commands=("perf record -e cpu-clock -g -- COMMAND",),
                where="host",
                verify="perf stat -e cycles true",
            ),
        )


async def _ask_perf(system: System, facts: dict[str, Any]) -> tuple[Any, str]:
    """Without /sys, perf itself knows; its exit status is 0 either way."""
    if not system.live:
        return unknown("the sysroot's kernel is not running"), ""
    copies = system.programs("perf")
    if not copies or facts["usable"] is False:
        return unknown("not_readable"), ""
    done = await system.run([copies[0], "stat", "-e", "cycles", "true"])
    return read_perf_stat(done.output)


def read_perf_stat(output: str) -> tuple[Any, str]:
    """Read `perf stat -e cycles`: (fact, evidence)."""
    line = next((x.strip() for x in output.splitlines() if "cycles" in x), "")
    if "<not supported>" in line:
        return "absent", f"perf stat -e cycles: {line}"
    counted = re.match(r"[\d,.']+\s+(?:cpu_\w+/)?cycles", line)
    return ("available", "") if counted else (unknown("not_readable"), "")


def _paranoid(system: System, host: Host, section: Section) -> None:
    word = system.word(_PARANOID)
    level = int(word) if word and re.fullmatch(r"-?\d+", word) else None
    facts = section.facts["perf"]
    facts["paranoid"] = unknown("not_readable") if level is None else level
    facts["user_sampling"] = _may_sample(host, level)
    if level is None or level < _USER_SAMPLING or privileged(host):
        return
    denied = level > _USER_SAMPLING
    section.find(
        "perf.paranoid",
        "limitation" if denied else "note",
        f"perf_event_paranoid is {level}: "
        + (
            "this distribution's value that denies perf to everyone without CAP_PERFMON"
            if denied
            else "own programs can be sampled, the kernel and the whole system cannot"
        ),
        evidence=[f"{_PARANOID}: {level}", f"CapEff: {bits(host)}"],
        affects=("profiling",),
        fix=_paranoid_fix(host),
    )


def _may_sample(host: Host, level: int | None) -> Any:
    if privileged(host):
        return True
    return unknown("not_readable") if level is None else level <= _USER_SAMPLING


def privileged(host: Host) -> bool:
    """Whether the kernel lets this process use perf whatever its settings say."""
    return bool(host.capable_on_host(CAP_PERFMON) or host.capable_on_host(CAP_SYS_ADMIN))


def bits(host: Host) -> str:
    """Show CapEff as the kernel does."""
    return "unknown" if host.cap_eff is None else f"{host.cap_eff:016x}"


def _paranoid_fix(host: Host) -> Fix:
    container = host.container == "yes"
    return Fix(
        summary="allow perf on the host; in a container the host's value counts"
        if container
        else "allow perf to users",
        commands=("sudo sysctl kernel.perf_event_paranoid=1",)
        + (("docker run --cap-add=PERFMON …",) if container else ()),
        where="host root",
        needs_root=True,
        verify=f"cat {_PARANOID}",
    )


def _seccomp(host: Host, section: Section) -> None:
    """A container runtime's filter refuses perf_event_open unless a capability is given."""
    if host.seccomp != 2 or host.container is None or privileged(host):
        return
    section.find(
        "perf.seccomp",
        "limitation",
        "a seccomp filter is on in this container; the usual ones refuse perf_event_open (not tried)",
        evidence=["/proc/self/status: Seccomp 2", f"CapEff: {bits(host)}"],
        affects=("profiling",),
        fix=Fix(
            summary="start the container with --cap-add PERFMON, or without the filter",
            commands=(
                "docker run --cap-add=PERFMON …",
                "docker run --security-opt seccomp=unconfined …",
            ),
            where="container launch",
            verify="perf stat -e cpu-clock true",
        ),
    )


def _kernel_symbols(system: System, host: Host, section: Section) -> None:
    word = system.word("/proc/sys/kernel/kptr_restrict")
    section.facts["perf"]["kptr_restrict"] = (
        int(word) if word and word.isdigit() else unknown("not_readable")
    )
    hidden = word == "2" or (word == "1" and host.capable_on_host(CAP_SYSLOG) is False)
    if hidden:
        section.find(
            "perf.kernel_symbols_hidden",
            "note",
            f"kptr_restrict is {word}: perf shows kernel functions without names",
            evidence=[f"/proc/sys/kernel/kptr_restrict: {word}"],
            affects=("profiling",),
            fix=Fix(
                summary="show kernel addresses while profiling",
                commands=("sudo sysctl kernel.kptr_restrict=0",),
                where="host" if host.container else "host root",
                needs_root=True,
                verify="cat /proc/sys/kernel/kptr_restrict",
            ),
        )
