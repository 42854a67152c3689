from collections.abc import Callable
from typing import Any

import pytest

from gatekeeper_core import ConfigError, ContextGatekeeper, HistoryConfig, Message, keep, select_history
from gatekeeper_core.tokens import estimate_text_tokens
from tests.loops import assistant, user


def test_what_is_sent_are_the_callers_objects_and_the_copies_of_the_view() -> None:
    long = "缓存的端口是 6380。" + "The bread rose well. " * 400
    talk = [
        user("Which port, 端口?"),
        assistant(long),
        user("And who bakes?"),
        assistant("Ann."),
        user("Redis 端口是多少？"),
    ]
    gatekeeper = ContextGatekeeper(token_counter=estimate_text_tokens)
    view = select_history(talk, gatekeeper=gatekeeper, config=HistoryConfig(passthrough_below=0))
    sent = keep(talk, view)
    ((position, copy),) = view.replaced
    assert position == 1
    assert sent[view.kept.index(1)] is copy
    assert all(one is talk[at] for one, at in zip(sent, view.kept, strict=True) if at != 1)
    assert view.facts()["messages_replaced"] == 1


@pytest.mark.parametrize("change", [lambda talk: talk[:-1], lambda talk: [*talk, assistant("6380")], lambda talk: []])
def test_another_list_than_that_of_the_view_is_refused(change: Callable[[list[Message]], list[Message]]) -> None:
    talk = [user("Which port, 端口?"), assistant("6380."), user("And who bakes?")]
    view = select_history(talk, gatekeeper=ContextGatekeeper())
    assert keep(talk, view) == talk
    other = change(talk)
    with pytest.raises(ConfigError, match=f"made from 3 messages, got {len(other)}: pass the list that select_history"):
        keep(other, view)


def test_a_list_of_a_provider_is_counted_in_its_items() -> None:
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "端口?"},
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "6380."}]},
        {"role": "user", "content": "Redis port?"},
    ]
    view = select_history(talk, gatekeeper=ContextGatekeeper())
    assert view.sizes.message_count == 4
    assert keep(talk, view) == talk
