"""A selector for histories as lists of dicts in a provider's format, for many threads.

::

    items ──read_native──> our messages ──ThreadSelector──> view ──native_view──> view of the items ──> items to send
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from json import dumps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.select import native_view
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.history.view import HistoryView, keep
from gatekeeper_core.context.prompt.adapter_selection import SelectionOptions, take_settings
from gatekeeper_core.native.reading import NativeMessages, read_native
from gatekeeper_core.pricing.model_names import window_of_model
from gatekeeper_core.pricing.prices import prices_of_model

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gatekeeper_core.embedding import Embedder
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.messages import Message
    from gatekeeper_core.storage.base import RecordStore
    from gatekeeper_core.tokens import TokenCounter

Object = TypeVar("Object")


class NativeCall(NamedTuple):
    """A model call after selection."""

    items: list[Any]  # to send; in shadow mode all of them
    view: HistoryView  # with the reasons
    thread: Hashable  # the name of the conversation, for ``NativeSelector.threads.report``


class NativeOptions(SelectionOptions, total=False):
    """The options of every hook by name; for those that other adapters lack, see ``ThreadSelector``."""

    token_counter: TokenCounter | None
    embedder: Embedder | TextEncoder | None
    states: RecordStore | None
    clock: Callable[[], float]
    budget_setting: str | None


@with_suggestions(NativeOptions)
class NativeSelector:
    """A selector for lists of dicts: OpenAI chat, OpenAI Responses, Anthropic or Gemini, which it detects.

    Thread-safe; calls of one conversation run one by one. An unnamed list belongs to the conversation it continues.

    Args:
        config: the settings; default to ``HistoryConfig()``.
        options: ``NativeOptions``. ``token_budget``, ``strategy``, ``coverage`` and ``keep_newest`` override
            ``config``. A function in ``pinned`` or ``exclude`` reads a ``Message``.

    Attributes:
        threads: the underlying selector, with the view and the costs of each thread.
        last_view: the latest view of any thread, with positions in the list of that call; None before the first.

    Raises:
        ConfigError: a number is out of range.
        TypeError: an argument is unknown or has the wrong type.

    >>> selector = NativeSelector(token_budget=1000)
    >>> items, view = selector.select([{"role": "user", "content": "hello"}])
    >>> items, view.status
    ([{'role': 'user', 'content': 'hello'}], 'passthrough')
    """

    def __init__(self, config: HistoryConfig | None = None, **options: Unpack[NativeOptions]) -> None:
        rest: dict[str, Any] = {**options}
        config = take_settings(config, rest)
        self.threads: ThreadSelector[Message] = ThreadSelector(
            lambda message: message, write=lambda _, message: message, config=config, **rest
        )
        self.last_view: HistoryView | None = None

    def select(self, items: Sequence[Mapping[str, Any]], **arguments: Any) -> tuple[list[Any], HistoryView]:
        """Return the items to send, and the view with the reasons; arguments as for :meth:`call`."""
        return self.call(items, **arguments)[:2]

    def call(
        self,
        items: Sequence[Mapping[str, Any]] | NativeMessages,
        *,
        fixed: Sequence[str] = (),
        model: str = "",
        thread: Hashable = None,
        tenant: str = "default",
    ) -> NativeCall:
        """Select for one model call.

        Args:
            items: the whole conversation, as a list or already read; never changed. Positions refer to this list.
            fixed: texts sent with the items, such as a system prompt and tools.
            model: name of the model, for its prices and, without a budget, its window.
            thread: name of the conversation; if None, it is recognised by its beginning.
            tenant: tenant of the thread; tenants share nothing, even under the same name.

        Raises:
            MessageFormatError: see ``read_messages``.
        """
        native = items if isinstance(items, NativeMessages) else read_native(items)
        request = HistoryRequest(
            fixed_tokens=self.threads.count(*fixed),
            window_tokens=window_of_model(model),
            prices=prices_of_model(model),
            notes=native.settings,
        )
        view = native_view(native, self.threads.view(native.messages, request, thread=thread, tenant=tenant))
        self.last_view = view
        if thread is None:
            thread = self.threads.name_of(native.messages, tenant=tenant)
        sent = list(native.items) if self.threads.config.shadow else keep(native.items, view)
        return NativeCall(sent, view, thread)

    def select_objects(
        self,
        objects: Sequence[Object],
        *,
        read: Callable[[Object], Mapping[str, Any]],
        write: Callable[[Object, Mapping[str, Any]], Object],
        **arguments: Any,
    ) -> list[Object]:
        """Return the framework's messages to send: its own objects, except those that the view replaces.

        Args:
            objects: the whole conversation, in the framework's messages; read, never changed.
            read: returns the item of a message.
            write: returns the message to send in place of another, from that one and the item to send.
            arguments: of :meth:`select`.
        """
        _, view = self.select([read(each) for each in objects], **arguments)
        if self.threads.config.shadow:
            return list(objects)
        replaced = dict(view.replaced)
        return [write(objects[at], replaced[at]) if at in replaced else objects[at] for at in view.kept]


class Hook:
    """The shared part of all hooks.

    Args:
        config: the settings; default to ``HistoryConfig()``.
        options: as for ``NativeSelector``: ``token_budget``, ``strategy``, ``coverage``, ``keep_newest`` and more.

    Attributes:
        selector: the selector of all conversations.
    """

    def __init__(self, config: HistoryConfig | None = None, **options: Any) -> None:
        self.selector = NativeSelector(config, **options)

    @property
    def last_view(self) -> HistoryView | None:
        """The latest view: which turns were sent, and why. Positions are in the list that the selector read."""
        return self.selector.last_view


def tool_text(name: str, description: str | None, parameters: Mapping[str, Any]) -> str:
    """Return the definition of a tool as a text, for ``fixed``.

    >>> tool_text("now", "The time.", {})
    'now The time. {}'
    """
    return f"{name} {description or ''} {dumps(parameters, ensure_ascii=False)}"
