"""The options of memories and block as fields, and their use: to select, or to build with a context builder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from traceback import walk_stack
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from uuid import uuid4
from weakref import WeakValueDictionary

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel, Field, PlainSerializer, PrivateAttr
from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW
from llama_index.core.memory.types import DEFAULT_CHAT_STORE_KEY
from llama_index.core.schema import BaseComponent
from llama_index.core.workflow import Workflow
from pydantic import PlainValidator, TypeAdapter, model_validator
from workflows.context.state_store import DictState

from gatekeeper_core.arguments import unknown_argument
from gatekeeper_core.context.history.pins import check_pins
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import (
    HistoryConfig,
    Strategy,
    budget_for_window,
    check_reserve,
    with_options,
)
from gatekeeper_core.context.prompt.adapter_selection import LastContexts, LastSelections, SelectionOptions, full_run
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.events import WINDOW_UNKNOWN
from gatekeeper_core.messages import Provider
from gatekeeper_core.observation import tell
from gatekeeper_core.pricing.model_names import window_of_model
from gatekeeper_core.pricing.prices import ModelPrices, prices_of_model
from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_core.tokens import check_tokens
from gatekeeper_meaning.adapter import adapter_encoder
from llama_index.memory.gatekeeper.cache_marks import is_anthropic, marked_messages
from llama_index.memory.gatekeeper.events import report
from llama_index.memory.gatekeeper.messages import read_message, write_built, write_message

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms.llm import LLM
    from typing_extensions import Self

    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.context.prompt.adapter import ThreadRequests
    from gatekeeper_core.context.prompt.builder import ContextBuilder
    from gatekeeper_core.embedding import Embedder
    from gatekeeper_core.encoder import TextEncoder

    AnyEmbedder = Embedder | TextEncoder | BaseEmbedding | Literal["auto"]

_NESTED: dict[str, TypeAdapter[Any]] = {
    "gatekeeper": TypeAdapter(GatekeeperConfig | None),
    "prices": TypeAdapter(ModelPrices | None),
}

_between_runs: WeakValueDictionary[str, MemoryFields] = WeakValueDictionary()


def _read_config(value: Any) -> HistoryConfig | None:
    """Return settings, given or as a memory has written them."""
    if isinstance(value, Mapping):
        nested = {name: kind.validate_python(value.get(name)) for name, kind in _NESTED.items()}
        value = HistoryConfig(**{**value, **nested})
    return None if value is None else full_run(with_options(value))


def one_budget(
    config: HistoryConfig | None, builder: ContextBuilder | None, **budgets: int | None
) -> tuple[int | None, HistoryConfig | None]:
    """Return the budget given by name, in the settings or by the builder (else None), and the settings without it.

    Raises:
        ConfigError: two places set different budgets, or a budget leaves no tokens for messages.
    """
    config = _read_config(config)
    places = {
        **budgets,
        "HistoryConfig.token_budget": config.token_budget if config else None,
        "the builder's total_budget": builder.config.total_budget if builder else None,
    }
    limits = {place: tokens for place, tokens in places.items() if tokens is not None}
    for place, tokens in limits.items():
        check_tokens(place, tokens, at_least=1)
        check_reserve(config.reserve_tokens if config else 0, tokens, named=place)
    if len({*limits.values()}) > 1:
        named = ", ".join(f"{place} is {tokens}" for place, tokens in limits.items())
        raise ConfigError(f"{named}: set the budget only once")
    return next(iter(limits.values()), None), config and replace(config, token_budget=None)


def limit_for(llm: LLM | None) -> int:
    """Return the budget for a model: three quarters of its window; 16,000 if that is unknown, which is logged.

    If a model has LlamaIndex's placeholder for a window, the window known for its name is used.
    """
    window = llm.metadata.context_window if llm is not None else 0
    if llm is not None and window == DEFAULT_CONTEXT_WINDOW:
        window = window_of_model(llm.metadata.model_name) or window
    budget = budget_for_window(max(0, window))
    if window <= 0:
        tell(WINDOW_UNKNOWN, setting="token_limit", budget_tokens=budget)
    return budget


class SelectionFields(LastSelections, BaseModel):
    """The settings of a selection, next to the fields of a LlamaIndex memory; changes apply from the next call on.

    Attributes:
        config: the settings; its ``token_budget`` is the memory's limit. ``shadow`` only reports the selection.
        strategy, coverage, keep_newest: as in ``HistoryConfig``; None: that of ``config``.
        pinned, exclude: as for ``select_history``: positions, or a function of one ``ChatMessage``, which has no id.
            Positions past the end are ignored. Not written with the memory.
        embedder: finds turns that share no word with the question: LlamaIndex's ``BaseEmbedding``, a function from
            texts to vectors, a shared ``TextEncoder``, or ``auto``: that of the extra ``meaning``, if installed. None
            disables semantic search; any other value is written as ``auto``. ``Settings.embed_model`` is never used.
    """

    config: Annotated[
        HistoryConfig | None, PlainValidator(_read_config), PlainSerializer(lambda config: config and asdict(config))
    ] = None
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

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, data: Any) -> Any:
        """Refuse unknown fields, which pydantic would ignore."""
        names = data if isinstance(data, Mapping) else ()
        if unknown := [name for name in names if name not in cls.model_fields and name != "class_name"]:
            raise TypeError(f"{cls.__name__}() {unknown_argument(unknown[0], cls.model_fields)}")
        return data

    def model_post_init(self, context: Any, /) -> None:
        """Build the selector now, so that first calls from two threads share it."""
        super().model_post_init(context)
        self._current_selector()

    def report_usage(self, reported: object, thread_id: str) -> None:
        """Correct the costs of a thread with the usage that the provider reports for the last ``get``.

        Args:
            reported: the counts, or an object with them, such as ``response.raw``; the message in the memory has none.
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
        config, budget, tokenizer = self._settings, self._budget_tokens(), self.tokenizer_fn
        settings = (config, budget, tokenizer, self.embedder, self.pinned, self.exclude)
        if self._selector is not None and self._selector_settings == settings:
            return self._selector
        one_budget(config, None, **{self._budget_setting or "token_budget": budget})
        for name, places in (("pinned", self.pinned), ("exclude", self.exclude)):
            check_pins(name, places)
            if not callable(places) and any(isinstance(place, str) for place in places):
                reason = "must contain positions or be a function of one message: a ChatMessage has no id"
                raise TypeError(f"{name} {reason}")
        selector = self._selector = ThreadSelector(
            read_message,
            write=write_message,
            config=replace(config, token_budget=budget),
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
        """Return an object with the fields that stock's own constructor has set, and our options."""
        return cls(**{**dict(stock), **options})

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return a copy, but this object in a workflow's state, which LlamaIndex copies for each edit."""
        if any(isinstance(copied, DictState) for copied in (memo or {}).values()):
            return self
        return super().__deepcopy__(memo)

    def __getstate__(self) -> dict[Any, Any]:
        """Return the state without the selector, which is rebuilt.

        LlamaIndex deletes what it cannot write from the object's own dict, so it gets that of a shallow copy.
        """
        copy = self.model_copy()
        copy._selector, copy._selector_settings = None, ()
        return super(SelectionFields, copy).__getstate__()


class MemoryOptions(SelectionOptions, total=False):
    """The options of both memories by name; see ``MemoryFields``.

    ``token_budget`` is an alias of ``token_limit``; it defaults to that of ``config`` or ``builder``, else to three
    quarters of ``llm``'s window, or 16,000 if unknown, which is logged. ``cache_marks`` is on by default if ``llm`` is
    LlamaIndex's ``Anthropic``. Prices are those of ``llm``.
    """

    config: HistoryConfig | None
    embedder: AnyEmbedder | None
    builder: ContextBuilder | None
    user: str | None
    tenant: str
    provider: Provider
    cache_marks: bool | None


class MemoryFields(LastContexts, SelectionFields, BaseComponent):
    """The fields of a memory that can build prompts; they are fixed when it is created.

    Attributes:
        builder: builds the prompt: constraints, summary and task of the thread, memories of the user, the turns and the
            pin. Then its own settings apply, its budget is ``token_limit``, and of ``config`` only ``reserve_tokens``,
            ``shadow`` and ``on_error`` count. It is not written with the memory.
        user, tenant, provider: as for ``ContextBuilder``; the default provider is the strictest, which satisfies all.
        cache_marks: whether a ``CachePoint`` follows the past turns that stay between calls, for Anthropic's prompt
            cache; OpenAI's classes raise on it. Only without a builder.
        llm_name: model that reads the messages, for its prices; defaults to those of the settings.
    """

    builder: Any = Field(default=None, exclude=True)  # opaque to pydantic; its type is checked below
    user: str | None = None
    tenant: str = "default"
    provider: Provider = "gemini"
    cache_marks: bool = False
    llm_name: str | None = None

    _requests: ThreadRequests[ChatMessage] | None = PrivateAttr(default=None)

    if TYPE_CHECKING:
        token_limit: int

    def model_post_init(self, context: Any, /) -> None:
        """Prepare the builder, and check that nothing contradicts it."""
        super().model_post_init(context)
        if self.builder is None:
            return
        # Here, because it is a third of the import of a memory.
        from gatekeeper_core.context.prompt.adapter import ThreadRequests

        self._requests = ThreadRequests(
            self.builder,
            replace(self._settings, token_budget=None, run=HistoryConfig().run),  # a memory folds no runs
            read=read_message,
            write=write_built,
            pinned=self.pinned,
            exclude=self.exclude,
            embedder=self.embedder,
        )
        one_budget(None, self.builder, token_limit=self.token_limit)

    @classmethod
    def _from_stock(
        cls, create: Callable[..., BaseModel], llm: LLM | None, token_limit: int | None, options: Mapping[str, Any]
    ) -> Self:
        """Return a memory from what LlamaIndex creates for a limit and its own options."""
        rest = dict(options)
        ours = {name: rest.pop(name) for name in MemoryOptions.__annotations__ if name in rest}
        budgets = {"token_limit": token_limit, "token_budget": ours.pop("token_budget", None)}
        limit, ours["config"] = one_budget(ours.get("config"), ours.get("builder"), **budgets)
        stock = create(limit or limit_for(llm), **rest)
        if ours.get("cache_marks") is None:
            ours["cache_marks"] = is_anthropic(llm)
        return cls._with(stock, **ours, llm_name=None if llm is None else llm.metadata.model_name)

    @property
    def _own_tenant(self) -> str:  # type: ignore[override]
        return self.tenant

    def _chosen(
        self, messages: Sequence[ChatMessage], thread: str, query: str | None, fixed_tokens: int
    ) -> list[ChatMessage]:
        prices, shadow = prices_of_model(self.llm_name) if self.llm_name else None, self._settings.shadow
        if self._requests is None:
            request = HistoryRequest(query=query, fixed_tokens=fixed_tokens, prices=prices)
            view = self._select(messages, request, thread=thread)
            kept = self._current_selector().kept(messages, view)
            return marked_messages(kept, view) if self.cache_marks and not shadow else kept
        from gatekeeper_core.context.prompt.adapter import RequestOptions

        identity = RequestOptions(
            thread=None if thread == DEFAULT_CHAT_STORE_KEY else thread,  # the default name is no name
            tenant=self.tenant,
            user=self.user,
            question=query,
            reserve_tokens=fixed_tokens + self._settings.reserve_tokens,
            provider=self.provider,
            prices=prices,
        )
        built = self._requests.request(messages, identity)
        report(built, memory=type(self).__name__, thread=thread, shadow=shadow)
        return list(built.messages)

    def _budget_tokens(self) -> int:
        return self.token_limit

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the memory as a dict, or a reference to it while a workflow starts a run.

        There a workflow writes its context and reads it at once; a copy would lose store, builder and embedder.
        """
        if all(frame.f_code is not Workflow.run.__code__ for frame, _ in walk_stack(None)):
            return super().to_dict(**kwargs)
        reference = uuid4().hex
        _between_runs[reference] = self
        return {"between_runs": reference}

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> Self:
        """Return the memory that ``to_dict`` wrote.

        Raises:
            ConfigError: a reference is read twice, or in another process.
        """
        if "between_runs" not in data:
            return super().from_dict(data, **kwargs)
        memory = _between_runs.pop(data["between_runs"], None)
        if not isinstance(memory, cls):
            raise ConfigError('this refers to the memory of another process: set "memory" in the context\'s store')
        return memory

    def __getstate__(self) -> dict[Any, Any]:
        """Return the state without the builder, whose stores and workers cannot be written."""
        copy = self.model_copy(update={"builder": None})
        copy._requests = None
        return super(MemoryFields, copy).__getstate__()
