"""Which memories a question calls for: candidates from a store, ranked by one cosine, hits above a threshold.

The work is bounded, whatever the store holds or gives back: so many candidates are asked for, and no more are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, overload

from gatekeeper_core.context.memory.embedding import Embedded, embedding_mark
from gatekeeper_core.errors import check_range
from gatekeeper_core.selection.anchors import MAX_QUERY_ANCHORS, count_terms, folded
from gatekeeper_core.selection.expansion import MAX_RELATED
from gatekeeper_core.selection.similarity import TermVector, related_to
from gatekeeper_core.storage.base import Memory, MemoryRecord, MemoryScope
from gatekeeper_core.storage.vectors import cosine

if TYPE_CHECKING:
    from array import array

    from gatekeeper_core.storage.base import MemoryStore

__all__ = [
    "MemoryConfig",
    "MemoryHit",
    "MemoryHits",
    "Question",
    "SimilarityKind",
    "is_expired",
    "most_alike",
    "question_terms",
    "search_memories",
]

SimilarityKind: TypeAlias = Literal["sparse", "dense"]

_MAX_BEFORE = 20
_ROUNDING = 1e-6
_MAX_RELATED_COUNTED = 4 * MAX_RELATED


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig:
    """How memories are found, compared and merged.

    Attributes:
        candidates: memories that a search compares at most, >= 1, found by terms; as many again by the vector.
        min_similarity_sparse: similarity of terms from which a memory is a hit, 0..1. Source: measured, see
            ``docs/memory.md``: one unrelated Chinese utterance in ten finds anything above it.
        min_similarity_dense: similarity of embeddings from which a memory is a hit, 0..1. Source: specification 001.
        merge_similarity: similarity of terms from which two texts of a category are one memory, 0..1. Source: 004.
        earlier_weight: what a text that was said before weighs in a query against the one after it, 0..1. Source:
            ours, as in ``benchmarks.memory``.
        max_earlier: earlier texts that a memory keeps, the newest; >= 0.
        max_characters: length of one memory at most, >= 1.
        embedder_name: of which model the vectors are; another name, and they are made anew.
    """

    candidates: int = 200
    min_similarity_sparse: float = 0.08
    min_similarity_dense: float = 0.6
    merge_similarity: float = 0.85
    earlier_weight: float = 0.9
    max_earlier: int = 20
    max_characters: int = 2_000
    embedder_name: str = ""

    def __post_init__(self) -> None:
        check_range(self, "candidates", "max_characters", low=1, whole=True)
        check_range(self, "max_earlier", low=0, whole=True)
        for name in ("min_similarity_sparse", "min_similarity_dense", "merge_similarity", "earlier_weight"):
            check_range(self, name, low=0, high=1)
        if not isinstance(self.embedder_name, str):
            raise TypeError(f"MemoryConfig.embedder_name must be a str, got {type(self.embedder_name).__name__}")


class MemoryHit(NamedTuple):
    """A memory that a question calls for.

    Attributes:
        memory: what is remembered.
        similarity: the cosine, 0.0 to 1.0.
        kind: of what it is the cosine; the two scales are not comparable.
    """

    memory: Memory
    similarity: float
    kind: SimilarityKind


@dataclass(frozen=True, slots=True)
class MemoryHits(Sequence[MemoryHit]):
    """What a search found, as a sequence of hits, best first.

    Attributes:
        hits: the hits.
        status: ``"sparse"`` (no embedder), ``"dense"``, or ``"fallback"``: terms alone counted, despite an embedder.
        reason: why it is a fallback, else None.
    """

    hits: tuple[MemoryHit, ...]
    status: Literal["sparse", "dense", "fallback"]
    reason: str | None = None

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, at: int) -> MemoryHit: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[MemoryHit, ...]: ...
    def __getitem__(self, at: int | slice) -> MemoryHit | tuple[MemoryHit, ...]:
        return self.hits[at]


class Question(NamedTuple):
    """What is looked for.

    Attributes:
        counts: the counts of its terms; see :func:`question_terms`.
        embedded: what the embedder gave for it, or None without an embedder.
    """

    counts: Mapping[str, float]
    embedded: Embedded | None = None

    @property
    def vector(self) -> array[float] | None:
        """Its vector, or None."""
        return self.embedded.vectors[0] if self.embedded and self.embedded.vectors else None


def question_terms(query: str, before: Sequence[str] = (), *, earlier_weight: float) -> dict[str, float]:
    """Return the counts of a question's terms, with those of the texts said before it, which count less.

    Args:
        query: what was asked.
        before: what was said before, oldest first; the newest 20 are read.
        earlier_weight: what a text weighs against the one after it, 0..1.

    >>> question_terms("and the port?", ["Redis port"], earlier_weight=0.9)
    {'port': 1, 'redis': 0.9}
    """
    counts: dict[str, float] = {**count_terms(query, limit=MAX_QUERY_ANCHORS)}
    for age, text in enumerate(islice(reversed(before), _MAX_BEFORE), 1):
        for term, count in count_terms(text, limit=MAX_QUERY_ANCHORS).items():
            worth = count * earlier_weight**age
            if term in counts or len(counts) < MAX_QUERY_ANCHORS:
                counts[term] = max(counts.get(term, 0), worth)
    return counts


def search_memories(
    store: MemoryStore,
    scope: MemoryScope,
    question: Question,
    *,
    limit: int,
    min_similarity: float | None,
    categories: Collection[str],
    config: MemoryConfig,
    now: float | None,
) -> MemoryHits:
    """Return the memories of a scope that a question calls for, best first; see ``LongTermMemory.search``.

    Args:
        store: where they lie.
        scope: whose memories.
        question: what is looked for.
        limit: hits at most.
        min_similarity: as in ``LongTermMemory.search``.
        categories: of which categories; empty: of all.
        config: thresholds and bounds.
        now: the time, in seconds; None: nothing has expired.
    """
    terms, found = _candidates(store, scope, question.counts, question.vector, categories, config)
    found = [record for record in found if not is_expired(record.memory, now)]
    compared = [_compared(record, question.vector, terms, config.embedder_name) for record in found]
    hits = [hit for hit in compared if 0.0 < hit.similarity >= _threshold(hit.kind, question, min_similarity, config)]
    hits.sort(key=_rank)
    if question.embedded is None:
        return MemoryHits(tuple(hits[:limit]), "sparse")
    reason = _why_sparse(question, found, compared)
    return MemoryHits(tuple(hits[:limit]), "fallback" if reason else "dense", reason)


def most_alike(store: MemoryStore, scope: MemoryScope, draft: Memory, *, config: MemoryConfig) -> MemoryRecord | None:
    """Return the current memory that says what a draft says, or None: the one whose text is most alike, if enough.

    It is of the same category, of no other key, and names the same numbers: a port of 6380 is no other way to put one
    of 6390. It is compared by terms, so that the answer does not hang on a model.

    Args:
        store: where the memories lie.
        scope: whose memories.
        draft: what is to be remembered.
        config: the threshold.
    """
    counts = count_terms(draft.text)
    terms, found = _candidates(store, scope, counts, None, (draft.category,), config)
    best: tuple[float, float, str] = (0.0, 0.0, "")
    alike = None
    for record in found:
        memory = record.memory
        if terms.at_most(frozenset(record.terms)) < config.merge_similarity - _ROUNDING:
            continue  # most candidates: their texts need not be read
        other = count_terms(memory.text)
        if (draft.key and memory.key and draft.key != memory.key) or _exact(other) != _exact(counts):
            continue
        similarity = 1.0 if folded(memory.text) == folded(draft.text) else terms.similarity(other)
        place = (similarity, memory.valid_from, memory.id)
        if similarity >= config.merge_similarity and place > best:
            best, alike = place, record
    return alike


def is_expired(memory: Memory, now: float | None) -> bool:
    """Return whether a memory holds no more."""
    return now is not None and memory.valid_to is not None and memory.valid_to <= now


def _candidates(
    store: MemoryStore,
    scope: MemoryScope,
    counts: Mapping[str, float],
    vector: array[float] | None,
    categories: Collection[str],
    config: MemoryConfig,
) -> tuple[TermVector, list[MemoryRecord]]:
    """Return the question as a vector of terms, and the records that the store finds for it."""
    related = tuple(islice(related_to(tuple(counts)), _MAX_RELATED_COUNTED))
    memories, by_term = store.count_memories(scope, (*counts, *related)) if counts else (0, {})
    terms = TermVector(counts, documents=memories, frequencies=by_term)
    held = [term for term in terms.terms if by_term.get(term)]
    held += islice((term for term in related if by_term.get(term)), MAX_RELATED)
    if not held and vector is None:
        return terms, []
    found: Iterable[object] = store.find_memories(
        scope, terms=held, vector=vector, categories=categories, limit=config.candidates
    )
    # A store that gives more than it was asked for, or something else, does not make a search long or fail it.
    return terms, [each for each in islice(found, 2 * config.candidates) if isinstance(each, MemoryRecord)]


def _compared(record: MemoryRecord, vector: array[float] | None, terms: TermVector, embedder_name: str) -> MemoryHit:
    """Return a record as a hit: by its vector, where that is of this text and as long as the question's."""
    memory = record.memory
    stored = record.vector if record.vector_of == embedding_mark(memory.text, embedder_name) else None
    if vector is not None and stored is not None and len(stored) == len(vector):
        return MemoryHit(memory, cosine(vector, stored), "dense")
    return MemoryHit(memory, terms.similarity(count_terms(memory.text)), "sparse")


def _threshold(kind: SimilarityKind, question: Question, min_similarity: float | None, config: MemoryConfig) -> float:
    if kind == "dense":
        return config.min_similarity_dense if min_similarity is None else min_similarity
    if min_similarity is None:
        return config.min_similarity_sparse
    # Given for embeddings, it would keep every memory away that is compared by terms.
    return min_similarity if question.embedded is None else min(min_similarity, config.min_similarity_sparse)


def _why_sparse(question: Question, found: Sequence[MemoryRecord], compared: Sequence[MemoryHit]) -> str | None:
    """Return why no embedding was compared although there is an embedder, or None where one was, or nothing was."""
    if question.vector is None:
        return question.embedded.reason if question.embedded else None
    if not found or any(hit.kind == "dense" for hit in compared):
        return None
    lengths = {len(record.vector) for record in found if record.vector is not None}
    if not lengths:
        return "no_stored_vectors"
    return "stale_vectors" if len(question.vector) in lengths else "other_dimensions"


def _rank(hit: MemoryHit) -> tuple[bool, float, float, int, str]:
    memory = hit.memory
    return (hit.kind == "sparse", -hit.similarity, -memory.valid_from, -(memory.seq or 0), memory.id)


def _exact(terms: Iterable[str]) -> set[str]:
    """Return the terms that mean one thing only: numbers, versions, identifiers with digits, dates and amounts."""
    return {term for term in terms if term[0] in "@#" or any(map(str.isdigit, term))}
