"""Long-term memory: added once, merged, superseded, reworded, forgotten; never shared between two users."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.embedding import embedding_mark
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.storage.base import EarlierText, MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests.case_files import from_file

if TYPE_CHECKING:
    from collections.abc import Callable

ANN, BOB = MemoryScope("default", "ann"), MemoryScope("default", "bob")

texts = st.text(min_size=1, max_size=60).filter(str.strip)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


class CountingEmbedder:
    name: str | None = None

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Any) -> list[list[float]]:
        self.texts += texts
        return [[float(len(text)), 1.0] for text in texts]


def current(memory: LongTermMemory, scope: MemoryScope = ANN) -> list[str]:
    return sorted(each.text for each in memory.newest(scope))


@given(texts, st.sampled_from([None, "k"]))
def test_a_text_that_is_added_twice_is_there_once(text: str, key: str | None) -> None:
    """004-23: what is known already stays as it is."""
    memory = LongTermMemory(InMemoryStore(), clock=Clock())
    first = memory.add(ANN, text, category="fact", key=key)
    assert memory.add(ANN, text, category="fact", key=key) == first
    assert current(memory) == [text]


@given(texts, texts)
def test_nothing_crosses_from_one_user_to_another(mine: str, theirs: str) -> None:
    """004-16: a memory belongs to a user of a tenant, across conversations."""
    memory = LongTermMemory(InMemoryStore())
    fact = memory.add(ANN, mine, category="fact", thread="t1")
    for scope in (BOB, MemoryScope("other", "ann")):
        assert not memory.search(scope, mine, min_similarity=0)
        memory.add(scope, theirs, category="fact")
        assert memory.forget(scope) == 1
    assert memory.get(ANN, fact.id).text == mine


@from_file("first", "second")
def test_two_ways_to_put_one_thing_are_merged_and_the_newest_wins(first: str, second: str) -> None:
    """004-23, 004-63: much alike and of one category: one memory, with the earlier text kept."""
    memory = LongTermMemory(InMemoryStore(), clock=Clock())
    old = memory.add(ANN, first, category="fact", thread="t1", seq=3)
    new = memory.add(ANN, second, category="fact", thread="t2", seq=0)
    assert current(memory) == [second]
    assert (new.id, new.text, new.thread, new.seq) == (old.id, second, "t2", 0)
    assert new.earlier == (EarlierText(first, old.valid_from, "t1", 3),)


@from_file("first", "second")
def test_other_numbers_and_other_things_stay_apart(first: str, second: str) -> None:
    memory = LongTermMemory(InMemoryStore())
    memory.add(ANN, first, category="fact")
    memory.add(ANN, second, category="fact")
    assert current(memory) == sorted([first, second])


@from_file("first", "second")
def test_of_one_key_the_newest_takes_the_place_of_the_older(first: str, second: str) -> None:
    """004-65: superseded, closed, linked both ways, and still there to read."""
    clock = Clock()
    memory = LongTermMemory(InMemoryStore(), clock=clock)
    old = memory.add(ANN, first, category="fact", key="residence")
    new = memory.add(ANN, second, category="fact", key="residence")
    assert current(memory) == [second]
    assert new.supersedes == old.id != new.id
    closed = memory.get(ANN, old.id)
    assert (closed.superseded_by, closed.valid_to, closed.text) == (new.id, new.valid_from, first)
    assert [each.text for each in memory.history(ANN, new.id)] == [second, first]
    back = memory.add(ANN, first, category="fact", key="residence")
    assert [each.text for each in memory.history(ANN, back.id)] == [first, second, first]
    assert len({old.id, new.id, back.id}) == 3
    with pytest.raises(ConfigError, match=back.id):
        memory.update(ANN, new.id, "I live in Oslo")


def test_an_earlier_message_changes_nothing_that_a_later_one_said() -> None:
    memory = LongTermMemory(InMemoryStore())
    newest = memory.add(ANN, "I live in Rome", category="fact", key="residence", thread="t1", seq=9)
    assert memory.add(ANN, "I live in Paris", category="fact", key="residence", thread="t1", seq=3) == newest
    assert current(memory) == ["I live in Rome"]
    memory.add(ANN, "I live in Oslo", category="fact", key="residence", thread="t2", seq=3)
    assert current(memory) == ["I live in Oslo"]


def test_what_has_expired_is_not_found_and_can_be_said_again() -> None:
    """004-65: a memory may hold until a time."""
    clock = Clock()
    memory = LongTermMemory(InMemoryStore(), clock=clock)
    memory.add(ANN, "the staging server is down", category="fact", valid_to=10.0)
    assert memory.search(ANN, "staging server")
    clock.now = 10.0
    assert not memory.search(ANN, "staging server")
    memory.add(ANN, "the staging server is down", category="fact", valid_to=30.0)
    assert memory.search(ANN, "staging server")


@pytest.mark.parametrize(("valid_to", "closed_at"), [(None, 2.0), (99.0, 2.0), (1.5, 1.5)])
def test_what_takes_the_place_of_a_memory_never_makes_it_hold_longer(valid_to: float | None, closed_at: float) -> None:
    memory = LongTermMemory(InMemoryStore(), clock=iter([1.0, 2.0, 2.0, 2.0]).__next__)
    old = memory.add(ANN, "我住在巴黎", category="fact", key="residence", valid_to=valid_to)
    memory.add(ANN, "I live in Rome", category="fact", key="residence")
    assert memory.get(ANN, old.id).valid_to == closed_at


def test_an_update_keeps_the_id_and_the_earlier_text() -> None:
    memory = LongTermMemory(InMemoryStore(), clock=Clock())
    fact = memory.add(ANN, "text 0", category="fact", key="k")
    for n in range(1, 25):
        fact = memory.update(ANN, fact.id, f"text {n}", thread="t", seq=n)
    assert (fact.text, fact.key, fact.version) == ("text 24", "k", 25)
    assert [each.text for each in fact.earlier] == [f"text {n}" for n in range(4, 24)]
    assert memory.update(ANN, fact.id, "text 24") == fact
    assert memory.search(ANN, "text 24")[0].memory == fact
    with pytest.raises(KeyError):
        memory.update(ANN, "nothing", "text")


def test_what_is_forgotten_is_gone_with_all_its_versions() -> None:
    memory = LongTermMemory(InMemoryStore())
    memory.add(ANN, "I keep a cat", category="fact")
    cities = [
        memory.add(ANN, f"I live in {city}", category="fact", key="residence") for city in ("Paris", "Rome", "Oslo")
    ]
    assert memory.forget(ANN, cities[1].id) == 3
    assert current(memory) == ["I keep a cat"]
    for each in cities:
        with pytest.raises(KeyError):
            memory.get(ANN, each.id)
    assert memory.forget(ANN, cities[0].id) == 0
    assert memory.forget(ANN) == 1
    assert current(memory) == []


# --- embeddings ------------------------------------------------------------------------------------------------------


def test_a_text_is_embedded_again_only_when_it_changes() -> None:
    """004-18: a vector is made when a text is new or has changed, and at no other time."""
    store, embedder = InMemoryStore(), CountingEmbedder()
    memory = LongTermMemory(store, embedder=embedder)
    fact = memory.add(ANN, "I live in Paris", category="fact", key="residence")
    memory.add(ANN, "I live in Paris", category="fact", key="residence")
    assert memory.add(ANN, "keeps a cat", category="fact").key is None
    assert memory.add(ANN, "keeps a cat", category="fact", key="pet").key == "pet"
    assert embedder.texts == ["I live in Paris", "keeps a cat"]
    embedder.texts.clear()
    memory.update(ANN, fact.id, "I live in Lyon")
    memory.add(ANN, "I live in Rome", category="fact", key="residence")
    assert embedder.texts == ["I live in Lyon", "I live in Rome"]
    record = store.get_memory(ANN, fact.id)
    assert record is not None
    assert record.vector_of == embedding_mark("I live in Lyon", "")


def test_a_failed_embedding_is_made_up_for() -> None:
    """004-18, 004-66: nothing raises, the memory is there, and its vector is made when the model is back."""
    store, embedder = InMemoryStore(), CountingEmbedder()
    LongTermMemory(store, embedder=lambda texts: []).add(ANN, "likes tea", category="fact")
    memory = LongTermMemory(store, embedder=embedder)
    assert memory.search(ANN, "tea").status == "fallback"
    assert memory.embed_missing(ANN) == 1
    assert memory.search(ANN, "tea").status == "dense"
    assert memory.embed_missing(ANN) == 0
    embedder.name = "e5"
    renamed = LongTermMemory(store, embedder=embedder)
    assert renamed.embed_missing(ANN) == 1
    assert LongTermMemory(store).embed_missing(ANN) == 0
    assert LongTermMemory(store, embedder=lambda texts: []).embed_missing(ANN) == 0


def test_a_failing_embedder_is_logged_once_without_any_text(caplog: pytest.LogCaptureFixture) -> None:
    memory = LongTermMemory(InMemoryStore(), embedder=lambda texts: [])
    with caplog.at_level(logging.WARNING, "gatekeeper.memory"):
        for n in range(3):
            memory.add(ANN, f"secret {n}", category="fact")
            memory.search(ANN, "secret")
    assert [record.gatekeeper_reason for record in caplog.records] == ["wrong_count"]  # type: ignore[attr-defined]
    assert "secret" not in caplog.text


def test_a_search_is_inline_without_a_model_and_in_this_process() -> None:
    """004-17, C7: without a model a search waits for nobody."""

    class Remote(InMemoryStore):
        is_in_process = False

    assert LongTermMemory(InMemoryStore()).is_inline
    assert not LongTermMemory(InMemoryStore(), embedder=CountingEmbedder()).is_inline
    assert not LongTermMemory(InMemoryStore(), query_embedder=CountingEmbedder()).is_inline
    assert not LongTermMemory(Remote()).is_inline
    assert not LongTermMemory(object()).is_inline  # type: ignore[arg-type]


# --- several writers -------------------------------------------------------------------------------------------------


def test_an_id_is_the_same_on_every_machine() -> None:
    memories = [LongTermMemory(InMemoryStore()).add(ANN, "我喜欢喝茶", category="fact") for _ in range(2)]
    assert memories[0] == memories[1]
    assert memories[0].id == "fb72ea9dbb0cb4bbcdc96b71"


@from_file("text", "named")
def test_a_memory_is_named_by_its_telling_words(text: str, named: list[str]) -> None:
    memory = LongTermMemory(InMemoryStore())
    for each in ("My address is 5 Elm Street", "我的地址是长安街五号", "My street is noisy"):
        memory.add(ANN, each, category="fact")
    assert [each.text for each in memory.naming(ANN, text)] == named


class Overtaken(InMemoryStore):
    """Lets another writer go first, once, behind the reading with a number."""

    def __init__(self) -> None:
        super().__init__()
        self.readings_left = 0
        self.other: Callable[[], object] = lambda: None

    def _read(self, found: Any) -> Any:
        self.readings_left -= 1
        if self.readings_left == 0:
            self.other()
        return found

    def find_memories(self, *arguments: Any, **named: Any) -> Any:
        return self._read(super().find_memories(*arguments, **named))

    def get_memory(self, *arguments: Any) -> Any:
        return self._read(super().get_memory(*arguments))


@pytest.mark.parametrize("reading", range(1, 5))
@pytest.mark.parametrize(("text", "key"), [("I live in Paris", None), ("住 Paris", "residence"), ("?!", None)])
def test_of_two_writers_of_one_text_at_once_one_memory_is_left(text: str, key: str | None, reading: int) -> None:
    store = Overtaken()
    memory = LongTermMemory(store)
    store.other = lambda: memory.add(ANN, text, category="fact", key=key)
    store.readings_left = reading
    fact = memory.add(ANN, text, category="fact", key=key)
    assert (store.other(), current(memory)) == (fact, [text])


@pytest.mark.parametrize("reading", range(1, 9))
@pytest.mark.parametrize("before", [[], ["I live in Oslo"], ["我住在上海", "I live in Oslo"]])
@pytest.mark.parametrize("others", [["I moved to Rome"], ["I moved to Rome", "住 Paris"]])
def test_of_writers_of_one_key_at_once_each_takes_the_place_of_the_one_before(
    before: list[str], others: list[str], reading: int
) -> None:
    """Wherever between its readings the others come."""
    store = Overtaken()
    memory = LongTermMemory(store)
    for text in before:
        memory.add(ANN, text, category="fact", key="residence")
    store.other = lambda: [memory.add(ANN, text, category="fact", key="residence") for text in others]
    store.readings_left = reading
    last = memory.add(ANN, "我搬到了北京", category="fact", key="residence")
    if store.readings_left > 0:  # it was done before
        store.readings_left = 0
        store.other()
    (newest,) = memory.newest(ANN)
    texts = [each.text for each in memory.history(ANN, newest.id)]
    assert sorted(texts) == sorted([*before, *others, "我搬到了北京"])
    assert last.text == "我搬到了北京"


def test_a_key_whose_newest_answer_was_forgotten_can_be_answered_again() -> None:
    store = InMemoryStore()
    memory = LongTermMemory(store)
    first, second = (memory.add(ANN, text, category="fact", key="residence") for text in ("住 Paris", "住 Rome"))
    assert store.delete_memories(ANN, [second.id]) == 1
    third = memory.add(ANN, "住 Oslo", category="fact", key="residence")
    assert [each.text for each in memory.newest(ANN)] == ["住 Oslo"]
    assert len({first.id, second.id, third.id}) == 3


@pytest.mark.parametrize("texts", [("likes green tea", "likes green apples"), ("喜欢喝绿茶", "喜欢喝咖啡")])
def test_texts_that_are_only_somewhat_alike_are_two_memories(texts: tuple[str, str]) -> None:
    """004-63: below a cosine of 0.85."""
    memory = LongTermMemory(InMemoryStore())
    for text in texts:
        memory.add(ANN, text, category="fact")
    assert len(memory.newest(ANN)) == 2
