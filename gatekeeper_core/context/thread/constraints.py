"""The constraints of many threads, kept where a store keeps them: what a user has laid down for good."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gatekeeper_core.errors import ConflictError, SnapshotError
from gatekeeper_core.selection.constraints import ConstraintConfig, Constraints
from gatekeeper_core.storage.base import WRITE_ATTEMPTS
from gatekeeper_core.tokens import checked_counter

if TYPE_CHECKING:
    from gatekeeper_core.context.thread.thread import Thread
    from gatekeeper_core.storage.base import RecordStore
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["ThreadConstraints"]

_KIND = "constraints"


class ThreadConstraints:
    """Sets, removes and reads the constraints of threads. Two workers that set different ones both succeed.

    Args:
        store: where they are kept.
        config: how large the zone of a thread may grow.
        token_counter: counts a text; None: ``TokenEstimator()``.

    >>> from gatekeeper_core.context.thread.thread import Thread
    >>> from gatekeeper_core.storage.in_memory import InMemoryRecordStore
    >>> constraints = ThreadConstraints(InMemoryRecordStore())
    >>> constraints.set(Thread("t1"), "language", "Chinese")
    >>> constraints.of(Thread("t1")), constraints.of(Thread("t2"))
    ({'language': 'Chinese'}, {})
    """

    __slots__ = ("_config", "_count", "_store")

    def __init__(
        self,
        store: RecordStore,
        *,
        config: ConstraintConfig | None = None,
        token_counter: TokenCounter | None = None,
    ) -> None:
        self._store = store
        self._config = config or ConstraintConfig()
        self._count = checked_counter(token_counter)

    def of(self, thread: Thread) -> dict[str, str]:
        """Return the constraints of a thread, in the order in which they were first set.

        Raises:
            SnapshotError: the stored record is damaged.
            StorageError: the store failed.
        """
        return self._load(thread)[0]

    def set(self, thread: Thread, key: str, value: str) -> None:
        """Set one constraint; the same key again replaces its value and keeps its place.

        Raises:
            TypeError: the key or the value is no text.
            ConfigError: the key is empty.
            ConstraintLimitError: the zone would outgrow its cap; it stays as it was.
            SnapshotError: the stored record is damaged.
            StorageError: the store failed, or other workers kept changing the record.
        """
        self._change(thread, lambda zone: zone.set(key, value))

    def remove(self, thread: Thread, key: str) -> bool:
        """Remove one constraint and return whether it was there; errors as for :meth:`set`."""
        if key not in self.of(thread):
            return False
        self._change(thread, lambda zone: zone.remove(key))
        return True

    def clear(self, thread: Thread) -> None:
        """Remove all constraints, also those that cannot be read any more.

        Raises:
            StorageError: the store failed, or another worker changed the record in between.
        """
        record = self._store.load_record(thread.tenant, thread.id, _KIND)
        if record is not None:
            self._save(thread, {}, record.version)

    def _change(self, thread: Thread, change: Callable[[Constraints], object]) -> None:
        for left in range(WRITE_ATTEMPTS, 0, -1):
            values, version = self._load(thread)
            zone = Constraints(config=self._config, count=self._count, values=values)
            change(zone)
            try:
                self._save(thread, zone.as_dict(), version)
            except ConflictError:
                if left == 1:
                    raise
            else:
                return

    def _save(self, thread: Thread, values: Mapping[str, str], version: int) -> None:
        body, upto_seq = json.dumps(values), thread.last_seq
        self._store.save_record(thread.tenant, thread.id, _KIND, body, upto_seq=upto_seq, expected_version=version)

    def _load(self, thread: Thread) -> tuple[dict[str, str], int]:
        record = self._store.load_record(thread.tenant, thread.id, _KIND)
        if record is None:
            return {}, 0
        try:
            values = json.loads(record.body)
        except ValueError as error:
            raise SnapshotError(
                "the constraints of the thread are damaged: clear() them, and set them again"
            ) from error
        if not isinstance(values, Mapping) or not all(isinstance(value, str) for value in values.values()):
            raise SnapshotError("the constraints of the thread are damaged: clear() them, and set them again")
        return dict(values), record.version
