"""Common code for agent logs (one log per file) and lists of provider-native messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.messages import SIGNED, Message, Metadata
from gatekeeper_core.native.items import Format as NativeFormat
from gatekeeper_core.native.items import kind_of
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_formats import base


@dataclass
class Log:
    """A logged session without its messages: counts of what was left out, usage of each model call, heading."""

    left_out: base.LeftOut = field(default_factory=Counter)
    usage: list[Usage] = field(default_factory=list)
    id: str | None = None
    title: str | None = None
    created: str | None = None

    def begins(self, session: object, time: object) -> None:
        """Set the id and the day of the session, unless already set."""
        self.id = self.id or (session if isinstance(session, str) and session else None)
        self.created = self.created or base.date_of(time)

    def read(self, items: base.Items) -> Iterable[Message]:
        """Return the messages of the log, and record the rest in this object."""
        raise NotImplementedError


class LogFormat(base.Format):
    """A format with one logged session per file."""

    log: type[Log]

    def entries(self, items: base.Items, whole_file: bool) -> base.Entries:  # noqa: ARG002
        """Yield the session, already loaded: its title may be on the last line."""
        log = self.log()

        def whole_lines() -> base.Items:
            try:
                yield from items
            except base.CutLineError:  # the last line is still being written
                log.left_out["cut_line"] += 1

        messages = tuple(log.read(whole_lines()))
        loaded = base.Loaded(messages, log.left_out, usage=tuple(log.usage))
        yield base.Entry(lambda: loaded, id=log.id, title=log.title, created=log.created)


def native_messages(
    form: NativeFormat, items: Sequence[tuple[base.Fields, str]], left_out: base.LeftOut
) -> list[Message]:
    """Return the messages of a provider's items, given with their places (for errors), and count media.

    The ``SIGNED`` mark is removed: a signature belongs to thinking, which is left out.
    """
    for item, place in items:
        if not isinstance(item.get("role", ""), str):
            raise base.PlaceError(f'{place}: "role" must be text')
    try:
        messages = [read.message for read in form.read([item for item, _ in items])]
    except MessageFormatError as error:
        raise base.PlaceError(f"{items[error.position or 0][1]}: {error.reason}") from error
    for at, message in enumerate(messages):
        base.count_media(message, left_out)
        if SIGNED in message.metadata:
            unsigned = {key: mark for key, mark in message.metadata.items() if key != SIGNED}
            messages[at] = replace(message, metadata=Metadata(unsigned))
    return messages


def without(blocks: object, kinds: frozenset[str], left_out: base.LeftOut) -> Any:
    """Return content without the thinking blocks of these types, and count them; text is returned unchanged."""
    if not isinstance(blocks, list):
        return blocks
    rest = [block for block in blocks if kind_of(block) not in kinds]
    left_out["thinking"] += len(blocks) - len(rest)
    return rest
