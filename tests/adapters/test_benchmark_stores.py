"""The frameworks' stores behind the interface of the benchmark give back what they took, with the settings of the table."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from benchmarks.stores import KINDS, POSTGRES, Place, entries, names

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "name", [name for name, kind in KINDS.items() if not kind.is_ours and kind.settings != POSTGRES]
)
def test_a_competitor_in_a_file_gives_back_what_it_took(tmp_path: Path, name: str) -> None:
    messages, thread = entries(6), next(names())
    shelf = KINDS[name].open(Place(str(tmp_path)))
    for part in (messages[:3], messages[3:]):
        shelf.append(thread, part)
    assert shelf.texts(thread) == [each.text for each in messages]
    shelf.close()
    (file,) = tmp_path.glob("*.db")
    connection = sqlite3.connect(file)
    journal = connection.execute("PRAGMA journal_mode").fetchone()[0]
    connection.close()
    assert KINDS[name].settings.startswith({"wal": "WAL", "delete": "rollback journal"}[journal])
