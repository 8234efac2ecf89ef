"""Whether a cited record was made at a given commit, from a clean working directory."""

from dataclasses import dataclass
from typing import Literal

from .cited import Cited

_LEAST = 7  # characters of a shortened commit


@dataclass(frozen=True, slots=True)
class CommitProblem:
    """Why a record is not of the commit asked for, or not shown to be."""

    status: Literal["other_commit", "unknown_commit"]
    why: str


def commit_problem(cited: Cited, commit: str) -> CommitProblem | None:
    """Say how a record's commit differs from the one asked for; None where it is that, clean."""
    git = cited.record.identity.git
    if git is None:
        return CommitProblem(
            "unknown_commit", "the record does not say at which commit it was made"
        )
    wanted, made = commit.lower(), git.commit.lower()
    short = min(len(wanted), len(made))
    if short < _LEAST or wanted[:short] != made[:short]:
        return CommitProblem("other_commit", f"made at commit {made[:12]}, not {wanted[:12]}")
    if git.dirty:
        return CommitProblem("other_commit", f"made at {made[:12]} with uncommitted changes")
    if git.dirty is None:
        return CommitProblem("unknown_commit", "made there, perhaps with uncommitted changes")
    return None
