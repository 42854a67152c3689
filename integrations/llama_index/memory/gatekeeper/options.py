"""What the memories and the block have in common: the options of a selection, as fields, and the selection itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel, Field, PrivateAttr

from gatekeeper_core.context.history.modes import PASSTHROUGH_BELOW, HistoryConfig, OnError
from gatekeeper_core.context.history.recall import RECALL_BUDGET_TOKENS
from gatekeeper_core.context.history.select import HistoryView
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.selection.planner import GatekeeperConfig
from llama_index.memory.gatekeeper.events import report
from llama_index.memory.gatekeeper.reading import read_message, write_message
from llama_index.memory.gatekeeper.signs import signs_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SelectionOptions"]

_SHARED = ("reserve_tokens", "floor_turns", "passthrough_below", "shadow", "on_error")


class SelectionOptions(BaseModel):
    """The options of a selection, beside the fields of a memory of LlamaIndex.

    They may be changed at any time; the next call goes by them. The defaults and their sources are those of
    ``HistoryConfig``.

    Attributes:
        reserve_tokens: part of the budget kept free for what is sent besides and cannot be seen here, >= 0.
        floor_turns: newest turns kept on a switch of topic, >= 0.
        passthrough_below: tokens up to which the whole history is sent, where it fits, >= 0.
        trim: whether long messages of earlier turns are given as copies that are cut to what matters.
        shadow: whether to report only: the memory gives what it would give without a selection.
        on_error: ``fallback`` gives the newest turns that fit when the selection fails; ``raise`` lets the error pass.
        gatekeeper_config: settings of the selection itself.
    """

    reserve_tokens: int = Field(default=0, ge=0)
    floor_turns: int = Field(default=0, ge=0)
    passthrough_below: int = Field(default=PASSTHROUGH_BELOW, ge=0)
    trim: bool = True
    shadow: bool = False
    on_error: OnError = "fallback"
    gatekeeper_config: GatekeeperConfig | None = None

    _selector: ThreadSelector[ChatMessage] | None = PrivateAttr(default=None)
    _made_from: tuple[Any, ...] = PrivateAttr(default=())

    if TYPE_CHECKING:
        tokenizer_fn: Callable[[str], list[Any]]

    def model_post_init(self, context: Any, /) -> None:
        """Make the selector, so that two first calls from two threads meet the same."""
        super().model_post_init(context)
        self._current_selector()

    @property
    def last_selection(self) -> HistoryView | None:
        """The selection made last, whatever the thread; None before the first."""
        return self._current_selector().last_view

    def selection_for(self, thread_id: str) -> HistoryView | None:
        """Return the selection made last for a thread, or None where the thread is unknown or long unused."""
        return self._current_selector().view_of(thread_id)

    def recall_earlier(self, query: str, thread_id: str, *, max_tokens: int = RECALL_BUDGET_TOKENS) -> str:
        """Return earlier turns of a thread that the last ``get`` left out, or cut; with a builder none."""
        return self._current_selector().recall(query, thread=thread_id, max_tokens=max_tokens)

    def _select(self, messages: Sequence[ChatMessage], *, thread: str | None, **arguments: Any) -> HistoryView:
        """Return the view and report it; arguments as for ``ThreadSelector.view``."""
        view = self._current_selector().view(messages, thread=thread, **arguments)
        report(view, memory=type(self).__name__, thread=thread, shadow=self.shadow)
        return view

    def _cost(self, messages: Sequence[ChatMessage]) -> int:
        return self._current_selector().cost(messages)

    def _history_cost(self, messages: Sequence[ChatMessage], *, thread: str | None) -> int:
        return self._current_selector().history_cost(messages, thread=thread)

    def _budget_tokens(self) -> int:
        raise NotImplementedError

    def _current_selector(self) -> ThreadSelector[ChatMessage]:
        """Return the selector for the fields as they are now."""
        tokenizer, gatekeeper = self.tokenizer_fn, self.gatekeeper_config
        if not self.trim:
            gatekeeper = replace(gatekeeper or GatekeeperConfig(), trim=False)
        settings = {name: getattr(self, name) for name in _SHARED}
        made_from = (self._budget_tokens(), tokenizer, gatekeeper, *settings.values())
        if self._selector is None or self._made_from != made_from:
            config = HistoryConfig(token_budget=self._budget_tokens(), run=None, gatekeeper=gatekeeper, **settings)
            selector = ThreadSelector(
                read_message,
                write=write_message,
                signs=signs_of,
                config=config,
                token_counter=lambda text: len(tokenizer(text)),
            )
            self._selector, self._made_from = selector, made_from
            return selector
        return self._selector

    @classmethod
    def _with(cls, stock: BaseModel, **options: Any) -> Self:
        """Return the object that stock's own constructor has made, with our options."""
        return cls(**{**dict(stock), **options})

    def __getstate__(self) -> dict[Any, Any]:
        """Return the state without the selector, which is worked out again.

        LlamaIndex deletes from the state what cannot be written, and the state is the object's own dict: it gets that
        of a shallow copy.
        """
        copy = self.model_copy()
        copy._selector, copy._made_from = None, ()
        return super(SelectionOptions, copy).__getstate__()
