"""The options of the memories and the block: a selection's as fields, and the selection itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel, Field, PlainSerializer, PrivateAttr
from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW
from pydantic import PlainValidator, TypeAdapter
from workflows.context.state_store import DictState

from gatekeeper_core.context.history.model_windows import window_of_model
from gatekeeper_core.context.history.pins import check_pins
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import (
    HistoryConfig,
    Strategy,
    budget_for_window,
    check_reserve,
    with_options,
)
from gatekeeper_core.context.prompt.adapter_selection import LastSelections, full_run, thread_selector
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.events import WINDOW_UNKNOWN
from gatekeeper_core.observation import tell
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_core.selection.planner import GatekeeperConfig
from gatekeeper_meaning.adapter import adapter_encoder
from llama_index.memory.gatekeeper.events import report
from llama_index.memory.gatekeeper.reading import read_message, write_message

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms.llm import LLM
    from typing_extensions import Self

    from gatekeeper_core.context.history.request import HistoryRequest
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.context.prompt.builder import ContextBuilder
    from gatekeeper_core.embedding import Embedder
    from gatekeeper_core.encoder import TextEncoder

    AnyEmbedder = Embedder | TextEncoder | BaseEmbedding | Literal["auto"]

__all__ = ["Places", "SelectionFields", "limit_for", "one_budget"]

Places: TypeAlias = Collection[int] | Callable[[ChatMessage], bool]
"""Messages of a conversation: their positions among all of them, or a function that picks them."""

_NESTED: dict[str, TypeAdapter[Any]] = {
    "gatekeeper": TypeAdapter(GatekeeperConfig | None),
    "prices": TypeAdapter(ModelPrices | None),
}


def _read_config(value: Any) -> HistoryConfig | None:
    """Return settings that are given, or that ``_written_config`` has written."""
    if isinstance(value, Mapping):
        nested = {name: kind.validate_python(value.get(name)) for name, kind in _NESTED.items()}
        value = HistoryConfig(**{**value, **nested})
    return None if value is None else full_run(with_options(value))


def _written_config(config: HistoryConfig | None) -> dict[str, Any] | None:
    return asdict(config) if config else None


def one_budget(
    config: HistoryConfig | None, builder: ContextBuilder | None, **budgets: int | None
) -> tuple[int | None, HistoryConfig | None]:
    """Return the budget, given by name, in the settings, by the builder, or nowhere, and the settings without it.

    Raises:
        ConfigError: two places say different budgets.
    """
    config = _read_config(config)
    places = {
        **budgets,
        "HistoryConfig.token_budget": config.token_budget if config else None,
        "the builder's total_budget": builder.config.total_budget if builder else None,
    }
    given = {place: tokens for place, tokens in places.items() if tokens is not None}
    if len({*given.values()}) > 1:
        named = ", ".join(f"{place} is {tokens}" for place, tokens in given.items())
        raise ConfigError(f"{named}: give the budget once")
    for place, tokens in given.items():
        check_reserve(config.reserve_tokens if config else 0, tokens, named=place)
    return next(iter(given.values()), None), config and replace(config, token_budget=None)


def limit_for(llm: LLM | None) -> int:
    """Return the budget for a model: three quarters of its window; 16,000 where that is not known, which is logged.

    A model with LlamaIndex's placeholder for a window has the window of its name, where that is known.
    """
    window = llm.metadata.context_window if llm is not None else 0
    if llm is not None and window == DEFAULT_CONTEXT_WINDOW:
        window = window_of_model(llm.metadata.model_name) or window
    budget = budget_for_window(max(0, window))
    if window <= 0:
        tell(WINDOW_UNKNOWN, setting="token_limit", budget_tokens=budget)
    return budget


class SelectionFields(LastSelections, BaseModel):
    """The settings of a selection, beside the fields of a memory of LlamaIndex.

    They may be changed at any time; the next call goes by them.

    Attributes:
        config: the settings; a ``token_budget`` is the limit of the memory. With ``shadow`` a memory gives what it
            would give without a selection.
        strategy, coverage, keep_newest: as in ``HistoryConfig``; None: that of ``config``.
        pinned, exclude: as for ``select_history``: positions, or a function of one ``ChatMessage``, which has no id. A
            position that is not reached yet is passed over. They are not written with the memory.
        embedder: finds turns that share no word with the question: LlamaIndex's ``BaseEmbedding``, a function from
            texts to vectors, a ``TextEncoder`` to share, or ``auto``: that of the extra ``meaning``, if any. None:
            words alone, and the only one that is written; ``Settings.embed_model`` is never taken.
    """

    config: Annotated[HistoryConfig | None, PlainValidator(_read_config), PlainSerializer(_written_config)] = None
    strategy: Strategy | None = None
    coverage: float | None = None
    keep_newest: int | None = None
    pinned: Any = Field(default=(), exclude=True)
    exclude: Any = Field(default=(), exclude=True)
    embedder: Annotated[
        Literal["auto"] | Annotated[Any, PlainValidator(adapter_encoder)],
        PlainSerializer(lambda embedder: None if embedder is None else "auto"),
    ] = "auto"

    _defaults: ClassVar[HistoryConfig] = HistoryConfig(run=None)
    _budget_setting: ClassVar[str | None] = "token_limit"
    _selector: ThreadSelector[ChatMessage] | None = PrivateAttr(default=None)
    _selector_settings: tuple[Any, ...] = PrivateAttr(default=())

    if TYPE_CHECKING:
        tokenizer_fn: Callable[[str], list[Any]]

    def model_post_init(self, context: Any, /) -> None:
        """Build the selector, so that two first calls from two threads meet the same."""
        super().model_post_init(context)
        self._current_selector()

    def report_usage(self, reported: object, thread_id: str) -> None:
        """Correct the account of a thread by what the provider reports for the answer to the last ``get``.

        Args:
            reported: the counts, or what holds them, as ``response.raw``; the message that is put has none.
            thread_id: the chat store key or session id.
        """
        if usage := read_usage(reported):
            self._current_selector().report(usage, thread=thread_id, tenant=self._own_tenant)

    def _select(
        self,
        messages: Sequence[ChatMessage],
        request: HistoryRequest | None = None,
        *,
        thread: str | None,
        config: HistoryConfig | None = None,
    ) -> HistoryView:
        """Return the view and report it; arguments as for ``ThreadSelector.view``."""
        view = self._current_selector().view(messages, request, thread=thread, tenant=self._own_tenant, config=config)
        report(view, memory=type(self).__name__, thread=thread, shadow=self._settings.shadow)
        return view

    def _cost(self, messages: Sequence[ChatMessage]) -> int:
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
        settings = (config, budget, tokenizer, self.embedder, self.pinned, self.exclude)
        if self._selector is not None and self._selector_settings == settings:
            return self._selector
        one_budget(config, None, **{self._budget_setting or "token_budget": budget})
        for name, places in (("pinned", self.pinned), ("exclude", self.exclude)):
            check_pins(name, places)
            if not callable(places) and any(isinstance(place, str) for place in places):
                reason = "must hold positions or be a function of one message: a ChatMessage has no id"
                raise TypeError(f"{name} {reason}")
        selector = self._selector = thread_selector(
            read_message,
            write_message,
            replace(config, token_budget=budget),
            token_counter=lambda text: len(tokenizer(text)),
            budget_setting=self._budget_setting,
            embedder=adapter_encoder(self.embedder),
            pinned=self.pinned,
            exclude=self.exclude,
        )
        self._selector_settings = settings
        return selector

    @classmethod
    def _with(cls, stock: BaseModel, **options: Any) -> Self:
        """Return the object that stock's own constructor has built, with our options."""
        return cls(**{**dict(stock), **options})

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return a copy, or in the state of a workflow this object: LlamaIndex copies the state for each edit."""
        if any(isinstance(copied, DictState) for copied in (memo or {}).values()):
            return self
        return super().__deepcopy__(memo)

    def __getstate__(self) -> dict[Any, Any]:
        """Return the state without the selector, which is built again.

        LlamaIndex deletes from the state what cannot be written, and the state is the object's own dict: it gets that
        of a shallow copy.
        """
        copy = self.model_copy()
        copy._selector, copy._selector_settings = None, ()
        return super(SelectionFields, copy).__getstate__()
