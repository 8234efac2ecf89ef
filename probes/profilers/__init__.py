"""Profilers: one module each, and the one list of them. Adding a profiler is one module and one line."""

from . import ncu, nsys, perf, pyspy
from .profiler import Profiler

PROFILERS: tuple[Profiler, ...] = (
    ncu.PROFILER,
    nsys.PROFILER,
    perf.PROFILER,
    pyspy.PROFILER,
)
