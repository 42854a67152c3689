"""What readers of agents' logs and of providers' message lists share: one log a file, messages read natively."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.messages import SIGNED, Message, Metadata
from gatekeeper_core.native.items import Format as NativeFormat
from gatekeeper_core.native.items import kind_of
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_formats import base


@dataclass(slots=True)
class Log:
    """What a log says beside its messages.

    Attributes:
        left_out: what was left out.
        usage: what was reported for each call of a model, in order.
        id: what the program calls the session.
        title: its title.
        created: the day it began.
    """

    left_out: base.LeftOut = field(default_factory=Counter)
    usage: list[Usage] = field(default_factory=list)
    id: str | None = None
    title: str | None = None
    created: str | None = None

    def begins(self, session: object, time: object) -> None:
        """Note the id and the day of the session, where none is known yet."""
        self.id = self.id or (session if isinstance(session, str) and session else None)
        self.created = self.created or base.date_of(time)


def one_log(items: base.Items, read: Callable[[base.Items, Log], Iterable[Message]]) -> base.Entries:
    """Yield the one session of a log; it is read here, because its title may be in its last line."""
    log = Log()
    messages = tuple(read(_whole_lines(items, log.left_out), log))
    loaded = base.Loaded(messages, log.left_out, usage=tuple(log.usage))
    yield base.Entry(lambda: loaded, id=log.id, title=log.title, created=log.created)


def _whole_lines(items: base.Items, left_out: base.LeftOut) -> base.Items:
    """Yield the values of a log; a last line that is still being written is counted."""
    try:
        yield from items
    except base.CutLineError:
        left_out["cut_line"] += 1


def native_messages(
    form: NativeFormat, items: Sequence[tuple[base.Fields, str]], left_out: base.LeftOut
) -> list[Message]:
    """Return the messages of items in a provider's format; what holds no text is counted.

    No message is marked as signed: thinking is left out, so there is nothing that a signature belongs to.

    Args:
        form: the format.
        items: what the provider would be sent, each with where it stands, for the error.
        left_out: counts what is left out.

    Raises:
        PlaceError: an item cannot be read.
    """
    for item, place in items:
        if not isinstance(item.get("role", ""), str):
            raise base.PlaceError(f'{place}: "role" must be text')
    try:
        messages = [read.message for read in form.read([item for item, _ in items])]
    except MessageFormatError as error:
        raise base.PlaceError(f"{items[error.position or 0][1]}: {error.reason}") from error
    for message in messages:
        base.count_media(message, left_out)
    return [_unsigned(message) for message in messages]


def _unsigned(message: Message) -> Message:
    if SIGNED not in message.metadata:
        return message
    return replace(message, metadata=Metadata({key: mark for key, mark in message.metadata.items() if key != SIGNED}))


def without(blocks: object, kinds: frozenset[str], left_out: base.LeftOut) -> Any:
    """Return content without the blocks of thinking of these types, which are counted; text comes back as it is."""
    if not isinstance(blocks, list):
        return blocks
    rest = [block for block in blocks if kind_of(block) not in kinds]
    left_out["thinking"] += len(blocks) - len(rest)
    return rest
