"""Every handed pair of recordings gets the verdict and figures that an independent oracle gives."""

import importlib.util
import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from perfcite.evidence.errors import InputError
from perfcite.evidence.records import Identity, new_record
from perfcite.probes.correctness.check import Criteria, FileSource, check

CASES = Path(__file__).parents[4] / "shared" / "cases"
EXIT = {"PASS": 0, "FAIL": 1, "UNPROVEN": 3}


def handed_cases() -> list[Any]:
    listing = CASES / "correctness" / "cases.json"
    return json.loads(listing.read_text()) if listing.exists() else []


def judged_as_a_command(case: dict[str, Any]) -> CompletedProcess[str]:
    """Run the check in this process and answer as the command line would."""
    folder = CASES / "correctness"
    arguments = {k: float(v) for k, v in case["args"].items()}
    try:
        found = check(
            FileSource(folder / case["reference"]),
            FileSource(folder / case["candidate"]),
            Criteria(**arguments),  # type: ignore[arg-type]
        )
    except InputError as error:
        return CompletedProcess([], 2, stdout="", stderr=str(error))
    record = new_record(
        kind="correctness",
        claim_class="derived",
        tool="check_correctness",
        version="0",
        arguments={},
        summary=found.summary,
        verdict=found.verdict,
        reason=found.reason,
        metrics=found.metrics,
        missing=found.missing,
        limitations=found.limitations,
        inputs=found.inputs,
        data=found.data,
        identity=Identity(),
    )
    return CompletedProcess(
        [], EXIT[found.verdict], stdout=json.dumps(record.to_plain()), stderr=""
    )


@pytest.mark.skipif(not CASES.exists(), reason="the handed cases lie beside the checkout")
@pytest.mark.parametrize("case", handed_cases(), ids=lambda case: case["name"])
def test_a_handed_case_is_judged_right(case: dict[str, Any]) -> None:
    spec = importlib.util.spec_from_file_location("cases", CASES / "run_correctness_cases.py")
    assert spec is not None
    assert spec.loader is not None
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    assert runner.check(case, judged_as_a_command(case)) == []
