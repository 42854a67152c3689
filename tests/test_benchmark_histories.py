"""The benchmarks of histories and of long answers count what is sent, and the same from the same seed."""

from __future__ import annotations

import pytest

from benchmarks.data import Block
from benchmarks.histories import measured as measured_questions
from benchmarks.talks import Question, Talk
from gatekeeper_core.tokens import estimate_text_tokens

LONG = "The meeting was long. We went over the budget. Lunch was noodles. " * 90
BLOCKS = (
    Block(("0",), "Note the facts of the move.", f"{LONG}The door code is 7719. {LONG}"),
    Block(("1",), "How long does sourdough proof?", "Five hours at 26 degrees."),
)
QUESTION = Question(2, "What was the door code?", "return_plain", ((0,),))
TALKS = [Talk("en-01", "en", BLOCKS, (QUESTION,))]


def test_a_history_sends_less_when_it_is_cut_and_everything_below_a_size() -> None:
    full = measured_questions(TALKS, estimate_text_tokens, trim=False)
    cut = measured_questions(TALKS, estimate_text_tokens)
    everything = measured_questions(TALKS, estimate_text_tokens, passthrough_below=10_000)
    assert (full["hit"], full["info"], cut["hit"]) == (100.0,) * 3
    assert cut["info"] == pytest.approx(10 * (100 * cut["tokens"] / full["tokens"]) ** 0.5)
    assert 5 * cut["tokens"] < full["tokens"] <= everything["tokens"]
