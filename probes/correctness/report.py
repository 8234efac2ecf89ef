"""The figures of a check as a record holds them: metrics with intervals, and typed data."""

from collections.abc import Iterator

from ...evidence.payloads import (
    ControlData,
    CorrectnessData,
    Exercised,
    NoiseData,
    RecordingData,
    WorstPair,
)
from ...evidence.records import Interval, Metric
from .agreement import Agreement
from .compare import Compared
from .criteria import Criteria
from .findings import Control, Ruling
from .intervals import (
    LEVEL,
    Bounds,
    bootstrap_mean,
    clean_bound,
    normal_mean,
    poisson,
    proportion,
)
from .noise import Noise
from .partings import Parted
from .side import Side


def metrics(criteria: Criteria, compared: Compared) -> Iterator[Metric]:
    """Give the contract's metrics, and those that the criteria ask for.

    Intervals are for the number of distinct sequences: repeats are one sample.
    """
    if not compared.figures.agreement.n:
        yield Metric(name="exact_match_pct", value=None, unit="%", statistic="rate", n=0)
        yield Metric(name="prefix_agreement_pct", value=None, unit="%", statistic="mean", n=0)
        return
    yield from _agreement_metrics(compared)
    yield from _rate_metrics(criteria, compared)
    yield from _difference_metrics(criteria, compared.figures.noise)


def _agreement_metrics(compared: Compared) -> Iterator[Metric]:
    agreement, sample = compared.figures.agreement, _sample(compared)
    n = agreement.n
    exact = agreement.identical / n
    yield Metric(
        name="exact_match_pct",
        value=100 * exact,
        unit="%",
        statistic="rate",
        n=n,
        interval=_interval(proportion(exact * sample, sample), 100),
    )
    yield Metric(
        name="prefix_agreement_pct",
        value=100 * agreement.prefix_mean,
        unit="%",
        statistic="mean",
        n=n,
        interval=_interval(_prefix_bounds(agreement, sample), 100),
    )
    yield Metric(
        name="positionwise_agreement_pct",
        value=100 * agreement.equal_positions / agreement.positions,
        unit="%",
        statistic="rate",
        n=agreement.positions,
    )
    median = agreement.first_median()
    if median is not None:
        yield Metric(
            name="first_divergence_index", value=median, unit="tokens", statistic="median", n=n
        )


def _rate_metrics(criteria: Criteria, compared: Compared) -> Iterator[Metric]:
    figures = compared.figures
    n, at_risk, sample = figures.agreement.n, figures.exercise.at_risk, _sample(compared)
    if not at_risk:
        return
    rates = [("divergences_per_1k", figures.agreement.diverging)]
    if criteria.max_decisive_per_1k is not None:
        rates.append(("decisive_per_1k", figures.partings.kinds["decisive"]))
    for name, events in rates:
        yield Metric(
            name=name,
            value=1000 * events / at_risk,
            unit="count",
            statistic="rate",
            n=n,
            interval=_interval(poisson(events * sample / n), 1000 / at_risk * n / sample),
        )


def _sample(compared: Compared) -> int:
    """Count independent samples: distinct sequences."""
    figures = compared.figures
    return min(figures.exercise.distinct(), figures.agreement.n) or 1


def _difference_metrics(criteria: Criteria, noise: Noise) -> Iterator[Metric]:
    if noise.max is not None or criteria.logprob_tol is not None:
        yield Metric(
            name="max_logprob_abs_diff",
            value=noise.max,
            unit="nats",
            statistic="max",
            n=noise.covered,
        )
    if noise.max is not None:
        # Quantiles come from a histogram whose bins are 0.4 % off at most (quantiles.py).
        differences = noise.by_index.total()
        for statistic, share in (("median", 0.5), ("p99", 0.99)):
            yield Metric(
                name="logprob_abs_diff",
                value=differences.quantile(share),
                unit="nats",
                statistic=statistic,
                n=differences.n,
            )
    if criteria.max_kl is not None:
        yield Metric(
            name="kl_divergence_lower_bound",
            value=noise.kl_sum / noise.kl_positions if noise.kl_positions else None,
            unit="nats",
            statistic="mean",
            n=noise.kl_positions,
        )


def data(
    criteria: Criteria, compared: Compared, control: Control | None, ruling: Ruling
) -> CorrectnessData:
    """Give the record's typed data."""
    figures, alignment = compared.figures, compared.alignment
    agreement, noise = figures.agreement, figures.noise
    return CorrectnessData(
        criterion=criteria.criterion,
        sequences=agreement.n,
        identical=agreement.identical,
        diverging=agreement.diverging,
        vacuous=agreement.vacuous,
        first_divergence=tuple(agreement.first_kept),
        divergence_histogram=agreement.histogram(),
        divergences=dict(figures.partings.kinds),
        checks=tuple(ruling.checks),
        exercised=_exercised(compared),
        reference=_recording(figures.reference, figures.reference.sequences),
        candidate=_recording(figures.candidate, compared.candidate_sequences),
        pairing={
            "rule": alignment.rule,
            "order_differs": alignment.order_differs,
            "only_reference": alignment.only_reference,
            "only_candidate": alignment.only_candidate,
        },
        positionwise_macro_pct=100 * agreement.macro if agreement.n else None,
        prefix_agreement_min_pct=_minimum(agreement),
        near_tie_density=figures.reference.near_tie_density,
        logprob_coverage=noise.covered / noise.agreeing if noise.covered else None,
        logprobs_over_tol=noise.over if criteria.logprob_tol is not None else None,
        noise=_noise(compared),
        worst=tuple(_worst(p) for p in figures.partings.worst),
        control=_control(compared, control),
    )


def _exercised(compared: Compared) -> Exercised:
    exercise, agreement = compared.figures.exercise, compared.figures.agreement
    distinct = exercise.distinct()
    clean = agreement.n > 0 and not agreement.diverging
    return Exercised(
        pairs=agreement.n,
        distinct=distinct,
        tokens_at_risk=exercise.at_risk,
        tokens_at_risk_by_index=exercise.by_bin(),
        longest_generated=exercise.longest,
        longest_context=exercise.longest_context,
        clean_bound_pct=100 * clean_bound(distinct) if clean and distinct else None,
    )


def _noise(compared: Compared) -> NoiseData | None:
    noise, partings = compared.figures.noise, compared.figures.partings
    by_index = noise.by_index.medians()
    if not by_index and partings.flip_max is None:
        return None
    step = noise.by_index.step("index") or noise.by_context.step("context")
    flips = sorted(partings.flips)
    return NoiseData(
        by_index=by_index,
        by_context=noise.by_context.medians() or None,
        flip_max=partings.flip_max,
        flip_median=(flips[(len(flips) - 1) // 2] + flips[len(flips) // 2]) / 2 if flips else None,
        margin_change_median=noise.margins.quantile(0.5),
        margin_change_max=noise.margin_max,
        margin_positions=noise.margins.n,
        starts=None
        if step is None
        else {"axis": step.axis, "bin": step.start, "below": step.below, "above": step.above},
    )


def _recording(side: Side, sequences: int) -> RecordingData:
    return RecordingData(
        sequences=sequences,
        tokens=side.tokens,
        with_logprobs=side.with_logprobs,
        with_top_logprobs=side.with_tables,
        finish=dict(side.finish),
        near_tie_density=side.near_tie_density,
    )


def _worst(parted: Parted) -> WorstPair:
    d = parted.divergence
    gaps = (d.reference_gap, d.candidate_gap)
    return WorstPair(
        id=parted.id,
        line=parted.line,
        index=d.at,
        kind=d.kind,
        tokens=(d.reference_token, d.candidate_token),
        gaps=(gaps[0].nats if gaps[0] else None, gaps[1].nats if gaps[1] else None),
        lower_bound=any(g is not None and not g.exact for g in gaps),
    )


def _control(compared: Compared, control: Control | None) -> ControlData | None:
    if control is None:
        return None
    other = control.compared.figures
    return ControlData(
        p_value=control.p_value,
        k1=compared.figures.agreement.diverging,
        k0=other.agreement.diverging,
        t1=compared.figures.exercise.at_risk,
        t0=other.exercise.at_risk,
        divergences=dict(other.partings.kinds),
        flip_max=other.partings.flip_max,
    )


def _minimum(agreement: Agreement) -> float | None:
    if agreement.worst is not None:
        return 100 * agreement.worst[0]
    return 100.0 if agreement.n else None


def _prefix_bounds(agreement: Agreement, sample: int) -> Bounds:
    """Bootstrap the mean over sequences; where all are equal, bound it by the exact-match rate."""
    if not agreement.diverging:
        return proportion(sample, sample)
    prefixes = agreement.prefixes
    if prefixes is not None:
        low, high = bootstrap_mean(prefixes, sample)
    else:
        low, high = normal_mean(agreement.prefix_mean, agreement.prefix_variance, sample)
    return max(low, 0.0), min(high, 1.0)


def _interval(bounds: Bounds, factor: float) -> Interval:
    return Interval(low=bounds[0] * factor, high=bounds[1] * factor, level=LEVEL)
