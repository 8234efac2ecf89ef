"""A store with records to cite: two benchmarks, another GPU, a profile, checks, a server, a comparison."""

from collections.abc import Sequence
from pathlib import Path

from perfcite.evidence.artifacts import Attachment
from perfcite.evidence.comparing.compare import compare
from perfcite.evidence.layout import record_key
from perfcite.evidence.records import (
    Git,
    Gpu,
    Identity,
    Input,
    Kind,
    Metric,
    Record,
    Tool,
    Verdict,
)
from perfcite.evidence.store import Store, Stored

H200 = Gpu(name="NVIDIA H200", count=1, driver="580.65", cuda="13.0", clocks="locked 1755 MHz")
L40S = Gpu(name="NVIDIA L40S", count=1, driver="580.65", cuda="13.0", clocks="locked 2490 MHz")
HERE = Identity(host="host-a", os="linux", gpu=H200, git=Git(commit="9a1b2c3d4e", dirty=False))
THERE = HERE.model_copy(update={"host": "host-b", "gpu": L40S})

_LATENCY = "attention_latency"


def metric(
    name: str, value: float | None, unit: str, statistic: str = "median", n: int = 1, **more: object
) -> Metric:
    return Metric.model_validate(
        {"name": name, "value": value, "unit": unit, "statistic": statistic, "n": n, **more}
    )


def timing(median: float, p95: float, mean: float, std: float, rate: float) -> list[Metric]:
    latency = [("median", median), ("p95", p95), ("mean", mean), ("std", std)]
    found = [metric(_LATENCY, value, "ms", name, 200) for name, value in latency]
    return [*found, metric("throughput", rate, "it/s", "median", 200)]


BASE = [*timing(8.4721, 9.3184, 8.5613, 0.1274, 118.04), metric("peak_memory", 21.37, "GiB", "max")]
OPT = [*timing(5.1934, 5.6042, 5.2471, 0.0911, 192.57), metric("peak_memory", 18.92, "GiB", "max")]
OTHER = [metric(_LATENCY, 14.903, "ms", n=200), metric("throughput", 67.11, "it/s", n=200)]
PROF = [
    metric("attention_kernel_time_share", 0.8734, "fraction", "total"),
    metric("dram_bandwidth", 3.1268, "TB/s", "mean"),
    metric("achieved_occupancy", 71.62, "%", "mean"),
    metric("sm_clock", 1755, "MHz", "mean"),
    metric("kernel_launches", 2304, "count", "total"),
    metric("workspace_memory", 536870912, "B", "max"),
    metric("tensor_throughput", 412.6, "TFLOP/s", "mean"),
    metric("power_draw", None, "W", "mean"),
]
CORR = [
    metric("max_abs_err", 4.7684e-06, "1", "max", 640),
    metric("cases_passed", 640, "count", "total", 640),
    metric("cases_total", 640, "count", "total", 640),
    metric("rtol", 0.002, "1", "limit"),
]
FAIL = [
    metric("max_abs_err", 0.0312, "1", "max", 640),
    metric("cases_passed", 611, "count", "total", 640),
    metric("cases_total", 640, "count", "total", 640),
]
SAME = [
    metric("exact_match_pct", 98.4375, "%", "rate", 64),
    metric("prefix_agreement_pct", 99.213, "%", "mean", 64),
    metric("first_divergence_index", 137, "tokens", "median", 64),
    metric("divergences_per_1k", 0.612, "count", "rate", 64),
    metric("max_logprob_abs_diff", 0.02317, "nats", "max", 4096),
]
ENV = [
    metric("gpu_memory_total", 85899345920, "B", "total"),
    metric("gpu_count", 4, "count", "total"),
    metric("gpu_temperature", 36, "degC", "instant"),
    metric("power_limit", 500, "W", "limit"),
]
SERVE = [
    metric("ttft", 183.42, "ms", "median", 1000),
    metric("ttft", 412.73, "ms", "p99", 1000),
    metric("tpot", 21.637, "ms", "median", 1000),
    metric("output_throughput", 3127.4, "tokens/s", "mean", 3),
    metric("request_throughput", 12.73, "req/s", "mean", 3),
    metric("prefix_cache_hit_rate", 0.4127, "ratio", "rate"),
]
KERNELS = [
    {
        "name": "void softmax_warp_forward<float, 4>(float*, int)",
        "calls": 128,
        "total_ns": 812345678,
        "mean_ns": 6346450,
        "share": 0.8123,
    },
    {"name": "ampere_sgemm_128x64", "calls": 64, "total_ns": 100000000, "share": 0.1},
]
FACTS = {
    "facts": {
        "host": {"memory_total_bytes": 25276510208},
        "gpus": [{"memory_total_mib": 143771, "sm_clock_mhz": {"value": 1980, "state": "known"}}],
    }
}
_SAMPLES = [2.91, 2.94, 2.95, 2.97, 2.98, 3.02, 3.11]
SAMPLED = [
    metric(
        "wall_time",
        2.97,
        "s",
        n=7,
        samples=_SAMPLES,
        interval={"low": 2.92, "high": 3.06, "level": 0.95},
    ),
    metric("cpu_time", 2.641, "s", n=7),
]


def record(
    metrics: Sequence[Metric],
    kind: Kind = "benchmark",
    *,
    variant: str | None = None,
    identity: Identity = HERE,
    verdict: Verdict | None = None,
    inputs: Sequence[Input] = (),
    nonce: str = "00000000",
) -> Record:
    """Make a record as a tool of another version might have: equal runs give equal ids."""
    return Record(
        kind=kind,
        claim_class="observed",
        tool=Tool(name=kind, version="1", arguments={"variant": variant} if variant else {}),
        created_at="2026-11-30T10:00:00.000000Z",
        summary=f"{verdict}: {kind}" if verdict else kind,
        verdict=verdict,
        identity=identity,
        metrics=tuple(metrics),
        missing=tuple(m.name + ": no permission" for m in metrics if m.value is None),
        inputs=tuple(inputs),
        data={},
        nonce=nonce,
    )


def fill(store: Store, root: Path) -> dict[str, str]:
    """Save the records and damage one; give their ids by name."""
    base = store.save(record(BASE, variant="baseline"))
    opt = store.save(record(OPT, variant="fused"))
    kept = {
        "base": base,
        "opt": opt,
        "other": store.save(record(OTHER, variant="baseline", identity=THERE)),
        "prof": store.save(record(PROF, "profile")),
        "corr": store.save(record(CORR, "correctness", verdict="PASS")),
        "fail": store.save(record(FAIL, "correctness", verdict="FAIL")),
        "same": store.save(record(SAME, "correctness", verdict="PASS")),
        "env": store.save(record(ENV, "environment")),
        "serve": store.save(record(SERVE)),
        "sampled": store.save(record(SAMPLED)),
        "cmp": store.save(_comparison(base, opt)),
        "damaged": store.save(record([metric("copy_latency", 4.07, "ms")])),
    }
    derived = record(
        [metric("copy_speedup", 1.5, "x", "ratio")],
        "comparison",
        inputs=[kept["damaged"].as_input()],
    )
    kept["derived"] = store.save(derived)
    trace = Attachment("trace.json", "application/json", b"[1]")
    profile = record([metric("gpu_busy", 91.0, "%", "total")], "profile")
    kept["traced"] = store.save(profile.model_copy(update={"data": {"kernels": KERNELS}}), [trace])
    kept["facts"] = store.save(record([], "environment").model_copy(update={"data": FACTS}))
    ids = {name: stored.evidence_id for name, stored in kept.items()}
    _edit(root / record_key(ids["damaged"]), b"4.07", b"2.07")
    return ids


def _comparison(base: Stored, opt: Stored) -> Record:
    found = compare(base, opt)
    made = record(found.metrics, "comparison", verdict=found.verdict, inputs=found.inputs)
    return made.model_copy(update={"data": found.data.model_dump(mode="json")})


def _edit(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.chmod(0o600)
    path.write_bytes(content.replace(old, new))
