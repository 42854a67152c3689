"""The benchmarks' embeddings are kept from run to run, so that a text is encoded once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks import embedding
from benchmarks.embedding import SentenceModel, kept_vectors

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.adapters  # numpy comes with LlamaIndex
def test_a_text_of_an_earlier_run_is_not_encoded_again_by_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []

    def length(texts: list[str]) -> list[list[float]]:
        encoded.extend(texts)
        return [[float(len(text)), 1.0] for text in texts]

    path = tmp_path / "vectors.npz"
    for texts in (["风筝", "kite"], ["kite", "sea"]):
        small, large = SentenceModel("small", (), lambda: length), SentenceModel("large", (), lambda: length)
        monkeypatch.setattr(embedding, "MINI_LM", small)
        monkeypatch.setattr(embedding, "MULTILINGUAL", large)
        with kept_vectors(path):
            assert small(texts).tolist() == [[len(text), 1.0] for text in texts]
            assert large(texts[:1]).tolist() == [[len(texts[0]), 1.0]]
    assert encoded == ["风筝", "kite", "风筝", "sea", "kite"]
