"""What kind of machine this is: system, kernel, container, virtual machine, WSL, emulation.

It is read before anything is judged, because it decides which fixes can work here. `/.dockerenv`
alone proves little: micro-VMs are booted from container images and keep the file.
"""

import os
import platform
import re
from dataclasses import dataclass

from ..system import System
from .section import Section, absent, unknown

# A path of one of these under /proc/self/cgroup is a container's; dockerd's own
# /system.slice/docker.service is not.
_RUNTIME_PATH = re.compile(
    r"/(?:docker|lxc|kubepods|buildkit|garden|ecs)/|docker-[0-9a-f]{12}|libpod-[0-9a-f]{12}"
    r"|cri-containerd|crio-[0-9a-f]{12}|kubepods[./-]|lxc\.payload|machine\.slice/.*nspawn"
)
# Where runtimes keep image layers; a live system's overlay has its layers elsewhere.
_LAYERS = re.compile(r"/(?:docker|containerd|containers/storage|kubelet|buildkit|podman)/")
_BLOCK_TYPES = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "erofs", "squashfs"})
# DMI strings, in the order in which they decide: vendors of clouds before the emulator they use.
_DMI = (
    ("vmware", ("VMware", "VMW")),
    ("virtualbox", ("innotek GmbH", "VirtualBox")),
    ("hyperv", ("Hyper-V", "Microsoft Corporation")),
    ("xen", ("Xen",)),
    ("parallels", ("Parallels",)),
    ("bhyve", ("BHYVE",)),
    ("apple", ("Apple Virtualization", "Apple Inc. Virtual")),
    (
        "kvm",
        (
            *("KVM", "QEMU", "OpenStack", "KubeVirt", "Amazon EC2", "Google Compute Engine"),
            *("Google", "Alibaba Cloud", "DigitalOcean", "Bochs", "Hetzner"),
        ),
    ),
)


@dataclass(frozen=True)
class Kind:
    """What decides fixes: see Host."""

    container: str | None = None
    vm: str | None = None
    wsl: bool = False
    kernel: str | None = None


def examine(system: System, section: Section) -> Kind:
    """Read the kind of machine; add facts under `host` and the notes that go with them."""
    kernel = _kernel(system)
    facts = section.facts["host"]
    facts |= {
        "os_name": _or_unknown(_os_name(system)),
        "kernel": _or_unknown(kernel),
        "machine": _or_unknown(_machine(system)),
    }
    if system.platform != "linux":
        return Kind(kernel=kernel)
    wsl = _wsl(system, kernel)
    vm = "hyperv" if wsl == 2 else virtual_machine(system)
    container, evidence = container_state(system, vm)
    facts |= {
        "libc": _or_unknown(_libc(system)),
        "wsl": wsl or absent(),
        "vm": vm or (absent() if _can_tell_vm(system) else unknown("not_readable")),
        "container": container or (absent() if _can_tell(system) else unknown("not_readable")),
        "container_evidence": evidence,
    }
    _report(section, vm, wsl, kernel)
    _report_emulation(system, section)
    return Kind(container=container, vm=vm, wsl=bool(wsl), kernel=kernel)


def container_state(system: System, vm: str | None) -> tuple[str | None, list[str]]:
    """Say `yes`, `uncertain` or None, and what speaks for and against it.

    Yes: a marker and nothing against it. Uncertain: the root file system is a block device of a
    virtual machine, or its PID 1 sits at the top of the cgroup tree. An overlay root together with
    another marker outweighs the latter, for a private cgroup namespace looks the same.
    """
    markers, overlay = _markers(system)
    if not markers:
        return None, []
    against = []
    if vm and (device := _block_root(system)):
        against.append(f"the root file system is {device} of a virtual machine")
    if vm and not (overlay and len(markers) > 1) and _first_process_on_top(system):
        against.append("PID 1 is at the top of the cgroup tree of a virtual machine")
    return ("uncertain" if against else "yes"), markers + against


def virtual_machine(system: System) -> str | None:
    """Name the hypervisor; `other` where one is there that cannot be named; None where none shows."""
    cpuinfo = system.read("/proc/cpuinfo") or ""
    flagged = bool(re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE))
    directory = "/sys/class/dmi/id/"
    names = ("sys_vendor", "product_name", "board_vendor", "bios_vendor")
    dmi = [system.word(directory + name) or "" for name in names]
    if any(".metal" in text for text in dmi) and not flagged:
        return None  # a cloud's bare-metal instance carries the cloud's name
    by_dmi = next((kind for kind, words in _DMI if _starts(dmi, words)), None)
    # Surface laptops carry the vendor's name too, so a vendor alone is not enough on x86.
    if by_dmi and (flagged or not _is_x86(cpuinfo)) and not _is_surface(dmi, flagged):
        return by_dmi
    hypervisor = system.word("/sys/hypervisor/type")
    if hypervisor:
        return hypervisor
    clocks = "/sys/devices/system/clocksource/clocksource0/"
    clock = f"{system.word(clocks + 'current_clocksource')} "
    clock += system.word(clocks + "available_clocksource") or ""
    for mark, kind in (("kvm-clock", "kvm"), ("hyperv", "hyperv"), ("xen", "xen")):
        if mark in clock:
            return kind
    return "other" if flagged else None


def _starts(texts: list[str], words: tuple[str, ...]) -> bool:
    return any(text.startswith(word) or f" {word}" in text for text in texts for word in words)


def _is_x86(cpuinfo: str) -> bool:
    return "vendor_id" in cpuinfo or "\nflags" in cpuinfo or cpuinfo.startswith("flags")


def _is_surface(dmi: list[str], flagged: bool) -> bool:
    return not flagged and any("Surface" in text for text in dmi)


def _markers(system: System) -> tuple[list[str], bool]:
    markers = [path for path in ("/.dockerenv", "/run/.containerenv") if system.lexists(path)]
    manager = system.word("/run/systemd/container")
    if manager and manager != "wsl":
        markers.append(f"/run/systemd/container: {manager}")
    root = _root_mount(system)
    overlay = root is not None and root[0] in ("overlay", "aufs", "fuse-overlayfs")
    if root is not None and overlay:
        markers.append("the root file system is an overlay")
        if layers := _LAYERS.search(root[2]):
            markers.append(f"its layers lie in {layers[0]}")
    for line in (system.read("/proc/self/cgroup") or "").splitlines():
        if _RUNTIME_PATH.search(line):
            markers.append(f"/proc/self/cgroup: {line[:80]}")
            break
    return markers, overlay


def _root_mount(system: System) -> tuple[str, str, str] | None:
    """Give type, source and options of the mount on `/`; the last one there is the one that is seen."""
    found = None
    for line in (system.read("/proc/self/mountinfo") or "").splitlines():
        left, _, right = line.partition(" - ")
        fields, tail = left.split(), right.split()
        if len(fields) > 4 and fields[4] == "/" and len(tail) > 1:
            found = (tail[0], tail[1], tail[-1])
    return found


def _block_root(system: System) -> str | None:
    root = _root_mount(system)
    if root and (root[0] in _BLOCK_TYPES or root[1].startswith("/dev/")):
        return f"{root[0]} on {root[1]}"
    return None


def _first_process_on_top(system: System) -> bool:
    lines = (system.read("/proc/1/cgroup") or "").split()
    return bool(lines) and all(line.endswith(":/") for line in lines)


def _can_tell(system: System) -> bool:
    return any(
        system.read(path) is not None for path in ("/proc/self/mountinfo", "/proc/self/cgroup")
    )


def _can_tell_vm(system: System) -> bool:
    return system.read("/proc/cpuinfo") is not None


def _wsl(system: System, kernel: str | None) -> int | None:
    text = f"{kernel or ''} {system.read('/proc/version') or ''}"
    if re.search(r"microsoft", text, re.IGNORECASE):
        # WSL 1 translates system calls and calls itself 4.4.0-19041-Microsoft.
        first = re.match(r"4\.4\.0-\d+-Microsoft", kernel or "")
        return 1 if first and not system.lexists("/dev/dxg") else 2
    return 2 if system.lexists("/dev/dxg") and system.is_dir("/usr/lib/wsl/lib") else None


def _kernel(system: System) -> str | None:
    if system.platform == "linux":
        return system.word("/proc/sys/kernel/osrelease") or (
            platform.release() if system.live else None
        )
    return platform.release() if system.live else None


def _machine(system: System) -> str | None:
    return platform.machine() or None if system.live else None


def _os_name(system: System) -> str | None:
    if system.platform == "linux":
        release = system.read("/etc/os-release") or system.read("/usr/lib/os-release") or ""
        found = re.search(r'^PRETTY_NAME="?([^"\n]*)', release, re.MULTILINE)
        return found[1] if found else None
    if not system.live:
        return None
    if system.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    return " ".join(part for part in ("Windows", *platform.win32_ver()[:2]) if part)


def _libc(system: System) -> str | None:
    if any(name.startswith("ld-musl-") for name in system.names("/lib")):
        return "musl"
    if not system.live:
        return None
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, OSError, ValueError):
        return None


def _report(section: Section, vm: str | None, wsl: int | None, kernel: str | None) -> None:
    if wsl:
        section.find(
            "host.wsl2" if wsl == 2 else "host.wsl1",
            "limitation",
            f"WSL {wsl}: the driver, clocks and counters belong to the Windows side"
            if wsl == 2
            else "WSL 1 translates system calls: there is no GPU, perf or cgroup",
            evidence=[f"/proc/sys/kernel/osrelease: {kernel}"],
            affects=("profiling", "timing"),
        )
    elif vm:
        section.find(
            "host.virtualized",
            "note",
            f"a virtual machine ({vm if vm != 'other' else 'unnamed hypervisor'}): hardware counters, clocks and steal depend on the host",
            evidence=[f"hypervisor: {vm}"],
            affects=("comparison",),
        )


def _report_emulation(system: System, section: Section) -> None:
    cpuinfo = system.read("/proc/cpuinfo") or ""
    why = None
    if "VirtualApple" in cpuinfo:
        why = "/proc/cpuinfo: vendor_id VirtualApple (Rosetta translates x86 on Apple silicon)"
    elif system.live and _machine(system) in ("x86_64", "i686") and "CPU implementer" in cpuinfo:
        why = "/proc/cpuinfo describes an Arm CPU, this process is x86"
    section.facts["host"]["emulated"] = bool(why) if cpuinfo else unknown("not_readable")
    if why:
        section.find(
            "host.emulated",
            "error",
            "programs run under CPU emulation: no timing here says anything about the hardware",
            evidence=[why],
            affects=("timing", "profiling"),
        )


def _or_unknown(value: str | None) -> object:
    return unknown("not_readable") if value is None else value
