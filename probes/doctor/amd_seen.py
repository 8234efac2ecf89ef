"""What was read about AMD on one machine, before it is judged."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..command import Completed
from .amd_kfd import Node


@dataclass
class Seen:
    """The kernel's view, the PCI bus and each tool's answer."""

    nodes: Sequence[Node] = ()
    pci: Sequence[str] = ()
    module: bool = False
    rocm: bool = False
    rocminfo: Completed | None = None
    agents: Sequence[dict[str, str | None]] = ()
    smi: list[dict[str, Any]] = field(default_factory=list)
    smi_tool: str | None = None
    smi_output: str = ""
    smi_failures: list[tuple[str, Completed]] = field(default_factory=list)

    @property
    def anything(self) -> bool:
        """Whether this machine has to do with AMD GPUs at all."""
        tools = self.rocminfo is not None or self.smi_tool or self.smi_failures
        return bool(self.nodes or self.pci or self.module or self.rocm or tools)
