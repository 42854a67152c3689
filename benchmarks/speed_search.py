"""Search engines as methods of the speed benchmark: each ranks the turns of the conversation for a question.

All are given lower-case words with the runs of Han characters cut into pairs, so that each of them can find Chinese,
and all keep their index in memory. They are used as their documentation does, with their defaults.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from typing import TYPE_CHECKING, Any

from benchmarks.embedding import MINI_LM
from benchmarks.peers import terms
from benchmarks.speed_methods import TOP, Subject, deep_size

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bm25s", "Fts5", "MiniLm", "RankBm25", "Tantivy", "TantivyOnDisk"]


def _terms(user: str, assistant: str) -> list[str]:
    return terms(f"{user}\n{assistant}") or [""]


class RankBm25(Subject):
    """rank_bm25's ``BM25Okapi``; a new turn is a new index, over words that are kept."""

    def __init__(self) -> None:
        self._words: list[list[str]] = []
        self._index: Any = None

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        self._words = [_terms(*turn) for turn in turns]
        self._build()

    def _build(self) -> None:
        from rank_bm25 import BM25Okapi

        self._index = BM25Okapi(self._words)

    def ask(self, question: str) -> Sequence[int]:
        found: list[int] = self._index.get_top_n(terms(question), range(len(self._words)), n=TOP)
        return found

    def add(self, user: str, assistant: str) -> None:
        self._words.append(_terms(user, assistant))
        self._build()

    def index_bytes(self) -> int:
        return deep_size(self._index)


class Bm25s(Subject):
    """bm25s with English stop words and the Porter2 stemmer; a new turn is a new index, over words that are kept."""

    def __init__(self) -> None:
        import bm25s
        import Stemmer

        self._bm25s, self._stemmer = bm25s, Stemmer.Stemmer("english")
        self._words: list[list[str]] = []
        self._index: Any = None

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        self._words = self._tokens([" ".join(_terms(*turn)) for turn in turns])
        self._build()

    def _build(self) -> None:
        self._index = self._bm25s.BM25()
        self._index.index(self._words, show_progress=False)

    def ask(self, question: str) -> Sequence[int]:
        words = self._tokens([" ".join(terms(question))])
        found, _ = self._index.retrieve(words, k=min(TOP, len(self._words)), show_progress=False)
        return [int(at) for at in found[0]]

    def add(self, user: str, assistant: str) -> None:
        self._words += self._tokens([" ".join(_terms(user, assistant))])
        self._build()

    def _tokens(self, texts: list[str]) -> list[list[str]]:
        found: list[list[str]] = self._bm25s.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        return found

    def index_bytes(self) -> int:
        return deep_size(self._index)


class Tantivy(Subject):
    """tantivy (Rust), in memory, with its default tokenizer; the text is not stored, the turn's position is."""

    def __init__(self, kept: str = "position", stored: bool = False) -> None:
        import tantivy

        self._tantivy: Any = tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", stored=stored, index_option=kept)
        builder.add_integer_field("turn", stored=True, fast=True)
        self._schema = builder.build()
        self._turns = 0
        self._index = tantivy.Index(self._schema)
        self._writer = self._index.writer()
        self._searcher = self._index.searcher()

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        for user, assistant in turns:
            self._put(user, assistant)
        self._commit()

    def _put(self, user: str, assistant: str) -> None:
        text = " ".join(_terms(user, assistant))
        self._writer.add_document(self._tantivy.Document(text=text, turn=self._turns))
        self._turns += 1

    def _commit(self) -> None:
        self._writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()

    def ask(self, question: str) -> Sequence[int]:
        query = self._index.parse_query(" ".join(terms(question)), ["text"])
        hits = self._searcher.search(query, TOP, count=False).hits
        return [int(turn) for turn in self._searcher.fast_field_values("turn", [address for _, address in hits])]

    def add(self, user: str, assistant: str) -> None:
        self._put(user, assistant)
        self._commit()


class TantivyOnDisk(Tantivy):
    """The same in a folder, for the size of its files alone."""

    _bytes = 0

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self._index = self._tantivy.Index(self._schema, path=folder)
            self._writer = self._index.writer()
            super().load(turns)
            self._writer.wait_merging_threads()
            self._index.writer().garbage_collect_files()
            self._bytes = sum(os.path.getsize(entry.path) for entry in os.scandir(folder))

    def ask(self, question: str) -> Sequence[int]:
        del question  # it is only weighed
        return ()

    def index_bytes(self) -> int:
        return self._bytes


class Fts5(Subject):
    """SQLite's FTS5 in memory, contentless: the index alone, ranked by its bm25."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE turns USING fts5(text, content='')")
        self._turns = 0

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        rows = ((at, " ".join(_terms(*turn))) for at, turn in enumerate(turns))
        with self._database:
            self._database.executemany("INSERT INTO turns(rowid, text) VALUES (?, ?)", rows)
        self._turns = len(turns)

    def ask(self, question: str) -> Sequence[int]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(terms(question)))
        query = "SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT ?"
        return [rowid for (rowid,) in self._database.execute(query, (words, TOP))]

    def add(self, user: str, assistant: str) -> None:
        with self._database:
            row = (self._turns, " ".join(_terms(user, assistant)))
            self._database.execute("INSERT INTO turns(rowid, text) VALUES (?, ?)", row)
        self._turns += 1

    def index_bytes(self) -> int:
        pages, free, size = (
            int(self._database.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size


class MiniLm(Subject):
    """Cosine of the embeddings of all-MiniLM-L6-v2, by numpy."""

    def __init__(self) -> None:
        import numpy as np

        self._np = np
        self._vectors: Any = None

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        self._vectors = MINI_LM([f"{user}\n{assistant}" for user, assistant in turns])

    def ask(self, question: str) -> Sequence[int]:
        cosines = self._vectors @ MINI_LM([question])[0]
        return [int(at) for at in self._np.argsort(-cosines)[:TOP]]

    def add(self, user: str, assistant: str) -> None:
        self._vectors = self._np.vstack([self._vectors, MINI_LM([f"{user}\n{assistant}"])])

    def index_bytes(self) -> int:
        return int(self._vectors.nbytes)
