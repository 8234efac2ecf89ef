"""One module a profiler: where it is, its version, its probe, how success is judged."""
