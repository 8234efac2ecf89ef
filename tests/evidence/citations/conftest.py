"""A store with records to cite, made once, and the handed one as a copy."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from perfcite.evidence.citations.check import CitationResult, check_citations
from perfcite.evidence.store import Store
from tests.conftest import SHARED
from tests.evidence.citations.library import fill


class Shelf:
    """A store and the names that texts use for its records."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.open(folder)
        self.ids = fill(self.store, folder)

    def put(self, text: str) -> str:
        """Write the ids into a text that names records as `{base}`."""
        for name, identifier in self.ids.items():
            text = text.replace("{" + name + "}", identifier)
        return text

    def check(self, text: str, **options: Any) -> CitationResult:
        return check_citations(self.put(text), self.store, **options)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return Shelf(tmp_path_factory.mktemp("shelf"))


@pytest.fixture(scope="session")
def handed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, list[dict[str, Any]]]:
    """The handed sentences and a copy of their store, which must not be written."""
    cases = SHARED / "cases/citations"
    if not cases.is_dir():
        pytest.skip("the folder of handed cases is not beside this checkout")
    copy = tmp_path_factory.mktemp("handed") / "store"
    shutil.copytree(cases / "store", copy)
    sentences: list[dict[str, Any]] = json.loads((cases / "sentences.json").read_text())[
        "sentences"
    ]
    return Store.open(copy), sentences
