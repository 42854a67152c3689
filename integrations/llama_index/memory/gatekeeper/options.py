"""What the memories and the block have in common: the options of a selection, as fields, and the selection itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel, Field, PlainSerializer, PrivateAttr
from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW
from pydantic import PlainValidator, TypeAdapter
from workflows.context.state_store import DictState

from gatekeeper_core.context.history.pins import check_pins
from gatekeeper_core.context.history.recall import RECALL_BUDGET_TOKENS
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import (
    HistoryConfig,
    Strategy,
    budget_for_window,
    check_reserve,
    with_options,
)
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.events import WINDOW_UNKNOWN
from gatekeeper_core.observation import tell
from gatekeeper_core.pricing.model_names import window_of_model
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_core.selection.planner import GatekeeperConfig
from gatekeeper_meaning.adapter import adapter_encoder
from llama_index.memory.gatekeeper.events import report
from llama_index.memory.gatekeeper.reading import read_message, write_message

if TYPE_CHECKING:
    from llama_index.core.llms.llm import LLM
    from typing_extensions import Self

    from gatekeeper_core.context.prompt.builder import ContextBuilder

__all__ = ["Places", "SelectionOptions", "limit_for", "one_budget"]

Places: TypeAlias = Collection[int] | Callable[[ChatMessage], bool]
"""Messages of a conversation: their positions among all of them, or a function that picks them."""

_NESTED: dict[str, TypeAdapter[Any]] = {
    "gatekeeper": TypeAdapter(GatekeeperConfig | None),
    "prices": TypeAdapter(ModelPrices | None),
}


def _read_config(value: Any) -> HistoryConfig | None:
    """Return settings that are given, or that ``_written_config`` has written; what makes a run smaller is none."""
    if isinstance(value, Mapping):
        nested = {name: kind.validate_python(value.get(name)) for name, kind in _NESTED.items()}
        value = HistoryConfig(**{**value, **nested})
    if not isinstance(value, HistoryConfig | None):
        raise TypeError(f"config must be a HistoryConfig, got {type(value).__name__}")
    if value is not None and value.run not in (None, RunConfig()):
        raise ConfigError("HistoryConfig.run: a memory gives the current run whole; leave it out")
    return value and replace(value, run=None)


def _written_config(config: HistoryConfig | None) -> dict[str, Any] | None:
    return asdict(config) if config else None


def _check_places(name: str, places: object) -> None:
    """Check what a memory is given as ``pinned`` or ``exclude``.

    Raises:
        TypeError: it is neither a collection of positions nor a function.
        ConfigError: a position is negative.
    """
    check_pins(name, places)
    if not callable(places) and any(isinstance(place, str) for place in places):  # type: ignore[attr-defined]
        raise TypeError(f"{name} must hold positions or be a function of one message: a ChatMessage has no id")


def one_budget(
    config: HistoryConfig | None, builder: ContextBuilder | None, **budgets: int | None
) -> tuple[int | None, HistoryConfig | None]:
    """Return the budget, given in one of several places or in none of them, and the settings without it.

    Args:
        config: the settings.
        builder: the builder.
        budgets: those that are given by name.

    Raises:
        ConfigError: two places say different budgets.
    """
    config = _read_config(config)
    places = {
        **budgets,
        "HistoryConfig.token_budget": config.token_budget if config else None,
        "the builder's total_budget": builder.config.total_budget if builder else None,
    }
    said = {place: tokens for place, tokens in places.items() if tokens is not None}
    if len({*said.values()}) > 1:
        named = ", ".join(f"{place} is {tokens}" for place, tokens in said.items())
        raise ConfigError(f"{named}: give the budget once")
    for place, tokens in said.items():
        check_reserve(config.reserve_tokens if config else 0, tokens, named=place)
    return next(iter(said.values()), None), config and replace(config, token_budget=None)


def limit_for(llm: LLM | None) -> int:
    """Return the budget for a model: three quarters of its window; 16,000 where that is not known, which is logged.

    Where the model has LlamaIndex's placeholder for a window, the one that its name tells stands before it.
    """
    window = None
    if llm is not None:
        said = llm.metadata
        by_name = window_of_model(said.model_name)
        window = (
            by_name or said.context_window if said.context_window == DEFAULT_CONTEXT_WINDOW else said.context_window
        )
    budget = budget_for_window(window if window and window > 0 else None)
    if not window or window < 0:
        tell(WINDOW_UNKNOWN, setting="token_limit", budget_tokens=budget)
    return budget


class SelectionOptions(BaseModel):
    """The settings of a selection, beside the fields of a memory of LlamaIndex.

    They may be changed at any time; the next call goes by them.

    Attributes:
        config: the settings; a ``token_budget`` is the limit of the memory. With ``shadow`` a memory gives what it
            would give without a selection.
        strategy: ``gate``, ``fill``, ``cache`` or ``window``; None: that of ``config``, as with the next two.
        coverage: the share of what the answer needs that is to be sent, 0..1.
        keep_newest: newest turns that are sent whole whatever the question says.
        pinned: messages that are always sent: their positions, or a function of one ``ChatMessage``, which has no id. A
            message of the assistant or of a tool keeps its whole turn, where it fits. A position that is not reached
            yet is passed over. It is not written with the memory; nor is the next one.
        exclude: messages that are never sent, likewise; of a past turn that holds one nothing is.
        embedder: finds turns that share no word with the question: LlamaIndex's ``BaseEmbedding``, a function from
            texts to vectors, a ``TextEncoder`` to share, or ``auto``: that of the extra ``meaning``, if any. None:
            words alone; ``Settings.embed_model`` is never taken. It is not written with the memory.
    """

    config: Annotated[HistoryConfig | None, PlainValidator(_read_config), PlainSerializer(_written_config)] = None
    strategy: Strategy | None = None
    coverage: float | None = None
    keep_newest: int | None = None
    pinned: Any = Field(default=(), exclude=True)
    exclude: Any = Field(default=(), exclude=True)
    embedder: Literal["auto"] | Annotated[Any, PlainValidator(adapter_encoder)] = Field(default="auto", exclude=True)

    _defaults: ClassVar[HistoryConfig] = HistoryConfig(run=None)
    _budget_setting: ClassVar[str | None] = "token_limit"
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

    def report_usage(self, reported: object, thread_id: str) -> None:
        """Correct the account of a thread by what the provider reports for the answer to the last ``get``.

        Args:
            reported: the counts, or what holds them, as ``response.raw``; the message that is put has none.
            thread_id: the chat store key or session id.
        """
        usage = read_usage(reported)
        if usage:
            self._current_selector().report(usage, thread=thread_id)

    def _select(
        self,
        messages: Sequence[ChatMessage],
        request: HistoryRequest | None = None,
        *,
        thread: str | None,
        config: HistoryConfig | None = None,
    ) -> HistoryView:
        """Return the view and report it; arguments as for ``ThreadSelector.view``."""
        view = self._current_selector().view(messages, request, thread=thread, config=config)
        report(view, memory=type(self).__name__, thread=thread, shadow=self._settings.shadow)
        return view

    def _cost(self, messages: Sequence[ChatMessage]) -> int:
        return self._current_selector().cost(messages)

    def _history_cost(self, messages: Sequence[ChatMessage]) -> int:
        return self._current_selector().cost(messages)

    @property
    def _settings(self) -> HistoryConfig:
        named = {"strategy": self.strategy, "coverage": self.coverage, "keep_newest": self.keep_newest}
        return with_options(self.config or self._defaults, **named)

    def _budget_tokens(self) -> int:
        raise NotImplementedError

    def _current_selector(self) -> ThreadSelector[ChatMessage]:
        """Return the selector for the fields as they are now."""
        config, budget, tokenizer = self._settings, self._budget_tokens(), self.tokenizer_fn
        made_from = (config, budget, tokenizer, self.embedder, self.pinned, self.exclude)
        if self._selector is None or self._made_from != made_from:
            one_budget(config, None, **{self._budget_setting or "token_budget": budget})
            _check_places("pinned", self.pinned)
            _check_places("exclude", self.exclude)
            selector = ThreadSelector(
                read_message,
                write=write_message,
                config=replace(config, token_budget=budget, run=None),
                token_counter=lambda text: len(tokenizer(text)),
                budget_setting=self._budget_setting,
                embedder=adapter_encoder(self.embedder),
                pinned=self.pinned,
                exclude=self.exclude,
            )
            self._selector, self._made_from = selector, made_from
            return selector
        return self._selector

    @classmethod
    def _with(cls, stock: BaseModel, **options: Any) -> Self:
        """Return the object that stock's own constructor has made, with our options."""
        return cls(**{**dict(stock), **options})

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return a copy, or in the state of a workflow this object: LlamaIndex copies the state for each edit."""
        if any(isinstance(copied, DictState) for copied in (memo or {}).values()):
            return self
        return super().__deepcopy__(memo)

    def __getstate__(self) -> dict[Any, Any]:
        """Return the state without the selector, which is worked out again.

        LlamaIndex deletes from the state what cannot be written, and the state is the object's own dict: it gets that
        of a shallow copy.
        """
        copy = self.model_copy()
        copy._selector, copy._made_from = None, ()
        return super(SelectionOptions, copy).__getstate__()
