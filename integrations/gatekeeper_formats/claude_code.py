"""Session files of Claude Code: a record a line, messages in Anthropic's format, linked from each to its parent.

::

    summary          title
    user  ─ parent ─ assistant ─ assistant ─ user (results) ─ system compact_boundary ─ user isCompactSummary ─ user
                     └ one message of the model, a block a line ┘       └ the links go on behind a compaction ┘

The format has no specification; Anthropic calls it internal. Source: what public readers of it agree on
(skillsynchq/txcript, simonw/claude-code-transcripts, ccusage).

The conversation is read as it happened: the branch of the newest record, the part before each compaction included.
What a compaction put in its place, records of the program and messages of subagents are counted, not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gatekeeper_core.messages import Message, Part, TextPart
from gatekeeper_core.native.anthropic import ANTHROPIC
from gatekeeper_core.native.items import content_of, kind_of
from gatekeeper_core.pricing.usage import Usage, read_usage
from gatekeeper_formats import base
from gatekeeper_formats.agent_log import Log, native_messages, one_log, without
from gatekeeper_formats.anthropic import THINKING

_TALK = ("user", "assistant")
_RECORDS = frozenset(
    {
        "agent-name",
        "ai-title",
        "attachment",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "progress",
        "queue-operation",
        "summary",
        "system",
    }
)
_NAMES = frozenset({"leafUuid", "messageId", "parentUuid", "sessionId"})
"""Keys of which a record has one."""

_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
"""Where records have a title, the surest last."""

_SYNTHETIC = "<synthetic>"
_LOCAL_OUTPUT = "<local-command-"
"""How the program begins what a command of its own printed, which no model was asked about."""


@dataclass(slots=True)
class _Said:
    """What a user's record says, or all records of one message of the model.

    Attributes:
        names: the records.
        messages: what they say.
        usage: what was reported last.
    """

    names: set[str]
    messages: list[Message]
    usage: Usage | None = None


class _Link(NamedTuple):
    """Where a record hangs: at its parent, or at the record before it where the parent is not in the file."""

    parent: str | None
    before: str | None


def _knows(value: Any) -> bool:
    if not isinstance(value, dict) or "role" in value:
        return False
    if value.get("type") in _TALK:
        return isinstance(value.get("message"), dict)
    return kind_of(value) in _RECORDS and not _NAMES.isdisjoint(value)


class _Session:
    """The records of a file, and how they hang together."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._titles: dict[str, str] = {}
        self._forget()

    def _forget(self) -> None:
        self._said: list[_Said] = []
        self._by_message: dict[str, _Said] = {}
        self._links: dict[str, _Link] = {}
        self._newest: str | None = None

    def messages(self, items: Iterable[base.Item]) -> list[Message]:
        """Return the messages of the newest branch; those of a subagent where the file has no others."""
        main = False
        for item in items:
            record = base.checked_object(item.value, item.place())
            talks = record.get("type") in _TALK and isinstance(record.get("message"), dict)
            aside = record.get("isSidechain") is True
            if talks and not aside and not main:
                main = True
                self._log.left_out["subagent_message"] += len(self._said)
                self._forget()
            if talks and aside and main:
                self._log.left_out["subagent_message"] += 1
                continue
            self._log.begins(record.get("sessionId"), record.get("timestamp"))
            repeated = self._link(record, talks=talks)
            if talks and not repeated:
                self._read(record, item.place())
            else:
                self._note_title(record)
                self._log.left_out["log_record"] += 1
        self._log.title = next((self._titles[kind] for kind in reversed(_TITLES) if kind in self._titles), None)
        return self._newest_branch()

    def _link(self, record: base.Fields, *, talks: bool) -> bool:
        """Note where a record hangs; return whether it was there before."""
        name = record.get("uuid")
        if not isinstance(name, str) or name in self._links:
            return isinstance(name, str)
        parent = record.get("parentUuid") or record.get("logicalParentUuid")
        compacts = record.get("isCompactSummary") is True or record.get("subtype") == "compact_boundary"
        begins = not parent and not compacts and "parentUuid" in record
        self._links[name] = _Link(parent if isinstance(parent, str) else None, None if begins else self._newest)
        if talks:
            self._newest = name
        return False

    def _note_title(self, record: base.Fields) -> None:
        kind = kind_of(record)
        title = base.text_or_none(record.get(_TITLES.get(kind, "")))
        if title is not None and (kind != "summary" or kind not in self._titles):
            self._titles[kind] = title

    def _read(self, record: base.Fields, place: str) -> None:
        """Read a record with a message."""
        message, left_out = record["message"], self._log.left_out
        content = without(message.get("content"), THINKING, left_out)
        if record.get("isCompactSummary") is True or _by_the_program(record, content):
            left_out["compaction" if record.get("isCompactSummary") is True else "program_message"] += 1
            return
        item = {"role": message.get("role", record["type"]), "content": content}
        messages = native_messages(ANTHROPIC, [(item, place)], left_out)
        name, message_id = record.get("uuid"), message.get("id")
        said = self._by_message.get(message_id) if isinstance(message_id, str) else None
        if said is None:
            said = _Said(set(), [])
            self._said.append(said)
            if isinstance(message_id, str):
                self._by_message[message_id] = said
        if isinstance(name, str):
            said.names.add(name)
        said.messages = [_joined([*said.messages, *messages])] if said.messages else messages
        said.usage = read_usage(message) or said.usage

    def _newest_branch(self) -> list[Message]:
        """Return the messages from the beginning to the newest record.

        Of calls that ran in parallel, all results are taken: one of them alone is a parent of what follows.
        """
        path: set[str] = set()
        name = self._newest
        while name is not None:
            path.add(name)
            link = self._links[name]
            near = (each for each in link if each is not None and each in self._links and each not in path)
            name = next(near, None)
        found: list[Message] = []
        calls: set[str | None] = set()
        for said in self._said:
            results = {message.tool_call_id for message in said.messages if message.role == "tool"}
            if said.names and path.isdisjoint(said.names) and not (results and results <= calls):
                self._log.left_out["branch_message"] += 1
                continue
            calls.update(call.id for message in said.messages for call in message.tool_calls)
            if said.usage is not None:
                self._log.usage.append(said.usage)
            told = [message for message in said.messages if message.content or message.tool_calls]
            self._log.left_out["empty_message"] += not told
            found += told
        return found


def _by_the_program(record: base.Fields, content: object) -> bool:
    """Return whether the program wrote a message itself: a reminder, an error, the output of a local command."""
    first = content[0] if isinstance(content, list) and content else content
    text = first.get("text") if isinstance(first, dict) else first
    return (
        record.get("isMeta") is True
        or record.get("isApiErrorMessage") is True
        or record["message"].get("model") == _SYNTHETIC
        or (isinstance(text, str) and text.startswith(_LOCAL_OUTPUT))
    )


def _joined(messages: list[Message]) -> Message:
    """Return the one message of the model whose blocks stand in several records."""
    parts: list[Part] = []
    for message in messages:
        if not isinstance(message.content, str):
            parts += message.content
        elif message.content:
            parts.append(TextPart(message.content))
    calls = tuple(call for message in messages for call in message.tool_calls)
    return replace(messages[0], content=content_of(parts), tool_calls=calls)


FORMAT = base.Format(
    name="claude-code",
    knows=_knows,
    entries=lambda items, _: one_log(items, lambda records, log: _Session(log).messages(records)),
)
