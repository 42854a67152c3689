"""What is read as a request, what changes the goal, and what does neither."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.goals import extract_goal, read_request
from gatekeeper_core.text import code_fences
from tests.case_files import from_file
from tests.timing import assert_linear


@from_file("text", "goal")
def test_an_imperative_or_a_question_is_a_request_in_the_users_words(text: str, goal: str) -> None:
    """004-64: without what opens it and the thanks behind it."""
    assert extract_goal(text) == goal


@from_file("text")
def test_greetings_answers_and_statements_ask_for_nothing(text: str) -> None:
    """004-64."""
    assert extract_goal(text) is None


@from_file("text", "goal")
def test_a_goal_that_is_called_a_new_one_is_explicit(text: str, goal: str) -> None:
    """004-64."""
    asked = read_request(text)
    assert asked is not None
    assert (asked.text, asked.explicit, asked.correction) == (goal, True, False)


@from_file("text")
def test_a_change_of_a_detail_is_no_change_of_the_goal(text: str) -> None:
    """004-64."""
    asked = read_request(text)
    assert asked is not None
    assert not asked.explicit


@from_file("text")
def test_dropping_a_goal_without_a_new_one_asks_for_nothing(text: str) -> None:
    assert read_request(text) is None


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        *(("不对，我问的是端口怎么改？", (True, False)), ("No, I meant: which port is it on?", (True, False))),
        *(("你误会了，把 port 改回来", (True, False)), ("换个话题，酸面包要发酵多久？", (False, True))),
        ("New topic: how long does sourdough proof?", (False, True)),
    ],
)
def test_a_correction_and_a_change_of_topic_are_marked(text: str, signs: tuple[bool, bool]) -> None:
    """004-64."""
    asked = read_request(text)
    assert asked is not None
    assert (asked.correction, asked.switch, asked.explicit) == (*signs, False)


@from_file("quoted")
def test_what_is_quoted_or_stands_in_a_code_block_is_not_asked_for(quoted: str) -> None:
    """004-64: pasted text never sets a goal."""
    assert read_request(quoted) is None
    assert extract_goal(f"What does this mean?\n{quoted}") == "What does this mean?"


def test_of_a_long_message_both_ends_are_read() -> None:
    log = "2026-01-01 a line of the log\n" * 1000
    assert extract_goal(f"{log}\nExplain the error in line 7.") == "Explain the error in line 7."
    goal = extract_goal(f"Explain the error in line 7.\n{log}")
    assert goal is not None
    assert goal.startswith("Explain the error in line 7.")
    assert extract_goal(f"{log}\nExplain the error in line 7.\n{log}") is None


WORDINGS = (
    "write tests",
    "帮我写测试",
    "ok",
    "好的，",
    "New task: ",
    "先不做这个，",
    "```",
    "\n",
    "> ",
    "?",
    "。",
    "\u2028",
)
PIECES = st.lists(st.one_of(st.sampled_from(WORDINGS), st.text(max_size=12)), max_size=12).map("".join)


@given(PIECES)
def test_a_request_is_on_one_line_in_words_of_the_message(text: str) -> None:
    """004-64: nothing is made up."""
    asked = read_request(text)
    assert asked == read_request(text)
    if asked is not None:
        assert asked.text.split() == asked.text.split(" ")
        assert asked.text
        assert "".join(asked.text.split()) in "".join(without_quotes(text))


def without_quotes(text: str) -> list[str]:
    """Return all characters of a text that may stand in a request, white space aside, code blocks left out."""
    kept, at = [], 0
    for span in code_fences(text):
        kept.append(text[at : span.start])
        at = span.stop
    lines = "\n".join([*kept, text[at:]]).splitlines()
    return "".join(line for line in lines if not line.lstrip().startswith((">", "＞"))).split()


@pytest.mark.parametrize("piece", ["ok? ", "先不做这个，", "new task: ", "```\n", "> x\n", "请", "\n", "\"'", "why? "])
def test_a_long_message_takes_linear_time(piece: str) -> None:
    assert_linear(lambda times: partial(read_request, piece * times), small=12_500, large=200_000)


def test_a_message_that_is_no_text_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="text must be a str"):
        extract_goal(None)  # type: ignore[arg-type]
