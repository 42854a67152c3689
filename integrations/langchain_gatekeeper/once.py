"""One selection from a list of messages; nothing is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage, MessageLikeRepresentation
from langchain_core.prompt_values import PromptValue

from langchain_gatekeeper.events import announce
from langchain_gatekeeper.reading import as_messages, text_of
from langchain_gatekeeper.selectors import selector_of_threads, whole_run

if TYPE_CHECKING:
    from gatekeeper_core.context.history.modes import HistoryConfig
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["select_messages"]


def select_messages(
    messages: Sequence[MessageLikeRepresentation] | PromptValue,
    config: HistoryConfig | None = None,
    *,
    query: object = None,
    token_counter: TokenCounter | None = None,
) -> list[BaseMessage]:
    """Return the messages that the question needs, as a new list: the caller's own objects, or copies that are cut.

    It remembers nothing: for long conversations keep a ``GatekeeperSelector``, in a graph's node or hook as well.

    Args:
        messages: the whole conversation; what is no message yet is read as one.
        config: the settings; None: ``HistoryConfig()``. The current run is always sent whole.
        query: the question: a text, a message, content blocks or messages. None: the last user message. A question that
            is not in the list makes all of its turns past ones.
        token_counter: counts a text; None: ``TokenEstimator()``.

    Raises:
        ConfigError: ``config`` says how a run is to be made smaller.
        TypeError: an argument has the wrong type.

    >>> from gatekeeper_core import HistoryConfig
    >>> talk = ["The Redis port is 6380.", ("ai", "Noted."), "New topic: bake bread?", ("ai", "Yes."), "Redis port?"]
    >>> [message.content for message in select_messages(talk, HistoryConfig(passthrough_below=0))]
    ['The Redis port is 6380.', 'Noted.', 'Redis port?']
    """
    selector = selector_of_threads(whole_run(config), token_counter)
    listed = as_messages(messages)
    view = selector.view(listed, query=None if query is None else text_of(query))
    announce(view, shadow=selector.config.shadow)
    return selector.kept(listed, view)
