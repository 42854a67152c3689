"""From a conversation to memory: once, by rules or by a model whose words are checked."""

from __future__ import annotations

import logging
from itertools import repeat
from typing import Any

import pytest

from gatekeeper_core.context.memory.extraction import Extracted
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.memory.update import EXTRACTION_KIND, remember_thread
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import DerivedRecord, MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests.case_files import from_file

ANN = MemoryScope("default", "ann")


def thread_of(*texts: str, user: str | None = "ann", thread_id: str = "t1") -> Thread:
    return Thread(thread_id, tuple(Message("user", text) for text in texts), user=user)


def texts_of(memory: LongTermMemory) -> list[str]:
    return sorted(each.text for each in memory.newest(ANN))


def test_a_conversation_is_read_once_and_then_from_where_it_was_left() -> None:
    """004-23, 004-35, 004-55: caught up from the newest message that was read, and kept with where it came from."""
    memory, records = LongTermMemory(InMemoryStore()), InMemoryStore()
    first = remember_thread(memory, thread_of("I live in Paris."), records)
    assert [(each.text, each.thread, each.seq) for each in first.memories] == [("I live in Paris", "t1", 0)]
    assert (first.status, first.upto_seq, first.dropped) == ("rules", 0, 0)
    assert remember_thread(memory, thread_of("I live in Paris."), records).status == "nothing_new"
    second = remember_thread(memory, thread_of("I live in Paris.", "我喜欢喝茶。", "I've moved to Rome."), records)
    assert [each.text for each in second.memories] == ["我喜欢喝茶", "I've moved to Rome"]
    assert texts_of(memory) == ["I've moved to Rome", "我喜欢喝茶"]
    record = records.load_record("default", "t1", EXTRACTION_KIND)
    assert record == DerivedRecord("{}", 2, 2)
    memory.forget(ANN)
    remember_thread(memory, thread_of("I live in Paris.", "我喜欢喝茶。", "I've moved to Rome."), records)
    assert texts_of(memory) == [], "what was forgotten is not read again"


@from_file("before", "request_", "remaining")
def test_what_the_user_asks_to_forget_is_deleted(before: list[str], request_: str, remaining: list[str]) -> None:
    memory = LongTermMemory(InMemoryStore())
    done = remember_thread(memory, thread_of(*before, request_), InMemoryStore())
    assert texts_of(memory) == remaining
    assert sorted(each.text for each in done.memories) == remaining
    assert len(done.forgotten) == len(before) - len(remaining)


@pytest.mark.parametrize("extractor", [None, lambda *_: repeat(Extracted("My address is 7 Oak Road", "fact", seq=2))])
def test_what_is_said_after_a_request_to_forget_is_remembered(extractor: Any) -> None:
    """Requests are read beside a model too, and one that never stops is cut off."""
    memory = LongTermMemory(InMemoryStore())
    memory.add(ANN, "My address is 5 Elm Street", category="fact")
    thread = thread_of("Well.", "Forget my address.", "My address is 7 Oak Road.")
    remember_thread(memory, thread, InMemoryStore(), extractor=extractor)
    assert texts_of(memory) == ["My address is 7 Oak Road"]


def test_a_conversation_of_nobody_is_not_read() -> None:
    records = InMemoryStore()
    done = remember_thread(LongTermMemory(InMemoryStore()), thread_of("I like tea.", user=None), records)
    assert done == ((), (), 0, -1, "nothing_new", None)
    assert records.load_record("default", "t1", EXTRACTION_KIND) is None


# --- a model ---------------------------------------------------------------------------------------------------------


def test_what_a_model_gives_is_kept_where_the_user_said_it() -> None:
    """004-23, C7: only what the user's messages support; the rest is dropped and counted."""

    def model(thread: Thread, after_seq: int) -> list[Any]:
        return [
            Extracted("User loves green tea", "user_preference", "drink"),
            Extracted("User owns a yacht", "fact"),
            Extracted("用户住在上海", "fact", seq=1),
            Extracted("用户住在北京", "fact", seq=1),
            Extracted("I love green tea", "hobby"),  # type: ignore[arg-type]
            Extracted("I love green tea", "fact", seq=7),
            "I love green tea",
            None,
        ]

    memory = LongTermMemory(InMemoryStore())
    done = remember_thread(memory, thread_of("I love green tea!", "我住在上海。"), InMemoryStore(), extractor=model)
    assert texts_of(memory) == ["User loves green tea", "用户住在上海"]
    assert (done.status, done.dropped, done.reason) == ("model", 6, None)
    assert [each.seq for each in done.memories] == [1, 1]


@pytest.mark.parametrize("given", [None, 7])
def test_a_model_that_fails_leaves_the_rules(given: Any, caplog: pytest.LogCaptureFixture) -> None:
    """C7: a model that raises or gives nonsense never raises here; the rules are read."""
    memory = LongTermMemory(InMemoryStore())
    with caplog.at_level(logging.WARNING, "gatekeeper.memory"):
        done = remember_thread(memory, thread_of("I like tea."), InMemoryStore(), extractor=lambda *_: given)
    assert (done.status, done.reason, texts_of(memory)) == ("fallback", "error: TypeError", ["I like tea"])
    assert "like" not in caplog.text
