"""What a model is given to read, and whether what it writes is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gatekeeper_core.context.history.summarizer import PlainSummarizer, Summarizer
from gatekeeper_core.context.memory.summary_model import MAX_UNSUPPORTED, Draft, unsupported, write_draft
from gatekeeper_core.context.memory.summary_record import Summary, SummaryItem
from gatekeeper_core.messages import Message, is_summary
from gatekeeper_core.tokens import count_messages
from tests import loops
from tests.case_files import from_file

MESSAGES = [
    loops.system("Be brief."),
    loops.user("Which port does the cache use?"),
    loops.calls("a", text="Let me look."),
    loops.result("a", "secret token 998877"),
    loops.assistant("<think>Is it 1111?</think>It uses port 6380."),
    loops.user("用 Redis 吧。"),
    loops.assistant("好的。"),
]
SUMMARY = Summary(
    items=(SummaryItem("details", "It uses port 6380.", (4,), "assistant"),), upto_seq=6, covered_messages=6
)


def draft(summarizer: Summarizer | PlainSummarizer, summary: Summary = SUMMARY, **limits: int) -> Draft:
    given = {"max_tokens": 100, "max_input_tokens": 10_000, **limits}
    return write_draft(summarizer, MESSAGES, summary, counter=len, **given)


def test_a_model_reads_what_people_said_and_nothing_else() -> None:
    """004-13: what is covered is read once, with what was written before."""
    seen: list[Any] = []

    def summarize(messages: Sequence[Message], previous: str | None, max_tokens: int) -> str:
        seen.append(([(message.role, message.text) for message in messages], previous, max_tokens))
        return "The cache uses port 6380."

    assert draft(summarize) == Draft("The cache uses port 6380.")
    said = [
        ("user", "Which port does the cache use?"),
        ("assistant", "Let me look."),
        ("assistant", "It uses port 6380."),
        ("user", "用 Redis 吧。"),
        ("assistant", "好的。"),
    ]
    assert seen.pop() == (said, None, 100)
    draft(summarize, Summary(upto_seq=6, model_text="They ask for a port.", model_upto_seq=4))
    assert seen.pop() == (said[3:], "They ask for a port.", 100)
    draft(summarize, max_input_tokens=20)
    assert seen.pop() == (said[3:], "技术细节：\n- It uses port 6380.", 100)
    draft(summarize, max_input_tokens=2)
    assert seen.pop()[0] == [("assistant", "好的")]


def test_a_function_of_the_messages_alone_reads_the_earlier_summary_first() -> None:
    seen: list[Any] = []

    def summarize(messages: Sequence[Message]) -> str:
        seen.append([(message.text, is_summary(message)) for message in messages])
        return "They take Redis."

    before = Summary(upto_seq=6, model_text="They ask for a port.", model_upto_seq=4)
    assert draft(summarize, before) == Draft("They take Redis.")
    assert seen == [[("They ask for a port.", True), ("用 Redis 吧。", False), ("好的。", False)]]


def test_one_long_message_is_cut_to_what_a_model_may_read() -> None:
    """003-41: as many messages as fit are few, where one alone is too long."""
    seen: list[Sequence[Message]] = []

    def summarize(messages: Sequence[Message], previous: str | None, max_tokens: int) -> str:
        seen.append(messages)
        return "short"

    long = loops.user("磁盘满了，disk is full. " * 100)
    made = write_draft(summarize, [long], Summary(upto_seq=0), max_tokens=100, max_input_tokens=200, counter=len)
    assert made.text == "short"
    assert 150 < count_messages(seen[0], token_counter=len) <= 200


@pytest.mark.parametrize(
    ("text", "made_up"),
    [
        ("The cache uses port 6381.", ("6381",)),
        ("The token is 998877.", ("998877",)),
        ("缓存由王芳负责。", ("王芳",)),
        ("The port is 6380, says Pavel.", ("Pavel",)),
    ],
)
def test_what_nobody_said_is_refused(text: str, made_up: tuple[str, ...]) -> None:
    """004-60: numbers, identifiers and names come from what people said, not from tools, not from the model."""
    assert draft(lambda *_: text) == Draft("", "unsupported", made_up)


SAID = [
    "The cache listens on port 6380. Marta keeps the minutes in docs/minutes.md.",
    "我们决定用 Redis 7.2 做缓存，预算 10,000 元，李雷负责。发布定在 5月3日。",
]


@from_file("text", "made_up")
def test_what_nobody_said_is_found(text: str, made_up: list[str]) -> None:
    """004-60: numbers, identifiers and names of a model come from the source."""
    assert [*unsupported(text, SAID)] == made_up


@from_file("text")
def test_what_was_said_is_not_flagged(text: str) -> None:
    assert unsupported(text, SAID) == ()


def test_each_thing_is_named_once_and_the_list_is_bounded() -> None:
    assert unsupported("7777 and 7777", SAID) == ("7777",)
    assert len(unsupported(" ".join(str(number) for number in range(20_000, 30_000)), SAID)) == MAX_UNSUPPORTED
