"""What every ``MessageStore`` must do, as a class of tests: a store's own test file inherits it and gives ``make_store``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.errors import ConfigError, ConflictError, StaleReadError
from gatekeeper_core.messages import OUR_MARKS, MediaPart, Message, TextPart, ToolCall
from tests.case_files import rows

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import MessageStore

[[TEXTS]] = rows("message_store_contract", "texts")

texts = st.text(st.characters(codec=None, categories=None), max_size=12) | st.sampled_from(TEXTS)
marks = st.dictionaries(
    texts | st.sampled_from(sorted(OUR_MARKS)), texts | st.integers(-(2**70), 2**70) | st.booleans(), max_size=2
)
parts = st.builds(TextPart, texts) | st.builds(MediaPart, st.sampled_from(["image", "audio", "other"]))
calls = st.builds(ToolCall, texts, texts, texts)
messages = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    texts | st.lists(parts, max_size=3).map(tuple),
    tool_calls=st.lists(calls, max_size=2).map(tuple),
    tool_call_id=st.none() | texts,
    name=st.none() | texts,
    metadata=marks,
)


def messages_of(*numbers: int, text: str = "message") -> list[Message]:
    """Return messages with ids: ``m0``, ``m1`` and so on."""
    return [Message("user", f"{text} {number}", id=f"m{number}") for number in numbers]


def ids_of(store: MessageStore, tenant: str = "acme", thread: str = "t1") -> list[str | None]:
    return [message.id for message in store.read_messages(tenant, thread)]


class MessageStoreContract:
    def make_store(self) -> MessageStore:
        raise NotImplementedError

    def test_messages_come_back_as_they_went_in(self) -> None:
        """Any text, in any part of a message, under any name: also lone surrogates and NUL."""

        @given(st.lists(messages, max_size=4), texts.filter(bool), texts.filter(bool))
        def holds(given_messages: list[Message], tenant: str, thread: str) -> None:
            store = self.make_store()
            assert store.append_messages(tenant, thread, given_messages) == len(given_messages) - 1
            assert store.read_messages(tenant, thread) == tuple(given_messages)
            assert store.last_seq(tenant, thread) == len(given_messages) - 1

        holds()

    def test_sequence_numbers_count_the_messages_of_a_thread_without_a_gap(self) -> None:
        store = self.make_store()
        assert store.last_seq("acme", "t1") == -1
        assert store.append_messages("acme", "t1", messages_of(0, 1)) == 1
        assert store.append_messages("acme", "t2", messages_of(0)) == 0
        assert store.append_messages("acme", "t1", messages_of(2), expected_seq=1) == 2
        assert store.append_messages("acme", "t1", []) == 2
        assert store.last_seq("acme", "t1") == 2
        assert ids_of(store) == ["m0", "m1", "m2"]

    def test_a_reading_begins_where_it_is_told_and_gives_no_more_than_asked_for(self) -> None:
        store = self.make_store()
        store.append_messages("acme", "t1", messages_of(*range(5)))

        def read(**options: Any) -> list[str | None]:
            return [message.id for message in store.read_messages("acme", "t1", **options)]

        assert read(from_seq=3) == ["m3", "m4"]
        assert read(from_seq=1, limit=2) == ["m1", "m2"]
        assert read(from_seq=4, limit=9, min_seq=4) == ["m4"]
        assert read(from_seq=9) == read(limit=0) == []

    def test_a_reader_that_knows_of_a_message_is_not_served_without_it(self) -> None:
        store = self.make_store()
        store.append_messages("acme", "t1", messages_of(0, 1))
        with pytest.raises(StaleReadError) as caught:
            store.read_messages("acme", "t1", min_seq=2)
        assert (caught.value.min_seq, caught.value.last_seq) == (2, 1)
        with pytest.raises(StaleReadError):
            store.read_messages("acme", "nothing", min_seq=0)

    def test_an_append_may_be_repeated_and_gives_the_old_number(self) -> None:
        store = self.make_store()
        store.append_messages("acme", "t1", messages_of(0, 1))
        store.append_messages("acme", "t1", messages_of(2))
        assert store.append_messages("acme", "t1", messages_of(0, 1), expected_seq=-1) == 1
        assert store.append_messages("acme", "t1", messages_of(1, 2, 3)) == 3
        assert store.append_messages("acme", "t1", messages_of(4, 4)) == 4
        assert ids_of(store) == ["m0", "m1", "m2", "m3", "m4"]

    def test_a_batch_that_is_given_twice_is_stored_once_and_answered_alike(self) -> None:
        store, numbers = self.make_store(), count()
        ids = st.sampled_from(["a", "b", "c", None])

        @given(st.lists(st.lists(ids, max_size=4).filter(any), max_size=5))
        def holds(batches: list[list[str | None]]) -> None:
            thread = f"t{next(numbers)}"
            for names in batches:
                batch = [Message("user", f"text of {name}", id=name) for name in names]
                try:
                    answer = store.append_messages("acme", thread, batch)
                except ConflictError:
                    continue
                stored = store.read_messages("acme", thread)
                assert stored[answer] == batch[-1]
                with suppress(ConflictError):  # an id twice and one without: they do not stand side by side
                    assert store.append_messages("acme", thread, batch) == answer
                assert store.read_messages("acme", thread) == stored
                named = [message.id for message in stored if message.id]
                assert len(named) == len(set(named))

        holds()

    @pytest.mark.parametrize(
        "changed", [messages_of(9, 1, text="other"), [*messages_of(2, 1, 9), *messages_of(9, text="x")]]
    )
    def test_an_id_with_other_content_is_a_conflict_that_changes_nothing(self, changed: list[Message]) -> None:
        store = self.make_store()
        store.append_messages("acme", "t1", messages_of(0, 1, 2))
        with pytest.raises(ConflictError) as caught:
            store.append_messages("acme", "t1", changed)
        assert caught.value.kind == "message"
        assert "other" not in str(caught.value).replace("other content", "").replace("other neighbours", "")
        assert ids_of(store) == ["m0", "m1", "m2"]

    def test_messages_without_ids_are_recognised_beside_one_that_has_an_id(self) -> None:
        store = self.make_store()
        bare = [Message("user", "hi"), *messages_of(1), Message("assistant", "yes")]
        store.append_messages("acme", "t1", messages_of(0))
        assert store.append_messages("acme", "t1", bare) == 3
        assert store.append_messages("acme", "t1", bare) == 3
        assert store.last_seq("acme", "t1") == 3
        for other in (
            [*messages_of(1), Message("assistant", "no")],
            [Message("user", "x"), *messages_of(0)],
            [*bare, Message("user", "")],
        ):
            with pytest.raises(ConflictError):
                store.append_messages("acme", "t1", other)
        assert store.append_messages("acme", "t1", [Message("user", "hi"), Message("user", "hi")]) == 5

    @pytest.mark.parametrize("expected_seq", [-1, 0, 2])
    @pytest.mark.parametrize("given_messages", [[], messages_of(7)])
    def test_an_append_after_another_message_than_expected_is_refused(
        self, expected_seq: int, given_messages: list[Message]
    ) -> None:
        store = self.make_store()
        store.append_messages("acme", "t1", messages_of(0, 1))
        with pytest.raises(ConflictError) as caught:
            store.append_messages("acme", "t1", given_messages, expected_seq=expected_seq)
        assert (caught.value.expected_version, caught.value.stored_version) == (expected_seq, 1)
        assert ids_of(store) == ["m0", "m1"]

    def test_of_many_writers_that_expect_the_same_end_one_wins_and_all_come_through_in_the_end(self) -> None:
        store = self.make_store()

        def append(writer: int) -> int:
            lost = 0
            for number in range(6):
                message = Message("user", f"{number}", id=f"w{writer}-{number}")
                while True:
                    try:
                        store.append_messages("acme", "t1", [message], expected_seq=store.last_seq("acme", "t1"))
                        break
                    except ConflictError:
                        lost += 1
            return lost

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(append, range(4)))
        found = ids_of(store)
        assert len(found) == len(set(found)) == 24
        for writer in range(4):
            mine = [name for name in found if str(name).startswith(f"w{writer}-")]
            assert mine == [f"w{writer}-{number}" for number in range(6)]

    @pytest.mark.parametrize(("tenant", "thread"), [("", "t1"), ("acme", "")])
    def test_without_a_tenant_or_a_thread_nothing_is_read_or_written(self, tenant: str, thread: str) -> None:
        store = self.make_store()
        for call in (
            lambda: store.append_messages(tenant, thread, messages_of(0)),
            lambda: store.read_messages(tenant, thread),
            lambda: store.last_seq(tenant, thread),
        ):
            with pytest.raises(ConfigError, match="must not be empty"):
                call()

    @pytest.mark.parametrize("options", [{"from_seq": -1}, {"limit": -1}, {"min_seq": -1}])
    def test_a_number_out_of_range_is_refused(self, options: dict[str, int]) -> None:
        store = self.make_store()
        with pytest.raises(ConfigError):
            store.read_messages("acme", "t1", **options)
        with pytest.raises(ConfigError):
            store.append_messages("acme", "t1", [], expected_seq=-2)

    def test_what_is_no_message_or_no_name_is_a_type_error(self) -> None:
        store = self.make_store()
        with pytest.raises(TypeError, match=r"messages\[\d\] must be a Message"):
            store.append_messages("acme", "t1", [*messages_of(0), "hello"])  # type: ignore[list-item]
        with pytest.raises(TypeError, match="tenant must be a str"):
            store.last_seq(None, "t1")  # type: ignore[arg-type]
        assert store.last_seq("acme", "t1") == -1
