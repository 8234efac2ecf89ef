"""Numbers in a text: thousands, exponents, `12k`; not versions, dates, shapes, hashes, names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_EXPONENT = (
    r"(?:[eE][+\-−]?\d{1,3}(?![\w])"
    r"|[ ]?[×x*·][ ]?10(?:\^\{?[+\-−]?\d{1,3}\}?|[⁺⁻]?[⁰¹²³⁴-⁹]{1,3}|\*\*-?\d{1,3}))"
)
_PLAIN = r"(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:[\u202f\u2009]\d{3})+|\d{1,3}(?: \d{3})+(?= ?[num\u00b5\u03bcGMk][sBHi])|\d+)(?:\.\d+)?|\.\d+"
_POWER = r"10(?:\^\{?[\-−]?\d{1,3}\}?|[⁺⁻][⁰¹²³⁴-⁹]{1,3}|\*\*-\d{1,3})"
_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}[:.\dZ+]*)?"
_VERSION = r"\d+(?:\.\d+){2,}[\w.+-]*"
_LIST = r"(?!\d{1,3}(?:,\d{3})+(?![\d,]))\d+(?:,\d+)+(?:\.\d+)?"  # 1,2,3: no thousands
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?"
_SHAPE = r"\d+(?:[x×](?!10[\^⁺⁻*⁰-⁹])\d+)+|\d+(?: [x×] (?!10[\^⁺⁻*⁰-⁹])\d+(?![.\d]))+"
_DURATION = (
    r"(?P<h>\d+)[ ]?h(?:ours?|rs?)?[ ]?(?P<hm>\d+)[ ]?m(?:in(?:ute)?s?)?"
    r"(?:[ ]?(?P<hms>\d+(?:\.\d+)?)[ ]?s(?:ec(?:ond)?s?)?)?(?!\w)"
    r"|(?P<m>\d+)[ ]?m(?:in(?:ute)?s?)?[ ]?(?:and[ ])?(?P<ms>\d+(?:\.\d+)?)[ ]?s(?:ec(?:ond)?s?)?(?!\w)"
)
_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_.#@$€£\\])(?:(?P<duration>{_DURATION})"
    rf"|(?P<other>{_DATE}|{_VERSION}|{_CLOCK}|{_SHAPE}|{_LIST})"
    rf"|(?P<number>{_POWER}|(?:{_PLAIN}){_EXPONENT}?))"
)
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_SCALES = {"k": 3, "K": 3, "M": 6}
_TEN = re.compile(r"(?:[ ]?[×x*·][ ]?)?10(?:\^|\*\*)?\{?([+-]?\d+)\}?$")


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number in a text: its span without sign, value, size of the last place, significant digits.

    `seconds`: the number is a duration such as `1 min 23 s`, its value in seconds.
    """

    start: int
    end: int
    value: float
    step: float
    digits: int
    whole: bool
    seconds: bool = False


def numerals(text: str) -> Iterator[Numeral]:
    """Give the numbers of `text` that may be claims, in order."""
    previous_end = -1
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        follows_name = (
            text[start - 1 : start] in ("-", "‑")
            and start - 1 != previous_end
            and text[start - 2 : start - 1].isalnum()
            and text[max(0, start - 4) : start - 1].lower() != "sub"
        )
        if match["other"]:
            continue
        if match["duration"]:
            previous_end = end
            yield _duration(match)
            continue
        numeral = _read(text, start, end)
        if numeral is None:
            continue
        previous_end = numeral.end
        # A100-80GB and GPT-4 are names; 10-12 is a range.
        if not follows_name:
            yield numeral


def _duration(match: re.Match[str]) -> Numeral:
    hours, minutes = int(match["h"] or 0), int(match["hm"] or match["m"] or 0)
    last = match["hms"] or match["ms"]
    step = 60.0 if last is None else 10.0 ** -len(last.partition(".")[2])
    value = hours * 3600 + minutes * 60 + float(last or 0)
    return Numeral(*match.span(), value, step, max(3, len(last or "")), False, seconds=True)


def _read(text: str, start: int, end: int) -> Numeral | None:
    written = text[start:end]
    mantissa, exponent = _split(written)
    plain = re.sub(r"[, \u202f\u2009]", "", mantissa)
    if len(plain) > 1 and plain[0] == "0" and plain[1].isdigit():
        return None  # 007 is a code
    if len(plain) > 40 or abs(exponent) > 300:
        return None
    scale = _SCALES.get(text[end : end + 1], 0)
    if scale and not text[end + 1 : end + 2].isalpha() and text[end + 1 : end + 2] != "/":
        end, exponent = end + 1, exponent + scale
    elif scale:
        scale = 0
    decimals = len(plain.partition(".")[2])
    digits = plain.replace(".", "").lstrip("0")
    significant = digits.rstrip("0") if not decimals and not scale else digits
    value = float(f"{plain}e{exponent}")
    step = float(f"1e{exponent - decimals}")
    whole = not decimals and exponent == 0
    return Numeral(start, end, value, step, max(1, len(significant)), whole)


def _split(written: str) -> tuple[str, int]:
    """Split `3.1×10⁻⁵` into mantissa and exponent."""
    plain = written.translate(_POWERS)
    head, _, tail = plain.lower().partition("e")
    if tail:
        return head, int(tail)
    if written != plain or any(mark in plain for mark in "^*×x·"):
        ten = _TEN.search(plain)
        if ten:
            return plain[: ten.start()].strip() or "1", int(ten[1])
    return plain, 0
