"""What `rocprofv3 --list-avail` shows about AMD hardware counters; run only when profilers are probed."""

from collections.abc import Sequence

from ...evidence.payloads import Fix
from ...evidence.redaction import redact
from ..command import Completed
from . import amd_tools
from .section import Section


def report(section: Section, path: str, done: Completed, targets: Sequence[str]) -> None:
    """Add what `rocprofv3 --list-avail` showed about hardware counters."""
    if signal := amd_tools.crash(done.output, done.signal):
        section.find(
            "amd.profiler_crashed",
            "limitation",
            f"{path} --list-avail was ended by {signal}: an unsupported GPU is the usual reason",
            evidence=[f"{path} --list-avail: {signal}"],
            affects=("profiling",),
            fix=_supported_only(targets),
        )
        return
    if locked := amd_tools.LACKS_PERMISSION.search(done.output):
        line = next(x for x in done.output.splitlines() if locked[0] in x)
        section.find(
            "amd.counters_permission",
            "warning",
            "counters can be read but the clocks not locked, for lack of SYS_PERFMON: values may be "
            "inaccurate",
            evidence=[f"{path}: {redact(line.strip())[:240]}"],
            affects=("profiling",),
            fix=Fix(
                summary="give the profiler CAP_PERFMON",
                commands=(
                    "docker run --cap-add=PERFMON …",
                    f"sudo setcap cap_perfmon+ep {path}",
                ),
                where="host root",
                needs_root=True,
                verify=f"{path} --list-avail",
            ),
        )
    found = amd_tools.counters(done.stdout)
    empty = sorted(target for target, count in found.items() if not count)
    if amd_tools.says_unsupported(done.output):
        empty = empty or sorted(set(targets))
    if empty:
        section.find(
            "amd.counters_unsupported",
            "limitation",
            f"the profiler knows no hardware counters for {', '.join(empty)}: kernel times only",
            evidence=[f"{path} --list-avail: {target}: 0 counters" for target in empty],
            affects=("profiling",),
            fix=Fix(
                summary="use kernel traces, which need no counters",
                commands=("rocprofv3 --kernel-trace --stats -- COMMAND",),
                verify=f"{path} --list-avail",
            ),
        )


def _supported_only(targets: Sequence[str]) -> Fix:
    return Fix(
        summary="hide GPUs that the profiler does not support",
        commands=("export ROCR_VISIBLE_DEVICES=0",) if len(targets) > 1 else (),
        verify="rocprofv3 --list-avail",
    )
