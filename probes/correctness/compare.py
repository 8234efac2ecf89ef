"""Two recordings, pair by pair: read, paired, compared and added up in constant memory."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from operator import eq

from ...evidence.records import Input
from .agreement import Agreement, Exercise
from .divergence import DECISIVE_NATS, NEAR_TIE_NATS, first_difference, parted
from .feed import Feed, Tick
from .generated import Generated
from .keys import MASK, KeyIndex
from .noise import Noise
from .pairing import (
    Alignment,
    Catalogue,
    OrderDiffers,
    Pair,
    Rule,
    by_position,
    catalogue,
    in_step,
    settled,
)
from .partings import Partings
from .plain import Plain
from .side import Side
from .sources import Source


@dataclass(frozen=True)
class Limits:
    """What counts as what: gaps in nats, the tolerance that differences are counted against."""

    near_tie_nats: float = NEAR_TIE_NATS
    decisive_nats: float = DECISIVE_NATS
    logprob_tol: float | None = None
    min_prefix: float | None = None
    wants_kl: bool = False


class Comparison:
    """The figures of all pairs added so far."""

    def __init__(self, limits: Limits) -> None:
        """Start with no pair."""
        self.limits = limits
        self.reference = Side(limits.near_tie_nats)
        self.candidate = Side(limits.near_tie_nats)
        self.agreement = Agreement(limits.min_prefix)
        self.exercise = Exercise()
        self.partings = Partings()
        self.noise = Noise(limits.logprob_tol, wants_kl=limits.wants_kl)
        self.prompts_differ = 0
        self.prompts_differ_at: tuple[int, int] | None = None
        self.prompts_compared = 0

    def add(self, reference: Generated | None, candidate: Generated | None) -> None:
        """Take the next pair; None where one side has no such sequence."""
        if reference is candidate and reference is not None and reference.bare:
            self._add_same(reference)
            return
        if reference is not None:
            self.reference.add(reference)
        if candidate is not None:
            self.candidate.add(candidate)
        if reference is None or candidate is None:
            return
        if not (reference.bare or candidate.bare):
            self._compare_prompts(reference, candidate)
        left, right = reference.tokens, candidate.tokens
        longer, shorter = max(len(left), len(right)), min(len(left), len(right))
        same = left is right or left == right
        first = None if same else first_difference(left, right)
        agreeing = shorter if first is None else first
        self.exercise.add(reference, agreeing + (first is not None))
        self.noise.add(reference, candidate, agreeing)
        for side, sequence in ((self.reference, reference), (self.candidate, candidate)):
            if sequence.tables is not None:
                side.look_for_other_picks(sequence, agreeing + (first is not None))
        if not longer:
            self.agreement.add_vacuous()
        elif agreeing == longer:
            self.agreement.add_identical(longer)
        else:
            equal = agreeing + sum(map(eq, left[agreeing:], right[agreeing:]))
            self.agreement.add_parted(agreeing, equal, longer, reference.line)
            limits = self.limits
            divergence = parted(
                reference, candidate, agreeing, limits.near_tie_nats, limits.decisive_nats
            )
            self.partings.add(reference, candidate, divergence)

    def _add_same(self, sequence: Generated) -> None:
        """Take a pair of equal lines that record tokens alone: what `add` does, without the rest."""
        length = len(sequence.tokens)
        self.reference.add(sequence)
        self.candidate.add(sequence)
        self.exercise.add(sequence, length)
        if length:
            self.noise.agreeing += length
            self.agreement.add_identical(length)
        else:
            self.agreement.add_vacuous()

    def add_plain(self, lines: Plain) -> None:
        """Take many pairs of equal lines of plain ids."""
        tokens = sum(lines.lengths)
        for side in (self.reference, self.candidate):
            side.add_plain(len(lines.lengths), tokens, lines.loops, lines.varied)
        self.exercise.add_plain([h & MASK for h in lines.hashes], lines.lengths)
        self.noise.agreeing += tokens
        self.agreement.add_identical(tokens, len(lines.lengths))

    def _compare_prompts(self, reference: Generated, candidate: Generated) -> None:
        one, other = reference.prompt, candidate.prompt
        kinds = [p.partition(":")[0] for p in (one, other) if p is not None]
        comparable = len(kinds) == 2 and kinds[0] == kinds[1]
        lengths = (reference.prompt_len, candidate.prompt_len)
        self.prompts_compared += comparable
        if (comparable and one != other) or (None not in lengths and lengths[0] != lengths[1]):
            self.prompts_differ += 1
            if self.prompts_differ_at is None:
                self.prompts_differ_at = (reference.line, candidate.line)


@dataclass(frozen=True)
class Compared:
    """A finished comparison: its figures, how the pairs were found, and what was read."""

    figures: Comparison
    alignment: Alignment
    reference: Input
    candidate: Input
    same_bytes: bool
    same_source: bool

    @property
    def candidate_sequences(self) -> int:
        """All sequences of the candidate, those that no reference asked for included."""
        unread = self.alignment.only_candidate if self.alignment.order_differs else 0
        return self.figures.candidate.sequences + unread


def compare(reference: Source, candidate: Source, limits: Limits, tick: Tick) -> Compared:
    """Compare two recordings.

    Raises:
        InputError: either cannot be read, or is not what a recording must be.
    """
    try:
        return _in_step(reference, candidate, limits, tick, strict=True)
    except OrderDiffers:
        return _by_key(reference, candidate, limits, tick)


def _in_step(
    reference: Source, candidate: Source, limits: Limits, tick: Tick, *, strict: bool
) -> Compared:
    with ExitStack() as stack:
        left = stack.enter_context(closing(Feed(reference, tick)))
        right = stack.enter_context(closing(Feed(candidate, tick)))
        known = Catalogue()
        figures = Comparison(limits)
        alignment = Alignment()
        _add_up(figures, alignment, in_step(left, right, known, strict=strict))
        settled(known, figures.exercise.hashes, alignment)
        return _finished(figures, alignment, left, right)


def _by_key(reference: Source, candidate: Source, limits: Limits, tick: Tick) -> Compared:
    """Pair two recordings in different orders: list both first, then look each sequence up."""
    with ExitStack() as stack:
        feeds = [stack.enter_context(closing(Feed(s, tick))) for s in (reference, candidate)]
        ours, theirs = (catalogue(feed) for feed in feeds)
        rule = _common_rule(ours, theirs)
    if rule is None:
        compared = _in_step(reference, candidate, limits, tick, strict=False)
        compared.alignment.rule = "line"
        compared.alignment.doubts[:] = [_why_no_rule(ours, theirs)]
        return compared
    keys = theirs.ids if rule == "id" else theirs.prompts
    index = KeyIndex(keys.hashes)
    with ExitStack() as stack:
        left = stack.enter_context(closing(Feed(reference, tick)))
        lookup = stack.enter_context(closing(Feed(candidate, tick)))
        figures = Comparison(limits)
        alignment = Alignment(rule=rule, order_differs=True)
        _add_up(figures, alignment, by_position(left, lookup, rule, theirs, index))
        alignment.only_candidate = index.left
        return _finished(figures, alignment, left, feeds[1])


def _add_up(figures: Comparison, alignment: Alignment, pairs: Iterator[Pair | Plain]) -> None:
    for pair in pairs:
        if isinstance(pair, Plain):
            figures.add_plain(pair)
            continue
        reference, candidate = pair
        figures.add(reference, candidate)
        alignment.only_reference += candidate is None
        alignment.only_candidate += reference is None


def _common_rule(ours: Catalogue, theirs: Catalogue) -> Rule | None:
    if ours.ids.usable and theirs.ids.usable and ours.ids.shares_with(theirs.ids):
        return "id"
    if ours.prompts.usable and theirs.prompts.usable and ours.prompts.shares_with(theirs.prompts):
        return "prompt"
    return None


def _why_no_rule(ours: Catalogue, theirs: Catalogue) -> str:
    if ours.ids.complete and theirs.ids.complete:
        if not ours.ids.shares_with(theirs.ids):
            return (
                "the two recordings have no id in common; leave the ids out to pair by line, or"
                " record prompt_sha256"
            )
        return "ids are not unique and their order differs, so no pairing is known"
    return "ids or prompts differ from line to line and cannot be matched"


def _finished(figures: Comparison, alignment: Alignment, left: Feed, right: Feed) -> Compared:
    for feed in (left, right):
        feed.source.unchanged()
    same = left.source.same_as(right.source)
    return Compared(
        figures,
        alignment,
        left.as_input(),
        right.as_input(),
        same_bytes=left.sha256 is not None and left.sha256 == right.sha256,
        same_source=same,
    )
