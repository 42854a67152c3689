"""LangChain's messages, read as the core's: roles, text, calls and media, whatever form a provider gave them.

Reading never changes a message and never fails on content that LangChain accepts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.prompt_values import PromptValue

from gatekeeper_core.messages import COMPACTED, SIGNED, Message, Metadata, Role, ToolCall, is_signed
from gatekeeper_core.native.calls import read_call
from gatekeeper_core.native.items import rewritten_texts
from gatekeeper_core.pricing.usage import Usage, read_usage
from langchain_gatekeeper.content import compaction_in, is_media, read_blocks

__all__ = ["as_messages", "opens_with_summary", "read_message", "same_objects", "text_of", "usage_of", "write_message"]

_ROLE_OF_CLASS: dict[type[BaseMessage], Role] = {
    HumanMessage: "user",
    AIMessage: "assistant",
    SystemMessage: "system",
    ToolMessage: "tool",
    FunctionMessage: "tool",
}
_SIGNED, _COMPACTED = Metadata({SIGNED: True}), Metadata({SIGNED: True, COMPACTED: True})
_ROLE_OF_NAME: dict[str, Role] = {
    "ai": "assistant",
    "assistant": "assistant",
    "developer": "system",
    "function": "tool",
    "system": "system",
    "tool": "tool",
}


def read_message(message: BaseMessage) -> Message:
    """Return a message of LangChain as the core's; its id is left out, for nothing depends on it.

    * A ``ChatMessage`` reads by its role; an unknown role is the user's.
    * Calls come from ``tool_calls`` and ``invalid_tool_calls``, from the legacy ``additional_kwargs`` where both are
      empty, and from content blocks that repeat none of them. A legacy function call is known by its name.
    * Thinking counts as text; images, audio, video, files and unknown blocks become media. Thinking and signatures in
      ``additional_kwargs`` give the mark ``SIGNED``: nothing is left out of such a message.
    * A provider's own compaction gives the mark ``COMPACTED``.

    >>> read_message(AIMessage("", tool_calls=[{"name": "now", "args": {"zone": "CET"}, "id": "c1"}])).tool_calls
    (ToolCall(id='c1', name='now', arguments='{"zone":"CET"}'),)
    """
    role = _ROLE_OF_CLASS.get(type(message)) or _role(message)
    content: Any = message.content
    calls = _calls(message) if role == "assistant" else ()
    if not isinstance(content, str):
        content, calls = read_blocks(content or (), calls)
    answered = _answered_call(message) if role == "tool" else None
    read = Message(role, content, tool_calls=calls, tool_call_id=answered, name=message.name)
    if role != "assistant":
        return read
    if isinstance(message.content, list) and any(map(compaction_in, message.content)):
        return replace(read, metadata=_COMPACTED)
    return replace(read, metadata=_SIGNED) if is_signed(message.additional_kwargs or {}) else read


def opens_with_summary(messages: Sequence[BaseMessage]) -> bool:
    """Return whether ``SummarizationMiddleware`` has written the first message, in the place of those before the rest.

    It writes no other one: the same mark further on is a client's.
    """
    written = bool(messages) and messages[0].additional_kwargs.get("lc_source") == "summarization"
    return written and isinstance(messages[0], (HumanMessage, SystemMessage))


def write_message(original: BaseMessage, instead: Message) -> BaseMessage:
    """Return what is sent in the place of a message: a copy with another text, or a summary.

    The media of a result or a question stay with it, and so does its cache mark.

    >>> write_message(AIMessage("Port 6380. It is fast.", id="a1"), Message("assistant", "Port 6380. …")).id
    'a1'
    >>> write_message(AIMessage("", tool_calls=[]), Message("user", "[2 tool calls executed]")).additional_kwargs
    {'lc_source': 'gatekeeper'}
    """
    same_role = instead.role == read_message(original).role
    if instead.role == "tool" or (same_role and instead.role == "user"):
        if isinstance(original.content, str):
            return original.model_copy(update={"content": instead.text})
        blocks = [block for block in original.content if _is_text(block) or is_media(block)]
        if not any(map(_is_text, blocks)):
            blocks.insert(0, {"type": "text", "text": ""})
        return original.model_copy(update={"content": rewritten_texts(blocks, instead.text, _is_text)})
    if same_role:
        return original.model_copy(update={"content": instead.text})
    return HumanMessage(instead.text, additional_kwargs={"lc_source": "gatekeeper"})


def text_of(value: object) -> str:
    """Return the text of what a chain was asked.

    Args:
        value: a text, a message, a prompt, content blocks, or messages, of which the last one by the user counts, else
            the last. None has no text; anything else reads as ``str`` writes it.

    >>> text_of([HumanMessage("first"), HumanMessage([{"type": "text", "text": "second"}]), AIMessage("answer")])
    'second'
    """
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, (BaseMessage, PromptValue)):
        value = as_messages(value)
    if not isinstance(value, (list, tuple, Mapping)):
        return str(value)
    messages = [read_message(item) for item in value if isinstance(item, BaseMessage)]
    asked = [message for message in messages if message.role == "user"] or messages
    blocks = [value] if isinstance(value, Mapping) else value
    return asked[-1].text if asked else Message("user", read_blocks(blocks)[0]).text


def as_messages(value: Any) -> list[BaseMessage]:
    """Return messages as a new list: what is a message already is the same object, the rest LangChain converts.

    Args:
        value: messages, tuples, dicts or texts in a list; a prompt; one message or one text.

    Raises:
        NotImplementedError: LangChain cannot read an entry as a message.
        ValueError: a dict is no message.
    """
    if isinstance(value, (list, tuple)) and all(issubclass(kind, BaseMessage) for kind in {*map(type, value)}):
        return list(value)  # LangChain looks at each of them for much longer
    # A message or a text by itself can be iterated over as well, and would come apart.
    return convert_to_messages([value] if isinstance(value, (str, BaseMessage)) else value)


def usage_of(answer: BaseMessage) -> Usage | None:
    """Return what the provider reports for an answer; None where it reports nothing.

    >>> usage_of(AIMessage("ok", usage_metadata={"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}))
    Usage(input_tokens=9, output_tokens=2, cached_tokens=0, cache_written_tokens=0, model='')
    """
    reported = getattr(answer, "usage_metadata", None)
    return read_usage(reported, model=answer.response_metadata.get("model_name"))


def same_objects(messages: Sequence[object], others: Sequence[object]) -> bool:
    """Return whether two lists hold the same objects in the same order."""
    return len(messages) == len(others) and all(map(is_, messages, others))


def _role(message: BaseMessage) -> Role:
    if isinstance(message, ChatMessage):
        return _ROLE_OF_NAME.get(message.role.lower(), "user")
    known = (role for kind, role in _ROLE_OF_CLASS.items() if isinstance(message, kind))
    return next(known, _ROLE_OF_NAME.get(message.type, "user"))


def _answered_call(message: BaseMessage) -> str | None:
    """Return the id of the call that a result answers; a legacy result names its function instead."""
    answered = getattr(message, "tool_call_id", None)
    if answered is None:
        answered = message.additional_kwargs.get("tool_call_id", message.name)
    return None if answered is None else str(answered)


def _calls(message: BaseMessage) -> tuple[ToolCall, ...]:
    found = [*_listed(getattr(message, "tool_calls", None)), *_listed(getattr(message, "invalid_tool_calls", None))]
    if not found and message.additional_kwargs:
        legacy = message.additional_kwargs.get("function_call")
        found = _listed(message.additional_kwargs.get("tool_calls"))
        if not found and isinstance(legacy, Mapping):
            found = [{**legacy, "id": legacy.get("name")}]
    return tuple(map(read_call, found))


def _is_text(block: object) -> bool:
    return isinstance(block, str) or (isinstance(block, Mapping) and block.get("type") == "text")


def _listed(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
