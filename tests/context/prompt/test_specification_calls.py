"""The calls that the specification shows, made as it writes them."""

from __future__ import annotations

from typing import get_args

import pytest

from gatekeeper_core import ContextBuilder, ContextBuilderConfig, Message, Thread, ThreadMemories
from gatekeeper_core.messages import Provider, validate_messages
from tests.case_files import from_file
from tests.context.memory.test_task import LITERAL
from tests.loops import assistant, calls, result, user

HERO = "你是 Vibecape 的 Hero，回答要简短。"
THREAD = Thread(
    "t1",
    (user("你好"), assistant("你好，有什么可以帮你？"), user("What does the builder do?"), assistant("It builds.")),
)
PIN = LITERAL.format("解释 Context 系统")


@pytest.mark.parametrize("thread", [THREAD, None])
def test_the_basic_call_ends_with_the_pin(thread: Thread | None) -> None:
    """001, "basic use"; 001-38, 001-39, 001-57, 001-59, 004-39."""
    context = ContextBuilder().build(thread, "解释 Context 系统", HERO, debug=True)
    assert context.messages[0] == Message("system", HERO)
    assert context.messages[-2] == user("解释 Context 系统")
    assert context.messages[-1].role == "system"
    assert context.messages[-1].text.startswith(PIN)
    assert context.trace.parts[-1].part == "pinned"
    assert context.token_stats.pinned > 0
    assert context.metadata.included_message_count == (4 if thread else 0)


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


@from_file("text", "question")
def test_with_nothing_given_a_user_is_remembered_in_this_process(text: str, question: str) -> None:
    """001-24, 001-57, 004-16, 004-23: across conversations, for this user alone."""
    builder = ContextBuilder()
    builder.build(Thread("t1", (user(text),), user="ann"), text, HERO)
    assert builder.build(Thread("t2", user="ann"), question, HERO).metadata.retrieved_memory_count == 1
    assert builder.build(Thread("t3", user="bob"), question, HERO).metadata.retrieved_memory_count == 0
    assert builder.build(Thread("t4"), question, HERO).metadata.retrieved_memory_count == 0
    assert ContextBuilder().build(Thread("t2", user="ann"), question, HERO).metadata.retrieved_memory_count == 0


LONG = {
    "prose": "The committee met about the harbour, at length and without a decision, item {}. ",
    "chinese": "委员会讨论了第 {} 个问题，内容很长，没有得出结论。",
    "code": "def handler_{0}(request):\n    return request.get('key_{0}') + {0}\n\n",
    "log": "12:00:01 INFO request {} served in 3 ms\n",
    "json": '{{"id": {}, "name": "某个名字 with words"}}\n',
}


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize(("characters", "answered"), [(54_000, True), (100_000, False)])
def test_with_nothing_given_long_results_are_compressed_and_put_aside(
    kind: str, characters: int, answered: bool
) -> None:
    """001-57, 001-58, 004-19, 004-20, 004-37: a past result, and one of the current run that there is room for."""
    builder = ContextBuilder()
    text = "".join(LONG[kind].format(at) for at in range(4_000))[:characters]
    run = [user("Read the report."), calls("c1"), result("c1", text)]
    thread = Thread("t1", (*run, assistant("Read.")) if answered else run)
    context = builder.build(thread, "And item 777?" if answered else "Read the report.", HERO)
    (sent,) = [message.text for message in context.messages if message.role == "tool"]
    assert len(sent) < 3_000
    pointer = sent[sent.index("[[wm:") : sent.index("]]") + 2]
    assert isinstance(builder.working_memory, ThreadMemories)
    assert builder.working_memory.of("t1").load(pointer) == text
    assert ContextBuilder().build(thread, "And?", HERO).messages != context.messages  # another key, other pointers
    keyed = [ContextBuilder(session_key=b"sixteen bytes or more").build(thread, "And?", HERO) for _ in range(2)]
    assert keyed[0] == keyed[1]


@from_file("query", "answer")
def test_a_summary_is_sent_where_past_turns_had_to_go_and_only_there(query: str, answer: str) -> None:
    """001-22, 004-27, 004-28: as the conversation grows, with the default settings but for the budget."""
    builder = ContextBuilder(ContextBuilderConfig(total_budget=6_000))
    thread, used = Thread("t1"), list[bool]()
    for number in range(60):
        question = query.format(number // 3)
        thread = thread.continued([user(question)])
        context = builder.build(thread, question, HERO)
        gone = [fate for fate in context.trace.fates if fate.fate not in ("sent", "recalled")]
        used.append(context.metadata.used_summary)
        assert used[-1] == bool(gone)
        assert context.trace.left_out == ()
        thread = thread.continued([assistant(answer.format(number, number) * 8)])
    assert (used[0], used[-1]) == (False, True)
