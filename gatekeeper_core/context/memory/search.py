"""The search for memories: candidates from a store, ranked on one scale, hits above a threshold.

::

    terms ──cosine──┐
                    ├──calibrated: what one of ten unrelated questions reaches is 0.6──> similarity: the larger one
    vectors ─cosine─┘

The work is bounded, whatever the store holds or gives back.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from gatekeeper_core.embedding import Embedded, embedding_mark
from gatekeeper_core.selection.anchors import MAX_QUERY_ANCHORS, count_terms, folded
from gatekeeper_core.selection.expansion import MAX_RELATED
from gatekeeper_core.selection.similarity import TermVector, related_to
from gatekeeper_core.storage.base import Memory, MemoryRecord, MemoryScope, MemoryStore
from gatekeeper_core.vectors import cosine

MAX_CANDIDATES = 200
"""Memories that a search compares at most, found by terms; as many again by the vector. Source: ours."""

RELATED = 0.6
"""Where the scale of similarities has what counts as related, and the least of a hit. Source: specification 001."""

_MERGE_SIMILARITY = 0.85
"""Similarity of terms from which two texts of a category are one memory. Source: requirement 004-63."""

_RELATED_TERMS = 0.08
"""The cosine of terms that counts as related: one of ten unrelated utterances finds a memory at it. Source: measured,
``benchmarks.long_term_memory --thresholds``."""

_EARLIER_WEIGHT = 0.9  # of a text against the one after it. Source: ``benchmarks.long_term_memory``
_MAX_BEFORE = 20
_ROUNDING = 1e-6
_MAX_RELATED_COUNTED = 4 * MAX_RELATED


class MemoryHit(NamedTuple):
    """A memory that a question calls for."""

    memory: Memory
    similarity: float  # the larger of both calibrated cosines, 0.0 to 1.0; see :func:`calibrated`
    kind: Literal["sparse", "dense"]


@dataclass(frozen=True, slots=True)
class MemoryHits(Sequence[MemoryHit]):
    """The result of a search: a sequence of hits, best first.

    Attributes:
        status: ``"sparse"`` (no embedder), ``"dense"``, or ``"fallback"``: terms alone counted, despite an embedder.
        reason: why it is a fallback, else None.
    """

    hits: tuple[MemoryHit, ...]
    status: Literal["sparse", "dense", "fallback"]
    reason: str | None = None

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, at: Any) -> Any:
        return self.hits[at]


def calibrated(cosine: float, related: float) -> float:
    """Return a cosine on the scale of all similarities, where ``related`` is 0.6, and 0 and 1 stay.

    Rounded to six digits. Source: ours; 0.6 is the threshold of specification 001.

    >>> calibrated(0.08, 0.08), calibrated(0.33, 0.33), calibrated(0.04, 0.08), calibrated(1.0, 0.08)
    (0.6, 0.6, 0.3, 1.0)
    """
    if cosine < related:
        return round(RELATED * cosine / related, 6)
    return round(RELATED + (1 - RELATED) * (cosine - related) / (1 - related), 6)


def question_terms(query: str, before: Sequence[str] = ()) -> dict[str, float]:
    """Return the counts of a question's terms, with those of the newest 20 texts before it, which count less."""
    counts: dict[str, float] = {**count_terms(query, limit=MAX_QUERY_ANCHORS)}
    for age, text in enumerate(islice(reversed(before), _MAX_BEFORE), 1):
        for term, count in count_terms(text, limit=MAX_QUERY_ANCHORS).items():
            if term in counts or len(counts) < MAX_QUERY_ANCHORS:
                counts[term] = max(counts.get(term, 0), count * _EARLIER_WEIGHT**age)
    return counts


def ranked_hits(
    terms: TermVector,
    records: Iterable[MemoryRecord],
    embedded: Embedded | None,
    *,
    least: float,
    embedder_name: str,
    related: float,
) -> MemoryHits:
    """Return the hits among the records a store found for a question, best first; ties go to the newer one.

    The question is its terms and, with an embedder, what that gave; ``related`` is the embedder's calibration.
    """
    vector = embedded.vectors[0] if embedded and embedded.vectors else None
    hits: list[MemoryHit] = []
    lengths: set[int] = set()
    is_dense = False
    for memory, _, stored, vector_of in records:
        hit = MemoryHit(memory, calibrated(terms.similarity(count_terms(memory.text)), _RELATED_TERMS), "sparse")
        if stored is not None:
            lengths.add(len(stored))
            is_of_text = vector_of == embedding_mark(memory.text, embedder_name)
            if vector is not None and is_of_text and len(stored) == len(vector):
                is_dense = True
                similarity = calibrated(cosine(vector, stored), related)
                hit = hit if hit.similarity > similarity else MemoryHit(memory, similarity, "dense")
        hits.append(hit)
    ranked = sorted(
        (hit for hit in hits if 0.0 < hit.similarity >= least),
        key=lambda hit: (-hit.similarity, -hit.memory.valid_from, -(hit.memory.seq or 0), hit.memory.id),
    )
    if embedded is None:
        return MemoryHits(tuple(ranked), "sparse")
    reason = embedded.reason
    if vector is not None and hits and not is_dense:
        reason = "stale_vectors" if len(vector) in lengths else "other_dimensions" if lengths else "no_stored_vectors"
    return MemoryHits(tuple(ranked), "fallback" if reason else "dense", reason)


def most_alike(store: MemoryStore, scope: MemoryScope, draft: Memory) -> MemoryRecord | None:
    """Return the current memory that says what a draft says, by its terms: the most alike of those alike enough.

    It is of the same category, of no other key, and names the same numbers: "port 6380" and "port 6390" are two things.
    """
    counts = count_terms(draft.text)
    exact = _exact(counts)
    terms, records = candidates(store, scope, counts, None, (draft.category,))
    alike: list[tuple[float, float, str, MemoryRecord]] = []
    for record in records:
        memory = record.memory
        if terms.at_most(frozenset(record.terms)) < _MERGE_SIMILARITY - _ROUNDING:
            continue  # most candidates: their texts need not be read
        other = count_terms(memory.text)
        if (draft.key and memory.key and draft.key != memory.key) or _exact(other) != exact:
            continue
        similarity = 1.0 if folded(memory.text) == folded(draft.text) else terms.similarity(other)
        if similarity >= _MERGE_SIMILARITY:
            alike.append((similarity, memory.valid_from, memory.id, record))
    return max(alike, key=itemgetter(0, 1, 2))[3] if alike else None


def _exact(terms: Iterable[str]) -> set[str]:
    """Return the terms that mean one thing only: numbers, versions, identifiers with digits, dates and amounts."""
    return {term for term in terms if term[0] in "@#" or any(map(str.isdigit, term))}


def candidates(
    store: MemoryStore,
    scope: MemoryScope,
    counts: Mapping[str, float],
    vector: array[float] | None,
    categories: Collection[str],
) -> tuple[TermVector, list[MemoryRecord]]:
    """Return the question as a vector of terms, and the records that the store finds for it."""
    related = tuple(islice(related_to(tuple(counts)), _MAX_RELATED_COUNTED))
    memories, by_term = store.count_memories(scope, (*counts, *related)) if counts else (0, {})
    terms = TermVector(counts, documents=memories, frequencies=by_term)
    indexed = [term for term in terms.terms if by_term.get(term)]
    indexed += islice((term for term in related if by_term.get(term)), MAX_RELATED)
    if not indexed and vector is None:
        return terms, []
    records = store.find_memories(scope, terms=indexed, vector=vector, categories=categories, limit=MAX_CANDIDATES)
    return terms, list(islice(records, 2 * MAX_CANDIDATES))  # whatever a store returns, the search is bounded
