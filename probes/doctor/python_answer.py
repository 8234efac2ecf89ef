"""Ask an interpreter what it holds, and say why one does not answer.

A file on PATH is not an interpreter yet: a version manager's shim may have no version selected, a link
may dangle, Windows has a stub that opens a shop. Each of these has a finding of its own.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from ...evidence.payloads import Fix
from ...evidence.redaction import redact
from ..command import Completed
from ..system import System
from .engine_table import MODULES
from .section import Section

DEADLINE_S = 20.0
_KEEP = 512 * 1024
_SCRIPT = str(Path(__file__).with_name("python_query.py"))
_OLDEST = (3, 6)
_SHIM = re.compile(
    r"command exists in these Python versions|pyenv: |No version is set for|"
    r"No preset version installed|mise ERROR|Microsoft Store|rbenv: "
)
_OLD_SYNTAX = re.compile(r"SyntaxError|[Uu]nknown option:? -I")
_STORE_STUB_STATUS = 9009


async def ask(system: System, path: str, section: Section) -> tuple[dict[str, Any] | None, str]:
    """Give the interpreter's answer, or None and the state's reason; findings are added."""
    question = json.dumps({"modules": dict(MODULES), "home": _home(system)})
    env = {"HOME": home} if _is_shim(path) and (home := system.environ.get("HOME")) else {}
    done = await system.run(
        [path, "-I", _SCRIPT, question], timeout_s=DEADLINE_S, env=env, keep=_KEEP
    )
    answer, noise = read(done.stdout)
    if answer is not None:
        if noise:
            _report_noise(section, noise)
        return answer, ""
    shown = redact(system.shown(path))
    if done.outcome == "timed_out":
        _report_timeout(section, shown)
        return None, "timeout"
    if _OLD_SYNTAX.search(done.output) and await _report_too_old(system, path, section, shown):
        return None, "too_old"
    if _SHIM.search(done.output) or done.returncode == _STORE_STUB_STATUS:
        _report_shim(section, shown, done)
        return None, "shim_failed"
    telling = _telling(done).replace(question, "…")
    report_broken(section, shown, _why_broken(system, path, done), telling[:240])
    return None, "crashed" if done.outcome == "exited" else "not_started"


def read(stdout: str) -> tuple[dict[str, Any] | None, str]:
    """Find the answer after its mark; the rest is what others printed."""
    before, mark, after = stdout.rpartition("\x1e")
    if not mark:
        return None, stdout
    try:
        answer, end = json.JSONDecoder().raw_decode(after)
    except ValueError:
        return None, stdout
    complete = isinstance(answer, dict) and {"python", "dists", "modules", "owners"} <= set(answer)
    return (answer if complete else None), (before + after[end:]).strip()


def report_broken(section: Section, shown: str, why: str, telling: str = "") -> None:
    """Add the finding for an interpreter that cannot be started or dies."""
    section.find(
        "python.broken",
        "error",
        f"the interpreter {shown} does not work: {redact(why)}",
        evidence=[f"{shown}: {redact(telling or why)}"],
        affects=("running",),
        fix=Fix(
            summary="make the environment anew with an interpreter that exists, or name another",
            commands=("python3 -m venv --clear DIR", 'doctor(python="/path/to/bin/python")'),
            verify=f"{shown} --version",
        ),
    )


def _home(system: System) -> str:
    return system.environ.get("HOME", "") if system.live else ""


def _is_shim(path: str) -> bool:
    """Version managers find their settings under HOME, so their shims keep the caller's."""
    return "shims" in path.split(os.sep)


def _why_broken(system: System, path: str, done: Completed) -> str:
    target = _last_link(path)
    if target != path and not os.path.lexists(target):
        return f"a link to {target}, which is not there"
    if done.outcome == "exited":
        return f"{done.ending()}, and no answer"
    return system.shown(done.error or done.ending())


def _last_link(path: str) -> str:
    """Follow links one by one, so that the missing end can be named."""
    for _ in range(16):
        if not os.path.islink(path):
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return path


def _telling(done: Completed) -> str:
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return " / ".join(lines[-2:])


async def _report_too_old(system: System, path: str, section: Section, shown: str) -> bool:
    done = await system.run([path, "-V"], timeout_s=5.0)
    found = re.search(r"Python (\d+)\.(\d+)\S*", done.output)
    if not found or (int(found[1]), int(found[2])) >= _OLDEST:
        return False
    section.find(
        "python.too_old",
        "error",
        f"{shown} is {found[0]}: engines and doctor's query need Python 3.6 or later",
        evidence=[f"{shown} -V: {found[0]}"],
        affects=("running",),
        fix=Fix(
            summary="name the interpreter that runs the engine",
            commands=('doctor(python="/path/to/bin/python3")',),
            verify=f"{shown} -V",
        ),
    )
    return True


def _report_timeout(section: Section, shown: str) -> None:
    section.find(
        "python.timeout",
        "error",
        f"the interpreter {shown} gave no answer in {DEADLINE_S:.0f} s: engine versions are unknown",
        evidence=[f"{shown}: killed after {DEADLINE_S:.0f} s"],
        affects=("running",),
        fix=Fix(
            summary="a slow or absent network file system is the usual reason: use a local copy",
            commands=(f"time {shown} -I -c pass", f"df {shown}"),
            verify=f"time {shown} -I -c pass",
        ),
    )


def _report_shim(section: Section, shown: str, done: Completed) -> None:
    versions = re.search(r"exists in these Python versions:\s*([\w.\-]+)", done.output)
    version = versions[1] if versions else "VERSION"
    first = next((line.strip() for line in done.output.splitlines() if line.strip()), "")
    store = "Microsoft Store" in done.output or done.returncode == _STORE_STUB_STATUS
    section.find(
        "python.shim_failed",
        "error",
        f"{shown} is a version manager's stand-in and starts no Python: {redact(first)[:160]}"
        if not store
        else f"{shown} is the stub that opens the Microsoft Store, not a Python",
        evidence=[f"{shown}: {done.ending()}: {redact(first)[:160]}"],
        affects=("running",),
        fix=Fix(
            summary="select an installed version, or name the interpreter itself",
            commands=(
                "winget install Python.Python.3.12",
                'doctor(python="C:\\\\path\\\\python.exe")',
            )
            if store
            else (f"export PYENV_VERSION={version}", f"pyenv local {version}"),
            verify=f"{shown} --version",
        ),
    )


def _report_noise(section: Section, noise: str) -> None:
    section.find(
        "python.stdout_noise",
        "note",
        "this interpreter prints to standard output when it starts: programs that parse its output "
        "break",
        evidence=[f"stdout: {redact(noise)[:120]}"],
        affects=("running",),
        fix=Fix(
            summary="look for the print in sitecustomize.py or a .pth file of its site-packages",
            commands=("python -v -c pass 2>&1 | grep -E 'sitecustomize|\\.pth'",),
        ),
    )
