"""An embedder of any kind costs its opinion at most: no error, no long wait, no unbounded memory."""

from __future__ import annotations

import copy
import logging
import pickle
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from gatekeeper_core.encoder import TextEncoder, Waits, encoder_of, waiting_within
from tests.observed import everything_told, facts_of

TEXTS = ["green tea", "绿茶", "Redis 缓存的 port", ""]


def by_letters(texts: Sequence[str], /) -> list[list[float]]:
    """Return how often a text holds each of 29 kinds of characters: a model without a model."""
    return [[float(sum(ord(letter) % 29 == kind for letter in text)) for kind in range(29)] for text in texts]


class Model:
    """An embedder that tells questions from texts and keeps what it was asked."""

    name = "letters"

    def __init__(self, embed: Callable[[Sequence[str]], Any] = by_letters) -> None:
        self.embed = embed
        self.batches: list[list[str]] = []

    def __call__(self, texts: Sequence[str], /) -> Any:
        self.batches.append([*texts])
        return self.embed(texts)

    def queries(self, texts: Sequence[str], /) -> Any:
        self.batches.append([*texts])
        return by_letters([f"query: {text}" for text in texts])


class CallableModel:
    """A model that can be called with something else than texts, as those of LlamaIndex."""

    def __call__(self, nodes: object) -> Any:
        raise AssertionError(nodes)

    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        return by_letters(texts)

    def get_query_embedding(self, text: str) -> list[float]:
        return by_letters([text])[0]


def fails(_texts: object, /) -> Any:
    raise ConnectionError("green tea")


def leaves(_texts: object, /) -> Any:
    raise SystemExit("green tea")


def test_a_text_is_embedded_once() -> None:
    model = Model()
    encoder = TextEncoder(model)
    first = encoder.encode(["tea", "绿茶", "tea"])
    assert first.vectors[0] is first.vectors[2]
    assert encoder.encode(["绿茶", "tea", "port"]).vectors[:2] == first.vectors[1::-1]
    assert model.batches == [["tea", "绿茶"], ["port"]]


def test_questions_go_the_way_of_questions_and_are_cached_apart() -> None:
    model = Model()
    encoder = TextEncoder(model)
    assert encoder.encode(["喝茶"]) != encoder.encode_query("喝茶") == encoder.encode_query("喝茶")
    assert model.batches == [["喝茶"], ["喝茶"]]
    plain = TextEncoder(by_letters)
    assert plain.encode(["喝茶"]).vectors[0] is plain.encode_query("喝茶").vectors[0]


def test_long_lists_go_in_batches_and_what_came_before_a_failure_stays() -> None:
    texts = [f"text {number}" for number in range(200)]
    model = Model(lambda batch: fails(batch) if texts[70] in batch else by_letters(batch))
    encoder = TextEncoder(model)
    vectors, reason = encoder.encode(texts)
    assert ([len(batch) for batch in model.batches], reason) == ([64, 64], "error: ConnectionError")
    assert all(vectors[:64])
    assert not any(vectors[64:])
    model.embed = by_letters
    assert all(encoder.encode(texts).vectors)
    assert [len(batch) for batch in model.batches] == [64, 64, 64, 64, 8]


@pytest.mark.parametrize(
    ("embedder", "reason"),
    [(fails, "error: ConnectionError"), (leaves, "error: SystemExit"), (lambda texts: [], "wrong_count")],
)
def test_a_failing_or_lying_embedder_costs_its_vectors_and_is_told_once(embedder: Any, reason: str) -> None:
    encoder = TextEncoder(embedder)
    with everything_told() as records:
        assert encoder.encode(TEXTS) == ((None,) * 4, reason)
    assert [(facts_of(record), record.levelno) for record in records] == [({"reason": reason}, logging.WARNING)]
    assert encoder.calibration is None


def test_another_dimension_than_before_is_refused() -> None:
    sizes = iter([3, 4, 3])

    def changes(texts: Sequence[str], /) -> list[list[float]]:
        size = next(sizes)
        return [[1.0] * size for _ in texts]

    encoder = TextEncoder(changes)
    assert encoder.encode(["tea"]).reason == ""
    assert encoder.encode_query("绿茶") == ((None,), "other_dimensions")
    assert encoder.encode(["绿茶"]).reason == ""


def test_a_late_answer_is_not_waited_for_and_is_there_at_the_next_call() -> None:
    begun, done = time.monotonic(), threading.Event()

    def sleeps(texts: Sequence[str], /) -> list[list[float]]:
        done.wait(20.0)
        return by_letters(texts)

    encoder = TextEncoder(sleeps, timeout_seconds=0.05)
    assert encoder.encode(["tea", "绿茶"]) == ((None, None), "late")
    assert time.monotonic() - begun < 10.0
    done.set()
    deadline = time.monotonic() + 20.0
    while encoder.encode(["tea", "绿茶"]).reason and time.monotonic() < deadline:
        time.sleep(0.01)
    assert encoder.encode(["tea", "绿茶"]) == TextEncoder(by_letters).encode(["tea", "绿茶"])


def test_calls_within_a_common_limit_share_it() -> None:
    """What is computed between them does not count; texts take a quarter of what is left."""
    done, waits = threading.Event(), Waits(0.4)
    encoder = TextEncoder(lambda texts: done.wait(20.0) and by_letters(texts))
    with waiting_within(waits):
        assert encoder.encode(["tea"]).reason == "late"
        assert 0.0 < waits.left_seconds <= 0.3
        assert encoder.encode_query("绿茶").reason == "late"
    assert waits.left_seconds <= 0.0
    done.set()
    deadline = time.monotonic() + 20.0
    while encoder.encode(["tea", "绿茶"]).reason and time.monotonic() < deadline:
        time.sleep(0.01)
    seconds = waits.left_seconds
    with waiting_within(waits):
        assert encoder.encode(["tea", "绿茶"]).reason == ""
    assert waits.left_seconds == seconds


def test_the_cache_is_bounded_and_an_answer_is_whole_without_it() -> None:
    model, texts = Model(), [f"text {number}" for number in range(100)]
    encoder = TextEncoder(model, max_texts=10)
    assert all(encoder.encode(texts).vectors)
    assert len(encoder._cache) == 10
    assert all(encoder.encode(texts[-5:]).vectors)
    assert len(model.batches) == 2
    bare = TextEncoder(model, max_texts=0)
    assert bare.encode(texts[:3]) == bare.encode(texts[:3]) == encoder.encode(texts[:3])
    assert len(bare._cache) == 0


def test_a_calibration_is_worked_out_once_and_tried_again_after_a_failure() -> None:
    model = Model(fails)
    encoder = TextEncoder(model, max_texts=0)
    assert encoder.calibration is None
    model.embed = by_letters
    mean, deviation = encoder.calibration or (0.0, 0.0)
    assert 0.0 < mean < 1.0
    assert 0.0 < deviation < 1.0
    assert encoder.calibration == (mean, deviation)
    assert [len(batch) for batch in model.batches] == [20, 20]


def test_a_deep_copy_shares_everything_and_a_pickle_has_the_settings() -> None:
    encoder = TextEncoder(Model(), timeout_seconds=2.0, max_texts=0)
    assert copy.deepcopy({"adapter": [encoder]})["adapter"][0] is encoder
    plain = TextEncoder(by_letters, timeout_seconds=2.0, max_texts=0)
    read: TextEncoder = pickle.loads(pickle.dumps(plain))  # noqa: S301 - our own bytes
    assert (read.name, read.encode(TEXTS)) == (f"{__name__}.by_letters", plain.encode(TEXTS))
    assert (read._timeout_seconds, read._max_texts) == (2.0, 0)


def test_an_embedder_a_model_an_encoder_and_none_become_an_encoder() -> None:
    encoder, model = TextEncoder(by_letters), CallableModel()
    assert (encoder_of(None), encoder_of(encoder)) == (None, encoder)
    assert isinstance(encoder_of(by_letters), TextEncoder)
    adapted = encoder_of(model)
    assert adapted
    assert adapted.name == "CallableModel"
    assert adapted.encode(["茶"]) == encoder.encode(["茶"])
    with pytest.raises(TypeError, match="embedder must be callable, got str"):
        encoder_of("e5")
