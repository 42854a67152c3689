"""Derived records of a thread: loaded, changed, and saved again when another writer was faster.

::

    load ──> change ──> save ──ConflictError──> load again, at most 64 times
               └── nothing to save: the record stays
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.errors import ConflictError, CorruptionError
from gatekeeper_core.storage.base import DerivedRecord
from gatekeeper_core.tokens import check_str

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import RecordStore

__all__ = ["WRITE_ATTEMPTS", "NewRecord", "from_record", "load_record", "to_record", "update_record", "written"]

WRITE_ATTEMPTS = 64
"""How often a change is tried before it is a ``ConflictError``. Source: ours. Of four writers that never rest, one
loses eight times in a row at every tenth change, and 64 times in a row at one in a hundred million."""

Result = TypeVar("Result")


class NewRecord(NamedTuple):
    """A record to save: JSON text, and the sequence number of the newest message that it has read."""

    body: str
    upto_seq: int


def load_record(store: RecordStore, thread: Thread, kind: str) -> DerivedRecord | None:
    """Return the newest record of a kind of a thread, None where there is none.

    Raises:
        StorageError: the store failed.
        TypeError: ``thread`` is no Thread.
    """
    if not isinstance(thread, Thread):
        raise TypeError(f"thread must be a Thread, got {type(thread).__name__}")
    return store.load_record(thread.tenant, thread.id, kind)


def update_record(
    store: RecordStore, thread: Thread, kind: str, change: Callable[[DerivedRecord | None], NewRecord | None]
) -> DerivedRecord | None:
    """Change a record of a thread and return it as it is stored now; of two writers no one undoes the other's change.

    Args:
        store: keeps the records.
        thread: the conversation.
        kind: which of its records.
        change: gives what to save in the place of a record, or of none; None: the record stays. It is asked again each
            time that another writer was faster.

    Raises:
        ConflictError: other writers were faster 64 times in a row.
        StorageError: the store failed.
        TypeError: ``thread`` is no Thread.

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
        version = store.save_record(
            thread.tenant, thread.id, kind, new.body, upto_seq=new.upto_seq, expected_version=expected
        )
        return DerivedRecord(new.body, new.upto_seq, version)

    return written(write)


def written(write: Callable[[], Result]) -> Result:
    """Return what a write (load, change and save) returns, made anew each time that another writer was faster.

    Raises:
        ConflictError: other writers were faster 64 times in a row.
    """
    for _ in range(WRITE_ATTEMPTS - 1):
        with suppress(ConflictError):
            return write()
    return write()


# --- Values as JSON ---------------------------------------------------------------------------------------------------

_MAX_NUMBER = 2**53  # beyond it a JSON reader may round


def to_record(value: Any, *, format_number: int) -> str:
    """Return a dataclass as JSON in ASCII, the same bytes for equal values; :func:`from_record` gives it back."""
    return json.dumps({"format": format_number, **asdict(value)}, separators=(",", ":"), sort_keys=True)


def from_record(kind: type[Result], body: str, *, format_number: int) -> Result:
    """Return the value of a dataclass that a JSON text describes.

    Raises:
        CorruptionError: the text is damaged, of another format, or holds another number of fields or other types.
        TypeError: ``body`` is no str.
    """
    check_str("body", body)
    try:
        data = json.loads(body)
        if data.pop("format") != format_number:
            raise ValueError("another format")
        value: Result = _read(kind, data)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise CorruptionError("the stored record cannot be read: make it anew from the messages") from error
    return value


def _read(kind: Any, data: Any) -> Any:
    """Return what JSON gave back as a value of a type: a tuple from a list, a dataclass from a dict of its fields."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal and data in parts:
        return data
    if type(None) in parts:
        return None if data is None else _read(parts[0], data)
    if origin is tuple and isinstance(data, list):
        kinds = [parts[0]] * len(data) if parts[-1] is ... else parts
        return tuple(_read(part, each) for part, each in zip(kinds, data, strict=True))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        fields = {name: _read(hints[name], data[name]) for name in {**hints, **data}}
        return kind(**fields)  # type: ignore[operator]
    if origin is None and issubclass(kind, tuple):
        return kind(*(_read(part, each) for part, each in zip(get_type_hints(kind).values(), data, strict=True)))
    if type(data) is not kind or (kind is int and not -1 <= data <= _MAX_NUMBER):
        raise ValueError("something else than the field holds")
    return data
