"""``gatekeeper store``: what a file holds, whether it is whole, bringing it up to date, forgetting."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.storage.sqlite import SQLiteStore
from tests import command
from tests.storage.test_sqlite_damage import changed
from tests.store_contract import fill, seen

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.cli


run = partial(command.run, "store")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with SQLiteStore(path) as store:
        fill(store)
    return path


def test_info_counts_what_lies_in_a_store(path: Path) -> None:
    done = run("info", path, "--json")
    shown = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (shown["path"], shown["schema_version"]) == (str(path), 1)
    assert (shown["threads"], shown["messages"], shown["memories"], shown["blobs"]) == (2, 4, 5, 2)
    as_table = run("info", path)
    assert as_table.exit_code == 0
    assert "messages" in as_table.stdout


def test_a_whole_file_is_said_to_be_whole(path: Path) -> None:
    assert run("check", path).stdout == "every page is intact\n"
    assert json.loads(run("check", path, "--json").stdout) == {"path": str(path), "is_whole": True, "problems": []}


def test_damage_is_told_by_words_and_by_exit_status_1(path: Path) -> None:
    changed(path, "CREATE VIEW theirs AS SELECT * FROM messages")
    done = run("check", path)
    assert done.exit_code == 1
    assert "the tables were altered" in done.stdout
    assert done.stdout.endswith("\n1 problem\n")
    path.write_bytes(b"SQLite format 3\0" + b"x" * 5_000)
    done = run("check", path, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["is_whole"] is False


def test_an_up_to_date_file_has_nothing_to_migrate(path: Path) -> None:
    assert json.loads(run("migrate", path, "--json").stdout) == {
        "path": str(path),
        "from_version": 1,
        "to_version": 1,
    }


def test_forgetting_asks_first_and_can_be_told_not_to(path: Path) -> None:
    done = run("forget", path, "acme", "--thread", "t1", stdin="n\n")
    assert done.exit_code == 1
    with SQLiteStore(path) as store:
        assert seen(store)["messages"]["t1"] == ["m0", "m1"]
    done = run("forget", path, "acme", "--thread", "t1", "--json", stdin="y\n")
    assert done.exit_code == 0
    assert json.loads(done.stdout[done.stdout.index("{") :]) == {
        "messages": 2,
        "records": 1,
        "memories": 3,
        "blobs": 1,
        "is_purged": True,
    }
    assert json.loads(run("forget", path, "acme", "--yes", "--json").stdout)["messages"] == 2
    with SQLiteStore(path) as store:
        assert seen(store) == seen(store, "nobody")


@pytest.mark.parametrize("command", [("info",), ("check",), ("migrate",), ("forget",)])
def test_a_file_that_is_not_there_is_not_made(tmp_path: Path, command: tuple[str, ...]) -> None:
    missing = tmp_path / "missing.db"
    arguments = ("acme", "--yes") if command == ("forget",) else ()
    done = run(*command, missing, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"gatekeeper: {missing}: no store found\n"
    assert not missing.exists()


def test_what_cannot_be_done_is_one_line_and_exit_status_2(path: Path, tmp_path: Path) -> None:
    diary = tmp_path / "diary.txt"
    diary.write_text("a diary\n" * 900, encoding="utf-8")
    for arguments in (
        ("info", diary),
        ("info", ":memory:"),
        ("forget", path, "", "--yes"),
        ("forget", path, "acme", "--thread", "t1", "--user", "ann", "--yes"),
    ):
        done = run(*arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith("gatekeeper: ")
        assert done.stderr.count("\n") == 1
