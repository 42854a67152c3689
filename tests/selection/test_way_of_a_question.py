"""The way of a question through a selection is short, and is the one that the page on architecture lists."""

from __future__ import annotations

import pytest

from gatekeeper_core import ContextGatekeeper
from tests.calls import Step, listed_calls, steps_of

QUESTION = "Back to service-3, flight 航班: which port was it?\nAnd which host does it run on?"
WORDS = {"anchors", "dates", "information", "lexicon", "speakers"}  # analysis of text
INDEX = {"blocks", "index"}  # the turns as they are stored


@pytest.fixture(scope="module")
def steps() -> list[Step]:
    """The calls between modules for a question that goes back to a long turn."""
    gatekeeper = ContextGatekeeper(400)
    for at in range(30):
        gatekeeper.add_turn(f"Which port does service-{at} use?", f"Port {6380 + at}. " * 60 + f"It runs on host {at}.")
    selections = []
    found = steps_of(lambda: selections.append(gatekeeper.explain(QUESTION)))
    (selection,) = selections
    assert any(turn.trimmed for turn in selection.turns)
    return found


def test_the_page_lists_the_calls_of_a_question_in_their_order(steps: list[Step]) -> None:
    listed = listed_calls("Path of a question")
    path = iter([(step.place, step.function) for step in steps])
    assert 10 < len(listed) <= 20
    assert [each for each in listed if each not in path] == []  # ``in`` goes on where the one before it was found


def test_a_question_makes_at_most_twenty_calls_between_stages(steps: list[Step]) -> None:
    """Each function counts once; not analysis of text, nor look-ups in the index."""
    apart = {f"selection/{module}.py" for module in WORDS | INDEX}
    between = {
        (step.place, step.function)
        for step in steps
        if step.rooms == ("selection", "selection") and step.place not in apart
    }
    assert 10 < len(between) <= 20, sorted(between)
