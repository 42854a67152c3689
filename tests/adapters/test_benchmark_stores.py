"""The frameworks' stores behind the interface of the benchmark give back what they took, with the settings of the table."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from benchmarks.store_shelves import SHELVES, Append, Place
from benchmarks.stores import Names, Sizes, contests, said

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.store_shelves import ShelfKind

pytestmark = pytest.mark.adapters

PEERS = [kind for kind in SHELVES.values() if not kind.is_ours and not kind.server]
THREAD = Names().new()


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


def test_a_checkpointer_loses_writes_at_once_in_silence_and_the_count_tells(tmp_path: Path) -> None:
    sizes = Sizes(rounds=1, appends=1, long=1, at_once=40, contests=1)
    in_one_process = next(contests(SHELVES["LangGraph SqliteSaver"], Place(str(tmp_path)), sizes, Names()))
    assert in_one_process["lost in silence"] > 0
    assert in_one_process["kept, least"] + in_one_process["lost in silence"] == 40
