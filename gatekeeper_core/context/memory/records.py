"""Derived records of a thread: loaded, changed, and saved again when another writer was faster.

::

    load ──> change ──> save ──ConflictError──> load again, at most 64 times
               └── nothing to save: the record stays
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gatekeeper_core.context.memory.thread import Thread, check_thread
from gatekeeper_core.errors import ConflictError
from gatekeeper_core.storage.base import DerivedRecord

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import RecordStore

WRITE_ATTEMPTS = 64
"""How often a change is tried before it is a ``ConflictError``. Source: ours. Of four writers that never rest, one
loses eight times in a row at every tenth change, and 64 times in a row at one in a hundred million."""

Result = TypeVar("Result")


class NewRecord(NamedTuple):
    """A record to save: JSON text, and the sequence number of the newest message that it covers."""

    body: str
    upto_seq: int


def load_record(store: RecordStore, thread: Thread, kind: str) -> DerivedRecord | None:
    """Return the newest record of a kind of a thread, None where there is none; raises what the store raises."""
    check_thread(thread)
    return store.load_record(thread.tenant, thread.id, kind)


def update_record(
    store: RecordStore, thread: Thread, kind: str, change: Callable[[DerivedRecord | None], NewRecord | None]
) -> DerivedRecord | None:
    """Change a record of a thread and return it as it is stored now; of two writers no one undoes the other's change.

    ``change`` returns the record to save in the place of the stored one (None: there is none), or None to leave it. It
    is called again each time that another writer was faster.

    Raises:
        ConflictError: other writers were faster 64 times in a row.
        StorageError: the store failed.

    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> store, thread = InMemoryStore(), Thread("t1")
    >>> for _ in range(2):
    ...     record = update_record(store, thread, "tally", lambda old: NewRecord("I" + (old.body if old else ""), -1))
    >>> record
    DerivedRecord(body='II', upto_seq=-1, version=2)
    """

    def write() -> DerivedRecord | None:
        record = load_record(store, thread, kind)
        new = change(record)
        if new is None:
            return record
        expected = record.version if record else 0
        key = (thread.tenant, thread.id, kind)
        version = store.save_record(*key, new.body, upto_seq=new.upto_seq, expected_version=expected)
        return DerivedRecord(new.body, new.upto_seq, version)

    return retry_conflicts(write)


def retry_conflicts(write: Callable[[], Result]) -> Result:
    """Return the result of a write (load, change and save), repeated each time that another writer was faster.

    Raises:
        ConflictError: other writers were faster 64 times in a row.
    """
    for _ in range(WRITE_ATTEMPTS - 1):
        with suppress(ConflictError):
            return write()
    return write()
