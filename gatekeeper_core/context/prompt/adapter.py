"""One context builder for the requests of many threads, in the message class of any framework.

::

    the framework's messages ──read──> Thread ──ContextBuilder.build──> BuiltContext ──render──> messages for a provider
                                       each of them: the caller's own object if it reads the same, else a written one
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, TypeVar

from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.history.reading import read_history
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.rounds import as_summary
from gatekeeper_core.context.history.strategies import HistoryConfig, check_reserve
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.result import BuiltContext
from gatekeeper_core.errors import BudgetError, ConfigError, check_type
from gatekeeper_core.events import OVER_BUDGET, REQUEST
from gatekeeper_core.messages import Message, Provider, is_answered, is_summary, messages_digest, thread_name
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import Usage

Item = TypeVar("Item")

Piece = tuple[Message, "Item | None"]
"""A source of a sent message: the builder's message, and the framework's own, if any."""

_BESIDE_BUILDER = frozenset({"reserve_tokens", "shadow", "on_error"})


class RequestOptions(NamedTuple):
    """The thread of a request, and what the framework sends in addition to the messages.

    Attributes:
        thread: the framework's name of the conversation; None: its first user message names it.
        tenant, user: as in ``Thread``.
        question: the user's question, if known; never added to the messages. None: the text of the current turn.
        tools: schemas that are sent with the messages.
        reserve_tokens: tokens of the budget to keep free for anything else, >= 0.
        provider: the receiver of the messages.
        prices: prices of the model; None: see ``ContextBuilder.build``.
        opens_with_summary: whether the first message replaces earlier ones (written by other code): it is always sent.
    """

    thread: Hashable = None
    tenant: str = "default"
    user: str | None = None
    question: str | None = None
    tools: tuple[str, ...] = ()
    reserve_tokens: int = 0
    provider: Provider = "openai"
    prices: ModelPrices | None = None
    opens_with_summary: bool = False


_DEFAULT = RequestOptions()


@dataclass(frozen=True, slots=True)
class ThreadRequest(Generic[Item]):
    """The messages of one request to a model.

    Attributes:
        messages: in order, the system message first if there is one.
        context: the built context; None if it was over the budget.
        refused: the error in that case, else None.
    """

    messages: tuple[Item, ...]
    context: BuiltContext | None = None
    refused: BudgetError | None = None

    def facts(self) -> dict[str, Any]:
        """Return flat JSON-ready facts for logs and events: counts and ids, never text."""
        if self.refused:
            numbers = {name: getattr(self.refused, name) for name in ("needed_tokens", "available_tokens")}
            return {"status": "over_budget", "messages": len(self.messages), **numbers}
        return {"status": "built", "messages": len(self.messages), **(self.context.facts() if self.context else {})}


class ThreadRequests(Generic[Item]):
    """Thread-safe requests of threads, in the framework's own messages if unchanged; a copy starts without contexts.

    Args:
        builder: builds the prompts; its settings replace those of a selection.
        config: the adapter's settings; only ``reserve_tokens``, ``shadow`` and ``on_error`` go with a builder. On a
            ``BudgetError``, ``fallback`` sends the system message and the current turn; ``raise`` lets it pass.
        read: translates one message of the framework.
        write: writes a sent message for the framework, from its sources: none (added), one (changed) or more (joined).
        options: the other options of the adapter by name.

    Raises:
        ConfigError: an option is set that a builder does not support.
        TypeError: an argument has the wrong type.

    >>> read, write = Message.from_dict, lambda message, _: message.to_dict()
    >>> requests = ThreadRequests(ContextBuilder(), HistoryConfig(), read=read, write=write)
    >>> talk = [{"role": "user", "content": "Which port?"}]
    >>> request = requests.request(talk, RequestOptions("t1"))
    >>> [message is own for message, own in zip(request.messages, talk, strict=True)]
    [True]
    """

    def __init__(
        self,
        builder: ContextBuilder,
        config: HistoryConfig,
        *,
        read: Callable[[Item], Message],
        write: Callable[[Message, Sequence[Piece[Item]]], Item],
        **options: Any,
    ) -> None:
        check_type("builder", builder, ContextBuilder)
        if config.token_budget is not None:
            raise ConfigError("token_budget: the builder sets it (total_budget); remove HistoryConfig.token_budget")
        for name in ("pinned", "exclude"):
            pins = options.get(name, ())
            if callable(pins) or len(pins) > 0:
                raise ConfigError(f"{name}: a builder does not support it; remove it")
        default = HistoryConfig()
        changed = [each.name for each in fields(config) if getattr(config, each.name) != getattr(default, each.name)]
        named = [name for name in changed if name not in _BESIDE_BUILDER]
        named += [name for name in ("token_counter", "embedder") if options.get(name) not in (None, "auto")]
        if named:
            raise ConfigError(f"{', '.join(named)}: the builder has its own: set them there")
        check_reserve(config.reserve_tokens, builder.config.total_budget, named="the builder's total_budget")
        self._builder = builder
        self._read = read
        self._write = write
        self._on_error = config.on_error
        self._contexts: LruCache[tuple[str, str], BuiltContext | None]
        self._contexts = LruCache(max_entries=builder.config.history.max_threads)

    @property
    def last_context(self) -> BuiltContext | None:
        """The latest context of any thread; None before the first build, and after one over budget."""
        return self._contexts.newest()

    def context_of(self, thread: Hashable, *, tenant: str = "default") -> BuiltContext | None:
        """Return the latest context of a thread; None if unknown, over budget, or without a name."""
        name = thread_name(thread)
        return self._contexts.peek((tenant, name)) if name else None

    def request(
        self, items: Sequence[Item], options: RequestOptions = _DEFAULT, *, system: Item | None = None
    ) -> ThreadRequest[Item]:
        """Return the messages to send to a model.

        Args:
            items: the whole history, in the framework's own messages; read, never changed.
            options: the thread, and what is sent in addition.
            system: the system message, if the framework keeps it apart from the history.

        Raises:
            BudgetError: the mandatory parts alone are over budget, and ``on_error`` is ``raise``.
            ConfigError: a number is out of range.
            TypeError: an argument has the wrong type.
        """
        with stage(REQUEST, thread=thread_name(options.thread)) as seen:
            thread = self._thread(items, options)
            history = read_history(thread.messages, HistoryRequest(query=options.question))
            current = history.current.messages if history.current else ()
            prompt, is_inside = history.query, True
            if options.question is None:
                prompt = "\n".join(one.text for one in current if one.role == "user" and not is_summary(one)).strip()
            elif prompt:
                is_inside = bool(current) and not is_answered(thread.messages)
            rules = Message("system", "" if system is None else self._read(system).text)
            try:
                context = self._builder.build(
                    thread,
                    prompt,
                    rules.text,
                    include_current_input=not is_inside,
                    safety_net=not is_inside,
                    tools=options.tools,
                    reserve_tokens=options.reserve_tokens,
                    pin=is_inside and self._builder.config.enable_instruction_pinning is True,
                    prices=options.prices,
                    recall=is_inside,
                )
            except BudgetError as error:
                if self._on_error == "raise":
                    raise
                tell(OVER_BUDGET, needed_tokens=error.needed_tokens, available_tokens=error.available_tokens)
                run = range(history.current.start, history.current.stop) if history.current else ()
                least = [items[at] for at in (*history.head, *run)]
                request = ThreadRequest(tuple(least if system is None else [system, *least]), refused=error)
            else:
                sent = self._sent(context, thread, items, (rules, system), options.provider)
                request = ThreadRequest(tuple(sent), context)
            seen.tell(request.facts)
        self._contexts.put((thread.tenant, thread.id), request.context)
        return request

    def report(self, usage: Usage, items: Sequence[Item], options: RequestOptions = _DEFAULT) -> None:
        """Correct the costs of a thread with the usage that the provider reports for its last request."""
        self._builder.report(usage, self._thread(items, options))

    def _thread(self, items: Sequence[Item], options: RequestOptions) -> Thread:
        messages, name = tuple(map(self._read, items)), thread_name(options.thread)
        if options.opens_with_summary:
            messages = (as_summary(messages[0]), *messages[1:])
        if not name:
            first = next((message for message in messages if message.role == "user"), Message("user", ""))
            name = f"first message {messages_digest([first])}"
        return Thread(name, messages, options.tenant, options.user)

    def _sent(
        self,
        context: BuiltContext,
        thread: Thread,
        items: Sequence[Item],
        system: tuple[Message, Item | None],
        provider: Provider,
    ) -> Iterator[Item]:
        parts = context.trace.parts
        originals: list[tuple[Message | None, Item | None]] = [
            (thread.messages[part.seq], items[part.seq])
            if part.seq is not None
            else system
            if part.part == "system_prompt"
            else (None, None)
            for part in parts
        ]
        for message, sources in context.rendered_parts(provider=provider):
            added = (parts[at].part for at in sources if parts[at].seq is None)
            if context.trace.safety_net and "current_input" in added:
                continue  # the framework sends the question itself
            original, own = originals[sources[0]] if len(sources) == 1 else (None, None)
            if own is not None and original == message:
                yield own
            else:
                yield self._write(message, [(context.messages[at], originals[at][1]) for at in sources])
