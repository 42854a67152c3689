"""What the speed benchmark times: one interface for the library and its peers, the library itself, and the list of all.

Each method holds one conversation. ``ask`` is what it does for a question, ``add`` what one more turn costs until the
next question can be asked: for a peer whose index does not grow that is a rebuild.
"""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from benchmarks.embedding import MINI_LM
from gatekeeper_core import ContextGatekeeper, GatekeeperConfig
from gatekeeper_core.selection import retrieval
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.retrieval import RetrievalConfig, read_query, score_turns
from gatekeeper_core.tokens import estimate_text_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TOP = 20
"""Turns that a ranking gives back. Source: specification 3.3."""

BUDGET = 4000
"""Tokens, for everything that has a budget."""

WEIGHTS = RetrievalConfig()

SELECT, INDEX_ALONE = "gatekeeper select", "gatekeeper, index alone"


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
    """``ContextGatekeeper.select`` with its defaults, in one mode."""

    grows = True

    def __init__(self, strategy: Literal["gate", "fill"]) -> None:
        self._gatekeeper = ContextGatekeeper(BUDGET, config=GatekeeperConfig(strategy=strategy))

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
        query = read_query(question, self._index)
        texts = self._texts.__getitem__
        with specification_formula():
            best = score_turns(query, self._index, config=WEIGHTS, depth=TOP, texts=texts)[:TOP]
        return [score.turn_id for score in best]

    def add(self, user: str, assistant: str) -> None:
        self._index.add(count_terms(user), count_terms(assistant), texts=(user, assistant))
        self._texts.append((user, assistant))

    def index_bytes(self) -> int:
        return deep_size(self._index)


class TokenEstimate(Subject):
    """The library's token estimate of a text."""

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        del turns

    def ask(self, question: str) -> None:
        estimate_text_tokens(question)


def deep_size(root: object) -> int:
    """Return the bytes of an object and of everything that it alone leads to, each object once.

    Classes, functions and modules are left out.
    """
    seen: set[int] = set()
    todo: list[object] = [root]
    total = 0
    while todo:
        each = todo.pop()
        if id(each) in seen or isinstance(each, type | FunctionType | ModuleType):
            continue
        seen.add(id(each))
        total += sys.getsizeof(each)
        todo.extend(gc.get_referents(each))
    return total


class Method(NamedTuple):
    """One method of the benchmark.

    Attributes:
        name: as the tables show it.
        where: module and class of its :class:`Subject`, imported by the process that runs it alone.
        arguments: of the class.
        packages: what must be installed.
        max_turns: the longest conversation that it is given, None for any.
        adds: whether adding a turn is measured, too.
        note: stands in the table.
    """

    name: str
    where: str
    arguments: tuple[Any, ...] = ()
    packages: tuple[str, ...] = ()
    max_turns: int | None = 100_000
    adds: bool = True
    note: str = ""

    @property
    def missing(self) -> bool:
        """Whether a package that it needs is not installed."""
        return not all(_is_installed(package) for package in self.packages)

    def subject(self) -> Subject:
        """Return a new subject."""
        module, name = self.where.split(":")
        made: Subject = getattr(import_module(f"benchmarks.{module}"), name)(*self.arguments)
        return made


def _is_installed(package: str) -> bool:
    parent = package.rpartition(".")[0]
    return (not parent or _is_installed(parent)) and find_spec(package) is not None


_LANGCHAIN, _LLAMA = ("langchain_core",), ("llama_index.core", "aiosqlite", "greenlet")
_EACH = (
    Method(SELECT, "speed_methods:Gatekeeper", ("gate",), max_turns=None),
    Method(f"{SELECT}, fill", "speed_methods:Gatekeeper", ("fill",), adds=False),
    Method(INDEX_ALONE, "speed_methods:IndexAlone", max_turns=None),
    Method("LangChain trim_messages, approximate", "speed_langchain:Trim", ("approximate",), _LANGCHAIN, adds=False),
    Method(
        "LangChain trim_messages, tiktoken",
        "speed_langchain:Trim",
        ("tiktoken",),
        (*_LANGCHAIN, "tiktoken"),
        adds=False,
    ),
    Method("LangChain SummarizationMiddleware, count", "speed_langchain:Summarization", (), ("langchain",), adds=False),
    Method("LlamaIndex ChatMemoryBuffer.get", "speed_llama_index:Buffer", (), _LLAMA[:1], 1_000, False),
    Method("LlamaIndex Memory.aget / aput", "speed_llama_index:Waterfall", (), _LLAMA),
    Method("rank_bm25 query / rebuild", "speed_search:RankBm25", (), ("rank_bm25",)),
    Method("bm25s query / rebuild", "speed_search:Bm25s", (), ("bm25s", "Stemmer")),
    Method("tantivy query / commit", "speed_search:Tantivy", (), ("tantivy",), max_turns=None),
    Method("SQLite FTS5 query / insert", "speed_search:Fts5", max_turns=None),
    Method("MiniLM + cosine", "speed_search:MiniLm", (), (*MINI_LM.packages, "numpy"), max_turns=1_000),
)
TANTIVY_FILES = {
    "tantivy, its files": ("position", False),
    "tantivy without positions, its files": ("freq", False),
    "tantivy with the texts, its files": ("position", True),
}
"""Ways to set up its index: what of a word is kept, and whether the texts are stored in it, as in its tutorial."""

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *_EACH,
        Method("exhaustive scoring", "speed_exact:Exhaustive", adds=False),
        *(
            Method(name, "speed_search:TantivyOnDisk", arguments, ("tantivy",), adds=False)
            for name, arguments in TANTIVY_FILES.items()
        ),
        Method("token estimate", "speed_methods:TokenEstimate"),
        Method("tiktoken cl100k", "speed_langchain:Tiktoken", (), ("tiktoken",)),
    )
}
"""All by name; those after the timed ones serve measures of their own."""


def timed_methods(*, ours_only: bool = False) -> tuple[Method, ...]:
    """Return the methods that are timed, ours first."""
    return _EACH[:3] if ours_only else _EACH
