"""What a chat memory can be told, and the selector that goes by it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any

from langchain_classic.memory.chat_memory import BaseChatMemory
from langchain_core.messages import BaseMessage, get_buffer_string
from pydantic import Field, PrivateAttr, SkipValidation
from typing_extensions import Self

from gatekeeper_core.context.history.modes import PASSTHROUGH_BELOW, HistoryConfig, OnError
from gatekeeper_core.context.history.select import HistoryView
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.messages import Message, Role
from gatekeeper_core.selection.planner import GatekeeperConfig
from langchain_gatekeeper.reading import read_message, write_message
from langchain_gatekeeper.signs import signs_of

__all__ = ["SelectionOptions"]


@dataclass(frozen=True)
class _Kept:
    """The selector of a memory, and the settings that it was made for; it makes no difference between two memories."""

    settings: tuple[object, ...] = field(compare=False)
    selector: ThreadSelector[BaseMessage] = field(compare=False)


class SelectionOptions(BaseChatMemory):
    """A chat memory with the options of a selection; they may be changed at any time, the next load goes by them.

    Attributes:
        memory_key: the prompt's variable.
        human_prefix: speaker of the user's lines, where the history is loaded as text.
        ai_prefix: speaker of the model's lines.
        token_budget: what the loaded history may cost, >= 1.
        reserve_tokens: part of it kept free, >= 0.
        floor_turns: newest turns loaded on a switch of topic, >= 0.
        passthrough_below: tokens up to which the whole history is loaded, where it fits, >= 0.
        trim: whether long messages of earlier turns are loaded as copies that are cut to what matters.
        shadow: whether to load the whole history and only report what would have been loaded.
        on_error: ``fallback`` loads the newest turns that fit when the selection fails; ``raise`` lets the error pass.
        token_counter: counts a text; None: ``TokenEstimator()``.
        gatekeeper_config: settings of the selection itself.
    """

    memory_key: str = "history"
    human_prefix: str = "Human"
    ai_prefix: str = "AI"
    token_budget: int = 4000
    reserve_tokens: int = 0
    floor_turns: int = 0
    passthrough_below: int = PASSTHROUGH_BELOW
    trim: bool = True
    shadow: bool = False
    on_error: OnError = "fallback"
    token_counter: Callable[[str], int] | None = Field(default=None, exclude=True)
    gatekeeper_config: Annotated[GatekeeperConfig | None, SkipValidation] = Field(default=None, exclude=True)

    _kept: _Kept | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        """Check the settings."""
        super().model_post_init(context)
        self._selector()

    @property
    def last_selection(self) -> HistoryView | None:
        """What was selected last; None before the first load."""
        return self._selector().last_view

    def selection_for(self, thread_id: Hashable) -> HistoryView | None:
        """Return what was selected last for the history with this ``session_id``; None where that is not known."""
        return self._selector().view_of(thread_id)

    def _selector(self) -> ThreadSelector[BaseMessage]:
        """Return the selector for the settings as they are now."""
        speakers: dict[Role, str] = {"user": self.human_prefix, "assistant": self.ai_prefix}
        given = self.gatekeeper_config
        config = HistoryConfig(
            token_budget=self.token_budget,
            reserve_tokens=self.reserve_tokens,
            floor_turns=self.floor_turns,
            passthrough_below=self.passthrough_below,
            shadow=self.shadow,
            on_error=self.on_error,
            run=None,
            gatekeeper=given if self.trim else replace(given or GatekeeperConfig(), trim=False),
        )
        settings = (config, self.token_counter, self.return_messages, speakers)
        kept = self._kept
        if kept is None or kept.settings != settings:
            read = read_message if self.return_messages else partial(_read_line, speakers=speakers)
            selector = ThreadSelector[BaseMessage](
                read,
                write=write_message,
                signs=partial(signs_of, read=read),
                config=config,
                token_counter=self.token_counter,
            )
            kept = self._kept = _Kept(settings, selector)
        return kept.selector

    def _as_str(self, messages: Sequence[BaseMessage]) -> str:
        return get_buffer_string(messages, human_prefix=self.human_prefix, ai_prefix=self.ai_prefix)

    def _shown(self, messages: list[BaseMessage]) -> Any:
        """Return messages as the chain wants them: as they are, or as text."""
        return messages if self.return_messages else self._as_str(messages)

    def __copy__(self) -> Self:
        """Return a copy with a selector of its own."""
        copied = super().__copy__()
        copied._kept = None
        copied._selector()
        return copied


def _read_line(message: BaseMessage, *, speakers: Mapping[Role, str]) -> Message:
    """Return a message that is shown as a line of text: the name of its speaker costs as well."""
    read = read_message(message)
    return replace(read, name=f"{speakers.get(read.role, read.role)}: ")
