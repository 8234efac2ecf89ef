"""The table of docs/evidence.md, carried out: which edit each measure catches, and which nothing can."""

import re
from pathlib import Path

import pytest

from perfcite.evidence.ids import canonical_bytes, evidence_id
from perfcite.evidence.layout import record_key
from perfcite.evidence.seal import seal, seal_problems
from perfcite.evidence.store import Store

from .test_store import make

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence.md"


class Attacked:
    """A store with a cited record, sealed, whose line is kept elsewhere; the attacker owns the rest."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = Store.open(root)
        self.cited = self.store.save(make("the cited run"))
        self.other = self.store.save(make("an inconvenient run"))
        self.line = seal(self.store).line()

    def path(self, identifier: str) -> Path:
        return self.root / record_key(identifier)

    def overwrite(self, identifier: str, content: bytes) -> None:
        path = self.path(identifier)
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(content)

    def caught_by_id(self) -> bool:
        return self.store.problem(self.cited.evidence_id) is not None

    def caught_by_seal(self) -> bool:
        return bool(seal_problems(self.store, self.line))


@pytest.fixture
def attacked(tmp_path: Path) -> Attacked:
    return Attacked(tmp_path / "store")


def forge(attacked: Attacked, created_at: str | None = None) -> str:
    """Write a record with invented numbers under its own, right id."""
    plain = attacked.cited.plain()
    plain["metrics"][0]["value"] = 1.0
    plain["created_at"] = created_at or plain["created_at"]
    content = canonical_bytes(plain)
    attacked.overwrite(evidence_id(content), content)
    return evidence_id(content)


def reformat(attacked: Attacked) -> None:
    attacked.overwrite(attacked.cited.evidence_id, attacked.cited.content + b"\n")


def edit(attacked: Attacked) -> None:
    changed = attacked.cited.content.replace(b"12.3412", b"11.3412")
    attacked.overwrite(attacked.cited.evidence_id, changed)


def edit_and_move_to_the_new_id(attacked: Attacked) -> None:
    forge(attacked)
    attacked.path(attacked.cited.evidence_id).unlink()


def delete_another(attacked: Attacked) -> None:
    attacked.path(attacked.other.evidence_id).unlink()


def delete_another_and_seal_anew(attacked: Attacked) -> None:
    delete_another(attacked)
    for name in (attacked.root / "seals").iterdir():
        name.unlink()
    seal(attacked.store)


def invent_and_backdate(attacked: Attacked) -> None:
    forge(attacked, "2020-01-01T00:00:00.000000Z")


def invent_through_the_api(attacked: Attacked) -> None:
    attacked.store.save(make("a run that never happened"))


ATTACKS = {
    # what: (attack, caught by the cited id, caught by a seal's line kept elsewhere)
    "a newline added, or pretty-printed": (reformat, True, True),
    "a value edited": (edit, True, True),
    "edited and moved to its new id": (edit_and_move_to_the_new_id, True, True),
    "another record deleted": (delete_another, False, True),
    "another record deleted, seals made anew": (delete_another_and_seal_anew, False, True),
    "a record invented and backdated": (invent_and_backdate, False, True),
    "a record invented through the store's own code": (invent_through_the_api, False, False),
}


@pytest.mark.parametrize("what", ATTACKS)
def test_each_attack_is_caught_by_what_the_page_says(attacked: Attacked, what: str) -> None:
    attack, by_id, by_seal = ATTACKS[what]
    assert not attacked.caught_by_id()
    assert not attacked.caught_by_seal()
    attack(attacked)
    assert attacked.caught_by_id() is by_id
    assert attacked.caught_by_seal() is by_seal


def test_the_page_has_exactly_these_rows() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| (yes|no) \| (yes|no) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    words = {True: "yes", False: "no"}
    assert rows == [(what, words[i], words[s]) for what, (_, i, s) in ATTACKS.items()]
