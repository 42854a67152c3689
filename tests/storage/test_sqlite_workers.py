"""Several processes on one thread of a SQLite store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.store_workers_contract import StoreWorkersContract

if TYPE_CHECKING:
    from pathlib import Path


class TestSQLiteWorkers(StoreWorkersContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        return str(tmp_path / "store.db")
