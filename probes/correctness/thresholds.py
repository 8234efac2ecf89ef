"""Each threshold held against its figure: met, failed, or left open with the reason."""

from .compare import Compared
from .criteria import AMBIGUOUS_SHARE, CONTROL_P, SPARE, Criteria
from .findings import Control, Ruling
from .wording import count, number, percent, several


def judge_prefix(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    """Hold the mean prefix agreement against its threshold; what max_tokens cut off blames no one."""
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


def judge_decisive(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    """Count decisive divergences; those that could not be classed may be decisive as well."""
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


def judge_rates(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    """Hold divergences, and decisive ones, per 1,000 tokens at risk against their limits."""
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


def judge_tolerance(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    """Hold the largest difference against the tolerance; every agreeing position must have one."""
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


def judge_kl(ruling: Ruling, criteria: Criteria, compared: Compared) -> None:
    """Hold the mean Kullback-Leibler divergence (a lower bound of it) against its limit."""
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


def judge_rounding(ruling: Ruling, compared: Compared, control: Control | None) -> None:
    """Look for what rounding cannot do, and for what is too doubtful to call rounding."""
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


def _unclassed(compared: Compared) -> str:
    partings = compared.figures.partings
    unknown = partings.kinds["unknown"]
    if partings.without_tables:
        return (
            f"{several(partings.without_tables, 'divergence')} without a top-k table on both sides:"
            " rounding cannot be told from a bug; record top_logprobs"
        )
    return (
        f"in {several(unknown, 'divergence')} a pick lies outside the other side's top-k, so the gap"
        " is not known; record more top_logprobs"
    )
