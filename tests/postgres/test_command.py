"""``gatekeeper store`` on a server: the same commands, and nobody's password."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.case_files import from_file
from tests.command import MAIN
from tests.store_contract import fill
from tests.test_store_command import run
from tests.test_without_extra import run_without

if TYPE_CHECKING:
    from gatekeeper_postgres import PostgresStore

pytestmark = pytest.mark.cli


@pytest.fixture
def url(store: PostgresStore, conninfo: str) -> str:
    fill(store)
    return conninfo.replace("postgres@", "postgres:s3cret@")


def test_info_and_migrate_name_the_place_and_no_password(url: str, store: PostgresStore) -> None:
    done = run("info", url, "--json")
    shown = json.loads(done.stdout)
    assert (shown["place"], shown["messages"], shown["memories"]) == (store.place, 4, 5)
    done = run("migrate", url, "--json")
    assert json.loads(done.stdout) == {"place": store.place, "from_version": 1, "to_version": 1}
    for command in ("info", "migrate"):
        done = run(command, url)
        assert done.exit_code == 0
        assert "s3cret" not in done.output


@from_file("arguments", "words")
def test_a_store_that_is_not_there_is_one_line_and_exit_status_2(
    url: str, conninfo: str, arguments: tuple[str, ...], words: str
) -> None:
    done = run("info", url, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert "s3cret" not in done.stderr
    with psycopg.connect(conninfo) as connection:
        query = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'no%%'"
        assert connection.execute(query, ()).fetchone() == (0,)


def test_without_the_extra_the_line_that_installs_it_is_named() -> None:
    done = run_without(["psycopg", "psycopg_pool"], MAIN, "store", "info", "postgresql://127.0.0.1/chats")
    assert done.returncode == 2
    assert 'pip install "context-gatekeeper[postgres]"' in done.stderr
