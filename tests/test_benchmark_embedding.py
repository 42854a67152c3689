"""The benchmarks' embeddings are kept from run to run, so that a text is encoded once."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from benchmarks import embedding
from benchmarks.embedding import embed, kept_vectors
from benchmarks.peers import missing

if TYPE_CHECKING:
    from pathlib import Path


def test_a_peer_with_a_model_is_missing_where_its_packages_are() -> None:
    assert missing("MiniLM") is any(find_spec(package) is None for package in embedding.MODEL_PACKAGES)
    assert not missing("recency window")


def test_nothing_is_kept_without_a_file() -> None:
    with kept_vectors(None):
        pass


@pytest.mark.adapters  # numpy comes with LlamaIndex
def test_a_text_of_an_earlier_run_is_not_encoded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    encoded: list[str] = []

    class Model:
        def encode(self, texts: list[str], **_options: object) -> object:
            encoded.extend(texts)
            return np.array([[float(len(text)), 1.0] for text in texts])

    monkeypatch.setattr(embedding, "_model", Model)
    path = tmp_path / "vectors.npz"
    for texts in (["风筝", "kite"], ["kite", "sea"]):
        monkeypatch.setattr(embedding, "_vectors", {})
        with kept_vectors(path):
            assert embed(texts).tolist() == [[len(text), 1.0] for text in texts]
    assert encoded == ["风筝", "kite", "sea"]
