// perfcite's own test kernel for nvcc: out[i] = 3 * i + 7. Prints one JSON line, checks its result.
#include <cstdio>

__global__ void perfcite_probe_kernel(unsigned *out, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 3 * i + 7;
}

static int failed(const char *stage, cudaError_t code) {
    printf("{\"ok\": false, \"stage\": \"%s\", \"code\": %d, \"error\": \"%s\"}\n", stage, (int)code,
           cudaGetErrorString(code));
    return 3;
}

int main() {
    const unsigned count = 4096;
    static unsigned host[count];
    unsigned *device;
    cudaError_t code = cudaMalloc(&device, sizeof host);
    if (code != cudaSuccess) return failed("cudaMalloc", code);
    for (int round = 0; round < 3; round++) perfcite_probe_kernel<<<count / 128, 128>>>(device, count);
    code = cudaDeviceSynchronize();
    if (code != cudaSuccess) return failed("cudaDeviceSynchronize", code);
    code = cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    if (code != cudaSuccess) return failed("cudaMemcpy", code);
    for (unsigned i = 0; i < count; i++) {
        if (host[i] != 3 * i + 7) {
            printf("{\"ok\": false, \"stage\": \"check\", \"error\": \"wrong values\"}\n");
            return 4;
        }
    }
    printf("{\"ok\": true, \"kernel\": \"perfcite_probe_kernel\", \"launches\": 3}\n");
    return 0;
}
