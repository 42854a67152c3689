"""The frameworks' stores behind the interface of the benchmark give back what they took, with the settings of the table."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from benchmarks.store_shelves import SHELVES, Append, Place
from benchmarks.stores import names, said

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.store_shelves import ShelfKind

pytestmark = pytest.mark.adapters

PEERS = [kind for kind in SHELVES.values() if not kind.is_ours and not kind.server]
THREAD = next(names())


@pytest.mark.parametrize("kind", PEERS, ids=[kind.name for kind in PEERS])
def test_a_peer_in_a_file_gives_back_what_it_took(tmp_path: Path, kind: ShelfKind) -> None:
    place = Place(str(tmp_path))
    assert kind.why_not(place) == ""
    messages = said(6)
    shelf = kind.open(place)
    shelf.prepare(THREAD)
    shelf.append(THREAD, messages[:3])
    shelf.write([Append(THREAD, (each,)) for each in messages[3:]])
    assert shelf.texts(THREAD) == [each.text for each in messages]
    assert shelf.newest(THREAD, 2, 4) == [each.text for each in messages[4:]]
    shelf.close()
    (file,) = tmp_path.glob("*.db")
    connection = sqlite3.connect(file)
    journal = connection.execute("PRAGMA journal_mode").fetchone()[0]
    connection.close()
    assert kind.settings.startswith({"wal": "WAL", "delete": "rollback journal"}[journal])
