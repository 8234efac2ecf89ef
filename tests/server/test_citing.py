import shutil
from pathlib import Path

import pytest

from perfcite.evidence.bundle import export, lineage
from perfcite.evidence.errors import InputError
from perfcite.evidence.store import Store
from perfcite.server.citing import CiteArguments, check_citations
from perfcite.server.definition import Answer

from .test_commandline import perfcite
from .test_lookup import session

GOOD = "Median latency is 12.34 ms [ev_k4tjimcqqdbwpbfb]."
BAD = "Median latency is 11.34 ms [ev_k4tjimcqqdbwpbfb]."
LOOSE = "It takes 3 ms."
LOST = "Latency is 12.34 ms [ev_k4tjimcqqdbwpbfc]."
DAMAGED = "Latency is 0.84 ms [ev_ocbs77gcdq7ah6zb]."


@pytest.fixture
def handed(shared: Path, tmp_path: Path) -> Store:
    shutil.copytree(shared / "cases/citations/store", tmp_path / "store")
    return Store.open(tmp_path / "store")


async def cite(store: Store, text: str, **more: object) -> Answer:
    arguments = CiteArguments.model_validate({"text": text, **more})
    return await check_citations(arguments, session(store))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "verdict", "status"),
    [
        (GOOD, "PASS", 0),
        (BAD, "FAIL", 1),
        (LOOSE, "UNPROVEN", 3),
        (LOST, "FAIL", 1),
        (DAMAGED, "FAIL", 1),
        ("Nothing is claimed here.", None, 0),
    ],
)
async def test_the_verdict_is_that_of_the_contract(
    handed: Store, text: str, verdict: str | None, status: int
) -> None:
    answer = await cite(handed, text)
    assert answer.structured.get("verdict") == verdict
    assert answer.exit_code == status
    assert answer.stored is not None
    assert handed.problem(answer.stored.evidence_id) is None


@pytest.mark.anyio
async def test_unsupported_numbers_can_be_allowed(handed: Store) -> None:
    answer = await cite(handed, LOOSE, allow_unsupported=True)
    assert answer.exit_code == 0
    assert "verdict" not in answer.structured


@pytest.mark.anyio
async def test_the_right_value_is_told(handed: Store) -> None:
    claims = (await cite(handed, BAD)).structured["data"]["claims"]
    assert claims[0]["verdict"] == "contradicted"
    assert "12.34" in claims[0]["recorded"]


@pytest.mark.anyio
async def test_our_own_phrases_are_all_supported(handed: Store) -> None:
    from perfcite.evidence.citing import phrase

    for identifier in list(handed.ids()):
        if handed.problem(identifier) is not None:
            continue
        record = handed.load(identifier).record
        for metric in record.metrics:
            cited = phrase(metric, identifier)
            if cited is None or metric.unit in ("1", "count", "ratio"):
                continue
            answer = await cite(handed, f"The {metric.name} {metric.statistic} is {cited}.")
            assert answer.structured["verdict"] == "PASS", (cited, answer.text)


@pytest.mark.anyio
async def test_text_and_path_exclude_each_other(handed: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="either text or path"):
        await cite(handed, GOOD, path=str(tmp_path / "x"))
    with pytest.raises(InputError, match="either text or path"):
        await check_citations(CiteArguments(), session(handed))
    (tmp_path / "binary").write_bytes(b"\0\1\2")
    for wrong, named in (("none", "no such file"), ("", "directory"), ("binary", "binary")):
        with pytest.raises(InputError, match=named):
            await check_citations(CiteArguments(path=str(tmp_path / wrong)), session(handed))


def test_the_command_gates_and_annotates(handed: Store, tmp_path: Path) -> None:
    (tmp_path / "pr.md").write_text(f"{GOOD}\n{BAD}\n{LOOSE}\n")
    done = perfcite(tmp_path, "cite", str(tmp_path / "pr.md"))
    assert done.returncode == 1
    assert "contradicted" in done.stdout
    done = perfcite(tmp_path, "cite", str(tmp_path / "pr.md"), "--format", "github")
    assert done.returncode == 1
    assert "::error file=" in done.stdout
    assert ",line=2," in done.stdout
    (tmp_path / "ok.md").write_text(f"{GOOD}\n{LOOSE}\n")
    done = perfcite(tmp_path, "cite", str(tmp_path / "ok.md"), "--format", "github")
    assert done.returncode == 0


def test_a_reviewer_checks_against_an_export(handed: Store, tmp_path: Path) -> None:
    (tmp_path / "pr.md").write_text(GOOD)
    records = lineage(handed, ["ev_k4tjimcqqdbwpbfb"])
    export(handed, records, tmp_path / "cited.tar", with_artifacts=False)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = perfcite(
        elsewhere, "cite", str(tmp_path / "pr.md"), "--records", str(tmp_path / "cited.tar")
    )
    assert done.returncode == 0, done.stderr
    assert "nothing was kept" in done.stdout
    assert not (elsewhere / "store").exists()
