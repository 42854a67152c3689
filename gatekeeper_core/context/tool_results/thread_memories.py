"""One working memory for each thread, from one secret and one store.

::

    secret · tenant · thread ──HMAC-SHA256──> session key ──> working memory: a scope and ids of its own,
                                                                among the blobs of its thread (``Store.blobs_of``)

The same text has another id in each thread, and an id opens nothing in another thread or for another tenant.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from weakref import WeakValueDictionary

from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.tool_results.pointers import check_key
from gatekeeper_core.context.tool_results.working_memory import QUOTA_BYTES, WorkingMemory, check_limits
from gatekeeper_core.errors import ConfigError, check_str
from gatekeeper_core.storage.base import BlobStore, Store, thread_blobs
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter

_KEY_LABEL = b"gatekeeper session key"


class ThreadMemories:
    """The working memories of many threads; safe to use from several threads of the process.

    There is at most one memory of a thread at a time in the process. The most recently used ones are cached; any other
    that nobody refers to is built again when it is needed, and finds its texts in the store.

    Args:
        blobs: the store. A full ``Store`` keeps the texts with their thread, so that forgetting the thread deletes
            them; any other ``BlobStore`` keeps them until they are cleared.
        secret: all session keys are derived from it, 16 bytes or more (``secrets.token_bytes(32)``). Keep it: with
            another one nothing is found again.
        quota_bytes: size limit of all texts of one thread, at least 1.
        ttl_seconds: texts unused for longer may be evicted first; None keeps them until room is needed.
        clock: returns the time in seconds; needed with ``ttl_seconds``.
        token_counter: counts readings; None: the library's own.
        max_ready: how many memories are cached, at least 1. Source: ours; each takes a few hundred bytes for every
            text that it keeps in the store.

    Raises:
        ConfigError: a number is out of range, the secret is too short, or a time to live comes without a clock.
        TypeError: an argument has the wrong type.

    >>> from gatekeeper_core.storage.in_memory import InMemoryBlobStore
    >>> memories = ThreadMemories(InMemoryBlobStore(), b"0123456789abcdef")
    >>> pointer = memories.of("t1").offload("a log")
    >>> memories.of("t1").load(pointer.text), memories.of("t2").load(pointer.text)
    ('a log', None)
    >>> memories.of("t1", tenant="other").load(pointer.text) is None
    True
    """

    def __init__(
        self,
        blobs: BlobStore | Store,
        secret: bytes,
        *,
        quota_bytes: int = QUOTA_BYTES,
        ttl_seconds: float | None = None,
        clock: Callable[[], float] | None = None,
        token_counter: TokenCounter | None = None,
        max_ready: int = 1_000,
    ) -> None:
        check_limits(quota_bytes, ttl_seconds, clock)
        check_tokens("max_ready", max_ready, at_least=1)
        self._secret = check_key(secret, name="secret")
        self._blobs = blobs
        self._make = partial(
            WorkingMemory,
            quota_bytes=quota_bytes,
            ttl_seconds=ttl_seconds,
            clock=clock,
            token_counter=checked_counter(token_counter),
        )
        self._lock = threading.Lock()
        self._ready: LruCache[tuple[str, str, int], WorkingMemory] = LruCache(max_entries=max_ready)
        self._alive: WeakValueDictionary[tuple[str, str, int], WorkingMemory] = WeakValueDictionary()

    def __len__(self) -> int:
        """Return how many memories are cached."""
        return len(self._ready)

    def of(self, thread_id: str, *, tenant: str = "default") -> WorkingMemory:
        """Return the working memory of a thread; ``.clear()`` on it deletes the thread's texts.

        Raises:
            ConfigError: a name is empty.
            TypeError: a name is no text.
        """
        key = session_key(self._secret, thread_id, tenant=tenant)
        name = (tenant, thread_id, os.getpid())  # one that was in use at a fork stays locked for ever
        with self._lock:
            memory = self._alive.get(name)
        # Built without the lock: it queries the store, which may be slow. Two at a time are one in the end.
        built = self._make(thread_blobs(self._blobs, tenant, thread_id), key) if memory is None else memory
        with self._lock:
            memory = self._alive.setdefault(name, built)
        self._ready.put(name, memory)
        return memory


def memory_in(memory: object, thread_id: str | None, *, tenant: str = "default") -> WorkingMemory | None:
    """Return the working memory for a thread: ``memory`` itself, or its own of ``ThreadMemories``; else None.

    A thread without a name has none of ``ThreadMemories``: nobody could be told from anybody else.

    Raises:
        ConfigError: a name is empty.
    """
    if isinstance(memory, ThreadMemories):
        return None if thread_id is None else memory.of(thread_id, tenant=tenant)
    return memory if isinstance(memory, WorkingMemory) else None


def session_key(secret: bytes, thread_id: str, *, tenant: str = "default") -> bytes:
    """Return the session key of a thread, 32 bytes, for whoever holds the secret of 16 bytes or more.

    HMAC-SHA256 over a label, then the tenant and the thread in UTF-8, each after its length in eight bytes: so no two
    pairs of names are written alike.

    Raises:
        ConfigError: the secret is too short, or a name is empty.
        TypeError: an argument has the wrong type.

    Source: HMAC as in RFC 2104; a key of its own for each use of a secret as in RFC 5869; the form is ours.
    """
    import hmac  # here, with what it loads, because most conversations put nothing aside

    check_key(secret, name="secret")
    written = [_KEY_LABEL]
    for what, name in (("tenant", tenant), ("thread_id", thread_id)):
        check_str(what, name)
        if not name:
            raise ConfigError(f"{what} must not be empty: threads without a name would share one memory")
        data = name.encode("utf-8", "surrogatepass")
        written += [len(data).to_bytes(8, "big"), data]
    return hmac.digest(secret, b"".join(written), "sha256")
