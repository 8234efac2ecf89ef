"""Laid-out machines for the tests of NVIDIA's side, and how their answers are looked through."""

from typing import Any

from perfcite.evidence.payloads import Finding
from perfcite.probes.doctor import host, nvidia
from perfcite.probes.doctor.section import Section
from tests.replay import ReplaySystem

OPEN_COUNTERS = {
    "/proc/driver/nvidia/params": "RmProfilingAdminOnly: 0\n",
    "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
    "580.95.05  Release Build  (builder@host)\n",
    "/proc/self/status": "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n",
}
CONTAINER = {
    "/.dockerenv": "",
    "/proc/self/cgroup": "0::/docker/0123456789abcdef0123\n",
    "/proc/self/mountinfo": "1 0 0:1 / / rw - overlay overlay rw\n",
}
WSL = {"/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n", "/dev/dxg": ""}
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that "
    "the latest NVIDIA driver is installed and running.\n\n"
)


def pci(count: int, driver: str | None = None) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for i in range(count):
        device = f"/sys/bus/pci/devices/0000:{i + 1:02x}:00.0"
        files |= {f"{device}/vendor": "0x10de\n", f"{device}/class": "0x030200\n"}
        if driver:
            files[f"{device}/driver"] = {"symlink": f"../../../bus/pci/drivers/{driver}"}
    return files


async def examine(**machine: Any) -> Section:
    system = ReplaySystem(**machine)
    return await nvidia.examine(system, host.read(system))


def found(section: Section, code: str) -> Finding:
    matching = [f for f in section.findings if f.code == code]
    assert matching, f"{code} not in {[f.code for f in section.findings]}"
    return matching[0]


def codes(section: Section, *, above_notes: bool = False) -> set[str]:
    return {f.code for f in section.findings if not above_notes or f.severity != "note"}
