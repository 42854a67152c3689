"""Open WebUI's export: a list of chats, each with a tree of messages under ``chat.history``.

The branch shown last ends at ``history.currentId``. Calls, results and thinking are ``<details>`` in answer texts.
"""

from __future__ import annotations

import html
import re
from functools import partial
from typing import Any

from gatekeeper_core.messages import MediaPart, Part, TextPart
from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_formats import base
from gatekeeper_formats.transcript import Transcript, TreeKeys, branch_of

_KEYS = TreeKeys(nodes="history.messages", current="history.currentId", parent="parentId")
_DETAILS = re.compile(
    r'<details type="(?P<kind>reasoning|tool_calls|code_interpreter)"(?P<attributes>(?:\s+[\w-]+="[^"]*")*)\s*>'
)
_END = "</details>"
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


def _chat(value: base.Fields) -> base.Fields:
    """Return the chat of an exported row, or the value itself if it is a chat exported alone."""
    chat = value.get("chat")
    return chat if isinstance(chat, dict) else value


def _add_answer(transcript: Transcript, text: str, left_out: base.LeftOut) -> bool:
    """Add the text, calls and results of an answer in order; return whether it had any."""
    at, has_content = 0, False
    while True:
        match = _DETAILS.search(text, at)
        end = text.find(_END, match.end()) if match else -1
        own = text[at : match.start() if match and end >= 0 else len(text)].strip("\n")
        if own.strip():
            transcript.say("assistant", (TextPart(own),))
            has_content = True
        if match is None or end < 0:
            return has_content
        at = end + len(_END)
        if match["kind"] != "tool_calls":
            left_out["thinking" if match["kind"] == "reasoning" else "code_run"] += 1
            continue
        attributes = {key: html.unescape(value) for key, value in _ATTRIBUTE.findall(match["attributes"])}
        call_id = attributes.get("id") or None
        transcript.call(attributes.get("name", ""), _decoded(attributes.get("arguments", "")), call_id=call_id)
        has_content = True
        body = text[match.end() : end].rpartition("</summary>")[2].strip()
        result = attributes.get("result") or html.unescape(body)
        if attributes.get("done") == "true":
            transcript.answer([TextPart(_decoded(result))] if result else [], call_id=call_id)


def _decoded(text: str) -> str:
    """Return a text without one layer of JSON encoding, if it has one."""
    value = base.json_or_none(text)
    return text if value is None else value if isinstance(value, str) else base.json_text(value)


class _OpenWebUI(base.Format):
    name = "open-webui"

    def knows(self, value: Any) -> bool:
        return "messages" in base.object_at(_chat(value), "history")

    def entries(self, items: base.Items, whole_file: bool) -> base.Entries:
        for item in items:
            row = base.object_at(item.value)
            chat = _chat(row)
            prefix = "" if whole_file else f"{item.place('conversation')}: "
            yield base.Entry(
                base.loader(partial(_messages, item.value), prefix=prefix),
                id=base.text_or_none(row.get("id")) or base.text_or_none(chat.get("id")),
                title=base.text_or_none(row.get("title")) or base.text_or_none(chat.get("title")),
                created=base.date_of_seconds(row.get("created_at")),
            )


def _messages(row: object, left_out: base.LeftOut) -> base.Reports:
    chat = _chat(base.checked_object(row, "the chat"))
    history = base.field_of(chat, "history", dict)
    nodes = base.field_of(history, "messages", dict, "history: ")
    path = branch_of(nodes, history.get("currentId"), _KEYS)
    left_out["branch_message"] += len(nodes) - len(path)
    transcript = Transcript(left_out)
    system = base.text_parts(base.object_at(chat, "params").get("system"))
    if system:
        transcript.say("system", system)
    for name in path:
        node = nodes[name]
        message = base.message_from(
            {"role": node.get("role"), "content": node.get("content")}, f"the message of node {name!a:.60}", left_out
        )
        parts: list[Part] = [TextPart(message.content)] if isinstance(message.content, str) else list(message.content)
        for file in base.list_or_empty(node.get("files")):
            if base.object_at(file).get("type") == "image":
                parts += base.media_part("image", left_out)
            else:
                left_out["attachment"] += 1
        transcript.pause()
        has_content = False
        for part in parts:
            if message.role == "assistant" and isinstance(part, TextPart):
                has_content |= _add_answer(transcript, part.text, left_out)
            elif isinstance(part, MediaPart) or part.text:
                transcript.say(message.role, (part,))
                has_content = True
        left_out["empty_message"] += not has_content
        info = base.object_at(node.get("usage") or node.get("info"))
        yield read_usage(info.get("usage", info), model=node.get("model"))
    yield from transcript.messages


FORMAT = _OpenWebUI()
