"""Stores on a real server: one database for a run, emptied for each store that a test makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from gatekeeper_postgres import PostgresStore
from gatekeeper_postgres.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.servers import PostgresServer


@pytest.fixture(scope="session")
def contract_database(postgres_server: PostgresServer) -> str:
    """Where to reach a database that the contracts share."""
    return postgres_server.database()


@pytest.fixture(scope="session")
def contract_store(contract_database: str) -> Iterator[PostgresStore]:
    with PostgresStore(contract_database) as store:
        yield store


@pytest.fixture(scope="session")
def emptied(contract_database: str) -> Iterator[Callable[[], None]]:
    """A function that empties the tables of the shared database."""
    names = [name for name in TABLES if name != "context_gatekeeper"]
    with psycopg.connect(contract_database, autocommit=True) as connection:
        delete = "; ".join(f"DELETE FROM gatekeeper.{name}" for name in names)  # noqa: S608 - our own tables
        yield lambda: connection.execute(delete.encode(), prepare=False) and None


@pytest.fixture(scope="session")
def shared_database(postgres_server: PostgresServer) -> str:
    return postgres_server.database()


@pytest.fixture
def conninfo(shared_database: str) -> Iterator[str]:
    """Where to reach a database without a store, with the extension ``vector``."""
    yield shared_database
    with psycopg.connect(shared_database, autocommit=True) as connection:
        connection.execute('DROP SCHEMA IF EXISTS gatekeeper, "Other_1" CASCADE')


@pytest.fixture
def store(conninfo: str) -> Iterator[PostgresStore]:
    with PostgresStore(conninfo) as store:
        yield store
