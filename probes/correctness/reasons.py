"""Why this verdict: one or two plain sentences with the numbers, and the record's summary."""

from ...evidence.records import SUMMARY_LIMIT, one_line
from .compare import Compared
from .criteria import Criteria
from .divergence import KINDS
from .findings import Ruling
from .intervals import clean_bound
from .wording import count, number, percent, sentence, several, tokens

# Fewer margins than this say nothing about their noise.
_MARGINS = 20
_WORDS = {"near_tie": "near tie", "length": "in length only"}


def reason(criteria: Criteria, compared: Compared, ruling: Ruling) -> str:
    """Give the reason: what keeps a verdict away comes first, the figures after it."""
    agreement = compared.figures.agreement
    parts = [] if not agreement.n else [_headline(compared)]
    if ruling.verdict == "UNPROVEN":
        parts = ["; ".join(ruling.decisive[:2]), *parts]
    elif ruling.failed:
        parts.append("; ".join(ruling.failed[:2]))
    if agreement.diverging and not ruling.blocked:
        parts += [_classes(criteria, compared, ruling), _flips(compared)]
    if ruling.verdict == "PASS":
        parts.append(_exercised(compared))
    return " ".join(sentence(part) for part in parts if part)


def summary(compared: Compared, ruling: Ruling) -> str:
    """Give the summary: the verdict, then the same facts in one line."""
    agreement = compared.figures.agreement
    text = "" if not agreement.n else _headline(compared, short=True)
    first = ruling.decisive[:1]
    order = [*first, text] if ruling.verdict == "UNPROVEN" else [text, *first]
    return one_line(f"{ruling.verdict}: {'; '.join(p for p in order if p)}", SUMMARY_LIMIT)


def _headline(compared: Compared, *, short: bool = False) -> str:
    agreement, exercise = compared.figures.agreement, compared.figures.exercise
    if not agreement.diverging:
        what = (
            "the one sequence is" if agreement.n == 1 else f"all {count(agreement.n)} sequences are"
        )
        return (
            f"{what} identical over {several(exercise.at_risk, 'token')}"
            f" ({count(exercise.distinct())} distinct{_reach(compared)})"
        )
    verb = "diverges" if agreement.diverging == 1 else "diverge"
    text = f"{count(agreement.diverging)} of {several(agreement.n, 'sequence')} {verb}"
    if short:
        return f"{text} ({_kinds(compared)})"
    median = several(0, "token")
    first = agreement.first_median()
    if first is not None:
        median = f"{tokens(first)} token{'' if first == 1 else 's'}"
    where = "at" if agreement.diverging == 1 else "first at a median of"
    rate = (
        f" ({number(1000 * agreement.diverging / exercise.at_risk)} per 1,000 tokens at risk)"
        if exercise.at_risk
        else ""
    )
    return f"{text}, {where} {median}{rate}"


def _exercised(compared: Compared) -> str:
    """Say what a PASS rests on, and how much it leaves possible."""
    figures = compared.figures
    distinct = figures.exercise.distinct()
    what = "a divergence" if not figures.agreement.diverging else "a decisive divergence"
    bound = (
        f"{several(distinct, 'distinct sequence')} without {what} leave{'s' if distinct == 1 else ''}"
        f" up to {percent(clean_bound(distinct))} of prompts that could have one (95 % confidence)"
    )
    if not figures.agreement.diverging:
        return bound
    tested = (
        f"compared were {several(figures.exercise.at_risk, 'token')} at risk of"
        f" {several(figures.agreement.n, 'sequence')}{_reach(compared)}"
    )
    classed = figures.partings.without_tables == 0 and not figures.partings.kinds["decisive"]
    return f"{tested}; {bound}" if classed else tested


def _reach(compared: Compared) -> str:
    exercise = compared.figures.exercise
    if exercise.longest_context is not None:
        return f", longest context {count(exercise.longest_context)}"
    return f", longest {count(exercise.longest)}"


def _classes(criteria: Criteria, compared: Compared, ruling: Ruling) -> str:
    """Say what the divergences are."""
    partings = compared.figures.partings
    if partings.without_tables == partings.count:
        return ""
    one = partings.count == 1
    stopped = partings.lengths.candidate_stopped
    if partings.lengths.count == partings.count:
        text = "it differs in length only" if one else "all differ in length only"
        if stopped:
            text += f": in {several(stopped, 'pair')} the candidate chose to stop"
    elif partings.kinds["near_tie"] == partings.count:
        text = (
            f"{'it is a near tie' if one else 'all are near ties'} (gap at most"
            f" {criteria.near_tie_nats:g} nats), as rounding makes them"
        )
        if ruling.verdict == "FAIL" and criteria.criterion == "identical":
            text += "; criterion=rounding judges by that"
    else:
        text = f"by their gaps: {_kinds(compared)}"
    return text


def _flips(compared: Compared) -> str:
    """Compare the flips with how margins move where the pick stayed."""
    partings, noise = compared.figures.partings, compared.figures.noise
    median = noise.margins.quantile(0.5)
    if partings.flip_max is None or median is None or noise.margin_max is None:
        return ""
    if noise.margins.n < _MARGINS:
        return ""
    return (
        f"the largest flip is {number(partings.flip_max)} nats; margins that kept their pick move by"
        f" {number(median)} (median) to {number(noise.margin_max)}"
        f" ({several(noise.margins.n, 'position')})"
    )


def _kinds(compared: Compared) -> str:
    kinds = compared.figures.partings.kinds
    shown = []
    for kind in KINDS:
        if kinds[kind] or (kind == "decisive" and kinds["near_tie"] + kinds["ambiguous"]):
            word = _WORDS.get(kind, kind)
            plural = "s" if kind == "near_tie" and kinds[kind] != 1 else ""
            shown.append(f"{count(kinds[kind])} {word}{plural}")
    return ", ".join(shown)
