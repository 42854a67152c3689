"""Which sentences go into a summary, and as what."""

from __future__ import annotations

import pytest
from hypothesis import given

from gatekeeper_core.context.history.rounds import Counts, summary_of
from gatekeeper_core.context.memory.summary_sentences import read_turns, sentence_weight, spoken_text
from gatekeeper_core.messages import Message, Turn, group_turns
from tests import loops
from tests.case_files import from_file

ANSWER = "Fine."


def sections(text: str, answer: str = ANSWER) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in read_turns([Turn.of(text, answer)], from_seq=0):
        found.setdefault(item.section, []).append(item.text)
    return found


@from_file("text")
def test_what_people_settle_is_a_decision(text: str) -> None:
    """004-30: important decisions."""
    assert sections(text)["decisions"] == [text]


@from_file("text")
def test_what_is_open_or_says_nothing_is_no_decision(text: str) -> None:
    assert "decisions" not in sections(text)


@from_file("text")
def test_what_the_user_likes_or_asks_for_once_and_for_all_is_a_preference(text: str) -> None:
    """004-30: user preferences."""
    assert sections(text)["preferences"] == [text]
    assert "preferences" not in sections("Hello there.", text)


@from_file("text")
def test_a_sentence_with_numbers_or_identifiers_is_a_technical_detail(text: str) -> None:
    """004-30: technical details, by the one anchor extractor."""
    assert sections("Hello there, how are you?", text)["details"] == [text]


@from_file("text")
def test_who_did_what_and_when_is_a_fact(text: str) -> None:
    assert sections("Hello there.", text)["facts"] == [text]


@from_file("text")
def test_greetings_small_talk_and_questions_are_no_facts(text: str) -> None:
    assert sections("Hello there.", text) == {}


def test_one_message_gives_a_few_facts_and_details_only() -> None:
    text = " ".join(
        f"I painted the {thing} in the harbour." for thing in ("lighthouse", "trawler", "warehouse", "crane")
    )
    assert [len(sections("Hello.", text)["facts"]), len(sections(text)["facts"])] == [2, 2]
    assert len(sections("Hello.", " ".join(f"Node {at} has port {at + 6000}." for at in range(30)))["details"]) == 2


def test_what_is_asked_for_is_no_detail() -> None:
    assert "details" not in sections("First of all, hello. Please recommend a hotel for 500 dollars.")
    assert "details" not in sections("Hello. Is 6380 the port?")


@from_file("turns")
def test_a_topic_is_named_by_the_question_that_opened_it(turns: list[tuple[str, str]]) -> None:
    """004-30: main topics."""
    talk = [Turn.of(*texts, start=2 * number) for number, texts in enumerate(turns)]
    topics = [item for item in read_turns(talk, from_seq=0) if item.section == "topics"]
    assert [(item.text, item.seqs) for item in topics] == [(turns[0][0], (0,)), (turns[1][0], (2,))]


@from_file("text", "opening")
def test_a_topic_is_named_by_what_tells_most_and_never_by_a_greeting(text: str, opening: str) -> None:
    """004-30: main topics say what they are about."""
    assert [item.text for item in read_turns([Turn.of(text, ANSWER)], from_seq=0) if item.section == "topics"] == [
        opening
    ]


def test_small_talk_opens_no_topic() -> None:
    turns = [Turn.of("Hi! How are you?", "Fine."), Turn.of("Does the Oslo ferry carry bicycles?", "It does.", start=2)]
    assert [item.seqs for item in read_turns(turns, from_seq=0) if item.section == "topics"] == [(2,)]
    assert read_turns(turns[:1], from_seq=0) == ()


def test_a_return_to_an_earlier_topic_opens_none() -> None:
    pairs = [
        ("Which port does the Redis cache listen on?", "The Redis cache listens on a port."),
        ("New topic: how long does sourdough proof?", "Sourdough proofs for long."),
        ("Back to the Redis cache: what is its port?", "The Redis cache has a port."),
    ]
    turns = [Turn.of(*texts, start=2 * number) for number, texts in enumerate(pairs)]
    assert [item.seqs for item in read_turns(turns, from_seq=0) if item.section == "topics"] == [(0,), (2,)]


def test_turns_before_the_new_ones_only_tell_the_topic() -> None:
    turns = [
        Turn.of("Which port does the Redis cache use?", "Redis uses port 6380."),
        Turn.of("Does the Redis cache use port 6380 inside, too?", "The Redis cache does.", start=2),
    ]
    assert [item.seqs for item in read_turns(turns, from_seq=0)] == [(0,), (1,)]
    assert read_turns(turns, from_seq=2) == ()


def test_the_assistant_decides_only_what_it_calls_settled() -> None:
    assert "decisions" not in sections("Hello there.", "Let's use Redis for the cache.")
    assert sections("Hello there.", "So it is settled: we agreed on Redis for the cache.")["decisions"]


def test_tools_system_messages_thinking_and_folded_rounds_say_nothing() -> None:
    secret = "We decided to use port 6666."
    messages = [
        loops.user("Hello there."),
        Message("system", secret),
        loops.calls("a", text="", arguments=f'"{secret}"'),
        loops.result("a", secret),
        Message("user", secret, metadata=summary_of(Counts(1, 1), "en").metadata),
        Message("assistant", f"<think>{secret}</think>Good."),
    ]
    assert [spoken_text(message) for message in messages] == ["Hello there.", "", "", "", "", "Good."]
    assert not any("6666" in item.text for item in read_turns(group_turns(messages), from_seq=0))


def test_code_blocks_list_marks_and_endless_sentences_are_left_out() -> None:
    texts = sections("Hello there.", "```\nport = 6380\n```\n- The port is 6380.\n" + "word 6380 " * 100)
    assert texts["details"] == ["The port is 6380."]


@given(loops.conversations())
def test_every_sentence_stands_in_a_message_of_a_person(messages: list[Message]) -> None:
    for item in read_turns(group_turns(messages), from_seq=0):
        (seq,) = item.seqs
        assert messages[seq].role == item.speaker
        assert item.text in messages[seq].text


@from_file("more", "less")
def test_what_is_rare_in_everyday_talk_tells_more(more: str, less: str) -> None:
    assert sentence_weight(more).score > sentence_weight(less).score


@from_file("text", "factor")
def test_who_whom_and_when_make_it_more(text: str, factor: float) -> None:
    assert sentence_weight(text).factor == pytest.approx(factor)


@from_file("text", "terms", "signs", "is_fact")
def test_a_fact_has_two_telling_terms_and_three_with_its_signs(
    text: str, terms: int, signs: int, is_fact: bool
) -> None:
    telling = sentence_weight(text)
    assert (len(telling.weights), telling.signs, telling.is_fact) == (terms, signs, is_fact)
