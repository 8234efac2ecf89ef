"""Whether GPU performance counters may be read here, judged from files and capabilities.

The driver's setting RmProfilingAdminOnly decides, then the capability in CapEff, never the user id:
root in a container lacks the capability, and a plain user can hold it. CAP_SYS_ADMIN always counts,
CAP_PERFMON from driver R565 on. "Allowed" is only said where nothing can refuse any more.

Source: https://developer.nvidia.com/ERR_NVGPUCTRPERM
"""

from dataclasses import dataclass
from typing import Any, Literal

from .host import Host
from .nvidia_machine import Machine

CAP_SYS_ADMIN, CAP_PERFMON = 21, 38
PERFMON_SINCE = 565

Status = Literal["allowed", "denied", "unknown"]


@dataclass(frozen=True)
class Counters:
    """The answer. `expected`: unknown, but a capability is there that should open them."""

    status: Status
    reason: str
    admin_only: int | None
    euid: int | None
    capability: str | None
    expected: bool = False

    def facts(self) -> dict[str, Any]:
        """Give `nvidia.counters_detail`."""
        return {
            "status": self.status,
            "reason": self.reason,
            "admin_only": self.admin_only,
            "euid": self.euid,
            "capability": self.capability,
        }


def judge(machine: Machine, host: Host, driver: str | None, platform: str) -> Counters:
    """Judge from what can be read without touching the GPU. `driver` is its version."""
    capability = _capability(host, driver)

    def answer(status: Status, reason: str, *, expected: bool = False) -> Counters:
        return Counters(status, reason, machine.admin_only, host.euid, capability, expected)

    if platform != "linux":
        return answer("unknown", "the setting of the NVIDIA control panel cannot be read")
    if host.wsl:
        return answer("unknown", "WSL: the driver's setting is on the Windows side")
    if machine.admin_only == 0:
        return answer("allowed", "RmProfilingAdminOnly is 0: every user may read counters")
    lacking = _lacking(host, driver)
    if machine.admin_only is not None and machine.admin_only != 0:
        if capability is not None:
            return answer(
                "unknown",
                f"RmProfilingAdminOnly is {machine.admin_only} and this process has {capability}, "
                "which should do; a container runtime or a hypervisor can still refuse",
                expected=True,
            )
        if host.cap_eff is None and not host.user_namespace:
            return answer("unknown", "RmProfilingAdminOnly is 1, and CapEff cannot be read")
        if lacking is None:
            return answer("unknown", "only CAP_PERFMON is held, and the driver version is unknown")
        return answer("denied", f"RmProfilingAdminOnly is {machine.admin_only} and {lacking}")
    why = _why_unread(machine)
    if capability is not None:
        return answer("unknown", f"{why}; {capability} is held, which should do", expected=True)
    if host.euid == 0 and lacking is not None and host.cap_eff is not None:
        return answer(
            "denied", f"{why}, drivers restrict by default, and {lacking}, though the user is root"
        )
    return answer("unknown", why)


def driver_branch(version: str | None) -> int | None:
    """Give the driver's branch: 565 of 565.57.01."""
    head = (version or "").split(".")[0]
    return int(head) if head.isdigit() else None


def _capability(host: Host, driver: str | None) -> str | None:
    if host.capable_on_host(CAP_SYS_ADMIN):
        return "CAP_SYS_ADMIN"
    branch = driver_branch(driver)
    if host.capable_on_host(CAP_PERFMON) and branch is not None and branch >= PERFMON_SINCE:
        return "CAP_PERFMON"
    return None


def _lacking(host: Host, driver: str | None) -> str | None:
    """Say what is lacking; None where that depends on a driver version nobody knows."""
    if host.user_namespace:
        return "its capabilities hold only inside a user namespace"
    branch = driver_branch(driver)
    if host.capable(CAP_PERFMON):
        if branch is None:
            return None
        return f"driver {driver} does not yet honour CAP_PERFMON (that begins with R565)"
    if branch is not None and branch >= PERFMON_SINCE:
        return "CapEff has neither CAP_SYS_ADMIN nor CAP_PERFMON"
    return "CapEff lacks CAP_SYS_ADMIN"


def _why_unread(machine: Machine) -> str:
    path = "/proc/driver/nvidia/params"
    return {
        "no_permission": f"{path} may not be read",
        "no_key": f"{path} has no RmProfilingAdminOnly",
    }.get(machine.params or "", f"{path} is not there")
