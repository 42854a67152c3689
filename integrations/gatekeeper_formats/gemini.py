"""Gemini's contents, and the chats that Gemini CLI saves.

Contents are a list, one per line, or under ``contents`` (a request) or ``history`` (a checkpoint of Gemini CLI). A
session of Gemini CLI has its own kind of ``messages``; newer ones have one record per line: the session's data,
each message (again after each change), ``$set`` for changed data, ``$rewindTo`` for messages taken back. The message
list that a compression puts under ``$set`` is counted, not read. Source:
packages/core/src/services/chatRecordingTypes.ts and chatRecordingService.ts of google-gemini/gemini-cli.
"""

from __future__ import annotations

from typing import Any

from gatekeeper_core.messages import Message
from gatekeeper_core.native.gemini import GEMINI
from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_formats import base
from gatekeeper_formats.agent_log import Log, LogFormat, native_messages

_TYPED = frozenset({"type", "part_kind"})  # in parts of other formats; a Gemini part has its type as a key


def _is_content(value: object) -> bool:
    if not isinstance(value, dict) or not value.keys().isdisjoint({"content", "type", "kind"}):
        return False
    parts = value.get("parts")
    return isinstance(parts, list) and all(_TYPED.isdisjoint(part) for part in parts if isinstance(part, dict))


def _contents_key(value: base.Fields) -> str | None:
    history = value.get("history")
    listed = isinstance(history, list) and bool(history) and _is_content(history[0])
    return "contents" if "contents" in value else "history" if listed else None


def _without_thoughts(parts: Any, left_out: base.LeftOut) -> Any:
    if not isinstance(parts, list):
        return parts
    rest = [part for part in parts if not (isinstance(part, dict) and part.get("thought") is True)]
    left_out["thinking"] += len(parts) - len(rest)
    return rest


def _contents(message: base.Fields, place: str, log: Log) -> list[dict[str, Any]]:
    """Return a session message as contents: the answer with its calls, then their results."""
    kind = message.get("type")
    if kind not in ("user", "gemini"):
        log.left_out["program_message"] += 1
        return []
    content = message.get("content")
    listed = content if isinstance(content, list) else [content] if content else []
    parts = _without_thoughts([{"text": part} if isinstance(part, str) else part for part in listed], log.left_out)
    if kind == "user":  # results are in the message with their calls
        parts = [part for part in parts if not (isinstance(part, dict) and "functionResponse" in part)]
        return [{"role": "user", "parts": parts}] if parts else []
    calls = message.get("toolCalls") or []
    if not isinstance(calls, list):
        raise base.PlaceError(f'{place}: "toolCalls" must be a list, got {base.kind_of(calls)}')
    if calls:
        parts = [part for part in parts if not (isinstance(part, dict) and "functionCall" in part)]
    results: list[Any] = []
    for item in calls:
        call = base.checked_object(item, f"{place}: a call")
        parts.append({"functionCall": {key: call.get(key) for key in ("id", "name", "args")}})
        result = call.get("result")
        results += result if isinstance(result, list) else [result] if isinstance(result, dict) else []
    log.left_out["thinking"] += len(base.list_or_empty(message.get("thoughts")))
    usage = read_usage(message.get("tokens"), model=message.get("model"))
    if usage is not None:
        log.usage.append(usage)
    answer = [{"role": "model", "parts": parts}] if parts else []
    return [*answer, {"role": "user", "parts": results}] if results else answer


class _Contents(base.Format):
    name = "gemini"

    def knows(self, value: Any) -> bool:
        return _is_content(value) or _contents_key(value) is not None

    def holds(self, value: Any) -> bool:
        return isinstance(value, dict) and not _is_content(value)

    def conversation(self, value: base.Fields, left_out: base.LeftOut) -> list[Message]:
        key = _contents_key(value) or "contents"
        contents = value.get(key)
        listed = [{"parts": [{"text": contents}]}] if isinstance(contents, str) else base.field_of(value, key, list)
        base.count_tools(value, left_out)
        system = next((value[name] for name in ("systemInstruction", "system_instruction") if value.get(name)), None)
        if isinstance(system, (dict, str)):
            parts = system.get("parts") if isinstance(system, dict) else [{"text": system}]
            listed = [{"role": "system", "parts": parts}, *listed]
        return self.messages((base.Item(content, at) for at, content in enumerate(listed)), left_out)

    def messages(self, items: base.Items, left_out: base.LeftOut) -> list[Message]:
        contents = []
        for content, place in base.objects_of(items, "content"):
            contents.append(({**content, "parts": _without_thoughts(content.get("parts"), left_out)}, place))
        return native_messages(GEMINI, contents, left_out)


class _Session(Log):
    def read(self, items: base.Items) -> list[Message]:
        written: dict[object, tuple[dict[str, Any], str]] = {}  # the latest version of each message
        for item in items:
            record = base.checked_object(item.value, item.place())
            listed: list[base.Item] = []
            if isinstance(record.get("$rewindTo"), str):
                names, name = list(written), record["$rewindTo"]
                for each in names[names.index(name) if name in written else 0 :]:  # unknown name: all
                    del written[each]
                    self.left_out["branch_message"] += 1
            elif isinstance(record.get("$set"), dict):
                self.title = base.text_or_none(record["$set"].get("summary")) or self.title
                self.left_out["compaction" if record["$set"].get("messages") else "log_record"] += 1
            elif "sessionId" in record:
                self.begins(record["sessionId"], record.get("startTime"))
                self.title = base.text_or_none(record.get("summary")) or self.title
                messages = base.field_of(record, "messages", list, f"{item.place()}: ") if "messages" in record else []
                listed = [base.Item(each, at) for at, each in enumerate(messages)]
            else:
                listed = [item]
            for each in listed:
                message = base.checked_object(each.value, each.place())
                name = message.get("id")
                written[name if isinstance(name, str) else (item.at, each.at)] = message, each.place()
        contents = [(content, at) for message, at in written.values() for content in _contents(message, at, self)]
        return native_messages(GEMINI, contents, self.left_out)


class _CLI(LogFormat):
    name = "gemini-cli"
    signs = frozenset({"sessionId", "projectHash"})
    log = _Session


CONTENTS, CLI = _Contents(), _CLI()
