from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.native.cache_marks import EPHEMERAL, marked_contents, marks_in
from tests.case_files import from_file

HOUR = {"type": "ephemeral", "ttl": "1h"}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def marked(words: str, mark: Any = EPHEMERAL) -> dict[str, Any]:
    return text(words, cache_control=dict(mark))


@from_file("content")
def test_what_cannot_carry_a_mark_hands_it_to_the_message_before(content: Any) -> None:
    assert marked_contents(["Port?", content], [1], room=1) == {0: [marked("Port?")]}
    assert marked_contents([content], [0], room=1) == {}


def test_the_most_important_places_get_the_marks_that_there_is_room_for() -> None:
    contents = ["a", "b", "c"]
    assert set(marked_contents(contents, [2, 0, 1], room=2)) == {0, 2}
    assert marked_contents(contents, [2], room=0) == marked_contents(contents, [2], room=-1) == {}


def test_a_mark_before_one_that_lasts_longer_lasts_as_long() -> None:
    contents = ["a", "b", [marked("c", HOUR)], "d"]
    assert marked_contents(contents, [0, 3], room=2) == {0: [marked("a", HOUR)], 3: [marked("d")]}
    assert marked_contents(["a"], [0], room=1, behind=contents) == {0: [marked("a", HOUR)]}


contents_of_any_kind = st.lists(
    st.one_of(
        st.text(max_size=3),
        st.none(),
        st.lists(st.builds(text, st.text(max_size=3)) | st.builds(marked, st.text(max_size=3)), max_size=3),
    ),
    max_size=6,
)


@given(contents=contents_of_any_kind, places=st.lists(st.integers(0, 5), max_size=4), room=st.integers(0, 4))
def test_marks_are_only_added_at_most_as_many_as_there_is_room_for_and_nothing_given_is_changed(
    contents: list[Any], places: list[int], room: int
) -> None:
    places = [place for place in places if place < len(contents)]
    before = copy.deepcopy(contents)
    changed = marked_contents(contents, places, room=room)
    assert contents == before
    count = sum(1 for content in contents for _ in marks_in(content))
    after = [changed.get(at, content) for at, content in enumerate(contents)]
    assert count <= sum(1 for content in after for _ in marks_in(content)) <= count + room
