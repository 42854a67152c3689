"""Stores that live and die with the process."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from threading import RLock

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.storage.base import (
    BlobRecord,
    BlobStore,
    DerivedRecord,
    MemoryRecord,
    MemoryScope,
    MemoryStore,
    RecordStore,
    TermCounts,
)
from gatekeeper_core.storage.forgetting import sources_of, sources_of_all, without_source
from gatekeeper_core.storage.stored_rows import check_next_versions
from gatekeeper_core.tokens import check_tokens
from gatekeeper_core.vectors import cosine

__all__ = ["InMemoryBlobStore", "InMemoryMemoryStore", "InMemoryRecordStore", "Shelf"]


class InMemoryBlobStore(BlobStore):
    """A ``BlobStore`` in a dictionary.

    Args:
        max_bytes: what all blobs may take together, at least 1; those put first make room, the newest always stays.
            None: no limit.

    >>> store = InMemoryBlobStore()
    >>> store.put("scope", "a", b"0123456789")
    >>> store.get("scope", "a", 2, 5), store.used_bytes("scope")
    (b'234', 10)
    """

    is_in_process = True
    _max_bytes: int | None = None

    def __init__(self, *, max_bytes: int | None = None) -> None:
        self._blobs: dict[str, dict[str, bytes]] = {}
        self._lock = RLock()
        if max_bytes is not None:
            check_tokens("max_bytes", max_bytes, at_least=1)
        self._max_bytes = max_bytes
        self._put: dict[tuple[str, str], int] = {}  # sizes, the first that was put first
        self._all_bytes = 0

    def _scopes(self) -> dict[str, dict[str, bytes]]:
        return self._blobs

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        if not isinstance(data, bytes):
            raise TypeError(f"data must be bytes, got {type(data).__name__}")
        with self._lock:
            self.delete(scope, blob_id)  # a dictionary keeps the place of a key that is there
            self._scopes().setdefault(scope, {})[blob_id] = data
            if self._max_bytes is None:
                return
            self._put[scope, blob_id] = len(data)
            self._all_bytes += len(data)
            while self._all_bytes > self._max_bytes and len(self._put) > 1:
                self.delete(*next(iter(self._put)))

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        with self._lock:
            data = self._scopes().get(scope, {})[blob_id]
        return data if start == 0 and end is None else data[max(0, start) : None if end is None else max(0, end)]

    def delete(self, scope: str, blob_id: str | None = None, /) -> None:
        with self._lock:
            scopes = self._scopes()
            blobs = scopes.get(scope, {})
            for gone in list(blobs) if blob_id is None else [blob_id]:
                blobs.pop(gone, None)
                if self._max_bytes is not None:
                    self._all_bytes -= self._put.pop((scope, gone), 0)
            if not blobs:
                scopes.pop(scope, None)

    def records(self, scope: str, /) -> tuple[BlobRecord, ...]:
        with self._lock:
            return tuple(BlobRecord(blob_id, len(data)) for blob_id, data in self._scopes().get(scope, {}).items())


class InMemoryRecordStore(RecordStore):
    """A ``RecordStore`` in a dictionary.

    >>> store = InMemoryRecordStore()
    >>> store.save_record("default", "t1", "summary", "{}", upto_seq=9, expected_version=0)
    1
    >>> store.load_record("default", "t1", "summary")
    DerivedRecord(body='{}', upto_seq=9, version=1)
    """

    is_in_process = True

    def __init__(self) -> None:
        self._records: dict[tuple[str, str, str], DerivedRecord] = {}
        self._lock = RLock()

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        with self._lock:
            return self._records.get((tenant, thread, kind))

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> int:
        if not isinstance(body, str):
            raise TypeError(f"body must be a str, got {type(body).__name__}")
        key = (tenant, thread, kind)
        with self._lock:
            stored = self._records.get(key)
            version = stored.version if stored else 0
            if version != expected_version:
                raise ConflictError(kind, expected_version=expected_version, stored_version=version)
            self._records[key] = DerivedRecord(body, upto_seq, version + 1)
        return version + 1


class InMemoryMemoryStore(MemoryStore):
    """A ``MemoryStore`` in dictionaries, with postings by term.

    >>> from gatekeeper_core.storage.base import Memory
    >>> store, scope = InMemoryMemoryStore(), MemoryScope("default", "ann")
    >>> store.put_memories(scope, [MemoryRecord(Memory("m1", "I like tea", "user_preference"), ("lik", "tea"))])
    >>> [record.memory.text for record in store.find_memories(scope, terms=["tea"], limit=3)]
    ['I like tea']
    """

    is_in_process = True

    def __init__(self) -> None:
        self._shelves: dict[MemoryScope, Shelf] = {}
        self._lock = RLock()

    def _shelf(self, scope: MemoryScope) -> Shelf:
        return self._shelves.get(scope) or Shelf()

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> None:
        sources_of_all(records)  # which checks them
        with self._lock:
            shelf = self._shelf(scope)
            check_next_versions(records, shelf.record)
            for record in records:
                shelf.put(record)
            if records:
                self._shelves[scope] = shelf

    def get_memory(self, scope: MemoryScope, memory_id: str, /) -> MemoryRecord | None:
        with self._lock:
            return self._shelf(scope).record(memory_id)

    def delete_memories(self, scope: MemoryScope, memory_ids: Collection[str] | None = None, /) -> int:
        with self._lock:
            shelf = self._shelf(scope)
            deleted = len(shelf) if memory_ids is None else sum(map(shelf.delete, memory_ids))
            if memory_ids is None or not len(shelf):
                self._shelves.pop(scope, None)
            return deleted

    def find_memories(
        self,
        scope: MemoryScope,
        *,
        terms: Sequence[str] = (),
        vector: array[float] | None = None,
        key: str | None = None,
        categories: Collection[str] = (),
        limit: int,
    ) -> tuple[MemoryRecord, ...]:
        with self._lock:
            shelf = self._shelf(scope)
            found: dict[str, MemoryRecord] = {}
            if terms or vector is None:
                held = _wanted(shelf.holding(terms) if terms else shelf.newest(key), key, categories)
                found.update((record.memory.id, record) for record in islice(held, limit))
            if vector is not None:
                from heapq import nlargest  # here, because most searches have no vector

                held = _wanted(shelf.newest(key), key, categories)
                near = nlargest(
                    limit,
                    (one for one in held if one.vector is not None and len(one.vector) == len(vector)),
                    key=lambda one: cosine(one.vector, vector),  # type: ignore[arg-type]
                )
                found.update((record.memory.id, record) for record in near)
            return tuple(found.values())

    def count_memories(self, scope: MemoryScope, terms: Collection[str], /) -> TermCounts:
        with self._lock:
            return self._shelf(scope).counts(terms)


def _wanted(records: Iterable[MemoryRecord], key: str | None, categories: Collection[str]) -> Iterator[MemoryRecord]:
    for record in records:
        memory = record.memory
        if (key is None or memory.key == key) and (not categories or memory.category in categories):
            yield record


class Shelf:
    """The memories of one scope. Each put gets the next serial number, so that a falling number is "newest first"."""

    __slots__ = ("_current", "_keys", "_next", "_postings", "_serials", "_stored")

    def __init__(self) -> None:
        self._next = 0
        self._stored: dict[str, MemoryRecord] = {}
        self._serials: dict[str, int] = {}  # of the current ones
        self._current: dict[int, MemoryRecord] = {}
        self._postings: dict[str, array[int]] = {}
        self._keys: dict[str, array[int]] = {}

    def __len__(self) -> int:
        return len(self._stored)

    def put(self, record: MemoryRecord) -> None:
        memory = record.memory
        self.delete(memory.id)
        self._stored[memory.id] = record
        if memory.superseded_by is not None:
            return
        self._serials[memory.id] = serial = self._next
        self._next += 1
        self._current[serial] = record
        for term in record.terms:
            self._postings.setdefault(term, array("Q")).append(serial)
        if memory.key is not None:
            self._keys.setdefault(memory.key, array("Q")).append(serial)

    def delete(self, memory_id: str) -> bool:
        record = self._stored.pop(memory_id, None)
        serial = self._serials.pop(memory_id, None)
        if record is not None and serial is not None:
            del self._current[serial]
            for term in record.terms:
                _take_out(self._postings, term, serial)
            if record.memory.key is not None:
                _take_out(self._keys, record.memory.key, serial)
        return record is not None

    def forget_source(self, source: str) -> int:
        touched = [record for record in self._stored.values() if source in sources_of(record)]
        for record in touched:
            left = without_source(record, source)
            if left is None:
                self.delete(record.memory.id)
                continue
            self._stored[left.memory.id] = left
            if left.memory.id in self._serials:
                self._current[self._serials[left.memory.id]] = left  # no newer than it was
        return len(touched)

    def record(self, memory_id: str) -> MemoryRecord | None:
        return self._stored.get(memory_id)

    def newest(self, key: str | None) -> Iterator[MemoryRecord]:
        """Yield the current memories, or those of a key, newest first."""
        serials = reversed(self._current) if key is None else reversed(self._keys.get(key, array("Q")))
        return map(self._current.__getitem__, serials)

    def holding(self, terms: Sequence[str]) -> Iterator[MemoryRecord]:
        """Yield the current memories that hold a term, each once, by the first of their terms, newest first."""
        seen: set[int] = set()
        for term in terms:
            for serial in reversed(self._postings.get(term, array("Q"))):
                if serial not in seen:
                    seen.add(serial)
                    yield self._current[serial]

    def counts(self, terms: Collection[str]) -> TermCounts:
        held = {term: len(self._postings[term]) for term in terms if term in self._postings}
        return TermCounts(len(self._current), held)


def _take_out(serials_by: dict[str, array[int]], name: str, serial: int) -> None:
    serials = serials_by[name]
    if len(serials) == 1:
        del serials_by[name]
    else:
        del serials[bisect_left(serials, serial)]
