"""One context builder behind the requests of many threads, in the message class of any framework.

::

    the framework's messages ──read──> Thread ──ContextBuilder.build──> BuiltContext ──render──> messages for a provider
                                             each of them: the caller's own object where it says the same, else written
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.history.reading import read_history
from gatekeeper_core.context.history.rounds import as_summary
from gatekeeper_core.context.history.strategies import HistoryConfig, OnError, check_reserve
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.tool_results.thread_memories import thread_name
from gatekeeper_core.errors import BudgetError, ConfigError
from gatekeeper_core.events import OVER_BUDGET, REQUEST
from gatekeeper_core.messages import Message, is_answered, is_summary
from gatekeeper_core.observation import stage, tell

if TYPE_CHECKING:
    from gatekeeper_core.context.prompt.result import BuiltContext
    from gatekeeper_core.messages import Provider
    from gatekeeper_core.pricing.prices import ModelPrices
    from gatekeeper_core.pricing.usage import Usage

__all__ = ["Asked", "Piece", "ThreadRequest", "ThreadRequests", "builder_requests", "check_beside_builder"]

Item = TypeVar("Item")

Piece = tuple[Message, "Item | None"]
"""What a message that is sent is made of: a message as the builder has it, and the framework's own, if there is one."""

_BESIDE_BUILDER = frozenset({"reserve_tokens", "shadow", "on_error"})


class Asked(NamedTuple):
    """Whose request it is, and what the framework sends besides the messages.

    Attributes:
        thread: what the framework calls the conversation; None: its first user message names it.
        tenant: see ``Thread.tenant``.
        user: see ``Thread.user``.
        question: what the user asks, where the framework knows it. It may not be among the messages yet: then nothing
            that is given back says it. None: it is the text of the current turn.
        tools: schemas that are sent beside the messages.
        reserve_tokens: what else the budget has to carry, >= 0.
        provider: who reads the messages.
        prices: of the model that does; None: see ``ContextBuilder.build``.
        opens_with_summary: whether other code wrote the first message in the place of earlier ones: it is always sent.
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


_NOBODY = Asked()


@dataclass(frozen=True, slots=True)
class ThreadRequest(Generic[Item]):
    """The messages of one request to a model.

    Attributes:
        messages: in their order, the system message first where there is one.
        context: what was built; None where that was over the budget.
        refused: why it was; None where it was not.
    """

    messages: tuple[Item, ...]
    context: BuiltContext | None = None
    refused: BudgetError | None = None

    def facts(self) -> dict[str, Any]:
        """Return flat JSON-ready facts for logs and events: counts and ids, never text."""
        if self.refused:
            numbers = {name: getattr(self.refused, name) for name in ("needed_tokens", "available_tokens")}
            return {"status": "over_budget", "messages": len(self.messages), **numbers}
        built = self.context.facts() if self.context else {}
        return {"status": "built", "messages": len(self.messages), **built}


class ThreadRequests(Generic[Item]):
    """Builds the requests of threads, and gives back the framework's own messages wherever they say the same.

    Safe to use from several threads.

    Args:
        builder: builds the prompts; its settings hold the budget.
        read: translates one message of the framework.
        write: gives a message of the framework for one that is sent, from what it is made of: nothing (the build made
            it), one message that was changed, or several that were joined.
        on_error: ``fallback`` sends system message and current turn where the build is over the budget by what must be
            sent; ``raise`` lets the ``BudgetError`` pass.

    Raises:
        ConfigError: ``on_error`` is unknown.
        TypeError: an argument has the wrong type.

    >>> requests = ThreadRequests(ContextBuilder(), read=Message.from_dict, write=lambda message, _: message.to_dict())
    >>> talk = [{"role": "user", "content": "Which port?"}]
    >>> request = requests.request(talk, Asked("t1"))
    >>> [message is own for message, own in zip(request.messages, talk, strict=True)]
    [True]
    """

    def __init__(
        self,
        builder: ContextBuilder,
        *,
        read: Callable[[Item], Message],
        write: Callable[[Message, Sequence[Piece[Item]]], Item],
        on_error: OnError = "fallback",
    ) -> None:
        if not isinstance(builder, ContextBuilder):
            raise TypeError(f"builder must be a ContextBuilder, got {type(builder).__name__}")
        if on_error not in ("fallback", "raise"):
            raise ConfigError(f'on_error must be "fallback" or "raise", got {on_error!r}')
        self._builder = builder
        self._read = read
        self._write = write
        self._on_error = on_error
        self._last: LruCache[tuple[str, str], BuiltContext | None]
        self._last = LruCache(max_entries=builder.config.history.max_threads)

    @property
    def last_context(self) -> BuiltContext | None:
        """The context built last, in any thread; None before the first build, and after one that was over budget."""
        return self._last.newest()

    def context_of(self, thread: Hashable, *, tenant: str = "default") -> BuiltContext | None:
        """Return what was built last for a thread; None where that is not known, or was over the budget.

        A thread without a name is never known: several conversations may run without one.
        """
        name = thread_name(thread)
        return self._last.peek((tenant, name)) if name else None

    def request(
        self, items: Sequence[Item], asked: Asked = _NOBODY, *, system: Item | None = None
    ) -> ThreadRequest[Item]:
        """Return what a model is to be sent.

        Args:
            items: the whole history, in the framework's own messages; read, never changed.
            asked: whose request it is.
            system: the system message, where the framework has it apart from the history.

        Raises:
            BudgetError: what must be sent is over the budget by itself, and ``on_error`` is ``raise``.
            ConfigError: a number is out of range.
            TypeError: an argument has the wrong type.
        """
        with stage(REQUEST, thread=thread_name(asked.thread)) as seen:
            thread = self._thread(items, asked)
            made = self._made(thread, items, asked, system)
            seen.tell(made.facts)
        self._last.put((thread.tenant, thread.id), made.context)
        return made

    def report(self, usage: Usage, items: Sequence[Item], asked: Asked = _NOBODY) -> None:
        """Correct the account of a thread by what the provider reports for its last request; see :meth:`request`."""
        self._builder.report(usage, self._thread(items, asked))

    def _thread(self, items: Sequence[Item], asked: Asked) -> Thread:
        messages, name = tuple(map(self._read, items)), thread_name(asked.thread)
        if asked.opens_with_summary:
            messages = (as_summary(messages[0]), *messages[1:])
        if not name:  # what its first user message says makes one
            first = next((message for message in messages if message.role == "user"), Message("user", ""))
            name = f"first message {Thread('-', (first,)).digests([0])[0]}"
        return Thread(name, messages, asked.tenant, asked.user)

    def _made(self, thread: Thread, items: Sequence[Item], asked: Asked, system: Item | None) -> ThreadRequest[Item]:
        prompt, inside = _prompt(thread.messages, asked.question)
        rules = Message("system", "" if system is None else self._read(system).text)
        try:
            context = self._builder.build(
                thread,
                prompt,
                rules.text,
                include_current_input=not inside,
                safety_net=not inside,
                tools=asked.tools,
                reserve_tokens=asked.reserve_tokens,
                pin=inside and self._builder.config.enable_instruction_pinning is True,
                prices=asked.prices,
                recall=inside,
            )
        except BudgetError as error:
            if self._on_error == "raise":
                raise
            tell(OVER_BUDGET, needed_tokens=error.needed_tokens, available_tokens=error.available_tokens)
            history = read_history(thread.messages, query=asked.question)  # its head and the current turn, whole
            current = range(history.current.start, history.current.stop) if history.current else ()
            kept = [items[at] for at in sorted({*history.head, *history.pinned, *current})]
            return ThreadRequest(tuple(kept if system is None else [system, *kept]), refused=error)
        made = {"system_prompt": (rules, system)}
        given: list[tuple[Message | None, Item | None]] = [
            made.get(part.part, (None, None)) if part.seq is None else (thread.messages[part.seq], items[part.seq])
            for part in context.trace.parts
        ]
        return ThreadRequest(tuple(self._sent(context, given, asked.provider)), context)

    def _sent(
        self, context: BuiltContext, given: Sequence[tuple[Message | None, Item | None]], provider: Provider
    ) -> Iterator[Item]:
        """Yield the messages of a context in the framework's class, the given ones wherever they say the same."""
        parts = context.trace.parts
        for message, sources in context.rendered_parts(provider=provider):
            added = (parts[at].part for at in sources if parts[at].seq is None)
            if context.trace.safety_net and "current_input" in added:
                continue  # the framework says the question itself
            said, own = given[sources[0]] if len(sources) == 1 else (None, None)
            if own is not None and said == message:
                yield own
            else:
                yield self._write(message, [(context.messages[at], given[at][1]) for at in sources])

    def __deepcopy__(self, memo: dict[int, Any]) -> ThreadRequests[Item]:
        """Return a copy that remembers nothing, with the same builder."""
        return ThreadRequests(self._builder, read=self._read, write=self._write, on_error=self._on_error)


def builder_requests(
    builder: ContextBuilder,
    config: HistoryConfig,
    *,
    read: Callable[[Item], Message],
    write: Callable[[Message, Sequence[Piece[Item]]], Item],
    **options: Any,
) -> ThreadRequests[Item]:
    """Return the requests of an adapter with a builder, whose settings hold instead of those of a selection.

    Args:
        builder: see ``ThreadRequests``, like the next two but one.
        config: the settings of the adapter; ``reserve_tokens``, ``shadow`` and ``on_error`` go with a builder.
        read: translates a message.
        write: gives one.
        options: the other options of the adapter by name.

    Raises:
        ConfigError: something is set that a builder does not go with.
        TypeError: an argument has the wrong type.
    """
    requests = ThreadRequests(builder, read=read, write=write, on_error=config.on_error)
    if config.token_budget is not None:
        raise ConfigError("token_budget: the builder has one (total_budget); leave HistoryConfig.token_budget out")
    for name in ("pinned", "exclude"):
        pins = options.get(name, ())
        if callable(pins) or len(pins) > 0:
            raise ConfigError(f"{name}: a builder has no such setting; leave it out")
    counted = {name: options.get(name) for name in ("token_counter", "embedder")}
    check_beside_builder(config, token_budget=None, **counted)
    check_reserve(config.reserve_tokens, builder.config.total_budget, named="the builder's total_budget")
    return requests


def check_beside_builder(
    config: HistoryConfig, *, token_budget: int | None, token_counter: object = None, embedder: object = None
) -> None:
    """Check that what is set for a selection does not contradict a builder, which has its own settings.

    Args:
        config: the settings; ``reserve_tokens``, ``shadow`` and ``on_error`` go with a builder.
        token_budget: the budget that does not contradict it.
        token_counter: a counter for the selection.
        embedder: an embedder for the selection; ``auto``, an adapter's default, is not one.

    Raises:
        ConfigError: something is set that the builder's settings say as well; it is named as the adapters name it.

    >>> check_beside_builder(HistoryConfig(token_budget=None, shadow=True), token_budget=None)
    """
    default = HistoryConfig(token_budget=token_budget)
    beside = [field.name for field in fields(config) if getattr(config, field.name) != getattr(default, field.name)]
    named = [name for name in beside if name not in _BESIDE_BUILDER]
    options = {"token_counter": token_counter, "embedder": embedder}
    named += [name for name, value in options.items() if value not in (None, "auto")]
    if named:
        raise ConfigError(f"{', '.join(named)}: with a builder its own settings hold; set them there")


def _prompt(messages: Sequence[Message], question: str | None) -> tuple[str, bool]:
    """Return the question, and whether it is among the messages already."""
    history = read_history(messages, query=question)
    if question is None:
        current = history.current.messages if history.current else ()
        asked = (one.text for one in current if one.role == "user" and not is_summary(one))
        return "\n".join(asked).strip(), True
    return history.query, not history.query or (history.current is not None and not is_answered(messages))
