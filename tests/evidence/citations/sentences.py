"""What engineers and agents write into pull requests, with the verdict of every claim.

`{base}` stands for the id of a record of library.py. A claim that is not listed must not be found.
"""

S, C, U, N, T = "supported", "contradicted", "unsupported", "not_found", "tampered"

Case = tuple[str, dict[str, str]]

PLAIN: list[Case] = [
    ("Median latency is 8.47 ms [{base}].", {"8.47 ms": S}),
    ("Latency: 8.4721ms [{base}]", {"8.4721ms": S}),
    ("The attention kernel now takes 5.193 ms [{opt}].", {"5.193 ms": S}),
    ("It runs in 5.2 ms [{opt}]", {"5.2 ms": S}),
    ("p95 is 9.32 ms [{base}]", {"9.32 ms": S}),
    ("The 95th percentile is 9.32 ms [{base}]", {"9.32 ms": S}),
    ("P95 latency: 9.318 ms ({base})", {"9.318 ms": S}),
    ("p95 is 8.47 ms [{base}]", {"8.47 ms": C}),
    ("Median is 9.32 ms [{base}]", {"9.32 ms": C}),
    ("p99 is 8.47 ms [{base}]", {"8.47 ms": U}),
    ("The mean is 8.56 ms [{base}].", {"8.56 ms": S}),
    ("On average it takes 8.56 ms [{base}].", {"8.56 ms": S}),
    ("On average it takes 8.47 ms [{base}].", {"8.47 ms": C}),
    (
        "avg 8.56 ms, p95 9.32 ms, std 0.127 ms [{base}]",
        {"8.56 ms": S, "9.32 ms": S, "0.127 ms": S},
    ),
    ("Latency is 8.56 ms [{base}].", {"8.56 ms": S}),
    ("Latency is 9 ms [{base}].", {"9 ms": C}),
    ("Latency is 8 ms [{base}].", {"8 ms": C}),
    ("Latency is 9.32 ms [{base}].", {"9.32 ms": C}),
    ("8472 µs per iteration [{base}]", {"8472 µs": S}),
    ("8,472 us per iteration [{base}]", {"8,472 us": S}),
    ("8.472e-3 s [{base}]", {"8.472e-3 s": S}),
    ("It takes 8.47e6 ns [{base}]", {"8.47e6 ns": S}),
    ("It takes 8.47 s [{base}]", {"8.47 s": C}),
    ("Latency is 8.47 milliseconds [{base}].", {"8.47 milliseconds": S}),
    ("A 5.19-ms median latency [{opt}].", {"5.19-ms": S}),
    ("8.47 ms/iter [{base}]", {"8.47 ms/iter": S}),
    ("8.47 ms per iteration on one GPU [{base}]", {"8.47 ms": S}),
    ("12.34 ms [{base}]", {"12.34 ms": C}),
    ("Throughput is 118 it/s [{base}]", {"118 it/s": S}),
    ("Throughput is 118 iterations per second [{base}]", {"118 iterations per second": S}),
    ("Throughput reaches 192.6 iter/s [{opt}]", {"192.6 iter/s": S}),
    ("Throughput is 119 it/s [{base}]", {"119 it/s": C}),
    ("Peak memory is 21.4 GiB [{base}]", {"21.4 GiB": S}),
    ("Peak memory is 22.9 GB [{base}]", {"22.9 GB": S}),
    ("Peak memory is 21.4 GB [{base}]", {"21.4 GB": C}),
    ("It uses 21,883 MiB [{base}]", {"21,883 MiB": S}),
    ("The workspace is 512 MiB [{prof}]", {"512 MiB": S}),
    ("The workspace is 537 MB [{prof}]", {"537 MB": S}),
    ("The workspace is 512 MB [{prof}]", {"512 MB": C}),
    ("DRAM bandwidth is 3.13 TB/s [{prof}]", {"3.13 TB/s": S}),
    ("DRAM bandwidth is 3127 GB/s [{prof}]", {"3127 GB/s": S}),
    ("DRAM bandwidth is 3.13 GB/s [{prof}]", {"3.13 GB/s": C}),
    ("It sustains 412.6 TFLOPS [{prof}]", {"412.6 TFLOPS": S}),
    ("It sustains 413 TFLOP/s [{prof}]", {"413 TFLOP/s": S}),
    ("It sustains 0.413 PFLOP/s [{prof}]", {"0.413 PFLOP/s": S}),
    ("SM clock 1.755 GHz [{prof}]", {"1.755 GHz": S}),
    ("The SM clock was 1755 MHz [{prof}]", {"1755 MHz": S}),
    ("Clocks were locked at 1755 MHz [{base}]", {"1755 MHz": S}),
    ("Clocks were locked at 1980 MHz [{base}]", {"1980 MHz": C}),
    ("It drew 480 W [{prof}]", {"480 W": U}),
    ("Power limit is 500 W [{env}]", {"500 W": S}),
    ("The GPUs draw 500 W [{env}]", {"500 W": U}),
    ("The GPU idles at 36 °C [{env}]", {"36 °C": S}),
    ("4 GPUs with 80 GiB each [{env}]", {"4 GPUs": S, "80 GiB": S}),
    ("The host has 8 GPUs [{env}].", {"8 GPUs": C}),
    ("TTFT is 183 ms at the median and 413 ms at p99 [{serve}]", {"183 ms": S, "413 ms": S}),
    (
        "Median TTFT 183 ms, p99 TTFT 413 ms, TPOT 21.6 ms [{serve}]",
        {"183 ms": S, "413 ms": S, "21.6 ms": S},
    ),
    ("TPOT is 183 ms [{serve}]", {"183 ms": C}),
    ("TTFT is 21.6 ms [{serve}]", {"21.6 ms": C}),
    ("3127 tok/s output [{serve}]", {"3127 tok/s": S}),
    ("3.13k tokens/s [{serve}]", {"3.13k tokens/s": S}),
    ("12.7 req/s and 3,127 tokens/sec [{serve}]", {"12.7 req/s": S, "3,127 tokens/sec": S}),
    ("12.7 requests per second [{serve}]", {"12.7 requests per second": S}),
    ("Prefix cache hit rate 41 % [{serve}]", {"41 %": S}),
    ("Prefix cache hit rate is 0.413 [{serve}]", {"0.413": S}),
    ("Prefix cache hit rate is 51 % [{serve}]", {"51 %": C}),
    (
        "Wall time 2.97 s, min 2.91 s, max 3.11 s [{sampled}]",
        {"2.97 s": S, "2.91 s": S, "3.11 s": S},
    ),
    ("2.97 s (95 % CI 2.92-3.06 s) [{sampled}]", {"2.97 s": S, "2.92 s": S, "3.06 s": S}),
    ("CPU time is 2.64 s [{sampled}]", {"2.64 s": S}),
    ("CPU time is 2.97 s [{sampled}]", {"2.97 s": C}),
]

SHARES: list[Case] = [
    ("The attention kernel takes 87 % of GPU time [{prof}]", {"87 %": S}),
    ("87.3% of the time is spent in attention [{prof}]", {"87.3%": S}),
    ("Attention accounts for 0.873 of GPU time share [{prof}]", {"0.873": S}),
    ("87.3 percent of GPU time [{prof}]", {"87.3 percent": S}),
    ("Occupancy is 71.6 % [{prof}]", {"71.6 %": S}),
    ("Occupancy is only 87 % [{prof}]", {"87 %": C}),
    ("Achieved occupancy of 72% [{prof}]", {"72%": S}),
    ("87 % time share at 72 % occupancy [{prof}]", {"87 %": S, "72 %": S}),
    ("72 % time share at 87 % occupancy [{prof}]", {"72 %": C, "87 %": C}),
    ("Bandwidth utilisation is 87 % [{prof}]", {"87 %": U}),
    ("exact match is 98.4 % [{same}]", {"98.4 %": S}),
    ("98.4 % of outputs match exactly [{same}]", {"98.4 %": S}),
    ("98.44 % exact match, 99.2 % prefix agreement [{same}]", {"98.44 %": S, "99.2 %": S}),
    ("Prefix agreement is 98.4 % [{same}]", {"98.4 %": C}),
    ("100 % exact match [{same}]", {"100 %": C}),
    ("95 % of the cases passed [{fail}]", {"95 %": S}),
    ("95.5% of cases passed [{fail}]", {"95.5%": S}),
    ("4.5 % of the 640 cases failed [{fail}]", {"4.5 %": S, "640 cases": S}),
    ("5 % of 640 cases failed [{fail}]", {"5 %": C, "640 cases": S}),
    ("100 % of the tests passed [{corr}]", {"100 %": S}),
    ("27 % of the 80 GiB is in use [{base}, {env}]", {"27 %": S, "80 GiB": S}),
    (
        "Peak memory is 21.4 GiB, 27 % of the 80 GiB [{base}][{env}].",
        {"21.4 GiB": S, "27 %": S, "80 GiB": S},
    ),
    ("65 % of the theoretical 4.8 TB/s [{prof}]", {"65 %": S}),
    ("3.13 TB/s, 65 % of the peak 4.8 TB/s [{prof}]", {"3.13 TB/s": S, "65 %": S}),
    ("3.13 TB/s, 75 % of the theoretical 4.8 TB/s [{prof}]", {"3.13 TB/s": S, "75 %": C}),
]

COUNTS: list[Case] = [
    ("All 640 cases passed [{corr}].", {"640 cases": S}),
    ("All 640 cases passed [{fail}].", {"640 cases": C, "passed": C}),
    ("611 of 640 cases passed [{fail}].", {"611": S, "640 cases": S}),
    ("611/640 cases passed [{fail}].", {"611": S, "640 cases": S}),
    ("612 of the 640 cases passed [{fail}].", {"612": C, "640 cases": S}),
    ("29 of 640 cases failed [{fail}].", {"29": S, "640 cases": S}),
    ("29 cases failed [{fail}]", {"29 cases": S}),
    ("All tests pass [{fail}].", {"pass": C}),
    ("All tests pass [{corr}].", {"pass": S}),
    ("The check failed [{corr}].", {"failed": C}),
    ("No case failed [{corr}].", {}),
    ("The check did not pass [{fail}].", {}),
    ("Max abs error is 4.77e-6 [{corr}]", {"4.77e-6": S}),
    ("max abs err 4.8×10⁻⁶ [{corr}]", {"4.8×10⁻⁶": S}),
    ("maximum absolute error of 4.77e-05 [{corr}]", {"4.77e-05": C}),
    ("max error = 4.8 x 10^-6 [{corr}]", {"4.8 x 10^-6": S}),
    ("max abs error < 1e-5 [{corr}]", {"1e-5": S}),
    ("max abs error stays below 1e-6 [{corr}]", {"1e-6": C}),
    (
        "All 640 cases passed with rtol=2e-3 and max error 4.77e-6 [{corr}]",
        {"640 cases": S, "2e-3": S, "4.77e-6": S},
    ),
    ("rtol 1e-3 [{corr}]", {"1e-3": C}),
    ("2304 kernel launches [{prof}]", {"2304 kernel launches": S}),
    ("2,304 launches [{prof}]", {"2,304 launches": S}),
    ("kernel launches: 2304 [{prof}]", {"2304": S}),
    ("kernel launches: 2305 [{prof}]", {"2305": C}),
    ("First divergence at token 137 [{same}]", {"137": S}),
    ("The first divergence is at 137 tokens [{same}]", {"137 tokens": S}),
    ("The max logprob difference is 0.023 nats [{same}]", {"0.023 nats": S}),
    ("0.61 divergences per 1k tokens [{same}]", {"0.61 divergences": S}),
]

NO_CLAIMS: list[Case] = [
    ("PyTorch 2.9.1, CUDA 13.0, driver 580.65.06 on 2026-11-30 [{base}].", {}),
    ("Batch size 64, sequence length 4096, 32 heads, bf16, sm_90 [{base}].", {}),
    ("Fixes #1234, see PR 5678 and commit 3f2c1ab9 [{base}].", {}),
    ("Input is 4096x1024 (or 64 × 2048 × 128) [{base}]", {}),
    ("Run on 8x H200 with TP=8 [{base}]", {}),
    ("Each run is after a 30 s warm-up with a timeout of 600 s [{base}]", {}),
    ("Llama-3 70B and Qwen3-8B, 4-bit [{base}]", {}),
    ("On an 80 GB A100 and an H200 (141 GB) [{base}]", {}),
    ("We expect about 3x from the next step.", {}),
    ("The previous PR claimed 3x.", {}),
    ("The paper reports a 2.4x speedup over FlashAttention 2.", {}),
    ("The target is 5 ms; it is 5.19 ms [{opt}].", {"5.19 ms": S}),
    ("H200 has a theoretical bandwidth of 4.8 TB/s.", {}),
    ("Median of 200 runs: 8.47 ms [{base}]", {"8.47 ms": S}),
    ("8.47 ms (n=200) [{base}]", {"8.47 ms": S}),
    ("At 10:05 on Nov 30, 2026 we ran it 3 times [{base}].", {}),
    ("The config uses 2 s polling and 4 MB pages.", {}),
    ("```\n$ bench --runs 200\nmedian 9.99 ms [{base}]\n```\n", {}),
    ("Run `sleep 5s && bench --timeout 30s` first.", {}),
    ("<!-- 9.99 ms [{base}] -->", {}),
    ("In the 1990s this took 3.1.4 tries.", {}),
    ("The variable ev_loop and ev_timer_start are not ids.", {}),
    ("I am 100% sure that this is right.", {}),
    ("Latency is ~~9.99 ms~~ 8.47 ms [{base}].", {"8.47 ms": S}),
    ("", {}),
    ("No numbers and no ids at all.", {}),
]

HEDGED: list[Case] = [
    ("Latency is about 8.5 ms [{base}]", {"8.5 ms": S}),
    ("Latency is ~8 ms [{base}]", {"8 ms": S}),
    ("Latency is roughly 9 ms [{base}]", {"9 ms": S}),
    ("Latency is roughly 12 ms [{base}]", {"12 ms": C}),
    ("Latency is under 9 ms [{base}]", {"9 ms": S}),
    ("Latency is below 8 ms [{base}]", {"8 ms": C}),
    ("Latency is <9 ms [{base}]", {"9 ms": S}),
    ("Latency is over 8 ms [{base}]", {"8 ms": S}),
    ("Latency is more than 9 ms [{base}]", {"9 ms": C}),
    ("Latency is at least 8.4 ms [{base}]", {"8.4 ms": S}),
    ("sub-9 ms latency [{base}]", {"9 ms": S}),
    ("just under 8.5 ms [{base}]", {"8.5 ms": S}),
    ("just over 8.4 ms [{base}]", {"8.4 ms": S}),
    ("nearly 9 ms [{base}]", {"9 ms": S}),
    ("nearly 8 ms [{base}]", {"8 ms": C}),
    ("between 8 and 9 ms [{base}]", {"8 ms": S, "9 ms": S}),
    ("between 5 and 6 ms [{base}]", {"5 ms": C, "6 ms": C}),
    ("8.4-8.5 ms [{base}]", {"8.4 ms": S, "8.5 ms": S}),
    ("8.47–9.32 ms (median–p95) [{base}]", {"8.47 ms": S, "9.32 ms": S}),
    ("8.47 ± 0.13 ms [{base}]", {"8.47 ms": S, "0.13 ms": S}),
    ("8.47 ms ± 0.13 ms [{base}]", {"8.47 ms": S, "0.13 ms": S}),
    ("8.47 +/- 0.25 ms [{base}]", {"8.47 ms": S, "0.25 ms": C}),
    ("about 3000 GB/s [{prof}]", {"3000 GB/s": S}),
    ("3000 GB/s [{prof}]", {"3000 GB/s": C}),
    ("Throughput of 118+ it/s [{base}]", {"118+ it/s": S}),
]

RATIOS: list[Case] = [
    ("1.63x faster ({base} vs {opt})", {"1.63x": S}),
    ("The fused kernel is 1.63x faster [{base}][{opt}].", {"1.63x": S}),
    ("The fused kernel is 1.6× faster than the baseline [{base}, {opt}].", {"1.6×": S}),
    ("The fused kernel is 1.63x slower than the baseline [{base}, {opt}].", {"1.63x": C}),
    ("{opt} is 1.63x faster than {base}.", {"1.63x": S}),
    ("{base} is 1.63x slower than {opt}.", {"1.63x": S}),
    ("{base} is 1.63x faster than {opt}.", {"1.63x": C}),
    ("A 1.73x speedup [{base}][{opt}]", {"1.73x": C}),
    ("A speed-up of 1.63 [{base}][{opt}]", {"1.63": S}),
    ("1.63 times faster [{base}][{opt}]", {"1.63 times": S}),
    ("1.63 times as fast [{base}][{opt}]", {"1.63 times": S}),
    ("nearly 1.7x faster [{base}][{opt}]", {"1.7x": S}),
    ("roughly 1.5x faster [{base}][{opt}]", {"1.5x": S}),
    ("over 1.6x faster [{base}][{opt}]", {"1.6x": S}),
    ("over 1.7x faster [{base}][{opt}]", {"1.7x": C}),
    ("up to 2x faster [{base}][{opt}]", {"2x": C}),
    ("1.6-1.7x faster [{base}][{opt}]", {"1.6x": S, "1.7x": S}),
    ("Latency fell 39 % [{base}][{opt}]", {"39 %": S}),
    ("a 38.7 % reduction in latency [{base}][{opt}]", {"38.7 %": S}),
    ("a 61 % reduction in latency [{base}][{opt}]", {"61 %": C}),
    ("38.7 % lower median latency [{base}][{opt}]", {"38.7 %": S}),
    ("Latency rose 39 % [{base}][{opt}]", {"39 %": C}),
    ("39 % faster [{base}][{opt}]", {"39 %": S}),
    ("63 % faster [{base}][{opt}]", {"63 %": S}),
    ("63 % slower [{base}][{opt}]", {"63 %": C}),
    ("Throughput is up 63 % [{base}][{opt}]", {"63 %": S}),
    ("63.1 % higher throughput [{base}, {opt}]", {"63.1 %": S}),
    ("+63 % throughput, -39 % latency [{base}, {opt}]", {"+63 %": S, "-39 %": S}),
    ("+39 % latency [{base}, {opt}]", {"+39 %": C}),
    ("p95 dropped by 40 % [{base}][{opt}]", {"40 %": S}),
    ("p95 dropped by 39 % [{base}][{opt}]", {"39 %": C}),
    ("Latency falls to 61 % of the baseline [{base}][{opt}]", {"61 %": S}),
    ("It takes 0.61x the time [{base}][{opt}]", {"0.61x": S}),
    ("saves 3.28 ms per iteration [{base}][{opt}]", {"3.28 ms": S}),
    ("3.28 ms faster [{base}][{opt}]", {"3.28 ms": S}),
    ("3.28 ms slower [{base}][{opt}]", {"3.28 ms": C}),
    ("saves 5.19 ms [{base}][{opt}]", {"5.19 ms": C}),
    ("74.5 it/s higher throughput [{base}][{opt}]", {"74.5 it/s": S}),
    ("Memory drops by 2.45 GiB (11 %) [{base}][{opt}]", {"2.45 GiB": S, "11 %": S}),
    ("11.5 % less memory [{base}][{opt}]", {"11.5 %": S}),
    ("39 % less power [{base}][{opt}]", {"39 %": U}),
    ("1.63x faster [{opt}]", {"1.63x": U}),
    ("39 % lower latency [{opt}]", {"39 %": U}),
    ("H200 is 1.76x faster than L40S [{base}][{other}]", {"1.76x": S}),
    ("L40S is 1.76x faster than H200 [{base}][{other}]", {"1.76x": C}),
    ("1.63x speedup [{cmp}]", {"1.63x": S}),
    ("Latency fell 39 %, from 8.47 ms to 5.19 ms [{cmp}]", {"39 %": S, "8.47 ms": S, "5.19 ms": S}),
    ("a 61 % reduction [{cmp}]", {"61 %": C}),
    ("attention_latency ratio is 0.613 [{cmp}]", {"0.613": S}),
]

BINDING: list[Case] = [
    (
        "Latency fell from 8.47 ms ({base}) to 5.19 ms ({opt}), a 1.63x speedup.",
        {"8.47 ms": S, "5.19 ms": S, "1.63x": S},
    ),
    ("Latency went from 8.47 to 5.19 ms [{base}, {opt}].", {"8.47 ms": S, "5.19 ms": S}),
    ("Latency went from 5.19 to 8.47 ms [{base}, {opt}].", {"5.19 ms": C, "8.47 ms": C}),
    ("Latency rose from 8.47 to 5.19 ms [{base}, {opt}].", {"8.47 ms": S, "5.19 ms": S, "rose": C}),
    ("8.47 ms → 5.19 ms (1.63x) [{base}] [{opt}]", {"8.47 ms": S, "5.19 ms": S, "1.63x": S}),
    ("8.47→5.19 ms [{base}, {opt}]", {"8.47 ms": S, "5.19 ms": S}),
    ("{base} took 8.47 ms and {opt} 5.19 ms.", {"8.47 ms": S, "5.19 ms": S}),
    ("Baseline ({base}) is 8.47 ms, fused ({opt}) is 5.19 ms.", {"8.47 ms": S, "5.19 ms": S}),
    ("Baseline ({base}) is 5.19 ms, fused ({opt}) is 8.47 ms.", {"5.19 ms": C, "8.47 ms": C}),
    (
        "Baseline [{base}]: median 8.47 ms, p95 9.32 ms; fused [{opt}]: median 5.19 ms, p95 5.60 ms.",
        {"8.47 ms": S, "9.32 ms": S, "5.19 ms": S, "5.60 ms": S},
    ),
    ("Median 8.47 ms, p95 9.32 ms, 118 it/s [{base}]", {"8.47 ms": S, "9.32 ms": S, "118 it/s": S}),
    ("8.47 ms in {base}, 5.19 ms in {opt}", {"8.47 ms": S, "5.19 ms": S}),
    ("Latency is 8.47 ms in {base} and 5.19 ms in {opt}.", {"8.47 ms": S, "5.19 ms": S}),
    ("Latency is 8.47 ms (see {base}).", {"8.47 ms": S}),
    (
        "The fused kernel ({opt}) takes 5.19 ms instead of 8.47 ms ({base}).",
        {"5.19 ms": S, "8.47 ms": S},
    ),
    (
        "The fused kernel ({opt}) takes 5.19 ms, down from 8.47 ms ({base}).",
        {"5.19 ms": S, "8.47 ms": S},
    ),
    ("Compared with {base}, latency is 5.19 ms [{opt}].", {"5.19 ms": S}),
    ("8.47 ms and 5.19 ms respectively [{base}, {opt}]", {"8.47 ms": S, "5.19 ms": S}),
    ("5.19 ms and 8.47 ms respectively [{base}, {opt}]", {"5.19 ms": C, "8.47 ms": C}),
    ("Median/p95: 8.47/9.32 ms [{base}]", {"8.47 ms": S, "9.32 ms": S}),
    ("Median and p95 latency are 8.47 ms and 9.32 ms [{base}].", {"8.47 ms": S, "9.32 ms": S}),
    ("8.47 ms (median) and 9.32 ms (p95) [{base}]", {"8.47 ms": S, "9.32 ms": S}),
    ("9.32 ms (median) and 8.47 ms (p95) [{base}]", {"9.32 ms": C, "8.47 ms": C}),
    ("p95 latency fell from 9.32 ms to 5.60 ms [{base}, {opt}]", {"9.32 ms": S, "5.60 ms": S}),
    ("The median is 8.47 ms. [{base}] The p95 is 9.32 ms. [{base}]", {"8.47 ms": S, "9.32 ms": S}),
    ("The median is 8.47 ms. The p95 is 9.32 ms [{base}].", {"8.47 ms": S, "9.32 ms": S}),
    ("It now takes 5.19 ms. It was 8.47 ms before [{base}].", {"5.19 ms": U, "8.47 ms": S}),
    (
        "Latency fell from 8.47 ms [{base}] to 5.19 ms [{opt}]. That is a 1.63x speedup.",
        {"8.47 ms": S, "5.19 ms": S, "1.63x": S},
    ),
    (
        "Latency fell from 8.47 ms [{base}] to 5.19 ms [{opt}]. That is a 2.1x speedup.",
        {"8.47 ms": S, "5.19 ms": S, "2.1x": C},
    ),
    ("Exactly 8.47 ms [{base}#attention_latency.median]", {"8.47 ms": S}),
    ("Exactly 9.32 ms [{base}#attention_latency.p95]", {"9.32 ms": S}),
    ("Exactly 9.32 ms [{base}#attention_latency.median]", {"9.32 ms": C}),
    ("Exactly 9.32 ms [{base}#no_such.median]", {"9.32 ms": U}),
    ("The kernel takes 5.19 ms.", {"5.19 ms": U}),
    ("Latency is 8.47 ms [{base}] and memory 21.4 GiB [{base}].", {"8.47 ms": S, "21.4 GiB": S}),
]

MARKDOWN: list[Case] = [
    ("**Latency:** **8.47 ms** [`{base}`]", {"8.47 ms": S}),
    ("Latency is `8.47 ms` [{base}]", {"8.47 ms": S}),
    ("`attention_latency` p95 is 9.32 ms [{base}]", {"9.32 ms": S}),
    ("Latency is [8.47 ms](evidence://{base}).", {"8.47 ms": S}),
    ("Latency is 8.47 ms ([record](https://example.org/records/{base}.json)).", {"8.47 ms": S}),
    ("Latency is 8.47 ms[^1].\n\n[^1]: {base}\n", {"8.47 ms": S}),
    ("Latency is 8.48 ms[^b].\n\n[^b]: baseline, {base}\n", {"8.48 ms": C}),
    ("Latency is 8.47 ms [1].\n\n[1] {base}\n", {"8.47 ms": S}),
    ("Latency is [8.47 ms][b].\n\n[b]: evidence://{base}\n", {"8.47 ms": S}),
    ("- median: 8.47 ms [{base}]\n- p95: 9.32 ms [{base}]\n", {"8.47 ms": S, "9.32 ms": S}),
    (
        "Baseline ({base}):\n\n- median 8.47 ms\n- p95 9.32 ms\n- 118 it/s\n",
        {"8.47 ms": S, "9.32 ms": S, "118 it/s": S},
    ),
    ("Baseline ({base}):\n\n- median 8.57 ms\n", {"8.57 ms": C}),
    (
        "- baseline [{base}]\n  - median 8.47 ms\n  - p95 9.32 ms\n- fused [{opt}]\n  - median 5.19 ms\n",
        {"8.47 ms": S, "9.32 ms": S, "5.19 ms": S},
    ),
    ("1. Baseline: 8.47 ms [{base}]\n2. Fused: 5.19 ms [{opt}]\n", {"8.47 ms": S, "5.19 ms": S}),
    (
        "| attention | 8.47 ms | 5.19 ms | 1.63x | {base}, {opt} |",
        {"8.47 ms": S, "5.19 ms": S, "1.63x": S},
    ),
    (
        "| kernel | baseline (ms) | fused (ms) | speedup | evidence |\n|---|---:|---:|---:|---|\n"
        "| attention | 8.47 | 5.19 | 1.63x | {base} {opt} |\n",
        {"8.47 ms": S, "5.19 ms": S, "1.63x": S},
    ),
    (
        "| | baseline [{base}] | fused [{opt}] |\n|---|---|---|\n| median | 8.47 ms | 5.19 ms |\n"
        "| p95 | 9.32 ms | 5.60 ms |\n| throughput | 118 it/s | 193 it/s |\n",
        {"8.47 ms": S, "5.19 ms": S, "9.32 ms": S, "5.60 ms": S, "118 it/s": S, "193 it/s": S},
    ),
    (
        "| | baseline [{base}] | fused [{opt}] |\n|---|---|---|\n| median | 5.19 ms | 8.47 ms |\n",
        {"5.19 ms": C, "8.47 ms": C},
    ),
    (
        "| variant | median (ms) | p95 (ms) | it/s |\n|---|---|---|---|\n| base {base} | 8.47 | 9.32 | 118.0 |\n"
        "| fused {opt} | 5.19 | 5.60 | 192.6 |\n",
        {"8.47 ms": S, "9.32 ms": S, "118.0 it/s": S, "5.19 ms": S, "5.60 ms": S, "192.6 it/s": S},
    ),
    (
        "| metric | value |\n|---|---|\n| latency | 8.47 ms |\n| p95 | 9.32 ms |\n\nEvidence: {base}\n",
        {"8.47 ms": S, "9.32 ms": S},
    ),
    (
        "Table 1: baseline, {base}\n\n| metric | value |\n|---|---|\n| latency | 8.57 ms |\n",
        {"8.57 ms": C},
    ),
    (
        "| | before | after | Δ |\n|---|---|---|---|\n| latency [{base}] [{opt}] | 8.47 ms | 5.19 ms | -38.7% |\n"
        "| throughput [{base}] [{opt}] | 118.0 it/s | 192.6 it/s | +63.1% |\n",
        {"8.47 ms": S, "5.19 ms": S, "-38.7%": S, "118.0 it/s": S, "192.6 it/s": S, "+63.1%": S},
    ),
    ("## Results ({base})\n\nMedian latency is 8.47 ms.\n", {"8.47 ms": S}),
    ("> Latency is 8.47 ms [{base}]\n", {"8.47 ms": S}),
    (
        "Latency fell to\n5.19 ms [{opt}], which is\n1.63x faster than before [{base}].",
        {"5.19 ms": S, "1.63x": S},
    ),
    ("Latency: 8.47 ms [{base}]\nThroughput: 118 it/s [{base}]\n", {"8.47 ms": S, "118 it/s": S}),
    (
        "Latency is $8.47$ ms [{base}], $1.63\\times$ slower than [{opt}]",
        {"8.47 ms": S, "1.63×": S},
    ),
    ("Speedup: 1.63&times; [{base}][{opt}]", {"1.63×": S}),
]

BAD_IDS: list[Case] = [
    ("Latency is 8.47 ms [ev_aaaabbbbccccdddd].", {"8.47 ms": N}),
    ("Copy takes 2.07 ms [{damaged}].", {"2.07 ms": T}),
    ("Copy takes 4.07 ms [{damaged}].", {"4.07 ms": T}),
    ("Copy is 1.5x faster [{derived}].", {"1.5x": T}),
    ("From 8.47 ms to 2.07 ms [{base}, {damaged}]", {"8.47 ms": S, "2.07 ms": T}),
    ("A 1.63x speedup [{base}, ev_aaaabbbbccccdddd]", {"1.63x": N}),
]

ASKEW: list[Case] = [
    ("Latency dropped by a factor of 1.63 [{base}][{opt}].", {"1.63": S}),
    ("8 472 us [{base}]", {"8 472 us": S}),
    ("Pass rate is 95.5 % [{fail}].", {"95.5 %": S}),
    ("Pass rate: 611/640 (95 %) [{fail}].", {"611": S, "640": S, "95 %": S}),
    ("5/5 runs passed, max abs error 4.77e-6 [{corr}].", {"4.77e-6": S}),
    ("We used 2 of the 4 GPUs [{env}].", {"4 GPUs": S}),
    ("640/640 passed [{corr}]", {"640": S}),
    ("640 tests, 0 failures [{corr}].", {"640 tests": S, "0 failures": S}),
    ("4.5 % failure rate [{fail}].", {"4.5 %": S}),
    ("Verdict: PASS [{fail}].", {"PASS": C}),
    ("The error of 4.77e-6 is below the 2e-3 tolerance [{corr}].", {"4.77e-6": S, "2e-3": S}),
    ("Max error 3.12e-2 exceeds the tolerance 1e-3 [{fail}].", {"3.12e-2": S}),
    ("GPU: 4× NVIDIA H200, 80 GiB, 36 °C [{env}]", {"4": S, "80 GiB": S, "36 °C": S}),
    ("3.13 TB/s of 4.8 TB/s (65 %) [{prof}]", {"3.13 TB/s": S, "65 %": S}),
    ("3.13 TB/s of 4.8 TB/s (75 %) [{prof}]", {"3.13 TB/s": S, "75 %": C}),
    ("The speedup of 1.9x reported in {cmp} holds.", {"1.9x": C}),
    ("According to {base}, latency is 8.57 ms.", {"8.57 ms": C}),
    ("Latency is not 9.47 ms but 8.47 ms [{base}].", {"8.47 ms": S}),
    ("Over 10 minutes, latency stayed at 8.47 ms [{base}].", {"8.47 ms": S}),
    ("Throughput on L40S is 57 % of H200's [{other}][{base}].", {"57 %": S}),
    ("{other} reaches 57 % of the throughput of {base}.", {"57 %": S}),
    ("Latency [ms]: 8.47 (median), 9.32 (p95) [{base}]", {"8.47 ms": S, "9.32 ms": S}),
    ("Latency is 8.47 ms ± 1.5 % [{base}].", {"8.47 ms": S, "1.5 %": S}),
    ("As expected, latency is 9.47 ms [{base}].", {"9.47 ms": C}),
    ("Latency increased by 3.28 ms [{base}][{opt}].", {"3.28 ms": C}),
    ("The difference is 3.28 ms [{base}][{opt}].", {"3.28 ms": S}),
    ("Latency change: -3.28 ms [{base}, {opt}]", {"-3.28 ms": S}),
    ("Latency change: +3.28 ms [{base}, {opt}]", {"+3.28 ms": C}),
    (
        "Throughput regressed from 118 to 193 it/s [{base}][{opt}].",
        {"118 it/s": S, "193 it/s": S, "regressed": C},
    ),
    ("Latency is 39 % of what it was [{base}][{opt}].", {"39 %": C}),
    ("1.6x lower latency [{base}][{opt}]", {"1.6x": S}),
    ("1.6x higher latency [{base}][{opt}]", {"1.6x": C}),
    ("p95 speedup is 1.66x [{base}][{opt}]", {"1.66x": S}),
    ("p95 speedup is 1.63x [{base}][{opt}]", {"1.63x": C}),
    ("Latency lies in the range 9.0-9.5 ms [{base}].", {"9.0 ms": C, "9.5 ms": C}),
    ("(8.47 ± 0.13) ms [{base}]", {"8.47 ms": S, "0.13 ms": S}),
    ("8.47 ms / 5.19 ms = 1.63x [{base}][{opt}]", {"8.47 ms": S, "5.19 ms": S, "1.63x": S}),
    ("baseline 8.47 ms, fused 5.19 ms [{base}, {opt}]", {"8.47 ms": S, "5.19 ms": S}),
    ("baseline 5.19 ms, fused 8.47 ms [{base}, {opt}]", {"5.19 ms": C, "8.47 ms": C}),
    ("H200 vs L40S: 8.47 ms vs 14.9 ms [{base}] [{other}].", {"8.47 ms": S, "14.9 ms": S}),
    ("With {opt} we get 5.19 ms rather than 8.47 ms.", {"5.19 ms": S, "8.47 ms": U}),
    ("Peak memory of 21.4 GiB fits in 80 GiB [{base}][{env}].", {"21.4 GiB": S, "80 GiB": S}),
    ("Latency fell from 8.47 ms ({base}) to 5.25 ms ({opt}).", {"8.47 ms": S, "5.25 ms": C}),
    ("The baseline ({base}) is 1.63x slower than the fused kernel ({opt}).", {"1.63x": S}),
    ("The baseline ({base}) is 1.63x faster than the fused kernel ({opt}).", {"1.63x": C}),
    (
        "Attention takes 87 % of GPU time [{prof}]; the remaining 13 % is noise [{prof}].",
        {"87 %": S, "13 %": S},
    ),
    (
        "| | H200 | L40S |\n|---|---|---|\n| latency | 8.47 ms | 14.9 ms |\n| evidence | {base} | {other} |\n",
        {"8.47 ms": S, "14.9 ms": S},
    ),
    (
        "| variant | ms | speedup |\n|---|---|---|\n| base [{base}] | 8.47 | 1.00x |\n| new [{opt}] | 5.19 | 1.63x |\n",
        {"8.47 ms": S, "5.19 ms": S, "1.63x": S},
    ),
    (
        "| variant | ms | speedup |\n|---|---|---|\n| base [{base}] | 8.47 | 1.00x |\n| new [{opt}] | 5.19 | 1.73x |\n",
        {"8.47 ms": S, "5.19 ms": S, "1.73x": C},
    ),
    (
        "- **Median**: 8.47 ms → 5.19 ms ({base} → {opt})\n- **p95**: 9.32 ms → 5.60 ms\n",
        {"8.47 ms": S, "5.19 ms": S, "9.32 ms": S, "5.60 ms": S},
    ),
]

DETAILS: list[Case] = [
    ("softmax_warp_forward takes 81 % of GPU time [{traced}].", {"81 %": S}),
    ("`softmax_warp_forward` takes 82 % of GPU time [{traced}].", {"82 %": C}),
    ("softmax_warp_forward: 128 calls, 812 ms in total [{traced}]", {"128 calls": S, "812 ms": S}),
    ("softmax_warp_forward takes 91 % [{traced}].", {"91 %": C}),
    ("The GPU is busy 91 % of the time [{traced}].", {"91 %": S}),
    ("Host memory is 25.3 GB [{facts}]", {"25.3 GB": S}),
    ("The GPU has 140.4 GiB of memory [{facts}]", {"140.4 GiB": S}),
    ("The GPU has 150.4 GiB of memory [{facts}]", {"150.4 GiB": U}),
]

CASES = [
    *PLAIN,
    *SHARES,
    *COUNTS,
    *NO_CLAIMS,
    *HEDGED,
    *RATIOS,
    *BINDING,
    *MARKDOWN,
    *BAD_IDS,
    *ASKEW,
]
CASES += DETAILS

# A text, how many of its claims are supported, and the others.
DESCRIPTIONS: list[tuple[str, int, dict[str, str]]] = [
    (
        """\
# Fuse softmax into the attention kernel

## Summary
This PR fuses the softmax into the attention kernel (follow-up to #4512). On an H200 (141 GB HBM3e, driver 580.65.06, CUDA 13.0)
the median attention latency drops from 8.47 ms to 5.19 ms, a **1.63x** speedup ({base} → {opt}). Throughput goes from
118 to 193 it/s (+63 %).

| | baseline | fused | change |
|---|---|---|---|
| median latency | 8.472 ms | 5.193 ms | -38.7 % |
| p95 latency | 9.318 ms | 5.604 ms | -39.9 % |
| mean latency | 8.561 ms | 5.247 ms | −38.7 % |
| throughput | 118.0 it/s | 192.6 it/s | +63.1 % |
| peak memory | 21.4 GiB | 18.9 GiB | -11.5 % |

Evidence: baseline `{base}`, fused `{opt}`.

## Profile
The attention kernel accounts for 87 % of GPU time [{prof}]. Achieved occupancy is 71.6 % and DRAM bandwidth 3.13 TB/s
(65 % of the 4.8 TB/s peak) [{prof}]. We launch 2,304 kernels per step.

## Correctness
- 640/640 cases pass, max abs error 4.8e-6 (rtol 2e-3) [{corr}]
- exact match 98.4 %, prefix agreement 99.2 % [{same}]

## Notes
- Tested with batch size 64, seq len 4096, bf16, 200 iterations after 20 warm-up iterations.
- Timeout is 600 s. CI takes about 12 min.
""",
        32,
        {"12 min": U},
    ),
    (
        """\
perf(attn): fuse softmax

Median latency 8.47 -> 5.19 ms (-39%), p95 9.32 -> 5.60 ms (-40%).
Evidence: {base} (before), {opt} (after).

Signed-off-by: Someone <someone@example.org>
""",
        6,
        {},
    ),
    (
        """\
Results:

* Baseline: {base}
  * p50: 8.47 ms
  * p95: 9.32 ms
* Fused: {opt}
  * p50: 5.19 ms
  * p95: 5.60 ms

=> 1.63x faster at p50, 1.66x faster at p95.
""",
        6,
        {},
    ),
    (
        """\
### Serving benchmark ({serve})

- **TTFT**: 183 ms (p50) / 413 ms (p99)
- **TPOT**: 21.6 ms
- **Output throughput**: 3,127 tok/s
- **Requests/s**: 12.7
- **Prefix cache hit rate**: 41.3%
""",
        5,
        {},
    ),
    (
        """\
| Model | TTFT p50 (ms) | TTFT p99 (ms) | TPOT (ms) | tok/s | Evidence |
|:--|--:|--:|--:|--:|:--|
| Llama-3 8B | 183.4 | 412.7 | 21.6 | 3127 | {serve} |
""",
        4,
        {},
    ),
    (
        """\
| Metric | {base} | {opt} | Ratio |
|---|---|---|---|
| attention_latency median [ms] | 8.472 | 5.193 | 1.63 |
| attention_latency p95 [ms] | 9.318 | 5.604 | 1.66 |
| throughput [it/s] | 118.0 | 192.6 | 1.63 |
""",
        9,
        {},
    ),
    (
        """\
I profiled the run: `attention_kernel` dominates (87.3 % of GPU time, see [{prof}]). The remaining 12.7 % is spread over
small kernels. Since occupancy is already at 72 %, I focused on memory traffic: DRAM bandwidth was 3.13 TB/s [{prof}], i.e. 65 % of the
4.8 TB/s the H200 offers. After fusing, latency fell by 3.28 ms to 5.19 ms [{opt}], compared to 8.47 ms before [{base}]. This is a 39 %
reduction, or 1.63x. Wall time of the whole script is 2.97 s ± 0.07 s over 7 runs [{sampled}].
""",
        12,
        {},
    ),
    (
        """\
Before: 8.47 ms/iter, 118 iter/s, 21.4 GiB peak ({base})
After:  5.19 ms/iter, 193 iter/s, 18.9 GiB peak ({opt})
Speedup: 1.63x
""",
        7,
        {},
    ),
    (
        """\
> [!NOTE]
> Latency went down 39% (8.47 ms → 5.19 ms)[^1].

[^1]: Baseline {base}, candidate {opt}.
""",
        3,
        {},
    ),
    (
        """\
The L40S needs 14.9 ms [{other}], i.e. the H200 (8.47 ms [{base}]) is 1.76x faster. Both were locked (2490 MHz and 1755 MHz).""",
        5,
        {},
    ),
    (
        """\
<details><summary>Numbers</summary>

median: **8.47** ms, p95: **9.32** ms [`{base}`]<br>
median: **5.19** ms, p95: **5.60** ms [`{opt}`]

</details>""",
        4,
        {},
    ),
    (
        """\
We tried three variants. Variant A was 8.47 ms [{base}]; variant B came in at 5.19 ms [{opt}]; variant C (L40S) at 14.9 ms [{other}].
B beats A by 39 % and C by 65 %.""",
        4,
        {"65 %": U},
    ),
]
