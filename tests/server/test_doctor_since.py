import pytest

from perfcite.evidence.errors import InputError
from perfcite.evidence.store import Store
from perfcite.server.measuring import DoctorArguments, ProbeArguments, doctor, profiler_probe

from .test_lookup import save, session

pytestmark = pytest.mark.anyio


async def test_doctor_says_what_changed_since_a_record(store: Store) -> None:
    first = await doctor(DoctorArguments(), session(store))
    second = await doctor(DoctorArguments(since=first.structured["evidence_id"]), session(store))
    assert second.stored is not None
    data = second.stored.record.data
    assert data["since"] == first.structured["evidence_id"]
    assert isinstance(data["changes"], list)
    assert second.stored.record.inputs[0].evidence_id == first.structured["evidence_id"]


async def test_later_records_carry_the_machines_fingerprint(store: Store) -> None:
    first = await doctor(DoctorArguments(), session(store))
    later = await profiler_probe(ProbeArguments(profilers=["ncu"], timeout_s=30), session(store))
    assert first.stored is not None
    assert later.stored is not None
    assert first.stored.record.identity.fingerprint is not None
    assert later.stored.record.identity.fingerprint == first.stored.record.identity.fingerprint


async def test_since_takes_only_a_record_of_doctor(store: Store) -> None:
    with pytest.raises(InputError, match="kind generation"):
        await doctor(DoctorArguments(since=save(store)), session(store))
