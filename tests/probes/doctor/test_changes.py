from typing import Any

from perfcite.probes.doctor.changes import changes, fingerprint, flatten

BEFORE: dict[str, Any] = {
    "host": {"kernel": "6.1", "load_1min": 0.1, "memory_available_bytes": 1, "thp": "madvise"},
    "nvidia": {
        "driver": {"version": "570.86"},
        "gpus": [
            {
                "name": "H200",
                "temperature_c": 40,
                "utilization_pct": 0,
                "clock_sm_mhz": 345,
                "clock_sm_max_mhz": 1980,
                "power_limit_w": 700,
                "processes": [],
            }
        ],
    },
    "engines": {"vllm": {"version": "0.11.0"}},
    "env": {"names": []},
}


def after(**changed: object) -> dict[str, Any]:
    gpu = {**BEFORE["nvidia"]["gpus"][0], **changed}
    return {**BEFORE, "nvidia": {**BEFORE["nvidia"], "gpus": [gpu]}}


def facts(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    return [c.fact for c in changes(before, now)]


def test_readings_that_move_by_themselves_are_no_change() -> None:
    now = after(temperature_c=71, utilization_pct=99, clock_sm_mhz=1980)
    assert facts(BEFORE, now) == []
    assert fingerprint(BEFORE) == fingerprint(now)


def test_a_driver_a_limit_and_a_version_are_changes() -> None:
    now = after(power_limit_w=400)
    now["engines"] = {"vllm": {"version": "0.12.0"}}
    assert facts(BEFORE, now) == ["engines.vllm.version", "nvidia.gpus[0].power_limit_w"]
    assert fingerprint(BEFORE) != fingerprint(now)
    change = changes(BEFORE, now)[0]
    assert (change.before, change.after) == ("0.11.0", "0.12.0")


def test_another_process_is_a_change_but_no_other_machine() -> None:
    now = after(processes=[{"pid": 7, "name": "python"}])
    assert facts(BEFORE, now) != []
    assert fingerprint(BEFORE) == fingerprint(now)


def test_a_fact_that_appears_or_goes_is_a_change() -> None:
    now = {**BEFORE, "tools": {"nsys": {"version": "2026.1"}}}
    assert facts(BEFORE, now) == ["tools.nsys.version"]
    assert facts(now, BEFORE) == ["tools.nsys.version"]


def test_both_forms_of_a_fact_compare_by_value() -> None:
    known = {"host": {"governor": {"value": "performance", "state": "known", "reason": None}}}
    assert facts({"host": {"governor": "performance"}}, known) == []
    assert dict(flatten(known)) == {"host.governor": "performance"}
