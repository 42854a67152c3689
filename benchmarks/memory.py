"""Recall of memories: which of a user's memories does a dialogue call for, beside named peers in the same run?

Run ``python -m benchmarks.memory --data DIR``, where ``DIR/memory`` holds Chinese memories of two users and dialogues
with their gold memories. Each memory is a turn (its event is the user's text), each user has a conversation of their
own. The query is the last user turn of the dialogue, alone or with the user turns before it. R@k is the mean over
dialogues of (gold memories among the first k / gold memories), in per cent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.data import read_memories
from benchmarks.embedding import kept_vectors
from benchmarks.peers import NOT_INSTALLED, PEERS, missing
from benchmarks.report import options, print_table, write_json
from gatekeeper_core import GatekeeperConfig
from gatekeeper_core.selection import meaning
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.meaning import Asked, TurnVectors, excerpt
from gatekeeper_core.selection.retrieval import expand_query, read_query, score_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.data import Block, MemoryQuery
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.selection.retrieval import RetrievalConfig

    Row = dict[str, Any]
    Ranker = Callable[[Sequence[str], MemoryQuery], list[int]]
    Memories = Mapping[str, Sequence[Block]]

OURS = "context-gatekeeper"
DEPTHS = (5, 10)
VARIANTS = ("last turn", "with earlier turns")


class MemoryIndex:
    """The memories of one user as the gatekeeper ranks them: one turn a memory.

    With an encoder, nearness in meaning counts as well; its question is the turns, line by line.
    """

    def __init__(self, memories: Sequence[Block], config: RetrievalConfig, encoder: TextEncoder | None = None) -> None:
        self._config = config
        self._texts = [(memory.user, memory.assistant) for memory in memories]
        self._index = TurnIndex()
        for user, assistant in self._texts:
            self._index.add(count_terms(user), count_terms(assistant), texts=(user, assistant))
        self._encoder = encoder
        self._vectors = TurnVectors()
        self._vectors.extend(len(self._texts))
        if encoder:
            made = encoder.encode([excerpt(*texts) for texts in self._texts]).vectors
            for at, vector in enumerate(made):
                if vector:
                    self._vectors.put(at, vector)

    def rank(self, turns: Sequence[str]) -> list[int]:
        """Return positions of memories, best first; what shares nothing is left out.

        Args:
            turns: the user turns of the dialogue that make the query, oldest first.
        """
        query = expand_query(read_query("\n".join(turns), self._index), self._index)
        texts, near = self._texts.__getitem__, self._meaning("\n".join(turns))
        depth = max(DEPTHS)
        scores = score_turns(query, self._index, config=self._config, depth=depth, texts=texts, meaning=near)
        return [score.turn_id for score in scores]

    def _meaning(self, question: str) -> meaning.Meaning | None:
        if self._encoder is None or self._encoder.calibration is None:
            return None
        (vector,), missed = self._encoder.encode_query(excerpt(question))
        mean, deviation = self._encoder.calibration
        return meaning.Meaning(Asked(self._encoder.name, vector, mean, deviation, missed), self._vectors)


def recall_at(ranked: Sequence[str], gold: Sequence[str], depth: int) -> float:
    """Return which share of the gold memories stands among the first, 0..1."""
    return len(set(ranked[:depth]) & set(gold)) / len(set(gold))


def asked(query: MemoryQuery, variant: str) -> tuple[str, ...]:
    """Return the user turns that a variant asks with, oldest first."""
    return query.turns if variant == "with earlier turns" else query.turns[-1:]


def measure(memories: Memories, queries: Sequence[MemoryQuery], rank: Mapping[str, Ranker], variant: str) -> Row:
    """Return R@k for one method and variant.

    Args:
        memories: by user.
        queries: the dialogues.
        rank: by user, takes the turns that make the query and returns positions of memories, best first.
        variant: one of ``VARIANTS``.
    """
    sums = dict.fromkeys(DEPTHS, 0.0)
    for query in queries:
        order = rank[query.user](asked(query, variant), query)
        ranked = [memories[query.user][at].ids[0] for at in order]
        for depth in DEPTHS:
            sums[depth] += recall_at(ranked, query.gold, depth)
    return {f"R@{depth}": 100 * total / max(1, len(queries)) for depth, total in sums.items()}


def ours(memories: Memories, config: GatekeeperConfig, encoder: TextEncoder | None = None) -> dict[str, Ranker]:
    """Return by user how the gatekeeper ranks."""

    def ranking(blocks: Sequence[Block]) -> Ranker:
        index = MemoryIndex(blocks, config.retrieval, encoder)
        return lambda turns, _query: index.rank(turns)

    return {user: ranking(blocks) for user, blocks in memories.items()}


def peer(memories: Memories, name: str) -> dict[str, Ranker]:
    """Return by user how a named peer ranks; its question is the turns, line by line."""

    def ranking(blocks: Sequence[Block]) -> Ranker:
        each = PEERS[name](blocks)
        return lambda turns, _query: each.rank("\n".join(turns))

    return {user: ranking(blocks) for user, blocks in memories.items()}


def oracle(memories: Memories) -> dict[str, Ranker]:
    """Return by user a ranking that knows the gold memories."""

    def ranking(blocks: Sequence[Block]) -> Ranker:
        return lambda _turns, query: [at for at, block in enumerate(blocks) if block.ids[0] in query.gold]

    return {user: ranking(blocks) for user, blocks in memories.items()}


def run(memories: Memories, queries: Sequence[MemoryQuery], *, peers: bool) -> list[Row]:
    """Return R@k by method and variant."""
    rankers: dict[str, Mapping[str, Ranker] | None] = {}
    for name in PEERS if peers else ():
        rankers[name] = None if missing(name) else peer(memories, name)
    rankers[OURS] = ours(memories, GatekeeperConfig())
    if peers:
        rankers["oracle"] = oracle(memories)
    return [
        {"method": name, "query": NOT_INSTALLED}
        if rank is None
        else {"method": name, "query": variant, **measure(memories, queries, rank, variant)}
        for name, rank in rankers.items()
        for variant in (VARIANTS if rank is not None else VARIANTS[:1])
    ]


def main() -> None:
    """Measure, print the table, write JSON if asked to."""
    chosen = options(__doc__, data="memory/madial_zh_*.jsonl").parse_args()
    memories, queries = read_memories(chosen.data / "memory")
    with kept_vectors(chosen.vectors):
        rows = run(memories, queries, peers=not chosen.ours_only)
    print_table("Recall of gold memories, per cent", rows, markdown=chosen.markdown)
    print(f"\n{len(queries)} dialogues, {sum(map(len, memories.values()))} memories of {len(memories)} users")
    write_json(chosen.json, "memory", {"queries": len(queries)}, {"memory": rows})


if __name__ == "__main__":
    main()
