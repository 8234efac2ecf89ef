"""Intervals and quantiles against values from tables and from sorting."""

import math
import random

import pytest

from perfcite.probes.correctness.intervals import (
    beta_share,
    bootstrap_mean,
    clean_bound,
    gamma_share,
    poisson,
    proportion,
    rise,
)
from perfcite.probes.correctness.quantiles import RELATIVE_ERROR, LogHistogram, bins_of


def test_the_incomplete_functions_have_their_closed_forms() -> None:
    assert beta_share(0.5, 2, 3) == pytest.approx(0.6875)
    assert beta_share(0.3, 1, 5) == pytest.approx(1 - 0.7**5)
    assert beta_share(0.9, 7, 1) == pytest.approx(0.9**7)
    assert gamma_share(1, 1) == pytest.approx(1 - math.exp(-1))
    assert gamma_share(3, 10) == pytest.approx(1 - math.exp(-10) * (1 + 10 + 50))
    assert gamma_share(0.5, 0.25) == pytest.approx(math.erf(0.5))


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        (0, 10, 0.0, 0.3084971),
        (5, 10, 0.1870860, 0.8129140),
        (1, 1, 0.025, 1.0),
        (10, 40, 0.1269148, 0.4119620),
        (38, 40, 0.8308031, 0.9938864),
        (40, 40, 0.9119027, 1.0),
    ],
)
def test_clopper_and_pearson(k: int, n: int, low: float, high: float) -> None:
    assert proportion(k, n) == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize(
    ("k", "low", "high"),
    [
        (0, 0.0, 3.688879),
        (1, 0.0253178, 5.571643),
        (10, 4.795389, 18.390356),
        (30, 20.240872, 42.826873),
        (100, 81.363991, 121.626794),
    ],
)
def test_garwood(k: int, low: float, high: float) -> None:
    assert poisson(k) == pytest.approx((low, high), abs=1e-4)


def test_large_counts_stay_finite_and_narrow() -> None:
    low, high = poisson(1_000_000)
    assert 997_000 < low < 1_000_000 < high < 1_003_000
    low, high = proportion(999_999, 1_000_000)
    assert 0.99999 < low < high < 1


@pytest.mark.parametrize(
    ("n", "bound"), [(1, 0.95), (10, 0.2589), (40, 0.0722), (59, 0.0495), (299, 0.00997)]
)
def test_clean_prompts_leave_a_bound(n: int, bound: float) -> None:
    assert clean_bound(n) == pytest.approx(bound, abs=1e-4)


def test_the_rise_over_a_control_is_the_exact_binomial_tail() -> None:
    assert rise(30, 1991, 30, 2088) == pytest.approx(0.4776, abs=1e-4)
    assert rise(33, 1647, 30, 2088) == pytest.approx(0.1158, abs=1e-4)
    assert rise(3, 100, 0, 100) == pytest.approx(1 / 8)
    assert rise(0, 100, 5, 100) == 1


@pytest.mark.parametrize("count", [200, 5000])
def test_the_bootstrap_is_seeded_and_covers_the_mean(count: int) -> None:
    values = [random.Random(n).random() for n in range(count)]
    low, high = bootstrap_mean(values, count)
    assert (low, high) == bootstrap_mean(values, count)
    mean = sum(values) / count
    assert low < mean < high
    half = 1.96 * math.sqrt(sum((v - mean) ** 2 for v in values)) / count
    assert high - low == pytest.approx(2 * half, rel=0.15)


@pytest.mark.parametrize("scale", [1e-7, 1e-3, 1.0, 50.0])
def test_quantiles_are_within_their_bound(scale: float) -> None:
    rng = random.Random(2)
    values = [rng.gauss(0, scale) for _ in range(20_000)]
    histogram = LogHistogram()
    histogram.add(bins_of(values))
    ordered = sorted(map(abs, values))
    for share in (0.01, 0.5, 0.9, 0.99):
        exact = ordered[math.ceil(share * len(ordered)) - 1]
        assert histogram.quantile(share) == pytest.approx(exact, rel=RELATIVE_ERROR + 1e-6)


def test_zeros_are_exact_and_an_empty_histogram_has_no_quantile() -> None:
    histogram = LogHistogram()
    assert histogram.quantile(0.5) is None
    histogram.add(bins_of([0.0, -0.0, 1.0]))
    histogram.add_zeros(5)
    assert histogram.n == 8
    assert histogram.quantile(0.5) == 0
    assert histogram.quantile(0.99) == pytest.approx(1, rel=RELATIVE_ERROR)
