"""The gatekeeper as the memory of a classic chain."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Literal

from langchain_classic.memory.chat_memory import BaseChatMemory
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, SystemMessage, get_buffer_string
from pydantic import Field, InstanceOf, PlainValidator, PrivateAttr, SkipValidation
from typing_extensions import Self

from gatekeeper_core.arguments import unknown_argument
from gatekeeper_core.context.history.pins import Pins
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig, Strategy
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.context.memory.constraints import ThreadConstraints
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.adapter_selection import LastSelections
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message, Role
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_meaning.adapter import adapter_encoder
from langchain_gatekeeper.events import aannounce, announce
from langchain_gatekeeper.messages import read_message, text_of
from langchain_gatekeeper.models import prices_of, window_of
from langchain_gatekeeper.selectors import SelectorOptions, message_selector


@dataclass(frozen=True)
class _Kept:  # the selector of a memory; ignored when memories are compared
    settings: tuple[object, ...] = field(compare=False)
    selector: ThreadSelector[BaseMessage] = field(compare=False)


class GatekeeperChatMemory(LastSelections, BaseChatMemory):
    r"""A chat memory that loads the turns the new input needs, and keeps all turns in its history.

    Use it instead of ``ConversationBufferMemory``. Nothing is ever removed, and you may set its fields at any time.

    Attributes:
        memory_key: variable in the prompt.
        human_prefix, ai_prefix: names of the speakers, if the history is loaded as text.
        config: the settings; the budget defaults as in ``GatekeeperSelector``. ``shadow`` loads the whole history.
        token_budget, strategy, coverage, keep_newest, pinned, exclude, token_counter, embedder: as for
            ``GatekeeperSelector``.
        k: alias of ``keep_newest``, as in ``ConversationBufferWindowMemory``.
        model: the model, or its name, that the history is for.
        constraints: standing instructions by key, or a store of them, read for the history's ``session_id``; loaded
            before the history, within the budget, also with ``shadow``.

    Raises:
        pydantic.ValidationError: a field has the wrong type; for ``embedder`` a ``TypeError``.
        TypeError: an argument is unknown.
        ConfigError: ``k`` differs from ``keep_newest``, or ``config`` sets ``run``.

    >>> memory = GatekeeperChatMemory(config=HistoryConfig(passthrough_below=0))
    >>> memory.save_context({"input": "The Redis port is 6380."}, {"output": "Noted."})
    >>> memory.save_context({"input": "New topic: how do I bake bread?"}, {"output": "With patience."})
    >>> memory.load_memory_variables({"input": "Which port has Redis?"})
    {'history': 'Human: The Redis port is 6380.\nAI: Noted.'}
    """

    memory_key: str = "history"
    human_prefix: str = "Human"
    ai_prefix: str = "AI"
    config: InstanceOf[HistoryConfig] | None = Field(default=None, exclude=True)
    token_budget: int | None = Field(default=None, exclude=True)
    strategy: Strategy | None = Field(default=None, exclude=True)
    coverage: float | None = Field(default=None, exclude=True)
    keep_newest: int | None = Field(default=None, exclude=True)
    k: int | None = Field(default=None, exclude=True)
    pinned: SkipValidation[Pins] = Field(default=(), exclude=True)
    exclude: SkipValidation[Pins] = Field(default=(), exclude=True)
    token_counter: Callable[[str], int] | None = Field(default=None, exclude=True)
    model: InstanceOf[BaseChatModel] | str | None = Field(default=None, exclude=True)
    constraints: InstanceOf[ThreadConstraints] | dict[str, str] = Field(default_factory=dict, exclude=True)
    embedder: Literal["auto"] | Annotated[Any, PlainValidator(adapter_encoder)] = Field(default="auto", exclude=True)

    _kept: _Kept | None = PrivateAttr(default=None)

    def __init__(self, **arguments: Any) -> None:
        fields = type(self).model_fields
        if unknown := [name for name in arguments if name not in fields]:
            raise TypeError(f"GatekeeperChatMemory() {unknown_argument(unknown[0], fields)}")
        super().__init__(**arguments)

    def model_post_init(self, context: Any, /) -> None:
        """Check the settings."""
        super().model_post_init(context)
        self._current_selector()

    @property
    def memory_variables(self) -> list[str]:
        """The prompt variable, in a list."""
        return [self.memory_key]

    @property
    def buffer(self) -> Any:
        """The whole history, as text or as messages."""
        return self.buffer_as_messages if self.return_messages else self.buffer_as_str

    @property
    def buffer_as_str(self) -> str:
        """The whole history as text."""
        return self._as_text(self.buffer_as_messages)

    @property
    def buffer_as_messages(self) -> list[BaseMessage]:
        """The whole history as messages."""
        return self.chat_memory.messages

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the turns of the history that the input needs, under ``memory_key``.

        The question is the input under ``input_key``, else the only input; without one, the newest turns that fit are
        loaded. Errors of the history's store are raised.
        """
        messages, rules = self.chat_memory.messages, self._rules()
        view = self._view(messages, inputs, rules)
        announce(view, shadow=self._current_selector().config.shadow)
        return self._loaded(messages, view, rules)

    async def aload_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Do the same as ``load_memory_variables``, without blocking the event loop."""
        messages = await self.chat_memory.aget_messages()
        rules = await asyncio.to_thread(self._rules)
        view = await asyncio.to_thread(self._view, messages, inputs, rules)
        await aannounce(view, shadow=self._current_selector().config.shadow)
        return self._loaded(messages, view, rules)

    def _rules(self) -> list[BaseMessage]:
        constraints = self.constraints
        if isinstance(constraints, ThreadConstraints):
            constraints = constraints.of(Thread(thread)) if (thread := self._thread()) else {}
        return [SystemMessage(render_constraints(constraints))] if constraints else []

    def _thread(self) -> str | None:
        session = getattr(self.chat_memory, "session_id", None)
        return session if isinstance(session, str) else None

    def _view(self, messages: list[BaseMessage], inputs: dict[str, Any], rules: list[BaseMessage]) -> HistoryView:
        selector = self._current_selector()
        # The base class finds the input in the same way when it saves.
        keys = [self.input_key] if self.input_key else [*({*inputs} - {*self.memory_variables, "stop"})]
        return selector.view(
            messages,
            HistoryRequest(
                query=text_of(inputs.get(keys[0])) if len(keys) == 1 else "",
                all_past=True,
                fixed_tokens=selector.cost(rules),
                window_tokens=window_of(self.model),
                prices=prices_of(self.model),
            ),
            thread=self._thread(),
        )

    def _loaded(self, messages: list[BaseMessage], view: HistoryView, rules: list[BaseMessage]) -> dict[str, Any]:
        kept = [*rules, *self._current_selector().kept(messages, view)]
        return {self.memory_key: kept if self.return_messages else self._as_text(kept)}

    def _as_text(self, messages: list[BaseMessage]) -> str:
        return get_buffer_string(messages, human_prefix=self.human_prefix, ai_prefix=self.ai_prefix)

    def _current_selector(self) -> ThreadSelector[BaseMessage]:
        if self.k is not None and self.keep_newest not in (None, self.k):
            raise ConfigError(f"k is {self.k} and keep_newest is {self.keep_newest}: they are one setting, set one")
        options = {name: getattr(self, name) for name in SelectorOptions.__annotations__}
        if self.k is not None:
            options["keep_newest"] = self.k
        speakers: dict[Role, str] = {"user": self.human_prefix, "assistant": self.ai_prefix}
        settings = (self.config, options, self.return_messages, speakers)
        if self._kept is None or self._kept.settings != settings:
            read = read_message if self.return_messages else partial(_read_line, speakers=speakers)
            self._kept = _Kept(settings, message_selector(self.config, options, read=read))
        return self._kept.selector

    def __copy__(self) -> Self:
        copied = super().__copy__()
        copied._kept = None
        copied._current_selector()
        return copied


def _read_line(message: BaseMessage, *, speakers: Mapping[Role, str]) -> Message:
    """Return a message that is shown as a line of text, where the speaker's name costs tokens too."""
    read = read_message(message)
    return replace(read, name=f"{speakers.get(read.role, read.role)}: ")
