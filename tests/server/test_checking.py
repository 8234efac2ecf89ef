import json
from pathlib import Path
from typing import Any

import pytest

from perfcite.evidence.artifacts import Attachment
from perfcite.evidence.errors import DamagedRecord, InputError, NotFound
from perfcite.evidence.layout import record_key
from perfcite.evidence.payloads import GenerationData
from perfcite.evidence.records import Identity, new_record
from perfcite.evidence.store import Store
from perfcite.server.checking import CheckArguments, check_correctness
from perfcite.server.definition import Answer

from .test_lookup import session

pytestmark = pytest.mark.anyio
TOKENS = ((5, 6, 7, 8), (9, 10, 11, 12))


def generation(
    store: Store, tokens: Any = TOKENS, attachment: bytes | None = None, cpu: str = "other"
) -> str:
    record = new_record(
        kind="generation",
        claim_class="observed",
        tool="record_generation",
        version="0",
        arguments={},
        summary="a generation",
        data=GenerationData(tokens=tokens),
        identity=Identity(cpu=cpu, host="host-elsewhere"),
    )
    files = [Attachment("generation.jsonl", "application/jsonl", attachment)] if attachment else []
    return store.save(record, files).evidence_id


async def check(store: Store, reference: object, candidate: object, **more: Any) -> Answer:
    arguments = CheckArguments(reference=str(reference), candidate=str(candidate), **more)
    return await check_correctness(arguments, session(store))


async def test_two_records_compare_and_lend_their_identity(store: Store) -> None:
    answer = await check(store, generation(store), generation(store, cpu="candidates"))
    assert answer.structured["verdict"] == "PASS"
    assert answer.stored is not None
    assert answer.stored.record.identity.cpu == "candidates"
    assert answer.stored.record.identity.host == "host-elsewhere"
    assert store.problem(answer.stored.evidence_id) is None


async def test_a_record_and_a_file_compare(store: Store, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text("[5,6,7,8]\n[9,10,99,12]\n")
    answer = await check(store, generation(store), tmp_path / "c.jsonl")
    assert answer.structured["verdict"] == "FAIL"
    assert answer.exit_code == 1


async def test_log_probabilities_come_from_the_artifact(store: Store) -> None:
    lines = [{"tokens": list(t), "logprobs": [-0.5] * 4} for t in TOKENS]
    artifact = "\n".join(json.dumps(line) for line in lines).encode() + b"\n"
    one, two = (generation(store, attachment=artifact + b"\n" * n) for n in range(2))
    answer = await check(store, one, two, logprob_tol=0.01)
    assert answer.structured["verdict"] == "PASS", answer.structured["reason"]


async def test_a_flat_list_of_tokens_is_one_sequence(store: Store, tmp_path: Path) -> None:
    one = store.load(generation(store)).plain()
    one["data"]["tokens"] = [5, 6, 7]
    from perfcite.evidence.ids import canonical_bytes, evidence_id

    content = canonical_bytes(one)
    store.keys.create(record_key(evidence_id(content)), content)
    (tmp_path / "c.jsonl").write_text("[5,6,7]\n")
    answer = await check(store, evidence_id(content), tmp_path / "c.jsonl")
    assert answer.structured["data"]["sequences"] == 1


async def test_damaged_evidence_is_never_a_pass_and_is_named(store: Store, tmp_path: Path) -> None:
    one, two = generation(store), generation(store)
    path = tmp_path / "store" / record_key(one)
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"a generation", b"a GENERATION"))
    for pair in ((one, two), (two, one)):
        answer = await check(store, *pair)
        assert answer.structured["verdict"] == "UNPROVEN"
        assert one in answer.structured["reason"]
        assert answer.exit_code == 3
    path.write_bytes(b"nothing like a record")
    with pytest.raises(DamagedRecord, match="tampered"):
        await check(store, one, two)


async def test_a_missing_artifact_makes_a_record_unproven(store: Store) -> None:
    artifact = b'{"tokens": [5, 6, 7, 8]}\n{"tokens": [9, 10, 11, 12]}\n'
    one, two = generation(store, attachment=artifact), generation(store)
    from perfcite.evidence.layout import blob_key

    store.keys.remove(blob_key(store.load(one).record.artifacts[0].sha256))
    answer = await check(store, one, two)
    assert answer.structured["verdict"] == "UNPROVEN"
    assert "missing" in answer.structured["reason"]


async def test_the_same_evidence_on_both_sides_proves_nothing(store: Store) -> None:
    one = generation(store)
    assert (await check(store, one, one)).structured["verdict"] == "UNPROVEN"


async def test_what_is_neither_file_nor_generation_is_refused(store: Store, tmp_path: Path) -> None:
    one = generation(store)
    answer = await check(store, one, generation(store))
    with pytest.raises(InputError, match="kind correctness and holds no generation"):
        await check(store, one, answer.structured["evidence_id"])
    with pytest.raises(NotFound, match="neither a file nor an evidence id"):
        await check(store, one, "candidate")
    with pytest.raises(NotFound):
        await check(store, one, tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="min_prefix_agreement"):
        await check(store, one, one, min_prefix_agreement=1.5)


async def test_a_control_sets_the_noise_floor(store: Store, shared: Path) -> None:
    folder = shared / "cases/correctness/smollm2"
    answer = await check(
        store,
        folder / "bf16.jsonl",
        folder / "bug_rope.jsonl",
        control=str(folder / "bf16_bs8.jsonl"),
        criterion="rounding",
    )
    assert answer.structured["verdict"] == "FAIL"
    assert "decisive" in answer.structured["reason"]
    assert answer.stored is not None
    assert len(answer.stored.record.inputs) == 3
    assert answer.stored.record.data["control"]["p_value"] is not None
