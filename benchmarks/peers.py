"""The named peers: each ranks the blocks of one conversation for a question, best first.

Chinese has no spaces: for every lexical peer a run of Han characters is cut into its pairs (a lone character stays), so
that each of them can find Chinese at all. A peer whose packages are missing has a row that says so.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.embedding import MINI_LM, MULTILINGUAL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.data import Block
    from benchmarks.embedding import SentenceModel
    from gatekeeper_core import Message

NOT_INSTALLED = "not installed"
RECIPROCAL_RANK_K = 60
"""Source: Cormack, Clarke and Büttcher 2009, "Reciprocal rank fusion outperforms Condorcet"."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_HAN_RUN = re.compile(f"[{_HAN}]+")
_TERM = re.compile(rf"[{_HAN}]+|[^\W{_HAN}]+")


class Peer(Protocol):
    """A ranking of the blocks of one conversation."""

    def rank(self, question: str) -> list[int]:
        """Return positions of blocks, best first; blocks that share nothing may be left out."""
        ...


def terms(text: str) -> list[str]:
    """Return the lower-case words of a text and the pairs of its Han characters."""
    tokens: list[str] = []
    for match in _TERM.finditer(text.lower()):
        run = match.group()
        tokens.extend(_pairs(run) if _HAN_RUN.match(run) else (run,))
    return tokens


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


class RecencyWindow:
    """The newest blocks first, whatever the question: a window buffer."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._count = len(blocks)

    def rank(self, question: str) -> list[int]:  # noqa: ARG002 - a window does not read the question
        return list(range(self._count - 1, -1, -1))


class RankBm25:
    """rank_bm25's BM25Okapi over lower-case words, as its README uses it."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        from rank_bm25 import BM25Okapi

        self._index = BM25Okapi([terms(block.text) or [""] for block in blocks])

    def rank(self, question: str) -> list[int]:
        return _by_score([float(score) for score in self._index.get_scores(terms(question))])


class Bm25sStemmed:
    """bm25s with its English stop words and the Porter2 stemmer."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        import bm25s
        import Stemmer

        self._bm25s = bm25s
        self._stemmer = Stemmer.Stemmer("english")
        self._index = bm25s.BM25()
        self._index.index(self._tokens([block.text for block in blocks]), show_progress=False)
        self._count = len(blocks)

    def rank(self, question: str) -> list[int]:
        tokens, scores = self._index.retrieve(self._tokens([question]), k=self._count, show_progress=False)
        return [int(at) for at, score in zip(tokens[0], scores[0], strict=True) if score > 0]

    def _tokens(self, texts: list[str]) -> Any:
        apart = [_HAN_RUN.sub(lambda match: f" {' '.join(_pairs(match.group()))} ", text) for text in texts]
        return self._bm25s.tokenize(apart, stopwords="en", stemmer=self._stemmer, show_progress=False)


class Cosine:
    """Cosine of the sentence embeddings of a model."""

    def __init__(self, blocks: Sequence[Block], model: SentenceModel) -> None:
        self._model = model
        self._vectors = model([block.text for block in blocks])

    def rank(self, question: str) -> list[int]:
        cosines = self._vectors @ self._model([question])[0]
        return sorted(range(len(cosines)), key=lambda at: (-round(float(cosines[at]), 6), at))


class Fusion:
    """Reciprocal rank fusion of bm25s + stop words + stemming and the cosine of a model."""

    def __init__(self, blocks: Sequence[Block], model: SentenceModel) -> None:
        self._peers: tuple[Peer, ...] = (Bm25sStemmed(blocks), Cosine(blocks, model))
        self._count = len(blocks)

    def rank(self, question: str) -> list[int]:
        return fused([peer.rank(question) for peer in self._peers], self._count)


def fused(rankings: Sequence[Sequence[int]], count: int) -> list[int]:
    """Return the reciprocal rank fusion of rankings of ``count`` things."""
    scores = [0.0] * count
    for ranking in rankings:
        for rank, at in enumerate(ranking, start=1):
            scores[at] += 1.0 / (RECIPROCAL_RANK_K + rank)
    return _by_score(scores)


def trimmer(cost: Callable[[Message], int] | None = None) -> Callable[..., list[int]]:
    """Return LangChain's ``trim_messages`` for a list that grows; it gives back the positions of what it keeps.

    Without a cost of a message LangChain counts by its own approximation.
    """
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, trim_messages

    kinds: dict[str, Any] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage, "tool": ToolMessage}
    converted: list[Any] = []

    def positions(messages: Sequence[Message], **settings: Any) -> list[int]:
        for at in range(len(converted), len(messages)):
            message = messages[at]
            more: dict[str, Any] = {}
            if message.tool_calls:
                more["tool_calls"] = [{"name": call.name, "args": {}, "id": call.id} for call in message.tool_calls]
            if message.role == "tool":
                more["tool_call_id"] = message.tool_call_id or ""
            converted.append(kinds[message.role](message.text, id=str(at), **more))
        counted: Any = (lambda some: sum(cost(messages[int(each.id)]) for each in some)) if cost else "approximate"
        kept = trim_messages(converted[: len(messages)], strategy="last", token_counter=counted, **settings)
        return [int(each.id or 0) for each in kept]

    return positions


MODEL_ALONE = MULTILINGUAL.name
FUSED = f"bm25s + {MULTILINGUAL.name}, fused"

_BM25S = ("bm25s", "Stemmer")
_TABLE: tuple[tuple[str, Callable[[Sequence[Block]], Peer], tuple[str, ...]], ...] = (
    ("recency window", RecencyWindow, ()),
    ("rank_bm25", RankBm25, ("rank_bm25",)),
    ("bm25s + stop words + stemming", Bm25sStemmed, _BM25S),
    ("MiniLM", lambda blocks: Cosine(blocks, MINI_LM), MINI_LM.packages),
    ("bm25s + MiniLM, fused", lambda blocks: Fusion(blocks, MINI_LM), (*_BM25S, *MINI_LM.packages)),
    (MODEL_ALONE, lambda blocks: Cosine(blocks, MULTILINGUAL), MULTILINGUAL.packages),
    (FUSED, lambda blocks: Fusion(blocks, MULTILINGUAL), (*_BM25S, *MULTILINGUAL.packages)),
)
PEERS = {name: make for name, make, _ in _TABLE}
_NEEDS = {name: packages for name, _, packages in _TABLE}


def missing(name: str) -> bool:
    """Return whether a package that a peer needs is not installed."""
    return any(find_spec(package) is None for package in _NEEDS[name])


def _by_score(scores: list[float]) -> list[int]:
    return [at for at in sorted(range(len(scores)), key=lambda at: (-scores[at], at)) if scores[at] > 0]
