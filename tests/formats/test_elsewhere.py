"""Messages of other frameworks at the door of the core: refused, with the call that reads them."""

from __future__ import annotations

import io
import json
from datetime import datetime, timezone
from typing import Any

import pytest

import gatekeeper_formats
from gatekeeper_core import ContextGatekeeper, MessageFormatError, read_messages, select_history
from tests.case_files import from_file

QUESTION = "Redis 的 port 是多少？"


def lists_of(text: str) -> dict[str, list[dict[str, Any]]]:
    """Return one conversation in each of the other formats, by the format's name."""
    now = datetime(2024, 5, 31, tzinfo=timezone.utc)  # as pydantic-ai's ``dump_python`` gives it
    prompt = {"part_kind": "user-prompt", "content": text, "timestamp": now}
    return {
        "pydantic-ai": [{"kind": "request", "parts": [prompt]}],
        "llama-index": [{"role": "user", "blocks": [{"block_type": "text", "text": text}]}],
        "langchain": [{"type": "human", "data": {"content": text}}, {"type": "ai", "content": "6380."}],
        "claude-code": [{"type": "user", "message": {"role": "user", "content": text}, "sessionId": "s", "uuid": "u"}],
        "sharegpt": [{"from": "human", "value": text}],
        "pairs": [{"user": text, "assistant": "6380."}],
    }


@pytest.mark.parametrize(("form", "messages"), lists_of(QUESTION).items(), ids=lists_of(QUESTION))
def test_a_message_of_another_framework_is_refused_with_the_call_that_reads_it(
    form: str, messages: list[dict[str, Any]]
) -> None:
    with pytest.raises(MessageFormatError) as caught:
        select_history(messages, gatekeeper=ContextGatekeeper())
    assert caught.value.position == 0
    assert "OpenAI chat messages, OpenAI Responses items, Anthropic messages, Gemini contents" in caught.value.reason
    assert f"it looks like {form}" in caught.value.reason
    assert QUESTION not in str(caught.value)
    call = caught.value.reason.partition("gatekeeper_formats.")[2].removesuffix(" reads that")
    read = eval(call, {**vars(gatekeeper_formats), "io": io, "json": json, "messages": messages})  # noqa: S307 - our own
    assert read[0].text == QUESTION


@from_file("item")
def test_an_unknown_dict_is_refused_with_its_position_and_the_known_formats(item: dict[str, Any]) -> None:
    with pytest.raises(MessageFormatError) as caught:
        read_messages(
            [{"role": "user", "parts": [{"text": "?"}]} if "parts" in item else {"role": "user", "content": ""}, item]
        )
    assert caught.value.position == 1
    assert "OpenAI chat messages, OpenAI Responses items, Anthropic messages, Gemini contents" in caught.value.reason
    assert "gatekeeper_formats.read_conversation(" in caught.value.reason


def test_new_kinds_of_items_and_parts_of_the_known_formats_are_read() -> None:
    items = [{"type": "telepathy_call", "id": "t"}, {"type": "reasoning", "content": [], "summary": []}]
    assert len(read_messages([{"role": "user", "content": "?"}, *items])) == 2
    assert len(read_messages([{"role": "user", "parts": [{"text": "?"}, {"toolResponse": {"x": 1}}]}])) == 1
