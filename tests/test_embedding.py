"""What an embedder gives is checked, and its failures are told, not raised."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from gatekeeper_core.embedding import ModelEmbedder, embed, embedder_name, embedding_mark
from gatekeeper_core.vectors import MAX_DIMENSIONS


def fails(_texts: object) -> Any:
    raise ConnectionError("down")


@pytest.mark.parametrize(
    ("embedder", "reason"),
    [
        (fails, "error: ConnectionError"),
        (lambda texts: None, "error: TypeError"),
        (lambda texts: [], "wrong_count"),
        (lambda texts: [[1.0]] * 3, "wrong_count"),
        (lambda texts: itertools.repeat([1.0]), "wrong_count"),
        (lambda texts: [[1.0, math.nan]] * 2, "no_vector"),
        (lambda texts: ["ab", "cd"], "no_vector"),
        (lambda texts: [itertools.repeat(1.0)] * 2, "no_vector"),
        (lambda texts: [[1.0], [1.0, 2.0]], "mixed_dimensions"),
        (lambda texts: [None, None], "no_vector"),
        (lambda texts: [[1.0] * (MAX_DIMENSIONS + 1)] * 2, "no_vector"),
    ],
)
def test_whatever_an_embedder_does_is_told_and_not_raised(embedder: Any, reason: str) -> None:
    """004-66: an embedder that fails raises nothing."""
    vectors, why = embed(embedder, ["喝茶", "tea"])
    assert (list(filter(None, vectors)), why) == ([], reason)
    assert embed(lambda texts: [[1.0] * MAX_DIMENSIONS], ["tea"]).reason == ""


@pytest.mark.parametrize("text", ["tea", "喝茶", "\ud800", ""])
def test_a_mark_is_of_one_text_and_one_embedder(text: str) -> None:
    """004-18: what tells whether a text has to be embedded again."""
    assert embedding_mark(text, "e5") == embedding_mark(text, "e5")
    assert len({embedding_mark(text, "e5"), embedding_mark(text, "bge"), embedding_mark(text + ".", "e5")}) == 3


class Model:
    """An embedding model with the methods of LangChain's."""

    def __init__(self, **attributes: object) -> None:
        vars(self).update(attributes)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0]

    def __call__(self, texts: object) -> Any:
        return [[1.0]]


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ({"model_name": "e5", "model": "bge"}, "e5"),
        ({"model": "向量模型"}, "向量模型"),
        ({"model_name": "", "model": object()}, "Model"),
        ({}, "Model"),
    ],
)
def test_the_embedder_of_a_model_has_the_name_of_the_model(attributes: dict[str, object], name: str) -> None:
    embedder = ModelEmbedder(Model(**attributes))
    assert (embedder.name, embedder_name(embedder)) == (name, name)


def test_an_embedder_without_a_name_is_told_by_where_it_is_defined() -> None:
    """The same in every process: no address, no count."""
    module = __name__
    assert embedder_name(Model(name="e5")) == "e5"
    assert embedder_name(Model(name=7)) == embedder_name(Model(name="")) == f"{module}.Model"
    assert embedder_name(fails) == f"{module}.fails"
    assert embedder_name(Model().embed_documents) == f"{module}.Model.embed_documents"
