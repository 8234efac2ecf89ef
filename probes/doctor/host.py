"""The host: operating system, CPU, memory, limits, load, virtualisation, capabilities of this process."""

from dataclasses import dataclass, field

from ..system import System
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

    def capable(self, bit: int) -> bool | None:
        """Whether this process has a capability, by its bit; None where that cannot be read."""
        return None if self.cap_eff is None else bool(self.cap_eff >> bit & 1)


def read(system: System) -> Host:
    """Read everything about the host that is a file."""
    return Host()
