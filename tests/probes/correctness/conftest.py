"""Small recordings written where a test asks for them, and a check of two of them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from perfcite.probes.correctness.check import Criteria, FileSource, Judgement, check

Recorder = Callable[[str, Sequence[Any] | bytes], FileSource]
Judge = Callable[..., Judgement]


@pytest.fixture
def record(tmp_path: Path) -> Recorder:
    """Write lines (objects become JSON, strings stay as they are) or raw bytes to a file."""

    def write(name: str, lines: Sequence[Any] | bytes) -> FileSource:
        path = tmp_path / name
        if isinstance(lines, bytes):
            path.write_bytes(lines)
        else:
            texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
            path.write_text("".join(f"{text}\n" for text in texts))
        return FileSource(path)

    return write


@pytest.fixture
def judge(record: Recorder) -> Judge:
    """Check a candidate's lines against a reference's."""

    def run(
        reference: Sequence[Any] | bytes,
        candidate: Sequence[Any] | bytes,
        control: Sequence[Any] | bytes | None = None,
        **criteria: Any,
    ) -> Judgement:
        return check(
            record("reference.jsonl", reference),
            record("candidate.jsonl", candidate),
            Criteria(**criteria),
            control=record("control.jsonl", control) if control is not None else None,
        )

    return run
