"""Long-term memory: does a search find the memories that a dialogue calls for, and stay silent where none is?

Run ``python -m benchmarks.long_term_memory --data DIR``, where ``DIR/memory`` holds Chinese memories of two users and
dialogues with their gold memories. Each memory is added to a ``LongTermMemory``, each user is a scope of their own. The
query is the last user turn of the dialogue, alone or with the user turns before it. R@k is the mean over dialogues of
(gold memories among the first k / gold memories), in per cent; nothing is cut off by a threshold.

``--thresholds`` shows what a threshold keeps, by words and with the library's own embedder (extra ``meaning``): how
often one of the first three hits of the last turn is a gold memory, which share of those hits is gold, and how often an
utterance of other people's dialogues (``DIR/topics``) finds any. It also prints the embedder's ``related_cosine``: what
one of ten such utterances reaches by its vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.data import TOPIC_SETS, read_dialogues, read_memories, sampled
from benchmarks.embedding import MULTILINGUAL, kept_vectors
from benchmarks.memory import DEPTHS, VARIANTS, asked, measure, peer
from benchmarks.peers import NOT_INSTALLED, missing
from benchmarks.report import options, print_table, write_json
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.search import MemoryConfig
from gatekeeper_core.embedding import embed
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_core.vectors import cosine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.data import Block, MemoryQuery

    Row = dict[str, Any]
    Memories = Mapping[str, Sequence[Block]]
    Embedding = Callable[[Sequence[str]], Any]

OURS = "LongTermMemory"
WITH_MEANING = "LongTermMemory, MeaningEmbedder"
NAMED_PEERS = ("bm25s + stop words + stemming", "MiniLM")
THRESHOLDS = (0.4, 0.5, 0.55, 0.6, 0.61, 0.62, 0.64, 0.66, 0.7)
UNRELATED_A_SET = 150
SHOWN = 3


def remembered(memories: Memories, embedder: Embedding | None = None) -> LongTermMemory:
    """Return a memory that holds the memories of each user."""
    # Nothing is merged, so that every gold memory can be found.
    memory = LongTermMemory(InMemoryStore(), embedder=embedder, config=MemoryConfig(merge_similarity=1.0))
    for user, blocks in memories.items():
        for at, block in enumerate(blocks):
            memory.add(MemoryScope("benchmark", user), block.user, category="fact", key=f"event {at}")
    return memory


def ours(memories: Memories, embedder: Embedding | None = None) -> dict[str, Any]:
    """Return by user how a search ranks: positions of memories, best first."""
    memory = remembered(memories, embedder)

    def ranking(user: str) -> Callable[[Sequence[str], MemoryQuery], list[int]]:
        def rank(turns: Sequence[str], _query: MemoryQuery) -> list[int]:
            hits = memory.search(
                MemoryScope("benchmark", user), turns[-1], before=turns[:-1], limit=max(DEPTHS), min_similarity=0
            )
            return [int((hit.memory.key or "").removeprefix("event ")) for hit in hits]

        return rank

    return {user: ranking(user) for user in memories}


def run(memories: Memories, queries: Sequence[MemoryQuery], *, peers: bool) -> list[Row]:
    """Return R@k by method and variant."""
    rankers: dict[str, Any] = {}
    for name in NAMED_PEERS if peers else ():
        rankers[name] = None if missing(name) else peer(memories, name)
    rankers[OURS] = ours(memories)
    rankers[WITH_MEANING] = None if MULTILINGUAL.is_missing else ours(memories, _meaning())
    return [
        {"method": name, "query": NOT_INSTALLED}
        if rank is None
        else {"method": name, "query": variant, **measure(memories, queries, rank, variant)}
        for name, rank in rankers.items()
        for variant in (VARIANTS if rank is not None else VARIANTS[:1])
    ]


def unrelated(folder: Path) -> list[str]:
    """Return user utterances of Chinese dialogues about something else, at even distances; none without the data."""
    found: list[str] = []
    for each in TOPIC_SETS:
        path = folder / "topics" / each.file
        if each.language == "zh" and path.is_file():
            spoken = [
                said.text for dialogue in read_dialogues(path) for said in dialogue.utterances if said.role == "user"
            ]
            found += sampled(spoken, UNRELATED_A_SET)
    return found


def _meaning() -> Embedding:
    from gatekeeper_meaning import MeaningEmbedder  # here, because the extra may be missing

    return MeaningEmbedder()


def related_cosine(memories: Memories, others: Sequence[str], embedder: Embedding) -> float | None:
    """Return the cosine that one of ten unrelated utterances reaches with the nearest memory of its user."""
    texts = [[block.user for block in blocks] for blocks in memories.values()]
    vectors = [embed(embedder, each).vectors for each in texts]
    best = [
        max(cosine(asked, vector) for vector in vectors[at % len(vectors)])
        for at, asked in enumerate(embed(embedder, others).vectors)
    ]
    return sorted(best)[-max(1, len(best) // 10)] if best else None


def threshold_rows(
    memories: Memories, queries: Sequence[MemoryQuery], others: Sequence[str], embedder: Embedding | None = None
) -> list[Row]:
    """Return by threshold what it keeps of the first three hits, in per cent."""
    memory, users = remembered(memories, embedder), list(memories)
    called: list[list[tuple[float, bool]]] = []
    for query in queries:
        hits = memory.search(
            MemoryScope("benchmark", query.user), asked(query, VARIANTS[0])[-1], limit=SHOWN, min_similarity=0
        )
        ids = [memories[query.user][int((hit.memory.key or "").removeprefix("event "))].ids[0] for hit in hits]
        called.append([(hit.similarity, each in query.gold) for hit, each in zip(hits, ids, strict=True)])
    best = []
    for at, text in enumerate(others):
        found = memory.search(MemoryScope("benchmark", users[at % len(users)]), text, limit=1, min_similarity=0)
        best.append(found[0].similarity if found else 0.0)
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
    """Measure, print the table, write JSON if asked to."""
    parser = options(__doc__, data="memory/madial_zh_*.jsonl")
    parser.add_argument("--thresholds", action="store_true", help="show what thresholds keep instead")
    chosen = parser.parse_args()
    memories, queries = read_memories(chosen.data / "memory")
    if chosen.thresholds:
        others, title = unrelated(chosen.data), "What a threshold keeps, per cent"
        rows = [{"by": "words", **row} for row in threshold_rows(memories, queries, others)]
        if not MULTILINGUAL.is_missing:
            found = threshold_rows(memories, queries, others, _meaning())
            rows += [{"by": "words, MeaningEmbedder", **row} for row in found]
            print(f"MeaningEmbedder: related_cosine {related_cosine(memories, others, _meaning()) or 0.0:.3f}\n")
    else:
        title = "Long-term memory: recall of gold memories, per cent"
        with kept_vectors(chosen.vectors):
            rows = run(memories, queries, peers=not chosen.ours_only)
    print_table(title, rows, markdown=chosen.markdown)
    print(f"\n{len(queries)} dialogues, {sum(map(len, memories.values()))} memories of {len(memories)} users")
    write_json(chosen.json, "long_term_memory", {"queries": len(queries)}, {"long_term_memory": rows})


if __name__ == "__main__":
    main()
