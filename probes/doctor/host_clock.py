"""Clocks: frequency governor, turbo, the kernel's clock source, time stolen by the hypervisor.

Source: https://docs.kernel.org/admin-guide/pm/cpufreq.html, …/intel_pstate.html,
…/amd-pstate.html; proc_stat(5).
"""

import re
from typing import Any

from ...evidence.payloads import Fix
from ..system import System
from .host_cpu import CPUS
from .host_kind import Kind
from .section import Section, unknown

# In these drivers' active mode `powersave` is the normal governor and ramps in hardware.
_ACTIVE_DRIVERS = frozenset({"intel_pstate", "amd-pstate-epp", "amd_pstate_epp"})
# Read without a system call (vDSO) or as cheaply; others make every timer a system call.
_FAST_CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv", "riscv_clocksource", "timebase")
_CLOCK_DIRECTORY = "/sys/devices/system/clocksource/clocksource0"
_STEAL_WARNING, _STEAL_ERROR = 0.01, 0.10


def examine(system: System, section: Section, kind: Kind) -> None:
    """Add governor, turbo, clock source and steal."""
    _governor(system, section, kind)
    section.facts["host"]["turbo"] = _turbo(system)
    _clocksource(system, section)
    _steal(system, section)


def _governor(system: System, section: Section, kind: Kind) -> None:
    policies = _policies(system)
    governors = sorted({g for p in policies if (g := system.word(f"{p}/scaling_governor"))})
    drivers = sorted({d for p in policies if (d := system.word(f"{p}/scaling_driver"))})
    maxima = [
        int(m) for p in policies if (m := system.word(f"{p}/cpuinfo_max_freq") or "").isdigit()
    ]
    facts = section.facts["host"]
    facts |= {
        "governor": ",".join(governors) or unknown("not_supported"),
        "cpufreq_driver": ",".join(drivers) or unknown("not_supported"),
        "cpu_max_mhz": max(maxima) / 1000 if any(maxima) else unknown("not_supported"),
    }
    if not governors:
        if system.read("/proc/cpuinfo") is not None or system.is_dir(CPUS):
            section.find(
                "host.cpufreq_hidden",
                "note",
                "the CPU's clock policy is not visible here, so the governor is unknown",
                evidence=[f"{CPUS}/cpu0/cpufreq: absent"],
                affects=("comparison",),
            )
        return
    slow = [g for g in governors if g != "performance"]
    if slow:
        _report_governor(section, slow, drivers, policies[0], kind)


def _report_governor(
    section: Section, slow: list[str], drivers: list[str], policy: str, kind: Kind
) -> None:
    active = bool(drivers) and set(drivers) <= _ACTIVE_DRIVERS
    driver = f" (driver {','.join(drivers)})" if drivers else ""
    section.find(
        "host.governor_not_performance",
        "note" if active else "warning",
        f"the CPU frequency governor is {', '.join(slow)}{driver}"
        + (", which is that driver's normal setting" if active else ": clocks ramp during a run"),
        evidence=[f"{policy}/scaling_governor: {slow[0]}"],
        affects=("timing",),
        fix=Fix(
            summary="hold the clocks while measuring",
            commands=("sudo cpupower frequency-set -g performance",),
            where="host" if kind.container else "host root",
            needs_root=True,
            verify=f"cat {policy}/scaling_governor",
        ),
    )


def _policies(system: System) -> list[str]:
    directory = f"{CPUS}/cpufreq"
    policies = [f"{directory}/{n}" for n in system.names(directory) if n.startswith("policy")]
    if policies:
        return policies
    cpus = [n for n in system.names(CPUS) if re.fullmatch(r"cpu\d+", n)]
    return [f"{CPUS}/{n}/cpufreq" for n in cpus if system.is_dir(f"{CPUS}/{n}/cpufreq")]


def _turbo(system: System) -> Any:
    no_turbo = system.word(f"{CPUS}/intel_pstate/no_turbo")
    if no_turbo in ("0", "1"):
        return no_turbo == "0"
    boost = system.word(f"{CPUS}/cpufreq/boost")
    return boost == "1" if boost in ("0", "1") else unknown("not_supported")


def _clocksource(system: System, section: Section) -> None:
    clock = system.word(f"{_CLOCK_DIRECTORY}/current_clocksource")
    section.facts["host"]["clocksource"] = clock or unknown("not_readable")
    if clock is None or clock.startswith(_FAST_CLOCKS):
        return
    available = (system.word(f"{_CLOCK_DIRECTORY}/available_clocksource") or "").split()
    now = [c for c in available if c.startswith(_FAST_CLOCKS)][:1]
    section.find(
        "host.clocksource_slow",
        "warning",
        f"the kernel's clock source is {clock}: every timer read is a system call",
        evidence=[f"{_CLOCK_DIRECTORY}/current_clocksource: {clock}"],
        affects=("timing",),
        fix=Fix(
            summary="use the CPU's own counter; the kernel may have found it unstable (see dmesg)",
            commands=(
                *(f"echo {c} | sudo tee {_CLOCK_DIRECTORY}/current_clocksource" for c in now),
                "add clocksource=tsc to the kernel command line",
            ),
            where="host root" if now else "reboot",
            needs_root=True,
            needs_reboot=not now,
            verify=f"cat {_CLOCK_DIRECTORY}/current_clocksource",
        ),
    )


def steal_share(stat: str | None) -> float | None:
    """Give the share of time since boot that the hypervisor gave to others (0 to 1)."""
    fields = (stat or "").partition("\n")[0].split()
    if len(fields) < 9 or fields[0] != "cpu" or not all(f.isdigit() for f in fields[1:9]):
        return None
    ticks = [int(f) for f in fields[1:9]]  # guest time is counted in user time already
    return ticks[7] / sum(ticks) if sum(ticks) else None


def _steal(system: System, section: Section) -> None:
    share = steal_share(system.read("/proc/stat"))
    section.facts["host"]["steal_pct"] = (
        unknown("not_readable") if share is None else round(share * 100, 2)
    )
    if share is None or share <= _STEAL_WARNING:
        return
    section.find(
        "host.steal",
        "error" if share > _STEAL_ERROR else "warning",
        f"steal: the hypervisor gave {share:.1%} of the CPU time since boot to other machines",
        evidence=[f"/proc/stat: cpu steal {share:.2%} of all ticks since boot"],
        affects=("timing",),
        fix=Fix(
            summary="use an instance type with dedicated CPUs, or measure when neighbours are idle",
            commands=(),
            where="host",
            verify="vmstat 1 5",
        ),
    )
