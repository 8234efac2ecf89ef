/* A stand-in for libcuda on machines without a GPU: memory is the host's, the one kernel is computed here.
   FAKE_CUDA_DEVICES=0 gives no device; FAKE_CUDA_FAIL=NAME makes that function return 999;
   FAKE_CUDA_WRONG=1 makes one value wrong. Build: cc -shared -fPIC -o libcuda.so.1 fake_cuda.c */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int failing(const char *name) {
    const char *wanted = getenv("FAKE_CUDA_FAIL");
    return wanted && strcmp(wanted, name) == 0 ? 999 : 0;
}
static int devices(void) {
    const char *count = getenv("FAKE_CUDA_DEVICES");
    return count ? atoi(count) : 1;
}
int cuInit(unsigned flags) { return failing("cuInit") ? 999 : devices() ? 0 : 100; }
int cuGetErrorName(int code, const char **text) {
    *text = code == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
    return 0;
}
int cuDeviceGetCount(int *count) { *count = devices(); return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int size, int device) { strncpy(name, "Fake GPU", size); return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)1; return failing("cuDevicePrimaryCtxRetain"); }
int cuDevicePrimaryCtxRelease(int device) { return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuModuleLoadData(void **module, const void *image) {
    *module = (void *)2;
    return failing("cuModuleLoadData") ? 999 : strstr(image, ".entry perfcite_probe_kernel") ? 0 : 218;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
    *function = (void *)3;
    return strcmp(name, "perfcite_probe_kernel") ? 500 : 0;
}
int cuMemAlloc_v2(uint64_t *memory, size_t size) { *memory = (uint64_t)(uintptr_t)malloc(size); return failing("cuMemAlloc_v2"); }
int cuMemFree_v2(uint64_t memory) { free((void *)(uintptr_t)memory); return 0; }
int cuMemsetD32_v2(uint64_t memory, unsigned value, size_t count) {
    for (size_t i = 0; i < count; i++) ((uint32_t *)(uintptr_t)memory)[i] = value;
    return 0;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra) {
    uint32_t *out = (uint32_t *)(uintptr_t) * (uint64_t *)parameters[0];
    uint32_t count = *(uint32_t *)parameters[1];
    for (uint32_t i = 0; i < gx * bx && i < count; i++) out[i] = 3 * i + 7;
    if (getenv("FAKE_CUDA_WRONG")) out[17]++;
    return failing("cuLaunchKernel");
}
int cuCtxSynchronize(void) { return failing("cuCtxSynchronize"); }
int cuMemcpyDtoH_v2(void *host, uint64_t memory, size_t size) { memcpy(host, (void *)(uintptr_t)memory, size); return 0; }
