"""The messages of a thread made ready for a build: the question is there once, and what is past is small."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.prompt.request import make_request, needs_prompt, question_place
from gatekeeper_core.context.tool_results.context import ResultContext
from gatekeeper_core.messages import MediaPart, Message, TextPart, group_turns
from tests.context.prompt.test_exchanges import any_message
from tests.loops import assistant, calls, result, system, user

QUESTIONS = {"en": "Which port does Redis use?", "zh": "Redis 用的是哪个端口？", "mixed": "Redis 的 port 是多少？"}


@pytest.mark.parametrize("prompt", QUESTIONS.values())
def test_a_question_at_the_end_of_the_thread_is_there(prompt: str) -> None:
    """001-05, 001-34."""
    assert not needs_prompt(group_turns([user("hello"), assistant("hi"), user(prompt)]), prompt, included=False)
    assert not needs_prompt(group_turns([user(prompt.replace(" ", "\n "))]), prompt, included=False)


@pytest.mark.parametrize("prompt", QUESTIONS.values())
def test_a_question_is_there_at_every_step_of_a_tool_loop(prompt: str) -> None:
    """001-35 (a): a literal check of the last message adds it again after each result."""
    run = [user(prompt), calls("a"), result("a", "6380"), calls("b")]
    assert not any(needs_prompt(group_turns(run[:stop]), prompt, included=False) for stop in range(1, len(run) + 1))


@pytest.mark.parametrize("prompt", QUESTIONS.values())
def test_a_question_that_was_answered_is_asked_again(prompt: str) -> None:
    assert needs_prompt(group_turns([user(prompt), assistant("6380")]), prompt, included=False)
    assert needs_prompt(group_turns([]), prompt, included=False)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Please help me write a poem about cats", "Please help me write a poem about dogs"),
        ("请帮我把下面这一段很长的文字翻译成英文：你好，世界", "请帮我把下面这一段很长的文字翻译成英文：再见，世界"),
        ("请帮我写 a long letter to the bank, in English", "请帮我写 a long letter to the landlord"),
    ],
)
def test_two_questions_that_begin_alike_are_two(said: str, asked: str) -> None:
    """001-35 (d): a literal check of the first 20 characters takes the one for the other."""
    assert said[:20] == asked[:20]
    assert needs_prompt(group_turns([user(said)]), asked, included=False)


@pytest.mark.parametrize("prompt", QUESTIONS.values())
def test_a_question_that_the_caller_wrapped_or_cut_is_there(prompt: str) -> None:
    asked = f"{prompt} {prompt}"
    assert not needs_prompt(group_turns([user(f"[12:00] {asked} (from the app)")]), asked, included=False)
    assert not needs_prompt(group_turns([user(asked[:30])]), asked, included=False)


def test_a_short_question_is_not_found_inside_another() -> None:
    assert needs_prompt(group_turns([user("好的，请写诗")]), "好", included=False)


@pytest.mark.parametrize("prompt", QUESTIONS.values())
def test_a_question_that_the_caller_wants_added_is_added_once(prompt: str) -> None:
    """001-17, 001-33."""
    assert needs_prompt(group_turns([user("hello")]), prompt, included=True)
    assert needs_prompt(group_turns([user(prompt), calls("a"), result("a", "6380")]), prompt, included=True)
    assert not needs_prompt(group_turns([user(prompt)]), prompt, included=True)


@pytest.mark.parametrize("included", [True, False])
@pytest.mark.parametrize("prompt", ["", " \n"])
def test_an_empty_question_is_never_missing(prompt: str, included: bool) -> None:
    """001-74."""
    assert not needs_prompt(group_turns([user("hello")]), prompt, included=included)
    assert not needs_prompt(group_turns([]), prompt, included=included)


def test_past_results_are_compressed_and_those_of_the_current_run_stay() -> None:
    """001-58: a literal builder never does."""
    thread = [
        user("log?"),
        calls("a"),
        result("a", "x" * 900),
        assistant("long"),
        user("again?"),
        calls("b"),
        result("b", "y" * 900),
    ]

    def half(message: Message, context: ResultContext) -> str:
        return f"{context.tool_name}: {message.text[:10]}"

    request = make_request(thread, None, compress_result=half, token_counter=len)
    assert request.messages[2].text == "search: xxxxxxxxxx"
    assert request.changed == {2}
    assert request.start == 4
    assert request.seqs == tuple(range(7))


@pytest.mark.parametrize("text", ["word " * 400, "很长的一段话。" * 200, "混合 text。" * 250])
def test_a_long_past_message_is_cut_in_the_middle_and_the_question_is_not(text: str) -> None:
    """004-48."""
    request = make_request([user(text), assistant(text), user(text)], None, max_message_tokens=200, token_counter=len)
    assert [len(message.text) <= 200 for message in request.messages] == [True, True, False]
    assert request.messages[0].text.startswith(text[:50])
    assert request.messages[0].text.endswith(text[-20:])
    assert request.changed == {0, 1}


def test_what_something_else_stands_for_is_not_chosen_from() -> None:
    thread = [user("build it"), calls("a"), result("a", "ok"), assistant("done"), user("and now?")]
    request = make_request(thread, None, without={1, 2, 3}, token_counter=len)
    assert request.messages == (thread[0], thread[4])
    assert request.seqs == (0, 4)


def test_an_added_question_has_no_place_in_the_thread() -> None:
    request = make_request([user("hello"), assistant("hi")], user("port?"), token_counter=len)
    assert request.seqs == (0, 1, None)
    assert (request.start, request.asked, request.added) == (2, (2,), True)


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
        assert request.asked == (len(past),)


@pytest.mark.parametrize("thread", [[], [system("Be brief.")], [user("log?"), calls("a"), result("a")], [user("log?")]])
def test_a_question_that_the_thread_lacks_stands_at_the_end_where_another_one_waits(thread: list[Message]) -> None:
    assert question_place(thread) == len(thread)


def test_a_question_after_calls_without_a_result_closes_them() -> None:
    request = make_request([user("log?"), calls("a")], user("never mind"), token_counter=len)
    assert [message.role for message in request.messages] == ["user", "assistant", "tool", "user"]
    assert request.seqs == (0, 1, None, None)
    assert not request.waits


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
    assert request.asked == (3,)


def test_calls_at_the_end_wait() -> None:
    assert make_request([user("?"), calls("a", "b"), result("a", "1")], None, token_counter=len).waits
    assert not make_request([user("?"), calls("a"), result("a", "1")], None, token_counter=len).waits
    assert not make_request([], None, token_counter=len).waits


def test_media_stay() -> None:
    picture = Message("user", (TextPart("x" * 500), MediaPart("image")))
    request = make_request([picture, assistant("a"), user("b")], None, max_message_tokens=10, token_counter=len)
    assert request.messages[0] is picture


@given(st.lists(any_message(), max_size=10), st.booleans())
def test_every_message_of_the_thread_is_in_the_request_or_answers_nothing(thread: list[Message], ask: bool) -> None:
    request = make_request(thread, user("port?") if ask else None, token_counter=len)
    found = [seq for seq in request.seqs if seq is not None]
    assert len(set(found)) == len(found)
    assert all(thread[seq].role == "tool" for seq in set(range(len(thread))) - set(found))
    assert not ask or user("port?") in request.messages


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
    assert request.first_behind(upto_seq) == (behind[0] if behind else len(seqs))
    assert request.says_all(upto_seq) == (
        {*range(upto_seq + 1)} <= {seq for at, seq in seqs if at not in request.changed}
    )
