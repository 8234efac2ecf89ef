"""Known failure lines of profilers: what they mean and what to do.

The lines are what the tools print (recorded runs and public reports); each row keeps apart what others
lump together: no device, no permission, no kernel seen, held by another profiler, a broken copy.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...evidence.redaction import redact

ERROR_LIMIT = 300
_TELLING = re.compile(
    r"==ERROR==|\berror\b|\bfailed\b|\bfatal\b|denied|not permitted|cannot|could not|couldn't"
    r"|not found|no such|not supported|unable to|limited",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"^\s*(?:at |\d+: |\[\s*\d+%|Processing|stack backtrace|note: run with)", re.IGNORECASE
)


@dataclass(frozen=True)
class Surroundings:
    """What decides which advice can work."""

    container: bool = False
    wsl: bool = False
    root: bool = False


@dataclass(frozen=True)
class Failure:
    """One known line: cause and fix. `container` and `wsl` replace the fix where it cannot work."""

    profilers: tuple[str, ...]
    pattern: re.Pattern[str]
    cause: str
    fix: str
    container: str | None = None
    wsl: str | None = None
    counters_denied: bool = False

    def advice(self, where: Surroundings) -> str:
        """Give the fix that can work here."""
        if where.wsl and self.wsl:
            return self.wsl
        return self.container if where.container and self.container else self.fix


def explain(profiler: str, text: str) -> Failure | None:
    """Find the first known failure in a profiler's output, the most specific rows first."""
    for failure in FAILURES:
        if profiler in failure.profilers and failure.pattern.search(text):
            return failure
    return None


def telling_lines(text: str) -> str:
    """Keep the lines that tell: errors first, then the last three; redacted, 300 characters."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    lines = [line for line in lines if line and not _NOISE.match(line)]
    errors = [line for line in lines if _TELLING.search(line)]
    kept = list(dict.fromkeys([*errors[:3], *lines[-3:]]))
    joined: str = redact(" | ".join(kept))
    return joined if len(joined) <= ERROR_LIMIT else joined[: ERROR_LIMIT - 1] + "…"


def _row(
    profilers: str,
    pattern: str,
    cause: str,
    fix: str,
    container: str | None = None,
    wsl: str | None = None,
    counters_denied: bool = False,
) -> Failure:
    names: Sequence[str] = profilers.split()
    return Failure(
        tuple(names),
        re.compile(pattern, re.IGNORECASE),
        cause,
        fix,
        container,
        wsl,
        counters_denied,
    )


_COUNTERS = "the driver lets only administrators read GPU performance counters"
_WORKS = "; nsys and torch.profiler give kernel times without counters"
_NVIDIA_WSL = (
    "under WSL the Windows side decides: NVIDIA Control Panel, Developer, Manage GPU Performance "
    "Counters, allow all users" + _WORKS
)

FAILURES: tuple[Failure, ...] = (
    _row(
        "ncu",
        r"uses the Windows Subsystem for Linux",
        "this ncu cannot profile under WSL",
        "profile on Windows or on native Linux, or try a newer ncu" + _WORKS,
    ),
    _row(
        "ncu",
        r"NVCMPGPU|Crypto Mining",
        "the GPU is a mining card; NVIDIA forbids profiling on it",
        "use another GPU",
    ),
    _row("ncu", r"active SLI group", "the GPU is part of an SLI group", "turn SLI off"),
    _row(
        "ncu",
        r"Protected memory mode|confidential comput",
        "the GPU runs in protected memory (confidential computing) mode",
        "profile on a GPU without it" + _WORKS,
    ),
    _row(
        "ncu",
        r"performance counters on the target vGPU|NVPA_STATUS_.*VGPU",
        "the hypervisor does not let this vGPU read performance counters",
        "ask its administrator for profiling on this vGPU type" + _WORKS,
        counters_denied=True,
    ),
    _row(
        "ncu nsys torch",
        r"ERR_NVGPUCTRPERM|CUPTI_ERROR_INSUFFICIENT_PRIVILEGES|NVPA_STATUS_INSUFFICIENT_PRIVILEGE"
        r"|permission to access NVIDIA GPU Performance Counters",
        _COUNTERS,
        "run as root (CAP_SYS_ADMIN; CAP_PERFMON from driver 565 on), or set the module option "
        "NVreg_RestrictProfilingToAdminUsers=0 and reload or reboot" + _WORKS,
        container="cannot be mended inside this container: start it with --cap-add=SYS_ADMIN, or "
        "the host sets NVreg_RestrictProfilingToAdminUsers=0" + _WORKS,
        wsl=_NVIDIA_WSL,
        counters_denied=True,
    ),
    _row(
        "ncu",
        r"failed to connect to the CUDA driver",
        "there is no CUDA driver library, or a stub comes first; the program never ran",
        "install the NVIDIA driver, or take the stub folder out of LD_LIBRARY_PATH",
        container="start the container with --gpus all, which brings the driver's libraries",
    ),
    _row(
        "ncu",
        r"Driver could not be loaded",
        "no usable NVIDIA driver is loaded",
        "install or load the NVIDIA driver (modprobe nvidia)",
        container="start the container with --gpus all",
        wsl="update the NVIDIA driver on Windows",
    ),
    _row(
        "ncu",
        r"driver is not compatible with Nsight Compute|Insufficient driver version",
        "this ncu and the driver do not fit together",
        "use the ncu of the CUDA release that the driver belongs to",
    ),
    _row(
        "ncu",
        r"Profiling is not supported on device|--list-chips",
        "this ncu does not know the GPU: it is too old for it, or the GPU is older than Volta",
        "install the ncu release whose --list-chips names the chip" + _WORKS,
    ),
    _row(
        "ncu",
        r"driver resource was unavailable|no other tool \(like DCGM\)",
        "another profiler holds the GPU's counters (DCGM, say)",
        "dcgmi profile --pause while profiling, then dcgmi profile --resume",
    ),
    _row(
        "ncu",
        r"InterprocessLockFailed|trying to lock file|nsight-compute-lock",
        "ncu's lock file belongs to another user",
        "set TMPDIR to a folder of your own",
    ),
    _row(
        "ncu",
        r"Cannot lock GPU clock frequencies on MIG",
        "clocks cannot be locked on a MIG slice",
        "add --clock-control=none",
    ),
    _row(
        "ncu",
        r"Failed to access the temporary directory|Failed to create temporary file",
        "ncu cannot write its temporary files",
        "set TMPDIR to a folder that can be written",
    ),
    _row(
        "ncu",
        r"Failed to prepare kernel|Unknown Error on device",
        "the driver refused to profile: another profiler, or a GPU in a bad state",
        "stop other profilers and DCGM, read dmesg for Xid errors, and try again alone",
    ),
    _row(
        "ncu",
        r"LaunchFailed|launch failed",
        "the kernel fails when ncu replays it",
        "run compute-sanitizer, or use --replay-mode application",
    ),
    _row(
        "ncu",
        r"does not exist or is not an executable",
        "ncu did not find the program",
        "name it by its absolute path",
    ),
    _row(
        "ncu",
        r"No metrics to collect found",
        "the metric or section names are unknown to this ncu",
        "ncu --query-metrics lists them",
    ),
    _row(
        "ncu",
        r"terminated before first instrumented API call",
        "the profiled process made no CUDA call: a shell, a shim or a program without kernels",
        "name the real program, or add --target-processes all",
    ),
    _row(
        "ncu",
        r"No kernels were profiled",
        "ncu ran but saw no kernel",
        "add --target-processes all, loosen the kernel filter, see that the program reaches the GPU",
    ),
    _row(
        "ncu nsys torch",
        r"CUPTI_ERROR_MULTIPLE_SUBSCRIBERS|already subscribed",
        "two profilers use CUPTI at once",
        "run one profiler at a time",
    ),
    _row(
        "nsys torch",
        r"CUPTI_ERROR_NOT_INITIALIZED|CUPTI initialization failed|CUPTI_ERROR_UNKNOWN"
        r"|Installed CUDA driver version .* is not supported by this build",
        "CUPTI cannot work with this driver, so GPU rows are missing",
        "use an nsys (or torch) of the driver's CUDA release",
    ),
    _row(
        "nsys",
        r"importer binary and its dependencies were not found|QdstrmImporter.*not found",
        "a split package: nsys cannot turn its .qdstrm into a report",
        "link the importer's folder beside the real binary: ln -s "
        "/usr/lib/nsight-systems/host-linux-x64 /usr/lib/x86_64-linux-gnu/nsight-systems/",
    ),
    _row(
        "nsys",
        r"Importation failed|Wrong event order",
        "nsys could not import its own capture",
        "use a newer nsys; the .qdstrm file can be imported by it",
    ),
    _row(
        "nsys",
        r"No reports were generated|cudaProfilerApi",
        "the capture range never started",
        "drop --capture-range, or call cudaProfilerStart in the program",
    ),
    _row(
        "nsys",
        r"Illegal --[a-z-]+ argument|unrecogni[sz]ed option",
        "this nsys does not know an option",
        "use another nsys release",
    ),
    _row(
        "nsys",
        r"Permission denied|noexec|Failed to (?:create|stage)",
        "nsys cannot write or run its own files in the temporary folder",
        "set TMPDIR to a folder that is writable and not mounted noexec",
    ),
    _row(
        "perf",
        r"perf not found for kernel",
        "the perf here is a wrapper without a tool for the running kernel",
        "apt install linux-tools-$(uname -r)",
        container="install the perf of the host's kernel in the image",
        wsl="build perf from Microsoft's WSL2-Linux-Kernel sources",
    ),
    _row(
        "perf",
        r"No permission to enable|perf_event_paranoid setting is|observability operations is limited"
        r"|Operation not permitted|Permission denied",
        "the kernel does not let this user sample (perf_event_paranoid, seccomp or capabilities)",
        "sudo sysctl kernel.perf_event_paranoid=1",
        container="start the container with --cap-add=PERFMON (and --security-opt seccomp=unconfined)",
    ),
    _row(
        "perf",
        r"sys_perf_event_open\(\) syscall returned with 22",
        "this kernel has no perf events (WSL1)",
        "use WSL2 or native Linux",
    ),
    _row(
        "perf",
        r"not supported",
        "the event is not supported here: a virtual machine without a PMU",
        "sample cpu-clock instead; cycles, IPC and cache misses need bare metal or a vPMU",
    ),
    _row(
        "py-spy",
        r"running in a docker container|SYS_PTRACE",
        "the container may not trace processes",
        "start the container with --cap-add=SYS_PTRACE",
    ),
    _row(
        "py-spy",
        r"Permission Denied|EPERM|Operation not permitted|Failed to get process executable name",
        "tracing the process is not permitted (ptrace scope or capability)",
        "let py-spy start the program itself, or sudo sysctl kernel.yama.ptrace_scope=0",
        container="start the container with --cap-add=SYS_PTRACE",
    ),
    _row(
        "py-spy",
        r"Failed to find python version",
        "the program is no Python that this py-spy knows: a launcher, or a newer Python",
        "upgrade py-spy, name the real interpreter, or add --subprocesses",
    ),
    _row(
        "py-spy",
        r"Failed to suspend process",
        "the process cannot be stopped for sampling",
        "add --nonblocking",
    ),
)
