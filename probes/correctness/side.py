"""What one recording holds, collected while it is read: counts, settings, flaws, signs of trouble."""

from collections import Counter
from collections.abc import Iterable
from itertools import compress
from operator import ne

from .divergence import GAP_SLACK
from .generated import Generated
from .settings import NO_SETTINGS, Settings
from .tables import Tables

# A loop this long is a broken run (NaN logits give token 0 forever); shorter answers may repeat.
LOOP_LENGTH = 8
# A reference position whose best two tokens are closer than this can flip by rounding alone.
NEAR_TIE_DENSITY_NATS = 0.1
_SETTINGS_MAX = 32
# How many sequences are looked at for repetition; a sample is enough for a remark.
_LOOKED_AT = 200


class Side:
    """Figures of one recording; `add` takes its sequences one by one."""

    def __init__(self, near_tie_nats: float) -> None:
        """`near_tie_nats` is how far a pick may lie below the best token and still count as greedy."""
        self._near = near_tie_nats
        self.sequences = 0
        self.tokens = 0
        self.with_logprobs = 0
        self.with_tables = 0
        self.loops = 0
        self.varied = 0
        self.looked_at = 0
        self.repeated = 0
        self.finish: Counter[str] = Counter()
        self.settings: set[Settings] = set()
        self.flaws = 0
        self.flaw: str | None = None
        self.notes: Counter[str] = Counter()
        self.below_best: tuple[float, int, int] | None = None
        self.ties_broken = 0
        self.table_positions = 0
        self.near_ties = 0

    def add(self, sequence: Generated) -> None:
        """Take the next sequence."""
        tokens = sequence.tokens
        length = len(tokens)
        self.sequences += 1
        self.tokens += length
        if length >= LOOP_LENGTH:
            if tokens[0] == tokens[-1] and tokens.count(tokens[0]) == length:
                self.loops += 1
            else:
                self.varied += 1
        if self.sequences <= _LOOKED_AT:
            self.looked_at += length
            self.repeated += length - len(set(tokens))
        if not sequence.bare:
            self._add_rest(sequence)

    def add_plain(self, count: int, tokens: int, loops: int, varied: int) -> None:
        """Take `count` sequences of which only tokens were recorded."""
        self.sequences += count
        self.tokens += tokens
        self.loops += loops
        self.varied += varied

    def _add_rest(self, sequence: Generated) -> None:
        """Take what was recorded beside the tokens."""
        self.with_logprobs += sequence.logprobs is not None
        if sequence.finish is not None:
            self.finish[sequence.finish] += 1
        if sequence.settings is not NO_SETTINGS and len(self.settings) < _SETTINGS_MAX:
            self.settings.add(sequence.settings)
        if sequence.flaw is not None:
            self.flaws += 1
            self.flaw = self.flaw or f"line {sequence.line}: {sequence.flaw}"
        if sequence.notes:
            self.notes.update(sequence.notes)
        if sequence.tables is not None:
            self.with_tables += 1
            self._look_for_ties(sequence.tables)

    @property
    def not_greedy(self) -> str | None:
        """Say why the run was not greedy, if it was not."""
        recorded = next((s.not_greedy for s in self.settings if s.not_greedy), None)
        if recorded:
            return f"recorded with {recorded}"
        if self.below_best:
            nats, line, index = self.below_best
            return (
                f"token {index} of line {line} is {nats:.2g} nats below the best of its own table"
                " (sampling, a penalty, or a draft token accepted unverified)"
            )
        return None

    @property
    def near_tie_density(self) -> float | None:
        """Give the share of positions whose best two tokens are within 0.1 nats."""
        return self.near_ties / self.table_positions if self.table_positions else None

    def _look_for_ties(self, tables: Tables) -> None:
        """Count positions whose best two tokens are nearly tied."""
        gaps = [a - b for a, b in _known(zip(tables.best, tables.second, strict=True))]
        self.table_positions += len(gaps)
        self.near_ties += sum(g < NEAR_TIE_DENSITY_NATS for g in gaps)

    def look_for_other_picks(self, sequence: Generated, upto: int) -> None:
        """Look for a pick that was not the best, at the first `upto` positions: those compared."""
        tables = sequence.tables
        if tables is None:
            return
        for index in compress(range(upto), map(ne, sequence.tokens, tables.best_id)):
            best = tables.best[index]
            own = _own_value(sequence, tables, index)
            if best is None or own is None or best - own <= GAP_SLACK:
                continue
            if best - own <= self._near + GAP_SLACK:
                self.ties_broken += 1
            elif self.below_best is None or best - own > self.below_best[0]:
                self.below_best = (best - own, sequence.line, index)


def _own_value(sequence: Generated, tables: Tables, index: int) -> float | None:
    row = tables.row(index)
    own = row.get(sequence.tokens[index])
    if own is None and sequence.logprobs is not None:
        own = sequence.logprobs[index]
    return own if own is not None else min(row.values(), default=None)


def _known(
    pairs: Iterable[tuple[float | None, float | None]],
) -> Iterable[tuple[float, float]]:
    return ((a, b) for a, b in pairs if a is not None and b is not None)
