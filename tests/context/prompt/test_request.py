"""The messages of a thread made ready for a build: the question is there once, and what is past is small."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.prompt.request import make_request, needs_prompt, question_place
from gatekeeper_core.messages import MediaPart, Message, TextPart, group_turns
from tests.context.prompt.test_exchanges import any_message
from tests.loops import assistant, calls, result, system, user

QUESTIONS = {"en": "Which port does Redis use?", "zh": "Redis 用的是哪个端口？", "mixed": "Redis 的 port 是多少？"}


@pytest.mark.parametrize("prompt", QUESTIONS.values())
def test_a_question_is_there_where_the_open_turn_says_it(prompt: str) -> None:
    """001-05, 001-34, 001-35: spaced otherwise, inside other words, or cut; but a short one inside another is not."""
    long = f"{prompt} {prompt}"
    for said, asked in (
        (prompt.replace(" ", "\n "), prompt),
        (f"[12:00] {long} (from the app)", long),
        (long[:30], long),
    ):
        assert not needs_prompt(group_turns([user("hello"), assistant("hi"), user(said)]), asked, included=False)
        assert needs_prompt(group_turns([user(said), assistant("6380")]), asked, included=False)
    assert needs_prompt(group_turns([user(f"好的{prompt}")]), "好", included=False)


@pytest.mark.parametrize("text", ["word " * 400, "很长的一段话。" * 200, "混合 text。" * 250])
def test_a_long_past_message_is_cut_in_the_middle_and_the_question_is_not(text: str) -> None:
    """004-48."""
    request = make_request([user(text), assistant(text), user(text)], None, max_message_tokens=200, token_counter=len)
    assert [len(message.text) <= 200 for message in request.messages] == [True, True, False]
    assert request.messages[0].text.startswith(text[:50])
    assert request.messages[0].text.endswith(text[-20:])
    assert request.changed == {0, 1}


@pytest.mark.parametrize("prompt", QUESTIONS.values())
def test_a_question_that_the_thread_lacks_stands_before_the_steps_that_answer_it(prompt: str) -> None:
    """001-34: at each step in the same place."""
    past = [user("hello"), calls("x"), result("x"), assistant("hi"), system("Be brief.")]
    run = [calls("a", "b"), result("a"), result("b"), system("Now it is noon."), calls("c")]
    for stop in range(len(run) + 1):
        thread = [*past, *run[:stop]]
        request = make_request(thread, user(prompt), token_counter=len)
        assert request.messages[: len(past) + 1] == (*past, user(prompt))
        assert request.seqs[len(past)] is None
        assert request.query == (len(past),)


@pytest.mark.parametrize("thread", [[], [system("Be brief.")], [user("log?"), calls("a"), result("a")], [user("log?")]])
def test_a_question_that_the_thread_lacks_stands_at_the_end_where_another_one_waits(thread: list[Message]) -> None:
    assert question_place(thread) == len(thread)


def test_a_question_after_calls_without_a_result_closes_them() -> None:
    request = make_request([user("log?"), calls("a")], user("never mind"), token_counter=len)
    assert [message.role for message in request.messages] == ["user", "assistant", "tool", "user"]
    assert request.seqs == (0, 1, None, None)
    assert not request.has_open_calls


def test_the_head_is_what_the_system_says_before_the_user() -> None:
    thread = [
        Message("system", "rules"),
        assistant("welcome"),
        Message("system", "more"),
        user("hi"),
        Message("system", "late"),
    ]
    request = make_request(thread, None, token_counter=len)
    assert request.head == (0, 2)
    assert request.query == (3,)


def test_media_stay() -> None:
    picture = Message("user", (TextPart("x" * 500), MediaPart("image")))
    request = make_request([picture, assistant("a"), user("b")], None, max_message_tokens=10, token_counter=len)
    assert request.messages[0] is picture


cases = st.tuples(st.lists(any_message(), max_size=10), st.sampled_from([None, *QUESTIONS.values()]))


@given(cases, st.sets(st.integers(0, 9), max_size=2), st.integers(-1, 10))
def test_a_request_tells_what_of_the_thread_is_in_it(
    case: tuple[list[Message], str | None], without: set[int], upto_seq: int
) -> None:
    thread, asked = case
    request = make_request(
        thread,
        user(asked) if asked else None,
        without=without,
        compress_result=lambda message, _: message.text[:2],
        token_counter=len,
    )
    seqs = list(enumerate(request.seqs))
    behind = [at for at, seq in seqs if seq is None or seq > upto_seq]
    assert request.first_after(upto_seq) == (behind[0] if behind else len(seqs))
    assert request.contains(upto_seq) == (
        {*range(upto_seq + 1)} <= {seq for at, seq in seqs if at not in request.changed}
    )
