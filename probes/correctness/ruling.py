"""From figures to a verdict: what blocks one, what fails, what stays open.

Order: what makes the two recordings incomparable comes first, for a FAIL would blame the kernel
for another prompt. Then a failed threshold is certain whatever else is missing. What is left open
keeps a PASS away. Each finding is a sentence with its numbers; the first ones become the reason.
"""

from dataclasses import dataclass, field

from ...evidence.payloads import ThresholdCheck
from ...evidence.records import Verdict
from .compare import Compared
from .criteria import AMBIGUOUS_SHARE, CONTROL_P, SPARE, Criteria
from .intervals import rise
from .settings import differing
from .wording import count, number, percent, several


@dataclass
class Ruling:
    """What speaks for which verdict."""

    blocked: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    checks: list[ThresholdCheck] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """Incomparable beats FAIL, FAIL beats what is left open."""
        if self.blocked:
            return "UNPROVEN"
        if self.failed:
            return "FAIL"
        return "UNPROVEN" if self.open else "PASS"

    @property
    def decisive(self) -> list[str]:
        """What the verdict rests on; empty for PASS."""
        return self.blocked or self.failed or self.open

    @property
    def aside(self) -> list[str]:
        """What else was found, beyond the two things that the reason has room for."""
        rest = self.decisive[2:]
        return [*rest, *self.open] if self.failed and not self.blocked else rest

    def check(self, name: str, threshold: float, measured: float | None, met: bool | None) -> None:
        """Note one threshold and whether it was met."""
        self.checks.append(
            ThresholdCheck(name=name, threshold=threshold, measured=measured, met=met)
        )


@dataclass(frozen=True)
class Control:
    """The control's comparison with the reference, and the chance of the candidate's rise."""

    compared: Compared
    usable: bool
    p_value: float | None


def rule(criteria: Criteria, compared: Compared, control: Control | None) -> Ruling:
    """Apply the criteria to the figures."""
    ruling = Ruling()
    _comparability(ruling, criteria, compared)
    agreement = compared.figures.agreement
    if not agreement.n:
        ruling.open.append(_nothing(compared))
        return ruling
    _prefix(ruling, criteria, compared)
    _decisive(ruling, criteria, compared)
    _rates(ruling, criteria, compared)
    _tolerance(ruling, criteria, compared)
    _kl(ruling, criteria, compared)
    if criteria.criterion == "rounding":
        _rounding(ruling, compared, control)
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
    comparable = control.figures.agreement.n > 0 and not (
        control.alignment.doubts or control.figures.prompts_differ
    )
    if not (varies and comparable):
        return Control(control, usable=False, p_value=None)
    p = rise(
        compared.figures.agreement.diverging,
        compared.figures.exercise.at_risk,
        control.figures.agreement.diverging,
        control.figures.exercise.at_risk,
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


def _prefix(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    threshold = criteria.prefix_threshold
    if threshold is None:
        return
    agreement = compared.figures.agreement
    mean = agreement.prefix_mean
    met = mean >= threshold - SPARE
    ruling.check("min_prefix_agreement", threshold, mean, met)
    if met:
        return
    text = f"prefix agreement {percent(mean)} is below {percent(threshold)}"
    lost = compared.figures.partings.lengths.lost_by_cut
    if (agreement.prefix_sum + lost) / agreement.n >= threshold - SPARE:
        cut = several(compared.figures.partings.lengths.cut, "sequence")
        ruling.open.append(f"{text}, but only because max_tokens cut {cut} short")
    else:
        ruling.failed.append(text)


def _decisive(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    limit = criteria.decisive_limit
    if limit is None:
        return
    kinds = compared.figures.partings.kinds
    found, unknown = kinds["decisive"], kinds["unknown"]
    met = None if found <= limit < found + unknown else found <= limit
    ruling.check("max_decisive", limit, found, met)
    if found > limit:
        nats = f"over {criteria.decisive_nats:g} nat" + ("" if criteria.decisive_nats == 1 else "s")
        allowed = f" ({count(limit)} allowed)" if limit else ""
        ruling.failed.append(
            f"{several(found, 'divergence')} {'is' if found == 1 else 'are'} decisive: a gap {nats},"
            f" which rounding does not explain{allowed}"
        )
    elif met is None:
        ruling.open.append(_unclassed(compared))


def _rates(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    figures = compared.figures
    at_risk = figures.exercise.at_risk
    kinds = figures.partings.kinds
    decisive = kinds["decisive"]
    for name, limit, least, most in (
        (
            "max_divergences_per_1k",
            criteria.max_divergences_per_1k,
            figures.agreement.diverging,
            figures.agreement.diverging,
        ),
        (
            "max_decisive_per_1k",
            criteria.max_decisive_per_1k,
            decisive,
            decisive + kinds["unknown"],
        ),
    ):
        if limit is None:
            continue
        if not at_risk:
            ruling.check(name, limit, None, None)
            ruling.open.append(f"{name} was asked for, and no token was at risk")
            continue
        rate, highest = 1000 * least / at_risk, 1000 * most / at_risk
        met = None if rate <= limit + SPARE < highest else rate <= limit + SPARE
        ruling.check(name, limit, rate, met)
        what = "divergences" if name == "max_divergences_per_1k" else "decisive divergences"
        if met is False:
            ruling.failed.append(f"{number(rate)} {what} per 1,000 tokens exceed {number(limit)}")
        elif met is None:
            ruling.open.append(_unclassed(compared))


def _tolerance(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    tolerance = criteria.logprob_tol
    if tolerance is None:
        return
    noise = compared.figures.noise
    over = noise.max is not None and noise.max > tolerance + SPARE
    complete = noise.agreeing > 0 and noise.covered == noise.agreeing
    ruling.check("logprob_tol", tolerance, noise.max, False if over else True if complete else None)
    if over and noise.max is not None:
        where = f" (line {noise.max_at[0]}, token {noise.max_at[1]})" if noise.max_at else ""
        ruling.failed.append(
            f"log-probabilities differ by up to {number(noise.max)} nats{where}, over"
            f" {number(tolerance)} at {count(noise.over)} of {count(noise.covered)} positions"
        )
    elif not noise.agreeing:
        ruling.open.append(
            "logprob_tol was asked for, but no position agrees, so it was never tested"
        )
    elif not complete:
        share = percent(noise.covered / noise.agreeing)
        ruling.open.append(
            f"logprob_tol was asked for, but only {count(noise.covered)} of"
            f" {count(noise.agreeing)} agreeing positions ({share}) have log-probabilities on both"
            " sides"
        )


def _kl(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    limit = criteria.max_kl
    if limit is None:
        return
    noise = compared.figures.noise
    mean = noise.kl_sum / noise.kl_positions if noise.kl_positions else None
    over = mean is not None and mean > limit + SPARE
    complete = noise.agreeing > 0 and noise.kl_positions == noise.agreeing
    ruling.check("max_kl", limit, mean, False if over else True if complete else None)
    if over and mean is not None:
        ruling.failed.append(
            f"the mean Kullback-Leibler divergence is at least {number(mean)} nats, over {number(limit)}"
        )
    elif not complete:
        ruling.open.append(
            f"max_kl was asked for, but only {count(noise.kl_positions)} of {count(noise.agreeing)}"
            " agreeing positions have log-probabilities on both sides"
        )


def _rounding(ruling: Ruling, compared: Compared, control: Control | None) -> None:
    partings = compared.figures.partings
    lengths, kinds = partings.lengths, partings.kinds
    if lengths.candidate_stopped:
        ruling.failed.append(
            f"in {several(lengths.candidate_stopped, 'pair')} the candidate chose to stop where the"
            " reference went on"
        )
    usable = control if control is not None and control.usable else None
    if usable and usable.p_value is not None:
        ruling.check("control_p", CONTROL_P, usable.p_value, usable.p_value >= CONTROL_P)
        if usable.p_value < CONTROL_P:
            ruling.failed.append(
                f"divergences rise over the control's (p = {usable.p_value:.2g}, below {CONTROL_P})"
            )
    if kinds["unknown"]:
        ruling.open.append(_unclassed(compared))
    if lengths.count > lengths.candidate_stopped:
        ruling.open.append(
            f"{several(lengths.count - lengths.candidate_stopped, 'pair')} differ in length only,"
            " with no gap to judge by"
        )
    if kinds["ambiguous"] > AMBIGUOUS_SHARE * partings.count and not usable:
        ruling.open.append(
            f"{count(kinds['ambiguous'])} of {several(partings.count, 'divergence')} are ambiguous,"
            f" over {percent(AMBIGUOUS_SHARE)}, and there is no control to compare with"
        )


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


def _unclassed(compared: Compared) -> str:
    partings = compared.figures.partings
    unknown = partings.kinds["unknown"]
    if partings.without_tables:
        return (
            f"{several(partings.without_tables, 'divergence')} came without top-k tables on both"
            " sides, so rounding cannot be told from a bug; record top_logprobs"
        )
    return (
        f"in {several(unknown, 'divergence')} a pick lies outside the other side's top-k, so the gap"
        " is not known; record more top_logprobs"
    )
