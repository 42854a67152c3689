"""Working memory: byte-exact, within its quota, and deaf to pointers that it did not make."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.pointers import Pointer
from gatekeeper_core.context.tool_results.working_memory import UNKNOWN_POINTER, WorkingMemory
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from tests.case_files import from_file

KEY, OTHER_KEY = b"key of one thread", b"key of another one"
texts = st.text(st.characters(), max_size=120)  # lone surrogates too


def characters(text: str) -> int:
    return len(text)


def memory_of(quota_bytes: int = 10**6, *, blobs: InMemoryBlobStore | None = None, key: bytes = KEY) -> WorkingMemory:
    return WorkingMemory(blobs or InMemoryBlobStore(), key, quota_bytes, token_counter=characters)


def put(memory: WorkingMemory, text: str, *, live: tuple[str, ...] = ()) -> Pointer:
    pointer = memory.offload(text, live=live)
    assert pointer is not None
    return pointer


@given(texts)
@example("\ud800 half a pair \udfff")
def test_what_was_put_aside_comes_back_as_it_was(text: str) -> None:
    """004-37: stored in working memory, read back byte for byte."""
    memory = memory_of()
    pointer = put(memory, text)
    assert memory.load(pointer.text) == memory.load(pointer.id) == text
    assert memory.used_bytes == pointer.size_bytes


@given(texts, st.integers(0, 130), st.integers(0, 130))
def test_a_range_of_bytes_is_whole_characters_of_the_text(text: str, start: int, end: int) -> None:
    memory = memory_of()
    pointer = put(memory, text)
    reading = memory.read(pointer.id, start=start, end=end, budget_tokens=10**6)
    content = reading.text.partition("]\n")[2]
    assert content in text
    assert len(content.encode("utf-8", "surrogatepass")) <= max(0, end - start)
    assert reading.found
    assert reading.complete


@given(texts, st.integers(1, 400), st.sampled_from(["all", "lines", "query"]))
def test_a_reading_never_costs_more_than_its_budget(text: str, budget: int, way: str) -> None:
    memory = memory_of()
    pointer = put(memory, "端口 port\n" + text + "\nport 6380\n" * 5)
    options = {"all": {}, "lines": {"lines": (2, 5)}, "query": {"query": "which port?"}}[way]
    reading = memory.read(pointer.text, budget_tokens=budget, **options)  # type: ignore[arg-type]
    assert characters(reading.text) <= budget


def test_lines_are_numbered_from_one_and_what_is_missing_is_said() -> None:
    memory = memory_of()
    pointer = put(memory, "\n".join(f"line {at}" for at in range(1, 101)))
    assert memory.read(pointer.id, lines=(99, 200)).text == "[working memory: lines 99-100 of 100]\nline 99\nline 100"
    reading = memory.read(pointer.id, lines=(1, 100), budget_tokens=110)
    assert not reading.complete
    assert reading.text.startswith("[working memory: lines 1-100 of 100]\nline 1\n")
    assert reading.text.endswith("-100]")
    assert "lines omitted [" in reading.text


@pytest.mark.parametrize("character", ["x", "长"])
def test_a_first_line_that_does_not_fit_is_shown_by_both_ends(character: str) -> None:
    memory = memory_of()
    pointer = put(memory, "begin " + character * 3_000 + " end\nsecond")
    reading = memory.read(pointer.id, lines=(1, 2), budget_tokens=200)
    assert reading.found
    assert not reading.complete
    head, first, rest = reading.text.split("\n")
    assert head == "[working memory: lines 1-2 of 2]"
    assert first.startswith("begin ")
    assert first.endswith(" end")
    assert "characters omitted" in first
    assert rest == "… 1 line omitted [2]"
    assert len(reading.text) > 100
    tiny = memory.read(pointer.id, lines=(1, 2), budget_tokens=20)
    assert (tiny.text, tiny.found, tiny.complete) == ("[working memory: lin", True, False)


@pytest.mark.parametrize(
    ("query", "line"), [("what is the port of redis?", "redis port 6380"), ("订单 8812 呢", "订单 8812 已退款")]
)
def test_a_question_gives_the_lines_that_hold_its_words(query: str, line: str) -> None:
    memory = memory_of()
    pointer = put(memory, "\n".join([*["something else"] * 300, line, *["and more"] * 300]))
    text = memory.read(pointer.text, query=query, budget_tokens=300).text
    assert text.split("\n") == [
        "[working memory: 1 matching of 601 lines]",
        "… 299 lines omitted [1-299]",
        "something else",
        line,
        "and more",
        "… 299 lines omitted [303-601]",
    ]


def test_a_pointer_in_the_text_is_defused_where_it_is_read_and_kept_where_it_is_stored() -> None:
    memory = memory_of()
    text = "see [[wm:aaaaaaaaaaaaaaaa]] for more"
    pointer = put(memory, text)
    assert "[[wm:" not in memory.read(pointer.id).text
    assert "[[wm:" not in memory.read(pointer.id, lines=(1, 1)).text
    assert memory.load(pointer.id) == text


@from_file("options", "part")
def test_a_tool_answers_whatever_a_model_asks(options: dict[str, object], part: str) -> None:
    memory = memory_of()
    pointer = put(memory, "\n".join([*(f"line {at}" for at in range(1, 60)), "端口 17"]))
    answer = memory.answer(pointer.text, **options)  # type: ignore[arg-type]
    assert part in answer
    assert memory.answer("[[wm:x]]", **options) == UNKNOWN_POINTER  # type: ignore[arg-type]


def test_what_was_used_longest_ago_makes_room() -> None:
    """004-62: least recently used first, within a cap of bytes."""
    memory = memory_of(30)
    first, second = put(memory, "a" * 10), put(memory, "b" * 10)
    put(memory, "c" * 10)
    memory.read(first.id)
    fourth = put(memory, "d" * 10)
    assert [memory.touch(each) for each in (second.id, "../etc", first.text)] == [False, False, True]
    fifth = put(memory, "e" * 20)
    assert memory.load(fourth.id) is None
    assert memory.load(first.id) == "a" * 10
    assert memory.load(fifth.id) == "e" * 20
    assert memory.used_bytes == 30


def test_what_the_window_still_names_is_never_thrown_out() -> None:
    """004-62: no room left means that the text stays inline, and nothing was lost for it."""
    memory = memory_of(30)
    kept = [put(memory, letter * 10) for letter in "abc"]
    live = (kept[0].text, kept[1].id)
    assert memory.offload("d" * 11, live=live) is None
    assert len(memory.ids) == 3
    assert memory.offload("d" * 31) is None
    put(memory, "d" * 10, live=live)
    assert memory.load(kept[2].id) is None
    assert memory.load(kept[0].id) is not None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 12), st.booleans()), max_size=15), st.integers(1, 40))
def test_the_quota_holds_and_live_texts_stay_whatever_is_put_aside(
    puts: list[tuple[int, int, bool]], quota: int
) -> None:
    memory = memory_of(quota)
    live: dict[str, str] = {}
    for letter, size, keep in puts:
        text = "abcdef"[letter] * size
        pointer = memory.offload(text, live=tuple(live))
        if pointer and keep:
            live[pointer.id] = text
        assert memory.used_bytes <= quota
        assert all(memory.load(each) == text for each, text in live.items())


def test_what_nobody_used_for_long_goes_before_what_is_newer() -> None:
    """004-62: a time to live, by a clock that the caller gives."""
    now = [0.0]
    memory = WorkingMemory(InMemoryBlobStore(), KEY, 100, ttl_seconds=60, clock=lambda: now[0])
    old, live = put(memory, "a"), put(memory, "b")
    now[0] = 100.0
    put(memory, "c", live=(live.id,))
    assert memory.load(old.id) is None
    assert memory.load(live.id) == "b"


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["put", "read", "touch", "anew"]), st.integers(1, 9))),
    st.integers(5, 25),
)
def test_whoever_of_several_objects_does_it_the_quota_holds_and_texts_are_exact(
    steps: list[tuple[int, str, int]], quota: int
) -> None:
    blobs = InMemoryBlobStore()
    memories = [memory_of(quota, blobs=blobs) for _ in range(3)]
    for which, step, size in steps:
        memory, text = memories[which], "abcdefghi"[size - 1] * size
        pointer = memory.pointer_to(text)
        kept = memory_of(quota, blobs=blobs).load(pointer.id)
        if step == "put":
            assert memory.offload(text) == (pointer if size <= quota else None)
            assert {each.load(pointer.id) for each in memories} == {text if size <= quota else None}
        elif step == "read":
            assert memory.load(pointer.id) == kept
        elif step == "touch":
            assert memory.touch(pointer.id) is (kept is not None)
        else:
            memories[which] = memory_of(quota, blobs=blobs)
        assert memory.used_bytes <= quota
