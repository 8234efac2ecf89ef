"""Ready phrases that quote a metric and bind it to its record: `12.34 ms [ev_…]`."""

import re

from .records import Metric

_SPACELESS = frozenset({"x"})
_NEEDS_NAMING = re.compile(r"p\d{1,2}(?:\.\d+)?|min|max|std|stdev|sd|iqr|mad", re.IGNORECASE)
_FRAGMENT = re.compile(r"#[\w.:/%+-]{1,160}")
_BARE = frozenset({"1", "ratio", "count"})


def phrase(metric: Metric, identifier: str) -> str | None:
    """Give a phrase that check_citations finds supported; None for a metric without a value."""
    if metric.value is None:
        return None
    unit = metric.unit
    separator = "" if unit in _SPACELESS or unit in _BARE else " "
    shown = "" if unit in _BARE else unit
    return f"{number(metric.value)}{separator}{shown} [{identifier}{_bound(metric)}]"


def _bound(metric: Metric) -> str:
    """Bind a tail or a spread by its name: a sentence that does not say p95 would claim the median."""
    plain = metric.statistic in ("max", "min") and metric.statistic in metric.name
    if plain or not _NEEDS_NAMING.fullmatch(metric.statistic):
        return ""
    fragment = f"#{metric.name}.{metric.statistic}"
    return fragment if _FRAGMENT.fullmatch(fragment) else ""


def number(value: float) -> str:
    """Write a number with at least four significant digits, without an exponent where readable."""
    if isinstance(value, int) or float(value).is_integer():
        return f"{value:.0f}" if abs(value) < 1e15 else f"{value:.4g}"
    magnitude = abs(value)
    if magnitude >= 100:
        return f"{value:.1f}" if magnitude < 1e15 else f"{value:.4g}"
    if magnitude >= 1:
        return f"{value:.2f}" if magnitude >= 10 else f"{value:.3f}"
    return f"{value:.4g}"
