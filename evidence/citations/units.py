"""Units as people write them: which quantity a unit measures, and its size in the base unit.

An own table, since general libraries read `4 T` as tesla, lose `it/s` and `tok/s`, and cost seconds to
import. Sizes follow SI; KiB to TiB are powers of 1024. `GB` is never `GiB`; `KB` is read as either.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """What a unit measures and how many base units it holds."""

    dimension: str
    factor: float
    other: float | None = None  # a second size that writers also mean by the same letters


SHARE = "share"  # %, fraction: base unit 1
TIMES = "times"  # x
RATIO = "ratio"  # a recorded ratio: a share or a factor
ONE = "one"  # a recorded plain number
COUNT = "count"
POINTS = "points"  # percentage points: a difference of shares
TIME = "time"

_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}

_TIMES = {
    "s": (1.0, "sec secs second seconds"),
    "ms": (1e-3, "msec msecs millis millisecond milliseconds milli-seconds"),
    "us": (1e-6, "µs μs usec usecs micros microsecond microseconds"),
    "ns": (1e-9, "nsec nsecs nanos nanosecond nanoseconds"),
    "ps": (1e-12, "picosecond picoseconds"),
    "min": (60.0, "mins minute minutes"),
    "h": (3600.0, "hr hrs hour hours"),
}
_COUNTED = {
    "it": ("its", "iter", "iters", "iteration", "iterations"),
    "token": ("tok", "toks", "tokens", "t"),
    "req": ("reqs", "request", "requests", "query", "queries"),
    "sample": ("samples",),
    "step": ("steps",),
    "image": ("img", "imgs", "images"),
    "frame": ("frames",),
    "op": ("ops", "operation", "operations"),
    "call": ("calls",),
    "launch": ("launches",),
    "event": ("events",),
    "row": ("rows",),
    "seq": ("seqs", "sequence", "sequences"),
    "prompt": ("prompts",),
    "batch": ("batches",),
    "layer": ("layers",),
    "kernel": ("kernels",),
    "run": ("runs",),
    "element": ("elements", "elem", "elems"),
}
_SINGULAR = {spelled: word for word, others in _COUNTED.items() for spelled in (word, *others)}
_SHORT_RATES = {"tps": "token", "qps": "req", "rps": "req", "fps": "frame", "iops": "op"}
_LONG_BYTES = {"bytes": 1.0, "byte": 1.0, "kilobytes": 1e3, "megabytes": 1e6}
_LONG_BYTES |= {"gigabytes": 1e9, "terabytes": 1e12, "kibibytes": 2.0**10}
_LONG_BYTES |= {"mebibytes": 2.0**20, "gibibytes": 2.0**30, "tebibytes": 2.0**40}
_SECOND = frozenset({"s", "sec", "secs", "second"})


def _table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for short, (seconds, others) in _TIMES.items():
        for name in (short, *others.split()):
            units[name] = Unit(TIME, seconds)
    for prefix, factor in (_DECIMAL | _BINARY).items():
        # Before there was KiB, KB meant it: both sizes are in use.
        other = 1024.0 if prefix == "K" else None
        units[f"{prefix}B"] = Unit("bytes", factor, other)
        for per in ("B/s", "Bps", "B/sec", "B/second", "Byte/s", "bytes/s"):
            units[f"{prefix}{per}"] = Unit("bytes/s", factor, other)
    for name, factor in _LONG_BYTES.items():
        units[name] = Unit("bytes", factor)
    for prefix, factor in _DECIMAL.items():
        for name in ("FLOP/s", "FLOPs/s", "FLOPS", "FLOPs", "FLOPS/s"):
            for spelled in (name, name.lower(), name.replace("FLOP", "Flop")):
                units[prefix + spelled] = Unit("flop/s", factor)
        for name in ("OPS", "OP/s", "OPs/s"):
            if prefix:
                units[prefix + name] = Unit("op/s", factor)
        for name in ("bps", "b/s", "bit/s", "bits/s"):
            units[prefix + name] = Unit("bytes/s", factor / 8)
        for name in (f"{prefix}Hz", f"{prefix}hz", f"{prefix}HZ"):
            units[name] = Unit("frequency", factor)
        units[f"{prefix}W"] = Unit("power", factor)
        units[f"{prefix}J"] = Unit("energy", factor)
        units[f"{prefix}Wh"] = Unit("energy", factor * 3600)
    units |= {"mhz": Unit("frequency", 1e6), "ghz": Unit("frequency", 1e9)}
    units |= {"mW": Unit("power", 1e-3), "mJ": Unit("energy", 1e-3), "uJ": Unit("energy", 1e-6)}
    units |= dict.fromkeys(("watt", "watts"), Unit("power", 1.0))
    units |= dict.fromkeys(("joule", "joules"), Unit("energy", 1.0))
    units |= dict.fromkeys(("degC", "°C", "℃", "deg C"), Unit("temperature", 1.0))
    units |= dict.fromkeys(("%", "percent", "pct", "per cent"), Unit(SHARE, 0.01))
    units |= dict.fromkeys(("x", "×", "X", "fold", "-fold"), Unit(TIMES, 1.0))
    units |= dict.fromkeys(("pp", "percentage points", "percentage point"), Unit(POINTS, 0.01))
    units |= {"‰": Unit(SHARE, 0.001), "nats": Unit("nats", 1.0), "nat": Unit("nats", 1.0)}
    units |= {"ppm": Unit(SHARE, 1e-6), "dB": Unit("decibel", 1.0)}
    for name, word in _SHORT_RATES.items():
        units[name] = units[name.upper()] = Unit(f"{word}/s", 1.0)
    del units["B"]  # read apart, since `70B` counts parameters
    return units


_UNITS = _table()
_BYTE = Unit("bytes", 1.0)
_RECORDED = {
    "fraction": Unit(SHARE, 1.0),
    "ratio": Unit(RATIO, 1.0),
    "1": Unit(ONE, 1.0),
    "count": Unit(COUNT, 1.0),
    "tokens": Unit("tokens", 1.0),
    "B": _BYTE,
}
_WORD = r"[A-Za-zµμ]+(?:/[A-Za-zµμ]+)?"
_TOKEN = re.compile(
    rf"(?P<gap>[ \t\u00a0\u2009\u202f]{{0,6}}|-)"
    rf"(?P<unit>%|‰|×|℃|°[ ]?C\b|deg(?:rees?)?[ ]C\b|per[ ]cent\b|percentage[ ]points?\b|{_WORD})"
)
_PER = re.compile(r" +(?:per|a|each|every) +([A-Za-z]+)|/([A-Za-z]+)")
_TIMES_WORD = re.compile(
    r" {1,3}times +(?=(?:as|faster|slower|quicker|higher|lower|more|less|better|worse|fewer|smaller"
    r"|larger|bigger|greater|the)\b)"
)
_AMOUNT_OF = re.compile(
    r" ?(?:(?:NVIDIA|AMD|Intel|RTX)\b|[A-Z]{1,3} ?[0-9]{2,}|(?:[CG]PU|node|core|socket|device)s?\b)"
)
_SHAPE_GOES_ON = re.compile(r" ?[0-9]")


@dataclass(frozen=True, slots=True)
class Written:
    """A unit as it stands in a text: where it ends, and the separator before it."""

    unit: Unit
    end: int
    gap: str
    text: str


def unit_after(text: str, position: int, *, whole: bool) -> Written | None:
    """Read the unit of a number that ends at `position`; None where no known one follows.

    `whole`: the number is an integer, so that `8x H200` is an amount and `2 x 4` a shape.
    """
    if text.startswith(" ", position):
        times = _TIMES_WORD.match(text, position)
        if times:
            end = position + len(times[0].rstrip())
            return Written(_UNITS["x"], end, " ", "times")
    match = _TOKEN.match(text, position)
    if match is None:
        return None
    gap, token, end = match["gap"], match["unit"], match.end()
    if text[end : end + 1].isdigit() or text.startswith("_", end):
        return None
    known = _UNITS.get(re.sub(r"^deg(rees?)? |^° ", "°", token))
    if known is None:
        return _rate_or_byte(token, gap, text, end)
    if known.dimension == TIMES and not _is_factor(token, gap, text, end, whole):
        return None
    return _with_per(known, token, gap, text, end)


def _is_factor(token: str, gap: str, text: str, end: int, whole: bool) -> bool:
    """Tell `1.8x` from the shape `2 x 4` and from the amount `8x H200`."""
    if "fold" in token:
        return True
    if gap == "-" or (gap and _SHAPE_GOES_ON.match(text, end)):
        return False
    return not (whole and _AMOUNT_OF.match(text, end))


def _rate_or_byte(token: str, gap: str, text: str, end: int) -> Written | None:
    # `70B` counts parameters, `16 B` is bytes.
    if token == "B" and gap.isspace() and not text.startswith(" param", end):
        return Written(_BYTE, end, gap, token)
    left, slash, right = token.partition("/")
    if slash and right in _SECOND and (word := _SINGULAR.get(left.lower())):
        return Written(Unit(f"{word}/s", 1.0), end, gap, token)
    if slash and (unit := _UNITS.get(left)) and unit.dimension == TIME and is_counted(right):
        return Written(unit, end, gap, token)  # ms/token: the time of one
    word = _SINGULAR.get(token.lower())
    if word and not slash:
        per = _PER.match(text, end)
        if per and (per[1] or per[2]) in _SECOND:
            return Written(
                Unit(f"{word}/s", 1.0), per.end(), gap, text[end - len(token) : per.end()]
            )
    return None


def _with_per(unit: Unit, token: str, gap: str, text: str, end: int) -> Written:
    """Read on over `per second` after bytes and `per token` after a time."""
    per = _PER.match(text, end)
    if per and unit.dimension == "bytes" and (per[1] or per[2]) in _SECOND:
        spelled = text[end - len(token) : per.end()]
        return Written(Unit("bytes/s", unit.factor, unit.other), per.end(), gap, spelled)
    return Written(unit, end, gap, token)


def is_counted(word: str) -> bool:
    """Tell whether a word names something that rates and times count: token, step, request."""
    return word.lower() in _SINGULAR


def recorded_unit(name: str) -> Unit:
    """Give the unit of a metric; one of its own dimension where the name is not known."""
    known = _RECORDED.get(name) or _UNITS.get(name)
    if known:
        return known
    left, slash, right = name.partition("/")
    if slash and right in _SECOND:
        return Unit(f"{_SINGULAR.get(left.lower(), left.lower())}/s", 1.0)
    return Unit(f"unit {name}", 1.0)


def conversion(quoted: Unit, recorded: Unit) -> float | None:
    """Give the factor that turns a recorded value into the quoted unit; None where none does.

    A recorded ratio may be quoted in per cent or as a factor, a recorded plain number in per cent.
    """
    pair = (quoted.dimension, recorded.dimension)
    if pair[0] == pair[1] or pair in _READ_AS:
        return recorded.factor / quoted.factor
    return None


_READ_AS = frozenset({(SHARE, RATIO), (TIMES, RATIO), (SHARE, ONE), (TIMES, ONE)})
