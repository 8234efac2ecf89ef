"""Launch the test kernel through the CUDA driver API and check its result. Standard library only.

Usage: perfcite_cuda_driver.py KERNEL.ptx. Prints one JSON line; exit status 0 only if the numbers on
the device are right. Source: https://docs.nvidia.com/cuda/cuda-driver-api/
"""

import ctypes
import json
import sys

KERNEL = "perfcite_probe_kernel"
COUNT, BLOCK, ROUNDS, LAUNCHES = 4096, 128, 20000, 3


class Failed(Exception):
    """A driver call gave an error code."""


def load():
    """Load the driver library; it comes with the driver, never with a toolkit."""
    names = ["nvcuda.dll"] if sys.platform == "win32" else ["libcuda.so.1", "libcuda.so"]
    names += ["/usr/lib/wsl/lib/libcuda.so.1"]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reason = str(error)
    raise Failed("load", 0, "no CUDA driver library (libcuda.so.1): " + reason)


def call(driver, name, *arguments):
    """Call one driver function and turn its code into an error."""
    try:
        function = getattr(driver, name)
    except AttributeError:
        raise Failed(name, 0, "the driver library has no such function") from None
    code = function(*arguments)
    if code != 0:
        raise Failed(name, code, text_of(driver, code))


def text_of(driver, code):
    """Name an error code as the driver does."""
    text = ctypes.c_char_p()
    try:
        driver.cuGetErrorName(code, ctypes.byref(text))
    except AttributeError:
        return "error"
    return (text.value or b"unknown error").decode("utf-8", "replace")


def launch(driver, ptx):
    """Run the kernel a few times and read back what it wrote."""
    call(driver, "cuInit", 0)
    count = ctypes.c_int()
    call(driver, "cuDeviceGetCount", ctypes.byref(count))
    if count.value == 0:
        raise Failed("cuDeviceGetCount", 0, "no CUDA device")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call(driver, "cuDeviceGet", ctypes.byref(device), 0)
    call(driver, "cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    try:
        call(driver, "cuCtxSetCurrent", context)
        values = compute(driver, ptx)
    finally:
        driver.cuDevicePrimaryCtxRelease(device)
    name = ctypes.create_string_buffer(128)
    call(driver, "cuDeviceGetName", name, 128, device)
    return name.value.decode("utf-8", "replace"), values


def compute(driver, ptx):
    """Load, launch, synchronise, copy back."""
    module, function, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    call(driver, "cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx))
    call(driver, "cuModuleGetFunction", ctypes.byref(function), module, KERNEL.encode())
    call(driver, "cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(COUNT * 4))
    call(driver, "cuMemsetD32_v2", memory, 0, ctypes.c_size_t(COUNT))
    numbers, rounds = ctypes.c_uint32(COUNT), ctypes.c_uint32(ROUNDS)
    parameters = (ctypes.c_void_p * 3)(
        ctypes.addressof(memory), ctypes.addressof(numbers), ctypes.addressof(rounds)
    )
    for _ in range(LAUNCHES):
        grid = COUNT // BLOCK
        call(driver, "cuLaunchKernel", function, grid, 1, 1, BLOCK, 1, 1, 0, None, parameters, None)
    call(driver, "cuCtxSynchronize")
    out = (ctypes.c_uint32 * COUNT)()
    call(driver, "cuMemcpyDtoH_v2", out, memory, ctypes.c_size_t(COUNT * 4))
    call(driver, "cuMemFree_v2", memory)
    return list(out)


def main():
    """Print what happened as JSON."""
    with open(sys.argv[1], "rb") as file:
        ptx = file.read() + b"\0"
    try:
        device, values = launch(load(), ptx)
    except Failed as failed:
        stage, code, text = failed.args
        print(json.dumps({"ok": False, "stage": stage, "code": code, "error": text}))
        return 3
    wrong = sum(value != 3 * i + 7 for i, value in enumerate(values))
    if wrong:
        print(json.dumps({"ok": False, "stage": "check", "error": "%d values are wrong" % wrong}))
        return 4
    print(json.dumps({"ok": True, "device": device, "kernel": KERNEL, "launches": LAUNCHES}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
