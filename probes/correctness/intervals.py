"""Exact intervals and tests, from the incomplete beta and gamma functions; no scipy.

Continued fractions after Press et al., Numerical Recipes, 6.2 and 6.4; Clopper and Pearson (1934);
Garwood (1936) for the Poisson rate; Przyborowski and Wilenski (1940) for two rates.
"""

import math
import random
from collections.abc import Callable, Sequence

LEVEL = 0.95
_TINY = 1e-300
_STEPS = 100_000
# Above this many sequences the mean is normal enough, and resampling would cost seconds.
BOOTSTRAP_MAX = 10_000
_RESAMPLES = 1_000
_RESAMPLE_SIZE = 1_000

Bounds = tuple[float, float]


def beta_share(x: float, a: float, b: float) -> float:
    """Give the regularised incomplete beta function I_x(a, b), for a and b above 0."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _beta_fraction(x, a, b) / a
    return 1 - math.exp(log_front) * _beta_fraction(1 - x, b, a) / b


def gamma_share(a: float, x: float) -> float:
    """Give the regularised lower incomplete gamma function P(a, x), for a above 0."""
    if x <= 0:
        return 0.0
    log_front = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1:
        return math.exp(log_front) * _gamma_series(a, x)
    return 1 - math.exp(log_front) * _gamma_fraction(a, x)


def proportion(k: float, n: float, level: float = LEVEL) -> Bounds:
    """Give Clopper and Pearson's interval of k of n, as shares; n above 0, k need not be whole."""
    tail = (1 - level) / 2
    low = 0.0 if k <= 0 else _root(lambda p: beta_share(p, k, n - k + 1) - tail, 0.0, 1.0)
    high = 1.0 if k >= n else _root(lambda p: beta_share(p, k + 1, n - k) - (1 - tail), 0.0, 1.0)
    return low, high


def clean_bound(n: float, level: float = LEVEL) -> float:
    """Give the largest share of diverging prompts that n clean ones leave possible, one-sided."""
    return float(1 - (1 - level) ** (1 / n))


def poisson(k: float, level: float = LEVEL) -> Bounds:
    """Give Garwood's exact interval of a Poisson count's mean."""
    tail = (1 - level) / 2
    top = k + 10 * math.sqrt(k + 1) + 20
    low = 0.0 if k <= 0 else _root(lambda m: gamma_share(k, m) - tail, 0.0, k)
    return low, _root(lambda m: gamma_share(k + 1, m) - (1 - tail), k, top)


def rise(k1: int, t1: float, k0: int, t0: float) -> float:
    """Test whether the rate k1/t1 exceeds k0/t0: exact conditional binomial, one-sided.

    Given k1 + k0 events, k1 is binomial with chance t1 / (t1 + t0) when the rates are equal.
    """
    if k1 <= 0 or t1 <= 0:
        return 1.0
    return beta_share(t1 / (t1 + t0), k1, k0 + 1)


def bootstrap_mean(values: Sequence[float], draws: int, seed: int = 20260101) -> Bounds:
    """Give the percentile interval of a mean over `draws` of `values`.

    Resamples larger than a thousand are drawn as a thousand and the spread is scaled down, as in
    the m out of n bootstrap: the spread of a mean falls with the root of its size.
    """
    random_ = random.Random(seed)
    size = min(draws, _RESAMPLE_SIZE)
    means = sorted(math.fsum(random_.choices(values, k=size)) / size for _ in range(_RESAMPLES))
    mean = math.fsum(values) / len(values)
    shrink = math.sqrt(size / draws)
    tail = int((1 - LEVEL) / 2 * _RESAMPLES)
    return mean + shrink * (means[tail] - mean), mean + shrink * (means[-tail - 1] - mean)


def normal_mean(mean: float, variance: float, n: float) -> Bounds:
    """Give the normal interval of a mean of n values."""
    reach = 1.959963984540054 * math.sqrt(max(variance, 0.0) / n)
    return mean - reach, mean + reach


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Halve [low, high] until it is as fine as a float: `function` rises through 0 inside."""
    rising = function(low) < function(high)
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if (function(middle) < 0) == rising:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Lentz's method."""
    c = 1.0
    d = 1 / _away(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, _STEPS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away(1 + numerator * d)
            c = _away(1 + numerator / c)
            result *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return result


def _gamma_series(a: float, x: float) -> float:
    term = total = 1 / a
    for n in range(1, _STEPS):
        term *= x / (a + n)
        total += term
        if term < total * 1e-16:
            break
    return total


def _gamma_fraction(a: float, x: float) -> float:
    b = x + 1 - a
    c = 1 / _TINY
    d = 1 / _away(b)
    result = d
    for n in range(1, _STEPS):
        numerator = -n * (n - a)
        b += 2
        d = 1 / _away(numerator * d + b)
        c = _away(b + numerator / c)
        result *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return result


def _away(value: float) -> float:
    """Keep a denominator away from 0."""
    return value if abs(value) > _TINY else _TINY
