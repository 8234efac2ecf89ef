"""From figures to a verdict: what blocks one, what fails, what stays open.

Order: what makes the two recordings incomparable comes first, for a FAIL would blame the kernel
for another prompt. Then a failed threshold is certain whatever else is missing. What is left open
keeps a PASS away. Each finding is a sentence with its numbers; the first ones become the reason.
"""

from . import thresholds
from .compare import Compared
from .criteria import Criteria
from .findings import Control, Ruling
from .intervals import rise
from .settings import differing
from .wording import count, several


def rule(criteria: Criteria, compared: Compared, control: Control | None) -> Ruling:
    """Apply the criteria to the figures."""
    ruling = Ruling()
    _comparability(ruling, criteria, compared)
    agreement = compared.figures.agreement
    if not agreement.n:
        ruling.open.append(_nothing(compared))
        return ruling
    thresholds.judge_prefix(ruling, criteria, compared)
    thresholds.judge_decisive(ruling, criteria, compared)
    thresholds.judge_rates(ruling, criteria, compared)
    thresholds.judge_tolerance(ruling, criteria, compared)
    thresholds.judge_kl(ruling, criteria, compared)
    if criteria.criterion == "rounding":
        thresholds.judge_rounding(ruling, compared, control)
    if criteria.criterion == "lossy" and not criteria.declares_margin:
        ruling.open.append(
            "criterion lossy judges only against margins declared beforehand"
            " (max_divergences_per_1k, max_decisive_per_1k or max_kl), and none was given"
        )
    _evidence(ruling, criteria, compared)
    return ruling


def controlled(compared: Compared, control: Compared) -> Control:
    """Test the candidate's rate against the control's, where the control varies anything."""
    varies = not (control.same_bytes or control.same_source)
    figures = control.figures
    comparable = figures.agreement.n > 0 and not (
        control.alignment.doubts
        or figures.prompts_differ
        or figures.candidate.not_greedy
        or differing(figures.reference.settings, figures.candidate.settings)
    )
    if not (varies and comparable):
        return Control(control, usable=False, p_value=None)
    p = rise(
        compared.figures.agreement.diverging,
        compared.figures.exercise.at_risk,
        figures.agreement.diverging,
        figures.exercise.at_risk,
    )
    return Control(control, usable=True, p_value=p)


def _comparability(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    figures = compared.figures
    blocked = ruling.blocked
    if compared.same_source and compared.reference.evidence_id is not None:
        blocked.append(
            "the same evidence id stands on both sides: a recording compared with itself"
        )
    blocked.extend(f"pairing is doubtful: {doubt}" for doubt in compared.alignment.doubts)
    if figures.prompts_differ and figures.prompts_differ_at:
        line, other = figures.prompts_differ_at
        where = f"line {line}" if line == other else f"lines {line} and {other}"
        blocked.append(
            f"{several(figures.prompts_differ, 'pair')} had different prompts (first at {where}),"
            " so a difference would say nothing about the change under test"
        )
    differences = differing(figures.reference.settings, figures.candidate.settings)
    if criteria.criterion == "lossy":  # quantised weights are another model by name and hash
        differences = [d for d in differences if not d.startswith("the models")]
    if figures.prompts_compared:
        differences = [d for d in differences if not d.startswith("the prompt sets")]
    blocked.extend(differences)
    for name, side in (("reference", figures.reference), ("candidate", figures.candidate)):
        if side.not_greedy:
            blocked.append(f"the {name} was not greedy: {side.not_greedy}")
        if side.flaw and (criteria.logprob_tol is not None or criteria.max_kl is not None):
            blocked.append(f"the {name}'s log-probabilities are not sound: {side.flaw}")
    lengths = figures.partings.lengths
    if lengths.one_cap is not None and lengths.count == figures.agreement.diverging:
        side_name = "candidate" if lengths.candidate_shorter else "reference"
        blocked.append(
            f"all {several(lengths.count, 'difference')} are the {side_name}'s ending at"
            f" {count(lengths.one_cap)} tokens with finish reason length: max_tokens differs, not"
            " the model's choice"
        )


def _nothing(compared: Compared) -> str:
    figures = compared.figures
    if figures.agreement.vacuous:
        pairs = several(figures.agreement.vacuous, "pair")
        return f"nothing was compared: {pairs}, all of two empty sequences (vacuous)"
    sides = (("reference", figures.reference), ("candidate", figures.candidate))
    empty = [name for name, side in sides if not side.sequences]
    if empty:
        return f"nothing was compared: no sequence in the {' and the '.join(empty)}"
    return "nothing was compared: no reference sequence has a partner in the candidate"


def _evidence(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    """Look for what keeps a clean result from being evidence."""
    figures, alignment = compared.figures, compared.alignment
    left, right = figures.reference, figures.candidate
    if alignment.only_reference or alignment.only_candidate:
        ruling.open.append(_unmatched(compared))
    if left.loops and right.loops and not left.varied and not right.varied:
        ruling.open.append(
            "every sequence is one repeated token, as broken logits (NaN) give on both sides alike"
        )
    distinct = figures.exercise.distinct()
    if criteria.min_sequences is not None:
        met = distinct >= criteria.min_sequences
        ruling.check("min_sequences", criteria.min_sequences, distinct, met)
        if not met:
            ruling.open.append(
                f"only {several(distinct, 'distinct sequence')} of the {count(criteria.min_sequences)}"
                " asked for"
            )


def _unmatched(compared: Compared) -> str:
    alignment = compared.alignment
    left, right = compared.figures.reference.sequences, compared.candidate_sequences
    missing = [
        f"{count(number_)} {'has' if number_ == 1 else 'have'} no partner in the {side}"
        for number_, side in (
            (alignment.only_reference, "candidate"),
            (alignment.only_candidate, "reference"),
        )
        if number_
    ]
    return (
        f"{'counts differ: ' if left != right else ''}{several(left, 'reference sequence')} and"
        f" {several(right, 'candidate sequence')}; {' and '.join(missing)}, and may be the ones that"
        " crashed"
    )
