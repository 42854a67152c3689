"""Several processes on one thread of a PostgreSQL store."""

from __future__ import annotations

import pytest

from tests.store_workers_contract import StoreWorkersContract


class TestPostgresWorkers(StoreWorkersContract):
    @pytest.fixture
    def place(self, postgres_database: str) -> str:
        return postgres_database
