"""The context builder: turns a thread, a question and a budget into the final list of messages.

Everything works without a model. Your own memory search, model or embedder runs in another thread; it may be slow, fail
or return nonsense, and a store may fail: the build goes on without it, and the trace records it.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import urandom
from typing import Any, cast

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.history.summarizer import PlainSummarizer, Summarizer
from gatekeeper_core.context.memory.constraints import ThreadConstraints
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.summary import ThreadSummary
from gatekeeper_core.context.memory.task import TaskTracker
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.memory.update import MemoryExtractor
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.build import BuildOptions, build_prompt
from gatekeeper_core.context.prompt.parts import SystemPrompt
from gatekeeper_core.context.prompt.records import BuilderParts
from gatekeeper_core.context.prompt.result import BuiltContext
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.context import ResultCompressor
from gatekeeper_core.context.tool_results.pointers import check_key
from gatekeeper_core.context.tool_results.working_memory import ThreadMemories, WorkingMemory
from gatekeeper_core.embedding import Embedder
from gatekeeper_core.encoder import TextEncoder, encoder_of
from gatekeeper_core.errors import check_type
from gatekeeper_core.events import BUILD
from gatekeeper_core.messages import Message, common_beginning
from gatekeeper_core.observation import stage
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.storage.base import MemoryStore, RecordStore
from gatekeeper_core.storage.in_memory import InMemoryBlobStore, in_memory_store
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter

_OFFLOADED_BYTES = 256 * 2**20
"""Bytes of offloaded tool results in this process. Source: ours; four threads at their quota."""


@with_suggestions()
class ContextBuilder:
    """A builder of prompts for any number of conversations; thread-safe.

    Args:
        config: the settings.
        store: keeps summaries, tasks and constraints; defaults to an ``InMemoryStore``.
        memory: long-term memories of ``Thread.user``; defaults to those in the store, if it keeps any.
        tool_results: compresses tool results; defaults to a ``ToolResultCompressor`` that offloads long ones to the
            memory of this process, up to 256 MiB; see ``working_memory``.
        summarizer: a model that writes summaries for the next build; None extracts sentences from the messages.
        extractor: a model that finds what is worth remembering, for the next build; None uses rules.
        token_counter: counts the tokens of a text; defaults to ``TokenEstimator()``.
        session_key: names the fences around third-party text and, without ``tool_results``, pointers to offloaded
            results; 16 bytes or more. None names fences after their content; pointers get a random key per process.
        embedder: returns vectors of texts, to find turns that share no word with the question; several builders may
            share a ``TextEncoder``. If it fails or exceeds ``call_timeout_ms``, the build uses words only, and
            ``trace.misses`` lists ``meaning``. None disables semantic search; memories have their own embedder.

    Raises:
        ConfigError: a number is out of range, or the key is too short.
        TypeError: an argument has the wrong type.

    >>> builder = ContextBuilder(ContextBuilderConfig(total_budget=1000, locale="en"))
    >>> talk = Thread("t1", [Message("user", "The Redis port is 6380."), Message("assistant", "Noted.")])
    >>> context = builder.build(talk, "Which port does Redis use?", "Be brief.")
    >>> [message.role for message in context.messages], context.trace.safety_net
    (['system', 'user', 'assistant', 'user', 'system'], True)
    """

    def __init__(
        self,
        config: ContextBuilderConfig | None = None,
        *,
        store: RecordStore | None = None,
        memory: LongTermMemory | None = None,
        tool_results: ResultCompressor | None = None,
        summarizer: Summarizer | PlainSummarizer | None = None,
        extractor: MemoryExtractor | None = None,
        token_counter: TokenCounter | None = None,
        session_key: bytes | None = None,
        embedder: Embedder | TextEncoder | None = None,
    ) -> None:
        check_type("config", config, ContextBuilderConfig, None)
        count = checked_counter(token_counter)
        session_key = None if session_key is None else check_key(session_key)
        if tool_results is None:
            blobs = InMemoryBlobStore(max_bytes=_OFFLOADED_BYTES)
            aside = ThreadMemories(blobs, session_key or urandom(32), token_counter=count)
            tool_results = ToolResultCompressor(working_memory=aside, token_counter=count)
        store = store or in_memory_store()
        if memory is None and hasattr(store, "put_memories"):
            memory = LongTermMemory(cast("MemoryStore", store))
        config = config or ContextBuilderConfig()
        self._before: LruCache[tuple[str, str], array[int]] = LruCache(max_entries=config.history.max_threads)
        self._parts = BuilderParts(
            config=config,
            count=count,
            session_key=session_key,
            tool_results=tool_results,
            store=store,
            memory=memory,
            extractor=extractor,
            summarizer=summarizer,
            encoder=encoder_of(embedder),
        )

    def __repr__(self) -> str:
        plugged = [(name, getattr(self._parts, name)) for name in ("store", "memory", "summarizer")]
        kinds = "".join(f", {name}={type(part).__name__}" for name, part in plugged if part is not None)
        return f"ContextBuilder(total_budget={self.config.total_budget}{kinds})"  # no text of a conversation

    @property
    def config(self) -> ContextBuilderConfig:
        """The settings."""
        return self._parts.config

    @property
    def token_counter(self) -> TokenCounter:
        """The token counter, with its results cached."""
        return self._parts.count

    @property
    def constraints(self) -> ThreadConstraints:
        """Standing instructions of the user, by thread: ``builder.constraints.set(thread, "language", "Chinese")``."""
        return self._parts.constraints

    @property
    def tasks(self) -> TaskTracker:
        """Active tasks by thread, with their steps, phases and findings."""
        return self._parts.tasks

    @property
    def working_memory(self) -> WorkingMemory | ThreadMemories | None:
        """The store of offloaded tool results; a tool reads them for the model: ``.of(thread.id).answer(pointer)``."""
        return getattr(self._parts.tool_results, "working_memory", None)

    @property
    def summaries(self) -> ThreadSummary:
        """Summaries by thread."""
        return self._parts.summaries

    def set_config(self, **changes: Any) -> None:
        """Change some of the settings, for builds that start later. Source: specification 001-60.

        Raises:
            ConfigError: a value is invalid; nothing was changed.
            TypeError: there is no such setting, or a value has the wrong type; nothing was changed.
        """
        self._parts = replace(self._parts, config=replace(self._parts.config, **changes))

    def build(
        self,
        thread: Thread | None,
        prompt: str,
        system_prompt: str | SystemPrompt,
        *,
        include_current_input: bool = False,
        debug: bool = True,
        tools: Sequence[Mapping[str, Any] | str] = (),
        safety_net: bool = True,
        reserve_tokens: int = 0,
        pin: bool | None = None,
        prices: ModelPrices | None = None,
        recall: bool = True,
    ) -> BuiltContext:
        """Return the prompt for a question.

        Args:
            thread: the conversation, if there is one.
            prompt: the question; added if the thread does not end with it. If blank, the end of the thread is answered.
            system_prompt: a text, or a ``SystemPrompt`` with a stable and a volatile part.
            include_current_input: whether the thread certainly lacks the prompt.
            debug: whether each stage logs a record (level DEBUG, logger ``gatekeeper.builder``).
            tools: schemas of the tools sent with the messages; they count towards the budget.
            safety_net: whether to add a missing prompt; False if the thread certainly has it.
            reserve_tokens: part of the budget to keep free for anything else in this request, >= 0.
            pin: whether to end with the pin (the question again, and the status of the task); defaults to the settings.
            prices: prices of the model, for ``trace.view.bill``; default: ``HistoryConfig.prices``, else ``UNKNOWN``.
            recall: whether earlier turns may be sent inside the question; False if you send the question yourself.

        Raises:
            BudgetError: system prompt, tools, question and open calls alone exceed the budget.
            ConfigError: ``reserve_tokens`` is negative.
            TypeError: an argument has the wrong type.
        """
        check_tokens("reserve_tokens", reserve_tokens)
        check_type("prices", prices, ModelPrices, None)
        check_type("thread", thread, Thread, None)
        check_type("prompt", prompt, str)
        check_type("system_prompt", system_prompt, str, SystemPrompt)
        parts, included = self._parts, include_current_input if safety_net else None
        options = BuildOptions(included, debug, tools, reserve_tokens, pin, prices, recall)
        with stage(BUILD, thread=thread.id if thread else None, log=debug) as seen:
            context = build_prompt(parts, thread, prompt, system_prompt, options)
            if thread is not None:
                parts.save_policy(thread)
                parts.follow_up(thread)
                key, digest = (thread.tenant, thread.id), array("q", map(hash, context.messages))
                shared = common_beginning(self._before.get(key) or (), digest)
                self._before.put(key, digest)
                prefix_tokens = sum(part.tokens for part in context.trace.parts[:shared])
                context = replace(context, trace=context.trace._replace(prefix_tokens=prefix_tokens))
            seen.tell(context.facts)
        return context

    def __deepcopy__(self, memo: dict[int, Any]) -> ContextBuilder:
        return self  # stores and workers cannot be copied, so a copy of the owner shares them

    async def abuild(
        self, thread: Thread | None, prompt: str, system_prompt: str | SystemPrompt, **arguments: Any
    ) -> BuiltContext:
        """Return the prompt for a question, from a worker thread; arguments and errors as for :meth:`build`."""
        import asyncio  # here, because it is a sixth of the import of the builder, and whoever awaits this has it

        return await asyncio.to_thread(self.build, thread, prompt, system_prompt, **arguments)

    def build_simple_context(
        self, system_prompt: str, user_prompt: str, previous_messages: Sequence[Message] | None = None
    ) -> tuple[Message, ...]:
        """Return system prompt, newest messages that fit, and question; store nothing. Source: specification 001-61.

        Raises:
            BudgetError: system prompt and question alone exceed the budget.
            TypeError: an argument has the wrong type.
        """
        off: dict[str, Any] = {name: False for name in ContextBuilderConfig.__slots__ if name.startswith("enable_")}
        history = HistoryConfig(strategy="window")
        plain = replace(self.config, history=history, sliding_window_size=10**9, **off)
        builder = ContextBuilder(plain, token_counter=self.token_counter)
        thread = Thread("simple", tuple(previous_messages or ()))
        return builder.build(thread, user_prompt, system_prompt, include_current_input=True, debug=False).messages

    def report(self, usage: Usage, thread: Thread) -> None:
        """Correct the costs of a thread with the usage that the provider reports for the last prompt."""
        self._parts.selector.report(usage, thread=thread.id, tenant=thread.tenant)
        self._parts.save_policy(thread)
