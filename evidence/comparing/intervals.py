"""The ratio of two measurements with a 95 % interval, from samples or from n and a standard deviation.

Samples: percentile bootstrap of the ratio of the same statistic, seeded, so that it can be repeated
(Efron & Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13). Without samples: the delta method on
the log ratio, with the standard error of a mean, s/sqrt(n), or of a normal sample's quantile,
sqrt(p(1-p)/n)/phi(z_p) in units of s (Serfling, Approximation Theorems, 1980, 2.3.3).
"""

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

LEVEL = 0.95
_RESAMPLES = 2_000
_DRAWS = 2_000_000  # resamples shrink on long series, so that the work stays bounded
_LEAST_RESAMPLES = 200
_Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)


@dataclass(frozen=True)
class Side:
    """One side's measurement: its value and what is known of its spread."""

    value: float
    samples: tuple[float, ...] | None = None
    n: int | None = None
    std: float | None = None


def ratio_interval(statistic: str, baseline: Side, candidate: Side) -> tuple[float, float] | None:
    """Give the interval of candidate/baseline; None where the spread is unknown on a side."""
    if baseline.value <= 0 or candidate.value <= 0:
        return None
    measure = _measure(statistic)
    if measure and _enough(baseline) and _enough(candidate):
        return _bootstrap(measure, baseline.samples or (), candidate.samples or ())
    errors = [_relative_error(statistic, side) for side in (baseline, candidate)]
    if errors[0] is None or errors[1] is None:
        return None
    spread = _Z * math.hypot(errors[0], errors[1])
    log_ratio = math.log(candidate.value / baseline.value)
    return math.exp(log_ratio - spread), math.exp(log_ratio + spread)


def quantile_of(statistic: str) -> float | None:
    """Read p50, median, p99 … as a quantile between 0 and 1."""
    if statistic == "median":
        return 0.5
    digits = statistic[1:].replace(".", "", 1)
    if statistic[:1] == "p" and digits.isdigit():
        quantile = float(statistic[1:]) / 100
        return quantile if 0 < quantile < 1 else None
    return None


def _enough(side: Side) -> bool:
    return side.samples is not None and len(side.samples) >= 3


def _measure(statistic: str) -> Callable[[Sequence[float]], float] | None:
    if statistic == "mean":
        return statistics.fmean
    quantile = quantile_of(statistic)
    if quantile is None:
        return {"min": min, "max": max}.get(statistic)
    return lambda values: sorted(values)[round(quantile * (len(values) - 1))]


def _bootstrap(
    measure: Callable[[Sequence[float]], float], one: Sequence[float], two: Sequence[float]
) -> tuple[float, float] | None:
    rounds = max(_LEAST_RESAMPLES, min(_RESAMPLES, _DRAWS // (len(one) + len(two))))
    draw = random.Random(0)
    ratios = []
    for _ in range(rounds):
        below = measure(draw.choices(one, k=len(one)))
        above = measure(draw.choices(two, k=len(two)))
        if below > 0:
            ratios.append(above / below)
    if len(ratios) < rounds // 2:
        return None
    ratios.sort()
    tail = (1 - LEVEL) / 2
    return ratios[int(tail * len(ratios))], ratios[
        min(len(ratios) - 1, int((1 - tail) * len(ratios)))
    ]


def _relative_error(statistic: str, side: Side) -> float | None:
    if side.std is None or side.n is None or side.n < 2:
        return None
    if statistic == "mean":
        factor = 1.0
    else:
        quantile = quantile_of(statistic)
        if quantile is None:
            return None
        density = NormalDist().pdf(NormalDist().inv_cdf(quantile))
        factor = math.sqrt(quantile * (1 - quantile)) / density
    return factor * side.std / math.sqrt(side.n) / side.value
