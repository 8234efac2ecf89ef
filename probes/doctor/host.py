"""The host: operating system, CPU, memory, limits, load, virtualisation, capabilities of this process."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ..system import System
from . import (
    environment,
    host_clock,
    host_cpu,
    host_desktop,
    host_kind,
    host_limits,
    host_load,
    host_privileges,
    host_storage,
)
from .host_kind import Kind
from .host_privileges import Privileges
from .section import Section


@dataclass(frozen=True)
class Host:
    """What the other parts need to know about the host."""

    section: Section = field(default_factory=Section)
    container: str | None = None  # "yes", "uncertain" or None
    vm: str | None = None  # "kvm", "vmware", … or None
    wsl: bool = False
    cap_eff: int | None = None  # capability bits of this process (CapEff); None where unreadable
    euid: int | None = None
    # True: the capabilities hold only inside a user namespace; None where that cannot be read
    user_namespace: bool | None = None
    seccomp: int | None = None  # 0 off, 1 strict, 2 filter; None where unreadable
    kernel: str | None = None  # release, as uname -r prints it

    def capable(self, bit: int) -> bool | None:
        """Whether this process has a capability, by its bit; None where that cannot be read."""
        return None if self.cap_eff is None else bool(self.cap_eff >> bit & 1)

    def capable_on_host(self, bit: int) -> bool | None:
        """Whether the kernel itself would honour a capability.

        perf and GPU counters ask for it in the initial user namespace, so one held only inside a
        rootless container's namespace does not count.
        """
        if self.user_namespace:
            return False
        return self.capable(bit)


def read(system: System) -> Host:
    """Read everything about the host that is a file (and, on a live system, the running kernel).

    A part that fails loses only itself: the rest of the host stays, with a limitation that names it.
    """
    section = Section()
    section.facts["host"] = {"os": system.platform}
    kind = host_kind.Kind()
    privileges = host_privileges.Privileges()
    parts: list[tuple[str, Callable[[], None]]] = []

    def examine_kind() -> None:
        nonlocal kind
        kind = host_kind.examine(system, section)

    def examine_privileges() -> None:
        nonlocal privileges
        privileges = host_privileges.examine(system, section)

    parts += [("kind", examine_kind), ("privileges", examine_privileges)]
    if system.platform == "linux":
        parts += [
            ("cpu", lambda: host_cpu.examine(system, section)),
            ("clock", lambda: host_clock.examine(system, section, kind)),
            ("limits", lambda: host_limits.examine(system, section, kind)),
            ("load", lambda: host_load.examine(system, section)),
        ]
    else:
        parts.append(("desktop", lambda: host_desktop.examine(system, section)))
    parts += [
        ("storage", lambda: host_storage.examine(system, section)),
        ("environment", lambda: environment.examine(system, section)),
    ]
    for name, work in parts:
        try:
            work()
        except Exception as error:  # noqa: BLE001  one corner must not cost the whole report
            section.limitations.append(
                f"unknown: internal error in host.{name} ({type(error).__name__})"
            )
    return _host(section, kind, privileges)


def _host(section: Section, kind: Kind, privileges: Privileges) -> Host:
    return Host(
        section=section,
        container=kind.container,
        vm=kind.vm,
        wsl=kind.wsl,
        cap_eff=privileges.cap_eff,
        euid=privileges.euid,
        user_namespace=privileges.user_namespace,
        seccomp=privileges.seccomp,
        kernel=kind.kernel,
    )
