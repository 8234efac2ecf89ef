"""Which of several cited records is the earlier state, and which is compared with it."""

import re
from collections.abc import Sequence

from .cited import Cited
from .mentions import Mention
from .pairs import Order
from .passages import Document, Passage

_OLD = re.compile(
    r"\b(?:baseline|base|before|old|previous|prior|reference|ref|main|master|original|unoptimi[sz]ed"
    r"|naive|eager|control|stock|upstream|unpatched|was)\b",
    re.IGNORECASE,
)
_NEW = re.compile(
    r"\b(?:candidate|after|new|optimi[sz]ed|patched|patch|this pr|branch|fused|improved|now|tuned|ours"
    r"|current|opt)\b",
    re.IGNORECASE,
)
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_OF = re.compile(r"\s*(?:of|the)\b", re.IGNORECASE)  # 62 % of B, 0.6x the time of B
_MODEL = re.compile(r"\b[A-Za-z]{1,4}\d{2,4}[A-Za-z]*\b")
_NEAR = 28
_MANY = 6


def orders(
    document: Document, passage: Passage | None, position: int, cited: Sequence[Cited]
) -> list[Order]:
    """Give the pairs of records that a ratio may compare, earlier state first."""
    distinct = list({c.key: c for c in cited}.values())[:_MANY]
    if len(distinct) == 1:
        return _alone(distinct[0])
    if len(distinct) > 2:
        return [Order(one, two) for i, one in enumerate(distinct) for two in distinct[i + 1 :]] + [
            o for c in distinct for o in _alone(c)
        ]
    first, second = distinct
    if passage is None:
        return [Order(first, second)]
    return [_order(document, passage, position, first, second)]


def _alone(cited: Cited) -> list[Order]:
    """Give what one record compares: the two inputs of a comparison, or two sides of a benchmark."""
    if len(cited.inputs) == 2:
        return [Order(cited.inputs[0], cited.inputs[1])]
    return [Order(cited, cited)]


def _order(
    document: Document, passage: Passage, position: int, first: Cited, second: Cited
) -> Order:
    than = _OF.match(document.text, position, passage.end)
    than = than or _THAN.search(document.text, position, passage.end)
    if than is not None:
        compared = _by_than(document, passage, than, first, second)
        if compared is not None:
            return compared
    one, two = _role(document, passage, first), _role(document, passage, second)
    if one != two and (one == "new" or two == "old"):
        return Order(second, first)
    if one != two:
        return Order(first, second)
    newer_first = first.record.created_at > second.record.created_at
    return Order(first, second, sure=than is None and not newer_first)


def _by_than(
    document: Document, passage: Passage, than: re.Match[str], first: Cited, second: Cited
) -> Order | None:
    """Read `A is 1.8x faster than B`: B is what is compared with; None where the words do not tell."""
    places = {m.key: m.start for group in passage.groups for m in group.mentions}
    one, two = places.get(first.key, -1), places.get(second.key, -1)
    if 0 <= one < than.start() < two:
        return Order(second, first)
    if 0 <= two < than.start() < one:
        return Order(first, second)
    stop = min((p for p in (one, two) if p > than.end()), default=passage.end)
    object_ = document.text[than.end() : min(stop, than.end() + 60)]
    subject = document.text[max(passage.start, than.start() - 90) : than.start()]
    for text, is_object in ((object_, True), (subject, False)):
        spoken = _spoken_of(text, first), _spoken_of(text, second)
        if spoken[0] != spoken[1]:
            named, other = (first, second) if spoken[0] else (second, first)
            return Order(named, other) if is_object else Order(other, named)
    if _OLD.search(object_):
        return Order(first, second)
    if _NEW.search(object_) and _OLD.search(subject):
        return Order(second, first)
    return None


def spoken_of(document: Document, passage: Passage, cited: list[Cited], text: str) -> list[Cited]:
    """Keep those of two records that the words beside a number speak of: `baseline 8.5 ms`, `A100`.

    Only what is known of a record counts (its GPU, its arguments, a word beside its id), never the
    order in which the two are cited.
    """
    if len(cited) != 2:
        return cited
    first = document.quantities[passage.quantities[0]].start
    lead = document.text[passage.start : first]
    if all(_spoken_of(lead, c) for c in cited) or (_OLD.search(lead) and _NEW.search(lead)):
        return cited  # "H200 vs A100: 12.3 vs 19.9 ms" lists both before the numbers
    named = [_spoken_of(text, c) for c in cited]
    if named[0] != named[1]:
        return [c for c, spoken in zip(cited, named, strict=True) if spoken]
    old, new = bool(_OLD.search(text)), bool(_NEW.search(text))
    roles = [_role(document, passage, c) for c in cited]
    if old == new or set(roles) != {"old", "new"}:
        return cited
    return [c for c, role in zip(cited, roles, strict=True) if (role == "old") == old]


def _spoken_of(text: str, cited: Cited) -> bool:
    """Tell whether a text names the record's GPU or a value of its arguments."""
    gpu = cited.record.identity.gpu
    name = (gpu.name if gpu else None) or ""
    models = {m[0].lower() for m in _MODEL.finditer(name.replace("-", " "))}
    if any(m[0].lower() in models for m in _MODEL.finditer(text)):
        return True
    lowered = text.lower()
    return any(
        isinstance(v, str) and len(v) > 2 and re.search(rf"\b{re.escape(v.lower())}\b", lowered)
        for v in cited.record.tool.arguments.values()
    )


def _role(document: Document, passage: Passage, cited: Cited) -> str | None:
    """Tell whether the words beside an id, else its record's arguments, make it the old or new state."""
    for group in passage.groups:
        for mention in group.mentions:
            if mention.key == cited.key:
                role = _role_of(document, passage.start, mention, len(group.mentions) == 1)
                return role or _role_of_record(cited)
    first = document.first_mention(cited.key)
    role = _role_of(document, 0, first, False) if first else None
    return role or _role_of_record(cited)


def _role_of_record(cited: Cited) -> str | None:
    for value in cited.record.tool.arguments.values():
        if isinstance(value, str) and _OLD.fullmatch(value):
            return "old"
        if isinstance(value, str) and _NEW.fullmatch(value):
            return "new"
    return None


def _role_of(document: Document, start: int, mention: Mention, single: bool) -> str | None:
    text = document.text
    before = text[max(start, mention.start - _NEAR) : mention.start]
    before = re.split(r"[;,|.]|\x01", before)[-1]
    if _OLD.search(before) or _NEW.search(before):
        last_old = max((m.end() for m in _OLD.finditer(before)), default=-1)
        last_new = max((m.end() for m in _NEW.finditer(before)), default=-1)
        return "old" if last_old > last_new else "new"
    after = re.match(r"[\s`*]*\(?(\w+)\)?", text[mention.end : mention.end + 24])
    if after and single and text[mention.end : mention.end + 2].strip().startswith("("):
        if _OLD.fullmatch(after[1]):
            return "old"
        if _NEW.fullmatch(after[1]):
            return "new"
    return None
