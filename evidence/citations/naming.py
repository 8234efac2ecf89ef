"""Words of a text and of metric names: which metric a sentence speaks of, and which statistic.

A metric's name is cut into words; its last meaningful word says what is measured (softmax_latency: a
latency), the others say of what. Words that mean the same quantity are one class: "took", "runtime" and
"wall time" all speak of a time.
"""

import functools
import re
from collections.abc import Set as AbstractSet


def word_set(words: str) -> frozenset[str]:
    """Give the words of a string as a set."""
    return frozenset(words.split())


_CLASSES = {
    "time": "latency time runtime duration elapsed walltime ttft tpot itl delay take took taken ran run "
    "wait spent spend finish completed",
    "throughput": "throughput rate qps rps tps speed",
    "bandwidth": "bandwidth bw",
    "occupancy": "occupancy",
    "share": "share fraction portion proportion percentage dominate account percent",
    "memory": "memory mem vram hbm footprint allocation allocated rss ram usage",
    "clock": "clock frequency freq",
    "temperature": "temperature temp hot warm cool thermal",
    "power": "power draw drew drawn wattage tdp consumption consume",
    "energy": "energy",
    "error": "error err diff difference deviation mismatch delta discrepancy",
    "speedup": "speedup",
    "utilization": "utilization utilisation util busy",
    "case": "case test check",
    "gpu": "gpu device accelerator",
    "tolerance": "rtol atol tol tolerance",
    "divergence": "divergence diverge diverging diverged divergent",
    "match": "match matching matched identical exact",
    "agreement": "agreement agree agreeing",
    "limit": "limit cap capped",
}
_CLASS = {word: name for name, words in _CLASSES.items() for word in words.split()}
# Verbs that go with a time and with much else: they choose between metrics, but name none.
_VERBS = word_set(
    "take took taken ran run wait spent spend finish completed account percent dominate usage draw drew "
    "device check test case time rate"
)
# Words of a name that do not say what is measured.
_BESIDE = word_set(
    "total peak max min mean median avg average std count number num n pct percent per 1k index rate abs "
    "rel absolute relative passed failed value ratio sum ns us ms s bytes kib mib gib mb gb mhz hz w c celsius"
)
_TERMS = [
    (re.compile(pattern, re.IGNORECASE), word)
    for pattern, word in (
        (r"\bspeed[- ]up", "speedup"),
        (r"\btime[- ]to[- ]first[- ]token\b", "ttft"),
        (r"\btime[- ]per[- ]output[- ]token\b", "tpot"),
        (r"\binter[- ]token[- ]latency\b", "itl"),
    )
]
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9.%]*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_STATISTIC = re.compile(
    r"(?<![A-Za-z0-9])(?:(?P<percentile>[pP]\d{1,2}(?:\.\d+)?)(?![A-Za-z0-9])"
    r"|(?P<ordinal>\d{1,2}(?:\.\d+)?)(?:st|nd|rd|th)[ -](?:per)?(?:centile|%-?ile|pct)"
    r"|(?P<word>median|mean|averag(?:e|es|ed|ing)|avg|std(?:dev|ev)?|stdev|standard deviation|sd|sigma|σ"
    r"|min(?:imum)?|max(?:imum)?|peak(?:s|ed)?|(?:best|worst|slowest|fastest)[ -](?:case|run|sample|of)"
    r"|iqr|mad|geomean|geometric mean)(?![A-Za-z0-9_]))",
    re.IGNORECASE,
)
_CANONICAL = {"avg": "mean", "average": "mean", "stddev": "std", "stdev": "std", "sd": "std"}
_CANONICAL |= {"standard deviation": "std", "sigma": "std", "σ": "std", "minimum": "min"}
_CANONICAL |= {"maximum": "max", "peak": "max", "peaks": "max", "peaked": "max"}
_CANONICAL |= {"best": "min", "fastest": "min", "worst": "max", "slowest": "max"}
_CANONICAL |= {"geometric mean": "geomean"}
# Told without being named: the middle of a distribution, or the only way to count.
MIDDLE = ("median", "mean")
NEUTRAL = frozenset(
    {"", "instant", "total", "rate", "ratio", "value", "count", "sum", "single", "sample", "point"}
)
SPREADS = frozenset({"std", "stderr", "sem", "mad", "iqr", "ci", "ci95", "halfwidth", "half_width"})


@functools.lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Take the plural off a word, lower-cased."""
    word = word.lower().rstrip(".%")
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    kept = word.endswith(("ss", "is")) or (word.endswith("us") and not word.endswith("pus"))
    if word.endswith("s") and not kept and len(word) > 2:
        return word[:-1]
    return word


def meaning(word: str) -> str:
    """Give the class of a word, or its stem."""
    root = stem(word)
    return _CLASS.get(root) or _CLASS.get(root.removesuffix("ed")) or root


def words(text: str) -> frozenset[str]:
    """Give what the words of a text mean."""
    return _words(text)


@functools.lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    found = [w for part in _WORD.findall(_joined(text)) for w in _CAMEL.sub(" ", part).split()]
    stems = {stem(w) for w in found}
    plain = {w.removesuffix("ed") for w in stems if len(w) > 5}  # launched: launch
    return frozenset(meaning(w) for w in found) | stems | plain


def _joined(text: str) -> str:
    """Write terms of several words as one."""
    for pattern, word in _TERMS:
        text = pattern.sub(word, text)
    return text


def _parts(name: str) -> list[str]:
    plain = re.sub(r"[^A-Za-z0-9]+", " ", _CAMEL.sub(" ", name))
    return _joined(plain).split()


@functools.lru_cache(maxsize=1024)
def name_words(name: str) -> tuple[str, ...]:
    """Give what the words of a metric's name mean, in order."""
    return tuple(meaning(p) for p in _parts(name))


@functools.lru_cache(maxsize=1024)
def _head(name: str) -> str:
    parts = _parts(name)
    telling = [p for p in parts if p.lower() not in _BESIDE]
    return (telling or parts or [""])[-1]


def head(name: str) -> str:
    """Give the word of a metric's name that says what is measured."""
    return meaning(_head(name))


def likeness(name: str, spoken: frozenset[str]) -> tuple[int, int]:
    """Score how a metric's name fits the words of a text: by what is measured, then of what.

    First 3 where the head stands there, 2 where a word of its class does, 1 where another class of the
    name fits, else 0; then how many of the name's other words stand in the text.
    """
    all_words = name_words(name)
    main = head(name)
    others = {w for w in all_words if w != main}
    if stem(_head(name)) in spoken:
        rank = 3
    elif main in spoken:
        rank = 2
    else:
        rank = int(any(w in spoken for w in others if w in _CLASSES))
    return rank, len(others & spoken)


def kinds(text: str) -> frozenset[str]:
    """Give the kinds of quantity that a text names outright: a latency, a bandwidth, an occupancy."""
    named = set()
    for word in _WORD.findall(text):
        root = stem(word)
        if root not in _VERBS and root in _CLASS:
            named.add(_CLASS[root])
    return frozenset(named)


def last_kind(text: str) -> str | None:
    """Give the last kind of quantity that a text names outright."""
    for word in reversed(_WORD.findall(text)):
        root = stem(word)
        if root not in _VERBS and root in _CLASS:
            return _CLASS[root]
    return None


def is_of_kind(name: str, named: AbstractSet[str]) -> bool:
    """Tell whether a metric's name has a word of one of these kinds."""
    return any(word in named for word in name_words(name))


def statistic(name: str) -> str:
    """Give the canonical name of a metric's statistic."""
    lowered = name.lower().replace("_", " ").strip()
    if lowered in ("p50", "50th percentile"):
        return "median"
    return _CANONICAL.get(lowered, lowered)


def statistics(text: str) -> list[tuple[int, int, str]]:
    """Give the statistics that a text names, with their places."""
    found = []
    for match in _STATISTIC.finditer(text):
        if match["percentile"]:
            name = match["percentile"].lower()
        elif match["ordinal"]:
            name = f"p{match['ordinal']}"
        else:
            word = match["word"].lower().replace("-", " ")
            name = "mean" if word.startswith("averag") else _CANONICAL.get(word, word)
            name = _CANONICAL.get(word.split(" ")[0], name) if " " in word else name
        found.append((match.start(), match.end(), "median" if name == "p50" else name))
    return found
