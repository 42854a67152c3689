"""pydantic-ai's messages, as ``ModelMessagesTypeAdapter`` writes them: requests and responses of parts.

A file is a list of them (``all_messages_json``), or one a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper_core.messages import MediaPart, TextPart
from gatekeeper_core.pricing.usage import Usage, read_usage
from gatekeeper_formats.base import (
    Entry,
    Format,
    Item,
    LeftOut,
    PlaceError,
    all_together,
    checked_object,
    date_of,
    field_of,
    json_text,
    list_or_empty,
    object_or_empty,
    peeked,
    text_or_none,
)
from gatekeeper_formats.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gatekeeper_core.messages import MediaKind, Message, Part

__all__ = ["FORMAT"]

_CALLS = frozenset({"tool-call", "builtin-tool-call"})
_RETURNS = frozenset({"tool-return", "builtin-tool-return"})
_RETRIES = frozenset({"retry-prompt", "retry-feedback"})
_MEDIA: Mapping[str, MediaKind] = {
    "image-url": "image",
    "audio-url": "audio",
    "video-url": "video",
    "document-url": "document",
    "image": "image",
    "audio": "audio",
    "video": "video",
}


def _knows(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") in ("request", "response") and "parts" in value


def _entries(items: Iterator[Item], _whole_file: bool) -> Iterator[Entry]:
    first, values = peeked(items)
    known = object_or_empty(first)
    dated = [known, *map(object_or_empty, list_or_empty(known.get("parts")))]
    return all_together(
        values,
        _messages,
        id=text_or_none(known.get("conversation_id")) or text_or_none(known.get("run_id")),
        created=next((day for each in dated if (day := date_of(each.get("timestamp")))), None),
    )


def _messages(items: Iterator[Item], left_out: LeftOut) -> Iterator[Message | Usage | None]:
    transcript = Transcript(left_out)
    instructions: str | None = None
    for item in items:
        place = item.place()
        value = checked_object(item.value, place)
        kind = value.get("kind")
        if kind not in ("request", "response"):
            raise PlaceError(f'{place}: "kind" must be "request" or "response"')
        given = text_or_none(value.get("instructions"))
        if given is not None and given != instructions:
            # They go with every request; of those that change the first ones are kept.
            if instructions is None:
                transcript.pause()
                transcript.say("system", (TextPart(given),))
            else:
                left_out["system_message"] += 1
            instructions = given
        for at, part in enumerate(field_of(value, "parts", list, f"{place}: ")):
            where = f"{place}, part {at}"
            if kind == "request":
                transcript.pause()
            _add(transcript, checked_object(part, where), where, left_out)
        transcript.pause()
        yield read_usage(value.get("usage"), model=value.get("model_name"))
    yield from transcript.messages


def _add(transcript: Transcript, part: Mapping[str, Any], place: str, left_out: LeftOut) -> None:
    kind, call_id = (text_or_none(part.get(key)) for key in ("part_kind", "tool_call_id"))
    name = part.get("tool_name")
    name = name if isinstance(name, str) else None
    if kind == "system-prompt":
        transcript.say("system", (TextPart(field_of(part, "content", str, f"{place}: ")),))
    elif kind == "user-prompt" or (kind in _RETRIES and name is None):
        transcript.message("user", _parts(part.get("content"), left_out))
    elif kind in _CALLS:
        given = part.get("args")
        arguments = given if isinstance(given, str) else json_text({} if given is None else given)
        transcript.call(name or "", arguments, call_id=call_id)
    elif kind in _RETURNS or kind in _RETRIES:
        transcript.answer(_result(part.get("content"), left_out), call_id=call_id, name=name)
    elif kind == "text":
        text = field_of(part, "content", str, f"{place}: ")
        if text:
            transcript.say("assistant", (TextPart(text),))
    elif kind == "thinking":
        left_out["thinking"] += 1
    elif kind == "compaction":
        left_out["compaction"] += 1
    elif kind == "file":
        transcript.say("assistant", _parts([part.get("content")], left_out))
    else:
        left_out["unknown_part"] += 1


def _parts(content: object, left_out: LeftOut) -> list[Part]:
    """Return what a prompt holds: text, or a list of texts and media."""
    parts: list[Part] = []
    for piece in content if isinstance(content, list) else [content]:
        kind = piece.get("kind") if isinstance(piece, dict) else None
        text = piece.get("content") if isinstance(piece, dict) else piece
        if isinstance(text, str):
            parts += [TextPart(text)] if text else []
        elif isinstance(piece, dict) and isinstance(kind, str):
            if kind != "cache-point":
                kind = str(piece.get("media_type")).partition("/")[0] if kind in ("binary", "uploaded-file") else kind
                medium = _MEDIA.get(kind, "document")
                left_out[medium] += 1
                parts.append(MediaPart(medium))
        elif isinstance(piece, dict):  # what a validation says of the arguments of a call
            parts.append(TextPart(json_text(piece)))
        elif piece is not None:
            left_out["unknown_part"] += 1
    return parts


def _result(content: object, left_out: LeftOut) -> list[Part]:
    """Return what a tool returned: media among its values are marked, every other value is its JSON."""
    listed = content if isinstance(content, list) else [content]
    if any(isinstance(piece, dict) and "kind" in piece for piece in listed):
        return _parts(content, left_out)
    if content is None or content == "":
        return []
    return [TextPart(content if isinstance(content, str) else json_text(content))]


FORMAT = Format(name="pydantic-ai", knows=_knows, entries=_entries)
