"""Snapshots: what comes back answers, grows and is cut like what was built anew; what is not known is refused."""

from __future__ import annotations

import math
import struct
import tracemalloc
from array import array
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, GatekeeperConfig
from gatekeeper_core.errors import SnapshotError
from gatekeeper_core.messages import Message, group_turns
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.snapshot import read_sections, write_sections
from gatekeeper_core.selection.topics import GateConfig
from gatekeeper_core.token_estimate import TokenEstimator
from gatekeeper_core.tokens import TokenCounter, estimate_text_tokens
from tests.talks import TALKS
from tests.tiny_embedder import DIMENSIONS, TinyEmbedder

Pairs = list[tuple[str, str]]

SIDES = [
    "Redis 用哪个端口？",
    "The api-gateway returns ERR-4035.",
    "换个话题，红烧肉炖多久？",
    "Back to Redis: which port was it?",
    "Anna: on 3 May",
    "6380 端口，密码在 vault 里。",
    "那个呢？",
    "\ud800 lone\nlines",
    "",
]
histories = st.lists(st.tuples(st.sampled_from(SIDES), st.sampled_from(SIDES)), max_size=30)
QUERIES = ["Redis 端口？", "What about ERR-4035?", "那个呢？", "New topic: bread", "what did Anna say?"]


def gatekeeper_of(turns: Pairs) -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper(token_budget=100)
    gatekeeper.sync(turns)
    return gatekeeper


def back(gatekeeper: ContextGatekeeper, turns: Pairs) -> ContextGatekeeper:
    return ContextGatekeeper.from_bytes(gatekeeper.to_bytes(), turns, token_budget=100)


def answers(gatekeeper: ContextGatekeeper) -> list[object]:
    selections = [gatekeeper.explain(query).to_dict() for query in QUERIES]
    return [selections, gatekeeper.topics, list(gatekeeper.verdicts), gatekeeper.turn_tokens]


@given(histories)
def test_a_gatekeeper_that_was_put_away_gives_the_same_answers(turns: Pairs) -> None:
    gatekeeper = gatekeeper_of(turns)
    assert answers(back(gatekeeper, turns)) == answers(gatekeeper)


@given(histories, histories, st.integers(0, 30))
def test_a_gatekeeper_that_was_put_away_grows_and_is_cut_as_ever(turns: Pairs, more: Pairs, keep: int) -> None:
    """An edit far behind, too."""
    gatekeeper = back(gatekeeper_of(turns), turns)
    gatekeeper.sync([*turns[:keep], *more])
    assert answers(gatekeeper) == answers(gatekeeper_of([*turns[:keep], *more]))


def test_turns_of_messages_come_back_as_they_were() -> None:
    messages = [Message("user", "哪个端口？"), Message("assistant", "6380"), Message("user", "thanks")]
    turns = group_turns(messages)
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(turns)
    again = ContextGatekeeper.from_bytes(gatekeeper.to_bytes(), turns)
    again.sync([*turns, ("and now?", "")])
    assert again.turn_tokens[:2] == gatekeeper.turn_tokens
    assert len(again.turns) == 3


@pytest.mark.parametrize("language", TALKS)
def test_the_same_turns_give_the_same_bytes(language: str) -> None:
    turns = TALKS[language][0]
    assert gatekeeper_of(turns).to_bytes() == gatekeeper_of(turns).to_bytes()


@given(histories)
def test_a_snapshot_of_a_short_conversation_takes_little(turns: Pairs) -> None:
    assert len(gatekeeper_of(turns).to_bytes()) < 4_000 + 600 * len(turns)


@given(histories, histories)
def test_a_snapshot_of_other_turns_is_refused(turns: Pairs, others: Pairs) -> None:
    data = gatekeeper_of(turns).to_bytes()
    if turns != others:
        with pytest.raises(SnapshotError, match="other turns"):
            ContextGatekeeper.from_bytes(data, others)


def test_a_snapshot_of_other_settings_of_the_gate_is_refused() -> None:
    data = gatekeeper_of([("a", "b")]).to_bytes()
    config = GatekeeperConfig(gate=GateConfig(new_above=0.5))
    with pytest.raises(SnapshotError, match="settings of the gate"):
        ContextGatekeeper.from_bytes(data, [("a", "b")], config=config)


OWN = (estimate_text_tokens, TokenEstimator("o200k"), TokenEstimator("cl100k"), TokenEstimator(factor=1.5))


@pytest.mark.parametrize("made", [*OWN, len])
@pytest.mark.parametrize("read", [*OWN, len, None])
def test_a_snapshot_is_read_with_the_counter_that_it_was_made_with(
    made: TokenCounter, read: TokenCounter | None
) -> None:
    """C1: the counts in it are never mixed with those of another counter; a margin changes none."""
    built = ContextGatekeeper(token_counter=made)
    built.add_turn("缓存的端口？", "6380")
    data, turns = built.to_bytes(), [("缓存的端口？", "6380")]
    if made is read or (read is None and made == TokenEstimator()):
        assert ContextGatekeeper.from_bytes(data, turns, token_counter=read).turn_tokens == built.turn_tokens
        return
    with pytest.raises(SnapshotError, match="another token counter"):
        ContextGatekeeper.from_bytes(data, turns, token_counter=read)


def test_a_snapshot_may_be_read_with_another_margin() -> None:
    built = ContextGatekeeper(token_counter=TokenEstimator(margin=0.0))
    built.add_turn("a", "b")
    assert ContextGatekeeper.from_bytes(built.to_bytes(), [("a", "b")]).turn_tokens == built.turn_tokens


@given(st.data())
def test_a_damaged_snapshot_is_refused(data: st.DataObject) -> None:
    """Whatever byte it is, and wherever it ends."""
    whole = gatekeeper_of([("Redis 端口？", "6380"), ("bread", "flour")]).to_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(SnapshotError):
        ContextGatekeeper.from_bytes(whole[:at], [("Redis 端口？", "6380"), ("bread", "flour")])
    flipped = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    with pytest.raises(SnapshotError):
        ContextGatekeeper.from_bytes(flipped, [("Redis 端口？", "6380"), ("bread", "flour")])


def with_checksum(body: bytes) -> bytes:
    return body + struct.pack("<I", crc32(body))


def test_another_version_or_kind_is_refused() -> None:
    data = TurnIndex().to_bytes()
    newer = with_checksum(data[:4] + struct.pack("<H", 2) + data[6:-4])
    with pytest.raises(SnapshotError, match="version 2"):
        TurnIndex.from_bytes(newer)
    with pytest.raises(SnapshotError, match="not of"):
        ContextGatekeeper.from_bytes(data, [])


def test_sections_that_do_not_fit_together_are_refused() -> None:
    index = TurnIndex()
    index.add({"redis": 1}, {"缓存": 2})
    sections = read_sections(b"index", index.to_bytes())
    for name, wrong in (("ends0", array("I", [0, 5])), ("bounds", array("Q", [0, 9])), ("keys0", array("I", [1, 2]))):
        with pytest.raises(SnapshotError):
            TurnIndex.from_bytes(write_sections(b"index", {**sections, name: wrong}))
    missing = {name: content for name, content in sections.items() if name != "speakers"}
    with pytest.raises(SnapshotError, match="'speakers' of this snapshot is missing"):
        TurnIndex.from_bytes(write_sections(b"index", missing))


@pytest.mark.parametrize("wrong", [b"", array("d", [1.0]), array("B"), array("Q", [2**64 - 1])])
@pytest.mark.parametrize("name", ["tokens_user", "index", "topics.starts", "verdicts.rules", "verdicts.link"])
def test_parts_of_a_gatekeeper_that_do_not_fit_together_are_refused(name: str, wrong: object) -> None:
    turns = [("Redis 端口？", "6380"), ("bread", "flour")]
    sections = read_sections(b"history", gatekeeper_of(turns).to_bytes())
    with pytest.raises(SnapshotError):
        ContextGatekeeper.from_bytes(write_sections(b"history", {**sections, name: wrong}), turns)


@pytest.mark.parametrize("data", ["text", None, bytearray(b"CGKS")])
def test_only_bytes_are_read(data: object) -> None:
    with pytest.raises(TypeError, match="data must be bytes"):
        TurnIndex.from_bytes(data)  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(1, 6), st.integers(0, 30))
def test_an_index_that_was_cut_back_is_put_away_without_what_was_cut(
    words: list[int], live_turns: int, drop: int
) -> None:
    index, fresh = TurnIndex(live_turns=live_turns), TurnIndex()
    for word in words:
        index.add(count_terms(f"word{word}"), {})
    kept = words[: max(0, len(words) - drop)]
    for word in reversed(words[len(kept) :]):
        index.remove_last(count_terms(f"word{word}"))
    for word in kept:
        fresh.add(count_terms(f"word{word}"), {})
    again = TurnIndex.from_bytes(index.to_bytes())
    for word in range(41):
        (term,) = count_terms(f"word{word}").keys() - {"word"} or {f"word{word}"}
        assert again.postings(term) == fresh.postings(term)
        assert again.document_frequency(term) == fresh.document_frequency(term)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=5), st.binary(max_size=20), max_size=4))
def test_sections_come_back_as_they_were(sections: dict[str, bytes]) -> None:
    numbers = {"I": array("I", [1, 2**32 - 1]), "d": array("d", [0.1])}
    assert read_sections(b"kind", write_sections(b"kind", {**sections, **numbers})) == {**sections, **numbers}


# --- forged, with a right checksum

NAMED: Pairs = [*TALKS["english"][0], *TALKS["chinese"][0], *3 * [("Anna: which port again?", "Ben: 端口 6380")]]
COUNT = len(NAMED)
INDEX = ("user_lengths", "assistant_lengths", "words", "names", "speakers", "bounds", "keys0", "ends0", "postings0")


def forged(changes: dict[str, Any], turns: Pairs = NAMED) -> bytes:
    """Return the snapshot of some turns with other sections; None leaves one out, a function changes it."""
    sections = read_sections(b"history", gatekeeper_of(turns).to_bytes())
    index = read_sections(b"index", sections["index"])
    for name, change in changes.items():
        holder = index if name in INDEX else sections
        holder[name] = change(holder[name]) if callable(change) else change
    parts = {name: content for name, content in index.items() if content is not None}
    if "index" not in changes:
        sections["index"] = write_sections(b"index", parts)
    return write_sections(b"history", {name: content for name, content in sections.items() if content is not None})


def used(data: bytes, turns: Pairs = NAMED) -> None:
    """Read a snapshot, and do with it all that one does with a gatekeeper."""
    gatekeeper = ContextGatekeeper.from_bytes(data, turns, token_budget=100)
    answers(gatekeeper)
    gatekeeper.add_turn("Anna: back to Redis, 哪个端口？", "Ben: 6380")
    for keep in (len(turns), len(turns) // 2, 1):
        gatekeeper.sync([*turns[:keep], ("Anna: and now?", "")])
        answers(gatekeeper)
    back(gatekeeper, [*turns[:1], ("Anna: and now?", "")])


def changed(place: int, value: int) -> Any:
    """Return what puts a number in one place of a column."""

    def change(column: array[int]) -> array[int]:
        column[place] = value
        return column

    return change


REFUSED: list[dict[str, Any]] = [
    {"tokens_user": array("Q", [1])},
    {"tokens_assistant": array("d", [math.nan] * COUNT)},
    {"index": TurnIndex().to_bytes()},
    {"index": gatekeeper_of(NAMED).to_bytes()},
    {"index": read_sections(b"history", gatekeeper_of(NAMED + NAMED).to_bytes())["index"]},
    {"topics.starts": array("I", [0, 5, 3])},
    {"topics.starts": array("I", [0, COUNT])},
    {"verdicts.rules": changed(2, 30)},
    {"verdicts.cues": changed(-1, 50)},
    {"verdicts.cues": changed(0, -2)},
    {"verdicts.active": changed(3, COUNT)},
    {"verdicts.resumed": changed(3, -(2**31))},
    {"verdicts.link": changed(1, 10_001)},
    {"verdicts.overlap": array("f", [math.nan] * COUNT)},
    {"verdicts.cue_texts": b"[" * 3000},
    {"verdicts.cue_texts": b"{}"},
    {"verdicts.cue_texts": b"[null, 1, 2, 3, 4, 5]"},
    {"user_lengths": array("d", [math.nan] * COUNT)},
    {"user_lengths": array("I", [1] * (COUNT + 1))},
    {"assistant_lengths": None},
    {"words": array("I", [2**22])},
    {"words": array("B", [1] * 9)},
    {"words": b""},
    {"names": b"[" * 3000},
    {"names": b'["anna", "ben", ""]'},
    {"names": b'["", "anna", "anna"]'},
    {"names": b'["", ["anna"], 5]'},
    {"names": b"1" + b"0" * 5000},
    {"speakers": changed(-1, 99)},
    {"speakers": lambda ids: ids[:-1]},
    {"speakers": lambda ids: array("Q", ids)},
    {"bounds": array("Q", [0, 2**64 - 1])},
    {"bounds": array("Q", [0, COUNT, COUNT])},
    {"bounds": array("Q", [0, 3, 2, COUNT])},
    {"bounds": array("d", [0.0, COUNT])},
    {"keys0": lambda keys: keys[:-1]},
    {"ends0": changed(0, 1)},
    {"ends0": changed(-1, 2**32 - 1)},
    {"ends0": lambda ends: array("I", [0, *[2**32 - 1] * (len(ends) - 2), ends[-1]])},
    {"ends0": lambda ends: array("I", [0, *[0, ends[-1]] * len(ends)][: len(ends) - 1]) + ends[-1:]},
    {"postings0": lambda postings: postings + postings},
    {"postings0": lambda postings: array("Q", postings)},
]


@pytest.mark.parametrize("changes", REFUSED, ids=range(len(REFUSED)))
def test_a_forged_snapshot_is_refused_before_it_is_used(changes: dict[str, Any]) -> None:
    with pytest.raises(SnapshotError):
        ContextGatekeeper.from_bytes(forged(changes), NAMED)


HARMLESS: list[dict[str, Any]] = [
    {"tokens_user": array("Q", [2**63 + 1] * COUNT), "tokens_assistant": array("Q", [2**64 - 1] * COUNT)},
    {"user_lengths": array("I", [2**32 - 1] * COUNT)},
    {"keys0": lambda keys: keys[::-1]},
    {"postings0": lambda postings: postings[::-1]},
    {"postings0": lambda postings: array("I", [2**32 - 1] * len(postings))},
    {"postings0": lambda postings: array("I", [COUNT << 8 | 17] * len(postings))},
    {"postings0": lambda postings: array("I", [0] * len(postings))},
]


@pytest.mark.parametrize("changes", HARMLESS, ids=range(len(HARMLESS)))
def test_a_forged_snapshot_that_is_read_does_no_harm(changes: dict[str, Any]) -> None:
    used(forged(changes))


def test_postings_that_do_not_rise_within_the_conversation_are_none() -> None:
    """Those of other terms are found as ever, also after a cut."""
    index = TurnIndex()
    for text in ("redis port", "redis docker", "redis 缓存"):
        index.add(count_terms(text), {})
    sections = read_sections(b"index", index.to_bytes())
    at = max(range(len(sections["keys0"])), key=lambda at: sections["ends0"][at + 1] - sections["ends0"][at])
    sections["postings0"][sections["ends0"][at]] = 3 << 8
    again = TurnIndex.from_bytes(write_sections(b"index", sections))
    assert (again.postings("redis"), again.document_frequency("redis")) == ([], 0)
    assert again.postings("docker") == index.postings("docker") != []
    again.remove_last(count_terms("redis 缓存"))
    assert (again.postings("redis"), again.document_frequency("docker")) == ([], 1)


FEW: Pairs = [*NAMED[:3], *NAMED[-4:]]
SECTIONS = [*read_sections(b"history", gatekeeper_of(FEW).to_bytes()).keys() - {"index"}, *INDEX]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_number_is_changed_a_snapshot_is_refused_or_does_no_harm(data: st.DataObject) -> None:
    """Nor does it take more memory than its size and that of its turns can explain."""

    def change(content: array[Any] | bytes) -> array[Any] | bytes:
        numbers = array("B", content) if isinstance(content, bytes) else content[:]
        high = 2 ** (8 * numbers.itemsize - numbers.typecode.islower()) - 1
        near = st.integers(-2, 2 * len(FEW)) | st.integers(0, len(FEW) << 8) | st.integers(high - 2, high)
        values = near.filter(lambda value: -numbers.typecode.islower() * high <= value <= high)
        for _ in range(data.draw(st.integers(1, 5))):
            if numbers:
                numbers[data.draw(st.integers(0, len(numbers) - 1))] = data.draw(values)
        del numbers[len(numbers) - data.draw(st.sampled_from([0, 0, 0, 1])) :]
        return numbers.tobytes() if isinstance(content, bytes) else numbers

    names = data.draw(st.lists(st.sampled_from(SECTIONS), min_size=1, max_size=3, unique=True))
    snapshot = forged(dict.fromkeys(names, change), FEW)
    used(gatekeeper_of(FEW).to_bytes(), FEW)  # so that what is loaded once is not counted
    tracemalloc.start()
    try:
        used(snapshot, FEW)
    except SnapshotError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 2**22


def test_sections_that_promise_more_than_there_is_are_refused() -> None:
    data = write_sections(b"kind", {"numbers": array("I", [1, 2])})[:-4]
    length = data.index(b"numbers") - 8
    for promised in (9, 2**31, 2**63, 2**64 - 1):
        with pytest.raises(SnapshotError):
            read_sections(b"kind", with_checksum(data[:length] + struct.pack("<Q", promised) + data[length + 8 :]))
    with pytest.raises(SnapshotError):
        read_sections(b"kind", with_checksum(data[:14] + struct.pack("<I", 2**32 - 1) + data[18:]))
    with pytest.raises(SnapshotError):  # characters are no numbers
        read_sections(b"kind", with_checksum(data[: length - 2] + b"u" + data[length - 1 :]))


# --- with an embedder


def forbidden(_texts: object, /) -> Any:
    raise AssertionError("a snapshot is read without a question to the embedder")


class Forbidden:
    """An embedder of the name of the tiny one that must not be asked."""

    name = "tiny"
    __call__ = staticmethod(forbidden)


def embedded(turns: Pairs) -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper(token_budget=100, embedder=TinyEmbedder())
    gatekeeper.sync(turns)
    return gatekeeper


SPOKEN: Pairs = [*TALKS["english"][0], *TALKS["chinese"][0], ("", ""), *TALKS["mixed"][0]]


@settings(max_examples=20)
@given(histories, histories, st.integers(0, 30))
def test_vectors_are_put_away_and_come_back(turns: Pairs, more: Pairs, keep: int) -> None:
    """The bytes are the same again, the embedder is not asked to read them, and the conversation goes on as ever."""
    data = embedded(turns).to_bytes()
    asleep = ContextGatekeeper.from_bytes(data, turns, token_budget=100, embedder=Forbidden())
    assert asleep.to_bytes() == data == embedded(turns).to_bytes()
    tiny = TinyEmbedder()
    again = ContextGatekeeper.from_bytes(data, turns, token_budget=100, embedder=tiny)
    assert tiny.texts == []
    assert answers(again) == answers(embedded(turns))
    again.sync([*turns[:keep], *more])
    assert answers(again) == answers(embedded([*turns[:keep], *more]))


def test_a_snapshot_is_read_with_another_embedder_with_none_and_the_other_way_round() -> None:
    """Without one it is the snapshot of words alone, to the byte."""
    words, data = gatekeeper_of(SPOKEN), embedded(SPOKEN).to_bytes()
    alone = ContextGatekeeper.from_bytes(data, SPOKEN, token_budget=100)
    assert (alone.to_bytes(), answers(alone)) == (words.to_bytes(), answers(words))
    assert "meaning" not in str(read_sections(b"history", alone.to_bytes()).keys())
    for kept in (data, words.to_bytes()):
        tiny = TinyEmbedder("another", dimensions=48)
        other = ContextGatekeeper.from_bytes(kept, SPOKEN, token_budget=100, embedder=tiny)
        assert other.explain(QUERIES[0]).embedder_missed == "no_vectors"
        other.sync(SPOKEN)
        fresh = ContextGatekeeper(100, embedder=TinyEmbedder("another", dimensions=48))
        fresh.sync(SPOKEN)
        assert (other.to_bytes(), answers(other)) == (fresh.to_bytes(), answers(fresh))


def test_an_embedder_that_changed_behind_its_name_is_heard_after_two_adds() -> None:
    tiny = TinyEmbedder(dimensions=48)
    again = ContextGatekeeper.from_bytes(embedded(SPOKEN).to_bytes(), SPOKEN, token_budget=100, embedder=tiny)
    assert again.explain(QUERIES[0]).embedder_missed == "no_vectors"
    for _ in range(2):
        again.add_turn("And the port?", "6380")
    fresh = ContextGatekeeper(100, embedder=TinyEmbedder(dimensions=48))
    fresh.sync([*SPOKEN, ("And the port?", "6380"), ("And the port?", "6380")])
    assert answers(again) == answers(fresh)


@pytest.mark.parametrize("name", ["meaning.numbers", "meaning.squares"])
@pytest.mark.parametrize(
    "wrong",
    [None, b"", b"\x01" * 320, array("b"), array("b", [1] * 319), array("b", bytes(10 * 16_385)), array("I"),
     array("I", [1] * 9), array("I", [1] * 11), array("d", [math.nan] * 10), array("Q", [2**64 - 1] * 10)],
)  # fmt: skip
def test_columns_of_vectors_that_do_not_fit_are_refused(name: str, wrong: object) -> None:
    """And cost no memory: none is made as large as it claims to be."""
    sections = {**read_sections(b"history", embedded(SPOKEN).to_bytes()), name: wrong}
    data = write_sections(b"history", {key: content for key, content in sections.items() if content is not None})
    tracemalloc.start()
    with pytest.raises(SnapshotError):
        ContextGatekeeper.from_bytes(data, SPOKEN, embedder=Forbidden())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20 + 4 * len(data)


def test_a_vector_takes_a_byte_a_dimension_and_four() -> None:
    plain, with_vectors = len(gatekeeper_of(SPOKEN).to_bytes()), len(embedded(SPOKEN).to_bytes())
    assert with_vectors - plain - len(SPOKEN) * (DIMENSIONS + 4) < 150
