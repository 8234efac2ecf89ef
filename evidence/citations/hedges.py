"""Words and signs beside a number that soften or bound it: about, nearly, at least, `<`, `~`, `2x+`."""

import re

from .matching import Hedge

_WORDS: dict[Hedge, str] = {
    "about": (
        r"about|around|approximately|approx\.?|roughly|circa|ca\.?|some|or so|on the order of"
        r"|in the region of|in the neighbou?rhood of|somewhere near|order of|close to|near"
    ),
    "nearly": r"nearly|almost|just under|just below|just shy of|slightly under|slightly below|not quite",
    "just over": r"just over|just above|slightly over|slightly above|slightly more than|a bit over",
    "at least": (
        r"at least|more than|over|above|greater than|higher than|no less than|not less than|upwards of"
        r"|exceeds|exceeding|north of|beyond|well over|minimum of|faster than"
    ),
    "at most": (
        r"at most|less than|under|below|fewer than|lower than|no more than|not more than|smaller than"
        r"|within|well under|well below|south of|not exceed|not exceeding|maximum of|sub-|slower than"
        r"|does not exceed|never exceeds"
    ),
    "up to": r"up to|as much as|as many as|as high as",
}
_ARTICLES = r"(?:\s+(?:a|an|the|by|to|of|at|only|just))*"
_BEFORE = [
    (hedge, re.compile(rf"(?:^|[^A-Za-z])(?:{words}){_ARTICLES}\s*$", re.IGNORECASE))
    for hedge, words in sorted(
        _WORDS.items(), key=lambda item: item[0] not in ("nearly", "just over")
    )
]
_SIGNS: list[tuple[Hedge, re.Pattern[str]]] = [
    ("about", re.compile(r"[~≈∼≃≅]\s*$")),
    ("at most", re.compile(r"(?:[<≤≲]|<=)\s*=?\s*$")),
    ("at least", re.compile(r"(?:(?<![-=–])[>≥≳]|(?<![-=])>=)\s*=?\s*$")),
]
_AFTER: list[tuple[Hedge, re.Pattern[str]]] = [
    ("at least", re.compile(r"\+(?![\w.])|\s+or\s+(?:more|better|higher|faster|greater|above)\b")),
    ("at most", re.compile(r"\s+or\s+(?:less|lower|fewer|below)\b|\s+at\s+most\b")),
    ("about", re.compile(r"-ish\b|\s+or\s+so\b|\s+(?:approximately|roughly)\b(?!\s*[\d~])")),
]
# "a speed-up over 12 ms", "an improvement over": a comparison, no bound.
_COMPARES = re.compile(
    r"(?:speed-?up|improvement|gain|win|faster|slower|better|worse|reduction|increase|decrease|change"
    r"|advantage|progress)\s+(?:over|above|within|under|below)\s*(?:the|a)?\s*$",
    re.IGNORECASE,
)
_REACH = 36


def hedge_of(text: str, start: int, end: int) -> Hedge:
    """Read what softens or bounds the number at `start` to `end` (with its unit)."""
    before = text[max(0, start - _REACH) : start]
    for hedge, sign in _SIGNS:
        if sign.search(before):
            return hedge
    last = before.rstrip()[-1:]  # a word, or `approx.`, or `sub-`
    if (last.isalpha() or last in (".", "-")) and not _COMPARES.search(before):
        for hedge, words in _BEFORE:
            if words.search(before):
                return hedge
    for hedge, after in _AFTER:
        if after.match(text, end):
            return hedge
    return "exact"
