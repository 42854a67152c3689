"""The benchmark of token estimates and the fit of their weights, on made-up texts."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import fit_tokens, tokens
from gatekeeper_core.token_estimate import CLASSES, TokenEstimator

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def segments(tmp_path: Path) -> fit_tokens.Segments:
    """Three kinds of text whose true counts are those of the library's own weights."""
    samples = {"zh": "缓存穿透怎么解决？", "en": "How do I fix the cache? ", "num": "12,345.6;\n"}
    rows = [
        {
            "domain": kind,
            "text": text * at,
            "tokens": {name: TokenEstimator(name)(text * at) for name in fit_tokens.PROFILES},
        }
        for kind, text in samples.items()
        for at in range(1, 12)
    ]
    path = tmp_path / "segments.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(f"{json.dumps(row)}\n" for row in rows)
    return fit_tokens.read_segments(path)


def test_the_fit_finds_what_explains_the_counts(segments: fit_tokens.Segments) -> None:
    weights = fit_tokens.fit(segments, segments.of([]), "o200k")
    errors = segments.counts @ weights / segments.tokens["o200k"] - 1
    assert fit_tokens.mean_error(segments.kinds, errors) < 10
    floors = np.array([fit_tokens.FLOORS.get(name, 0.0) for name in CLASSES])
    assert (weights >= floors).all()


@pytest.mark.parametrize(("text", "count"), [("hello world", 3), ("你好世界", 3), ("", 0)])
def test_the_blend_is_the_first_rule_of_the_specification(text: str, count: int) -> None:
    """001-62, 004-56: a peer in the benchmark of estimates, and nowhere else."""
    assert tokens.blend(text) == count


@pytest.mark.parametrize(("text", "count"), [("hello world", 4), ("hello, world!", 4), ("你好世界", 2), ("", 0)])
def test_a_token_for_every_three_and_a_half_characters_is_a_peer(text: str, count: int) -> None:
    """002-30: the middle of the specification's second rule, a peer in the benchmark and nowhere else."""
    peer = tokens.peers(None)["3.5 characters"]
    assert peer is not None
    assert peer([text]) == [count]
