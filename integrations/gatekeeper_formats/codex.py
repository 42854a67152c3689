"""Codex rollouts: one record per line, ``{"timestamp", "type", "payload"}``.

``session_meta`` comes first. ``response_item`` is the model's input or output, ``turn_context`` names the model,
``event_msg`` is what the program showed (the messages again, and ``token_count``), and ``compacted`` a summary in place
of what came before. The first versions have items without an envelope. Source: codex-rs/protocol/src/protocol.rs and
models.rs of openai/codex.

The part before a compaction is read; the summary, reasoning, shown events and messages that the program wrote in the
user's name are counted. A turn that was rolled back counts as another branch.
"""

from __future__ import annotations

import re
from typing import Any

from gatekeeper_core.messages import Message
from gatekeeper_core.native.items import kind_of
from gatekeeper_core.native.openai_responses import RESPONSES
from gatekeeper_core.pricing.usage import Usage, read_usage
from gatekeeper_formats import base
from gatekeeper_formats.agent_log import Log, LogFormat, native_messages
from gatekeeper_formats.responses import counted

_RECORDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_BY_THE_PROGRAM = re.compile(
    "# AGENTS.md instructions"
    "|<(environment_context|permissions instructions|user_instructions|skill|turn_aborted|user_shell_command"
    "|subagent_notification|collaboration_mode|model_switch|personality_spec|apps_instructions)>"
)
"""Beginnings of messages that Codex writes in the user's name. Source: the markers in codex-rs."""


class _Rollout(Log):
    def __init__(self) -> None:
        super().__init__()
        self._messages: list[Message] = []
        self._open: list[tuple[dict[str, Any], str]] = []  # items of the current turn, with their places
        self._turns: list[tuple[int, int]] = []  # number of messages and calls before each question
        self._model = ""
        self._total: base.Fields = {}

    def read(self, items: base.Items) -> list[Message]:
        for record, place in base.objects_of(items):
            kind, payload = kind_of(record), record.get("payload")
            if "payload" not in record and kind not in _RECORDS:  # of the first versions
                kind, payload = "response_item" if kind else "session_meta", record
            payload = base.checked_object(payload, f'{place}: "payload"')
            if kind == "response_item":
                kind, role, left_out = kind_of(payload), payload.get("role"), self.left_out
                first = next(iter(base.list_or_empty(payload.get("content"))), None)
                text = base.object_at(first).get("text") if role == "user" else None
                marked = isinstance(text, str) and _BY_THE_PROGRAM.match(text.lstrip())
                if kind == "message" and (role in ("developer", "system") or marked):
                    left_out["program_message"] += 1
                elif kind == "ghost_snapshot":
                    left_out["log_record"] += 1
                elif not counted(payload, left_out):
                    if role == "user":
                        self._close()
                        self._turns.append((len(self._messages), len(self.usage)))
                    self._open.append((payload, place))
                continue
            self.left_out["compaction" if kind == "compacted" else "log_record"] += 1
            if kind == "session_meta":
                self.begins(payload.get("id"), payload.get("timestamp") or record.get("timestamp"))
            elif kind == "turn_context" and isinstance(payload.get("model"), str):
                self._model = payload["model"]
            elif kind == "event_msg":
                self._event(payload)
        self._close()
        return self._messages

    def _close(self) -> None:
        """Read the items of the current turn, so that only one turn of them is in memory."""
        self._messages += native_messages(RESPONSES, self._open, self.left_out)
        self._open = []

    def _event(self, event: base.Fields) -> None:
        if event.get("type") == "token_count" and isinstance(event.get("info"), dict):
            total, last = (event["info"].get(key) for key in ("total_token_usage", "last_token_usage"))
            if isinstance(total, dict) and total != self._total:  # the same again is the same call, with new limits
                before, self._total = self._total, total
                sums, sums_before = (read_usage(each, model=self._model) or Usage(0, 0) for each in (total, before))
                usage = read_usage(last, model=self._model) if isinstance(last, dict) else sums.since(sums_before)
                self.usage += [usage] if usage is not None else []
        elif event.get("type") == "thread_name_updated":
            self.title = base.text_or_none(event.get("thread_name")) or self.title
        elif event.get("type") == "thread_rolled_back" and isinstance(event.get("num_turns"), int):
            self._close()
            taken_back = self._turns[max(0, len(self._turns) - max(0, event["num_turns"])) :]
            if taken_back:
                messages, calls = taken_back[0]
                self.left_out["branch_message"] += len(self._messages) - messages
                del self._messages[messages:], self.usage[calls:], self._turns[-len(taken_back) :]


class _Codex(LogFormat):
    name = "codex"
    log = _Rollout

    def knows(self, value: Any) -> bool:
        first_versions = {"id", "timestamp", "instructions"} <= value.keys() and "type" not in value
        return first_versions or (kind_of(value) in _RECORDS and isinstance(value.get("payload"), dict))


FORMAT = _Codex()
