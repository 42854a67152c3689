"""Tool results of many threads made small, each with the working memory of its own thread.

::

    ThreadResultCompressor ──for_thread("t1")──> ToolResultCompressor over the working memory of t1
    (settings, memories)   ──for_thread(None)──> ToolResultCompressor that puts nothing aside

What serves many threads (``ThreadSelector``, LangChain's middleware) takes one of these in its ``RunConfig`` and binds
it to each thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor, ToolResultConfig
from gatekeeper_core.context.tool_results.digest import Strategy
from gatekeeper_core.context.tool_results.thread_memories import ThreadMemories
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.tokens import TokenCounter

__all__ = ["ThreadResultCompressor"]


class ThreadResultCompressor:
    r"""Gives each thread a compressor of tool results over the working memory of that thread.

    Args:
        memories: the working memories; give the same object to the tool that reads them.
        config: the settings; None: the defaults.
        strategies: by tool name, as for ``ToolResultCompressor``.
        token_counter: counts a text; None: the library's own.

    Raises:
        ConfigError: a strategy names no kind.
        TypeError: an argument has the wrong type.

    >>> from gatekeeper_core.storage.in_memory import InMemoryBlobStore
    >>> memories = ThreadMemories(InMemoryBlobStore(), b"0123456789abcdef")
    >>> compressor = ThreadResultCompressor(memories)
    >>> result = compressor.for_thread("t1").compress("12:00:00 INFO ping\n" * 600)
    >>> result.pointer.id in memories.of("t1").ids, result.pointer.id in memories.of("t2").ids
    (True, False)
    """

    def __init__(
        self,
        memories: ThreadMemories,
        config: ToolResultConfig | None = None,
        *,
        strategies: Mapping[str, Strategy | str] | None = None,
        token_counter: TokenCounter | None = None,
    ) -> None:
        if not isinstance(memories, ThreadMemories):
            raise TypeError(f"memories must be ThreadMemories, got {type(memories).__name__}")
        self._memories = memories
        self._make = partial(ToolResultCompressor, config, strategies=strategies, token_counter=token_counter)
        self._make()  # what cannot work is refused now

    @property
    def is_inline(self) -> bool:
        """Whether its compressors wait for nobody: see ``ThreadMemories.is_inline``."""
        return self._memories.is_inline

    def for_thread(self, thread_id: str | None, *, tenant: str = "default") -> ToolResultCompressor:
        """Return a compressor for a thread; it remembers what it made, so keep it while the thread is served.

        Args:
            thread_id: names the thread. None: it has no name; then nothing is put aside, because nobody could be told
                from anybody else when it is read again.
            tenant: names whose thread it is.

        Raises:
            ConfigError: a name is empty.
            TypeError: a name is no text.
        """
        memory = None if thread_id is None else self._memories.of(thread_id, tenant=tenant)
        return self._make(working_memory=memory)

    def __call__(self, *_: object) -> str:
        """Refuse to compress: which thread a message belongs to is not known here.

        Raises:
            ConfigError: always.
        """
        raise ConfigError("name the thread: compress_result=compressor.for_thread(thread_id)")
