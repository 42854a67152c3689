"""The options of a selection by name: both memories, and the block of a stock ``Memory``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from pydantic import ValidationError

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import validate_messages
from gatekeeper_core.selection.planner import GatekeeperConfig
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBlock, GatekeeperMemoryBuffer
from llama_index.memory.gatekeeper.messages import read_message
from tests.adapters.chats import TALKS, assistant, history_of, texts, user
from tests.adapters.doors import now
from tests.adapters.pickling import by_pickle

pytestmark = pytest.mark.adapters

STANDING = {
    "english": ("From now on, answer in French.", "Oui, noted."),
    "chinese": ("以后都用法语回答。", "好的。"),
    "mixed": ("以后都用 French 回答。", "OK，好的。"),
}
UNFILTERED = HistoryConfig(passthrough_below=0, on_error="raise")
each_talk = pytest.mark.parametrize("talk", TALKS)
each_kind = pytest.mark.parametrize("kind", [GatekeeperMemoryBuffer, GatekeeperMemory])


def opened(kind: Any, messages: list[ChatMessage], **options: Any) -> Any:
    wanted = {"token_limit": 1000, "config": UNFILTERED} | options
    memory = kind.from_defaults(**wanted)
    for message in messages:
        memory.put(message)
    return memory


def sent(kind: Any, messages: list[ChatMessage], **options: Any) -> list[str]:
    messages = opened(kind, messages, **options).get()
    assert not validate_messages([read_message(message) for message in messages], provider="gemini")
    return texts(messages)


# --- strategies -----------------------------------------------------------------------------------------------------


@each_talk
@each_kind
def test_a_strategy_is_given_by_its_name(kind: Any, talk: str) -> None:
    pairs, question = TALKS[talk]
    messages = [*history_of(pairs), user(question)]
    assert sent(kind, messages) == [*pairs[0], question]
    assert sent(kind, messages, strategy="gate") == [*pairs[0], question]
    assert sent(kind, messages, strategy="fill") == sent(kind, messages, strategy="cache") == texts(messages)
    assert sent(kind, messages, strategy="window", keep_newest=1) == [*pairs[2], question]
    assert sent(kind, messages, keep_newest=1) == [*pairs[0], *pairs[2], question]
    assert sent(kind, messages, strategy="fill", token_limit=60)[-1] == question
    assert 1 < len(sent(kind, messages, strategy="fill", token_limit=60)) < len(messages)


@each_kind
def test_a_name_wins_over_the_settings(kind: Any) -> None:
    pairs, question = TALKS["english"]
    config = HistoryConfig(strategy="window", keep_newest=1, coverage=0.1, passthrough_below=0)
    memory = opened(kind, [*history_of(pairs), user(question)], config=config, strategy="gate", keep_newest=0)
    assert texts(memory.get()) == [*pairs[0], question]
    memory.strategy, memory.keep_newest = None, 2
    assert texts(memory.get()) == [*pairs[1], *pairs[2], question]


@each_kind
def test_a_coverage_of_more_sends_more(kind: Any) -> None:
    places = ("kitchen", "garden", "cellar", "attic", "study")
    pairs = [
        (f"The lamp of the {place} is {at} metres high.", f"Noted: lamp, {place}.") for at, place in enumerate(places)
    ]
    messages = [*history_of(pairs), user("How high is each lamp in the kitchen, the garden and the rest of the house?")]
    lengths = [len(sent(kind, messages, coverage=coverage)) for coverage in (0.01, 0.5, 0.99)]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


@each_kind
def test_options_out_of_range_are_refused(kind: Any) -> None:
    with pytest.raises(ValidationError, match="'gate', 'fill', 'cache' or 'window'"):
        kind.from_defaults(token_limit=9, strategy="thrifty")
    with pytest.raises(ValueError, match=r"HistoryConfig\.coverage"):
        kind.from_defaults(token_limit=9, coverage=1.5)
    memory = kind.from_defaults(token_limit=9)
    memory.strategy = "thrifty"
    with pytest.raises(ConfigError, match="strategy"):
        memory.get()


@each_kind
def test_token_budget_is_another_name_for_the_limit(kind: Any) -> None:
    assert kind.from_defaults(token_budget=77).token_limit == 77
    assert kind.from_defaults(token_limit=77, token_budget=77).token_limit == 77
    with pytest.raises(ConfigError, match=r"token_limit is 9, token_budget is 77: give the budget once"):
        kind.from_defaults(token_limit=9, token_budget=77)
    with pytest.raises(ConfigError, match=r"token_budget is 77, HistoryConfig\.token_budget is 9"):
        kind.from_defaults(token_budget=77, config=HistoryConfig(token_budget=9))


# --- pins -----------------------------------------------------------------------------------------------------------

ways = pytest.mark.parametrize("by", [lambda text: [2], lambda text: lambda message: message.content == text])


@each_talk
@each_kind
@ways
def test_a_pinned_message_is_sent_with_its_answer(kind: Any, by: Callable[[str], Any], talk: str) -> None:
    pairs, question = TALKS[talk]
    messages = [*history_of(pairs), user(question)]
    wanted = [*pairs[0], *pairs[1], question]
    assert sent(kind, messages, pinned=by(pairs[1][0])) == wanted
    memory = opened(kind, messages)
    assert texts(memory.get()) != wanted
    memory.pinned = by(pairs[1][0])
    assert texts(memory.get()) == wanted
    memory.pinned = ()
    assert texts(memory.get()) != wanted


@each_talk
@each_kind
@ways
def test_a_turn_with_an_excluded_message_is_never_sent(kind: Any, by: Callable[[str], Any], talk: str) -> None:
    pairs, question = TALKS[talk]
    messages = [*history_of([pairs[1], pairs[0], pairs[2]]), user(question)]
    memory = (
        opened(kind, messages, exclude=by(pairs[0][0]), chat_store_key="t") if kind is GatekeeperMemoryBuffer else None
    )
    memory = memory or opened(kind, messages, exclude=by(pairs[0][0]), session_id="t")
    assert not {*pairs[0]} & {*texts(memory.get())}
    assert pairs[0][1] not in memory.recall_earlier(question, "t")
    assert sent(kind, messages, exclude=by(pairs[0][0]), strategy="fill") == [*pairs[1], *pairs[2], question]
    memory.exclude = []
    assert {*pairs[0]} < {*texts(memory.get())}


@each_talk
@each_kind
def test_a_standing_instruction_stays_after_a_change_of_topic(kind: Any, talk: str, events: list[Any]) -> None:
    pairs, question = TALKS[talk]
    messages = [*history_of([STANDING[talk], *pairs]), user(question)]
    assert sent(kind, messages) == [*STANDING[talk], *pairs[0], question]
    assert events[-1].messages_pinned == 2
    config = HistoryConfig(passthrough_below=0, pin_instructions=False)
    assert sent(kind, messages, config=config) == [*pairs[0], question]
    assert events[-1].messages_pinned == 0


@each_talk
@each_kind
def test_a_standing_instruction_takes_a_quarter_of_what_the_question_leaves_and_no_more(kind: Any, talk: str) -> None:
    pinned = STANDING[talk]
    question = TALKS[talk][1] * 20
    needed, wanted = len(question), 4 * len("".join(pinned))
    for spare, kept in ((wanted - 4, []), (wanted, [*pinned])):
        options = {"token_limit": needed + spare, "tokenizer_fn": list}
        assert sent(kind, [*history_of([pinned]), user(question)], **options) == [*kept, question]


@pytest.mark.parametrize("name", ["pinned", "exclude"])
@pytest.mark.parametrize("kind", [GatekeeperMemoryBuffer, GatekeeperMemory, GatekeeperMemoryBlock])
def test_what_names_no_message_is_refused(kind: Any, name: str) -> None:
    make: Any = kind if kind is GatekeeperMemoryBlock else kind.from_defaults
    with pytest.raises(TypeError, match=f"{name} must hold positions .* a ChatMessage has no id"):
        make(**{name: ["m-1"]})
    with pytest.raises(TypeError, match=f"{name} must be a list of positions"):
        make(**{name: 3})
    with pytest.raises(ValueError, match=f"{name} must hold positions from the beginning"):
        make(**{name: [-1]})
    made = make(**{name: [99]})  # a position that is reached later
    setattr(made, name, "m-1")
    with pytest.raises(TypeError, match=name):
        made._current_selector()


@each_kind
def test_pins_do_not_go_with_a_builder(kind: Any) -> None:
    for name in ("pinned", "exclude"):
        with pytest.raises(ValueError, match=f"{name}: a builder"):
            kind.from_defaults(builder=ContextBuilder(), **{name: [0]})
    with pytest.raises(ValueError, match="strategy: with a builder"):
        kind.from_defaults(builder=ContextBuilder(), strategy="fill")


# --- writing and reading --------------------------------------------------------------------------------------------


def test_options_go_through_text_and_pins_are_given_again() -> None:
    pairs, question = TALKS["english"]
    memory = opened(
        GatekeeperMemoryBuffer,
        [*history_of(pairs), user(question)],
        strategy="gate",
        coverage=0.7,
        keep_newest=0,
        pinned=[2],
        exclude=lambda message: message.content == pairs[2][0],
    )
    text = memory.to_string()
    for store in (None, memory.chat_store):
        bare = GatekeeperMemoryBuffer.from_string(text, chat_store=store)
        assert (bare.strategy, bare.coverage, bare.keep_newest) == ("gate", 0.7, 0)
        assert (bare.pinned, bare.exclude) == ((), ())
        again = GatekeeperMemoryBuffer.from_string(text, chat_store=store, pinned=[2], exclude=memory.exclude)
        assert texts(again.get()) == texts(memory.get()) == [*pairs[0], *pairs[1], question]
    assert by_pickle(bare).coverage == 0.7


# --- the block ------------------------------------------------------------------------------------------------------


def recalled(question: str, active: list[ChatMessage] | None = None, **options: Any) -> str:
    pairs = options.pop("pairs", TALKS["english"][0])
    block = GatekeeperMemoryBlock(**({"config": UNFILTERED} | options))
    now(block.aput(history_of(pairs), from_short_term_memory=True, session_id="s"))
    return str(now(block.aget([*(active or []), user(question)], session_id="s")))


@each_talk
@pytest.mark.parametrize("strategy", ["gate", "fill", "cache", "window"])
def test_the_block_selects_for_the_question_whatever_the_strategy(talk: str, strategy: Any) -> None:
    pairs, question = TALKS[talk]
    text = recalled(question, pairs=pairs, strategy=strategy)
    assert pairs[0][1] in text
    assert pairs[1][1] not in text
    filling = HistoryConfig(strategy="fill", passthrough_below=0, gatekeeper=GatekeeperConfig(strategy="fill"))
    assert recalled(question, pairs=pairs, config=filling) == text


@each_talk
@ways
def test_pinned_messages_come_back_with_their_answer(by: Callable[[str], Any], talk: str) -> None:
    pairs, question = TALKS[talk]
    text = recalled(question, pairs=pairs, pinned=by(pairs[1][0]))
    assert all(said in text for said in (*pairs[0], *pairs[1]))
    assert pairs[2][0] not in text
    unrelated = {"english": "New topic: who painted the Mona Lisa?"}.get(talk, "换个话题，蒙娜丽莎是谁画的？")
    assert recalled(unrelated, pairs=pairs) == ""
    assert f"user: {pairs[1][0]}\nassistant: {pairs[1][1]}\n" in recalled(
        unrelated, pairs=pairs, pinned=by(pairs[1][0])
    )


@each_talk
@pytest.mark.parametrize("at", [0, 1])
def test_a_turn_with_an_excluded_message_never_comes_back(at: int, talk: str) -> None:
    pairs, question = TALKS[talk]
    turned = [pairs[1], pairs[0], pairs[2]]
    assert recalled(question, pairs=turned, exclude=lambda one: one.content == pairs[0][at]) == ""
    # The turns behind an excluded one keep their places.
    text = recalled(question, pairs=turned, exclude=[at])
    assert f"user: {pairs[0][0]}\nassistant: {pairs[0][1]}\n" in text
    assert pairs[2][0] not in text


def test_a_turn_that_is_partly_active_comes_back_with_its_archived_part_alone() -> None:
    pairs, question = TALKS["english"]
    active = [assistant("It is staging, to be exact."), *history_of([("New topic: hats?", "Felt.")])]
    text = recalled(
        question, active, pairs=[pairs[1], pairs[0]], exclude=[0], pinned=lambda one: "staging" in one.content
    )
    assert f"user: {pairs[0][0]}\nassistant: {pairs[0][1]}\n" in text
    assert "to be exact" not in text
    assert recalled(question, active, pairs=[pairs[1], pairs[0]], exclude=[4]) == "", "the active part is of the turn"


@each_talk
def test_a_standing_instruction_comes_back_with_each_question(talk: str) -> None:
    pairs, question = TALKS[talk]
    text = recalled(question, pairs=[STANDING[talk], *pairs])
    assert all(said in text for said in (*STANDING[talk], *pairs[0]))
    config = HistoryConfig(passthrough_below=0, pin_instructions=False)
    assert STANDING[talk][0] not in recalled(question, pairs=[STANDING[talk], *pairs], config=config)


def test_the_budget_of_a_block_is_given_once() -> None:
    question = TALKS["english"][1]
    assert "6380" in recalled(question, token_budget=100)
    assert recalled(question, token_budget=10) == ""
    assert recalled(question, config=None, token_budget=100) == recalled(question)
    with pytest.raises(
        ValueError, match=r"token_budget is 10, HistoryConfig\.token_budget is 20: give the budget once"
    ):
        GatekeeperMemoryBlock(token_budget=10, config=HistoryConfig(token_budget=20))
