"""The named peers of the selection benchmark: each ranks the blocks of one conversation for a question, best first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.data import Block

__all__ = ["PEERS", "Peer"]

_WORD = re.compile(r"\w+")


class Peer(Protocol):
    """A ranking of the blocks of one conversation."""

    def __init__(self, blocks: Sequence[Block]) -> None: ...

    def rank(self, question: str) -> list[int]:
        """Return positions of blocks, best first; blocks that share nothing may be left out."""
        ...


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

        self._index = BM25Okapi([_words(block) for block in blocks])

    def rank(self, question: str) -> list[int]:
        scores = self._index.get_scores(_WORD.findall(question.lower()))
        return _by_score([float(score) for score in scores])


class Bm25sStemmed:
    """bm25s with its English stop words and the Porter2 stemmer."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        import bm25s
        import Stemmer

        self._bm25s = bm25s
        self._stemmer = Stemmer.Stemmer("english")
        tokens = bm25s.tokenize(
            [f"{block.user}\n{block.assistant}" for block in blocks],
            stopwords="en",
            stemmer=self._stemmer,
            show_progress=False,
        )
        self._index = bm25s.BM25()
        self._index.index(tokens, show_progress=False)
        self._count = len(blocks)

    def rank(self, question: str) -> list[int]:
        tokens = self._bm25s.tokenize(question, stopwords="en", stemmer=self._stemmer, show_progress=False)
        found, scores = self._index.retrieve(tokens, k=self._count, show_progress=False)
        return [int(at) for at, score in zip(found[0], scores[0], strict=True) if score > 0]


PEERS: dict[str, type[Peer]] = {
    "recency window": RecencyWindow,
    "rank_bm25": RankBm25,
    "bm25s + stop words + stemming": Bm25sStemmed,
}


def _words(block: Block) -> list[str]:
    return _WORD.findall(f"{block.user}\n{block.assistant}".lower())


def _by_score(scores: list[float]) -> list[int]:
    return [at for at in sorted(range(len(scores)), key=lambda at: (-scores[at], at)) if scores[at] > 0]
