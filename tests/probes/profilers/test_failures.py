import pytest

from perfcite.probes.profilers.failures import Surroundings, explain, telling_lines

HERE = Surroundings()
KNOWN = [
    (
        "ncu",
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access the target",
        "administrators",
    ),
    ("ncu", "==ERROR== Nsight Compute failed to connect to the CUDA driver (stub?).", "no CUDA"),
    ("ncu", "==ERROR== Driver could not be loaded.", "no usable NVIDIA driver"),
    ("ncu", "==WARNING== No kernels were profiled.", "saw no kernel"),
    ("ncu", "==PROF== No kernels were profiled", "saw no kernel"),
    (
        "ncu",
        "==PROF== Target process 3 terminated before first instrumented API call.\n==WARNING==",
        "no CUDA call",
    ),
    ("ncu", "==ERROR== Profiling is not supported on device 0. See --list-chips", "does not know"),
    ("ncu", "==ERROR== Cuda driver is not compatible with Nsight Compute.", "do not fit"),
    ("ncu", "==ERROR== Unknown Error on device 0.", "refused to profile"),
    ("ncu", "==ERROR== Failed to prepare kernel for profiling", "refused to profile"),
    ("ncu", "==ERROR== LaunchFailed", "fails when ncu replays"),
    ("ncu", "==ERROR== InterprocessLockFailed", "lock file"),
    ("ncu", "not supported as it uses the Windows Subsystem for Linux (WSL).", "WSL"),
    ("ncu", "Performance Counters on the target vGPU device 0.", "hypervisor"),
    ("ncu", "==ERROR== ERR_NVCMPGPU - not supported", "mining"),
    ("ncu", "part of an active SLI group.", "SLI"),
    ("ncu", "Protected memory mode detected.", "protected memory"),
    (
        "ncu",
        "a driver resource was unavailable. Ensure that no other tool (like DCGM) is collecting",
        "another profiler",
    ),
    ("ncu", "==WARNING== No metrics to collect found in sections.", "unknown to this ncu"),
    ("ncu", "==ERROR== '/no/such' does not exist or is not an executable.", "did not find"),
    ("ncu", "ERROR: Failed to create temporary file. Specify TMPDIR", "temporary"),
    (
        "nsys",
        "Importer error status: The importer binary and its dependencies were not found.",
        "split",
    ),
    ("nsys", "Importer error status: Importation failed.", "own capture"),
    ("nsys", "No reports were generated.", "capture range"),
    ("nsys", "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "two profilers"),
    ("nsys", "function failed with error CUPTI_ERROR_NOT_INITIALIZED (15)", "CUPTI cannot"),
    ("nsys", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)", "administrators"),
    ("nsys", "Illegal --trace argument 'bogus'", "option"),
    ("perf", "WARNING: perf not found for kernel 5.15.133.1-microsoft", "wrapper"),
    ("perf", "perf_event_paranoid setting is 4:", "does not let this user"),
    ("perf", "   <not supported>      cycles", "PMU"),
    ("perf", "The sys_perf_event_open() syscall returned with 22 (Invalid argument)", "WSL1"),
    ("py-spy", "Permission Denied: Try running again with elevated permissions", "not permitted"),
    ("py-spy", "It looks like you are running in a docker container.", "container"),
    ("py-spy", "Error: Failed to find python version from target process", "no Python"),
    ("py-spy", "Error: Failed to suspend process", "cannot be stopped"),
]


@pytest.mark.parametrize(("profiler", "line", "cause"), KNOWN)
def test_a_known_line_has_its_cause_and_a_fix(profiler: str, line: str, cause: str) -> None:
    failure = explain(profiler, line)
    assert failure is not None
    assert cause in failure.cause
    assert failure.advice(HERE)


def test_an_unknown_line_is_not_explained_away() -> None:
    assert explain("ncu", "everything is fine") is None
    assert explain("perf", "==ERROR== ERR_NVGPUCTRPERM") is None


def test_advice_that_cannot_work_in_a_container_is_not_given_there() -> None:
    failure = explain("ncu", "ERR_NVGPUCTRPERM")
    assert failure is not None
    assert "reload" in failure.advice(HERE)
    inside = failure.advice(Surroundings(container=True))
    assert "--cap-add=SYS_ADMIN" in inside
    assert "reload" not in inside
    assert "Windows" in failure.advice(Surroundings(wsl=True))


def test_telling_lines_keep_errors_first_and_the_last_three_redacted() -> None:
    text = "start\n" + "noise\n" * 50 + "==ERROR== broken /home/alice/x\nlast one\n"
    told = telling_lines(text)
    assert told.startswith("==ERROR== broken ~/x")
    assert told.endswith("last one")
    assert len(telling_lines("error " * 500)) <= 300
