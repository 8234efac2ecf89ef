"""A machine made of a case's files and recorded answers, for checks that need no such machine.

`ReplaySystem` lays the files out on disk, so everything that reads goes the real way; only starting a
program is replaced: each command is answered by the first rule whose `argv_prefix` matches, in the form
of the handed doctor cases ({stdout, stdout_b64, stderr, exit, sleep_ms, signal, argv_prefix}). What NVML
would say is given as a case's `nvml` state and answered in the form of the NVML child.
"""

import base64
import json
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perfcite.probes import command
from perfcite.probes.command import Completed
from perfcite.probes.system import Platform, System

Rules = Mapping[str, Sequence[Mapping[str, Any]]]
MIB = 1024 * 1024
PATH = "/usr/local/bin:/usr/bin:/bin"


class ReplaySystem(System):
    """A machine laid out under a temporary directory; its programs answer from rules.

    `executables` are named as in the cases: a bare name lies first on PATH, an absolute path where it
    says. `nvml` None: no libnvidia-ml is in LD_LIBRARY_PATH, so none is loaded.
    """

    rules: Rules
    nvml: Mapping[str, Any] | None
    started: list[tuple[str, ...]]

    def __init__(
        self,
        files: Mapping[str, Any] | None = None,
        executables: Rules | None = None,
        env: Mapping[str, str] | None = None,
        platform: Platform = "linux",
        nvml: Mapping[str, Any] | None = None,
    ) -> None:
        """Lay the machine out; it is removed with the object."""
        base = tempfile.mkdtemp(prefix="perfcite-replay-")
        weakref.finalize(self, shutil.rmtree, base, ignore_errors=True)
        root, programs, libraries = (os.path.join(base, d) for d in ("root", "bin", "lib"))
        for directory in (root, programs):
            os.mkdir(directory)
        for path, content in (files or {}).items():
            _lay(Path(root, path.lstrip("/")), content)
        for name in executables or {}:
            _lay(
                Path(root, name.lstrip("/")) if name.startswith("/") else Path(programs, name),
                {"text": "#!/bin/sh\n", "mode": "755"},
            )
        environ = dict(env or {})
        on_path = [os.path.join(root, d.lstrip("/")) for d in environ.get("PATH", PATH).split(":")]
        environ["PATH"] = os.pathsep.join([programs, *on_path])
        if nvml is not None:
            environ["LD_LIBRARY_PATH"] = libraries
            _lay_nvml(Path(root), Path(libraries), nvml)
        super().__init__(root=root, environ=environ, platform=platform, cwd=base)
        # The dataclass is frozen; these are set once, here.
        object.__setattr__(self, "rules", executables or {})
        object.__setattr__(self, "nvml", nvml)
        object.__setattr__(self, "started", [])

    async def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 5.0,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        keep: int = command.KEEP_LIMIT,
    ) -> Completed:
        """Answer from the rules; a program that no rule knows is not there."""
        self.started.append(tuple(argv))
        if argv[0] == sys.executable and any("nvml_child" in a for a in argv):
            return _completed(argv, _nvml_rule(self.nvml or {}), timeout_s)
        shown = self.shown(argv[0])
        bare = os.path.basename(argv[0])
        rules = self.rules.get(shown) or self.rules.get(bare)
        if rules is None:
            return Completed(
                argv=tuple(argv), outcome="not_found", returncode=None, stdout="", stderr="",
                seconds=0.0, error="no such file",
            )  # fmt: skip
        for rule in rules:
            wanted = rule.get("argv_prefix") or []
            given = list(argv[1:])
            if len(given) >= len(wanted) and all(
                g.startswith(w) for g, w in zip(given, wanted, strict=False)
            ):
                return _completed(argv, rule, timeout_s)
        return _completed(argv, {}, timeout_s)


def replay(case: Mapping[str, Any]) -> ReplaySystem:
    """Lay out one handed case."""
    named: dict[str, Platform] = {"windows": "windows", "darwin": "darwin"}
    platform = named.get(case["platform"], "linux")
    return ReplaySystem(
        files=case["files"],
        executables=case["executables"],
        env=case["env"],
        platform=platform,
        nvml=case["nvml"],
    )


def _lay(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content)
    elif content.get("dir"):
        path.mkdir(exist_ok=True)
    elif "symlink" in content:
        path.symlink_to(content["symlink"])
    else:
        given = content.get("text", "").encode()
        path.write_bytes(base64.b64decode(content["b64"]) if "b64" in content else given)
        if "mode" in content:
            path.chmod(int(content["mode"], 8))


def _lay_nvml(root: Path, libraries: Path, state: Mapping[str, Any]) -> None:
    library = libraries / "libnvidia-ml.so.1"
    if state.get("load") == "missing":
        return
    _lay(library, {"dir": True} if state.get("load") == "error" else "")
    if state.get("load") is None:  # a driver that answers has device nodes
        for node in ["nvidiactl", *(f"nvidia{i}" for i in range(state.get("count", 1)))]:
            if not (root / "dev" / node).exists():
                _lay(root / "dev" / node, "")


def _completed(argv: Sequence[str], rule: Mapping[str, Any], timeout_s: float) -> Completed:
    if rule.get("sleep_ms", 0) / 1000 > timeout_s:
        return Completed(
            argv=tuple(argv), outcome="timed_out", returncode=None, stdout="", stderr="",
            seconds=timeout_s,
        )  # fmt: skip
    given = rule.get("stdout", "").encode()
    raw = base64.b64decode(rule["stdout_b64"]) if "stdout_b64" in rule else given
    signal = rule.get("signal")
    return Completed(
        argv=tuple(argv),
        outcome="exited",
        returncode=-11 if signal else rule.get("exit", 0),
        signal=f"SIG{signal}" if signal else None,
        stdout=command.clean(raw),
        stderr=command.clean(rule.get("stderr", "").encode()),
        seconds=rule.get("sleep_ms", 0) / 1000,
    )


def _nvml_rule(state: Mapping[str, Any]) -> Mapping[str, Any]:
    sleep = state.get("sleep_ms", state.get("init_sleep_ms", 0))
    if state.get("segv"):
        return {"signal": "SEGV"}
    return {"stdout": "\x1e" + json.dumps(nvml_document(state)) + "\n", "sleep_ms": sleep}


def nvml_document(state: Mapping[str, Any]) -> dict[str, Any]:
    """Say what the NVML child would print for a case's state, with the fake library's defaults."""
    if state.get("load"):
        return {"library": "libnvidia-ml.so.1: cannot open shared object file"}
    if state.get("init"):
        return {"init": _error(state["init"])}
    count = state.get("count", 1)
    document: dict[str, Any] = {
        "init": {"value": None},
        "driver": {"value": state.get("driver", "580.95.05")},
        "nvml": {"value": state.get("nvml", "13.580.95.05")},
        "count": {"value": count},
        "gpus": [_gpu(state, index) for index in range(count)],
    }
    if count:
        document["cuda_driver_version"] = {"value": state.get("cuda_driver_version", 13000)}
    return document


_NOT_IN_THE_FAKE = (
    *("virtualization", "display_active", "remapped_rows", "retired_pending"),
    *("clock_app", "clock_app_default"),
)


def _gpu(state: Mapping[str, Any], index: int) -> dict[str, Any]:
    if state.get("lost") == index:
        return {"index": index, "handle": _error(state.get("lost_error", 15))}
    uuids = state.get("uuids")
    name = "\ufffd" * 6 if state.get("garbage") else state.get("name", "NVIDIA Fake GPU")
    utilization = {"gpu": state.get("util_pct", 0), "memory": 0}
    limit, default = state.get("power_limit_w", 700), state.get("power_default_w", 700)
    maximum = state.get("clock_sm_max", 1980)
    answers: dict[str, Any] = {
        "name": name,
        "uuid": uuids[index] if uuids else f"GPU-00000000-0000-0000-0000-{index + 1:012d}",
        "bus_id": f"00000000:{index + 1:02X}:00.0",
        "utilization": utilization,
        "temperature": 35,
        "power_mw": 70000,
        "power_limit_mw": int(limit * 1000),
        "power_default_mw": int(default * 1000),
        "clock_sm": state.get("clock_sm", 1980),
        "clock_mem": state.get("clock_sm", 1980),  # the fake library has one clock
        "clock_sm_max": maximum,
        "clock_mem_max": 1980,
        "pstate": 0,
        "mig_mode": [int(bool(state.get("mig")))] * 2,
        "persistence": int(state.get("persistence", 1)),
        "compute_mode": state.get("compute_mode", 0),
        "compute_capability": [9, 0],
        "reasons": state.get("reasons", 1),
        "memory": _memory(state),
    }
    row: dict[str, Any] = {key: _error(13) for key in _NOT_IN_THE_FAKE}
    row |= {key: {"value": value} for key, value in answers.items()}
    if state.get("util"):
        row["utilization"] = _error(state["util"])
    if state.get("mem"):
        row["memory"] = _error(state["mem"])
    row["processes"] = _processes(state)
    if "mig_devices" in state:
        row["mig_devices"] = {
            "value": [
                {
                    "index": i,
                    "uuid": {"value": m["uuid"]},
                    "name": {"value": name},
                    "memory": {"value": {"total": m["memory_total_mib"] * MIB, "used": 0}},
                }
                for i, m in enumerate(state["mig_devices"])
            ]
        }
    return {"index": index, **row}


def _memory(state: Mapping[str, Any]) -> dict[str, int]:
    second = state.get("memory_v2", {})
    used = second.get("used_mib", state.get("used_mib", 0))
    reserved = second.get("reserved_mib", 600)
    return {"total": 81920 * MIB, "used": used * MIB, "reserved": reserved * MIB, "free": 0}


def _processes(state: Mapping[str, Any]) -> dict[str, Any]:
    if "processes" not in state:
        return {kind: _error(13) for kind in ("compute", "graphics", "mps")}
    listed = [
        {"pid": p["pid"], "memory": p.get("used_mib", 0) * MIB, "name": p.get("name")}
        for p in state["processes"]
    ]
    return {"compute": {"value": listed}, "graphics": {"value": []}, "mps": _error(3)}


def _error(code: int) -> dict[str, Any]:
    texts = {3: "Not Supported", 4: "Insufficient Permissions", 9: "Driver Not Loaded"}
    texts |= {13: "Function Not Found", 15: "GPU is lost", 18: "Driver/library version mismatch"}
    return {"code": code, "error": texts.get(code, "Unknown Error")}
