"""Ask NVML about every GPU and print the answers as JSON. A script for a child process, never imported.

Run as `python -I nvml_child.py`. NVML can crash (SIGSEGV), hang in the kernel or return bytes that are
no text, so it is loaded here and not in the server. It makes no CUDA context: NVML only watches.

Every call is wrapped by itself, because an old driver lacks some of them: an answer is
{"value": …} or {"code": NVML error code or null, "error": text}. The document follows the character
U+001E, so that whatever a library prints to standard output before it does no harm:
{"library": text} where the library does not load, {"init": answer} where it does not start, else also
driver, nvml, cuda_driver_version, count and gpus.

Source: https://docs.nvidia.com/deploy/nvml-api/
"""

# Whatever one call raises is that call's answer, so that the other calls still come.
# ruff: noqa: BLE001, S112

import ctypes
import json
import sys
from collections.abc import Callable
from typing import Any

FUNCTION_NOT_FOUND = 13
CLOCK_SM, CLOCK_MEM = 1, 2
TEMPERATURE_GPU = 0
VIRTUALIZATION_VGPU = 2

Answer = dict[str, Any]

# Asked of each GPU as they stand; the ones with choices or loops are below.
PLAIN: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("name", "nvmlDeviceGetName", ()),
    ("uuid", "nvmlDeviceGetUUID", ()),
    ("utilization", "nvmlDeviceGetUtilizationRates", ()),
    ("temperature", "nvmlDeviceGetTemperature", (TEMPERATURE_GPU,)),
    ("power_mw", "nvmlDeviceGetPowerUsage", ()),
    ("power_limit_mw", "nvmlDeviceGetEnforcedPowerLimit", ()),
    ("power_default_mw", "nvmlDeviceGetPowerManagementDefaultLimit", ()),
    ("clock_sm", "nvmlDeviceGetClockInfo", (CLOCK_SM,)),
    ("clock_mem", "nvmlDeviceGetClockInfo", (CLOCK_MEM,)),
    ("clock_sm_max", "nvmlDeviceGetMaxClockInfo", (CLOCK_SM,)),
    ("clock_mem_max", "nvmlDeviceGetMaxClockInfo", (CLOCK_MEM,)),
    ("clock_app", "nvmlDeviceGetApplicationsClock", (CLOCK_SM,)),
    ("clock_app_default", "nvmlDeviceGetDefaultApplicationsClock", (CLOCK_SM,)),
    ("pstate", "nvmlDeviceGetPerformanceState", ()),
    ("mig_mode", "nvmlDeviceGetMigMode", ()),
    ("persistence", "nvmlDeviceGetPersistenceMode", ()),
    ("compute_mode", "nvmlDeviceGetComputeMode", ()),
    ("compute_capability", "nvmlDeviceGetCudaComputeCapability", ()),
    ("virtualization", "nvmlDeviceGetVirtualizationMode", ()),
    ("display_active", "nvmlDeviceGetDisplayActive", ()),
    ("remapped_rows", "nvmlDeviceGetRemappedRows", ()),
    ("retired_pending", "nvmlDeviceGetRetiredPagesPendingStatus", ()),
)
PROCESS_LISTS = (
    ("compute", "nvmlDeviceGetComputeRunningProcesses"),
    ("graphics", "nvmlDeviceGetGraphicsRunningProcesses"),
    ("mps", "nvmlDeviceGetMPSComputeRunningProcesses"),
)


def main() -> None:
    """Print the document; exit status 0 whatever NVML said."""
    document = examine()
    sys.stdout.write("\x1e" + json.dumps(document) + "\n")


def examine() -> Answer:
    """Load NVML, start it and ask it everything."""
    error = load_error()
    if error is not None:
        return {"library": error}
    try:
        import pynvml
    except ImportError as missing:
        return {"binding": str(missing)}
    init = ask(pynvml.nvmlInit)
    if "value" not in init:
        return {"init": init}
    count = ask(pynvml.nvmlDeviceGetCount)
    document: Answer = {
        "init": init,
        "driver": ask_text(pynvml, "nvmlSystemGetDriverVersion"),
        "nvml": ask_text(pynvml, "nvmlSystemGetNVMLVersion"),
        "count": count,
        "gpus": [gpu(pynvml, index) for index in range(count.get("value") or 0)],
    }
    if count.get("value"):
        # libcuda answers this even where no GPU can be used, so only after one was seen.
        document["cuda_driver_version"] = first_of(
            pynvml, "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"
        )
    return document


def load_error() -> str | None:
    """Say why the library does not load; the binding keeps that to itself. Linux only."""
    if sys.platform != "linux":
        return None
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError as error:
        return str(error)
    return None


def gpu(nvml: Any, index: int) -> Answer:
    """Ask everything about one GPU."""
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
    except Exception as error:
        return {"index": index, "handle": failure(error)}
    answers: Answer = {"index": index}
    for key, function, arguments in PLAIN:
        answers[key] = ask_text(nvml, function, handle, *arguments)
    answers["bus_id"] = bus_id(nvml, handle)
    answers["memory"] = memory(nvml, handle)
    answers["reasons"] = first_of(
        nvml,
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetCurrentClocksThrottleReasons",
        arguments=(handle,),
    )
    answers["processes"] = {kind: processes(nvml, f, handle) for kind, f in PROCESS_LISTS}
    if (answers["mig_mode"].get("value") or [0])[0] == 1:
        answers["mig_devices"] = mig_devices(nvml, handle)
    if answers["virtualization"].get("value") == VIRTUALIZATION_VGPU:
        answers["licences"] = licences(nvml, handle)
    return answers


def ask(function: Callable[..., Any], *arguments: Any) -> Answer:
    """Make one call and keep what came of it."""
    try:
        return {"value": plain(function(*arguments))}
    except Exception as error:  # NVMLError, or the binding's own trouble with what NVML gave
        return failure(error)


def ask_text(nvml: Any, name: str, *arguments: Any) -> Answer:
    """Make one call by name; a text comes as its raw bytes, which need not be UTF-8."""
    function = getattr(nvml, name, None)
    if function is None:
        return {"code": FUNCTION_NOT_FOUND, "error": "Function Not Found"}
    return ask(getattr(function, "__wrapped__", function), *arguments)


def first_of(nvml: Any, *names: str, arguments: tuple[Any, ...] = ()) -> Answer:
    """Give the first of several spellings of one call that answers, else the last failure."""
    answer: Answer = {"code": FUNCTION_NOT_FOUND, "error": "Function Not Found"}
    for name in names:
        answer = ask_text(nvml, name, *arguments)
        if "value" in answer:
            break
    return answer


def failure(error: Exception) -> Answer:
    """Keep an NVML error's code and text."""
    return {"code": getattr(error, "value", None), "error": str(error) or type(error).__name__}


def plain(value: Any) -> Any:
    """Turn what the binding gives into what JSON holds."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, ctypes.Structure):
        return {f[0]: plain(getattr(value, f[0])) for f in value._fields_}
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value


def memory(nvml: Any, handle: Any) -> Answer:
    """Read memory in bytes by the second call, which tells reserved apart; else by the first.

    Since driver R510 the first call counts what the driver reserves as used.
    """
    version = getattr(nvml, "nvmlMemory_v2", None)
    second: Answer = {"code": FUNCTION_NOT_FOUND, "error": "Function Not Found"}
    if version is not None:
        second = ask(nvml.nvmlDeviceGetMemoryInfo, handle, version)
    if "value" in second:
        return second
    first = ask(nvml.nvmlDeviceGetMemoryInfo, handle)
    # Where both fail, the second says more: the first may be merely too old.
    return first if "value" in first or second.get("code") == FUNCTION_NOT_FOUND else second


def bus_id(nvml: Any, handle: Any) -> Answer:
    """Read the PCI address."""
    answer = ask_text(nvml, "nvmlDeviceGetPciInfo", handle)
    value = answer.get("value")
    return {"value": value.get("busId")} if isinstance(value, dict) else answer


def processes(nvml: Any, name: str, handle: Any) -> Answer:
    """List the processes of one kind: [{pid, memory (bytes or null), name}].

    By version: the binding refuses the unversioned name where it is newer than the library.
    """
    answer: Answer = {"code": FUNCTION_NOT_FOUND, "error": "Function Not Found"}
    for function in (getattr(nvml, name + version, None) for version in ("_v3", "_v2")):
        if function is None:
            continue
        try:
            return {"value": [process(nvml, p) for p in function(handle)]}
        except Exception as error:
            answer = failure(error)
        if answer["code"] != FUNCTION_NOT_FOUND:
            break
    return answer


def process(nvml: Any, found: Any) -> Answer:
    """Give one process its name."""
    name = ask_text(nvml, "nvmlSystemGetProcessName", found.pid).get("value")
    return {"pid": found.pid, "memory": found.usedGpuMemory, "name": name}


def mig_devices(nvml: Any, handle: Any) -> Answer:
    """List the MIG instances of one GPU: [{index, uuid, name, memory}]."""
    limit = ask_text(nvml, "nvmlDeviceGetMaxMigDeviceCount", handle)
    if "value" not in limit:
        return limit
    found = []
    for index in range(limit["value"]):
        try:
            device = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)
        except Exception:  # an empty slot is reported as "not found"
            continue
        found.append(
            {
                "index": index,
                "uuid": ask_text(nvml, "nvmlDeviceGetUUID", device),
                "name": ask_text(nvml, "nvmlDeviceGetName", device),
                "memory": memory(nvml, device),
            }
        )
    return {"value": found}


def licences(nvml: Any, handle: Any) -> Answer:
    """List the vGPU features of one GPU that need a licence: [{enabled, licensed}]."""
    function = getattr(nvml, "nvmlDeviceGetGridLicensableFeatures_v4", None)
    if function is None:
        return {"code": FUNCTION_NOT_FOUND, "error": "Function Not Found"}
    try:
        found = function(handle)
        features = list(found.gridLicensableFeatures)[: found.licensableFeaturesCount]
        return {
            "value": [
                {"enabled": bool(f.featureEnabled), "licensed": bool(f.featureState)}
                for f in features
            ]
        }
    except Exception as error:
        return failure(error)


if __name__ == "__main__":
    main()
