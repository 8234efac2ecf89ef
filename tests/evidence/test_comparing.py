from collections.abc import Sequence
from pathlib import Path

import pytest

from perfcite.evidence.comparing.comparability import clock_setting
from perfcite.evidence.comparing.compare import Comparison, compare
from perfcite.evidence.comparing.direction import better
from perfcite.evidence.comparing.intervals import Side, quantile_of, ratio_interval
from perfcite.evidence.errors import InputError
from perfcite.evidence.payloads import GenerationData
from perfcite.evidence.records import Gpu, Identity, Metric, new_record
from perfcite.evidence.store import Store, Stored

H200 = Identity(gpu=Gpu(name="H200", count=1, driver="570"), engines={"torch": "2.9.0"})
FAST = tuple(10.0 + 0.01 * k for k in range(30))
SLOW = tuple(12.0 + 0.01 * k for k in range(30))


def kept(
    store: Store,
    *metrics: Metric,
    identity: Identity = H200,
    arguments: dict[str, object] | None = None,
) -> Stored:
    record = new_record(
        kind="generation",
        claim_class="observed",
        tool="bench",
        version="0",
        arguments=arguments or {},
        summary="s",
        data=GenerationData(tokens=()),
        identity=identity,
        metrics=metrics,
    )
    return store.save(record)


def latency(samples: Sequence[float], unit: str = "ms") -> Metric:
    middle = sorted(samples)[len(samples) // 2]
    return Metric(
        name="latency",
        value=middle,
        unit=unit,
        statistic="median",
        n=len(samples),
        samples=tuple(samples),
    )


def verdicts(found: Comparison) -> list[str]:
    return [m.verdict for m in found.data.metrics]


def test_a_difference_beyond_its_interval_is_better_or_worse(store: Store) -> None:
    slow, fast = kept(store, latency(SLOW)), kept(store, latency(FAST))
    improved = compare(slow, fast)
    assert improved.verdict == "PASS"
    assert verdicts(improved) == ["better"]
    interval = improved.metrics[0].interval
    assert interval is not None
    assert interval.low < (improved.metrics[0].value or 0) < interval.high < 1
    assert compare(fast, slow).verdict == "FAIL"


def test_a_difference_inside_its_interval_is_not_shown(store: Store) -> None:
    one = kept(store, latency([10.0, 11.0, 12.0, 13.0, 14.0]))
    two = kept(store, latency([10.1, 11.2, 12.1, 13.2, 14.1]))
    found = compare(one, two)
    assert verdicts(found) == ["no_difference"]
    assert found.verdict == "PASS"


def test_without_a_spread_nothing_is_shown(store: Store) -> None:
    one = kept(store, Metric(name="latency", value=12.0, unit="ms", statistic="median"))
    two = kept(store, Metric(name="latency", value=6.0, unit="ms", statistic="median"))
    found = compare(one, two)
    assert found.verdict == "UNPROVEN"
    assert "no metric carries its spread" in found.reason


def test_units_of_one_dimension_are_converted(store: Store) -> None:
    slow = kept(store, latency(SLOW))
    micro = kept(store, latency([s * 1000 for s in FAST], "us"))
    row = compare(slow, micro).data.metrics[0]
    assert row.candidate == pytest.approx(10.15)
    assert row.verdict == "better"
    bare = kept(store, latency(FAST, "count"))
    assert verdicts(compare(slow, bare)) == ["not_comparable"]


def test_another_gpu_or_model_is_unproven_unless_declared(store: Store) -> None:
    one = kept(store, latency(SLOW), arguments={"model": "a"})
    a100 = H200.model_copy(update={"gpu": Gpu(name="A100", count=1, driver="570")})
    other_gpu = kept(store, latency(FAST), identity=a100, arguments={"model": "a"})
    other_model = kept(store, latency(FAST), arguments={"model": "b"})
    found = compare(one, other_gpu)
    assert found.verdict == "UNPROVEN"
    assert found.data.comparable is False
    assert found.metrics == ()
    assert "gpu.name H200 against A100" in found.reason
    assert compare(one, other_gpu, varying=["gpu"]).verdict == "PASS"
    assert compare(one, other_model).verdict == "UNPROVEN"
    assert compare(one, other_model, varying=["model"]).verdict == "PASS"
    with pytest.raises(InputError, match="no field 'gpus'"):
        compare(one, other_gpu, varying=["gpus"])


def test_a_gpu_known_on_one_side_only_is_not_comparable(store: Store) -> None:
    one, two = kept(store, latency(SLOW)), kept(store, latency(FAST), identity=Identity(cpu="x"))
    assert compare(one, two).verdict == "UNPROVEN"


def test_driver_engine_and_arguments_are_named_and_do_not_forbid(store: Store) -> None:
    one = kept(store, latency(SLOW), arguments={"flag": 1})
    newer = Identity(gpu=Gpu(name="H200", count=1, driver="580"), engines={"torch": "2.10"})
    found = compare(one, kept(store, latency(FAST), identity=newer, arguments={"flag": 2}))
    assert found.verdict == "PASS"
    assert {d.field for d in found.data.differences} == {
        "arguments.flag",
        "engines.torch",
        "gpu.driver",
    }
    assert any("gpu.driver 570 against 580" in line for line in found.limitations)


def test_nothing_in_common_is_unproven_never_success(store: Store) -> None:
    other = Metric(name="other", value=1, unit="count", statistic="count")
    found = compare(kept(store, latency(SLOW)), kept(store, other))
    assert found.verdict == "UNPROVEN"
    assert "no metric in common" in found.reason


def test_a_damaged_input_is_unproven_and_named(store: Store) -> None:
    one, two = kept(store, latency(SLOW)), kept(store, latency(FAST))
    found = compare(one, two, problems=["ev_x does not verify: tampered"])
    assert found.verdict == "UNPROVEN"
    assert "ev_x" in found.summary


def test_the_handed_records_compare_as_they_should(shared: Path) -> None:
    store = Store.open(shared / "cases/citations/store")
    found = compare(store.load("ev_k4tjim"), store.load("ev_f5f35f"))
    assert found.verdict == "PASS"
    rows = {(m.name, m.statistic): m for m in found.data.metrics}
    assert rows["softmax_latency", "median"].verdict == "better"
    assert rows["throughput", "median"].verdict == "no_difference"
    for one, two in (("ev_k4tjim", "ev_ip4ctl"), ("ev_r5bjqo", "ev_lm3scf")):
        assert compare(store.load(one), store.load(two)).verdict == "UNPROVEN"


def test_an_interval_from_a_spread_agrees_with_theory() -> None:
    one, two = Side(100.0, n=100, std=5.0), Side(100.0, n=100, std=5.0)
    interval = ratio_interval("mean", one, two)
    assert interval is not None
    # Relative error of each mean 0.005, of the ratio 0.00707; 1.96 of them on the log scale.
    assert interval[1] == pytest.approx(1.01396, abs=1e-4)
    median = ratio_interval("median", one, two)
    assert median is not None
    assert median[1] > interval[1]
    assert ratio_interval("mean", Side(1.0), two) is None
    assert ratio_interval("mean", Side(0.0, n=5, std=1.0), two) is None


def test_statistics_are_read_as_quantiles() -> None:
    assert quantile_of("median") == 0.5
    assert quantile_of("p95") == 0.95
    assert quantile_of("p99.9") == pytest.approx(0.999)
    assert quantile_of("p100") is None
    assert quantile_of("peak") is None


@pytest.mark.parametrize(
    ("name", "unit", "expected"),
    [
        ("softmax_latency", "ms", "lower"),
        ("throughput", "it/s", "higher"),
        ("dram_bandwidth", "TB/s", "higher"),
        ("gpu_memory_peak", "B", "lower"),
        ("exact_match_pct", "%", "higher"),
        ("divergences_per_1k", "count", "lower"),
        ("cache_miss_rate", "%", "lower"),
        ("error_rate", "%", "lower"),
        ("first_divergence_index", "tokens", "higher"),
        ("kernel_launches", "count", None),
    ],
)
def test_the_better_direction_is_known_by_name_then_unit(
    name: str, unit: str, expected: str | None
) -> None:
    assert better(name, unit) == expected


def test_clocks_compare_by_their_lock_not_their_reading() -> None:
    assert clock_setting("locked 1980 MHz") != clock_setting("locked 1410 MHz")
    assert clock_setting("1975 MHz") == clock_setting("1980 MHz") == clock_setting("unlocked")
