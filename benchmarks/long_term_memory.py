"""Memory: does a search find the memories that a dialogue calls for, and stay silent where none is?

Run ``python -m benchmarks.long_term_memory --data DIR``, where ``DIR/memory`` holds Chinese memories of two users and
dialogues with their gold memories. Each memory is added to a ``LongTermMemory``, each user is a scope of their own;
beside it the scores of the selection, with each memory as a turn, and named peers. The query is the last user turn of
the dialogue, alone or with the user turns before it. R@k is the mean over dialogues of (gold memories among the first k
/ gold memories), in per cent; nothing is cut off by a threshold.

``--thresholds`` shows what a threshold keeps, by words and with the library's own embedder (extra ``meaning``): how
often one of the first three hits of the last turn is a gold memory, which share of those hits is gold, and how often an
utterance of other people's dialogues (``DIR/topics``) finds any. It also prints the embedder's ``related_cosine``: what
one of ten such utterances reaches by its vector.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from benchmarks.data import TOPIC_SETS, read_dialogues, read_memories, sampled
from benchmarks.embedding import MULTILINGUAL
from benchmarks.peers import NOT_INSTALLED, PEERS, missing
from benchmarks.report import Row, options, report
from gatekeeper_core import GatekeeperConfig
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.embedding import embed
from gatekeeper_core.selection import meaning
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.meaning import QueryVector, excerpt
from gatekeeper_core.selection.retrieval import expand_query, read_query, score_turns
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_core.vectors import cosine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.data import Block, MemoryQuery
    from gatekeeper_core.encoder import TextEncoder

    Memories = Mapping[str, Sequence[Block]]
    Embedding = Callable[[Sequence[str]], Any]
    Ranker = Callable[[MemoryQuery, tuple[str, ...]], list[int]]
    """Takes a dialogue and the user turns that make the query, oldest first; returns memories, best first."""

OURS, WITH_MEANING = "LongTermMemory", "LongTermMemory, MeaningEmbedder"
SELECTION = "context-gatekeeper"
DEPTHS = (5, 10)
VARIANTS = ("last turn", "with earlier turns")
THRESHOLDS = (0.4, 0.5, 0.55, 0.6, 0.61, 0.62, 0.64, 0.66, 0.7)
UNRELATED_A_SET = 150
SHOWN = 3


class MemoryIndex:
    """The memories of one user as the selection ranks them: one turn a memory.

    With an encoder, nearness in meaning counts as well; its question is the turns, line by line.
    """

    def __init__(self, memories: Sequence[Block], encoder: TextEncoder | None = None) -> None:
        self._texts = [(memory.user, memory.assistant) for memory in memories]
        self._index, self._encoder = TurnIndex(), encoder
        for user, assistant in self._texts:
            self._index.add(count_terms(user), count_terms(assistant), texts=(user, assistant))
        self._vectors = encoder.encode([excerpt(*texts) for texts in self._texts]).vectors if encoder else ()

    def rank(self, question: str) -> list[int]:
        """Return positions of memories, best first; what shares nothing is left out."""
        query = expand_query(read_query(question, self._index), self._index)
        config, texts = GatekeeperConfig(), self._texts.__getitem__
        near = self._meaning(question)
        scores = score_turns(query, self._index, config=config, depth=max(DEPTHS), texts=texts, meaning=near)
        return [score.turn_id for score in scores]

    def _meaning(self, question: str) -> meaning.Meaning | None:
        if self._encoder is None or self._encoder.calibration is None:
            return None
        (vector,), missed = self._encoder.encode_query(excerpt(question))
        mean, deviation = self._encoder.calibration
        return meaning.Meaning(QueryVector(self._encoder.name, vector, mean, deviation, missed), self._vectors)


def measure(memories: Memories, queries: Sequence[MemoryQuery], rank: Ranker, variant: str) -> Row:
    sums = dict.fromkeys(DEPTHS, 0.0)
    for query in queries:
        turns = query.turns if variant == VARIANTS[1] else query.turns[-1:]
        ranked = [memories[query.user][at].ids[0] for at in rank(query, turns)]
        for depth in DEPTHS:
            sums[depth] += len({*ranked[:depth]} & {*query.gold}) / len({*query.gold})
    return {f"R@{depth}": 100 * total / max(1, len(queries)) for depth, total in sums.items()}


def selection(memories: Memories, encoder: TextEncoder | None = None) -> Ranker:
    indexes = {user: MemoryIndex(blocks, encoder) for user, blocks in memories.items()}
    return lambda query, turns: indexes[query.user].rank("\n".join(turns))


def peer(memories: Memories, name: str) -> Ranker:
    peers = {user: PEERS[name](blocks) for user, blocks in memories.items()}
    return lambda query, turns: peers[query.user].rank("\n".join(turns))


def oracle(memories: Memories) -> Ranker:
    return lambda query, _: [at for at, block in enumerate(memories[query.user]) if block.ids[0] in query.gold]


def remembered(memories: Memories, embedder: Embedding | None = None) -> LongTermMemory:
    """Return a memory that holds the memories of each user."""
    memory = LongTermMemory(InMemoryStore(), embedder=embedder)
    for user, blocks in memories.items():
        for at, block in enumerate(blocks):
            # With a key each, nothing is merged, so that every gold memory can be found.
            memory.add(MemoryScope("benchmark", user), block.user, category="fact", key=f"event {at}")
    return memory


def _hits(memory: LongTermMemory, user: str, turns: Sequence[str], limit: int = max(DEPTHS)) -> list[tuple[float, int]]:
    """Return the similarity and the position of each memory that a search finds, best first."""
    scope = MemoryScope("benchmark", user)
    hits = memory.search(scope, turns[-1], before=turns[:-1], limit=limit, min_similarity=0)
    return [(hit.similarity, int((hit.memory.key or "").removeprefix("event "))) for hit in hits]


def ours(memories: Memories, embedder: Embedding | None = None) -> Ranker:
    memory = remembered(memories, embedder)
    return lambda query, turns: [at for _, at in _hits(memory, query.user, turns)]


def run(memories: Memories, queries: Sequence[MemoryQuery], *, peers: bool) -> list[Row]:
    rankers: dict[str, Ranker | None] = {}
    for name in PEERS if peers else ():
        rankers[name] = None if missing(name) else peer(memories, name)
    rankers |= {SELECTION: selection(memories), OURS: ours(memories)}
    rankers[WITH_MEANING] = None if MULTILINGUAL.is_missing else ours(memories, _meaning())
    if peers:
        rankers["oracle"] = oracle(memories)
    return rows(memories, queries, rankers)


def rows(memories: Memories, queries: Sequence[MemoryQuery], rankers: Mapping[str, Ranker | None]) -> list[Row]:
    return [
        {"method": name, "query": NOT_INSTALLED}
        if rank is None
        else {"method": name, "query": variant, **measure(memories, queries, rank, variant)}
        for name, rank in rankers.items()
        for variant in (VARIANTS if rank is not None else VARIANTS[:1])
    ]


def unrelated(folder: Path) -> list[str]:
    """Return user utterances of Chinese dialogues about something else, at even distances; none without the data."""
    results: list[str] = []
    for each in TOPIC_SETS:
        path = folder / "topics" / each.file
        if each.language == "zh" and path.is_file():
            utterances = chain.from_iterable(dialogue.utterances for dialogue in read_dialogues(path))
            results += sampled([each.text for each in utterances if each.role == "user"], UNRELATED_A_SET)
    return results


def _meaning() -> Embedding:
    from gatekeeper_meaning import MeaningEmbedder  # here, because the extra may be missing

    return MeaningEmbedder()


def related_cosine(memories: Memories, others: Sequence[str], embedder: Embedding) -> float | None:
    """Return the cosine that one of ten unrelated utterances reaches with the nearest memory of its user."""
    texts = [[block.user for block in blocks] for blocks in memories.values()]
    vectors = [[*filter(None, embed(embedder, each).vectors)] for each in texts]
    best = [
        max(cosine(query_vector, vector) for vector in vectors[at % len(vectors)])
        for at, query_vector in enumerate(filter(None, embed(embedder, others).vectors))
    ]
    return sorted(best)[-max(1, len(best) // 10)] if best else None


def threshold_rows(
    memories: Memories, queries: Sequence[MemoryQuery], others: Sequence[str], embedder: Embedding | None = None
) -> list[Row]:
    """Return by threshold what it keeps of the first three hits, in per cent."""
    memory, users = remembered(memories, embedder), list(memories)
    called: list[list[tuple[float, bool]]] = []
    for query in queries:
        hits = _hits(memory, query.user, query.turns[-1:], SHOWN)
        called.append([(similarity, memories[query.user][at].ids[0] in query.gold) for similarity, at in hits])
    results = [_hits(memory, users[at % len(users)], [text], 1) for at, text in enumerate(others)]
    best = [hits[0][0] if hits else 0.0 for hits in results]
    return [_kept(threshold, called, best) for threshold in THRESHOLDS]


def _kept(threshold: float, called: Sequence[Sequence[tuple[float, bool]]], best: Sequence[float]) -> Row:
    kept = [[gold for similarity, gold in hits if similarity >= threshold] for hits in called]
    shown = sum(map(len, kept))
    return {
        "threshold": f"{threshold:.2f}",
        "a gold memory found": 100 * sum(map(any, kept)) / max(1, len(kept)),
        "hits that are gold": 100 * sum(map(sum, kept)) / max(1, shown),
        "hits a dialogue": f"{shown / max(1, len(kept)):.2f}",
        "unrelated with a hit": 100 * sum(value >= threshold for value in best) / len(best) if best else None,
    }


def main() -> None:
    parser = options(__doc__, data="memory/madial_zh_*.jsonl")
    parser.add_argument("--thresholds", action="store_true", help="show what thresholds keep instead")
    chosen = parser.parse_args()
    memories, queries = read_memories(chosen.data / "memory")
    if chosen.thresholds:
        others, title = unrelated(chosen.data), "What a threshold keeps, per cent"
        table = [{"by": "words", **row} for row in threshold_rows(memories, queries, others)]
        if not MULTILINGUAL.is_missing:
            results = threshold_rows(memories, queries, others, _meaning())
            table += [{"by": "words, MeaningEmbedder", **row} for row in results]
            print(f"MeaningEmbedder: related_cosine {related_cosine(memories, others, _meaning()) or 0.0:.3f}\n")
    else:
        title = "Recall of gold memories, per cent"
        table = run(memories, queries, peers=not chosen.ours_only)
    sizes = {"dialogues": len(queries), "memories": sum(map(len, memories.values()))}
    report(chosen, "long_term_memory", {title: table}, **sizes)


if __name__ == "__main__":
    main()
