"""The bill of builds: what is told inside the question is accounted for, and no prompt is paid for twice."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from gatekeeper_core.context.history.modes import HistoryConfig
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.result import BuiltContext
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.prices import ModelPrices
from tests.loops import assistant, user

TOPICS = ["Redis", "sourdough", "Bern", "invoice", "tomatoes", "violin", "passport", "glacier", "Kafka", "marathon"]
TALK = list(
    chain.from_iterable(
        (
            user(f"New topic: what about the {TOPICS[at % 10]} of district {at}?"),
            assistant(
                f"The {TOPICS[at % 10]} of district {at} has the number {6000 + at}. " + "It is as it was. " * 30
            ),
        )
        for at in range(60)
    )
)
AT_ONCE = HistoryConfig(mode="gated", passthrough_below=0)


def builder_of(*, history: HistoryConfig = AT_ONCE, **settings: Any) -> ContextBuilder:
    settings = {"enable_summary": False, "locale": "en", **settings}
    return ContextBuilder(ContextBuilderConfig(history=history, **settings))


def asked(builder: ContextBuilder, talk: list[Message], *questions: str, **arguments: Any) -> list[BuiltContext]:
    """Return the builds for questions that are each answered before the next one."""
    contexts = []
    for question in questions:
        contexts.append(builder.build(Thread("t1", tuple(talk)), question, "Be brief.", **arguments))
        talk = [*talk, user(question), assistant("So it is.")]
    return contexts


def test_what_is_told_inside_the_question_is_no_longer_left_out() -> None:
    contexts = asked(builder_of(), TALK, "What number has the Redis of district 20?", "And the violin of district 35?")
    trace = contexts[1].trace
    assert trace.view is not None
    assert trace.view.bill is not None
    assert 35 in trace.view.bill.recalled
    fates = {seq: one.fate for one in trace.fates for seq in range(one.start, one.stop)}
    assert [fates[seq] for seq in (70, 71)] == ["recalled", "recalled"]
    assert len(fates) == len(TALK) + 2
    assert contexts[1].facts()["messages_recalled"] == 2 * len(trace.view.bill.recalled)
    assert contexts[1].facts()["policy_action"] == "kept"


def test_what_is_told_inside_the_question_is_booked_with_the_turns() -> None:
    context = asked(builder_of(), TALK, "What number has the Redis of district 20?", "And the violin of district 35?")[
        1
    ]
    question = next(part for part in context.trace.parts if part.part == "current_input")
    assert context.token_stats.current_input < 30 < question.tokens
    assert sum(context.token_stats[:-1]) == context.token_stats.total == sum(one.tokens for one in context.trace.parts)


def test_a_question_in_the_thread_is_sent_whole_whatever_is_told_in_it() -> None:
    builder, question = builder_of(), "And the violin of district 35?"
    asked(builder, TALK, "What number has the Redis of district 20?")
    talk = [*TALK, user("What number has the Redis of district 20?"), assistant("6020."), user(question)]
    context = builder.build(Thread("t1", tuple(talk)), question, "Be brief.")
    assert context.trace.fates[-1].fate == "sent"
    assert context.messages[-1].text.endswith(f"\n\n{question}")
    assert talk[-1].text == question


def test_the_prices_of_the_call_make_the_bill() -> None:
    bills = []
    for dollars in (1, 3):
        prices = ModelPrices(input=dollars, output=5, cache_read=dollars, cache_write=dollars)
        (context,) = asked(builder_of(), TALK, "What number has the Redis of district 20?", prices=prices)
        assert context.trace.view is not None
        assert context.trace.view.bill is not None
        bills.append(context.trace.view.bill.dollars)
    assert bills[1] == pytest.approx(3 * bills[0])
    with pytest.raises(TypeError, match="prices must be a ModelPrices, got int"):
        builder_of().build(None, "?", "", prices=3)  # type: ignore[arg-type]


def test_nothing_is_told_inside_a_question_that_the_caller_sends_itself() -> None:
    builder = builder_of()
    questions = "What number has the Redis of district 20?", "And the violin of district 35?"
    context = asked(builder, TALK, *questions, recall=False)[1]
    assert context.trace.view is not None
    assert context.trace.view.told == ""
    assert 35 in context.trace.view.turns
    assert context.messages[-1].text == questions[1]
