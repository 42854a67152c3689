"""The named peers: each ranks the blocks of one conversation for a question, best first.

Chinese has no spaces: for every lexical peer a run of Han characters is cut into its pairs (a lone character stays), so
that each of them can find Chinese at all. A peer whose packages are missing has a row that says so.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.embedding import MODEL_PACKAGES, embed
from benchmarks.literal import LiteralSpecification

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.data import Block

__all__ = ["NOT_INSTALLED", "PEERS", "Peer", "missing", "terms"]

NOT_INSTALLED = "not installed"
RECIPROCAL_RANK_K = 60
"""Source: Cormack, Clarke and Büttcher 2009, "Reciprocal rank fusion outperforms Condorcet"."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_HAN_RUN = re.compile(f"[{_HAN}]+")
_TERM = re.compile(rf"[{_HAN}]+|[^\W{_HAN}]+")


class Peer(Protocol):
    """A ranking of the blocks of one conversation."""

    def __init__(self, blocks: Sequence[Block]) -> None: ...

    def rank(self, question: str) -> list[int]:
        """Return positions of blocks, best first; blocks that share nothing may be left out."""
        ...


def terms(text: str) -> list[str]:
    """Return the lower-case words of a text and the pairs of its Han characters."""
    found: list[str] = []
    for match in _TERM.finditer(text.lower()):
        run = match.group()
        found.extend(_pairs(run) if _HAN_RUN.match(run) else (run,))
    return found


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _with_pairs_apart(text: str) -> str:
    return _HAN_RUN.sub(lambda match: f" {' '.join(_pairs(match.group()))} ", text)


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
        found, scores = self._index.retrieve(self._tokens([question]), k=self._count, show_progress=False)
        return [int(at) for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    def _tokens(self, texts: list[str]) -> Any:
        return self._bm25s.tokenize(
            [_with_pairs_apart(text) for text in texts], stopwords="en", stemmer=self._stemmer, show_progress=False
        )


class MiniLm:
    """Cosine of all-MiniLM-L6-v2 sentence embeddings, a small English embedding model."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._vectors = embed([block.text for block in blocks])

    def rank(self, question: str) -> list[int]:
        cosines = self._vectors @ embed([question])[0]
        return sorted(range(len(cosines)), key=lambda at: (-round(float(cosines[at]), 6), at))


class Fusion:
    """Reciprocal rank fusion of bm25s + stop words + stemming and MiniLM."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._peers: tuple[Peer, ...] = (Bm25sStemmed(blocks), MiniLm(blocks))
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


PEERS: dict[str, type[Peer]] = {
    "recency window": RecencyWindow,
    "rank_bm25": RankBm25,
    "bm25s + stop words + stemming": Bm25sStemmed,
    "MiniLM": MiniLm,
    "bm25s + MiniLM, fused": Fusion,
    "literal specification": LiteralSpecification,
}

_BM25S = ("bm25s", "Stemmer")
_NEEDS: dict[str, tuple[str, ...]] = {
    "rank_bm25": ("rank_bm25",),
    "bm25s + stop words + stemming": _BM25S,
    "MiniLM": MODEL_PACKAGES,
    "bm25s + MiniLM, fused": (*_BM25S, *MODEL_PACKAGES),
}


def missing(name: str) -> bool:
    """Return whether a package that a peer needs is not installed."""
    return any(find_spec(package) is None for package in _NEEDS.get(name, ()))


def _by_score(scores: list[float]) -> list[int]:
    return [at for at in sorted(range(len(scores)), key=lambda at: (-scores[at], at)) if scores[at] > 0]
