"""Claude Code's session files: one record per line, messages in Anthropic's format, each linked to its parent.

::

    summary          title
    user  ─ parent ─ assistant ─ assistant ─ user (results) ─ system compact_boundary ─ user isCompactSummary ─ user
                     └ one model message, one block per line    ┘       └ the links continue after compaction ┘

The format has no specification; Anthropic calls it internal. Source: what public readers of it agree on
(skillsynchq/txcript, simonw/claude-code-transcripts, ccusage).

The newest branch is read, including the part before each compaction; compaction summaries, the program's own records
and subagent messages are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gatekeeper_core.messages import Message, Part
from gatekeeper_core.native.anthropic import ANTHROPIC
from gatekeeper_core.native.items import content_of, kind_of
from gatekeeper_core.pricing.usage import Usage, read_usage
from gatekeeper_formats import base
from gatekeeper_formats.agent_log import Log, LogFormat, native_messages, without
from gatekeeper_formats.anthropic import THINKING

_TALK = ("user", "assistant")
_RECORDS = frozenset(
    {
        *("agent-name", "ai-title", "attachment", "custom-title", "file-history-snapshot", "last-prompt", "mode"),
        *("progress", "queue-operation", "summary", "system"),
    }
)
_NAMES = frozenset({"leafUuid", "messageId", "parentUuid", "sessionId"})  # a record has at least one of these
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}  # the surest last
_SYNTHETIC = "<synthetic>"
_LOCAL_OUTPUT = "<local-command-"  # begins the output of a local command, which involves no model


@dataclass(slots=True)
class _Entry:
    """The messages of a user record, or of all records of one model message, with the last usage."""

    names: set[str]
    messages: list[Message]
    usage: Usage | None = None


class _Session(Log):
    def __init__(self) -> None:
        super().__init__()
        self._titles: dict[str, str] = {}
        self._forget()

    def _forget(self) -> None:
        self._entries: list[_Entry] = []
        self._by_message: dict[str, _Entry] = {}
        self._links: dict[str, tuple[str | None, str | None]] = {}  # by record: its parent, the one before it
        self._newest: str | None = None

    def read(self, items: base.Items) -> list[Message]:
        """Return the messages of the newest branch; those of a subagent if the file has no others."""
        main = False
        for record, place in base.objects_of(items):
            talks = record.get("type") in _TALK and isinstance(record.get("message"), dict)
            aside = record.get("isSidechain") is True
            if talks and not aside and not main:
                main = True
                self.left_out["subagent_message"] += len(self._entries)
                self._forget()
            if talks and aside and main:
                self.left_out["subagent_message"] += 1
                continue
            self.begins(record.get("sessionId"), record.get("timestamp"))
            name = record.get("uuid")
            repeated = isinstance(name, str) and name in self._links
            if isinstance(name, str) and not repeated:
                parent = record.get("parentUuid") or record.get("logicalParentUuid")
                compacts = record.get("isCompactSummary") is True or record.get("subtype") == "compact_boundary"
                begins = not parent and not compacts and "parentUuid" in record
                self._links[name] = parent if isinstance(parent, str) else None, None if begins else self._newest
                self._newest = name if talks else self._newest
            if talks and not repeated:
                self._add(record, place)
            else:
                kind = kind_of(record)
                title = base.text_or_none(record.get(_TITLES.get(kind, "")))
                if title is not None and (kind != "summary" or kind not in self._titles):
                    self._titles[kind] = title
                self.left_out["log_record"] += 1
        self.title = next((self._titles[kind] for kind in reversed(_TITLES) if kind in self._titles), None)
        return self._newest_branch()

    def _add(self, record: base.Fields, place: str) -> None:
        message, left_out = record["message"], self.left_out
        content = without(message.get("content"), THINKING, left_out)
        first = content[0] if isinstance(content, list) and content else content
        text = first.get("text") if isinstance(first, dict) else first
        if record.get("isCompactSummary") is True:
            left_out["compaction"] += 1
            return
        if (
            record.get("isMeta") is True
            or record.get("isApiErrorMessage") is True
            or message.get("model") == _SYNTHETIC
            or (isinstance(text, str) and text.startswith(_LOCAL_OUTPUT))
        ):  # written by the program: a reminder, an error, the output of a local command
            left_out["program_message"] += 1
            return
        item = {"role": message.get("role", record["type"]), "content": content}
        messages = native_messages(ANTHROPIC, [(item, place)], left_out)
        name, message_id = record.get("uuid"), message.get("id")
        entry = self._by_message.get(message_id) if isinstance(message_id, str) else None
        if entry is None:
            entry = _Entry(set(), [])
            self._entries.append(entry)
            if isinstance(message_id, str):
                self._by_message[message_id] = entry
        if isinstance(name, str):
            entry.names.add(name)
        if entry.messages:  # a model message spans several records, one per block
            parts: list[Part] = []
            for each in (*entry.messages, *messages):
                parts += base.text_parts(each.content) if isinstance(each.content, str) else each.content
            calls = tuple(call for each in (*entry.messages, *messages) for call in each.tool_calls)
            messages = [replace(entry.messages[0], content=content_of(parts), tool_calls=calls)]
        entry.messages = messages
        entry.usage = read_usage(message) or entry.usage

    def _newest_branch(self) -> list[Message]:
        """Return the newest branch, with all results of parallel calls: only one is a parent of what follows."""
        path: set[str] = set()
        name = self._newest
        while name is not None:
            path.add(name)
            link = self._links[name]
            near = (each for each in link if each is not None and each in self._links and each not in path)
            name = next(near, None)
        messages: list[Message] = []
        calls: set[str | None] = set()
        for entry in self._entries:
            results = {message.tool_call_id for message in entry.messages if message.role == "tool"}
            if entry.names and path.isdisjoint(entry.names) and not (results and results <= calls):
                self.left_out["branch_message"] += 1
                continue
            calls.update(call.id for message in entry.messages for call in message.tool_calls)
            if entry.usage is not None:
                self.usage.append(entry.usage)
            filled = [message for message in entry.messages if message.content or message.tool_calls]
            self.left_out["empty_message"] += not filled
            messages += filled
        return messages


class _ClaudeCode(LogFormat):
    name = "claude-code"
    log = _Session

    def knows(self, value: Any) -> bool:
        if "role" not in value and value.get("type") in _TALK:
            return isinstance(value.get("message"), dict)
        return "role" not in value and kind_of(value) in _RECORDS and not _NAMES.isdisjoint(value)


FORMAT = _ClaudeCode()
