"""The CPU: model, instruction sets, topology, and whether this process is near its GPU.

The model is given as numbers, because names lie in virtual machines (a masked flag turns one
micro-architecture into another). Source: proc_cpuinfo(5) and
https://docs.kernel.org/admin-guide/abi-testing.html (/sys/devices/system/cpu, …/node).
"""

import re
from typing import Any

from ...evidence.payloads import Fix
from ..system import System
from . import cpu_list
from .section import Section, absent, unknown

CPUS = "/sys/devices/system/cpu"
# The flags that change what a kernel library picks.
_ISA = frozenset(
    {
        *("avx", "avx2", "avx512f", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx_vnni"),
        *("amx_tile", "amx_bf16", "amx_int8"),
        *("neon", "sve", "sve2", "bf16", "i8mm", "dotprod"),
    }
)
# Linux names two of them otherwise on 64-bit Arm.
_ARM_NAMES = {"asimd": "neon", "asimddp": "dotprod"}
_DISPLAY_CLASSES = ("0x0300", "0x0302", "0x0380", "0x1200")
_GPU_VENDORS = ("0x10de", "0x1002")


def examine(system: System, section: Section) -> None:
    """Add what the CPU is."""
    cpuinfo = system.read("/proc/cpuinfo")
    section.facts["host"] |= identity(cpuinfo)
    section.facts["host"] |= _topology(system)
    section.facts["host"] |= _settings(system)
    _numa(system, section)


def identity(cpuinfo: str | None) -> dict[str, Any]:
    """Read model, name, instruction sets and current clock of the first CPU."""
    if cpuinfo is None:
        names = ("cpu_model", "cpu_name", "cpu_isa", "cpu_mhz")
        return dict.fromkeys(names, unknown("not_readable"))
    first: dict[str, str] = {}
    for line in cpuinfo.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            first.setdefault(key.strip(), value.strip())
    flags = first.get("flags", first.get("Features", "")).split()
    isa = sorted({_ARM_NAMES.get(f, f) for f in flags} & _ISA)
    return {
        "cpu_model": _model(first) or unknown("not_listed"),
        "cpu_name": first.get("model name") or first.get("Model") or unknown("not_listed"),
        "cpu_isa": isa if flags else unknown("not_listed"),
        "cpu_mhz": _megahertz(first.get("cpu MHz")),
    }


def _model(first: dict[str, str]) -> str | None:
    if "cpu family" in first and "model" in first:
        return f"family {first['cpu family']} model {first['model']}"
    if "CPU implementer" in first and "CPU part" in first:
        return f"implementer {first['CPU implementer']} part {first['CPU part']}"
    return None


def _megahertz(text: str | None) -> Any:
    try:
        value = float(text) if text else 0.0
    except ValueError:
        value = 0.0
    return value if value > 0 else unknown("not_listed")  # 0.000 in virtual machines: no clock


def _topology(system: System) -> dict[str, Any]:
    online = online_cpus(system)
    cores = physical_cores(system, online) if online else None
    smt = system.word(f"{CPUS}/smt/active")
    if smt is None and cores and online:
        smt = str(int(cores < len(online)))
    return {
        "cpu_online": len(online) if online else unknown("not_readable"),
        "cores_physical": cores or unknown("not_readable"),
        "smt": smt == "1" if smt in ("0", "1") else unknown("not_readable"),
    }


def online_cpus(system: System) -> frozenset[int] | None:
    """Give the CPUs that the kernel runs on; from /proc/cpuinfo where /sys does not tell."""
    online = cpu_list.parse(system.word(f"{CPUS}/online"))
    if online:
        return online
    found = re.findall(r"^processor\s*:\s*(\d+)", system.read("/proc/cpuinfo") or "", re.MULTILINE)
    return frozenset(int(n) for n in found) or None


def physical_cores(system: System, cpus: frozenset[int]) -> int | None:
    """Count the cores that `cpus` lie on: siblings share one. None where /sys does not tell."""
    cores = set()
    for cpu in cpus:
        topology = f"{CPUS}/cpu{cpu}/topology"
        siblings = system.word(f"{topology}/core_cpus_list") or system.word(
            f"{topology}/thread_siblings_list"
        )
        if siblings is None:
            return None
        cores.add(siblings)
    return len(cores) or None


def _settings(system: System) -> dict[str, Any]:
    """Read what shifts timings a little and is worth knowing when two records differ."""
    isolated = system.word(f"{CPUS}/isolated")
    return {
        "cpu_isolated": isolated or absent(),
        "mitigations": _mitigations(system),
        "thp": _chosen(system.word("/sys/kernel/mm/transparent_hugepage/enabled")),
        "thp_defrag": _chosen(system.word("/sys/kernel/mm/transparent_hugepage/defrag")),
        "aslr": _switch(system.word("/proc/sys/kernel/randomize_va_space")),
        "nmi_watchdog": _switch(system.word("/proc/sys/kernel/nmi_watchdog")),
        "sched_autogroup": _switch(system.word("/proc/sys/kernel/sched_autogroup_enabled")),
        "numa_balancing": _switch(system.word("/proc/sys/kernel/numa_balancing")),
    }


def _mitigations(system: System) -> Any:
    directory = f"{CPUS}/vulnerabilities"
    names = system.names(directory)
    if not names:
        return unknown("not_readable")
    words = {name: system.word(f"{directory}/{name}") or "" for name in names}
    return sorted(name for name, text in words.items() if text.startswith("Mitigation"))


def _chosen(text: str | None) -> Any:
    """Read the word in brackets of `always [madvise] never`."""
    found = re.search(r"\[([\w+]+)\]", text or "")
    return found[1] if found else unknown("not_readable")


def _switch(text: str | None) -> Any:
    return int(text) if text is not None and text.isdigit() else unknown("not_readable")


def _numa(system: System, section: Section) -> None:
    nodes = cpu_list.parse(system.word("/sys/devices/system/node/online"))
    section.facts["host"]["numa_nodes"] = len(nodes) if nodes else unknown("not_readable")
    if not nodes or len(nodes) < 2:
        return
    status = re.search(
        r"^Cpus_allowed_list:\s*(\S+)", system.read("/proc/self/status") or "", re.MULTILINE
    )
    allowed = cpu_list.parse(status[1] if status else None)
    wanted = gpu_nodes(system) & nodes
    if not allowed or not wanted:
        return
    near = {
        n: cpu_list.parse(system.word(f"/sys/devices/system/node/node{n}/cpulist")) for n in nodes
    }
    if any((near[n] or frozenset()) & allowed for n in wanted):
        return
    node = min(wanted)
    section.find(
        "host.numa_remote",
        "warning",
        f"this process may run only on CPUs {cpu_list.show(allowed)}, the GPU is on NUMA node {node}: "
        "every transfer crosses the sockets",
        evidence=[f"/sys/bus/pci/devices/*/numa_node: {node}"],
        affects=("timing",),
        fix=Fix(
            summary="run beside the GPU",
            commands=(f"numactl --cpunodebind={node} --membind={node} COMMAND",),
            verify="numactl --show",
        ),
    )


def gpu_nodes(system: System) -> frozenset[int]:
    """Give the NUMA nodes that NVIDIA and AMD GPUs hang on; -1 (the firmware does not say) left out."""
    nodes = set()
    for device in system.names("/sys/bus/pci/devices"):
        directory = f"/sys/bus/pci/devices/{device}"
        if system.word(f"{directory}/vendor") not in _GPU_VENDORS:
            continue
        if (system.word(f"{directory}/class") or "").startswith(_DISPLAY_CLASSES):
            node = system.word(f"{directory}/numa_node") or "-1"
            if node.isdigit():
                nodes.add(int(node))
    return frozenset(nodes)
