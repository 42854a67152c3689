"""The calls that the specification shows, made as it writes them."""

from __future__ import annotations

from typing import get_args

import pytest

from gatekeeper_core import ContextBuilder, ContextBuilderConfig, Message, Thread
from gatekeeper_core.messages import Provider, validate_messages
from tests.loops import assistant, calls, result, user

HERO = "你是 Vibecape 的 Hero，回答要简短。"
THREAD = Thread(
    "t1",
    (user("你好"), assistant("你好，有什么可以帮你？"), user("What does the builder do?"), assistant("It builds.")),
)
PIN = """[CRITICAL INSTRUCTION]
User's Current Goal: "解释 Context 系统"
Status: ACTIVE
Guide:
1. If you have just received tool outputs, briefly ANALYZE them first.
2. If the goal is complex, form a concise PLAN before executing.
3. Prioritize answering the User's Goal immediately."""


@pytest.mark.parametrize("thread", [THREAD, None])
def test_the_basic_call_ends_with_the_pin(thread: Thread | None) -> None:
    """001, "basic use"; 001-38, 001-39, 001-57, 004-39."""
    context = ContextBuilder().build(thread, "解释 Context 系统", HERO, debug=True)
    assert context.messages[0] == Message("system", HERO)
    assert context.messages[-2] == user("解释 Context 系统")
    assert context.messages[-1].role == "system"
    assert context.messages[-1].text.startswith(PIN)
    assert context.trace.parts[-1].part == "pinned"
    assert context.token_stats.pinned > 0
    assert context.metadata.included_message_count == (4 if thread else 0)


def test_the_settings_of_the_second_call_are_changed_in_part() -> None:
    """001, "settings of your own"; 001-60."""
    builder = ContextBuilder()
    builder.set_config(total_budget=32_000, enable_summary=False, enable_memory_retrieval=False)
    context = builder.build(THREAD, "解释 Context 系统", HERO)
    assert context.trace.budget_tokens == 32_000
    assert (context.metadata.used_summary, context.metadata.retrieved_memory_count) == (False, 0)
    assert context.messages[-1].text.startswith(PIN)
    builder.set_config(enable_instruction_pinning=False)
    assert builder.build(THREAD, "解释 Context 系统", HERO).messages[-1] == user("解释 Context 系统")


FOUND = ("the port is 6380", "密码在 vault 里", "TLS 已启用 on every node", "backups run at 03:00")


@pytest.mark.parametrize("provider", get_args(Provider))
def test_each_step_of_a_loop_ends_with_the_goal_and_what_was_found_so_far(provider: Provider) -> None:
    """004, "data flow": four steps; 001-38, 001-53, 001-71, 001-77, 004-04, 004-22, 004-51."""
    builder = ContextBuilder(ContextBuilderConfig(locale="en"))
    question = "Please check the Redis cluster, 然后写一份报告"
    thread, before = THREAD.continued([user(question)]), list[Message]()
    for step, finding in enumerate(FOUND):
        context = builder.build(thread, question, HERO)
        pin, sent = context.messages[-1].text, context.messages[:-1]
        assert pin.startswith(f'[CRITICAL INSTRUCTION]\nUser\'s Current Goal: "{question}"')
        assert f'"{question.removeprefix("Please ")}"' in pin.partition("[TASK STATUS]")[2]
        assert [text for text in FOUND if text in pin] == list(FOUND[max(0, step - 3) : step])
        assert [*sent][: len(before)] == before
        assert list(sent[-2 * step :] if step else ()) == list(thread.messages[len(THREAD.messages) + 1 :])
        rendered = context.render(provider=provider)
        assert validate_messages(rendered, provider=provider, open_run=True) == ()
        assert rendered[-1].text.endswith(pin)
        assert rendered[-1].role == ("system" if provider == "openai" else "tool" if step else "user")
        before, thread = [*sent], thread.continued([calls(f"c{step}"), result(f"c{step}", f"{finding}\n" * 3)])
        builder.tasks.add_finding(thread, finding)
    answered = thread.continued([assistant("Done."), user("And now?")])
    assert f'"{FOUND[-1]}"' in builder.build(answered, "And now?", HERO).messages[-1].text
