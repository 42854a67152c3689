"""pydantic-ai's messages as ``ModelMessagesTypeAdapter`` writes them: a list (``all_messages_json``) or lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatekeeper_core.messages import MediaKind, Part, TextPart
from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_formats import base
from gatekeeper_formats.transcript import Transcript

_CALLS = frozenset({"tool-call", "builtin-tool-call"})
_RETURNS = frozenset({"tool-return", "builtin-tool-return"})
_RETRIES = frozenset({"retry-prompt", "retry-feedback"})
_MEDIA: Mapping[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}


def _add(transcript: Transcript, part: base.Fields, place: str, left_out: base.LeftOut) -> None:
    kind, call_id = (base.text_or_none(part.get(key)) for key in ("part_kind", "tool_call_id"))
    name = part.get("tool_name")
    name = name if isinstance(name, str) else None
    if kind == "system-prompt":
        transcript.say("system", (TextPart(base.field_of(part, "content", str, f"{place}: ")),))
    elif kind == "user-prompt" or (kind in _RETRIES and name is None):
        transcript.message("user", _parts(part.get("content"), left_out))
    elif kind in _CALLS:
        transcript.call(name or "", base.arguments_of(part.get("args")), call_id=call_id)
    elif kind in _RETURNS or kind in _RETRIES:
        content = part.get("content")
        if any(isinstance(piece, dict) and "kind" in piece for piece in base.list_or_empty(content) or [content]):
            result = _parts(content, left_out)  # media among what a tool returned
        else:
            result = [] if content is None else base.text_parts(base.arguments_of(content))
        transcript.answer(result, call_id=call_id, name=name)
    elif kind == "text":
        parts = base.text_parts(base.field_of(part, "content", str, f"{place}: "))
        if parts:
            transcript.say("assistant", parts)
    elif kind == "thinking":
        left_out["thinking"] += 1
    elif kind == "compaction":
        left_out["compaction"] += 1
    elif kind == "file":
        transcript.say("assistant", _parts([part.get("content")], left_out))
    else:
        left_out["unknown_part"] += 1


def _parts(content: object, left_out: base.LeftOut) -> list[Part]:
    parts: list[Part] = []
    for piece in content if isinstance(content, list) else [content]:
        kind = piece.get("kind") if isinstance(piece, dict) else None
        text = piece.get("content") if isinstance(piece, dict) else piece
        if isinstance(text, str):
            parts += base.text_parts(text)
        elif isinstance(piece, dict) and isinstance(kind, str):
            if kind != "cache-point":
                is_file = kind in ("binary", "uploaded-file")
                kind = str(piece.get("media_type")).partition("/")[0] if is_file else kind.removesuffix("-url")
                parts += base.media_part(_MEDIA.get(kind, "document"), left_out)
        elif isinstance(piece, dict):  # a validation error about the arguments of a call
            parts.append(TextPart(base.json_text(piece)))
        elif piece is not None:
            left_out["unknown_part"] += 1
    return parts


class _PydanticAI(base.Format):
    name = "pydantic-ai"

    def knows(self, value: Any) -> bool:
        return value.get("kind") in ("request", "response") and "parts" in value

    def holds(self, value: Any) -> bool:  # noqa: ARG002
        return False

    def opening(self, first: base.Fields) -> dict[str, str | None]:
        dated = [first, *map(base.object_at, base.list_or_empty(first.get("parts")))]
        return {
            "id": base.text_or_none(first.get("conversation_id")) or base.text_or_none(first.get("run_id")),
            "created": next((day for each in dated if (day := base.date_of(each.get("timestamp")))), None),
        }

    def messages(self, items: base.Items, left_out: base.LeftOut) -> base.Reports:
        transcript = Transcript(left_out)
        instructions: str | None = None
        for value, place in base.objects_of(items):
            kind = value.get("kind")
            if kind not in ("request", "response"):
                raise base.PlaceError(f'{place}: "kind" must be "request" or "response"')
            text = base.text_or_none(value.get("instructions"))
            if text is not None and text != instructions:
                # Instructions go with every request; if they change, the first ones are kept.
                if instructions is None:
                    transcript.pause()
                    transcript.say("system", (TextPart(text),))
                else:
                    left_out["system_message"] += 1
                instructions = text
            for at, part in enumerate(base.field_of(value, "parts", list, f"{place}: ")):
                where = f"{place}, part {at}"
                if kind == "request":
                    transcript.pause()
                _add(transcript, base.checked_object(part, where), where, left_out)
            transcript.pause()
            yield read_usage(value.get("usage"), model=value.get("model_name"))
        yield from transcript.messages


FORMAT = _PydanticAI()
