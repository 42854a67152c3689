"""Long-term memory: facts about a user across conversations.

::

    add ── the same text: nothing · the same key: takes its place · much alike: rewords it · else: a new memory
    search ── terms (and the vector) find up to 200 candidates ── cosine ranks them ── hits above a threshold

The similarity is a calibrated cosine, 0 to 1: of terms or, with an ``Embedder``, of embeddings, whichever is larger.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.memory.thread import retry_conflicts
from gatekeeper_core.embedding import Embedded, Embedder, embed, embedding_mark
from gatekeeper_core.errors import ConfigError, ConflictError, check_number, check_str, check_type
from gatekeeper_core.events import EMBEDDER_FAILED, MEMORY_FORGET, MEMORY_SEARCH, MEMORY_WRITE
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.selection.anchors import MAX_QUERY_ANCHORS, count_terms, folded, telling_terms
from gatekeeper_core.selection.expansion import MAX_RELATED
from gatekeeper_core.selection.similarity import TermVector, related_to
from gatekeeper_core.storage.base import (
    MEMORY_CATEGORIES,
    EarlierText,
    Memory,
    MemoryCategory,
    MemoryRecord,
    MemoryScope,
    MemoryStore,
)
from gatekeeper_core.tokens import check_tokens
from gatekeeper_core.vectors import cosine

_MAX_CANDIDATES = 200  # most memories that a search compares, found by terms; as many again by vector. Source: ours
_RELATED = 0.6  # the similarity that counts as related, and the minimum of a hit. Source: specification 001
# The cosine of terms that counts as related: one of ten unrelated utterances finds a memory at it.
_RELATED_TERMS = 0.08  # Source: measured, ``benchmarks.long_term_memory --thresholds``
_MERGE_SIMILARITY = 0.85  # of terms, from which two texts of a category are one memory. Source: requirement 004-63
_EARLIER_WEIGHT = 0.9  # of a text against the one after it. Source: ``benchmarks.long_term_memory``
_MAX_BEFORE = 20
_ROUNDING = 1e-6
_MAX_EARLIER = 20  # the newest earlier texts that a memory keeps
_MAX_CHARACTERS = 2_000  # of one memory

_Change = tuple[Memory, list[MemoryRecord]]  # the memory after a change, and the records to store


class MemoryHit(NamedTuple):
    """A memory relevant to a question."""

    memory: Memory
    similarity: float  # the larger of both calibrated cosines, 0.0 to 1.0; see :func:`calibrated`
    kind: Literal["sparse", "dense"]


@dataclass(frozen=True, slots=True)
class MemoryHits(Sequence[MemoryHit]):
    """The result of a search: a sequence of hits, best first.

    Attributes:
        status: ``"sparse"`` (no embedder), ``"dense"``, or ``"fallback"`` (terms only, despite an embedder).
        reason: cause of a fallback, else None.
    """

    hits: tuple[MemoryHit, ...]
    status: Literal["sparse", "dense", "fallback"]
    reason: str | None = None

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, at: Any) -> Any:
        return self.hits[at]


@with_suggestions()
class LongTermMemory:
    """The memories of users in a store, thread-safe; a write that loses 64 races in a row raises ``ConflictError``.

    Args:
        store: where the memories are stored; it may be shared.
        embedder: returns vectors of texts; None compares terms. Optional attributes: ``related_cosine``, the cosine
            that counts as related (0.01..0.99, default 0.6), and ``name``: a new one makes stored vectors outdated.
        query_embedder: returns vectors of questions, for models that embed them differently; defaults to ``embedder``.
        min_similarity: default similarity from which a memory is a hit, 0..1. Source: specification 001.
        clock: returns the time in seconds; None means that memories carry no times and never expire.

    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> memory, ann = LongTermMemory(InMemoryStore()), MemoryScope("default", "ann")
    >>> _ = memory.add(ann, "I prefer green tea", category="user_preference")
    >>> _ = memory.add(ann, "The cache listens on port 6380", category="project_context")
    >>> [hit.memory.text for hit in memory.search(ann, "Which tea shall I buy?")]
    ['I prefer green tea']
    """

    def __init__(
        self,
        store: MemoryStore,
        *,
        embedder: Embedder | None = None,
        query_embedder: Embedder | None = None,
        min_similarity: float = _RELATED,
        clock: Callable[[], float] | None = None,
    ) -> None:
        check_number("min_similarity", min_similarity, low=0, high=1)
        for name, function in (("embedder", embedder), ("query_embedder", query_embedder), ("clock", clock)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} must be callable, got {type(function).__name__}")
        self._store = store
        self._embedder = embedder
        self._query_embedder = query_embedder or embedder
        self._min_similarity = min_similarity
        name = getattr(embedder or query_embedder, "name", "")
        self._embedder_name = name if isinstance(name, str) else ""
        self._related: float = getattr(embedder, "related_cosine", _RELATED)
        check_number("related_cosine", self._related, low=0.01, high=0.99)
        self._clock = clock
        self._warned: set[str] = set()

    @property
    def is_inline(self) -> bool:
        """Whether a search never blocks: no model, and a store with ``is_in_process`` set."""
        return self._query_embedder is None and getattr(self._store, "is_in_process", False) is True

    def add(
        self,
        scope: MemoryScope,
        text: str,
        *,
        category: MemoryCategory,
        key: str | None = None,
        thread: str | None = None,
        seq: int | None = None,
        valid_to: float | None = None,
    ) -> Memory:
        """Remember a text and return the memory that now holds it.

        The arguments are the fields of :class:`~gatekeeper_core.storage.base.Memory`. The same text changes nothing. A
        memory of the same category and key is superseded: closed, and linked with the new one. A very similar one of
        the same category, with the same numbers, is reworded: the newest text wins, the earlier ones are kept. A text
        from an earlier message of the same conversation never overrides a later one.

        Raises:
            ConfigError: the text or a name is empty, the text too long, the category unknown, ``seq`` negative.
        """
        _check_scope(scope)
        draft = Memory("", text, category, key, thread, seq, self._now() or 0.0, valid_to)
        _check_draft(draft)

        def change() -> _Change:
            find = self._store.find_memories
            same_key = find(scope, key=key, categories=(category,), limit=1) if key is not None else ()
            stored = next(iter(same_key), None)
            if stored is None:
                stored = most_alike(draft, *self._candidates(scope, count_terms(text), None, (category,)))
            if stored is None:
                memory_id, stored = self._free_id(scope, draft)
            if stored is None:
                memory = draft._replace(id=memory_id)
                return memory, [self._record(memory)]
            old = stored.memory
            spoken_before = thread == old.thread is not None and seq is not None and seq < (old.seq or 0)
            same_text = folded(text) == folded(old.text)
            if spoken_before or (same_text and valid_to == old.valid_to and key in (None, old.key)):
                return old, []  # nothing new
            if key is None or key != old.key or same_text:
                return self._reword(stored, draft)
            new = draft._replace(supersedes=old.id)
            new = new._replace(id=self._free_id(scope, new)[0])
            until = new.valid_from if old.valid_to is None else min(old.valid_to, new.valid_from)
            closed = old._replace(valid_to=until, superseded_by=new.id, version=old.version + 1)
            return new, [stored._replace(memory=closed), self._record(new)]

        return self._write(scope, change)

    def update(
        self, scope: MemoryScope, memory_id: str, text: str, *, thread: str | None = None, seq: int | None = None
    ) -> Memory:
        """Change the text of a memory and return it; the earlier text is kept.

        Raises:
            KeyError: there is no such memory.
            ConfigError: the text is empty or too long, or this memory was superseded.
        """
        _check_scope(scope)

        def change() -> _Change:
            stored = self._stored(scope, memory_id)
            old = stored.memory
            draft = old._replace(text=text, thread=thread, seq=seq, valid_from=self._now() or 0.0)
            _check_draft(draft)
            if old.superseded_by is not None:
                raise ConfigError(f"this memory was superseded: update {old.superseded_by!r}")
            return (old, []) if old.text == text else self._reword(stored, draft)

        return self._write(scope, change)

    def forget(self, scope: MemoryScope, memory_id: str | None = None) -> int:
        """Delete a memory with its earlier and later versions (None: all of the scope); return the count."""
        _check_scope(scope)
        with stage(MEMORY_FORGET) as seen:
            ids = None
            if memory_id is not None:
                record = self._store.get_memory(scope, memory_id)
                links = ("supersedes", "superseded_by")
                ids = {each.memory.id for link in links for each in self._chain(scope, record, link)}
            deleted = self._store.delete_memories(scope, ids) if ids != set() else 0
            seen.tell(lambda: {"memories": deleted})
        return deleted

    def embed_missing(self, scope: MemoryScope, *, limit: int = 100) -> int:
        """Compute missing or outdated vectors of the newest memories; return the count."""
        _check_scope(scope)
        check_tokens("limit", limit, at_least=1)
        if self._embedder is None:
            return 0
        newest = self._store.find_memories(scope, limit=limit)
        stale = [record for record in newest if record.vector_of != self._mark(record.memory.text)]
        vectors = self._embedded(self._embedder, [record.memory.text for record in stale]).vectors if stale else ()
        number = 0
        for (memory, terms, *_), vector in zip(stale, vectors, strict=False):
            newer = memory._replace(version=memory.version + 1)
            with suppress(ConflictError):  # it was changed in the meantime, and embedded by who changed it
                self._store.put_memories(scope, [MemoryRecord(newer, terms, vector, self._mark(memory.text))])
                number += 1
        return number

    def get(self, scope: MemoryScope, memory_id: str) -> Memory:
        """Return the memory with an id, current or superseded; raise KeyError for an unknown one."""
        _check_scope(scope)
        return self._stored(scope, memory_id).memory

    def newest(self, scope: MemoryScope, *, limit: int = 100) -> tuple[Memory, ...]:
        """Return the most recent current memories, newest first by ``valid_from``."""
        _check_scope(scope)
        check_tokens("limit", limit, at_least=1)
        memories = [record.memory for record in self._store.find_memories(scope, limit=limit)]
        return tuple(sorted(memories, key=lambda memory: (-memory.valid_from, -(memory.seq or 0), memory.id)))

    def history(self, scope: MemoryScope, memory_id: str) -> tuple[Memory, ...]:
        """Return a memory and those that it superseded, newest first; raise KeyError if there is no such memory."""
        _check_scope(scope)
        return tuple(each.memory for each in self._chain(scope, self._stored(scope, memory_id), "supersedes"))

    def naming(self, scope: MemoryScope, text: str) -> tuple[Memory, ...]:
        """Return the current memories that contain all significant words of a text ("my address"), in any order."""
        _check_scope(scope)
        # 地址 weighs little, but counts if there is nothing else.
        terms = telling_terms(text) or {term for term in count_terms(text) if len(term) > 1}
        if not terms:
            return ()
        counts = self._store.count_memories(scope, terms).by_term
        rarest = min(terms, key=lambda term: (counts.get(term, 0), term))
        records = self._store.find_memories(scope, terms=(rarest,), limit=_MAX_CANDIDATES)
        return tuple(record.memory for record in records if terms <= set(record.terms))

    def search(
        self,
        scope: MemoryScope,
        query: str,
        *,
        limit: int = 3,
        min_similarity: float | None = None,
        categories: Collection[MemoryCategory] | None = None,
        before: Sequence[str] = (),
    ) -> MemoryHits:
        """Return at most ``limit`` (1 to 200) memories relevant to a question, best first; ties: the newer first.

        They are of the categories (None: all), each of at least ``min_similarity`` (0..1; None: the default).
        ``before`` holds the user's earlier texts, oldest first; older ones count less.

        Raises:
            ConfigError: a number is out of range, or a category unknown.
        """
        _check_scope(scope)
        check_str("query", query)
        check_number("limit", limit, low=1, high=_MAX_CANDIDATES, integer=True)
        least = self._min_similarity if min_similarity is None else min_similarity
        check_number("min_similarity", least, low=0, high=1)
        for name, texts in (("categories", categories), ("before", before)):
            if isinstance(texts, str):
                raise TypeError(f"{name} must be a collection of strings, got a str")
        for category in categories or ():
            _check_category(category)
        for text in before:
            check_str("before", text)
        if categories is not None and not categories:
            return MemoryHits((), "dense" if self._query_embedder else "sparse")
        with stage(MEMORY_SEARCH) as seen:
            embedder, now = self._query_embedder, self._now()
            embedded = self._embedded(embedder, ["\n".join((*before, query))]) if embedder else None
            vector = embedded.vectors[0] if embedded and embedded.vectors else None
            terms, records = self._candidates(scope, question_terms(query, before), vector, categories or ())
            if now is not None:
                records = [each for each in records if each.memory.valid_to is None or each.memory.valid_to > now]
            ranked, reason = self._ranked(terms, vector, records)
            relevant = tuple(hit for hit in ranked if 0.0 < hit.similarity >= least)[:limit]
            reason = embedded.reason or reason if embedded else None
            hits = MemoryHits(relevant, "fallback" if reason else "dense" if embedder else "sparse", reason)
            seen.tell(lambda: {"status": hits.status, "reason": hits.reason or "", "memories": len(hits)})
        return hits

    def _candidates(
        self, scope: MemoryScope, counts: Mapping[str, float], vector: array[float] | None, categories: Collection[str]
    ) -> tuple[TermVector, list[MemoryRecord]]:
        related = tuple(islice(related_to(tuple(counts)), 4 * MAX_RELATED))
        memories, by_term = self._store.count_memories(scope, (*counts, *related)) if counts else (0, {})
        terms = TermVector(counts, documents=memories, frequencies=by_term)
        indexed = [term for term in terms.terms if by_term.get(term)]
        indexed += islice((term for term in related if by_term.get(term)), MAX_RELATED)
        if not indexed and vector is None:
            return terms, []
        find, most = self._store.find_memories, _MAX_CANDIDATES
        records = find(scope, terms=indexed, vector=vector, categories=categories, limit=most)
        return terms, list(islice(records, 2 * most))  # whatever a store returns, the search is bounded

    def _ranked(
        self, terms: TermVector, vector: array[float] | None, records: Iterable[MemoryRecord]
    ) -> tuple[list[MemoryHit], str | None]:
        """Return memories by similarity to a question (ties: the newer first), and why no vector was compared."""
        hits: list[MemoryHit] = []
        lengths: set[int] = set()
        is_dense = False
        for memory, _, stored, vector_of in records:
            hit = MemoryHit(memory, calibrated(terms.similarity(count_terms(memory.text)), _RELATED_TERMS), "sparse")
            if vector is not None and stored is not None:
                lengths.add(len(stored))
                if len(stored) == len(vector) and vector_of == self._mark(memory.text):
                    is_dense = True
                    similarity = calibrated(cosine(vector, stored), self._related)
                    hit = hit if hit.similarity > similarity else MemoryHit(memory, similarity, "dense")
            hits.append(hit)
        hits.sort(key=lambda hit: (-hit.similarity, -hit.memory.valid_from, -(hit.memory.seq or 0), hit.memory.id))
        if vector is None or is_dense or not hits:
            return hits, None
        other = "other_dimensions" if lengths else "no_stored_vectors"
        return hits, "stale_vectors" if len(vector) in lengths else other

    def _reword(self, stored: MemoryRecord, draft: Memory) -> _Change:
        old = stored.memory
        earlier = old.earlier
        if folded(draft.text) != folded(old.text):
            earlier = (*earlier, EarlierText(old.text, old.valid_from, old.thread, old.seq))[-_MAX_EARLIER:]
        memory = draft._replace(
            id=old.id, key=draft.key or old.key, supersedes=old.supersedes, earlier=earlier, version=old.version + 1
        )
        return memory, [self._record(memory, stored)]

    def _record(self, memory: Memory, before: MemoryRecord | None = None) -> MemoryRecord:
        terms = tuple(count_terms(memory.text))
        if self._embedder is None:
            return MemoryRecord(memory, terms)
        mark = self._mark(memory.text)
        if before is not None and before.vector_of == mark:
            return MemoryRecord(memory, terms, before.vector, mark)
        vectors = self._embedded(self._embedder, [memory.text]).vectors
        return MemoryRecord(memory, terms, vectors[0], mark) if vectors else MemoryRecord(memory, terms)

    def _write(self, scope: MemoryScope, change: Callable[[], _Change]) -> Memory:
        with stage(MEMORY_WRITE) as seen:

            def write() -> Memory:
                memory, records = change()
                if records:
                    self._store.put_memories(scope, records)
                seen.tell(lambda: {"memories": len(records)})
                return memory

            return retry_conflicts(write)

    def _stored(self, scope: MemoryScope, memory_id: str) -> MemoryRecord:
        record = self._store.get_memory(scope, memory_id)
        if record is None:
            raise KeyError(memory_id)
        return record

    def _chain(self, scope: MemoryScope, record: MemoryRecord | None, link: str) -> Iterator[MemoryRecord]:
        ids: set[str] = set()
        while record is not None and record.memory.id not in ids:
            ids.add(record.memory.id)
            yield record
            linked: str | None = getattr(record.memory, link)
            record = self._store.get_memory(scope, linked) if linked else None

    def _free_id(self, scope: MemoryScope, draft: Memory) -> tuple[str, MemoryRecord | None]:
        """Return an id that two writers of the same key (without one: text) share, so one of them meets a conflict.

        If the draft supersedes nothing, also return the current memory that such an id leads to, if its key or text is
        the same: another writer has just stored it, or it has no terms to be found by.
        """
        import hashlib  # here, because it is a tenth of the import of the library

        text = folded(draft.text)
        parts = (draft.category, draft.key or "", draft.supersedes or "", text if draft.key is None else "")
        for number in count():
            data = "\0".join((*parts, str(number))).encode("utf-8", "surrogatepass")
            memory_id = hashlib.sha256(data).hexdigest()[:24]
            stored = self._store.get_memory(scope, memory_id)
            if stored is None:
                break
            if draft.supersedes is None:
                *_, newest = self._chain(scope, stored, "superseded_by")
                is_same = folded(newest.memory.text) == text if draft.key is None else newest.memory.key == draft.key
                if is_same and newest.memory.superseded_by is None:
                    return newest.memory.id, newest
        return memory_id, None

    def _embedded(self, embedder: Embedder, texts: Sequence[str]) -> Embedded:
        embedded = embed(embedder, texts)
        if embedded.reason and embedded.reason not in self._warned:
            self._warned.add(embedded.reason)
            tell(EMBEDDER_FAILED, reason=embedded.reason)
        return Embedded((), embedded.reason) if embedded.reason else embedded

    def _mark(self, text: str) -> str:
        return embedding_mark(text, self._embedder_name)

    def _now(self) -> float | None:
        return None if self._clock is None else self._clock()


def calibrated(cosine: float, related: float) -> float:
    """Return a cosine on the common similarity scale: ``related`` maps to 0.6; 0 and 1 stay.

    Rounded to six digits. Source: ours; 0.6 is the threshold of specification 001.

    >>> calibrated(0.08, 0.08), calibrated(0.33, 0.33), calibrated(0.04, 0.08), calibrated(1.0, 0.08)
    (0.6, 0.6, 0.3, 1.0)
    """
    if cosine < related:
        return round(_RELATED * cosine / related, 6)
    return round(_RELATED + (1 - _RELATED) * (cosine - related) / (1 - related), 6)


def question_terms(query: str, before: Sequence[str]) -> dict[str, float]:
    """Return the term counts of a question and, with less weight, of the newest 20 texts before it."""
    counts: dict[str, float] = {**count_terms(query, limit=MAX_QUERY_ANCHORS)}
    for age, text in enumerate(islice(reversed(before), _MAX_BEFORE), 1):
        for term, number in count_terms(text, limit=MAX_QUERY_ANCHORS).items():
            if term in counts or len(counts) < MAX_QUERY_ANCHORS:
                counts[term] = max(counts.get(term, 0), number * _EARLIER_WEIGHT**age)
    return counts


def most_alike(draft: Memory, terms: TermVector, records: Iterable[MemoryRecord]) -> MemoryRecord | None:
    """Return the memory most alike by terms, if alike enough; other keys or numbers ("6380", "6390") never match."""
    exact = _exact(count_terms(draft.text))
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
    """Return the exact terms: numbers, versions, identifiers with digits, dates and amounts."""
    return {term for term in terms if term[0] in "@#" or any(map(str.isdigit, term))}


def _check_scope(scope: MemoryScope) -> None:
    check_type("scope", scope, MemoryScope)
    _check_name("scope.tenant", scope.tenant)
    _check_name("scope.user", scope.user)


def _check_draft(draft: Memory) -> None:
    _check_name("text", draft.text)
    if len(draft.text) > _MAX_CHARACTERS:
        raise ConfigError(f"text must have at most {_MAX_CHARACTERS} characters, got {len(draft.text)}")
    _check_category(draft.category)
    for name, value in (("key", draft.key), ("thread", draft.thread)):
        if value is not None:
            _check_name(name, value)
    if draft.seq is not None:
        check_tokens("seq", draft.seq)
    if draft.valid_to is not None:
        check_number("valid_to", draft.valid_to, low=-math.inf)


def _check_name(name: str, value: object) -> None:
    if not check_str(name, value).strip():
        raise ConfigError(f"{name} must not be empty")


def _check_category(category: str) -> None:
    if category not in MEMORY_CATEGORIES:
        raise ConfigError(f"unknown category {category!r}: must be one of {', '.join(MEMORY_CATEGORIES)}")
