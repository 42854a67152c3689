"""OpenTelemetry traces of generative models: OTLP in JSON, or spans as the SDK writes them, in a list or one per line.

The span of a model call has ``gen_ai.input.messages`` and ``gen_ai.output.messages``, as JSON text or as values.
Source: OpenTelemetry's semantic conventions for generative AI (client spans), with their JSON schemas of messages.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from gatekeeper_core.messages import MediaKind, Message, Part, Role, TextPart, ToolCall
from gatekeeper_core.native.items import content_of
from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_formats import base
from gatekeeper_formats.traces import Call, Record, TracedMessage, conversations_of, traced_messages

_SENT, _ANSWERED, _SYSTEM = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
_MODEL_CALLS = frozenset({"chat", "generate_content", "text_completion"})
_TRACES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans")
_ROLES: Mapping[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_ROLES = {**_ROLES, "model": "assistant", "tool": "tool"}
_MEDIA: Mapping[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
_USAGE = "gen_ai.usage."


def _spans(item: base.Item) -> Iterator[tuple[dict[str, Any], str]]:
    place = item.place("span")
    value = base.checked_object(item.value, place)
    if not any(key in value for key in _TRACES):
        yield value, place
        return
    resources = _inside(value, _TRACES, place)
    scopes = (scope for resource in resources for scope in _inside(resource, _SCOPES, place))
    spans = (span for scope in scopes for span in _inside(scope, ("spans",), place))
    for at, span in enumerate(spans):
        yield span, f"{place}, span {at}" if item.line else f"span {at} (counting from 0)"


def _inside(value: base.Fields, keys: tuple[str, ...], place: str) -> Iterator[dict[str, Any]]:
    key = next((key for key in keys if key in value), keys[0])
    for inner in base.field_of(value, key, list, f"{place}: ") if key in value else ():
        yield base.checked_object(inner, f'{place}, "{key}"')


def _record(span: base.Fields, place: str) -> Record:
    attributes = span.get("attributes")
    if not isinstance(attributes, dict):
        if not isinstance(attributes, list):
            got = base.kind_of(attributes)
            raise base.PlaceError(f'{place}: "attributes" must be an object or a list, got {got}')
        attributes = _named(attributes)
    trace = base.object_at(span, "context").get("trace_id")
    names = (attributes.get("gen_ai.conversation.id"), span.get("traceId"), span.get("trace_id"), trace)
    name = next((text for text in names if isinstance(text, str) and text), "")
    nanoseconds = span.get("startTimeUnixNano", span.get("start_time_unix_nano"))
    start = span.get("start_time")
    if isinstance(nanoseconds, (int, str)) and str(nanoseconds).isdecimal() and len(str(nanoseconds)) <= 20:
        order = f"{int(nanoseconds):020d}"
        created = base.date_of_seconds(int(nanoseconds) // 10**9)
    else:
        order, created = str(start), base.date_of(start)
    has_messages = _SENT in attributes or _ANSWERED in attributes
    operation = str(attributes.get("gen_ai.operation.name", "chat"))
    rank = None if not has_messages else 0 if operation in _MODEL_CALLS else 1
    return Record(name, order, rank, partial(_call, attributes, place), created)


def _plain(value: object) -> Any:
    """Return an OTLP value as plain JSON."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    kind, inner = next(iter(value.items()))
    if kind == "intValue":
        return int(inner) if isinstance(inner, str) and inner.lstrip("-").isdecimal() and len(inner) <= 20 else inner
    inside = base.list_or_empty(base.object_at(inner).get("values"))
    if kind == "arrayValue":
        return [_plain(each) for each in inside]
    return _named(inside) if kind == "kvlistValue" else inner


def _named(pairs: list[Any]) -> dict[str, Any]:
    valid = (each for each in pairs if isinstance(each, dict) and isinstance(each.get("key"), str))
    return {each["key"]: _plain(each.get("value")) for each in valid}


def _call(attributes: base.Fields, place: str) -> Call:
    # Some instrumentations write "cache_read_input_tokens": part of the input here, unlike in Anthropic's usage.
    counts = ((key.removeprefix(_USAGE), value) for key, value in attributes.items() if key.startswith(_USAGE))
    usage = {key.replace("_input_tokens", ".input_tokens"): value for key, value in counts}
    model = attributes.get("gen_ai.response.model", attributes.get("gen_ai.request.model"))
    system_left_out: base.LeftOut = Counter()
    system, _, _ = _split(_listed(attributes, _SYSTEM, place), f'{place}, "{_SYSTEM}"', system_left_out)
    sent = traced_messages([Message("system", content_of(system))] if system else (), system_left_out)
    sent += _messages(_listed(attributes, _SENT, place), f'{place}, "{_SENT}"')
    answers = _listed(attributes, _ANSWERED, place)
    answered = _messages(answers[:1], f'{place}, "{_ANSWERED}"')
    if answered:
        answered[0].left_out["branch_message"] += len(answers) - 1
    return Call(sent, answered, read_usage(usage, model=model))


def _listed(attributes: base.Fields, key: str, place: str) -> list[Any]:
    """Return the list in an attribute, which may be JSON text."""
    value = attributes.get(key)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise base.PlaceError(f'{place}: "{key}" must be JSON: it may have been cut off') from error
    if value is None:
        return []
    if not isinstance(value, list):
        raise base.PlaceError(f'{place}: "{key}" must be a list, got {base.kind_of(value)}')
    return value


def _messages(values: list[Any], place: str) -> list[TracedMessage]:
    traced = []
    for at, value in enumerate(values):
        where = f"{place}, message {at}"
        left_out: base.LeftOut = Counter()
        message = base.checked_object(value, where)
        role = _ROLES.get(str(message.get("role")))
        if role is None:
            got = f"got {message.get('role')!a:.40}"
            raise base.PlaceError(f'{where}: "role" must be one of {", ".join(_ROLES)}, {got}')
        parts, calls, results = _split(base.field_of(message, "parts", list, f"{where}: "), where, left_out)
        messages = list(results)
        if calls and role != "assistant":
            raise base.PlaceError(f'{where}: only "assistant" may have a tool_call')
        if role == "tool":
            left_out["orphan_result"] += bool(parts)
        elif parts or calls or not results:
            messages.append(Message(role, content_of(parts), tool_calls=tuple(calls)))
        traced += traced_messages(messages, left_out)
    return traced


def _split(values: list[Any], place: str, left_out: base.LeftOut) -> tuple[list[Part], list[ToolCall], list[Message]]:
    """Return the text and media of a message, its calls, and the tool messages of its results."""
    parts, calls, results = list[Part](), list[ToolCall](), list[Message]()
    for value in values:
        part = base.checked_object(value, f"{place}, a part")
        kind, content = part.get("type"), part.get("content")
        call_id = part.get("id") if isinstance(part.get("id"), str) else ""
        if kind == "text" and isinstance(content, str):
            parts.append(TextPart(content))
        elif kind == "tool_call" and isinstance(part.get("name"), str):
            calls.append(ToolCall(str(call_id), part["name"], base.arguments_of(part.get("arguments"))))
        elif kind == "tool_call_response":
            result = part.get("response", part.get("result"))
            text = result if isinstance(result, str) else base.json_text(result)
            results.append(Message("tool", text, tool_call_id=str(call_id)))
        elif kind == "reasoning":
            left_out["thinking"] += 1
        elif kind in ("blob", "file", "uri"):
            parts += base.media_part(_MEDIA.get(str(part.get("modality")), "document"), left_out)
        else:
            left_out["unknown_part"] += 1
    return parts, calls, results


class _OpenTelemetry(base.Format):
    name = "opentelemetry"

    def knows(self, value: Any) -> bool:
        named = value.keys() & {"traceId", "trace_id", "context", "spanId", "span_id"}
        return any(key in value for key in _TRACES) or ("attributes" in value and bool(named))

    def entries(self, items: base.Items, whole_file: bool) -> base.Entries:  # noqa: ARG002
        entry = None
        for entry in conversations_of(_record(span, place) for item in items for span, place in _spans(item)):
            yield entry
        if entry is None:
            raise base.PlaceError(f'has no model call with messages: spans need "{_SENT}" or "{_ANSWERED}"')


FORMAT = _OpenTelemetry()
