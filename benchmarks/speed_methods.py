"""Methods that the speed benchmark times: the library and its peers behind one interface.

Each holds one conversation. ``ask`` does what a question takes, ``add`` makes one more turn ready for the next
question: for a peer whose index does not grow that is a rebuild. Search engines get lower-case words with the runs of
Han characters cut into pairs, so that each of them can find Chinese, and keep their index in memory. Peers are used as
their documentation does, with their defaults.
"""

from __future__ import annotations

import gc
import sqlite3
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.peers import terms
from gatekeeper_core import ContextGatekeeper, GatekeeperConfig
from gatekeeper_core.selection import retrieval
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.retrieval import read_query, score_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TOP = 20
"""Turns that a ranking gives back. Source: specification 3.3."""

BUDGET = 4000
"""Tokens, for everything that has a budget."""

SELECT, INDEX_ALONE, TRIM = "gatekeeper select", "gatekeeper, index alone", "LangChain trim_messages, approximate"

_WEIGHTS = GatekeeperConfig()
_ACTIVE_TURNS = 100  # more than the budget holds, so that LlamaIndex's memory itself moves the oldest out
_CHUNK = 1_000  # messages in one insert


@contextmanager
def specification_formula() -> Iterator[None]:
    """Score by the specification's formula and nothing of ours for a while, a query that is not expanded."""
    weights = {f"_{part}_WEIGHT": 0.0 for part in ("NEIGHBOUR", "REACH", "SPEAKER", "MEANING")}
    before = {name: getattr(retrieval, name) for name in weights}
    vars(retrieval).update(weights)
    try:
        yield
    finally:
        vars(retrieval).update(before)


class Subject:
    """One method with one conversation."""

    grows = False
    """Whether its index is built turn by turn, so that each ``add`` of a load is timed."""

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        """Take a whole conversation."""
        for user, assistant in turns:
            self.add(user, assistant)

    def ask(self, question: str) -> Sequence[int] | None:
        """Do what a question takes; return the turns found, best first, where the method finds turns."""
        raise NotImplementedError

    def add(self, user: str, assistant: str) -> None:
        """Make one more turn ready for the next question."""
        raise NotImplementedError

    def index_bytes(self) -> int | None:
        """Return what the index takes beside the texts, or None where there is none."""
        return None


class Gatekeeper(Subject):
    """``ContextGatekeeper.select`` with its defaults."""

    grows = True

    def __init__(self) -> None:
        self._gatekeeper = ContextGatekeeper(BUDGET, config=GatekeeperConfig())

    def ask(self, question: str) -> Sequence[int]:
        return [int(turn["turn_id"]) for turn in self._gatekeeper.select(question)]

    def add(self, user: str, assistant: str) -> None:
        self._gatekeeper.add_turn(user, assistant)


class IndexAlone(Subject):
    """The index with the specification's formula alone: no gate, no topic map, none of the weights that are ours."""

    grows = True

    def __init__(self) -> None:
        self._index = TurnIndex()
        self._texts: list[tuple[str, str]] = []

    def ask(self, question: str) -> Sequence[int]:
        query, texts = read_query(question, self._index), self._texts.__getitem__
        with specification_formula():
            best = score_turns(query, self._index, config=_WEIGHTS, depth=TOP, texts=texts)[:TOP]
        return [score.turn_id for score in best]

    def add(self, user: str, assistant: str) -> None:
        self._index.add(count_terms(user), count_terms(assistant), texts=(user, assistant))
        self._texts.append((user, assistant))

    def index_bytes(self) -> int:
        return deep_size(self._index)


def deep_size(root: object) -> int:
    """Return the bytes of an object and of all that it leads to, classes, functions and modules left out."""
    visited, todo, total = set[int](), [root], 0
    while todo:
        each = todo.pop()
        if id(each) not in visited and not isinstance(each, type | FunctionType | ModuleType):
            visited.add(id(each))
            total += sys.getsizeof(each)
            todo.extend(gc.get_referents(each))
    return total


class Trim(Subject):
    """LangChain's ``trim_messages`` on the whole history and the question."""

    def __init__(self) -> None:
        from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, trim_messages

        self._trim, self._human, self._ai = trim_messages, HumanMessage, AIMessage
        self._history: list[BaseMessage] = []

    def ask(self, question: str) -> None:
        prompt: list[Any] = [*self._history, self._human(question)]
        self._trim(prompt, max_tokens=BUDGET, token_counter="approximate", start_on="human", include_system=True)  # noqa: S106

    def add(self, user: str, assistant: str) -> None:
        self._history += [self._human(user), self._ai(assistant)]


class Waterfall(Subject):
    """LlamaIndex's ``Memory`` on its default store, SQLite in memory, with its default tokenizer.

    What its limit has moved out earlier is loaded as archived; the last turns go in by ``aput_messages``.
    """

    def __init__(self) -> None:
        import asyncio

        from llama_index.core.memory import Memory
        from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

        self._run = asyncio.new_event_loop().run_until_complete
        self._store = SQLAlchemyChatStore(table_name="messages")
        limits: dict[str, Any] = {"token_limit": BUDGET, "token_flush_size": BUDGET // 10}
        self._memory = Memory.from_defaults(session_id="thread", chat_store=self._store, **limits)

    def _messages(self, turns: Sequence[tuple[str, str]]) -> list[Any]:
        from llama_index.core.base.llms.types import ChatMessage

        roles = ("user", "assistant")
        return [ChatMessage(role=role, content=text) for turn in turns for role, text in zip(roles, turn, strict=True)]

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        from llama_index.core.storage.chat_store.base_db import MessageStatus

        past = self._messages(turns[:-_ACTIVE_TURNS])
        for at in range(0, len(past), _CHUNK):
            some = past[at : at + _CHUNK]
            self._run(self._store.add_messages("thread", some, status=MessageStatus.ARCHIVED))
        self._run(self._memory.aput_messages(self._messages(turns[-_ACTIVE_TURNS:])))

    def ask(self, question: str) -> None:
        self._run(self._memory.aget(question))

    def add(self, user: str, assistant: str) -> None:
        for message in self._messages([(user, assistant)]):
            self._run(self._memory.aput(message))


def _terms(user: str, assistant: str) -> list[str]:
    return terms(f"{user}\n{assistant}") or [""]


class Bm25s(Subject):
    """bm25s with English stop words and the Porter2 stemmer; a new turn is a new index, over words that are kept."""

    def __init__(self) -> None:
        import bm25s
        import Stemmer

        self._bm25s, self._stemmer = bm25s, Stemmer.Stemmer("english")
        self._words: list[list[str]] = []
        self._index: Any = None

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        self._words += self._tokens([" ".join(_terms(*turn)) for turn in turns])
        self._index = self._bm25s.BM25()
        self._index.index(self._words, show_progress=False)

    def ask(self, question: str) -> Sequence[int]:
        words = self._tokens([" ".join(terms(question))])
        results, _ = self._index.retrieve(words, k=min(TOP, len(self._words)), show_progress=False)
        return [int(at) for at in results[0]]

    def add(self, user: str, assistant: str) -> None:
        self.load([(user, assistant)])

    def _tokens(self, texts: list[str]) -> list[list[str]]:
        options = {"stopwords": "en", "stemmer": self._stemmer, "return_ids": False, "show_progress": False}
        results: list[list[str]] = self._bm25s.tokenize(texts, **options)
        return results

    def index_bytes(self) -> int:
        return deep_size(self._index)


class Tantivy(Subject):
    """tantivy (Rust), in memory, with its default tokenizer; the text is not stored, the turn's position is."""

    def __init__(self) -> None:
        import tantivy

        self._document: Any = tantivy.Document
        builder: Any = tantivy.SchemaBuilder()
        builder.add_text_field("text", stored=False, index_option="position")
        builder.add_integer_field("turn", stored=True, fast=True)
        self._turns = 0
        self._index: Any = tantivy.Index(builder.build())
        self._writer = self._index.writer()
        self._searcher = self._index.searcher()

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        for turn in turns:
            self._writer.add_document(self._document(text=" ".join(_terms(*turn)), turn=self._turns))
            self._turns += 1
        self._writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()

    def ask(self, question: str) -> Sequence[int]:
        query = self._index.parse_query(" ".join(terms(question)), ["text"])
        hits = self._searcher.search(query, TOP, count=False).hits
        return [int(turn) for turn in self._searcher.fast_field_values("turn", [address for _, address in hits])]

    def add(self, user: str, assistant: str) -> None:
        self.load([(user, assistant)])


class Fts5(Subject):
    """SQLite's FTS5 in memory, contentless: the index alone, ranked by its bm25."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE turns USING fts5(text, content='')")
        self._turns = 0

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        rows = ((at, " ".join(_terms(*turn))) for at, turn in enumerate(turns, self._turns))
        with self._database:
            self._database.executemany("INSERT INTO turns(rowid, text) VALUES (?, ?)", rows)
        self._turns += len(turns)

    def ask(self, question: str) -> Sequence[int]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(terms(question)))
        query = "SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT ?"
        return [rowid for (rowid,) in self._database.execute(query, (words, TOP))]

    def add(self, user: str, assistant: str) -> None:
        self.load([(user, assistant)])

    def index_bytes(self) -> int:
        names = ("page_count", "freelist_count", "page_size")
        pages, free, size = (int(self._database.execute(f"PRAGMA {name}").fetchone()[0]) for name in names)
        return (pages - free) * size


class Method(NamedTuple):
    """One method: its packages, and whether it adds turns."""

    name: str
    subject: Callable[[], Subject]
    packages: tuple[str, ...] = ()
    adds: bool = True

    @property
    def missing(self) -> bool:
        """Whether a package that it needs is not installed."""
        return any(find_spec(package) is None for package in self.packages)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(SELECT, Gatekeeper),
        Method(INDEX_ALONE, IndexAlone),
        Method(TRIM, Trim, ("langchain_core",), adds=False),
        Method("LlamaIndex Memory.aget / aput", Waterfall, ("llama_index", "aiosqlite", "greenlet")),
        Method("bm25s query / rebuild", Bm25s, ("bm25s", "Stemmer")),
        Method("tantivy query / commit", Tantivy, ("tantivy",)),
        Method("SQLite FTS5 query / insert", Fts5),
    )
}
"""All by name, ours first."""
