"""The benchmarks' curves: read between their points, compared at equal tokens, drawn the same each time."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from benchmarks.curves import compare, recall_at
from benchmarks.plot import TIME, draw_curves

CURVE = [(100.0, 40.0), (400.0, 60.0), (1600.0, 70.0)]


@pytest.mark.parametrize(("tokens", "recall"), [(100, 40.0), (200, 50.0), (400, 60.0), (800, 65.0), (1600, 70.0)])
def test_a_curve_is_read_linearly_in_log_tokens(tokens: float, recall: float) -> None:
    assert recall_at(list(reversed(CURVE)), tokens) == pytest.approx(recall)


@pytest.mark.parametrize("tokens", [99, 1601])
def test_a_curve_is_not_read_beyond_its_ends(tokens: float) -> None:
    with pytest.raises(ValueError, match="outside"):
        recall_at(CURVE, tokens)


def test_two_curves_are_compared_at_equal_tokens() -> None:
    lower = [(tokens, recall - 3.0) for tokens, recall in CURVE]
    result = compare(CURVE, lower, low=130, high=1000)
    assert result is not None
    assert (result.mean, result.worst) == (pytest.approx(3.0), pytest.approx(3.0))
    assert (result.low, result.high) == (130, 1000)


def test_the_worst_place_and_the_mean_of_two_crossing_curves_are_found() -> None:
    # The difference falls linearly in log tokens from +4 at 100 to -2 at 10,000: mean +1, worst at the right end.
    result = compare([(100, 4.0), (10_000, 8.0)], [(100, 0.0), (10_000, 10.0)], low=1, high=1e6)
    assert result is not None
    assert result.mean == pytest.approx(1.0)
    assert (result.worst, result.worst_at) == (pytest.approx(-2.0), pytest.approx(10_000))
    assert (result.low, result.high) == (100, 10_000)


def test_a_plot_is_well_formed_holds_every_curve_and_is_the_same_each_time() -> None:
    curves = {"ours <default>": CURVE, "peer": [(0.0, 0.0), (250.0, 30.0)]}
    svg = draw_curves("Recall & tokens", curves)
    root = ET.fromstring(svg)  # noqa: S314 - our own file
    lines = root.findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [3, 1]
    assert svg == draw_curves("Recall & tokens", curves)


def test_a_plot_of_times_is_logarithmic_both_ways_and_what_lies_beyond_is_drawn_at_its_edge() -> None:
    svg = draw_curves("Growth", {"ours": [(100, 1.0), (1000, 10.0), (10_000, 100.0), (100_000, 1e9)]}, axes=TIME)
    (line,) = ET.fromstring(svg).findall("{http://www.w3.org/2000/svg}polyline")  # noqa: S314 - our own file
    across, up = zip(*(map(float, point.split(",")) for point in line.attrib["points"].split()), strict=True)
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.2)
    assert up[0] - up[1] == pytest.approx(up[1] - up[2], abs=0.2)
    assert up[0] - up[1] > 50
    assert up[3] == pytest.approx(40)  # the upper edge
