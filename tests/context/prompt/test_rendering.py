"""A built context is valid for every provider, and says the same to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.prompt.rendering import OPENING, PinRole, render_parts
from gatekeeper_core.messages import MediaPart, Message, Provider, TextPart, ToolCall, validate_messages
from tests.context.prompt.test_request import any_message, mended

providers = st.sampled_from(get_args(Provider))
RULES, QUERY, PIN = Message("system", "简短回答。"), Message("user", "端口是多少？"), Message("system", "Answer now.")


def render_messages(messages: Sequence[Message], **arguments: Any) -> tuple[Message, ...]:
    return tuple(one.message for one in render_parts(messages, **arguments))


@given(st.lists(any_message(), max_size=12), providers)
def test_whatever_is_rendered_is_valid(messages: list[Message], provider: Provider) -> None:
    """001-77."""
    rendered = render_messages(mended(messages), provider=provider)
    assert validate_messages(rendered, provider=provider, open_run=True) == ()
    if provider != "openai":
        assert len([one for one in rendered if one.role == "system"]) <= 1
        assert all(one.text for one in rendered if one.role == "system")


@given(st.lists(any_message(), max_size=12), providers)
def test_each_rendered_message_names_what_it_is_made_of(messages: list[Message], provider: Provider) -> None:
    chat = mended(messages)
    parts = render_parts(chat, provider=provider)
    named = [at for part in parts for at in part.sources]
    assert named == sorted(set(named))
    assert all(not chat[at].text and chat[at].role == "system" for at in {*range(len(chat))} - {*named})
    for part in parts:
        separator = "\n\n" if part.message.role == "system" else "\n"
        assert part.message.text == (
            separator.join(chat[at].text for at in part.sources if chat[at].text) or OPENING * (not part.sources)
        )


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "minimax"])
def test_where_one_system_message_is_taken_the_others_join_it_or_move(provider: Provider) -> None:
    messages = [
        RULES,
        Message("system", ""),
        Message("system", "[summary]"),
        QUERY,
        Message("system", "now: 12:00"),
        Message("assistant", "6380"),
        PIN,
    ]
    rendered = render_messages(messages, provider=provider, pin=6)
    assert [(one.role, one.text) for one in rendered] == [
        ("system", "简短回答。\n\n[summary]"),
        ("user", "端口是多少？"),
        ("user", "now: 12:00"),
        ("assistant", "6380"),
        ("user", "Answer now."),
    ]
    assert render_messages([Message("system", ""), QUERY], provider=provider) == (QUERY,)


@pytest.mark.parametrize(
    ("pin_as", "last"),
    [(None, PIN), ("system", PIN), ("developer", PIN), ("user_suffix", Message("user", "端口是多少？\n\nAnswer now."))],
)
def test_the_pin_is_a_system_message_or_the_end_of_the_users(pin_as: PinRole | None, last: Message) -> None:
    """001-42."""
    rendered = render_messages([RULES, QUERY, PIN], provider="openai", pin=2, pin_as=pin_as)
    assert rendered[-1] == last


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "minimax"])
def test_behind_results_the_pin_is_the_end_of_the_last_one(provider: Provider) -> None:
    """001-42, 001-77: a message of the user's would end the run, and with it the thoughts that belong to it."""
    call = Message("assistant", "", tool_calls=(ToolCall("a", "look", "{}"),))
    picture = (TextPart("see"), MediaPart("image"))
    for content, sent in (("6380", "6380\n\nAnswer now."), (picture, (*picture, TextPart("Answer now.")))):
        result = Message("tool", content, tool_call_id="a")
        rendered = render_parts([RULES, QUERY, call, result, PIN], provider=provider, pin=4)
        assert rendered[-1] == (replace(result, content=sent), (3, 4))
        messages = [one.message for one in rendered]
        assert validate_messages(messages, provider=provider, open_run=True) == ()


def test_gemini_gets_answers_in_a_row_as_one_with_their_media() -> None:
    picture = Message("assistant", (TextPart("see"), MediaPart("image")))
    call = Message("assistant", "looking", tool_calls=(ToolCall("a", "look", "{}"),))
    messages = [QUERY, Message("assistant", "well"), picture, call, Message("tool", "12", tool_call_id="a")]
    rendered = render_messages(messages, provider="gemini")
    assert [one.role for one in rendered] == ["user", "assistant", "tool"]
    assert [one.sources for one in render_parts(messages, provider="gemini")] == [(0,), (1, 2, 3), (4,)]
    assert rendered[1].content == (TextPart("well"), TextPart("see"), MediaPart("image"), TextPart("looking"))
    assert rendered[1].tool_calls == call.tool_calls
