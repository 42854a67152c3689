"""The benchmark of liveness tells what left the prompt, and which results are dead or superseded."""

from __future__ import annotations

import json

from benchmarks.liveness import AGE, states, taken_out
from gatekeeper_core.messages import Message, ToolCall


def run(*steps: tuple[str, str]) -> list[Message]:
    messages = [Message("user", "修 the build")]
    for at, (path, text) in enumerate(steps):
        call = ToolCall(f"c{at}", "read", json.dumps({"path": path}))
        messages += [Message("assistant", "", tool_calls=(call,)), Message("tool", text, tool_call_id=f"c{at}")]
    return messages


OTHERS = [(f"src/z_{at}.py", "好") for at in range(AGE - 3)]


def test_a_result_is_superseded_by_the_same_call_dead_unused_and_live_once_named() -> None:
    steps = [("a.py", "定义 used_1"), ("b.py", "dead_1"), ("a.py", "used_2"), ("used_2", "见 late_1"), *OTHERS]
    steps += [("x.py", "no"), ("y.py", "no"), ("dead_1", "no")]
    assert list(states(run(*steps))) == [("superseded", False), ("dead", True), ("live", False), ("dead", False)]


def test_an_identifier_is_out_once_and_used_again_where_a_later_call_has_it() -> None:
    messages = run(("a.py", "gone_1 与 gone_2"), ("b.py", "x"), ("gone_1", "x"))
    assert taken_out(messages, lambda prompt: prompt[-2:]) == (4, 3, 1)
    assert taken_out(messages, lambda prompt: prompt) == (4, 0, 0)
