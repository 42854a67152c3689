"""The tool results of a conversation, as a compaction passes them to the compressor.

::

    messages ──once per compaction──> tool names · query · live pointers ──ResultContext──> compress_result ──> text
                                                       ↑───────────── its new pointers ──────────────┘
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from gatekeeper_core.context.tool_results.pointers import COMPRESSED, defused, pointers_in
from gatekeeper_core.context.tool_results.working_memory import READING_TOOLS, ThreadMemories, WorkingMemory
from gatekeeper_core.messages import Message, with_text


class ResultContext(NamedTuple):
    """The context of a tool result, apart from its message.

    Attributes:
        tool_name: the tool whose call it answers; None if no call is found and the message names none.
        query: the newest text of the user, or the question of a run, if any.
        live: ids of the pointers in the window, new ones too: do not evict their texts. Anybody may have written them.
        age_rounds: number of newer answered rounds, at least 0.
        thread_id: name of the thread; None if unnamed.
        tenant: tenant of the thread.
    """

    tool_name: str | None = None
    query: str | None = None
    live: Collection[str] = ()
    age_rounds: int = 0
    thread_id: str | None = None
    tenant: str = "default"


ResultCompressor = Callable[[Message, ResultContext], str]
"""A function that shortens the text of a tool message without losing what matters."""


def memory_of(owner: object, thread_id: str | None = None, *, tenant: str = "default") -> WorkingMemory | None:
    """Return the working memory that ``owner`` is or has; of ``ThreadMemories``, that of a named thread; else None."""
    memory = getattr(owner, "working_memory", owner)
    if isinstance(memory, ThreadMemories):
        return None if thread_id is None else memory.of(thread_id, tenant=tenant)
    return memory if isinstance(memory, WorkingMemory) else None


@dataclass(frozen=True, slots=True)
class ThreadCompressor:
    """A compressor for one thread, with the working memory of that thread."""

    compress: ResultCompressor
    thread_id: str | None
    tenant: str

    @property
    def working_memory(self) -> WorkingMemory | None:
        """The working memory of the thread, if any."""
        return memory_of(self.compress, self.thread_id, tenant=self.tenant)

    def __call__(self, message: Message, context: ResultContext, /) -> str:
        """Return the text of a tool message from the compressor."""
        return self.compress(message, context._replace(thread_id=self.thread_id, tenant=self.tenant))


class ToolResults:
    """The tool results of a conversation, with the context of each for a compressor.

    >>> messages = Message("user", "?"), Message("tool", "12:00:00", tool_call_id="a", name="now")
    >>> results = ToolResults(messages, lambda message, context: f"{context.tool_name} {message.text[:2]}")
    >>> results.smaller(1, messages[1]).text, results.smaller(0, messages[0])
    ('now 12', None)
    """

    def __init__(self, messages: Sequence[Message], compress: ResultCompressor, *, query: str = "") -> None:
        self._compress = compress
        self._context = ResultContext(query=query or None)
        self._messages = tuple(messages)
        self._read: tuple[dict[int, str], dict[str, None]] | None = None  # tool names by position, and pointers

    def smaller(self, position: int, message: Message, *, age_rounds: int = 0) -> Message | None:
        """Return a tool message with a shorter text, marked as compressed, or None if it stays unchanged.

        Compressed messages, results of reading tools and media stay. Foreign pointers in the result are defused.

        Raises:
            TypeError: the compressor returned no str.
        """
        if message.role != "tool" or message.metadata.get(COMPRESSED):
            return None
        if self._read is None:
            live = dict.fromkeys(pointer for one in self._messages for pointer in pointers_in(one.text))
            self._read = _tool_names(self._messages), live
        names, live = self._read
        name = names.get(position)
        if name in READING_TOOLS:
            return None
        before = message.text
        context = self._context._replace(tool_name=name, live=live.keys(), age_rounds=age_rounds)
        text = self._compress(message, context)
        if not isinstance(text, str):
            raise TypeError(f"compress_result must return a str, got {type(text).__name__}")
        if text == before:
            return None
        # Pointers that the result did not have are the compressor's own.
        text = defused(text, set(pointers_in(text)).difference(pointers_in(before)))
        if len(text) >= len(before):
            return None
        live.update(dict.fromkeys(pointers_in(text)))
        return replace(with_text(message, text), metadata={**message.metadata, COMPRESSED: True})


def _tool_names(messages: Sequence[Message]) -> dict[int, str]:
    """Return known tool names by result position: of the calls before it, by id or, without ids, in their order."""
    names: dict[int, str] = {}
    by_id: dict[str, str] = {}
    in_order: Iterator[str] = iter(())
    for at, message in enumerate(messages):
        if message.role == "tool":
            placed = next(in_order, None)
            named = by_id.get(message.tool_call_id) if message.tool_call_id and by_id else placed
            if name := named or message.name:
                names[at] = name
        elif message.role != "system":
            by_id = {call.id: call.name for call in message.tool_calls if call.id}
            in_order = iter([call.name for call in message.tool_calls])
    return names
