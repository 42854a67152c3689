"""The rules of forgetting, without a store: what was named, its tombstones, what a memory loses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.storage.appending import check_name
from gatekeeper_core.storage.base import MemoryRecord
from gatekeeper_core.storage.codec import encode_text

__all__ = [
    "TENANT",
    "Target",
    "named_target",
    "sources_of",
    "sources_of_all",
    "tombstone",
    "tombstones_against",
    "tombstones_of",
    "without_source",
]

TENANT = "tenant"
"""The kind of a target that is a whole tenant; the others are "thread", "user" and "source"."""


class Target(NamedTuple):
    """The data to forget, or to begin again: its kind is "tenant" (with the name ""), "thread", "user" or "source"."""

    tenant: str
    kind: str
    name: str


def named_target(tenant: str, *, thread: str | None, user: str | None, source: str | None) -> Target:
    """Return what was named; errors as ``Store.forget``.

    >>> named_target("acme", thread=None, user="ann", source=None)
    Target(tenant='acme', kind='user', name='ann')
    """
    check_name(TENANT, tenant)
    named = [
        (kind, name) for kind, name in (("thread", thread), ("user", user), ("source", source)) if name is not None
    ]
    if len(named) > 1:
        raise ConfigError("name one of thread, user and source, or none of them for all of the tenant")
    for kind, name in named:
        return Target(tenant, kind, check_name(kind, name))
    return Target(tenant, TENANT, "")


def tombstone(tenant: str, kind: str, name: str = "") -> bytes:
    """Return what stands for something that was forgotten: 16 bytes that tell nothing of its name.

    Source: BLAKE2b, 128 bits, over the names with their lengths.
    """
    from hashlib import blake2b  # here, because it is a tenth of the import of the library

    running = blake2b(digest_size=16)
    for part in (tenant, kind, name):
        data = encode_text(part)
        running.update(b"%d:" % len(data))
        running.update(data)
    return running.digest()


def tombstones_against(
    tenant: str, *, thread: str | None = None, user: str | None = None, sources: Iterable[str] = ()
) -> dict[bytes, str]:
    """Return the tombstones that forbid to save something, each with the kind of what was forgotten."""
    named = [(TENANT, ""), ("thread", thread), ("user", user), *(("source", source) for source in sources)]
    return {tombstone(tenant, kind, name): kind for kind, name in named if name is not None}


def tombstones_of(target: Target) -> tuple[bytes, ...]:
    """Return the tombstones that a target leaves; a thread is a source as well."""
    kinds = ("thread", "source") if target.kind == "thread" else (target.kind,)
    return tuple(tombstone(target.tenant, kind, target.name) for kind in kinds)


def sources_of(record: MemoryRecord) -> tuple[str, ...]:
    """Return the threads that a memory's text and its earlier texts come from, each once."""
    memory = record.memory
    threads = (memory.thread, *(earlier.thread for earlier in memory.earlier))
    return tuple(dict.fromkeys(thread for thread in threads if thread))


def sources_of_all(records: Iterable[MemoryRecord]) -> set[str]:
    """Return the threads that the texts of memories come from.

    Raises:
        TypeError: one is no ``MemoryRecord``.
    """
    sources: set[str] = set()
    for record in records:
        if not isinstance(record, MemoryRecord):
            raise TypeError(f"records must be MemoryRecord, got {type(record).__name__}")
        sources.update(sources_of(record))
    return sources


def without_source(record: MemoryRecord, source: str) -> MemoryRecord | None:
    """Return a memory without what comes from a thread, its version one above; None where its own text does.

    >>> from gatekeeper_core.storage.base import EarlierText, Memory
    >>> earlier = (EarlierText("I like tea", 0.0, "t1", 0),)
    >>> kept = without_source(MemoryRecord(Memory("m1", "I love tea", "fact", thread="t2", earlier=earlier)), "t1")
    >>> kept.memory.earlier, kept.memory.version
    ((), 2)
    """
    memory = record.memory
    if memory.thread == source:
        return None
    earlier = tuple(text for text in memory.earlier if text.thread != source)
    return record._replace(memory=memory._replace(earlier=earlier, version=memory.version + 1))
