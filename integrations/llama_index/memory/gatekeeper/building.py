"""The options of both memories: those of a selection, a context builder, and the build itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from traceback import walk_stack
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakValueDictionary

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory.types import DEFAULT_CHAT_STORE_KEY
from llama_index.core.schema import BaseComponent
from llama_index.core.workflow import Workflow

from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.prompt.adapter_selection import LastContexts, SelectionOptions
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Provider
from gatekeeper_core.pricing.prices import prices_of_model
from llama_index.memory.gatekeeper.cache_marks import is_anthropic, marked_messages
from llama_index.memory.gatekeeper.events import report_built
from llama_index.memory.gatekeeper.options import SelectionFields, limit_for, one_budget
from llama_index.memory.gatekeeper.reading import read_message
from llama_index.memory.gatekeeper.writing import write_built

if TYPE_CHECKING:
    from llama_index.core.bridge.pydantic import BaseModel
    from llama_index.core.llms.llm import LLM
    from typing_extensions import Self

    from gatekeeper_core.context.prompt.adapter import ThreadRequests
    from gatekeeper_core.context.prompt.builder import ContextBuilder
    from llama_index.memory.gatekeeper.options import AnyEmbedder

__all__ = ["MemoryFields", "MemoryOptions"]

_between_runs: WeakValueDictionary[str, MemoryFields] = WeakValueDictionary()


class MemoryOptions(SelectionOptions, total=False):
    """The options of both memories by name; see ``MemoryFields``.

    ``token_budget`` is another name for ``token_limit``. Without one the budget is that of ``config`` or ``builder``,
    without either three quarters of what ``llm`` reads; 16,000 where that is not known, which is logged.
    ``cache_marks`` is on where ``llm`` is LlamaIndex's ``Anthropic``, and the prices are those of ``llm``.
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
        builder: builds what the memory gives: constraints, summary and task of the thread, memories of the user, the
            turns and the pin. Its own settings hold then, its budget is ``token_limit``, and of ``config`` only
            ``reserve_tokens``, ``shadow`` and ``on_error`` count. It is not written with the memory.
        user: whose memories they are; None: nobody's.
        tenant: whose system the thread runs in.
        provider: whose rules the messages keep to; the default is the strictest, which all others take.
        cache_marks: whether a ``CachePoint`` stands behind the past turns that stay from call to call, for Anthropic's
            prompt cache. A memory does not know the model: with one that cannot read it (OpenAI's raises) leave it off.
            Without a builder only.
        llm_name: the name of the model that reads the messages, for its prices; None: those of the settings.
    """

    builder: Any = Field(default=None, exclude=True)  # pydantic is not to look inside; its type is checked below
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
        from gatekeeper_core.context.prompt.adapter import builder_requests

        self._requests = builder_requests(
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
        cls,
        create: Callable[..., BaseModel],
        llm: LLM | None,
        token_limit: int | None,
        options: Mapping[str, Any],
    ) -> Self:
        """Return a memory from what LlamaIndex creates for a limit and the options that are not ours."""
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
        """Return what is selected or built for a question, and report it."""
        prices = prices_of_model(self.llm_name) if self.llm_name else None
        if self._requests is None:
            view = self._select(
                messages, HistoryRequest(query=query, fixed_tokens=fixed_tokens, prices=prices), thread=thread
            )
            kept = self._current_selector().kept(messages, view)
            return marked_messages(kept, view) if self.cache_marks and not self._settings.shadow else kept
        from gatekeeper_core.context.prompt.adapter import Asked

        asked = Asked(
            thread=None if thread == DEFAULT_CHAT_STORE_KEY else thread,  # the name of everybody is no name
            tenant=self.tenant,
            user=self.user,
            question=query,
            reserve_tokens=fixed_tokens + self._settings.reserve_tokens,
            provider=self.provider,
            prices=prices,
        )
        built = self._requests.request(messages, asked)
        report_built(built, memory=type(self).__name__, thread=thread, shadow=self._settings.shadow)
        return list(built.messages)

    def _budget_tokens(self) -> int:
        return self.token_limit

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the memory as a dict, or a reference to it while a workflow starts a run.

        There a workflow writes its context and reads it at once. A copy would lose the user's store, builder and
        embedder.
        """
        if all(frame.f_code is not Workflow.run.__code__ for frame, _ in walk_stack(None)):
            return super().to_dict(**kwargs)
        reference = uuid4().hex
        _between_runs[reference] = self
        return {"between_runs": reference}

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> Self:
        """Return the memory that ``to_dict`` has written.

        Raises:
            ConfigError: a reference is read twice, or in another process.
        """
        if "between_runs" not in data:
            return super().from_dict(data, **kwargs)
        memory = _between_runs.pop(data["between_runs"], None)
        if not isinstance(memory, cls):
            raise ConfigError('this refers to a memory of another process: set "memory" in the context\'s store')
        return memory

    def __getstate__(self) -> dict[Any, Any]:
        """Return the state without the builder, whose stores and workers cannot be written."""
        copy = self.model_copy(update={"builder": None})
        copy._requests = None
        return super(MemoryFields, copy).__getstate__()
