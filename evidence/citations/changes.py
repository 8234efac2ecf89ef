"""Words of change around a number: faster, 45 % lower, rose by, of the baseline."""

import re
from typing import Literal

Change = Literal["down", "up", "faster", "slower", "of"]

_WORDS: dict[Change, str] = {
    "down": (
        r"reduc\w+|lower(?:s|ed|ing)?|less|fewer|fell|falls?|falling|fallen|drop\w*|decreas\w+|declin\w+|cut"
        r"|cuts|cutting|sav(?:es?|ed|ings?|ing)|shrinks?|shrank|shrunk|smaller|down|shav\w+|trim\w*|slash\w*"
        r"|minus|shorter|cheaper|halv\w+"
    ),
    "up": (
        r"increas\w+|higher|more|rose|rises?|rising|risen|gr[eo]wn?|grows?|growth|larger|bigger|greater"
        r"|climb\w*|jump\w*|up|plus|longer|extra|additional|uplift|boost\w*"
    ),
    "faster": (
        r"faster|quicker|speed-?ups?|speed up|sped up|speeds up|improv\w+|better|gain\w*|accelerat\w+"
        r"|outperform\w*|beats?|win|wins"
    ),
    "slower": r"slower|slow-?downs?|slowed|slows|slow down|regress\w*|worse\w*|degrad\w+|overhead",
}
_CHANGE = re.compile(
    "|".join(rf"(?P<{name}>\b(?:{words})\b)" for name, words in _WORDS.items()), re.IGNORECASE
)
_OF = re.compile(
    r"\s*(?:,|\()?\s*(?:of|as|relative to)\s+(?:the\s+|its\s+|our\s+|what\s+)*(?:baseline|base|original|old"
    r"|previous|prior|reference|before|former|initial|eager|latency|time|runtime|memory|throughput|much"
    r"|main|master|it was)\b|\s*of what\b|\s*of\s+(?:the\s+)?[A-Z]{1,3}\d{2,4}\w*",
    re.IGNORECASE,
)
_TIMES_THE = re.compile(
    r"\s*(?:of )?the\s+\w+|\s+as\s+(?:much|long|many|large|high|slow)\b", re.IGNORECASE
)
_AS_FAST = re.compile(r"\s+as\s+(?:fast|quick)\b", re.IGNORECASE)
# A bound on the number ("more than 45 %"), not a direction.
_HEDGE = re.compile(
    r"\b(?:more|less|lower|higher|fewer|greater|smaller|faster|slower|better) than\s*(?:a\s+|an\s+)?$"
    r"|\b(?:up|down) (?:to|from)\s*(?:a\s+|an\s+|about\s+|~)?$",
    re.IGNORECASE,
)
_BY = re.compile(
    r"\b(?:by|of)\s+(?:about\s+|around\s+|roughly\s+|over\s+|nearly\s+|~\s*|a\s+)*$", re.IGNORECASE
)
_DOWN_TO = re.compile(
    r"\b(?:down )?to\s+(?:about\s+|around\s+|roughly\s+|just\s+|only\s+|~\s*)*$", re.IGNORECASE
)


def change_of(before: str, after: str) -> Change | None:
    """Tell which change a number is the size of, by the nearest word of its clause.

    "of": the number is what is left, as in `55 % of the baseline` or `down to 55 %`.
    """
    if _OF.match(after) or _DOWN_TO.search(before):
        return "of"
    if _AS_FAST.match(after):
        return "faster"
    if _TIMES_THE.match(after):
        return "of"
    hedge = _HEDGE.search(before)
    left = before[: hedge.start()] if hedge else before
    nearest: tuple[int, Change] | None = None
    for match in _CHANGE.finditer(after):
        nearest = (match.start(), _kind(match))
        break
    last = None
    for match in _CHANGE.finditer(left):
        last = match
    if last is not None:
        distance = len(before) - last.end()
        if nearest is None or distance < nearest[0]:
            nearest = (distance, _kind(last))
    return nearest[1] if nearest else None


def _kind(match: re.Match[str]) -> Change:
    for name in _WORDS:
        if match[name]:
            return name
    raise AssertionError(match[0])


def is_difference(before: str, after: str) -> bool:
    """Tell whether a number with a unit is the size of a change: `by 5.5 ms`, `5.5 ms faster`."""
    if re.match(
        r"\s*(?:of\s+)?(?:[a-z]+\s+)?(?:faster|slower|less|more|lower|higher|fewer|shorter|longer"
        r"|improvement|reduction|increase|decrease|drop|gain|regression|saved|savings?|difference"
        r"|delta|overhead|better|worse|quicker)\b(?!\s+than\s+\d)",
        after,
        re.IGNORECASE,
    ):
        return True
    match = re.search(
        r"\b(?:by|sav(?:es?|ed|ing)|shav(?:es?|ed|ing)(?: off)?|cuts? off|(?:reduction|increase|decrease|drop"
        r"|gain|gap|improvement|saving|difference|delta|rise|change|regression|speed-?up)\s*(?:of\b|is\b|was\b|:|=))"
        r"\s*(?:about\s+|around\s+|roughly\s+|over\s+|nearly\s+|another\s+|~\s*|an?\s+|the\s+)*$",
        before,
        re.IGNORECASE,
    )
    return match is not None


def directions(text: str) -> list[tuple[int, int, Change]]:
    """Give every word of change in a text, with its place."""
    return [(m.start(), m.end(), _kind(m)) for m in _CHANGE.finditer(text)]
