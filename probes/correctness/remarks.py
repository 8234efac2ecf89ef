"""What a reader must know before relying on a check: its limitations, most important first."""

from collections.abc import Iterator

from .compare import Compared
from .criteria import Criteria
from .findings import Control, Ruling
from .intervals import proportion
from .lengths import Lengths
from .wording import count, number, percent, sentence, several

# Above this share of tokens that repeat one of their own sequence, text is mostly loops.
_LOOPING = 0.8


def remarks(
    criteria: Criteria, compared: Compared, control: Control | None, ruling: Ruling
) -> list[str]:
    """Give one plain sentence or two for each thing."""
    found = [*_same(compared), *_sample(criteria, compared)]
    if compared.figures.agreement.diverging:
        found += [*_causes(compared), *_missing_tables(compared, ruling)]
    found += [*_control(criteria, compared, control), *_noise(compared)]
    found += [*_recordings(criteria, compared), *_pairing(compared), *_scope(compared)]
    found += [sentence(text) for text in ruling.aside]
    return list(dict.fromkeys(found))


def _same(compared: Compared) -> Iterator[str]:
    if not compared.figures.agreement.n:
        return
    if compared.same_source and compared.reference.path is not None:
        yield "The same file stands on both sides: this shows only that it equals itself."
    elif compared.same_bytes:
        yield (
            "The two files hold the same bytes: a copy, or a run that is bit for bit the same;"
            " nothing here tells which."
        )


def _sample(criteria: Criteria, compared: Compared) -> Iterator[str]:
    agreement, exercise = compared.figures.agreement, compared.figures.exercise
    if agreement.vacuous:
        yield (
            f"{several(agreement.vacuous, 'pair')} of two empty sequences"
            f" {'is' if agreement.vacuous == 1 else 'are'} no evidence (vacuous) and left out of"
            " every figure."
        )
    if not agreement.n:
        return
    threshold = criteria.prefix_threshold
    if threshold is not None and threshold < 1 and agreement.below and agreement.worst:
        worst, line, index = agreement.worst
        yield (
            f"The mean hides {count(agreement.below)} of {several(agreement.n, 'sequence')} below"
            f" {percent(threshold)}: the worst, line {line}, parts at token {index} (minimum"
            f" {percent(worst)})."
        )
    if threshold is not None and threshold < 1 and agreement.diverging:
        yield (
            "Prefix agreement falls with max_tokens: compare thresholds only between runs of the"
            " same length; divergences per 1,000 tokens do not depend on it."
        )
    distinct = exercise.distinct()
    if distinct < agreement.n:
        yield (
            f"Only {several(distinct, 'distinct sequence')} among {count(agreement.n)} pairs:"
            f" repeats are one sample, so every bound is for n = {count(distinct)}."
        )
    if agreement.n == 1:
        low, high = proportion(agreement.identical, 1)
        yield (
            "A single sequence: the 95 % interval of the exact-match rate is"
            f" {percent(low)} to {percent(high)}."
        )


def _causes(compared: Compared) -> Iterator[str]:
    """Name what all divergences have in common, where it is no kernel's doing."""
    figures = compared.figures
    partings, diverging = figures.partings, figures.agreement.diverging
    yield from _length_causes(partings.lengths, diverging)
    if partings.no_common_token and diverging == figures.agreement.n:
        yield "No token id is in common: a different tokenizer or model?"
    if partings.echoed == diverging:
        yield (
            "Each longer sequence ends with the whole other one: one side includes the prompt"
            " (echo, return_full_text)?"
        )
    if partings.same_text:
        yield (
            f"{several(partings.same_text, 'pair')} have the same text but different ids: were ids"
            " made by tokenising the text again?"
        )
    if compared.alignment.rule == "line":
        strays = len(partings.strays.intersection(figures.exercise.hashes))
        if strays:
            yield (
                f"{count(strays)} of {several(diverging, 'diverging candidate sequence')} equal the"
                " reference of another line: the order may differ; record ids or prompt_sha256."
            )


def _length_causes(lengths: Lengths, diverging: int) -> Iterator[str]:
    if not lengths.count or lengths.count != diverging:
        return
    longer = "reference" if lengths.candidate_shorter else "candidate"
    shorter = "candidate" if lengths.candidate_shorter else "reference"
    one_sided = lengths.candidate_shorter in (0, lengths.count)
    surplus = lengths.last_ids + lengths.padding_ids
    if not one_sided:
        yield f"All {several(diverging, 'difference')} are in length only."
    elif len(lengths.last_ids) == 1 and lengths.last_ids.total() == diverging:
        what = "The difference is" if diverging == 1 else f"All {count(diverging)} differences are"
        yield (
            f"{what} one last token, id {next(iter(lengths.last_ids))}: the {longer} keeps the stop"
            f" token and the {shorter} does not?"
        )
    elif len(surplus) == 1 and surplus.total() == diverging:
        yield (
            f"The {longer}'s surplus is one repeated id, {next(iter(surplus))}: padded batch output"
            " (padding)?"
        )
    elif len(lengths.short_lengths) == 1 and not lengths.cut and not lengths.candidate_stopped:
        yield (
            f"Every {shorter} sequence that differs is a prefix of"
            f" {count(next(iter(lengths.short_lengths)))} tokens: a different max_tokens? Record"
            " finish_reason."
        )
    elif not lengths.candidate_stopped:
        yield f"The {shorter} ends early in {several(diverging, 'pair')}, and nothing else differs."


def _missing_tables(compared: Compared, ruling: Ruling) -> Iterator[str]:
    partings = compared.figures.partings
    said = any("top-k table" in text for text in ruling.decisive)
    if partings.without_tables and not said:
        yield (
            f"{several(partings.without_tables, 'divergence')} could not be classed: without top-k"
            " tables on both sides (top_logprobs) rounding cannot be told from a bug."
        )


def _control(criteria: Criteria, compared: Compared, control: Control | None) -> Iterator[str]:
    if control is None:
        if criteria.criterion == "rounding" and compared.figures.agreement.diverging:
            yield (
                "No control: a second reference run at another batch size or concurrency would show"
                " how much rounding alone does."
            )
        return
    other = control.compared.figures.agreement
    if not control.usable:
        yield (
            "The control says nothing: it is the reference itself, or its prompts or pairing do not"
            " match."
        )
    elif other.diverging:
        p = f", p = {control.p_value:.2g}" if control.p_value is not None else ""
        yield (
            f"The control itself diverges in {count(other.diverging)} of"
            f" {several(other.n, 'sequence')}{p}: exact agreement cannot be had here; judge by"
            " criterion=rounding."
        )
    else:
        yield (
            "The control agrees everywhere; it is a noise floor only if it varied what deployment"
            " varies (batch size, concurrency)."
        )


def _noise(compared: Compared) -> Iterator[str]:
    noise = compared.figures.noise
    step = noise.by_index.step("generated index") or noise.by_context.step("context length")
    if step is None:
        return
    decode = step.axis == "generated index" and step.start == "1-7"
    meaning = (
        "the decode path differs, prefill does not"
        if decode
        else "a block, window or cache boundary lies there"
    )
    yield (
        f"Log-probabilities start to move at {step.axis} {step.start} (median {number(step.below)}"
        f" nats before, {number(step.above)} there): {meaning}."
    )


def _recordings(criteria: Criteria, compared: Compared) -> Iterator[str]:
    for name, side in (
        ("reference", compared.figures.reference),
        ("candidate", compared.figures.candidate),
    ):
        if side.flaw and criteria.logprob_tol is None and criteria.max_kl is None:
            others = f" (and {count(side.flaws - 1)} more)" if side.flaws > 1 else ""
            yield f"Log-probabilities of the {name} left out: {side.flaw}{others}."
        for note, times in side.notes.most_common(2):
            yield f"{name.capitalize()}, {several(times, 'sequence')}: {note}."
        if side.ties_broken:
            yield (
                f"{several(side.ties_broken, 'pick')} of the {name} lie below the best of their own"
                " table, by no more than a near tie."
            )
        if side.finish["aborted"]:
            yield f"{several(side.finish['aborted'], 'sequence')} of the {name} were aborted."
        if side.looked_at and side.repeated / side.looked_at > _LOOPING and not side.loops:
            yield (
                f"{percent(side.repeated / side.looked_at)} of the {name}'s tokens repeat one of"
                " their own sequence: loops have few near ties, so they test little."
            )


def _pairing(compared: Compared) -> Iterator[str]:
    alignment = compared.alignment
    if alignment.order_differs:
        yield f"The order differs between the recordings; paired by {alignment.rule}."
    elif alignment.rule == "line" and compared.figures.agreement.n > 1:
        yield (
            "Paired by line, as there are no unique ids or prompt hashes: a lost or moved line would"
            " not be noticed."
        )


def _scope(compared: Compared) -> Iterator[str]:
    figures = compared.figures
    exercise = figures.exercise
    if not figures.agreement.n:
        return
    if not exercise.decoded and not figures.agreement.diverging:
        yield "No more than one token a sequence was compared: decoding was not exercised."
    if not figures.agreement.diverging and exercise.longest_context is None:
        yield (
            f"Prompt lengths are not recorded: the longest context is known only to be"
            f" {several(exercise.longest, 'token')} or more, and a cache bug beyond would not show."
        )
