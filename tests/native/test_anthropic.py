from typing import Any

import pytest

from gatekeeper_core.messages import Message, group_turns
from gatekeeper_core.native.anthropic import ANTHROPIC
from gatekeeper_core.native.items import Sent
from gatekeeper_core.native.reading import read_messages
from gatekeeper_core.tokens import count_messages


def test_unknown_blocks_stay_with_their_message_and_are_counted() -> None:
    searched = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "桥"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"encrypted_content": "x" * 4_000}]}
    (message,) = read_messages(
        [{"role": "assistant", "content": [searched, found, {"type": "text", "text": "Found."}]}]
    )
    assert message.text == "Found."
    assert message.tool_calls == ()
    assert 1_000 <= count_messages([message]) < 1_100


@pytest.mark.parametrize("text", ["Schau auf Port 6380.", "端口是 6380。", "Redis 的 port 是 6380。"])
def test_what_a_user_says_beside_results_begins_no_turn(text: str) -> None:
    items = [
        {"role": "user", "content": "Which port?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}, {"type": "text", "text": text}]},
    ]
    messages = read_messages(items)
    assert [message.role for message in messages] == ["user", "assistant", "tool", "user"]
    assert messages[-1].content == text
    assert len(group_turns(messages)) == 1
    assert messages[2].content == ""


def answered(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def test_of_several_results_one_is_made_shorter_and_one_goes() -> None:
    first = {"type": "tool_result", "tool_use_id": "a", "content": "行" * 50, "cache_control": {"type": "ephemeral"}}
    image = {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}
    second = {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "row " * 50}, image]}
    text = {"type": "text", "text": "Go on."}
    item = answered(first, second, text)
    a, b, user = ANTHROPIC.read([item])
    sent = [
        Sent(a.message, Message("tool", "行…", tool_call_id="a")),
        Sent(b.message, None),
        Sent(user.message, user.message),
    ]
    assert ANTHROPIC.rewrite(item, sent) == answered({**first, "content": "行…"}, text)
    sent = [Sent(a.message, a.message), Sent(b.message, Message("tool", "row …")), Sent(user.message, None)]
    shorter = {**second, "content": [{"type": "text", "text": "row …"}, image]}
    assert ANTHROPIC.rewrite(item, sent) == answered(first, shorter)


def test_a_message_that_was_thought_about_is_never_cut() -> None:
    thinking = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    signed, plain = read_messages(
        [
            {"role": "assistant", "content": [thinking, {"type": "text", "text": "好"}]},
            {"role": "assistant", "content": "ok"},
        ]
    )
    assert (dict(signed.metadata), dict(plain.metadata)) == ({"signed": True}, {})
    (user,) = read_messages([{"role": "user", "content": [thinking, {"type": "text", "text": "好"}]}])
    assert dict(user.metadata) == {}
