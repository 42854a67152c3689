"""One selection from a list of messages; nothing is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, MessageLikeRepresentation
from langchain_core.prompt_values import PromptValue

from langchain_gatekeeper.events import announce
from langchain_gatekeeper.reading import as_messages, text_of
from langchain_gatekeeper.runnable import GatekeeperSelector

__all__ = ["select_messages"]


def select_messages(
    messages: Sequence[MessageLikeRepresentation] | PromptValue,
    *,
    query: object = None,
    token_budget: int = 4000,
    **options: Any,
) -> list[BaseMessage]:
    """Return the messages that the question needs, as a new list: the caller's own objects, or copies that are cut.

    It remembers nothing: for long conversations keep a :class:`GatekeeperSelector`, in a graph's node or hook as well.

    Args:
        messages: the whole conversation; what is no message yet is read as one.
        query: the question: a text, a message, content blocks or messages. None: the last user message. A question that
            is not in the list makes all of its turns past ones.
        token_budget: what the messages may cost, >= 1.
        options: the further arguments of :class:`GatekeeperSelector`.

    Raises:
        ConfigError: a number is out of range, or ``on_error`` is unknown.
        TypeError: an argument has the wrong type, or is unknown.

    >>> talk = ["The Redis port is 6380.", ("ai", "Noted."), "New topic: bake bread?", ("ai", "Yes."), "Redis port?"]
    >>> [message.content for message in select_messages(talk, floor_turns=0, passthrough_below=0)]
    ['The Redis port is 6380.', 'Noted.', 'Redis port?']
    """
    gate = GatekeeperSelector(token_budget=token_budget, **options)
    listed = as_messages(messages)
    view = gate._selector.view(listed, query=None if query is None else text_of(query))
    announce(view, shadow=gate._selector.config.shadow)
    return gate._selector.kept(listed, view)
