"""One build: what goes in, what is cut, and what the steps, the pin and the log are made of."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.pin_text import quoted
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.parts import SystemPrompt
from gatekeeper_core.context.prompt.result import BuiltContext
from gatekeeper_core.messages import Message, Provider, validate_messages
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests.context.prompt.test_builder import built
from tests.loops import PROVIDERS, assistant, calls, result, rounds, system, user

TALK = [user("hello"), assistant("hi")]
LINES = "Which port?\n哪个主机 host？"
LOG = "\n".join(f"12:00:{at % 60:02d} INFO worker {at % 4} ping in {at % 9} ms" for at in range(400))


def texts(context: BuiltContext, part: str) -> list[str]:
    pairs = zip(context.messages, context.trace.parts, strict=True)
    return [message.text for message, one in pairs if one.part == part]


# --- the system prompt ------------------------------------------------------------------------------------------------


def test_the_volatile_part_of_a_system_prompt_is_a_message_of_its_own() -> None:
    """C9."""
    context = built(TALK, rules=SystemPrompt("Be brief.", "It is noon."))
    assert texts(context, "system_prompt") == ["Be brief.", "It is noon."]
    assert texts(built(TALK, rules=SystemPrompt("Be brief.", " ")), "system_prompt") == ["Be brief."]
    assert texts(built(TALK, rules=""), "system_prompt") == []


def test_both_parts_of_a_system_prompt_share_its_share_where_nothing_is_lent() -> None:
    """001-20: the stable part first."""
    context = built(TALK, rules=SystemPrompt("s" * 150, "v" * 150), total_budget=1_000, redistribute=False)
    stable, volatile = texts(context, "system_prompt")
    assert stable == "s" * 150
    assert volatile.endswith("…[cut]")
    assert len(stable) + len(volatile) <= 200


# --- the question -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt", ["请帮我看看这个 Redis 端口的配置，这里是详细的说明一", "Please help me with this: what is the port?"]
)
def test_two_questions_that_begin_alike_are_two(prompt: str) -> None:
    """001-35 (d): a literal builder compares twenty characters, and takes the one for the other."""
    other = prompt[:22] + " something else altogether"
    context = built([*TALK, user(other)], prompt)
    assert context.trace.safety_net
    assert [message.text for message in context.messages if message.role == "user"][-1] == prompt


def test_a_question_that_the_caller_asks_to_be_added_stands_there_once() -> None:
    """001-33."""
    asked = [*TALK, user("Which port?")]
    for messages, count in ((TALK, 1), (asked, 1), ([*asked, calls("a"), result("a")], 2)):
        context = built(messages, include_current_input=True)
        assert [message.text for message in context.messages].count("Which port?") == count


# --- tool results -----------------------------------------------------------------------------------------------------


def test_past_results_are_made_small_and_those_of_the_run_only_where_they_must() -> None:
    """001-58: a literal builder has the switch and never looks at it."""
    past = [user("Look."), calls("a"), result("a", LOG), assistant("ok"), user("Which port?")]
    for messages, kept in ((past, False), ([user("Which port?"), calls("a"), result("a", LOG)], True)):
        (sent,) = [message.text for message in built(messages, token_counter=None).messages if message.role == "tool"]
        assert (sent == LOG) == kept
    (sent,) = [
        message.text
        for message in built(past, token_counter=None, enable_tool_result_compression=False).messages
        if message.role == "tool"
    ]
    assert sent == LOG


# --- turns ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "newest", "recalled", "is_newest"),
    [("window", None, False, True), ("gate", 0, True, False), ("gate", 1, True, True)],
)
def test_the_gatekeeper_stands_beside_the_window(
    strategy: Any, newest: int | None, recalled: bool, is_newest: bool
) -> None:
    """004-61, C5: it chooses among the turns that the window does not show, or among all of them."""
    port = [user("The Redis port is 6380."), assistant("Noted.")]
    bread = [user("How long does sourdough proof?"), assistant("Five hours, 面团要发酵。")]
    messages = [*port, *bread * 8, user("Which rye flour?"), assistant("Type 1150.")]
    history = HistoryConfig(strategy=strategy, keep_newest=newest, passthrough_below=0)
    settings = {"sliding_window_size": 3, "enable_summary": False, "total_budget": 2_000}
    context = built(messages, "New topic: which port has Redis?", history=history, **settings)
    sent = [message.text for message in context.messages]
    assert (port[0].text in sent, "Type 1150." in sent) == (recalled, is_newest)


# --- memories ---------------------------------------------------------------------------------------------------------


def test_the_categories_that_are_searched_can_be_chosen() -> None:
    """001-25: preferences unless the caller says otherwise; none named: all four."""
    memory, scope = LongTermMemory(InMemoryStore()), MemoryScope("default", "ann")
    memory.add(scope, "I prefer green tea", category="user_preference")
    memory.add(scope, "The green tea shop is shut", category="fact")
    for settings, count in (({}, 1), ({"memory_categories": ()}, 2), ({"memory_categories": ("fact",)}, 1)):
        builder = ContextBuilder(ContextBuilderConfig(**settings), memory=memory)
        context = builder.build(Thread("t1", tuple(TALK), user="ann"), "Which green tea?", "Be brief.")
        assert context.metadata.retrieved_memory_count == count
    assert "shop" in texts(context, "retrieved")[0]


# --- steps, pin, log --------------------------------------------------------------------------------------------------


def test_what_stands_for_steps_keeps_to_its_room_the_newest_first() -> None:
    """002-07, 002-09."""
    builder = ContextBuilder(ContextBuilderConfig(locale="en", total_budget=5_000), token_counter=len)
    messages: list[Message] = [user("Build it all.")]
    for number in range(6):
        builder.tasks.start_step(Thread("t1", tuple(messages)), f"step {number}")
        messages += [calls(f"c{number}"), result(f"c{number}"), assistant("done")]
        builder.tasks.finish_step(Thread("t1", tuple(messages)), f"came of {number} " + "x" * 60)
    messages += [calls("end"), result("end")]
    context = builder.build(Thread("t1", tuple(messages)), "Build it all.", "Be brief.")
    (steps,) = texts(context, "steps")
    assert len(steps) <= context.trace.shares.summary
    assert steps.startswith("[Finished steps]\n<steps-")
    assert "came of 5" in steps
    assert "came of 0" not in steps
    assert steps.index("came of 4") < steps.index("came of 5")
    assert any(fate.fate == "step" for fate in context.trace.fates)
    assert context.trace.left_out == ()


def test_the_pin_says_of_the_task_as_much_as_has_room() -> None:
    """001-71."""
    thread = Thread("t1", (user("Please deploy Redis on kestrel."), assistant("ok")))
    builder = ContextBuilder(ContextBuilderConfig(locale="en"), token_counter=len)
    builder.tasks.add_finding(thread, "the port is 6380")
    (pin,) = texts(builder.build(thread, "Go on.\n继续。", "Be brief."), "pinned")
    assert re.search(r'\n\n<task-\d{12}>\n\[TASK STATUS\]\nGoal: "deploy Redis on kestrel\."', pin)
    assert "6380" in pin
    assert re.search(r"\n</task-\d{12}>\Z", pin)
    builder.set_config(total_budget=420, enable_summary=False)
    (short,) = texts(builder.build(thread, "Go on.\n继续。", "Be brief."), "pinned")
    assert len(short) < len(pin)
    assert pin.startswith(short.split("\n\n", maxsplit=1)[0])


def test_the_pin_can_be_switched_off() -> None:
    """001-57."""
    assert texts(built(TALK, LINES, enable_instruction_pinning=False), "pinned") == []
    builder = ContextBuilder(token_counter=len)
    assert texts(builder.build(None, LINES, "Be brief.", pin=False), "pinned") == []
    assert len(texts(builder.build(None, LINES, "Be brief."), "pinned")) == 1


@pytest.mark.parametrize("prompt", ["Which port?", "哪个端口？", "Redis 的 port " * 200, LINES])
@pytest.mark.parametrize("setting", [None, True])
def test_the_pin_comes_last_however_short_the_question(prompt: str, setting: bool | None) -> None:
    """001-38, 001-57."""
    context = built(TALK, prompt, enable_instruction_pinning=setting)
    assert texts(context, "pinned") == [context.messages[-1].text]
    assert context.messages[-1].text.startswith(f"[CRITICAL INSTRUCTION]\nUser's Current Goal: {quoted(prompt)}\n")


@pytest.mark.parametrize("end", [[assistant("6380")], [user("Which port?"), calls("c1", "c2"), result("c1")]])
def test_nothing_comes_behind_an_answer_to_continue_or_calls_that_wait(end: list[Message]) -> None:
    """001-42: a provider refuses it between calls and their results."""
    builder = ContextBuilder(token_counter=len)
    context = builder.build(Thread("t1", (*TALK, *end)), "Which port?", "Be brief.", safety_net=False)
    assert texts(context, "pinned") == []
    assert context.messages[-1] == end[-1]


@pytest.mark.parametrize("asked", [LINES, "Deploy it."])
@pytest.mark.parametrize("in_thread", [True, False])
def test_what_is_noted_during_a_run_is_in_the_next_request(asked: str, in_thread: bool) -> None:
    """001-38, 001-71: the goal, the steps and the findings as they are at that step."""
    builder = ContextBuilder(ContextBuilderConfig(locale="en"), token_counter=len)
    begun = Thread("t1", (user("Build it."), assistant("On which port of which 主机 host?")))
    builder.tasks.start_step(begun, "look")
    thread, before = begun.continued([user(asked)] if in_thread else []), ()
    for number in range(4):
        context = builder.build(thread, asked, "Be brief.")
        assert context.messages[: len(before)] == before
        pin, before = context.messages[-1].text, context.messages[:-1]
        assert 'Goal: "Build it."' in pin
        assert 'Current step: "look"' in pin
        assert [f'- "finding {at}"' in pin for at in range(4)] == [number - 3 <= at < number for at in range(4)]
        thread = thread.continued([calls(f"c{number}"), result(f"c{number}")])
        builder.tasks.add_finding(thread, f"finding {number}")
    builder.tasks.finish_step(thread, "seen")
    assert 'Steps done: 1, last "look": "seen"' in builder.build(thread, asked, "Be brief.").messages[-1].text


RUNS = st.tuples(*(rounds(str(number)) for number in range(3))).map(lambda made: [one for each in made for one in each])


@given(RUNS, st.sampled_from([LINES, "Which port?"]), st.booleans(), st.booleans(), st.sampled_from(PROVIDERS))
def test_within_a_run_each_prompt_begins_with_the_one_before(
    run: list[Message], asked: str, in_thread: bool, cache_friendly: bool, provider: Provider
) -> None:
    """001-34, 001-35, 001-38, 003-90: whatever is asked, whether the thread has the question or lacks it."""
    config = ContextBuilderConfig(cache_friendly=cache_friendly, total_budget=100_000)
    builder = ContextBuilder(config, token_counter=len)
    messages = [*TALK * 10, *([user(asked)] if in_thread else [])]
    before: list[str] = []
    for stop in range(len(run) + 1):
        context = builder.build(Thread("t1", (*messages, *run[:stop])), asked, SystemPrompt("Be brief.", "It is noon."))
        rendered = context.render(provider=provider)
        assert validate_messages(rendered, provider=provider, open_run=True) == ()
        sent = [message.text for message in rendered]
        for pin in texts(context, "pinned"):  # none where calls wait
            assert sent[-1].endswith(pin)
            sent[-1:] = [text for text in [sent[-1].removesuffix(pin)] if provider != "openai"]
        said = [text.removesuffix("\n\n") for text in sent]
        assert said[: len(before)] == before
        assert context.trace.safety_net != in_thread
        assert said.count(asked) == 1
        before = said


@pytest.mark.parametrize("turns", range(10, 16))
def test_a_run_that_borrows_room_leaves_the_beginning_as_it_is(turns: int) -> None:
    """003-90: a summary that catches up when the run has used up the turns' share would change it in between."""
    thrifty = HistoryConfig(keep_newest=3, strategy="gate")  # some turns are left to the summary
    builder = ContextBuilder(ContextBuilderConfig(total_budget=6_000, history=thrifty), token_counter=len)
    said: list[Message] = []
    for number in range(turns):
        said.append(user(f"How do I configure service-{number}? {'也许 ' * 20}"))
        builder.build(Thread("t1", tuple(said)), said[-1].text, "Be brief.")
        said.append(assistant(f"Set port {6000 + number}。" * 12))
    said.append(user("Which ports are in use?"))
    before, lengths = builder.build(Thread("t1", tuple(said)), said[-1].text, "Be brief.").messages[:-1], []
    for number in range(7):
        said += [calls(f"c{number}"), result(f"c{number}", f"{number}. port {6000 + number}\n" * 30)]
        context = builder.build(Thread("t1", tuple(said)), "Which ports are in use?", "Be brief.")
        assert context.messages[: len(before)] == before
        before = context.messages[:-1]
        lengths.append(context.token_stats.recent_messages)
    assert lengths[-1] > context.trace.shares.recent_messages


@pytest.mark.parametrize("said", ["We decided to use {}.", "我们决定用 {}。", "决定了：the cache 用 {}。"])
def test_a_summary_gives_way_to_a_long_question_and_comes_back(said: str) -> None:
    """Whatever was told in the builds before, it is what a builder tells that has built nothing yet."""
    names = [
        "Redis",
        "Kafka",
        "Postgres",
        "Nginx",
        "Celery",
        "Docker",
        "Vault",
        "Consul",
        "Minio",
        "Grafana",
        "Istio",
        "Envoy",
    ]
    thread = Thread("t1", [one for name in names for one in (user(said.format(name)), assistant("OK."))])
    config = ContextBuilderConfig(total_budget=1_200, history=HistoryConfig(strategy="window"), sliding_window_size=1)
    builder, told = ContextBuilder(config), []
    for question in ("Why?", "Why? " * 420, "Why not?", "Why? " * 440, "Why then?"):
        told.append(texts(builder.build(thread, question, "Be brief."), "summary"))
        assert told[-1] == texts(ContextBuilder(config).build(thread, question, "Be brief."), "summary")
    assert told[0] == told[2] == told[4] != []
    assert told[0] not in (told[1], told[3])


def test_each_stage_writes_a_record_with_figures(caplog: pytest.LogCaptureFixture) -> None:
    """001-18, 001-36, 001-65, C16: and never with text."""
    caplog.set_level(logging.DEBUG, logger="gatekeeper.builder")
    built([*TALK, user("secret")], "secret question")
    assert not any("secret" in str(vars(record)) for record in caplog.records)
    assert caplog.messages[0] == "context build started"
    assert "safety net: the prompt was missing at the end of the thread" in caplog.messages
    assert "[1] system_prompt: 9 tokens" in caplog.messages
    assert vars(caplog.records[-1])["gatekeeper_safety_net"] is True
    caplog.clear()
    built(TALK, debug=False)
    assert caplog.records == []


def test_a_system_message_within_a_thread_stays_in_its_place() -> None:
    """001-77: it is the provider's form that moves it."""
    context = built([*TALK, system("From now on in Latin."), user("Which port?")])
    at = [message.text for message in context.messages].index("From now on in Latin.")
    assert context.messages[at + 1].text == "Which port?"
    rendered = context.render(provider="anthropic")
    assert [message.role for message in rendered].count("system") == 1
