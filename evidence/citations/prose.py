"""Numbers with a unit that claim no measurement: settings, hardware, what somebody else said or hopes."""

import re

from .passages import Document, Passage
from .quantities import Quantity

# Never a measurement, whatever its value.
_SETTING_BEFORE = re.compile(
    r"\b(?:time-?out|warm-?up|cool-?down|interval|deadline|sleep|budget|slo|sla|target|goal|quota|ttl"
    r"|page(?: size)?|polls?|every|max_\w+|min_\w+)"
    r"(?:\s+(?:of|is|was|to|at|for|a|an|the|about))*\s*[=:(]?\s*$",
    re.IGNORECASE,
)
# No measurement unless a record has it.
_PERHAPS_BEFORE = re.compile(
    r"\b(?:window|seed|batch|chunk|block|buffer|cache|tile|period|threshold|requirement|requires?|needs?"
    r"|wait(?:ed|s)?|cap|limit|level|confidence|duration|sampl(?:ed|ing)(?: every| at)?|capacity|spec|rated"
    r"|nominal|size)(?:\s+(?:of|is|was|to|at|for|size|length|a|an|the|about))*\s*[=:(]?\s*$"
    r"|\b(?:after|per|for)\s+(?:a |an |the |another )?$",
    re.IGNORECASE,
)
_SETTING_AFTER = re.compile(
    r"[ -]+(?:time-?out|warm-?up|cool-?down|interval|sleep|window|budget|slo|sla|target|deadline|goal|pages?"
    r"|huge ?pages?|confidence|ci|credible|significance|polling|prediction interval)\b",
    re.IGNORECASE,
)
_PERHAPS_AFTER = re.compile(
    r"[ -]+(?:buffers?|blocks?|chunks?|caches?|cards?|tiles?|of swap|swap|limit|cap|threshold|quantile"
    r"|percentile|of (?:warm-?up|sleep)|l[12]|shared memory|smem|model|file|dataset|prompt|context)\b",
    re.IGNORECASE,
)
_HARDWARE = re.compile(
    r"\b(?:[ABHLTVBP]\d{2,3}|GH200|GB[23]00|MI\d{3}\w*|RTX ?\d{4}|GTX ?\d{4}|Jetson|EPYC|Xeon|NVLink|PCIe"
    r"|HBM[23]e?|DDR[45]|GDDR\dX?|InfiniBand|NVMe|SSD|GPU cloud|DGX)\b",
)
_ELSEWHERE = re.compile(
    r"\b(?:claim(?:s|ed|ing)?|according to(?! *[\[(]*\x01)|report(?:s|ed)? (?:in|by)(?! *[\[(]*\x01)|papers?|upstream reports?"
    r"|documentation|datasheets?|data sheet|spec(?:ification|sheet)?s?|vendors?|advertis\w+|theoretical(?:ly)?"
    r"|nominal(?:ly)?|expect(?:s|ed|ing)?|should|would|could|might|aim(?:s|ed|ing)?|goal|target(?:s|ed|ing)?"
    r"|hop(?:e|es|ed|ing)|estimat\w+|projected|projection|predict\w+|blog|published|literature|we want|roofline"
    r"|previous(?:ly)? (?:pr|claimed|reported|measured)|anecdotal\w*|in theory|ideal(?:ly)?|upper bound)\b",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"^\W*(?:over|during|for|within|in|after)\s+(?:(?:a|the|about|another)\s+)*(?:(?:last|first|past|next)\s+)?$",
    re.IGNORECASE,
)
_HOPED = re.compile(r"\b(?:would|could|might|should)\b[^.;,]{0,40}$", re.IGNORECASE)
_DENIED = re.compile(r"\bnot\s+(?:(?:about|the|just|only)\s+)*$", re.IGNORECASE)
_REACH = 40


def is_setting(document: Document, quantity: Quantity) -> bool:
    """Tell a timeout, a warm-up, a target, a confidence level: no measurement, whatever its value."""
    before, after = _around(document, quantity)
    return bool(_SETTING_BEFORE.search(before) or _SETTING_AFTER.match(after))


def may_be_setting(document: Document, quantity: Quantity) -> bool:
    """Tell a size of a cache, the memory of a card: no measurement unless a record has it."""
    before, after = _around(document, quantity)
    if _PERHAPS_BEFORE.search(before) or _PERHAPS_AFTER.match(after):
        return True
    return quantity.unit is not None and (
        quantity.unit.dimension in ("bytes", "bytes/s", "flop/s", "power")
        and _beside_hardware(before, after)
    )


def _around(document: Document, quantity: Quantity) -> tuple[str, str]:
    text = document.text
    before = text[max(0, quantity.start - _REACH) : quantity.start]
    return before, text[quantity.end : quantity.end + _REACH]


def _beside_hardware(before: str, after: str) -> bool:
    """Tell `an 80 GB A100` and `H200 (141 GB)`."""
    near_left = re.search(r"([\w-]+(?: [\w-]+)?)\s*[\s(/,-]*$", before)
    near_right = re.match(r"[\s/-]*([\w-]+(?: [\w-]+)?)", after)
    return bool(
        (near_left and _HARDWARE.search(near_left[1]))
        or (near_right and _HARDWARE.search(near_right[1]))
    )


def is_of_others(document: Document, passage: Passage, quantity: Quantity) -> bool:
    """Tell a number that the clause gives to somebody else, or to a hope."""
    if quantity.relation == "share":
        return False  # "65 % of the theoretical 4.8 TB/s": the share is ours
    clause = passage.clause_of(quantity.start)
    start = clause.start if clause else passage.start
    end = clause.end if clause else passage.end
    near = document.text[max(start, quantity.start - 90) : min(end, quantity.end + 40)]
    return bool(_ELSEWHERE.search(near))


def is_span(quantity: Quantity, before: str) -> bool:
    """Tell how long something was watched: a clause that begins with `over 10 minutes`."""
    unit = quantity.unit
    long = unit is not None and unit.dimension == "time" and unit.factor >= 1
    return long and bool(_SPAN.search(before))


def is_hoped(before: str) -> bool:
    """Tell a number that would, could or should be."""
    return bool(_HOPED.search(before))


def is_denied(before: str) -> bool:
    """Tell a number that the text says is not so."""
    return bool(_DENIED.search(before))


def is_no_claim(document: Document, quantity: Quantity) -> bool:
    """Tell a setting or a figure of speech, by the words beside the number alone."""
    return (
        is_setting(document, quantity) or may_be_setting(document, quantity) or is_trivial(quantity)
    )


def is_trivial(quantity: Quantity) -> bool:
    """Tell 1x, 0 % and 100 %, which without a citation are figures of speech or the baseline itself."""
    if quantity.unit is None or quantity.unit.dimension not in ("times", "share"):
        return False
    return quantity.figure.value in ((1,) if quantity.unit.dimension == "times" else (0, 100))
