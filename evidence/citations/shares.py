"""A percentage of something that the text names: `11 % of the 140 GiB`, `97 % of the cases passed`."""

import re
from collections.abc import Sequence

from . import naming
from .cited import Cited, Value
from .counts import FAILED, PASSED, counted_noun, passed_and_total
from .matching import SPREAD_TOLERANCE, rounds_to, supports
from .outcomes import Outcome, judged
from .quantities import Quantity
from .scopes import Scope
from .units import SHARE, conversion

_RATE = re.compile(r"\b(?:pass|passing|success|fail|failure)[- ]rate\b", re.IGNORECASE)
_SPREAD = re.compile(
    r"\b(?:std|stddev|cv|variation|deviation|noise|jitter|variance)\b", re.IGNORECASE
)
_REST = re.compile(r"\b(?:remaining|rest|leaving|other)\b", re.IGNORECASE)


def judge(
    quantity: Quantity, whole: Quantity | None, cited: Sequence[Cited], said: Scope
) -> Outcome | None:
    """Recompute a share of a quoted whole, or of a record's cases; None where neither is recorded."""
    assert quantity.unit is not None
    if quantity.unit.dimension != SHARE:
        return None
    if whole is not None and whole.unit is not None:
        outcome = _of_amount(quantity, whole, cited)
        if outcome:
            return outcome
    return (
        _of_spread(quantity, cited, said)
        or _of_cases(quantity, whole, cited, said)
        or _of_the_rest(quantity, cited, said)
    )


def _of_spread(quantity: Quantity, cited: Sequence[Cited], said: Scope) -> Outcome | None:
    """Find `12.34 ms ± 0.4 %` as a recorded spread over the middle of its metric."""
    assert quantity.unit is not None
    if quantity.relation != "spread" and not _SPREAD.search(said.everything()):
        return None
    for record in cited:
        for spread in record.values:
            middle = _middle(record, spread)
            if middle is None:
                continue
            share = spread.value / middle.value / quantity.unit.factor
            if rounds_to(quantity.figure, share, SPREAD_TOLERANCE):
                told = f"{spread.label} over {middle.label} is {share:.4g} %"
                shown = f"{share:.4g} %"
                return Outcome("supported", told, (spread.evidence_id,), spread.label, shown)
    return None


def _middle(record: Cited, spread: Value) -> Value | None:
    if spread.statistic not in naming.SPREADS:
        return None
    return next(
        (
            v
            for v in record.values
            if v.name == spread.name and v.statistic in naming.MIDDLE and v.value
        ),
        None,
    )


def _of_the_rest(quantity: Quantity, cited: Sequence[Cited], said: Scope) -> Outcome | None:
    """Find `the remaining 13 %` as what is left of a recorded share."""
    assert quantity.unit is not None
    if not _REST.search(said.before):
        return None
    for record in cited:
        for value in record.values:
            if value.unit.dimension == SHARE:
                rest = (1 - value.value * value.unit.factor) / quantity.unit.factor
                if supports(quantity.figure, rest):
                    told = f"{value.label} is {value.told()}, which leaves {rest:.4g} %"
                    shown = f"{rest:.4g} %"
                    return Outcome("supported", told, (value.evidence_id,), value.label, shown)
    return None


def _of_amount(quantity: Quantity, whole: Quantity, cited: Sequence[Cited]) -> Outcome | None:
    """Hold `11 % of the 140 GiB` against any recorded amount of that dimension."""
    assert whole.unit is not None
    assert quantity.unit is not None
    if not whole.figure.value:
        return None
    nearest: Outcome | None = None
    for record in cited:
        for value in record.values:
            factor = conversion(whole.unit, value.unit)
            if factor is None:
                continue
            share = value.value * factor / whole.figure.value / quantity.unit.factor
            fits = supports(quantity.figure, share)
            told = f"{value.label} is {value.told()}: {share:.4g} % of {whole.quote}"
            outcome = Outcome(
                judged(fits),
                told,
                (value.evidence_id,),
                value.label,
                f"{share:.4g} %",
            )
            if fits:
                return outcome
            if not supports(whole.figure, value.value * factor):  # the whole itself is no part
                nearest = nearest or outcome
    return nearest


def _of_cases(
    quantity: Quantity, whole: Quantity | None, cited: Sequence[Cited], said: Scope
) -> Outcome | None:
    """Hold `97 % of the cases passed` against what a record counts."""
    text = said.everything()
    spoken = text if whole is not None or not naming.kinds(said.own) else said.own
    failed, passed = FAILED.search(spoken), PASSED.search(spoken)
    if not failed and not passed:
        return None
    for record in cited:
        pair = passed_and_total(record)
        if pair is None or not pair[1].value:
            continue
        rate = _RATE.search(said.own)
        noun_named = (
            rate is not None
            or pair[1].name.split("_")[0].rstrip("s") in text.lower()
            or (whole is not None and counted_noun(whole, pair[1]))
        )
        if not noun_named and whole is None and "test" not in text.lower():
            continue
        share = pair[0].value / pair[1].value
        if failed and not passed:
            share = 1 - share
        percent = share * 100
        fits = supports(quantity.figure, percent) or (percent == quantity.figure.value)
        return Outcome(
            judged(fits),
            f"{pair[0].label} is {pair[0].told()} of {pair[1].told()}: {percent:.4g} %",
            (record.key,),
            pair[0].label,
            f"{percent:.4g} %",
        )
    return None
