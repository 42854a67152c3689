"""Logs of agents and lists of providers, written by hand after the documentation of each format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def lines_of(values: Sequence[Any]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


# --- Claude Code ----------------------------------------------------------------------------------------------------


def claude_record(name: str, parent: str | None, role: str, content: Any, **fields: Any) -> dict[str, Any]:
    """Return a record with a message; ``message`` adds to the message, the rest to the record."""
    message = {"role": role, "content": content, **fields.pop("message", {})}
    known = {"parentUuid": parent, "isSidechain": False, "sessionId": "s-1", "version": "2.0.1", "cwd": "/work"}
    return {**known, "type": role, "uuid": name, "timestamp": "2025-11-03T10:00:00.000Z", "message": message, **fields}


def claude_answer(
    name: str, parent: str | None, block: dict[str, Any], message_id: str, *, read: int = 0, **fields: Any
) -> dict[str, Any]:
    """Return a record with a block of a message of the model."""
    usage = {"input_tokens": read, "output_tokens": 5, "cache_read_input_tokens": 100}
    message = {"id": message_id, "type": "message", "model": "claude-sonnet-4-5", "usage": usage}
    return claude_record(name, parent, "assistant", [block], message=message, **fields)


def claude_code_of(pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for at, (question, answer) in enumerate(pairs):
        parent = records[-1]["uuid"] if records else None
        records.append(claude_record(f"u{at}", parent, "user", question))
        records.append(claude_answer(f"a{at}", f"u{at}", {"type": "text", "text": answer}, f"msg_{at}"))
    return records


# --- Codex and Responses items ----------------------------------------------------------------------------------------


def codex_record(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2025-11-03T10:00:00.000Z", "type": kind, "payload": payload}


def said_item(role: str, text: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": part, "text": text}]}


def items_of(pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [said_item(role, text) for pair in pairs for role, text in zip(("user", "assistant"), pair, strict=True)]


def codex_of(pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [codex_record("response_item", **item) for item in items_of(pairs)]


def token_count(total: int, last: int | None) -> dict[str, Any]:
    def counts(number: int) -> dict[str, int]:
        return {
            "input_tokens": number,
            "cached_input_tokens": number // 2,
            "output_tokens": 7,
            "total_tokens": number + 7,
        }

    info: dict[str, Any] = {"total_token_usage": counts(total)}
    if last is not None:
        info["last_token_usage"] = counts(last)
    return codex_record("event_msg", type="token_count", info=info, rate_limits=None)


# --- Gemini ---------------------------------------------------------------------------------------------------------


def contents_of(pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        {"role": role, "parts": [{"text": text}]}
        for pair in pairs
        for role, text in zip(("user", "model"), pair, strict=True)
    ]


SESSION = {"sessionId": "g-1", "projectHash": "abc", "startTime": "2025-11-03T10:00:00Z", "lastUpdated": "2025-11-03"}


def gemini_message(name: str, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"id": name, "timestamp": "2025-11-03T10:00:00Z", "type": kind, "content": content, **fields}


def gemini_messages_of(pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        gemini_message(f"{kind}{at}", kind, text)
        for at, pair in enumerate(pairs)
        for kind, text in zip(("user", "gemini"), pair, strict=True)
    ]


# --- Anthropic ------------------------------------------------------------------------------------------------------


def anthropic_of(pairs: Sequence[tuple[str, str]], **fields: Any) -> dict[str, Any]:
    """Return a request."""
    messages = [
        {"role": role, "content": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]}
        for pair in pairs
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    return {"model": "claude-sonnet-4-5", "max_tokens": 1024, "system": "", "messages": messages, **fields}
