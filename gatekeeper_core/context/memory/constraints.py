"""The constraints of threads in a store."""

from __future__ import annotations

import json

from gatekeeper_core.context.memory.thread import Thread, load_record, update_record
from gatekeeper_core.errors import CorruptionError
from gatekeeper_core.selection.constraints import with_constraint
from gatekeeper_core.storage.base import DerivedRecord, RecordStore
from gatekeeper_core.tokens import TokenCounter, checked_counter

_KIND = "constraints"


class ThreadConstraints:
    """The constraints of the threads in a store. Two workers that set different ones both succeed.

    Each method raises ``StorageError`` if the store fails or other workers keep changing the record, and all but
    :meth:`clear` raise ``CorruptionError`` if the record is damaged.

    Args:
        store: where they are kept.
        token_counter: counts a text; None: ``TokenEstimator()``.

    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> constraints = ThreadConstraints(InMemoryStore())
    >>> constraints.set(Thread("t1"), "language", "Chinese")
    >>> constraints.of(Thread("t1")), constraints.of(Thread("t2"))
    ({'language': 'Chinese'}, {})
    """

    def __init__(self, store: RecordStore, *, token_counter: TokenCounter | None = None) -> None:
        self._store = store
        self._count = checked_counter(token_counter)

    def of(self, thread: Thread) -> dict[str, str]:
        """Return the constraints of a thread, in the order in which they were first set."""
        return _values(load_record(self._store, thread, _KIND))

    def set(self, thread: Thread, key: str, value: str) -> None:
        """Set one constraint; an existing key gets the new value and keeps its place.

        Raises:
            TypeError: the key or the value is not a str.
            ConfigError: the key is empty.
            ConstraintLimitError: the zone would exceed its cap; nothing changes.
        """

        def change(record: DerivedRecord | None) -> tuple[None, tuple[str, int]]:
            return None, _record(with_constraint(_values(record), key, value, count=self._count), thread)

        update_record(self._store, thread, _KIND, change)

    def remove(self, thread: Thread, key: str) -> bool:
        """Remove one constraint and return whether it was there."""

        def change(record: DerivedRecord | None) -> tuple[bool, tuple[str, int] | None]:
            values = _values(record)
            return (False, None) if values.pop(key, None) is None else (True, _record(values, thread))

        return update_record(self._store, thread, _KIND, change)

    def clear(self, thread: Thread) -> None:
        """Remove all constraints, even damaged ones."""
        update_record(self._store, thread, _KIND, lambda record: (None, _record({}, thread) if record else None))


def _record(values: dict[str, str], thread: Thread) -> tuple[str, int]:
    # Not escaped: two adjacent escaped surrogates would be read back as one character.
    return json.dumps(values, ensure_ascii=False), thread.last_seq


def _values(record: DerivedRecord | None) -> dict[str, str]:
    try:
        values = json.loads(record.body) if record else {}
    except ValueError:
        values = None
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise CorruptionError("the constraints of the thread are damaged: clear() them, and set them again")
    return values
