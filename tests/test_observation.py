"""How events reach observers and log handlers: nested, in order, lazily, and without a way to break a chat."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

import gatekeeper_core
from gatekeeper_core import ContextBuilder, ContextBuilderConfig, ContextGatekeeper, Message, Thread
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.events import GATE, Event
from gatekeeper_core.observation import Ended, add_observer, remove_observer, stage
from tests.observed import event_of, everything_told, facts_of
from tests.talks import TALKS


class Watching:
    """Notes what it sees, with the stages around it."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Mapping[str, Any]]] = []
        self.threads: dict[str, str | None] = {}
        self.paths: list[str] = []
        self._open = threading.local()

    def _stack(self) -> list[str]:
        stack: list[str] | None = getattr(self._open, "stack", None)
        if stack is None:
            stack = self._open.stack = []
        return stack

    def begun(self, stage: Event, thread: str | None, /) -> Ended:
        stack = self._stack()
        stack.append(stage.key)
        self.paths.append(" > ".join(stack))
        self.threads[stage.key] = thread

        def ended(facts: Mapping[str, Any]) -> None:
            assert stack.pop() == stage.key
            self.seen.append((stage.key, facts))

        return ended

    def happened(self, event: Event, facts: Mapping[str, Any], /) -> None:
        self.seen.append((event.key, facts))


class Broken:
    """Raises whatever it is told, with a text in the error."""

    def __init__(self, *, at_end: bool = False) -> None:
        self.at_end = at_end

    def begun(self, stage: Event, thread: str | None, /) -> Ended:
        if not self.at_end:
            self._fail({})
        return self._fail

    def happened(self, event: Event, facts: Mapping[str, Any], /) -> None:
        self._fail(facts)

    @staticmethod
    def _fail(facts: Mapping[str, Any]) -> NoReturn:
        raise LookupError("secret")


@pytest.fixture
def watching() -> Iterator[Watching]:
    observer = Watching()
    add_observer(observer)
    yield observer
    remove_observer(observer)


def test_where_nobody_listens_no_fact_is_worked_out() -> None:
    with stage(GATE) as seen:
        seen.tell(lambda: pytest.fail("worked out"))


def test_a_stage_that_raises_says_what_and_lets_it_pass(watching: Watching) -> None:
    with everything_told() as records, pytest.raises(LookupError), stage(GATE):
        raise LookupError("secret")
    assert watching.seen == [("selection.gate", {"outcome": "LookupError"})]
    assert [facts_of(record) for record in records] == [{"outcome": "LookupError"}]


@pytest.mark.parametrize("script", TALKS)
def test_a_selection_is_its_three_stages_in_order(script: str, watching: Watching) -> None:
    turns, question = TALKS[script]
    gatekeeper = ContextGatekeeper()
    for turn in turns:
        gatekeeper.add_turn(*turn)
    chosen = gatekeeper.select(question)
    inner = ["selection > selection.gate", "selection > selection.candidates", "selection > selection.cover"]
    assert watching.paths == ["selection", *inner]
    facts = dict(watching.seen)["selection"]
    assert (facts["turns_kept"], facts["turn_ids"]) == (len(chosen), [turn["turn_id"] for turn in chosen])


@pytest.mark.parametrize("script", TALKS)
def test_a_build_is_look_ups_and_assembly_with_the_selection_inside(script: str, watching: Watching) -> None:
    turns, question = TALKS[script]
    talk = [message for user, answer in turns * 9 for message in (Message("user", user), Message("assistant", answer))]
    built = ContextBuilder(ContextBuilderConfig(history=HistoryConfig(keep_newest=3, passthrough_below=0))).build(
        Thread("t1", talk), question, "Be brief."
    )
    assert "build > build.look_ups > summary" in watching.paths
    assert "build > build.assembly > history > history.past" in watching.paths
    assert watching.threads["build"] == "t1"
    assert dict(watching.seen)["build"] == {"outcome": "ok", **built.facts()}


@pytest.mark.parametrize("at_end", [False, True])
def test_an_observer_that_raises_stops_nothing_and_is_named(at_end: bool, watching: Watching) -> None:
    observer = Broken(at_end=at_end)
    add_observer(observer)
    try:
        with everything_told() as records, stage(GATE) as seen:
            seen.tell(lambda: {"decision": "continue", "reason": "overlap", "staying": 0.9, "link": 0.4, "topics": 1})
    finally:
        remove_observer(observer)
    failures = [record for record in records if event_of(record).key == "observer_failed"]
    assert [facts_of(record) for record in failures] == [{"error": "LookupError"}]
    assert "secret" not in str([vars(record) for record in records])
    assert [key for key, _ in watching.seen] == ["selection.gate"]


SCRIPT = """
from gatekeeper_core.events import MISS
from gatekeeper_core.observation import tell
tell(MISS, part="summary", status="late", reason="")
"""


@pytest.mark.parametrize(
    ("code", "output"),
    [
        (SCRIPT, ""),
        ("import sys; from gatekeeper_core import ContextGatekeeper; print('logging' in sys.modules)", "False\n"),
    ],
    ids=["a warning", "the selection"],
)
def test_a_program_that_set_up_no_logging_sees_and_imports_none(code: str, output: str) -> None:
    """C16: a warning without a handler would go to its standard error."""
    folder = Path(gatekeeper_core.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=True)
    assert (done.stdout, done.stderr) == (output, "")
