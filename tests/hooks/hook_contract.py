"""The one contract of the hooks: an agent with a tool, driven through runs by the framework's own fake model.

A framework's test file inherits ``HookContract`` and gives ``play``, its door::

    class TestMyHook(HookContract):
        def play(self, runs: Sequence[Run], config: HistoryConfig) -> Played:
            hook = Recorded(MyHook(config))      # notes what the hook is given and gives back, and its view
            for run in runs:                     # one run of the agent each, on the framework's own stored history
                agent.run(run.question)          # the fake model: one call of the tool a result, then the answer
            return Played(requests, stored, hooked)

The fake model answers from ``run.steps`` alone, so that the door may be dumb: ``Call`` asks for the agent's one tool,
which takes ``number`` and returns ``call.result``; a text is the answer that ends the run. Ids of calls come from the
script where the framework lets the model choose them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from gatekeeper_core import HistoryConfig
from gatekeeper_core.token_estimate import TokenEstimator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_core import HistoryView


class Call(NamedTuple):
    """A call of the agent's tool, and what the tool returns."""

    number: int
    result: str

    @property
    def id(self) -> str:
        return f"call_{self.number}"


class Run(NamedTuple):
    """A run of the agent: the user's question, the calls of the tool, one a step, and the answer."""

    question: str
    calls: tuple[Call, ...]
    answer: str

    @property
    def steps(self) -> tuple[Call | str, ...]:
        return (*self.calls, self.answer)


class Line(NamedTuple):
    """A message as the model reads it: its text, the ids of the calls in it, and of the call that it answers."""

    role: str
    text: str
    calls: tuple[str, ...] = ()
    answers: str = ""


class Hooked(NamedTuple):
    """One call of the hook: the framework's messages that it was given, those that it gave back, and its view."""

    given: Sequence[object]
    returned: Sequence[object]
    view: HistoryView


class Played(NamedTuple):
    """Everything that runs left behind.

    Attributes:
        requests: what the fake model was sent, call by call.
        stored: the history as the framework stores it, after the last run.
        hooked: the calls of the hook, one for each request.
    """

    requests: Sequence[Sequence[Line]]
    stored: Sequence[Line]
    hooked: Sequence[Hooked]


BUDGET = 400
CONFIG = HistoryConfig(token_budget=BUDGET, passthrough_below=0, on_error="raise")
SHADOW = HistoryConfig(token_budget=BUDGET, passthrough_below=0, on_error="raise", shadow=True)
FILLER = "Sourdough rises overnight, 面包发酵一夜。"
SCRIPTS = {
    "english": ("Our Redis cache uses port 6380.", "Which port does our Redis cache use?"),
    "chinese": ("我们的缓存监听 6380 端口。", "我们的缓存监听哪个端口？"),
    "mixed": ("我们的 Redis cache 用 6380 端口。", "Redis cache 用哪个端口？"),
}


def three_runs(fact: str, question: str) -> list[Run]:
    return [
        Run(fact, (Call(1, "stored"),), "Noted."),
        Run("How is bread made?", (Call(2, FILLER * 8),), f"Slowly. {FILLER * 6}"),
        Run(question, (Call(3, "searched"), Call(4, "searched again")), "6380"),
    ]


def sent_texts(lines: Sequence[Line]) -> str:
    return "\n".join(line.text for line in lines)


def assert_pairs_are_whole(lines: Sequence[Line]) -> None:
    """Each call is answered before anybody else speaks, and nothing answers a call that was not sent."""
    waiting: set[str] = set()
    for line in lines:
        if line.answers:
            assert line.answers in waiting
            waiting.remove(line.answers)
        else:
            assert not waiting
            waiting = set(line.calls)
    assert not waiting


class HookContract:
    def play(self, runs: Sequence[Run], config: HistoryConfig) -> Played:
        raise NotImplementedError

    @pytest.mark.parametrize("script", SCRIPTS)
    def test_a_tool_loop_of_three_runs_gets_the_fact_and_no_filler(self, script: str) -> None:
        fact, question = SCRIPTS[script]
        played = self.play(three_runs(fact, question), CONFIG)
        assert len(played.requests) == len(played.hooked) == 7
        for request, hooked in zip(played.requests[4:], played.hooked[4:], strict=True):
            assert fact in sent_texts(request)
            assert FILLER not in sent_texts(request)
            assert hooked.view.left_out == (1,)
        for request, hooked in zip(played.requests, played.hooked, strict=True):
            assert_pairs_are_whole(request)
            assert hooked.view.tokens + hooked.view.fixed_tokens <= BUDGET
            assert TokenEstimator()(sent_texts(request)) <= BUDGET

    def test_what_is_sent_unchanged_is_the_frameworks_own_object(self) -> None:
        played = self.play(three_runs(*SCRIPTS["english"]), CONFIG)
        for hooked in played.hooked:
            own = {id(message) for message in hooked.given}
            assert not hooked.view.replaced
            assert all(id(message) in own for message in hooked.returned)
        assert len(played.hooked[-1].returned) < len(played.hooked[-1].given)

    def test_the_framework_stores_everything(self) -> None:
        runs = three_runs(*SCRIPTS["mixed"])
        stored = sent_texts(self.play(runs, CONFIG).stored)
        for run in runs:
            assert run.question in stored
            assert run.answer in stored
            assert all(call.result in stored for call in run.calls)

    def test_in_shadow_mode_everything_is_sent(self) -> None:
        played = self.play(three_runs(*SCRIPTS["english"]), SHADOW)
        assert [*played.requests[-1], Line("assistant", "6380")] == [*played.stored]
        assert played.hooked[-1].view.left_out

    def test_the_same_runs_send_the_same_requests(self) -> None:
        runs = three_runs(*SCRIPTS["chinese"])
        assert self.play(runs, CONFIG).requests == self.play(runs, CONFIG).requests

    def test_a_run_over_the_budget_gives_way_and_its_pairs_stay_whole(self) -> None:
        calls = tuple(Call(number, f"File {number}: {FILLER * 4}") for number in range(1, 13))
        played = self.play([Run("Read all files about bread, please.", calls, "Done.")], CONFIG)
        assert TokenEstimator()(sent_texts(played.stored)) > BUDGET
        for request in played.requests:
            assert_pairs_are_whole(request)
            assert "Read all files" in sent_texts(request)
            assert TokenEstimator()(sent_texts(request)) <= BUDGET
        assert calls[-1].result in sent_texts(played.requests[-1])
        assert any(hooked.view.folded for hooked in played.hooked)


def recorded(hooked: list[Hooked], given: Sequence[object], returned: Sequence[object], view: Any) -> None:
    """Add a call of a hook, with lists of its own."""
    hooked.append(Hooked([*given], [*returned], view))
