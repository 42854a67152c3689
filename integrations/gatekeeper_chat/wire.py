"""The protocol without I/O: messages to a request, the JSON of an answer to a reply.

MiniMax is stricter than OpenAI's format, and all requests follow its rules: one system message, at the head; no tool
without parameters, no call with empty arguments; and the thinking of a tool loop comes back unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from gatekeeper_chat.errors import ChatResponseError, refusal
from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.messages import MediaPart, Message, ToolCall, split_current_turn, validate_messages
from gatekeeper_core.native.reading import read_messages
from gatekeeper_core.pricing.usage import Usage, read_usage
from gatekeeper_core.text import split_thinking

_NOT_SENT = frozenset({"metadata", "created_at"})
_THINKING_KEYS = ("reasoning_content", "reasoning_details")


class Reply(NamedTuple):
    """A model's answer.

    Attributes:
        text: the text, without thinking.
        thinking: the thinking, "" without any.
        tool_calls: the tool calls, in order.
        finish_reason: ``stop``, ``length``, ``tool_calls`` ..., as the API gave it.
        usage: reported tokens, None if not reported.
        message: the API's assistant message, thinking included: append it to the chat while a tool loop is open.
        request_id: the service's id of the request, if any.
    """

    text: str
    thinking: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str | None
    usage: Usage | None
    message: dict[str, Any]
    request_id: str | None


def wire_messages(messages: Iterable[Message | Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return messages as MiniMax takes them, without changing yours.

    * All system messages become one at the head, joined by blank lines.
    * Thinking stays in the open tool loop (after the last user message), and is dropped from finished turns, along with
      assistant messages that were nothing else.
    * Empty arguments of a call become ``{}``. ``metadata`` and ``created_at`` are dropped, other keys of a dict stay.

    Raises:
        TypeError: an item is neither a ``Message`` nor a dict.
        MessageFormatError: there is nothing to answer, or the message at ``position`` is invalid or out of order.

    >>> talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "<think>greet</think>hello"}]
    >>> [message["content"] for message in wire_messages([*talk, {"role": "user", "content": "and now?"}])]
    ['hi', 'hello', 'and now?']
    """
    items = tuple(messages)
    read: list[Message] = []
    for at, item in enumerate(items):
        if not isinstance(item, (Message, Mapping)):
            raise TypeError(f"messages[{at}] must be a Message or a dict, got {type(item).__name__}")
        read.append(item if isinstance(item, Message) else Message.from_dict(item, position=at))
    if not any(message.role != "system" for message in read):
        raise MessageFormatError("no message to answer: pass at least one user message")
    for violation in validate_messages(read, provider="minimax"):
        raise MessageFormatError(f"{violation.rule}: {violation.detail}", position=violation.position)
    current = split_current_turn(read).current
    open_from = current.start if current else 0
    system = "\n\n".join(message.text for message in read if message.role == "system" and message.text)
    wired = [{"role": "system", "content": system}] if system else []
    for at, (item, message) in enumerate(zip(items, read, strict=True)):
        if message.role == "system":
            continue
        if not isinstance(item, Message):
            data = {key: value for key, value in item.items() if key not in _NOT_SENT} | {"role": message.role}
        elif any(isinstance(part, MediaPart) for part in item.content):
            raise MessageFormatError("has media without its data: pass the original dict", position=at)
        else:
            data = item.to_dict(for_provider=True)
        calls = []
        for call in data.get("tool_calls") or ():
            function = call.get("function") or {}
            arguments = function.get("arguments") or "{}"
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            calls.append({**call, "function": {**function, "arguments": text}})
        data = {**data, "tool_calls": calls} if calls else data
        if message.role == "assistant" and at < open_from:
            data = _without_thinking(data)
            if not (data.get("content") or data.get("tool_calls")):
                continue
        wired.append(data)
    return wired


def wire_tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return tools in OpenAI's format, each with the parameters that MiniMax requires.

    >>> wire_tools([{"type": "function", "function": {"name": "now"}}])[0]["function"]["parameters"]
    {'type': 'object', 'properties': {}}
    """
    wired = []
    for at, tool in enumerate(cast(Sequence[object], tools)):
        function = tool.get("function") if isinstance(tool, Mapping) else None
        if not isinstance(tool, Mapping) or not isinstance(function, Mapping):
            raise TypeError(f'tools[{at}] must be a dict with a "function", got {type(tool).__name__}')
        parameters = function.get("parameters") or {"type": "object", "properties": {}}
        wired.append({**tool, "function": {**function, "parameters": parameters}})
    return wired


def _without_thinking(data: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in data.items() if key not in _THINKING_KEYS}
    content = kept.get("content")
    if isinstance(content, str):
        kept["content"] = split_thinking(content)[1]
    elif content:
        kept["content"] = [
            {**part, "text": split_thinking(part["text"])[1]}
            if isinstance(part, Mapping) and isinstance(part.get("text"), str)
            else part
            for part in content
        ]
    return kept


def read_reply(payload: object) -> Reply:
    """Return the reply in the JSON of an answer.

    Raises:
        ChatError: the JSON is an error.
        ChatResponseError: the JSON is not an answer.
    """
    if error := refusal(200, payload):
        raise error
    message, choice = first_choice(payload)
    if message is None or not isinstance(payload, Mapping):
        raise ChatResponseError("the model sent an answer without a message", status=200)
    return reply_of(message, finish_reason=choice.get("finish_reason"), facts=payload)


def first_choice(payload: object) -> tuple[dict[str, Any] | None, Mapping[str, Any]]:
    """Return the message of the first choice, or None, and that choice, or an empty mapping."""
    choices = payload.get("choices") if isinstance(payload, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    choice = choice if isinstance(choice, Mapping) else {}
    message = choice.get("message")
    return (dict(message) if isinstance(message, Mapping) else None), choice


def reply_of(message: dict[str, Any], *, finish_reason: object, facts: Mapping[str, Any]) -> Reply:
    """Return the reply for a whole assistant message, with usage and id from ``facts``."""
    message = {**message, "role": "assistant"}
    try:
        (read,) = read_messages([message])
    except MessageFormatError as error:
        raise ChatResponseError(f"the model sent a message that cannot be read: {error.reason}") from error
    thought, text = split_thinking(read.text)
    details, beside = message.get("reasoning_details"), message.get("reasoning_content")
    if isinstance(details, list):
        texts = [detail.get("text") for detail in details if isinstance(detail, Mapping)]
        beside = "\n".join(each.strip() for each in texts if isinstance(each, str))
    thoughts = (beside.strip() if isinstance(beside, str) else "", thought)
    request_id = facts.get("id")
    return Reply(
        text=text,
        thinking="\n".join(dict.fromkeys(filter(None, thoughts))),  # some models send it twice
        tool_calls=read.tool_calls,
        finish_reason=finish_reason if isinstance(finish_reason, str) else None,
        usage=read_usage(facts.get("usage")),
        message=message,
        request_id=request_id if isinstance(request_id, str) else None,
    )
