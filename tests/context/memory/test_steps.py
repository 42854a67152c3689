"""The messages of finished steps: what is left out, and what stands for it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.rounds import read_rounds
from gatekeeper_core.context.memory.steps import ClearedStep, cleared_steps, stand_in_text
from gatekeeper_core.context.memory.task import ActiveTask, Note, Step
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message, group_turns, turn_starts
from tests.case_files import from_file
from tests.loops import PROVIDERS, assistant, calls, conversations, result, system, user, violations

LOOP = (
    *(system(), user("部署"), calls("a"), result("a"), calls("b"), result("b"), assistant("done"), user("and now?")),
    *(calls("c"), result("c"), assistant("tested")),
)


def done(*ranges: tuple[int, int]) -> ActiveTask:
    return ActiveTask(steps=tuple(Step(f"step {n}", "green", *one) for n, one in enumerate(ranges)))


def cleared(task: ActiveTask, *messages: Message) -> list[tuple[tuple[int, int], ...]]:
    return [one.ranges for one in cleared_steps(Thread("t1", messages), task)]


def test_a_step_inside_a_turn_clears_its_rounds_and_what_the_assistant_said() -> None:
    """002-07, 002-09: the user's words stay."""
    assert cleared(done((2, 3)), *LOOP) == [((2, 3),)]
    assert cleared(done((2, 6)), *LOOP) == [((2, 6),)]
    assert cleared(done((2, 6), (8, 9)), *LOOP) == [((2, 6),), ((8, 9),)]


def test_a_turn_that_lies_in_a_step_is_cleared_as_a_whole() -> None:
    """002-07."""
    assert cleared(done((0, 6)), *LOOP) == [((1, 6),)]
    assert cleared(done((0, 10)), *LOOP) == [((1, 6), (8, 10))], "the user messages of the newest turn stay"
    assert cleared(done((0, 2)), assistant("hi"), user(), assistant(), user()) == [((1, 2),)], "a greeting stays"


def test_the_message_that_the_goal_comes_from_stays() -> None:
    task = ActiveTask(goal=Note("部署", 1), steps=done((0, 6)).steps)
    assert cleared(task, *LOOP) == [((2, 6),)]
    later = ActiveTask(sub_requests=(Note("部署", 1),), steps=done((0, 6)).steps)
    assert cleared(later, *LOOP) == [((2, 6),)]


def test_a_call_without_its_result_is_never_cleared() -> None:
    messages = [user(), calls("a"), result("a"), calls("b", "c"), result("b")]
    assert cleared(done((1, 4)), *messages) == [((1, 2),)]


@pytest.mark.parametrize("step", [(3, 3), (2, 2), (3, 4), (5, 4), (90, 99), (0, -1)])
def test_a_round_is_cleared_whole_or_not_at_all(step: tuple[int, int]) -> None:
    """002-09: a tool call never leaves its results."""
    assert cleared(done(step), *LOOP) == []


@st.composite
def worked(draw: st.DrawFn) -> tuple[Thread, ActiveTask]:
    messages = draw(conversations())
    borders = sorted(draw(st.lists(st.integers(0, len(messages) + 2), max_size=6)))
    steps = [Step("s", "summary", start, stop - 1) for start, stop in pairwise(borders)]
    goal = draw(st.none() | st.builds(Note, st.just("g"), st.integers(0, len(messages))))
    return Thread("t1", tuple(messages)), ActiveTask(goal=goal, steps=tuple(steps))


@given(worked())
def test_what_is_cleared_never_splits_a_tool_exchange_and_leaves_a_valid_list(work: tuple[Thread, ActiveTask]) -> None:
    """002-07, 002-09: wherever the whole list is valid for a provider, the rest is; each message has one stand-in."""
    thread, task = work
    found = cleared_steps(thread, task)
    gone = [at for one in found for at in one.seqs]
    assert len(gone) == len(set(gone))
    for one in found:
        assert all(one.step.from_seq <= at <= one.step.to_seq for at in one.seqs)
        assert all(last + 1 < first for (_, last), (first, _) in pairwise(one.ranges))
    past = {at for turn in group_turns(thread.messages)[:-1] for at in range(turn.start, turn.stop)}
    for exchange in read_rounds(thread.messages):
        assert len({at in gone for at in exchange.positions}) == 1
        assert exchange.answered or exchange.positions[0] not in gone or exchange.positions[0] in past
    newest = max(turn_starts([message.role for message in thread.messages]))
    assert not [at for at in gone if thread.messages[at].role == "system"]
    assert not [at for at in gone if at >= newest and thread.messages[at].role == "user"]
    rest = [message for at, message in enumerate(thread.messages) if at not in gone]
    for provider in PROVIDERS:
        if not violations(thread.messages, provider):
            assert not violations(rest, provider)


@from_file("locale", "text")
def test_the_stand_in_says_the_name_the_count_and_the_summary(locale: Any, text: str) -> None:
    """002-09, C17."""
    one = ClearedStep(Step('say "hi"', "磁盘已满", 2, 9), ((2, 3), (5, 5)))
    assert stand_in_text(one, locale=locale) == text
    assert one.seqs == (2, 3, 5)
    alone = ClearedStep(Step("look", "", 2, 2), ((2, 2),))
    assert stand_in_text(alone, locale="en") == '[step "look" is done; its 1 message is left out]'
    with pytest.raises(ConfigError, match="locale"):
        stand_in_text(alone, locale="fr")  # type: ignore[arg-type]
