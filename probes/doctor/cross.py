"""Findings that need two parts at once: a wheel against its driver, kernels against a GPU."""

from collections.abc import Mapping
from typing import Any

from .section import Section


def compare(facts: Mapping[str, Any]) -> Section:
    """Hold the merged facts of all parts against each other."""
    return Section()
