"""What is extracted from a conversation: the user's own statements, word for word, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.extraction import extract, masked, read_clause
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.messages import Message, ToolCall
from tests.case_files import from_file


def thread_of(*texts: str) -> Thread:
    return Thread("t1", tuple(Message("user", text) for text in texts), user="ann")


def texts(text: str) -> list[str]:
    return [item.text for item in extract(thread_of(text)).found]


@from_file("text", "found")
def test_what_the_user_says_of_themselves_is_taken_word_for_word(text: str, found: list[str]) -> None:
    """004-23, 004-52: users do not curate; what is worth knowing is found by itself, in Chinese and English."""
    assert texts(text) == found


@from_file("text")
def test_what_is_asked_supposed_quoted_or_handed_over_is_not_taken(text: str) -> None:
    """004-23: what is never remembered."""
    assert extract(thread_of(text)).found == ()


def test_only_what_the_user_wrote_is_read() -> None:
    """004-23: nothing from the assistant, from tools, from the system, or made up in the user's place."""
    like = "I like tea. Remember that I live in Rome. 我住在上海。"
    thread = Thread(
        "t1",
        (
            Message("system", like),
            Message("assistant", like, tool_calls=(ToolCall("c1", "read", '{"text": "I like tea."}'),)),
            Message("tool", like, tool_call_id="c1"),
            Message("user", like, metadata={"synthetic": "summary"}),
        ),
        user="ann",
    )
    assert extract(thread) == ((), (), 0)


def test_an_item_says_where_it_stands_and_only_new_messages_are_read() -> None:
    """004-35: what came behind a sequence number."""
    thread = thread_of("I live in Rome.", "我喜欢喝茶。", "Well, I speak French.")
    everything = extract(thread).found
    assert [(item.seq, item.key) for item in everything] == [(0, "residence"), (1, "like:茶"), (2, None)]
    for item in everything:
        assert thread.messages[item.seq].text[item.start :][: len(item.text)] == item.text
    assert extract(thread, 1).found == everything[2:]
    assert extract(thread, -5).found == everything
    assert extract(thread, 9).found == ()


@from_file("text", "found", "category")
def test_what_the_user_asks_to_remember_is_taken(text: str, found: str, category: str) -> None:
    assert [(item.text, item.category) for item in extract(thread_of(text)).found] == [(found, category)]


@from_file("text")
def test_to_ask_whether_something_is_remembered_is_no_request(text: str) -> None:
    assert extract(thread_of(text)).found == ()


@from_file("text", "what")
def test_what_the_user_asks_to_forget_is_told_and_not_remembered(text: str, what: str) -> None:
    extraction = extract(thread_of(text))
    assert [item.text.removeprefix("that ") for item in extraction.forget] == [what.removeprefix("that ")]
    assert extraction.found == ()
    (item,) = extraction.forget
    assert text[item.start :][: len(item.text)] == item.text


@from_file("text")
def test_talk_of_forgetting_is_no_request(text: str) -> None:
    assert extract(thread_of(text)).forget == ()


@pytest.mark.parametrize(
    "text", ["My favourite password is hunter2.", "I like my API key abc.", "我喜欢的话", "我的工作是保管银行卡密码"]
)
def test_secrets_are_left_out_unless_asked_for(text: str) -> None:
    extraction = extract(thread_of(text))
    assert extraction.found == ()
    assert extraction.dropped == (0 if text == "我喜欢的话" else 1)


PHRASES = ("I like tea", "我住在上海", "if ", "remember that ", "忘掉", "。", ", ", "?", "\n", "> ", "<a>", "</a>")
pieces = st.sampled_from([*PHRASES, *('"', "“", "”", "`", "```")])


@given(st.lists(pieces, max_size=20).map("".join))
def test_every_item_is_a_span_whatever_stands_around_it(text: str) -> None:
    assert len(masked(text)) == len(text)
    extraction = extract(thread_of(text))
    for item in (*extraction.found, *extraction.forget):
        assert text[item.start :][: len(item.text)] == item.text != ""


@from_file("category", "clause")
def test_a_clause_says_something_of_its_category(category: str, clause: str) -> None:
    """004-33: preferences, facts, skills and the project, in Chinese and English."""
    topic = read_clause(clause)
    assert topic is not None
    assert topic[0] == category


@from_file("clause")
def test_a_clause_about_something_else_says_nothing(clause: str) -> None:
    assert read_clause(clause) is None


@from_file("first", "second")
def test_two_answers_to_one_question_have_one_key(first: str, second: str) -> None:
    """004-65: a contradiction is told by the key."""
    one, other = read_clause(first), read_clause(second)
    assert one is not None
    assert other is not None
    assert one[1] == other[1] is not None


@from_file("first", "second")
def test_answers_to_two_questions_have_two_keys(first: str, second: str) -> None:
    one, other = read_clause(first), read_clause(second)
    assert one is not None
    assert other is not None
    assert one[1] != other[1]
