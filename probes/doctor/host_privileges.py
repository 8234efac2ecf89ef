"""What this process may do: effective user, capabilities, seccomp, user namespace.

Source: proc_pid_status(5), capabilities(7), user_namespaces(7).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ..system import System
from .section import Section, unknown

# The whole range of user ids maps to itself only in the initial user namespace.
_WHOLE_RANGE = ("0", "0", "4294967295")


@dataclass(frozen=True)
class Privileges:
    """CapEff as a bit mask; every field is None where it could not be read."""

    cap_eff: int | None = None
    euid: int | None = None
    seccomp: int | None = None
    user_namespace: bool | None = None


def examine(system: System, section: Section) -> Privileges:
    """Read the privileges of this process; capability names are judged where they matter."""
    status = fields(system.read("/proc/self/status") or "")
    privileges = parse(status, system.read("/proc/self/uid_map"))
    if privileges.euid is None and system.live and hasattr(os, "geteuid"):
        privileges = Privileges(euid=os.geteuid())
    section.facts["host"] |= {
        "euid": _or_unknown(privileges.euid),
        "cap_eff": _or_unknown(
            None if privileges.cap_eff is None else f"{privileges.cap_eff:016x}"
        ),
        "seccomp": _or_unknown(privileges.seccomp),
        "user_namespace": _or_unknown(privileges.user_namespace),
    }
    return privileges


def fields(status: str) -> dict[str, str]:
    """Split `Key:<tab>value` lines of a status file."""
    pairs = (line.split(":", 1) for line in status.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def parse(status: Mapping[str, str], uid_map: str | None) -> Privileges:
    """Read the fields of /proc/self/status and uid_map. CapBnd says nothing: only CapEff counts."""
    uids = status.get("Uid", "").split()
    return Privileges(
        cap_eff=_number(status.get("CapEff"), 16),
        euid=_number(uids[1] if len(uids) > 1 else None, 10),
        seccomp=_number(status.get("Seccomp"), 10),
        user_namespace=_user_namespace(uid_map),
    )


def _user_namespace(uid_map: str | None) -> bool | None:
    lines = [line.split() for line in (uid_map or "").splitlines() if line.strip()]
    if not lines:
        return None
    return [tuple(line) for line in lines] != [_WHOLE_RANGE]


def _number(text: str | None, base: int) -> int | None:
    try:
        return int(text, base) if text is not None else None
    except ValueError:
        return None


def _or_unknown(value: object) -> object:
    return unknown("not_readable") if value is None else value
