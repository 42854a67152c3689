"""The benchmarks of histories and of long answers count what is sent, and the same from the same seed."""

from __future__ import annotations

import pytest

from benchmarks.data import Block
from benchmarks.histories import measured as measured_questions
from benchmarks.long_answers import SENTENCES, TURNS, long_talks, measured, through_history
from benchmarks.talks import Question, Talk
from gatekeeper_core import GatekeeperConfig
from gatekeeper_core.messages import group_turns
from gatekeeper_core.text import sentences
from gatekeeper_core.tokens import estimate_text_tokens

LONG = "The meeting was long. We went over the budget. Lunch was noodles. " * 90
BLOCKS = (
    Block(("0",), "Note the facts of the move.", f"{LONG}The door code is 7719. {LONG}"),
    Block(("1",), "How long does sourdough proof?", "Five hours at 26 degrees."),
)
QUESTION = Question(2, "What was the door code?", "return_plain", ((0,),))
TALKS = [Talk("en-01", "en", BLOCKS, (QUESTION,))]


@pytest.mark.parametrize("talk", long_talks(6), ids=lambda talk: talk.language)
def test_each_answer_has_thirty_sentences_and_one_of_them_is_needed(talk: object) -> None:
    turns = group_turns(talk.messages)  # type: ignore[attr-defined]
    assert len(turns) == TURNS + 1
    assert {len(sentences(turn.assistant_text)) for turn in turns[:-1]} == {SENTENCES}
    assert [talk.fact in turn.assistant_text for turn in turns].index(True) == talk.needed < TURNS - 1  # type: ignore[attr-defined]


def test_what_a_door_sends_is_counted() -> None:
    talks = long_talks(3)
    row = measured(talks, through_history, estimate_text_tokens, gatekeeper=GatekeeperConfig())
    assert (row["talks"], row["needed"], row["sentence"]) == (3, 3, 3)
    assert row["turns"] >= 1
    assert measured(talks, lambda *_, **__: [], estimate_text_tokens, gatekeeper=GatekeeperConfig())["tokens"] == 0


def test_a_history_sends_less_when_it_is_cut_and_everything_below_a_size() -> None:
    full = measured_questions(TALKS, estimate_text_tokens, trim=False)
    cut = measured_questions(TALKS, estimate_text_tokens)
    everything = measured_questions(TALKS, estimate_text_tokens, passthrough_below=10_000)
    assert (full["hit"], full["info"], cut["hit"]) == (100.0,) * 3
    assert cut["info"] == pytest.approx(10 * (100 * cut["tokens"] / full["tokens"]) ** 0.5)
    assert 5 * cut["tokens"] < full["tokens"] <= everything["tokens"]
