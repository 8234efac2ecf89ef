"""Shared fixtures: the asyncio backend, a store of one's own, the folder of handed cases."""

from pathlib import Path

import pytest

from perfcite.evidence.store import Store

CHECKOUT = Path(__file__).resolve().parent.parent
SHARED = CHECKOUT.parent / "shared"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store")


@pytest.fixture
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the folder of handed cases is not beside this checkout")
    return SHARED
