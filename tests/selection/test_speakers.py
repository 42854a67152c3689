"""Who speaks: names in front of messages, and what is no name."""

from __future__ import annotations

from gatekeeper_core import ContextGatekeeper, Message
from gatekeeper_core.messages import group_turns
from gatekeeper_core.selection.speakers import MIN_MESSAGES, Speakers, speaker_of
from tests.case_files import from_file

ANNA_AND_BEN = [("Anna: hi", "Ben: hello")] * MIN_MESSAGES


def speakers_of(turns: list[tuple[str, str]]) -> Speakers:
    speakers = Speakers()
    for user, assistant in turns:
        speakers.add(user, assistant)
    return speakers


@from_file("text", "name")
def test_a_name_opens_a_message(text: str, name: str) -> None:
    assert speaker_of(text) == name


@from_file("text")
def test_a_role_a_word_or_a_url_is_no_name(text: str) -> None:
    assert speaker_of(text) == ""


def test_a_name_counts_once_it_has_opened_three_messages() -> None:
    assert not speakers_of(ANNA_AND_BEN[:-1]).named({"anna"})
    assert speakers_of(ANNA_AND_BEN).named({"anna", "tea"}) == {"anna"}


def test_two_people_are_named_on_both_sides_of_most_turns() -> None:
    assert speakers_of(ANNA_AND_BEN).are_two_people()
    assert not speakers_of([*ANNA_AND_BEN, *[("hi", "hello")] * 3]).are_two_people()
    assert not speakers_of([("Anna: hi", "hello")] * 3).are_two_people()
    assert not speakers_of([("Anna: hi", "Anna: hello")] * 3).are_two_people()
    assert not speakers_of([]).are_two_people()


def test_a_message_carries_the_name_of_its_speaker_in_its_field() -> None:
    messages = [
        Message(role, text, name=name)
        for text in ("the raft leaks", "a raft?", "bread")
        for role, name in (("user", "Anna"), ("assistant", "Ben"))
    ]
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(group_turns(messages))
    score = gatekeeper.explain("What did Ben say about the raft?").decision(0).score
    assert score is not None
    assert 0.7 * score.lex_assistant > 1.5 * score.lex_user
