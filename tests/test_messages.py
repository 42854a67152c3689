from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.messages import (
    BESIDE_RESULTS,
    OUR_MARKS,
    Conversation,
    MediaPart,
    Message,
    Provider,
    TextPart,
    ToolCall,
    Turn,
    common_beginning,
    conversation_locale,
    group_turns,
    is_answer,
    is_answered,
    last_turns,
    split_current_turn,
    validate_messages,
)
from gatekeeper_core.native.reading import read_messages
from tests.case_files import from_file, rows
from tests.loops import assistant, result, system, user

PROVIDERS: tuple[Provider, ...] = get_args(Provider)

each_provider = pytest.mark.parametrize("provider", PROVIDERS)

texts = st.text(st.characters())  # lone surrogates included


def calls(*ids: str, name: str = "search", arguments: str = "{}") -> Message:
    return Message("assistant", "", tool_calls=tuple(ToolCall(call_id, name, arguments) for call_id in ids))


# --- reading and writing


@from_file("part", "text", "kind")
def test_each_kind_of_part_is_read_as_text_or_as_media(part: Any, text: str | None, kind: Any) -> None:
    read = MediaPart(kind) if text is None else TextPart(text)
    assert Message.from_dict({"role": "user", "content": [part]}).content == (read,)


def test_the_text_of_a_message_joins_its_text_parts_and_leaves_image_data_out() -> None:
    """000-06, 003-31: text is taken out of the parts; image data is none."""
    url = {"url": "data:image/png;base64," + "A" * 200_000}
    content = [
        {"type": "text", "text": "看图"},
        {"type": "image_url", "image_url": url},
        {"type": "text", "text": "ok"},
    ]
    message = Message.from_dict({"role": "user", "content": content})
    assert message.text == "看图\nok"
    assert "AAAA" not in repr(message)


def test_a_dict_of_any_time_is_read_as_the_message_of_today() -> None:
    """Old roles, foreign metadata, arguments as an object, and a call that is only an id."""
    calling = [
        {"id": "c1", "function": {"name": "f", "arguments": '{ "b": 1 }'}},
        {"id": "c2", "function": {"name": None, "arguments": {"z": "城市", "a": [1, None]}}},
        {"id": "c3", "function": None},
    ]
    foreign = {"cost": 0.5, "labels": ["a"], "nothing": None, "source": "mail"}
    read = Message.from_dict({"role": "assistant", "content": None, "tool_calls": calling, "metadata": foreign})
    calls = ToolCall("c1", "f", '{ "b": 1 }'), ToolCall("c2", "", '{"z":"城市","a":[1,null]}'), ToolCall("c3", "", "")
    assert read == Message("assistant", "", tool_calls=calls, metadata={"source": "mail"})
    assert Message.from_dict({"role": "developer", "content": "x", "metadata": "free text"}) == system("x")
    assert Message.from_dict({"role": "user", "content": "x", "thinking": "only a model's is signed"}) == user("x")
    assert Message.from_dict({"role": "function", "content": "x", "name": "f"}).tool_call_id == "f"


def test_a_legacy_function_call_meets_its_result_by_the_name() -> None:
    messages = read_messages(
        [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": None, "function_call": {"name": "now", "arguments": "{}"}},
            {"role": "function", "name": "now", "content": "12:00"},
        ]
    )
    assert messages[1].tool_calls == (ToolCall("now", "now", "{}"),)
    assert validate_messages(messages, provider="openai") == ()


LOOP: dict[str, Any] = {}
LOOP["self"] = LOOP

UNWRITABLE = [
    [{"role": "assistant", "tool_calls": [{"function": {"arguments": arguments}}]}, '"tool_calls[0].arguments"']
    for arguments in ({"a": object()}, LOOP)
]
UNREADABLE = rows("messages", "what_cannot_be_read_is_refused_with_its_key_and_its_position")


@pytest.mark.parametrize(("data", "key"), [*UNREADABLE, *UNWRITABLE])
def test_what_cannot_be_read_is_refused_with_its_key_and_its_position(data: dict[str, Any], key: str) -> None:
    with pytest.raises(MessageFormatError) as caught:
        read_messages([{"role": "user", "content": "fine"}, data])
    assert caught.value.position == 1
    assert key in caught.value.reason
    assert str(caught.value).startswith("message 1: ")
    with pytest.raises(MessageFormatError) as caught:
        Message.from_dict(data)
    assert caught.value.position is None


optional_texts = st.none() | texts
tool_calls = st.builds(ToolCall, id=texts, name=texts, arguments=texts)
parts = st.builds(TextPart, texts) | st.builds(
    MediaPart, st.sampled_from(["image", "audio", "video", "document", "other"])
)
any_messages = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    texts | st.lists(parts, max_size=3).map(tuple),
    tool_calls=st.lists(tool_calls, max_size=3).map(tuple),
    tool_call_id=optional_texts,
    name=optional_texts,
    id=optional_texts,
    metadata=st.dictionaries(texts, texts | st.integers() | st.booleans(), max_size=2),
    created_at=st.none() | st.datetimes(timezones=st.none() | st.timezones()),
)


any_marks = st.dictionaries(st.sampled_from(sorted(OUR_MARKS)), texts | st.integers() | st.booleans(), max_size=2)
marked_messages = st.builds(
    lambda message, marks: replace(message, metadata={**message.metadata, **marks}), any_messages, any_marks
)


@given(marked_messages)
def test_a_message_survives_the_way_through_a_dict_and_through_json(message: Message) -> None:
    data = message.to_dict()
    assert Message.from_dict(data, trusted=True) == message
    assert Message.from_dict(json.loads(json.dumps(data)), trusted=True) == message


@given(marked_messages)
def test_what_a_client_says_of_a_message_sets_nothing(message: Message) -> None:
    read = Message.from_dict(message.to_dict())
    assert OUR_MARKS.isdisjoint(read.metadata)
    assert read.metadata.items() <= message.metadata.items()
    assert all(part.tokens is None for part in read.content if isinstance(part, MediaPart))


@given(any_messages)
def test_what_goes_to_a_provider_holds_no_field_of_ours(message: Message) -> None:
    data = message.to_dict(for_provider=True)
    assert data.keys() <= {"role", "content", "tool_calls", "tool_call_id", "name"}
    assert {**message.to_dict(), **data} == message.to_dict()
    assert Message.from_dict(data, trusted=True) == replace(message, id=None, metadata={}, created_at=None)


@from_file("written", "read")
def test_a_time_is_read_where_it_is_one(written: object, read: str | None) -> None:
    expected = datetime.fromisoformat(read) if read else None
    for value in (written, expected):
        message = Message.from_dict({"role": "user", "content": "x", "created_at": value})
        assert message.created_at == expected


def test_a_turn_was_written_when_its_first_message_with_a_time_was() -> None:
    noon = datetime(2024, 6, 3, 12)
    (turn,) = group_turns([user("x"), replace(assistant("y"), created_at=noon)])
    assert (turn.created_at, Turn.of("x", "y").created_at) == (noon, None)


def test_to_dict_gives_the_chat_format() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    assert calls("c1", name="f", arguments='{"a":1}').to_dict() == {
        "role": "assistant",
        "content": None,
        "tool_calls": [call],
    }
    assert user("").to_dict() == {"role": "user", "content": ""}
    assert result("c1", "结果").to_dict() == {"role": "tool", "content": "结果", "tool_call_id": "c1"}
    question = Message("user", (TextPart("看"), MediaPart("image")), name="ann")
    content = [{"type": "text", "text": "看"}, {"type": "image"}]
    assert question.to_dict() == {"role": "user", "content": content, "name": "ann"}


@pytest.mark.parametrize("wrong", [{"content": ("x",)}, {"tool_calls": ({"id": "a"},)}, {"metadata": {1: "x"}}])
def test_a_wrong_type_inside_an_argument_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=f"{next(iter(wrong))} must "):
        Message(**{"role": "assistant", "content": "", **wrong})


# --- turns


def test_what_the_assistant_did_is_part_of_the_turns_text_in_order() -> None:
    """000-06: texts, tool names, argument values and results; the messages themselves stay with the turn."""
    messages = (
        user("第一"),
        user("second"),
        assistant("看看"),
        calls(
            "c1", name="get_weather", arguments='{"city": "北京", "days": [3, {"unit": "C"}], "raw": true, "x": null}'
        ),
        result("c1", "sunny 晴"),
        system("never searched"),
        assistant("done"),
    )
    turn = Turn(messages, 0, len(messages))
    assert turn.user_text == "第一\nsecond"
    assert turn.assistant_text == "看看\nget_weather\n北京\n3\nC\ntrue\nsunny 晴\ndone"
    assert turn.messages == messages


@pytest.mark.parametrize(("length", "searched"), [(2_000, 2_000), (2_001, 2_001), (50_000, 2_001)])
def test_a_long_tool_result_is_searched_at_both_ends(length: int, searched: int) -> None:
    """000-06: the first and the last 1,000 characters, the whole up to 2,000."""
    text = "始" * 1_000 + "x" * (length - 2_000) + "终" * 1_000
    found = Turn((user(), calls("c", name=""), result("c", text)), 0, 3).assistant_text.removeprefix("{}")
    assert len(found) == searched
    assert found.startswith("始" * 1_000)
    assert found.endswith("终" * 1_000)
    assert "x" not in found


@from_file("arguments", "searched")
def test_hostile_arguments_are_searched_by_value_or_as_raw_text(arguments: str, searched: str) -> None:
    assert Turn((user(), calls("c", name="", arguments=arguments)), 0, 2).assistant_text == searched


def test_messages_before_the_first_user_message_belong_to_no_turn() -> None:
    messages = [
        system(),
        assistant("你好, I am Ann"),
        result("c"),
        assistant("ask me"),
        user("q"),
        assistant("a"),
        user("r"),
    ]
    first, second = group_turns(messages)
    assert first == Turn((user("q"), assistant("a")), 4, 6, preamble=(assistant("你好, I am Ann"), assistant("ask me")))
    assert second == Turn((user("r"),), 6, 7)
    assert first.assistant_text == "你好, I am Ann\nask me\na"


@given(st.lists(any_messages, max_size=12))
def test_turns_hold_every_message_from_the_first_user_message_on(messages: list[Message]) -> None:
    turns = group_turns(messages)
    first = next((at for at, message in enumerate(messages) if message.role == "user"), len(messages))
    assert [message for turn in turns for message in turn.messages] == messages[first:]
    for turn in turns:
        assert list(turn.messages) == messages[turn.start : turn.stop]
        assert turn.messages[0].role == "user"
        roles = [message.role for message in turn.messages]
        run = roles.index(next((role for role in roles if role != "user"), "user")) or len(roles)
        assert "user" not in roles[run:]


HISTORY = [
    system(),
    assistant("hi"),
    system("two"),
    user("老问题"),
    assistant("答案"),
    user("  why is it slow? "),
    assistant(""),
]


@pytest.mark.parametrize("query", ["  why is it slow? ", "why is it slow?", "\nwhy is it slow?\n", "is it slow"])
def test_the_last_turn_is_current_when_it_is_the_query_or_contains_it(query: str) -> None:
    conversation = split_current_turn(HISTORY, query=query)
    assert conversation == split_current_turn(HISTORY)
    assert (conversation.head, [turn.user_text for turn in conversation.past]) == ((0, 2), ["老问题"])
    assert conversation.current == Turn(tuple(HISTORY[5:]), 5, 7)


@pytest.mark.parametrize(
    "query", ["老问题", "why is it slow? 真的", "Why is it slow?", "low", "hy is it slow?", "", " \n"]
)
def test_a_query_that_is_not_in_the_last_turn_leaves_only_the_past(query: str) -> None:
    conversation = split_current_turn(HISTORY, query=query)
    assert conversation == Conversation((0, 2), group_turns(HISTORY), None)


# --- provider rules


def broken(messages: list[Message], provider: Provider, *, open_run: bool = False) -> list[tuple[int, str]]:
    return [(v.position, v.rule) for v in validate_messages(messages, provider=provider, open_run=open_run)]


LOST = "unanswered-tool-call"


def spoken(words: str) -> list[Message]:
    """Return messages: "s", "u", "a" by role, "cab" calls a and b, "ra" the result of a; "_" is an empty id."""
    kinds: dict[str, Callable[[str], Message]] = {
        "s": lambda _: system(),
        "u": lambda _: user(),
        "a": lambda _: assistant(),
        "c": lambda ids: calls(*(one.strip("_") for one in ids)),
        "r": lambda call_id: result(call_id or None),
    }
    return [kinds[word[0]](word[1:]) for word in words.split()]


@each_provider
@from_file("name", "words", "breaches")
def test_each_provider_has_its_order_rules(
    provider: Provider, name: str, words: str, breaches: list[list[tuple[int, str]]]
) -> None:
    """000-06: what is rebuilt from turns can be checked against the provider that is to read it.

    The breaches are those for openai and minimax, for anthropic, for gemini; one entry where all agree.
    """
    column = {"openai": 0, "minimax": 0, "anthropic": 1, "gemini": 2}[provider] % len(breaches)
    assert broken(spoken(words), provider) == [*map(tuple, breaches[column])], name


@each_provider
def test_calls_of_an_open_run_may_wait_for_their_results(provider: Provider) -> None:
    waiting = spoken("u cab ra")
    assert broken(waiting, provider) == broken([*waiting, assistant()], provider, open_run=True) == [(1, LOST)]
    assert broken(waiting, provider, open_run=True) == []


# --- a query inside the current turn


@from_file("text", "query")
def test_a_query_between_words_is_contained(text: str, query: str) -> None:
    current = split_current_turn([user("old"), assistant(), user(text)], query=query).current
    assert current is not None


@from_file("text", "query")
def test_a_query_inside_a_word_is_not_contained(text: str, query: str) -> None:
    assert split_current_turn([user("old"), assistant(), user(text)], query=query).current is None


@example("aa", "a a")
@given(st.text(st.sampled_from("ab 中.\ud800"), max_size=12), st.text(st.sampled_from("ab 中.\ud800"), max_size=12))
def test_a_query_with_white_space_around_it_is_always_contained(before: str, query: str) -> None:
    messages = [user(f"{before} {query}\n")]
    assert (split_current_turn(messages, query=query).current is None) == (not query.strip())


@from_file("thinking", "answer")
def test_what_the_model_thought_aloud_is_not_searched(thinking: str, answer: str) -> None:
    """000-50: thinking gives no anchors, in any message of a turn."""
    call = ToolCall("c1", "lookup", "{}")
    turn = Turn(
        (
            Message("user", "<think>which port?</think>"),
            Message("assistant", f"<think>\n{thinking}\n</think>", tool_calls=(call,)),
            Message("tool", "<think>6380</think>", tool_call_id="c1"),
            Message("assistant", f"<think>{thinking}</think>\n\n{answer}"),
        ),
        0,
        4,
    )
    assert turn.assistant_text == f"lookup\n<think>6380</think>\n{answer}"
    assert turn.user_text == "<think>which port?</think>"


@pytest.mark.parametrize("answer", ["端口是 6380。", "The port is 6380.", "用 6380 port。", ""])
def test_a_question_is_answered_by_what_the_assistant_says_without_a_call(answer: str) -> None:
    question, reply = Message("user", "哪个端口 port?"), Message("assistant", answer)
    calling = Message("assistant", answer, tool_calls=(ToolCall("c1", "look", "{}"),))
    result, note = Message("tool", "6380", tool_call_id="c1"), Message("system", "Be brief.")
    assert [is_answer(one) for one in (question, reply, calling, result, note)] == [False, True, False, False, False]
    answered = [[question, reply], [question, reply, note], [reply], [question, calling, result, reply]]
    waiting = [[], [note], [question], [reply, question, note], [question, calling], [question, calling, result]]
    assert all(map(is_answered, answered))
    assert not any(map(is_answered, waiting))


def test_the_language_of_a_conversation_is_that_of_its_first_question_with_a_word() -> None:
    """C17."""
    talk = [system("Be brief."), user("?!"), user("缓存的端口？"), assistant("6380"), user("And Redis?")]
    assert conversation_locale(talk, "Which port?") == "zh"
    assert conversation_locale(talk[:2], "哪个端口？") == "zh"
    assert conversation_locale(talk[4:], "哪个端口？") == conversation_locale([]) == "en"


@example([user("a"), result("c"), replace(user("b"), metadata={BESIDE_RESULTS: True})], 1)
@given(st.lists(marked_messages, max_size=12), st.integers(0, 5))
def test_the_last_turns_are_those_at_the_end_of_all_turns(messages: list[Message], count: int) -> None:
    turns = [turn._replace(preamble=()) for turn in group_turns(messages)]
    assert [turn._replace(preamble=()) for turn in last_turns(messages, count)] == turns[max(0, len(turns) - count) :]


@given(st.text("a中", max_size=9), st.text("a中", max_size=9), st.booleans())
def test_the_common_beginning_ends_at_the_first_difference(before: str, now: str, alike: bool) -> None:
    """Also of a list and a tuple."""
    expected = next((at for at, (one, other) in enumerate(zip(before, now, strict=False)) if one != other), None)
    expected = min(len(before), len(now)) if expected is None else expected
    assert common_beginning(list(before), list(now) if alike else tuple(now)) == expected
