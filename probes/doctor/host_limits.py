"""How much of the machine this process may use: CPUs, quota, memory, open files.

`os.cpu_count`, the affinity and psutil all miss a quota: a container started with `--cpus=4` on 12
CPUs sees 12 and starts 12 threads.
"""

import re

from ...evidence.payloads import Fix
from ..system import System
from . import cgroup, cpu_list
from .cgroup import Limits
from .host_cpu import online_cpus, physical_cores
from .host_kind import Kind
from .host_privileges import fields
from .section import Section, absent, unknown

_GIB = 1 << 30
_FEW_FILES = 4096
# Below one period in a hundred, throttling is a start-up hiccup rather than the state of affairs.
_THROTTLED_WARNING = 0.01


def examine(system: System, section: Section, kind: Kind) -> None:
    """Add what limits this process, and what that leaves."""
    limits = cgroup.read(system)
    online = online_cpus(system)
    section.facts["host"] |= _facts(limits)
    allowed = _cpuset(system, section, limits, online, kind)
    cpus = allowed or online
    _quota(section, limits, cpus, kind)
    _throttled(section, limits, kind)
    _memory(system, section, limits, kind)
    _open_files(system, section)
    known = [float(len(cpus))] if cpus else []
    known += [limits.cpu_quota] if limits.cpu_quota else []
    reason = limits.cpu_unread or (None if known else "not_readable")
    section.facts["host"]["cpu_effective"] = unknown(reason) if reason else min(known)


def _facts(limits: Limits) -> dict[str, object]:
    nothing = absent() if limits.version else unknown("not_readable")
    return {
        "cgroup": limits.version or unknown("not_readable"),
        "cpu_quota": unknown(limits.cpu_unread)
        if limits.cpu_unread
        else limits.cpu_quota or nothing,
        "cpu_periods": nothing if limits.periods is None else limits.periods,
        "cpu_throttled": nothing if limits.throttled is None else limits.throttled,
        "memory_limit": unknown(limits.memory_unread)
        if limits.memory_unread
        else limits.memory_bytes or nothing,
    }


def _cpuset(
    system: System,
    section: Section,
    limits: Limits,
    online: frozenset[int] | None,
    kind: Kind,
) -> frozenset[int] | None:
    """Report CPUs that are kept from this process; give those that it may use."""
    status = fields(system.read("/proc/self/status") or "")
    affinity = cpu_list.parse(status.get("Cpus_allowed_list"))
    allowed, source = affinity, "/proc/self/status: Cpus_allowed_list"
    if limits.cpuset and limits.cpuset_file:
        allowed = limits.cpuset & affinity if affinity else limits.cpuset
        if allowed == limits.cpuset:
            source = limits.cpuset_file
    if allowed and online:
        allowed = allowed & online or allowed
    section.facts["host"]["cpus_allowed"] = (
        cpu_list.show(allowed) if allowed else unknown("not_readable")
    )
    if not allowed or (online and online <= allowed):
        return allowed
    if not online and not limits.cpuset:
        return allowed  # an affinity without the number of CPUs says nothing
    _report_cpuset(system, section, allowed, online, source, kind)
    return allowed


def _report_cpuset(
    system: System,
    section: Section,
    allowed: frozenset[int],
    online: frozenset[int] | None,
    source: str,
    kind: Kind,
) -> None:
    cores = physical_cores(system, allowed)
    of = f" of {len(online)}" if online else ""
    on = f" on {cores} physical core{'s' if cores != 1 else ''}" if cores else ""
    everything = cpu_list.show(online) if online else "LIST"
    in_container = kind.container is not None
    section.find(
        "host.cpuset",
        "note",
        f"this process may run on {len(allowed)}{of} logical CPUs{on}: size thread pools by that",
        evidence=[f"{source}: {cpu_list.show(allowed)}"],
        affects=("timing", "comparison"),
        fix=Fix(
            summary="widen the set, or set the engine's threads to the physical cores",
            commands=(f"docker run --cpuset-cpus={everything} …",)
            if in_container
            else (f"taskset -pc {everything} $$",),
            where="container launch" if in_container else "this shell",
            verify="nproc",
        ),
    )


def _quota(section: Section, limits: Limits, cpus: frozenset[int] | None, kind: Kind) -> None:
    quota = limits.cpu_quota
    if quota is None or (cpus and quota >= len(cpus)):
        return
    seen = f", which sees {len(cpus)}" if cpus else ""
    section.find(
        "host.cpu_quota",
        "warning",
        f"a CPU quota of {quota:g} CPUs binds this process{seen}: more threads than that are "
        "throttled",
        evidence=[f"{limits.cpu_quota_file}: {quota:g} CPUs"],
        affects=("timing",),
        fix=_more_cpus(limits, kind),
    )


def _more_cpus(limits: Limits, kind: Kind) -> Fix:
    threads = max(1, int(limits.cpu_quota or 1))
    # the top of a host's own tree has no cpu.max: one there is a container's own top
    if kind.container or limits.cpu_quota_file == "/sys/fs/cgroup/cpu.max":
        return Fix(
            summary=f"start the container with more CPUs, or give the engine {threads} threads",
            commands=("docker run --cpus=N …", f"export OMP_NUM_THREADS={threads}"),
            where="container launch",
            verify="cat /sys/fs/cgroup/cpu.max",
        )
    return Fix(
        summary=f"raise the quota of the unit or job, or give the engine {threads} threads",
        commands=(f"export OMP_NUM_THREADS={threads}", "systemctl show -p CPUQuotaPerSecUSec UNIT"),
        verify="cat /proc/self/cgroup",
    )


def _throttled(section: Section, limits: Limits, kind: Kind) -> None:
    if not limits.throttled or not limits.periods:
        return
    share = limits.throttled / limits.periods
    section.find(
        "host.cpu_throttled",
        "warning" if share >= _THROTTLED_WARNING else "note",
        f"the CPU quota has already stopped this control group in {share * 100:.0f} % of its "
        f"periods ({limits.throttled} of {limits.periods})",
        evidence=[f"cpu.stat: nr_throttled {limits.throttled}, nr_periods {limits.periods}"],
        affects=("timing",),
        fix=_more_cpus(limits, kind),
    )


def _memory(system: System, section: Section, limits: Limits, kind: Kind) -> None:
    """Warn where the limit is under half of the memory that programs see: they size caches by it."""
    found = re.search(r"^MemTotal:\s*(\d+) kB", system.read("/proc/meminfo") or "", re.MULTILINE)
    total = int(found[1]) * 1024 if found else None
    limit = limits.memory_bytes
    if not limit or not total or limit >= total / 2:
        return
    section.find(
        "host.memory_limit",
        "warning",
        f"memory is limited to {limit / _GIB:.1f} GiB of {total / _GIB:.1f} GiB: a program that "
        "sizes itself by the total is killed",
        evidence=[f"{limits.memory_file}: {limit}"],
        affects=("running",),
        fix=Fix(
            summary="raise the limit, or tell the engine how much it may use",
            commands=("docker run --memory=SIZE …",)
            if kind.container
            else ("systemctl show -p MemoryMax UNIT",),
            where="container launch" if kind.container else "this shell",
            verify=f"cat {limits.memory_file}",
        ),
    )


def _open_files(system: System, section: Section) -> None:
    """Warn where not even the hard limit suffices: servers raise the soft one themselves."""
    found = re.search(
        r"^Max open files\s+(\S+)\s+(\S+)", system.read("/proc/self/limits") or "", re.MULTILINE
    )
    soft, hard = (_limit(found[1]), _limit(found[2])) if found else (None, None)
    section.facts["host"]["open_files"] = (
        {"soft": soft or "unlimited", "hard": hard or "unlimited"}
        if found
        else unknown("not_readable")
    )
    if soft is None or soft >= _FEW_FILES:
        return
    enough = hard is None or hard >= _FEW_FILES
    section.find(
        "host.open_files_low",
        "note" if enough else "warning",
        f"only {soft} files and sockets may be open at once"
        + (" (a server may raise that itself)" if enough else "; a busy server needs more"),
        evidence=[f"/proc/self/limits: Max open files {soft} (hard {hard or 'unlimited'})"],
        affects=("running",),
        fix=Fix(
            summary="raise the limit before the server starts",
            commands=("ulimit -n 65536",),
            needs_root=not enough,
            verify="ulimit -n",
        ),
    )


def _limit(text: str) -> int | None:
    return int(text) if text.isdigit() else None  # None: unlimited
