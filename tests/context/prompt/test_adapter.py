"""A builder behind a framework: its own messages come back, what is made is marked, and nothing fails for its size."""

from __future__ import annotations

import copy
import logging
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.rounds import as_summary
from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.adapter import RequestOptions, ThreadRequests
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.errors import BudgetError, ConfigError
from gatekeeper_core.messages import Message, Provider, validate_messages
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_core.tokens import count_messages
from tests.loops import PROVIDERS, assistant, calls, conversations, result, system, texts, user

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_core.context.prompt.adapter import Piece

QUESTIONS = ["缓存 Redis 的端口是多少？", "Which port does the Redis cache use?", "Redis 缓存的 port 是多少？"]
each_script = pytest.mark.parametrize("question", QUESTIONS)
TALK = [user("The Redis port is 6380."), assistant("Noted."), user("换个话题：酸面包？"), assistant("好的。")]


@dataclass(eq=False)
class Item:
    """A message of some framework."""

    message: Message
    pieces: tuple[Any, ...] | None = None


def write(message: Message, pieces: Sequence[Piece[Item]]) -> Item:
    return Item(message, tuple(pieces))


EVERY_TIME = HistoryConfig(keep_newest=3, passthrough_below=0)


def requests(on_error: Any = "fallback", **settings: Any) -> ThreadRequests[Item]:
    merged: dict[str, Any] = {"total_budget": 4000, "locale": "en"} | settings
    return requests_of(
        ContextBuilder(ContextBuilderConfig(**merged), token_counter=len), HistoryConfig(on_error=on_error)
    )


def requests_of(builder: ContextBuilder, config: HistoryConfig | None = None, **options: Any) -> ThreadRequests[Item]:
    config = config or HistoryConfig()
    return ThreadRequests(builder, config, read=lambda item: item.message, write=write, **options)


def items_of(messages: Sequence[Message]) -> list[Item]:
    return [Item(message) for message in messages]


def texts_of(messages: Sequence[Item]) -> list[str]:
    return [item.message.text for item in messages]


@given(conversations(), texts, st.integers(50, 5_000), st.sampled_from(PROVIDERS), st.booleans())
def test_every_message_is_the_frameworks_own_or_written_and_every_provider_takes_them(
    messages: list[Message], rules: str, budget: int, provider: Provider, redistribute: bool
) -> None:
    items, prompt = items_of(messages), Item(system(rules)) if rules else None
    door = requests(total_budget=budget, redistribute=redistribute)
    request = door.request(items, RequestOptions("t1", provider=provider), system=prompt)
    if request.refused:
        assert request.facts()["status"] == "over_budget"
        return
    assert request.context is not None
    read = [item.message for item in request.messages]
    assert tuple(read) == request.context.render(provider=provider)
    assert validate_messages(read, provider=provider, open_run=True) == ()
    assert count_messages(read, token_counter=len) <= budget
    own = [items.index(item) for item in request.messages if item in items]
    assert own == sorted(set(own))
    for item in request.messages:
        if item.pieces is not None and len(item.pieces) == 1:
            message, original = item.pieces[0]
            assert original is None or original.message != item.message or original.message != message


@each_script
def test_a_question_that_the_framework_says_itself_is_chosen_for_and_not_said(question: str) -> None:
    items = items_of([*TALK, *TALK[2:] * 20, user("换个话题：合唱团？"), assistant("周日。")])
    history, question = HistoryConfig(keep_newest=0, passthrough_below=0), f"{question}\n{question}"
    door = requests(history=history, total_budget=2000, enable_instruction_pinning=True)
    request = door.request(items, RequestOptions("t1", question=question))
    assert request.context is not None
    assert request.context.trace.safety_net
    assert question not in texts_of(request.messages)
    assert not [text for text in texts_of(request.messages) if "CRITICAL INSTRUCTION" in text]
    assert request.messages[-1].message.role == "assistant"
    assert "The Redis port is 6380." in texts_of(request.messages)


@each_script
def test_a_question_inside_other_words_is_not_said_again(question: str) -> None:
    wrapped = f"Current state: {{}}\nCurrent message: {question}"
    request = requests().request(items_of([*TALK, user(wrapped)]), RequestOptions("t1", question=question))
    assert request.context is not None
    assert not request.context.trace.safety_net
    assert texts_of(request.messages)[-1] == wrapped
    long = f"{question}\n{question}"
    pinned = requests(enable_instruction_pinning=True).request(
        items_of([*TALK, user(f"{wrapped}\n{question}")]), RequestOptions("t1", question=long)
    )
    assert f'Goal: "{question}\\n' in texts_of(pinned.messages)[-1]  # the pin says it without the words around it


@each_script
def test_what_must_be_sent_and_does_not_fit_is_sent_whole_and_alone(
    question: str, caplog: pytest.LogCaptureFixture
) -> None:
    prompt, items = Item(system("rules " * 50)), items_of([system("be brief"), *TALK, user(question), calls("a")])
    door = requests(total_budget=50)
    with caplog.at_level(logging.WARNING, "gatekeeper.builder"):
        request = door.request(items, RequestOptions("t1"), system=prompt)
    assert request.messages == (prompt, items[0], items[-2], items[-1])
    assert request.refused is not None
    numbers = {"needed_tokens": request.refused.needed_tokens, "available_tokens": 50}
    assert request.facts() == {"status": "over_budget", "messages": 4, **numbers}
    assert [record.message for record in caplog.records] == ["context over budget"]
    assert door.context_of("t1") is None
    with pytest.raises(BudgetError):
        requests(total_budget=50, on_error="raise").request(items, RequestOptions("t1"), system=prompt)


def test_a_changed_message_is_written_with_what_it_was() -> None:
    long = user("word " * 500)
    items = items_of([long, assistant("ok"), user("Which port?")])
    request = requests(max_message_tokens=100, enable_summary=False).request(items, RequestOptions("t1"))
    assert request.messages[0].pieces == ((request.messages[0].message, items[0]),)
    assert request.messages[1:3] == (items[1], items[2])


def test_joined_messages_are_written_with_all_that_they_were() -> None:
    builder = ContextBuilder(ContextBuilderConfig(), token_counter=len)
    builder.constraints.set(Thread("t1"), "language", "中文")
    prompt = Item(system("Be brief."))
    request = requests_of(builder).request(
        items_of([user("hi")]), RequestOptions("t1", provider="anthropic"), system=prompt
    )
    first = request.messages[0]
    assert first.pieces is not None
    assert [original for _, original in first.pieces] == [prompt, None]
    assert first.message.text == "\n\n".join(message.text for message, _ in first.pieces)


def test_a_summary_by_others_is_sent_and_is_no_question() -> None:
    summary = as_summary(user("so far: zebras, at length"))
    question = user("Redis port?\nAnd its host?")
    items = items_of([summary, assistant("Yes."), *TALK * 20, question, calls("a"), result("a")])
    settings: dict[str, Any] = {"enable_summary": False, "enable_instruction_pinning": True}
    request = requests(history=EVERY_TIME, total_budget=700, **settings).request(items, RequestOptions("t1"))
    assert items[0] in request.messages
    assert request.context is not None
    assert request.context.trace.left_out
    assert 'User\'s Current Goal: "Redis port?\\nAnd its host?"' in texts_of(request.messages)[-1]


@each_script
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("pinning", [None, True, False])
def test_an_agent_has_a_pin_only_where_it_is_switched_on(
    question: str, provider: Provider, pinning: bool | None
) -> None:
    """001-57: last at each step of a run, so that what comes before it stays as it is."""
    run = [user(question), calls("a", "b"), result("a"), result("b"), calls("c"), result("c")]
    door, before = requests(enable_instruction_pinning=pinning), list[str]()
    for stop in (1, 4, 6):
        request = door.request(items_of([*TALK, *run[:stop]]), RequestOptions("t1", provider=provider))
        *sent, last = texts_of(request.messages)
        assert sent[: len(before)] == before
        assert last.partition("\n\n")[0] == run[stop - 1].text or (pinning and provider == "openai")
        assert last.count("CRITICAL INSTRUCTION") == (1 if pinning else 0)
        assert not any("CRITICAL INSTRUCTION" in text for text in sent)
        before = sent


def test_threads_without_a_name_are_told_apart_by_their_first_message() -> None:
    door = requests(enable_summary=False)
    first, other = ([user(text), assistant("Noted."), user("What next?")] for text in ("Redis: 6380.", "酸面包。"))
    for talk in (first, other, first):
        request = door.request(items_of(talk))
    assert request.context is not None
    assert request.context.trace.prefix_share == 1.0  # compared with the first build, not with that of the other one
    assert door.last_context is request.context
    assert door.context_of("t1") is None


@pytest.mark.parametrize("nameless", [None, ""])
def test_nobody_gets_the_context_of_another_by_giving_no_name(nameless: str | None) -> None:
    """Neither of a thread nor of a tenant: conversations of several users may run without."""
    door = requests()
    request = door.request(items_of([user("My address is Elm Street 5.")]), RequestOptions(nameless))
    assert request.context is not None
    assert door.last_context is request.context
    for tenant in ("default", "", "acme"):
        assert door.context_of(nameless, tenant=tenant) is None
    door.request(items_of([user("hi")]), RequestOptions("t1", tenant="acme"))
    assert door.context_of("t1") is door.context_of("t1", tenant="") is None


def test_a_copy_works_with_the_same_builder_and_remembers_nothing() -> None:
    door = requests()
    door.request(items_of(TALK), RequestOptions("t1"))
    twin = copy.deepcopy(door)
    assert door.last_context is not None
    assert twin.last_context is None
    assert (
        twin.request(items_of(TALK), RequestOptions("t1")).context
        == door.request(items_of(TALK), RequestOptions("t1")).context
    )


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"token_budget": 5}, "token_budget"),
        ({"run": None, "keep_newest": 2}, "keep_newest, run"),
        ({"gatekeeper": GatekeeperConfig()}, "gatekeeper"),
        ({"token_counter": len, "embedder": "auto"}, "token_counter"),
        ({"pinned": lambda item: True}, "pinned"),
        ({"exclude": [0]}, "exclude"),
        ({"reserve_tokens": 48_000}, "reserve_tokens"),
        ({"run": RunConfig(), "reserve_tokens": 5, "embedder": "auto", "pinned": []}, None),
    ],
)
def test_settings_that_contradict_a_builder_are_named(changes: dict[str, Any], named: str | None) -> None:
    options = {
        name: changes.pop(name) for name in ("token_counter", "embedder", "pinned", "exclude") if name in changes
    }
    config = HistoryConfig(**{"token_budget": None, **changes})
    with pytest.raises(ConfigError, match=named) if named else nullcontext():
        requests_of(ContextBuilder(), config, **options)


def test_arguments_that_cannot_work_are_refused() -> None:
    with pytest.raises(TypeError, match="builder"):
        requests_of(None)  # type: ignore[arg-type]
