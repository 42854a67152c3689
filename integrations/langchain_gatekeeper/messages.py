"""LangChain's messages, read as the core's and written back: roles, text, calls and media of any provider.

Reading changes no message and never fails on content that LangChain accepts; unknown blocks count as media.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import TYPE_CHECKING, Any

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

from gatekeeper_core.messages import (
    COMPACTED,
    MEDIA_TYPES,
    SIGNED,
    MediaPart,
    Message,
    Metadata,
    Part,
    Role,
    TextPart,
    ToolCall,
    is_signed,
)
from gatekeeper_core.native.calls import read_call
from gatekeeper_core.native.items import is_compaction, opaque, rewritten_texts
from gatekeeper_core.pricing.usage import Usage, read_usage

if TYPE_CHECKING:
    from gatekeeper_core.context.prompt.adapter import Piece

_CALL_TYPES = frozenset(
    {"tool_use", "tool_call", "function_call", "invalid_tool_call", "tool_call_chunk", "input_json_delta"}
)

_LEGACY_CALLS = frozenset({"function_call", "tool_calls"})
"""Keys of ``additional_kwargs`` that may hold calls."""

_TEXT_KEYS: dict[Any, tuple[str, ...]] = {
    "text": ("text",),
    "input_text": ("text",),
    "output_text": ("text",),
    "refusal": ("refusal",),
    "thinking": ("thinking",),
    "redacted_thinking": (),
    "reasoning": ("reasoning", "summary", "text"),
    "reasoning_content": ("reasoning_content",),
    "tool_result": ("content",),
}
_FILE_TYPES = frozenset({"file", "input_file", "document", "media", "text-plain"})
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
_OURS = {"lc_source": "gatekeeper"}
_REASONING = ("thinking", "redacted_thinking", "reasoning")


def read_message(message: BaseMessage) -> Message:
    """Return a LangChain message as the core's, without its id, which nothing needs.

    * A ``ChatMessage`` reads by its role; an unknown role is the user's.
    * Calls come from ``tool_calls`` and ``invalid_tool_calls``, from the legacy ``additional_kwargs`` if both are
      empty, and from content blocks that repeat none of them. The id of a legacy function call is its name.
    * Thinking counts as text; images, audio, video, files and unknown blocks become media. Thinking and signatures in
      ``additional_kwargs`` give the mark ``SIGNED`` (never shortened), a provider's compaction ``COMPACTED``.

    >>> read_message(AIMessage("", tool_calls=[{"name": "now", "args": {"zone": "CET"}, "id": "c1"}])).tool_calls
    (ToolCall(id='c1', name='now', arguments='{"zone":"CET"}'),)
    """
    role = _ROLE_OF_CLASS.get(type(message)) or _role(message)
    content: Any = message.content
    calls = _calls(message) if role == "assistant" else ()
    if not isinstance(content, str):
        content, calls = _read_blocks(content or (), calls)
    answered: Any = None
    if role == "tool":  # a legacy result names its function instead of a call
        answered = getattr(message, "tool_call_id", None)
        answered = message.additional_kwargs.get("tool_call_id", message.name) if answered is None else answered
    answered = None if answered is None else str(answered)
    read = Message(role, content, tool_calls=calls, tool_call_id=answered, name=message.name)
    if role != "assistant":
        return read
    if isinstance(message.content, list) and any(map(_compaction_in, message.content)):
        return replace(read, metadata=_COMPACTED)
    return replace(read, metadata=_SIGNED) if is_signed(message.additional_kwargs or {}) else read


def opens_with_summary(messages: Sequence[BaseMessage]) -> bool:
    """Return whether the first message is a ``SummarizationMiddleware`` summary; further on, its mark is a client's."""
    written = bool(messages) and messages[0].additional_kwargs.get("lc_source") == "summarization"
    return written and isinstance(messages[0], (HumanMessage, SystemMessage))


def write_message(original: BaseMessage, instead: Message) -> BaseMessage:
    """Return what is sent in place of a message: a copy with another text, or a summary.

    A result or a question keeps its media and its cache mark.

    >>> write_message(AIMessage("Port 6380. It is fast.", id="a1"), Message("assistant", "Port 6380. …")).id
    'a1'
    >>> write_message(AIMessage("", tool_calls=[]), Message("user", "[2 tool calls executed]")).additional_kwargs
    {'lc_source': 'gatekeeper'}
    """
    same_role = instead.role == read_message(original).role
    if instead.role == "tool" or (same_role and instead.role == "user"):
        if isinstance(original.content, str):
            return original.model_copy(update={"content": instead.text})
        blocks = [block for block in original.content if _is_text(block) or _is_media(block)]
        if not any(map(_is_text, blocks)):
            blocks.insert(0, {"type": "text", "text": ""})
        return original.model_copy(update={"content": rewritten_texts(blocks, instead.text, _is_text)})
    if same_role:
        return original.model_copy(update={"content": instead.text})
    return HumanMessage(instead.text, additional_kwargs=dict(_OURS))


def text_of(value: object) -> str:
    """Return the text of a chain's input: a text, a message, a prompt, content blocks or messages.

    Of messages, the last one by the user counts, else the last. None gives "", anything else its ``str``.

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
    questions = [message for message in messages if message.role == "user"] or messages
    blocks = [value] if isinstance(value, Mapping) else value
    return questions[-1].text if questions else Message("user", _read_blocks(blocks)[0]).text


def as_messages(value: Any) -> list[BaseMessage]:
    """Return messages as a new list: the same objects if they are messages, else converted by LangChain."""
    if isinstance(value, (list, tuple)) and all(issubclass(kind, BaseMessage) for kind in {*map(type, value)}):
        return list(value)  # LangChain's own check takes much longer
    # A single message or text is iterable as well, and would be taken apart.
    return convert_to_messages([value] if isinstance(value, (str, BaseMessage)) else value)


def usage_of(answer: BaseMessage) -> Usage | None:
    """Return the usage that the provider reports for an answer; None if it reports none.

    >>> usage_of(AIMessage("ok", usage_metadata={"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}))
    Usage(input_tokens=9, output_tokens=2, cached_tokens=0, cache_written_tokens=0, model='')
    """
    reported = getattr(answer, "usage_metadata", None)
    return read_usage(reported, model=answer.response_metadata.get("model_name"))


def usages_of(answer: Any) -> list[Usage]:
    """Return the usages that the provider reports for the result of an agent's model call."""
    response = getattr(answer, "model_response", answer)
    return [*filter(None, map(usage_of, getattr(response, "result", [response])))]


def same_objects(messages: Sequence[object], others: Sequence[object]) -> bool:
    """Return whether two lists hold the same objects in the same order."""
    return len(messages) == len(others) and all(map(is_, messages, others))


def _role(message: BaseMessage) -> Role:
    if isinstance(message, ChatMessage):
        return _ROLE_OF_NAME.get(message.role.lower(), "user")
    roles = (role for kind, role in _ROLE_OF_CLASS.items() if isinstance(message, kind))
    return next(roles, _ROLE_OF_NAME.get(message.type, "user"))


def _calls(message: BaseMessage) -> tuple[ToolCall, ...]:
    raw_calls = [*_listed(getattr(message, "tool_calls", None)), *_listed(getattr(message, "invalid_tool_calls", None))]
    if not raw_calls and message.additional_kwargs:
        legacy = message.additional_kwargs.get("function_call")
        raw_calls = _listed(message.additional_kwargs.get("tool_calls"))
        if not raw_calls and isinstance(legacy, Mapping):
            raw_calls = [{**legacy, "id": legacy.get("name")}]
    return tuple(map(read_call, raw_calls))


def _is_text(block: object) -> bool:
    return isinstance(block, str) or (isinstance(block, Mapping) and block.get("type") == "text")


def _listed(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def write_built(message: Message, pieces: Sequence[Piece[BaseMessage]]) -> BaseMessage:
    """Return the LangChain message for one that is sent; for its ``pieces`` see ``ThreadRequests``.

    >>> write_built(Message("system", "[Related memories]"), [])
    SystemMessage(content='[Related memories]', additional_kwargs={'lc_source': 'gatekeeper'}, response_metadata={})
    """
    originals = [original for _, original in pieces if original is not None]
    if not originals:
        return _new(message)
    content = _content(message, pieces)
    own = originals[-1] if message.role == "assistant" else originals[0]
    read = read_message(own)
    if message.role != read.role:
        return _new(message, content)
    update: dict[str, Any] = {"content": content}
    if message.role == "tool" and message.tool_call_id != read.tool_call_id:
        update["tool_call_id"] = message.tool_call_id
    if message.tool_calls != read.tool_calls:
        update |= _written_calls(message.tool_calls)
        update["additional_kwargs"] = {
            key: own.additional_kwargs[key] for key in own.additional_kwargs.keys() - _LEGACY_CALLS
        }
    return own.model_copy(update=update)


def _new(message: Message, content: Any = None) -> BaseMessage:
    fields: dict[str, Any] = {"content": message.text if content is None else content, "additional_kwargs": dict(_OURS)}
    if message.role == "tool":
        return ToolMessage(tool_call_id=message.tool_call_id or "", name=message.name, **fields)
    if message.role == "assistant":
        return AIMessage(**fields, **_written_calls(message.tool_calls))
    return (SystemMessage if message.role == "system" else HumanMessage)(**fields)


def _content(message: Message, pieces: Sequence[Piece[BaseMessage]]) -> Any:
    """Return the content: the originals' own blocks if they are only joined, else the new text with their media.

    Blocks with reasoning stay unchanged: providers reject changed signed blocks. The texts' last cache mark stays.
    """
    if all(original is None or isinstance(original.content, str) for _, original in pieces):
        return message.text
    if all(
        original is None
        or read_message(original).text == piece.text
        or any(isinstance(block, Mapping) and block.get("type") in _REASONING for block in _content_blocks(original))
        for piece, original in pieces
    ):
        return [block for piece in pieces for block in _blocks(*piece)]
    original_blocks = [block for _, original in pieces for block in _content_blocks(original)]
    media = filter(_is_media, original_blocks)
    text_blocks = [block for block in original_blocks if isinstance(block, Mapping) and not _is_media(block)]
    marks = [block["cache_control"] for block in text_blocks if "cache_control" in block]
    if isinstance(message.content, str):
        return [{"type": "text", "text": message.text, "cache_control": marks[-1]}] if marks else message.text
    blocks: list[Any] = [
        {"type": "text", "text": part.text} if isinstance(part, TextPart) else next(media) for part in message.content
    ]
    texts = [at for at, part in enumerate(message.content) if isinstance(part, TextPart)]
    if marks and texts:
        blocks[texts[-1]] = {**blocks[texts[-1]], "cache_control": marks[-1]}
    return blocks


def _blocks(piece: Message, original: BaseMessage | None) -> Iterator[Any]:
    """Yield a message as content blocks, without its calls: these are in ``tool_calls``."""
    if original is None or isinstance(original.content, str):
        if piece.text:
            yield {"type": "text", "text": piece.text}
        return
    for block in original.content:
        if not (isinstance(block, Mapping) and block.get("type") in _CALL_TYPES):
            yield block


def _content_blocks(message: BaseMessage | None) -> list[Any]:
    return message.content if message is not None and isinstance(message.content, list) else []


def _written_calls(calls: Sequence[ToolCall]) -> dict[str, Any]:
    """Return calls as fields of an ``AIMessage``; those whose arguments are not an object are invalid."""
    valid, invalid = [], []
    for call in calls:
        try:
            args = json.loads(call.arguments) if call.arguments else {}
        except (ValueError, RecursionError):
            args = None
        if isinstance(args, dict):
            valid.append({"name": call.name, "args": args, "id": call.id, "type": "tool_call"})
        else:
            text = {"name": call.name, "args": call.arguments, "id": call.id}
            invalid.append({**text, "type": "invalid_tool_call", "error": None})
    return {"tool_calls": valid, "invalid_tool_calls": invalid}


def _read_blocks(
    content: Iterable[object], calls: tuple[ToolCall, ...] = ()
) -> tuple[tuple[Part, ...], tuple[ToolCall, ...]]:
    """Return a content list's parts, and ``calls`` plus its own that repeat none by id or, without one, by name."""
    parts: list[Part] = []
    raw_calls = list(calls)
    ids, names = {call.id for call in calls}, {call.name for call in calls} | {""}
    for block in content:
        if isinstance(block, Mapping) and _kind(block) in _CALL_TYPES:
            call = read_call(block)
            if call.id not in ids if call.id else call.name not in names:
                raw_calls.append(call)
                ids.add(call.id)
        else:
            parts.extend(_parts(block))
    return tuple(parts), tuple(raw_calls)


def _compaction_in(block: object) -> Mapping[str, Any] | None:
    """Return the provider's own compaction in a block, bare or wrapped by LangChain; else None."""
    inner = block.get("value") if isinstance(block, Mapping) and block.get("type") == "non_standard" else block
    return inner if isinstance(inner, Mapping) and is_compaction(inner) else None


def _is_media(block: object) -> bool:
    return any(isinstance(part, MediaPart) for part in _parts(block))


def _kind(block: Mapping[str, Any]) -> str:
    kind = block.get("type", "text" if "text" in block else "")
    return kind if isinstance(kind, str) else ""


def _parts(block: object) -> Iterator[Part]:
    """Yield the parts of a block: one, except for a tool result, whose list of blocks is read one level deep."""
    if isinstance(block, Mapping) and _kind(block) == "tool_result" and isinstance(block.get("content"), list):
        yield from map(_part, block["content"])
    else:
        yield _part(block)


def _part(block: object) -> Part:
    if isinstance(block, str):
        return TextPart(block)
    if not isinstance(block, Mapping):
        return MediaPart("other")
    kind, compaction = _kind(block), _compaction_in(block)
    if compaction:
        text = compaction.get("content")
        return TextPart(text) if isinstance(text, str) else opaque(compaction)
    if kind in _FILE_TYPES:
        mime = str(block.get("mime_type") or "").partition("/")[0]
        text = block.get("text")
        return TextPart(text) if isinstance(text, str) else MediaPart(MEDIA_TYPES.get(mime, "document"))
    if kind in _TEXT_KEYS:
        return TextPart(next((_inner_text(block[key]) for key in _TEXT_KEYS[kind] if block.get(key)), ""))
    return MediaPart(MEDIA_TYPES.get(kind, "other"))


def _inner_text(value: object) -> str:
    """Return the text of a block's value: itself, or that of the blocks of a summary or reasoning."""
    if isinstance(value, Mapping):
        return str(value.get("text") or "")
    if isinstance(value, list):
        return "\n".join(_inner_text(item) for item in value if isinstance(item, Mapping))
    return str(value)
