"""The rules that every store follows, without a store: checked arguments, and which messages of an append are new."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gatekeeper_core.errors import ConfigError, ConflictError, StaleReadError, check_str
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.codec import encode_message
from gatekeeper_core.tokens import check_tokens

__all__ = [
    "EncodedMessage",
    "check_name",
    "encoded",
    "plan_append",
    "reading_range",
]


class EncodedMessage(NamedTuple):
    """A message that is to be stored: its own id, or None, and its bytes."""

    message_id: str | None
    body: bytes


def check_name(what: str, name: object) -> str:
    """Return a name of a tenant, thread, user, kind or source.

    Raises:
        TypeError: it is no text.
        ConfigError: it is empty.
    """
    text = check_str(what, name)
    if not text:
        raise ConfigError(f"{what} must not be empty")
    return text


def encoded(messages: Sequence[Message], *, expected_seq: int | None) -> list[EncodedMessage]:
    """Return the messages of an append as they are stored, with its arguments checked.

    Raises:
        TypeError: one is no ``Message``, or ``expected_seq`` no whole number.
        ConfigError: one cannot be stored, or ``expected_seq`` is below -1.
    """
    if expected_seq is not None:
        check_tokens("expected_seq", expected_seq, at_least=-1)
    given = []
    for at, message in enumerate(messages):
        if not isinstance(message, Message):
            raise TypeError(f"messages must hold Message values, got {type(message).__name__} at position {at}")
        given.append(EncodedMessage(message.id, encode_message(message)))
    return given


def reading_range(*, from_seq: int, limit: int | None, min_seq: int | None, last_seq: int) -> range:
    """Return the sequence numbers that a reading gives, of a thread that is stored up to ``last_seq``.

    Raises:
        TypeError: an argument is no whole number.
        ConfigError: one is below 0.
        StaleReadError: the thread is not stored up to ``min_seq``.

    >>> reading_range(from_seq=2, limit=5, min_seq=None, last_seq=3)
    range(2, 4)
    """
    for name, value in (("from_seq", from_seq), ("limit", limit), ("min_seq", min_seq)):
        if value is not None:
            check_tokens(name, value)
    if min_seq is not None and last_seq < min_seq:
        raise StaleReadError(min_seq=min_seq, last_seq=last_seq)
    stop = last_seq + 1 if limit is None else min(last_seq + 1, from_seq + limit)
    return range(from_seq, max(from_seq, stop))


def plan_append(
    given: Sequence[EncodedMessage],
    stored: Mapping[str, tuple[int, bytes]],
    *,
    last_seq: int,
    expected_seq: int | None,
    bodies: Callable[[int, int], Sequence[bytes]],
) -> tuple[list[EncodedMessage], int]:
    """Return the messages to store at the thread's end, and the number of the last one given.

    The caller holds the thread's lock.

    Args:
        given: the messages of the append, in order.
        stored: by their id the number and the bytes of those that the thread holds.
        last_seq: sequence number of the thread's last message, -1 for none.
        expected_seq: what the caller believes ``last_seq`` to be, or None.
        bodies: returns the bytes of stored messages from a sequence number up to another one, that one not included.

    Raises:
        ConflictError: see ``MessageStore.append_messages``.
    """
    if stored and not all(message.message_id for message in given):
        # Without an id to recognise each one by, they must stand side by side.
        start = next(stored[m.message_id or ""][0] - at for at, m in enumerate(given) if m.message_id in stored)
        if start < 0 or list(bodies(start, start + len(given))) != [message.body for message in given]:
            raise _other_content()
        return [], start + len(given) - 1
    new: list[EncodedMessage] = []
    known = dict(stored)
    seq = last_seq
    for message in given:
        before = known.get(message.message_id) if message.message_id else None
        if before is None:
            new.append(message)
            seq = last_seq + len(new)
            if message.message_id:
                known[message.message_id] = seq, message.body
        elif before[1] == message.body:
            seq = before[0]
        else:
            raise _other_content()
    if expected_seq not in (None, last_seq) and (new or not given):
        reason = (
            f"the thread ends with message {last_seq}, not {expected_seq}: read what another writer has added, and "
            "repeat"
        )
        raise ConflictError("thread", expected_version=expected_seq or 0, stored_version=last_seq, reason=reason)
    return new, seq


def _other_content() -> ConflictError:
    reason = (
        "the thread holds a message under an id that was given again with other content or other neighbours: give "
        "each message an id of its own"
    )
    return ConflictError("message", expected_version=0, stored_version=1, reason=reason)
