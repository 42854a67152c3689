"""ShareGPT's format, common in training data sets: ``{"conversations": [{"from": "human", "value": ...}, ...]}``.

A file is one such object, a list of them or one per line; a bare list of ``{"from", "value"}`` is one conversation.
Tool use is as in LLaMA-Factory: ``function_call`` with a JSON object of name and arguments, then ``observation``.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from gatekeeper_core.messages import MediaPart, Message, Role, TextPart
from gatekeeper_formats import base
from gatekeeper_formats.openai import message_of_item
from gatekeeper_formats.transcript import Transcript

_ASSISTANTS = ("gpt", "assistant", "chatgpt", "model", "bot", "bing", "bard")
_ROLES: Mapping[str, Role] = {"system": "system", "human": "user", "user": "user"}
_ROLES = {**_ROLES, **dict.fromkeys(_ASSISTANTS, "assistant")}
_CALLS = frozenset({"function_call", "tool_call"})
_RESULTS = frozenset({"observation", "tool", "function", "function_response", "tool_response"})
_WRITTEN: Mapping[Role, str] = {"system": "system", "user": "human", "assistant": "gpt", "tool": "observation"}


def _is_saying(value: object) -> bool:
    return isinstance(value, dict) and "from" in value and "value" in value


class _ShareGPT(base.WritableFormat):
    name = "sharegpt"
    created_key = "created_at"

    def knows(self, value: Any) -> bool:
        return "conversations" in value or _is_saying(value)

    def holds(self, value: Any) -> bool:
        return value is not None and not _is_saying(value)

    def conversation(self, value: base.Fields, left_out: base.LeftOut) -> Iterable[Message]:
        sayings = base.field_of(value, "conversations", list)
        left_out["tool_definition"] += bool(value.get("tools"))
        system = value.get("system")
        items = [base.Item(saying, at) for at, saying in enumerate(sayings)]
        if isinstance(system, str) and system:
            items.insert(0, base.Item({"from": "system", "value": system}, 0))
        if items and isinstance(items[0].value, dict) and "role" in items[0].value:
            return [message_of_item(item, left_out) for item in items]
        return self.messages(iter(items), left_out)

    def messages(self, items: base.Items, left_out: base.LeftOut) -> tuple[Message, ...]:
        transcript = Transcript(left_out)
        for saying, place in base.objects_of(items):
            speaker, text = (base.field_of(saying, key, str, f"{place}: ") for key in ("from", "value"))
            if speaker in _CALLS:
                call = base.object_at(base.json_or_none(text))
                name, arguments = call.get("name"), call.get("arguments", {})
                if isinstance(name, str):
                    transcript.call(name, arguments if isinstance(arguments, str) else base.json_text(arguments))
                else:  # anything else: arguments without a name
                    transcript.call("", text)
            elif speaker in _RESULTS:
                transcript.answer((TextPart(text),))
            elif speaker in _ROLES:
                transcript.pause()
                transcript.say(_ROLES[speaker], (TextPart(text),))
            else:
                raise base.PlaceError(
                    f'{place}: "from" must be one of {", ".join((*_ROLES, *sorted(_CALLS | _RESULTS)))}, '
                    f"got {reprlib.repr(speaker)}"
                )
        return transcript.messages

    def write(self, messages: Sequence[Message], left_out: base.LeftOut) -> Iterator[str]:
        def sayings(message: Message) -> Iterator[dict[str, str]]:
            base.count_media(message, left_out)
            base.count_fields(message, left_out)
            left_out["call_id"] += len(message.tool_calls)
            if not isinstance(message.content, str):
                texts = sum(not isinstance(part, MediaPart) for part in message.content)
                left_out["joined_part"] += max(0, texts - 1)
            if message.text or not message.tool_calls:
                yield {"from": _WRITTEN[message.role], "value": message.text}
            for call in message.tool_calls:
                yield {
                    "from": "function_call",
                    "value": base.json_text({"name": call.name, "arguments": call.arguments}),
                }

        return base.json_list(chain.from_iterable(map(sayings, messages)), start='[{"conversations": [', end="\n]}]\n")


FORMAT = _ShareGPT()
