"""The turns kept in columns come back as they were given, and each costs what it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import Message
from gatekeeper_core.messages import Turn
from gatekeeper_core.selection.records import Record, Records

TURN = Turn((Message("user", "端口？"), Message("assistant", "6379")), 0, 2)
records = st.lists(
    st.builds(Record, st.text(), st.text(), st.integers(0, 9), st.integers(0, 2**40), st.sampled_from([None, TURN]))
)


def test_a_record_costs_at_least_one_token() -> None:
    assert Record("", "", 0, 0).tokens == 1
    assert Record("a", "b", 2, 3).tokens == 5


def test_a_record_knows_its_turn_by_content_and_by_what_it_was_made_of() -> None:
    """000-10: lasting identity is the content."""
    turn = Turn((Message("user", "a"), Message("assistant", "b")), 0, 2)
    moved = Turn((Message("user", "a"), Message("assistant", "b")), 7, 9)
    from_text, from_turn = Record("a", "b", 1, 1), Record("a", "b", 1, 1, source=turn)
    assert from_text.equals(("a", "b"))
    assert not from_text.equals(("a", "c"))
    assert not from_text.equals(turn)
    assert from_turn.equals(moved)
    assert not from_turn.equals(("a", "b"))


@given(records)
def test_records_come_back_as_they_were(given: list[Record]) -> None:
    """In whatever order there are turns of messages and of texts."""
    kept = Records(given)
    assert list(kept) == given
    assert kept.tokens == tuple(record.tokens for record in given)
    assert [kept.text_of(at) for at in range(len(given))] == [(record.user, record.assistant) for record in given]


@given(records, st.integers(-9, 9), st.integers(-9, 9))
def test_part_of_the_records_is_asked_for_as_of_a_tuple(given: list[Record], start: int, stop: int) -> None:
    kept = Records(given)
    assert kept[start:stop] == tuple(given[start:stop])
    assert all(kept[at] == given[at] for at in range(-len(given), len(given)))


@given(records, records, st.integers(0, 9))
def test_the_first_records_grow_apart_from_those_that_they_were_taken_from(
    given: list[Record], more: list[Record], turn_count: int
) -> None:
    kept = Records(given)
    fewer = kept.first(turn_count)
    for record in more:
        fewer.append(record)
    assert list(kept) == given
    assert list(fewer) == [*given[:turn_count], *more]
    assert fewer.tokens == tuple(record.tokens for record in fewer)
