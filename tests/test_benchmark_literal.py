"""The specification read word for word."""

from __future__ import annotations

from benchmarks.data import Block
from benchmarks.literal import LiteralGate, LiteralSpecification, anchors


def test_the_literal_specification_takes_words_and_pairs_and_triples() -> None:
    assert anchors("Redis缓存好 v2") == ["redis", "缓存", "存好", "缓存好", "v2"]


def test_the_literal_specification_stops_when_each_anchor_is_covered_once() -> None:
    blocks = [Block((), "the lighthouse", "the cape") for at in range(5)]
    assert len(LiteralSpecification(blocks).rank("the lighthouse of the cape")) == 1


def test_the_literal_specification_stops_at_its_share_of_the_idf() -> None:
    # ln(1 + 5.5/1.5) = 1.54 for the lighthouse, ln(1 + 1.5/5.5) = 0.24 for "of": the first is 86 % of both.
    blocks = [Block((), "lighthouse", ""), *(Block((), "of", "") for at in range(1, 6))]
    assert LiteralSpecification(blocks).rank("lighthouse of") == [0]


def test_the_literal_gate_switches_below_its_thresholds_and_stays_at_a_referring_word() -> None:
    gate = LiteralGate()
    assert gate.switches("anything")
    gate.read("how do I bake bread with rye flour", switched=True)
    assert gate.switches("which train goes north")
    assert not gate.switches("which train does it need")
    assert not gate.switches("rye bread")
