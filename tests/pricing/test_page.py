"""The page about prices gives the figures of the code."""

from __future__ import annotations

from pathlib import Path

from gatekeeper_core.pricing.cache import _MAX_PREFIXES, _POSITIONS_PER_MARK, MAX_MARKS
from gatekeeper_core.pricing.prices import PRICES, UNKNOWN

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pricing.md"


def test_the_page_gives_the_limits_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert MAX_MARKS == 4
    assert "at most four" in text
    assert f"up to {_POSITIONS_PER_MARK - 1} pieces before" in text
    assert f"the {_MAX_PREFIXES:,} used last" in text
    assert f"cached tokens at {UNKNOWN.cache_read / UNKNOWN.input:.0%}".replace("%", " %") in text
    assert all(f"{row.source.partition(',')[0]}" in text.replace("\n", " ") for row in PRICES.values())
