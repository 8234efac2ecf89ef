"""Which direction is better for a metric, by its name first and its unit second."""

from typing import Literal

Direction = Literal["lower", "higher"]
_LOWER = frozenset(
    {"latency", "time", "duration", "err", "error", "diff", "loss", "divergence", "miss", "stall"}
    | {"overhead", "power", "energy", "temperature", "memory", "failed", "ttft", "tpot"}
)
_HIGHER = frozenset(
    {"rate", "match", "agreement", "accuracy", "speedup", "passed", "efficiency"}
    | {"occupancy", "utilization", "utilisation", "hit"}
)
_UNITS: dict[str, Direction] = dict.fromkeys(
    ("s", "ms", "us", "ns", "W", "J", "degC", "nats"), "lower"
)


def better(name: str, unit: str) -> Direction | None:
    """Say which way is better; None where neither name nor unit tells."""
    lowered = name.lower()
    if "bandwidth" in lowered or "throughput" in lowered or lowered == "first_divergence_index":
        return "higher"
    if any(word in lowered for word in _HIGHER) and "miss" not in lowered and "err" not in lowered:
        return "higher"
    if any(word in lowered for word in _LOWER):
        return "lower"
    if unit.endswith("/s"):
        return "higher"
    if unit.endswith("B"):
        return "lower"
    return _UNITS.get(unit)
