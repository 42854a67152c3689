"""The server that the bills of the adapters are held against: what it keeps, finds, reports and refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.caching_server import CachingServer, Reported
from tests.native_lists import ANTHROPIC, CHAT, EPHEMERAL, Items

HOUR = {**EPHEMERAL, "ttl": "1h"}


@pytest.fixture
def server() -> Iterator[CachingServer]:
    """A server to which a character is a token."""
    with CachingServer(count=len) as running:
        yield running


def text(size: int, letter: str = "x", mark: dict[str, str] | None = None) -> dict[str, Any]:
    return {"type": "text", "text": letter * size, **({"cache_control": mark} if mark else {})}


def user(*blocks: dict[str, Any]) -> Items:
    return [{"role": "user", "content": [*blocks]}]


def asked(server: CachingServer, items: Items, **settings: Any) -> Reported:
    """Ask in Anthropic's format; what is reported is what the answer says."""
    posted = server.post(ANTHROPIC, items, **settings)
    assert posted.status == 200, posted.body
    usage, reported = posted.body["usage"], server.reported[-1]
    assert sum(usage[name] for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")) == (
        reported.input_tokens
    )
    assert usage["cache_read_input_tokens"] == reported.cached_tokens
    assert usage["cache_creation_input_tokens"] == sum(usage["cache_creation"].values()) == reported.written_tokens
    return reported


def chatted(server: CachingServer, *sizes: int, letter: str = "x") -> tuple[int, int]:
    """Ask in OpenAI's format with messages of some sizes; return the input and how much of it was kept."""
    items = [{"role": "user", "content": letter * size} for size in sizes]
    usage = server.post(CHAT, items).body["usage"]
    return usage["prompt_tokens"], usage["prompt_tokens_details"]["cached_tokens"]


# --- Anthropic


def test_a_prefix_lives_an_hour_where_its_mark_says_so(server: CachingServer) -> None:
    prompt = user(text(2000, mark=HOUR), text(1000, mark=EPHEMERAL))
    posted = server.post(ANTHROPIC, prompt)
    kept = {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 2000}
    assert posted.body["usage"]["cache_creation"] == kept
    server.wait(3600)
    assert asked(server, prompt) == (3000, 2000, 1000, 2)


def test_tools_come_before_the_system_message_and_that_before_the_messages(server: CachingServer) -> None:
    tool = {"name": "look_up", "description": "d" * 2000, "cache_control": EPHEMERAL}
    settings: dict[str, Any] = {"tools": [tool], "system": [text(1500, "s", EPHEMERAL)]}
    question = user(text(10, mark=EPHEMERAL))
    whole = asked(server, question, **settings)
    tools_only = whole.input_tokens - 1510
    assert asked(server, user(text(10, "y")), **settings).cached_tokens == tools_only + 1500
    changed = asked(server, question, **settings, tool_choice={"type": "none"})
    assert changed.cached_tokens == tools_only + 1500
    assert asked(server, question, **{**settings, "system": "t" * 1500}).cached_tokens == tools_only
    assert asked(server, question, **{**settings, "tools": [{**tool, "name": "look"}]}).cached_tokens == 0


def test_a_mark_on_the_request_stands_for_one_on_its_last_block(server: CachingServer) -> None:
    asked(server, user(text(2000)), cache_control=EPHEMERAL)
    assert asked(server, user(text(2000), text(5)), cache_control=HOUR) == (2005, 2000, 5, 2)


def test_marks_and_the_two_ways_to_write_a_text_do_not_tell_prefixes_apart(server: CachingServer) -> None:
    called = [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "look_up", "input": {}}]}]
    result = {"type": "tool_result", "tool_use_id": "1", "content": "r" * 2000}
    blocks = {**result, "content": [text(2000, "r", EPHEMERAL)]}
    asked(server, [{"role": "user", "content": "Which port?"}, *called, *user(blocks)])
    again = asked(server, [*user({"type": "text", "text": "Which port?"}), *called, *user({**result, **mark()})])
    assert again.cached_tokens == again.input_tokens


def mark() -> dict[str, Any]:
    return {"cache_control": EPHEMERAL}


FIVE_MARKS = [text(1, chr(ord("a") + at), EPHEMERAL) for at in range(5)]


@pytest.mark.parametrize(
    ("items", "settings"),
    [
        (user(*FIVE_MARKS), {}),
        (user(*FIVE_MARKS[:4]), {"system": [text(1, "s", EPHEMERAL)]}),
        (user(*FIVE_MARKS[:4]), {"tools": [{"name": "look_up", **mark()}]}),
        (user(*FIVE_MARKS[:4]), mark()),
        (user({"type": "tool_result", "tool_use_id": "1", "content": FIVE_MARKS}), {}),
        (user(text(1, mark=EPHEMERAL), text(1, mark=HOUR)), {}),
        (user(text(1, mark={**EPHEMERAL, "ttl": "2h"})), {}),
        (user(text(1, mark={"type": "persistent"})), {}),
        (user(text(1), text(1, " ", EPHEMERAL)), {}),
    ],
    ids=["messages", "system", "tools", "request", "result", "order", "lifetime", "type", "empty"],
)
def test_marks_that_anthropic_refuses_are_refused(
    items: Items, settings: dict[str, Any], server: CachingServer
) -> None:
    posted = server.post(ANTHROPIC, items, **settings)
    assert (posted.status, posted.body["type"]) == (400, "error")
    assert server.refused
    assert not server.reported
    assert not server.bodies


# --- OpenAI


def test_a_prompt_is_found_down_to_a_part_of_a_message(server: CachingServer) -> None:
    chatted(server, 3000)
    items = [{"role": "user", "content": "x" * 1300 + "y" * 700}]
    assert server.post(CHAT, items).body["usage"]["prompt_tokens_details"] == {"cached_tokens": 1280}


def test_another_beginning_finds_nothing(server: CachingServer) -> None:
    chatted(server, 3000)
    assert chatted(server, 3000, letter="y") == (3000, 0)
    system = [{"role": "system", "content": "x" * 3000}, {"role": "user", "content": "x"}]
    assert server.post(CHAT, system).body["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}
    tools = [{"type": "function", "function": {"name": "look_up"}}]
    posted = server.post(CHAT, [{"role": "user", "content": "x" * 3000}], tools=tools)
    assert posted.body["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}


# --- both


def test_what_breaks_a_rule_is_refused_and_not_kept(server: CachingServer) -> None:
    waiting = {"type": "tool_use", "id": "1", "name": "look_up", "input": {}}
    question = user(text(2000, mark=EPHEMERAL))
    broken = [*question, {"role": "assistant", "content": [waiting]}, *user(text(1))]
    assert server.post(ANTHROPIC, broken).status == 400
    assert asked(server, question).cached_tokens == 0


def test_the_bodies_of_what_was_answered_are_there_to_compare(server: CachingServer) -> None:
    items = [{"role": "user", "content": "端口？"}]
    server.post(CHAT, items, temperature=0)
    assert server.bodies == [json.dumps({"model": "strict", "messages": items, "temperature": 0}, ensure_ascii=False)]
