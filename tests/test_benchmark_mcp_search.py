"""The benchmark of the search across chats: a hit is a needed turn, and every figure has its row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.data import Block
from benchmarks.mcp_search import BM25S, Talks, main, recall_rows
from gatekeeper_core.storage.sqlite import InMemoryStore

if TYPE_CHECKING:
    from pathlib import Path


def test_a_hit_is_a_needed_turn_in_its_own_thread() -> None:
    threads = tuple(
        (Block(("0",), "小猫", "soft"), Block(("1",), f"heron number {bird}", "yes")) for bird in ("one", "two")
    )
    queries = (("heron two", frozenset({(1, 1)})), ("heron one", frozenset({(0, 0)})), ("zebra", frozenset({(0, 0)})))
    ours, peer = recall_rows(Talks("tiny", threads, queries), {"SQLite": InMemoryStore()}, ours_only=False)
    assert (ours["search"], ours["turns"], ours["questions"]) == ("search_chats, SQLite", 4, 3)
    assert (ours["hit@1"], ours["hit@5"]) == (peer["hit@1"], peer["hit@5"]) == ("33.3 %", "33.3 %")
    assert peer["search"] == BM25S


def test_growth_has_a_row_for_each_size(tmp_path: Path) -> None:
    written = tmp_path / "mcp.json"
    main(["--sizes", "200,400", "--tenants", "2", "--json", str(written), "--folder", str(tmp_path)])
    (rows,) = json.loads(written.read_text(encoding="utf-8"))["tables"].values()
    assert [(row["database"], row["threads"], row["turns"]) for row in rows] == [("SQLite", 2, 200), ("SQLite", 4, 400)]
    for row in rows:
        assert row["index, bytes a turn"] > 0
        assert row["hit@5"] != "0 %"
