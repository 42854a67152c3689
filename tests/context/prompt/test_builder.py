"""The context builder: every part in its place and within the budget, every message accounted for."""

from __future__ import annotations

import copy
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.strategies import HistoryConfig, Strategy
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.task_text import quoted
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import BudgetShares, ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.parts import HEADINGS, SystemPrompt
from gatekeeper_core.context.prompt.result import BuiltContext
from gatekeeper_core.errors import BudgetError, ConfigError
from gatekeeper_core.messages import Message, Provider, validate_messages
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import count_messages
from tests.case_files import from_file
from tests.context.history.test_strategies import TALK
from tests.loops import PROVIDERS, assistant, calls, conversations, result, rounds, system, texts, user

KEY = b"sixteen bytes or more"
PROMPTS = [
    "解释 Context 系统",
    "Which port does Redis use?",
    "Redis 的 port 是多少？",
    "继续",
    "Which port?\n哪个主机？",
]
LONG = "Which port does Redis use?\nAnd on which host, 哪个主机？"
LONG_TALK = [
    message
    for number in range(30)
    for message in (
        user(f"问题 {number}: how do I configure service-{number}?"),
        assistant(f"Set port {6000 + number}。" * 6),
    )
]


def built(
    messages: Sequence[Message], prompt: str = "Which port?", rules: str | SystemPrompt = "Be brief.", **settings: Any
) -> BuiltContext:
    arguments = {name: settings.pop(name) for name in ("include_current_input", "tools", "debug") if name in settings}
    counter = settings.pop("token_counter", len)
    builder = ContextBuilder(ContextBuilderConfig(**settings), token_counter=counter)
    return builder.build(Thread("t1", tuple(messages)), prompt, rules, **arguments)


def parts(context: BuiltContext) -> list[str]:
    """Return the kinds of parts in their order, each once."""
    kinds = [part.part for part in context.trace.parts]
    return [kind for at, kind in enumerate(kinds) if at == 0 or kinds[at - 1] != kind]


# --- the invariants of every build ------------------------------------------------------------------------------------

histories = st.builds(
    lambda strategy, turns, below: HistoryConfig(
        strategy=strategy, keep_newest=None if strategy == "window" else turns, passthrough_below=below
    ),
    st.sampled_from(get_args(Strategy)),
    st.none() | st.integers(0, 4),
    st.sampled_from([0, 1000]),
)
settings = st.fixed_dictionaries(
    {
        "total_budget": st.sampled_from([50, 200, 700, 2_000, 8_000, 200_000]) | st.integers(50, 200_000),
        "history": histories,
        "redistribute": st.booleans(),
        "cache_friendly": st.booleans(),
        "locale": st.sampled_from(["zh", "en"]),
        "enable_instruction_pinning": st.sampled_from([None, True, False]),
        "enable_summary": st.booleans(),
    }
)


@given(conversations(), texts | st.sampled_from(PROMPTS), texts, settings, st.booleans(), st.sampled_from([None, len]))
def test_a_build_keeps_its_promises(
    messages: list[Message], prompt: str, rules: str, changes: dict[str, Any], included: bool, counter: Any
) -> None:
    """001-05, 001-19, 001-72, 004-05: the budget holds, the question is there, the order is kept, every provider takes it."""
    builder = ContextBuilder(ContextBuilderConfig(**changes), token_counter=counter, session_key=KEY)
    thread = Thread("t1", tuple(messages))
    try:
        context = builder.build(thread, prompt, rules, include_current_input=included)
    except BudgetError as error:
        assert error.available_tokens == changes["total_budget"]  # noqa: PT017 - no other outcome is an error
        assert error.needed_tokens > error.available_tokens  # noqa: PT017
        return
    assert_accounted(context, thread, builder)
    if prompt.strip() and changes["redistribute"]:
        question = " ".join(prompt.split())
        assert any(question in " ".join(message.text.split()) for message in context.messages if message.role == "user")
    for provider in PROVIDERS:
        rendered = context.render(provider=provider)
        assert validate_messages(rendered, provider=provider, open_run=True) == ()
        if counter is len:  # an exact counter: an estimate of joined texts is no sum, and has its margin
            assert count_messages(rendered, token_counter=len) <= changes["total_budget"]
    again = ContextBuilder(ContextBuilderConfig(**changes), token_counter=counter, session_key=KEY)
    assert again.build(thread, prompt, rules, include_current_input=included) == context


def assert_accounted(context: BuiltContext, thread: Thread, builder: ContextBuilder) -> None:
    stats, trace = context.token_stats, context.trace
    total = count_messages(context.messages, token_counter=builder.token_counter)
    assert stats.total == total + stats.tools == sum(stats[:-1])
    assert total <= budget_within(builder.token_counter, builder.config.total_budget)
    seqs = [part.seq for part in trace.parts if part.seq is not None]
    assert len(set(seqs)) == len(seqs) == context.metadata.included_message_count
    assert [fate.start for fate in trace.fates] == [0, *(fate.stop for fate in trace.fates)][: len(trace.fates)]
    assert (trace.fates[-1].stop if trace.fates else 0) == len(thread.messages)
    sent = {seq for fate in trace.fates if fate.fate in ("sent", "changed") for seq in range(fate.start, fate.stop)}
    repeated = {0} if thread.messages and thread.messages[0].role == "system" else set()
    assert set(seqs) <= sent <= set(seqs) | repeated


# --- order, texts, figures --------------------------------------------------------------------------------------------


@from_file("opening", "locale")
def test_headings_are_in_the_language_of_the_thread(opening: str, locale: Locale) -> None:
    """C17: that of its first user message, whatever is asked later; a setting says otherwise."""
    thread = Thread("t1", (Message("user", opening), Message("assistant", "6380"), *LONG_TALK))
    history = HistoryConfig(passthrough_below=0, keep_newest=1)
    for question in ("Which port has service-3?", "service-3 是哪个端口？"):
        context = ContextBuilder(ContextBuilderConfig(history=history)).build(thread, question, "Be brief.")
        assert any(message.text.startswith(HEADINGS[locale]["summary"]) for message in context.messages)
    fixed = ContextBuilder(ContextBuilderConfig(locale="zh", history=history)).build(thread, "Which port?", "Be brief.")
    assert any(message.text.startswith(HEADINGS["zh"]["summary"]) for message in fixed.messages)


def test_the_defaults_are_those_of_the_specification() -> None:
    """001-02, 001-06 to 001-12, 001-17, 001-45 to 001-48, 001-50, 001-54 to 001-57, 004-24, 004-41, 004-49, 004-53."""
    config = ContextBuilderConfig()
    assert (config.total_budget, config.sliding_window_size, config.history.keep_newest) == (48_000, 20, 3)
    assert tuple(config.shares.of(config.total_budget)) == (9600, 4800, 4800, 26_400, 2400, 0)
    flags = ("summary", "memory_retrieval", "tool_result_compression")
    assert all(getattr(config, f"enable_{flag}") for flag in flags)
    assert config.enable_instruction_pinning is None
    roomy = ContextBuilder(ContextBuilderConfig(total_budget=200_000))
    assert (ContextBuilder().summaries.config.max_summary_tokens, roomy.summaries.config.max_summary_tokens) == (
        1_000,
        1_000,
    )
    assert (config.memory_limit, config.memory_categories, config.call_timeout_ms) == (3, ("user_preference",), 500)


def test_a_builder_without_a_thread_sends_system_question_and_pin() -> None:
    """001-73."""
    context = ContextBuilder().build(None, LONG, "Be brief.")
    assert parts(context) == ["system_prompt", "current_input", "pinned"]
    assert context.metadata == (0, 0, False, 0)


def test_an_empty_prompt_adds_nothing() -> None:
    """001-74: no empty question, no pin, no search; a literal safety net appends an empty user message."""
    for prompt in ("", " \n\t"):
        context = built([user("hello"), assistant("hi"), user("port?")], prompt)
        assert parts(context) == ["system_prompt", "recent_messages", "current_input"]
        assert all(message.text.strip() for message in built([user("hello"), assistant("hi")], prompt).messages)
        assert parts(ContextBuilder().build(None, prompt, "Be brief.")) == ["system_prompt"]


def test_settings_can_be_changed_in_part() -> None:
    """001-15, 001-60."""
    builder = ContextBuilder()
    builder.set_config(total_budget=32_000, enable_summary=False)
    assert (builder.config.total_budget, builder.config.enable_summary) == (32_000, False)
    assert builder.config.sliding_window_size == 20
    for changes, error in (
        ({"total_budget": 0}, ConfigError),
        ({"total": 1}, TypeError),
        ({"cache_friendly": 1}, TypeError),
    ):
        with pytest.raises(error):
            builder.set_config(**changes)
    assert builder.config.total_budget == 32_000


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_simple_context_is_system_previous_messages_and_question(prompt: str) -> None:
    """001-61."""
    builder = ContextBuilder()
    previous = [user("hello"), assistant("hi")]
    assert builder.build_simple_context("Be brief.", prompt) == (system("Be brief."), user(prompt))
    assert builder.build_simple_context("Be brief.", prompt, previous) == (system("Be brief."), *previous, user(prompt))


# --- the mended defects -----------------------------------------------------------------------------------------------


def test_nothing_vanishes_where_the_summary_has_no_room() -> None:
    """001-23: a literal window begins after a summary that is not sent."""
    context = built(LONG_TALK, history=HistoryConfig(strategy="window"), shares=BudgetShares(summary=0))
    assert not context.metadata.used_summary
    assert context.metadata.included_message_count == 40
    assert context.trace.left_out == ((0, 20),)
    assert "summary" in context.trace.given_up
    roomy = {"history": HistoryConfig(strategy="window"), "sliding_window_size": 30, "total_budget": 5_000}
    assert built(LONG_TALK, shares=BudgetShares(summary=0), **roomy).metadata.included_message_count == 60
    assert built(LONG_TALK, **roomy).metadata.used_summary


@pytest.mark.parametrize("redistribute", [True, False])
def test_what_is_reserved_for_a_build_stays_free(redistribute: bool) -> None:
    thread = Thread("t1", (*LONG_TALK, user("Which port?")))
    builder = ContextBuilder(ContextBuilderConfig(total_budget=3000, redistribute=redistribute), token_counter=len)
    context = builder.build(thread, "Which port?", "Be brief.", reserve_tokens=1000)
    assert context.token_stats.total <= 2000
    assert context.trace.available_tokens == 2000
    with pytest.raises(BudgetError):
        builder.build(thread, "Which port?", "Be brief.", reserve_tokens=3000)
    with pytest.raises(ConfigError, match="reserve_tokens"):
        builder.build(thread, "Which port?", "Be brief.", reserve_tokens=-1)


def test_a_copy_of_what_holds_a_builder_shares_it() -> None:
    builder = ContextBuilder()
    assert copy.deepcopy([builder])[0] is builder


@pytest.mark.parametrize("prompt", ["word " * 500, "很长的问题。" * 400, "混合 question。" * 200])
def test_a_long_question_borrows_before_it_is_cut(prompt: str) -> None:
    """001-35 (c), 001-49: a literal builder cuts it to 5 % of the budget, and does not say so."""
    context = built([user("hello"), assistant("hi")], prompt, total_budget=4_000)
    assert context.token_stats.current_input == len(prompt) > 4_000 // 20
    literal = built([user("hello"), assistant("hi")], prompt, total_budget=4_000, redistribute=False)
    assert literal.token_stats.current_input <= 200
    cut = next(message for message in reversed(literal.messages) if message.role == "user").text
    assert "…[" in cut
    assert cut.startswith(prompt[:20])


def test_a_question_without_a_share_of_its_own_may_cost_500_tokens() -> None:
    """001-37."""
    shares = BudgetShares(current_input=0)
    context = built([], "word " * 500, total_budget=8_000, redistribute=False, shares=shares)
    assert 400 < context.token_stats.current_input <= 500


@pytest.mark.parametrize("rules", ["rule " * 300, "规则。" * 400, "混合 rule。" * 200])
def test_the_system_prompt_is_not_cut_while_anything_else_can_give(rules: str) -> None:
    """001-20, 001-21, 001-44, C8: a literal builder cuts it to 20 %."""
    context = built(LONG_TALK, rules=rules, total_budget=len(rules) + 100)
    assert context.messages[0].text == rules
    literal = built(LONG_TALK, rules=rules, total_budget=len(rules) + 100, redistribute=False)
    assert len(literal.messages[0].text) <= (len(rules) + 100) // 5
    assert literal.messages[0].text.endswith("…[cut]")


@pytest.mark.parametrize("messages", [[], LONG_TALK, [user("q"), calls("a"), result("a", "x" * 500)]])
def test_what_must_be_sent_and_does_not_fit_is_refused_with_the_numbers(messages: list[Message]) -> None:
    """001-72."""
    with pytest.raises(BudgetError) as caught:
        built(messages, "p" * 60, rules="s" * 60, tools=["t" * 7], total_budget=126)
    assert (caught.value.needed_tokens, caught.value.available_tokens) == (127, 126)
    assert built(messages, "p" * 60, rules="s" * 60, tools=["t" * 7], total_budget=127).token_stats.total == 127
    with pytest.raises(BudgetError):
        built([], "", rules="s" * 60, tools=["t" * 7], total_budget=66)
    assert built([], "", rules="s" * 60, tools=["t" * 7], total_budget=67).token_stats.total == 67


# --- history ----------------------------------------------------------------------------------------------------------


def test_a_run_that_is_too_long_gives_way_before_the_question_does() -> None:
    """004-03: results of the current run are compressed, its oldest rounds folded."""
    run = [user("Which port?")]
    for number in range(30):
        run += [calls(f"c{number}"), result(f"c{number}", f"12:00:{number:02d} INFO ping\n" * 60)]
    context = built(run, "Which port?", total_budget=2_500)
    assert context.token_stats.total <= 2_500
    assert user("Which port?") in context.messages
    assert any(fate.fate == "folded" for fate in context.trace.fates)
    assert [part.seq for part in context.trace.parts if part.part == "current_input"] == [0]  # not the placeholder
    squeezed = built(
        [user("Which port?"), calls("a"), result("a", "很长的结果。" * 900)],
        "Which port?",
        total_budget=600,
        enable_tool_result_compression=False,
    )
    assert squeezed.trace.squeezed == "truncate"
    assert squeezed.trace.fates[-1] == (2, 3, "changed")
    assert squeezed.token_stats.total <= 600


def test_what_a_provider_joins_or_adds_has_its_room() -> None:
    """A part between system messages, and the user message before an opening answer."""
    sent = set()
    for budget in range(26, 200):
        builder = ContextBuilder(ContextBuilderConfig(total_budget=budget), token_counter=len)
        builder.constraints.set(Thread("t1"), "language", "中文")
        for messages in ((), (assistant("It is noon."),)):
            try:
                context = builder.build(Thread("t1", messages), "", SystemPrompt("Be brief.", "It is noon."))
            except BudgetError:
                continue
            sent.add((context.token_stats.constraints > 0, len(messages)))
            assert count_messages(context.render(provider="anthropic"), token_counter=len) <= budget
    assert len(sent) == 4


def test_a_system_prompt_that_the_thread_says_again_is_sent_once() -> None:
    context = built([system("Be brief."), user("hello"), assistant("hi")])
    assert [message.text for message in context.messages].count("Be brief.") == 1
    assert [fate.fate for fate in context.trace.fates] == ["sent"]


# --- caches -----------------------------------------------------------------------------------------------------------


def test_the_prompts_of_the_threads_used_last_are_compared() -> None:
    history = HistoryConfig(max_threads=2)
    prompts = ContextBuilder(ContextBuilderConfig(total_budget=2_000, history=history), token_counter=len)
    contexts = [prompts.build(Thread(thread, tuple(LONG_TALK)), "Which port?", "Be brief.") for thread in "abcbca"]
    assert [context.trace.prefix_share > 0 for context in contexts] == [False, False, False, True, True, False]


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [{"reserve_tokens": 1}, {"shadow": True}, {"run": None}, {"token_budget": 5_000}, {"strategy": "window"}],
)
def test_settings_of_a_history_that_are_the_builders_own_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        ContextBuilderConfig(history=HistoryConfig(keep_newest=3, **settings))


def test_a_summary_of_what_is_sent_anyway_is_left_out() -> None:
    context = built(LONG_TALK[:24], history=HistoryConfig(keep_newest=2, passthrough_below=20_000))
    assert context.metadata.included_message_count == 24
    assert not context.metadata.used_summary
    assert "summary" not in parts(context)
    assert [tuple(fate) for fate in context.trace.fates] == [(0, 24, "sent")]


@pytest.mark.parametrize("language", TALK)
def test_what_waits_for_the_summary_is_sent_while_there_is_room(language: str) -> None:
    """001-23: nothing is neither sent nor stood for, also where the question is about something else."""
    talk = [message for question, answer in TALK[language] for message in (user(question), assistant(answer))]
    history = HistoryConfig(passthrough_below=0, keep_newest=1)
    context = built(talk, "Wie wird das Wetter?", history=history, token_counter=None)
    assert context.trace.left_out == ()
    assert built(talk, "Wie wird das Wetter?", history=history, enable_summary=False).trace.left_out


@pytest.mark.parametrize("text", ["I prefer short answers.", "我喜欢简短的回答。", "我喜欢 short answers。"])
def test_a_memory_of_what_is_sent_anyway_is_not_sent_twice(text: str) -> None:
    memory = LongTermMemory(InMemoryStore(), min_similarity=0.0)
    builder = ContextBuilder(memory=memory)
    for between in ([], LONG_TALK[:12]):  # among the newest turns, and among those that are chosen
        thread = Thread("t1", (user(text), assistant("ok"), *between, user(text)), user="ann")
        assert builder.build(thread, text, "Be brief.").metadata.retrieved_memory_count == 0
    assert len(memory.newest(MemoryScope("default", "ann"))) == 1
    elsewhere = Thread("t2", (user(text),), user="ann")
    assert builder.build(elsewhere, text, "Be brief.").metadata.retrieved_memory_count == 1
    builder.set_config(history=HistoryConfig(strategy="window"), sliding_window_size=1, enable_summary=False)
    left_out = Thread("t1", (user(text), assistant("ok"), user("hi"), assistant("hello")), user="ann")
    assert builder.build(left_out, text, "Be brief.").metadata.retrieved_memory_count == 1


def test_a_builder_says_its_budget_and_what_is_plugged_in() -> None:
    shown = repr(ContextBuilder(ContextBuilderConfig(total_budget=900)))
    assert shown == "ContextBuilder(total_budget=900, store=InMemoryStore, memory=LongTermMemory)"


GREETING = [user("hello"), assistant("hi")]
LINES = "Which port?\n哪个主机 host？"


def texts_of(context: BuiltContext, part: str) -> list[str]:
    pairs = zip(context.messages, context.trace.parts, strict=True)
    return [message.text for message, one in pairs if one.part == part]


# --- the system prompt ------------------------------------------------------------------------------------------------


def test_the_volatile_part_of_a_system_prompt_is_a_message_of_its_own() -> None:
    """C9."""
    context = built(GREETING, rules=SystemPrompt("Be brief.", "It is noon."))
    assert texts_of(context, "system_prompt") == ["Be brief.", "It is noon."]
    assert texts_of(built(GREETING, rules=SystemPrompt("Be brief.", " ")), "system_prompt") == ["Be brief."]
    assert texts_of(built(GREETING, rules=""), "system_prompt") == []


def test_both_parts_of_a_system_prompt_share_its_share_where_nothing_is_lent() -> None:
    """001-20: the stable part first."""
    context = built(GREETING, rules=SystemPrompt("s" * 150, "v" * 150), total_budget=1_000, redistribute=False)
    stable, volatile = texts_of(context, "system_prompt")
    assert stable == "s" * 150
    assert volatile.endswith("…[cut]")
    assert len(stable) + len(volatile) <= 200


# --- the question -----------------------------------------------------------------------------------------------------


def test_a_question_that_the_caller_asks_to_be_added_stands_there_once() -> None:
    """001-33."""
    talk = [*GREETING, user("Which port?")]
    for messages, count in ((GREETING, 1), (talk, 1), ([*talk, calls("a"), result("a")], 2)):
        context = built(messages, include_current_input=True)
        assert [message.text for message in context.messages].count("Which port?") == count


# --- memories ---------------------------------------------------------------------------------------------------------


def test_the_categories_that_are_searched_can_be_chosen() -> None:
    """001-25: preferences unless the caller says otherwise; none named: all four."""
    memory, scope = LongTermMemory(InMemoryStore()), MemoryScope("default", "ann")
    memory.add(scope, "I prefer green tea", category="user_preference")
    memory.add(scope, "The green tea shop is shut", category="fact")
    for settings, count in (({}, 1), ({"memory_categories": ()}, 2), ({"memory_categories": ("fact",)}, 1)):
        builder = ContextBuilder(ContextBuilderConfig(**settings), memory=memory)
        context = builder.build(Thread("t1", tuple(GREETING), user="ann"), "Which green tea?", "Be brief.")
        assert context.metadata.retrieved_memory_count == count
    assert "shop" in texts_of(context, "retrieved")[0]


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
    (steps,) = texts_of(context, "steps")
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
    (pin,) = texts_of(builder.build(thread, "Go on.\n继续。", "Be brief."), "pinned")
    assert re.search(r'\n\n<task-\d{12}>\n\[TASK STATUS\]\nGoal: "deploy Redis on kestrel\."', pin)
    assert "6380" in pin
    assert re.search(r"\n</task-\d{12}>\Z", pin)
    builder.set_config(total_budget=420, enable_summary=False)
    (short,) = texts_of(builder.build(thread, "Go on.\n继续。", "Be brief."), "pinned")
    assert len(short) < len(pin)
    assert pin.startswith(short.split("\n\n", maxsplit=1)[0])


@pytest.mark.parametrize("prompt", ["Which port?", "哪个端口？", "Redis 的 port " * 200, LINES])
@pytest.mark.parametrize("setting", [None, True])
def test_the_pin_comes_last_however_short_the_question(prompt: str, setting: bool | None) -> None:
    """001-38, 001-57."""
    context = built(GREETING, prompt, enable_instruction_pinning=setting)
    assert texts_of(context, "pinned") == [context.messages[-1].text]
    assert context.messages[-1].text.startswith(f"[CRITICAL INSTRUCTION]\nUser's Current Goal: {quoted(prompt)}\n")


@pytest.mark.parametrize("end", [[assistant("6380")], [user("Which port?"), calls("c1", "c2"), result("c1")]])
def test_nothing_comes_behind_an_answer_to_continue_or_calls_that_wait(end: list[Message]) -> None:
    """001-42: a provider refuses it between calls and their results."""
    builder = ContextBuilder(token_counter=len)
    context = builder.build(Thread("t1", (*GREETING, *end)), "Which port?", "Be brief.", safety_net=False)
    assert texts_of(context, "pinned") == []
    assert context.messages[-1] == end[-1]


RUNS = st.tuples(*(rounds(str(number)) for number in range(3))).map(lambda runs: [one for each in runs for one in each])


@given(RUNS, st.sampled_from([LINES, "Which port?"]), st.booleans(), st.booleans(), st.sampled_from(PROVIDERS))
def test_within_a_run_each_prompt_begins_with_the_one_before(
    run: list[Message], query: str, in_thread: bool, cache_friendly: bool, provider: Provider
) -> None:
    """001-36, 001-52, 001-34, 001-35, 001-38, 003-90: whatever is asked, whether the thread has the question or lacks it."""
    config = ContextBuilderConfig(cache_friendly=cache_friendly, total_budget=100_000)
    builder = ContextBuilder(config, token_counter=len)
    messages = [*GREETING * 10, *([user(query)] if in_thread else [])]
    before: list[str] = []
    for stop in range(len(run) + 1):
        context = builder.build(Thread("t1", (*messages, *run[:stop])), query, SystemPrompt("Be brief.", "It is noon."))
        rendered = context.render(provider=provider)
        assert validate_messages(rendered, provider=provider, open_run=True) == ()
        sent = [message.text for message in rendered]
        for pin in texts_of(context, "pinned"):  # none where calls wait
            assert sent[-1].endswith(pin)
            sent[-1:] = [text for text in [sent[-1].removesuffix(pin)] if provider != "openai"]
        contents = [text.removesuffix("\n\n") for text in sent]
        assert contents[: len(before)] == before
        assert context.trace.safety_net != in_thread
        assert contents.count(query) == 1
        before = contents


@pytest.mark.parametrize("turns", range(10, 16))
def test_a_run_that_borrows_room_leaves_the_beginning_as_it_is(turns: int) -> None:
    """003-90: a summary that catches up when the run has used up the turns' share would change it in between."""
    thrifty = HistoryConfig(keep_newest=3, strategy="gate")  # some turns are left to the summary
    builder = ContextBuilder(ContextBuilderConfig(total_budget=6_000, history=thrifty), token_counter=len)
    messages: list[Message] = []
    for number in range(turns):
        messages.append(user(f"How do I configure service-{number}? {'也许 ' * 20}"))
        builder.build(Thread("t1", tuple(messages)), messages[-1].text, "Be brief.")
        messages.append(assistant(f"Set port {6000 + number}。" * 12))
    messages.append(user("Which ports are in use?"))
    before, lengths = builder.build(Thread("t1", tuple(messages)), messages[-1].text, "Be brief.").messages[:-1], []
    for number in range(7):
        messages += [calls(f"c{number}"), result(f"c{number}", f"{number}. port {6000 + number}\n" * 30)]
        context = builder.build(Thread("t1", tuple(messages)), "Which ports are in use?", "Be brief.")
        assert context.messages[: len(before)] == before
        before = context.messages[:-1]
        lengths.append(context.token_stats.recent_messages)
    assert lengths[-1] > context.trace.shares.recent_messages


def test_each_stage_writes_a_record_with_figures(caplog: pytest.LogCaptureFixture) -> None:
    """001-18, 001-36, 001-65, C16: and never with text."""
    caplog.set_level(logging.DEBUG, logger="gatekeeper.builder")
    built([*GREETING, user("secret")], "secret question")
    assert not any("secret" in str(vars(record)) for record in caplog.records)
    assert caplog.messages[0] == "context build started"
    assert "safety net: added the prompt missing at the end of the thread" in caplog.messages
    assert "[1] system_prompt: 9 tokens" in caplog.messages
    assert vars(caplog.records[-1])["gatekeeper_safety_net"] is True
    caplog.clear()
    built(GREETING, debug=False)
    assert caplog.records == []


def test_a_system_message_within_a_thread_stays_in_its_place() -> None:
    """001-77: it is the provider's form that moves it."""
    context = built([*GREETING, system("From now on in Latin."), user("Which port?")])
    at = [message.text for message in context.messages].index("From now on in Latin.")
    assert context.messages[at + 1].text == "Which port?"
    rendered = context.render(provider="anthropic")
    assert [message.role for message in rendered].count("system") == 1


SECRETS = [
    user("secret port?"),
    calls("a"),
    result("a", "secret 6380"),
    assistant("It is 6380."),
    user("And the host?\n还有端口？"),
]


def context_of(messages: list[Message] = SECRETS, prompt: str = SECRETS[-1].text) -> BuiltContext:
    return ContextBuilder(ContextBuilderConfig(locale="en")).build(Thread("t1", tuple(messages)), prompt, "Be brief.")


def test_a_trace_is_json_and_holds_no_text() -> None:
    """C16."""
    context = context_of()
    text = json.dumps(context.trace.to_dict(), allow_nan=False, sort_keys=True)
    assert "secret" not in text
    assert set(context.trace.to_dict()) == {*context.trace._fields, "available_tokens", "prefix_share"}
    assert json.loads(text)["shares"]["recent_messages"] == 26_400
    assert json.loads(text)["parts"][0] == {"part": "system_prompt", "seq": None, "tokens": 3}


def test_dicts_are_those_of_the_rendered_messages() -> None:
    """001-32: tool fields survive."""
    dicts = context_of().to_dicts()
    assert dicts == [message.to_dict(for_provider=True) for message in context_of().render()]
    assert dicts[2]["tool_calls"][0]["id"] == dicts[3]["tool_call_id"] == "a"


def test_dicts_hold_no_field_that_a_provider_refuses() -> None:
    marked = [replace(message, id="m", metadata={"a": 1}, created_at=datetime(2024, 6, 3)) for message in SECRETS]
    assert context_of(marked).to_dicts() == context_of().to_dicts()
