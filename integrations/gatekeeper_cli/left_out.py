"""The words for what a conversion leaves out, by kind: nothing is dropped without being counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KINDS", "ODD_KINDS", "counted_words"]

KINDS: Mapping[str, tuple[str, str]] = {
    "image": ("image", "images"),
    "audio": ("recording", "recordings"),
    "video": ("video", "videos"),
    "document": ("document", "documents"),
    "other": ("part of an unknown type", "parts of an unknown type"),
    "unknown_part": ("part without text", "parts without text"),
    "attachment": ("attached file without text", "attached files without text"),
    "artifact": ("artifact", "artifacts"),
    "thinking": ("piece of thinking", "pieces of thinking"),
    "hidden_message": ("hidden message", "hidden messages"),
    "weightless_message": ("message of weight 0", "messages of weight 0"),
    "empty_message": ("empty message", "empty messages"),
    "branch_message": ("message on another branch", "messages on other branches"),
    "unknown_role": ("message of an unknown role", "messages of an unknown role"),
    "removal": ("mark of a removed message", "marks of removed messages"),
    "orphan_result": ("tool result without its call", "tool results without their calls"),
    "tool_definition": ("definition of tools", "definitions of tools"),
    "preface": ("text before the first speaker", "texts before the first speaker"),
    "system_message": ("system message", "system messages"),
    "greeting": ("answer before the first question", "answers before the first question"),
    "tool_call": ("tool call", "tool calls"),
    "tool_result": ("tool result", "tool results"),
    "call_id": ("id of a call", "ids of calls"),
    "message_id": ("id of a message", "ids of messages"),
    "message_field": ("name, id, mark or time of a message", "names, ids, marks or times of messages"),
    "metadata": ("set of marks", "sets of marks"),
    "joined_message": ("border between messages", "borders between messages"),
    "joined_part": ("border between parts", "borders between parts"),
    "end_lines": ("text's empty lines at its ends", "texts' empty lines at their ends"),
    "closed_fence": ("open end of a code block", "open ends of code blocks"),
    "surrogate": ("half of a character", "halves of characters"),
}
"""What was left out, in words for one and for many."""

ODD_KINDS: Mapping[str, tuple[str, str]] = {
    "unanswered-tool-call": ("tool call without a result", "tool calls without a result"),
    "orphan-tool-result": ("tool result without its call", "tool results without their calls"),
    "duplicate-tool-result": ("second result of a call", "second results of calls"),
}
"""What was kept although no provider accepts it, by the rule of ``validate_messages`` that it breaks."""


def counted_words(counts: Mapping[str, int], words: Mapping[str, tuple[str, str]]) -> str:
    """Return counts in words, most first.

    >>> counted_words({"image": 1, "hidden_message": 1_200}, KINDS)
    '1,200 hidden messages, 1 image'
    """
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {words[kind][count != 1]}" for kind, count in ordered)
