"""A record's answer stands alone on both channels and stays in its budget."""

from typing import Any

import pytest

from perfcite.evidence.payloads import (
    Can,
    Capability,
    EnvironmentData,
    Finding,
    Fix,
    ProfilerProbeData,
    ProfilerResult,
)
from perfcite.evidence.records import Identity, Metric, new_record
from perfcite.evidence.store import Store
from perfcite.server.answers import BUDGETS, of_record, size_of
from perfcite.server.definition import Answer

YES = Capability(answer="yes", how="static", tool="perf", why="because " * 12)


def environment(store: Store, findings: int) -> Answer:
    found = tuple(
        Finding(
            code=f"host.finding_{n}",
            severity="warning",
            what="something is wrong with the machine in a way that takes a line to say",
            evidence=("/proc/x: 1",),
            affects=("timing",),
            fix=Fix(summary="mend it", commands=("sudo sysctl a.b=1",)),
        )
        for n in range(findings)
    )
    can = Can(
        gpu_timeline=YES,
        gpu_counters=YES,
        cpu_sampling=YES,
        cpu_hw_counters=YES,
        python_stacks=YES,
    )
    data = EnvironmentData(facts={"host": {"os": "linux"}}, findings=found, can=can)
    record = new_record(
        kind="environment",
        claim_class="observed",
        tool="doctor",
        version="0",
        arguments={},
        summary="a machine",
        data=data,
        identity=Identity(),
        metrics=[Metric(name="gpu_count", value=0, unit="count", statistic="count")],
        missing=["gpu"],
        limitations=[f"limitation number {n} " + "x" * 300 for n in range(9)],
    )
    return of_record(store.save(record))


@pytest.mark.parametrize("findings", [0, 3, 12, 60])
def test_doctors_answer_fits_whatever_was_found(store: Store, findings: int) -> None:
    answer = environment(store, findings)
    assert size_of(answer.structured) <= BUDGETS["environment"]
    assert len(answer.text.encode()) <= BUDGETS["environment"]
    assert answer.structured["data"]["counts"]["warning"] == findings


def test_what_was_cut_is_named_with_the_way_to_it(store: Store) -> None:
    answer = environment(store, 60)
    more = answer.structured["more"]
    assert more["sections"] == ["limitations", "data"]
    assert more["resource"] == f"evidence://{answer.structured['evidence_id']}"
    assert "get_evidence(" in answer.text


def test_both_channels_carry_the_same_facts(store: Store) -> None:
    answer = environment(store, 1)
    structured = answer.structured
    for fact in (
        structured["evidence_id"],
        structured["summary"],
        structured["metrics"][0]["cite_as"],
        structured["data"]["findings"][0]["code"],
        structured["data"]["findings"][0]["fix"],
        structured["missing"][0],
        structured["limitations"][0],
    ):
        assert fact in answer.text


def test_nothing_that_does_not_apply_is_sent(store: Store) -> None:
    def nulls(value: Any) -> bool:
        if isinstance(value, dict):
            return any(v is None or nulls(v) for v in value.values())
        return isinstance(value, list) and any(map(nulls, value))

    structured = environment(store, 1).structured
    assert "verdict" not in structured
    assert not nulls(structured)


def test_four_profilers_fit_with_their_causes(store: Store) -> None:
    bad = ProfilerResult(
        ran=True,
        capture_ok=False,
        error="e" * 300,
        cause="the kernel does not let this user sample " * 3,
        fix="start the container with --cap-add=PERFMON " * 4,
        returncode=1,
        seconds=1.2345,
        version="2022.4.2.1-df9881f",
        path="/usr/bin/x",
    )
    untried = bad.model_copy(update={"ran": False, "capture_ok": None})
    profilers = {"ncu": bad, "nsys": bad, "perf": untried, "py-spy": bad}
    record = new_record(
        kind="profiler_probe",
        claim_class="observed",
        tool="profiler_probe",
        version="0",
        arguments={},
        summary="profiler captures",
        data=ProfilerProbeData(profilers=profilers),
        identity=Identity(),
    )
    answer = of_record(store.save(record))
    assert size_of(answer.structured) <= BUDGETS["profiler_probe"]
    assert len(answer.text.encode()) <= BUDGETS["profiler_probe"]
    shown = answer.structured["data"]["profilers"]
    assert set(shown) == set(profilers)
    assert shown["perf"]["capture_ok"] is None
