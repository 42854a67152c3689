"""The price list in the documentation is the one in the code."""

from __future__ import annotations

from pathlib import Path

from gatekeeper_core.pricing.cache import _MAX_PREFIXES, _POSITIONS_PER_MARK, MAX_MARKS
from gatekeeper_core.pricing.prices import PRICES, UNKNOWN, ModelPrices

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pricing.md"
HEAD = [
    "| model | input | output | cached | written | smallest prefix | step | lifetime | marks |",
    "|---|--:|--:|--:|--:|--:|--:|--:|---|",
]


def line_of(name: str, row: ModelPrices) -> str:
    cached: list[object] = ["–"] * 5
    if row.min_cached_tokens is not None:
        minutes = f"{row.lifetime_seconds / 60:g} min"
        cached = [f"{row.cache_read:g}", f"{row.cache_write:g}", f"{row.min_cached_tokens:,}", row.step_tokens, minutes]
    cells = [f"`{name}`", f"{row.input:g}", f"{row.output:g}", *cached, "yes" if row.marked else ""]
    return "| " + " | ".join(map(str, cells)).rstrip() + " |"


def test_the_list_on_the_page_is_the_one_in_the_code() -> None:
    """Where it is not, ``python -m tests.pricing.test_page`` writes it."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- prices -->\n")
    assert before
    shown = rest.partition("<!-- end of the prices -->")[0].strip().splitlines()
    assert shown == [*HEAD, *(line_of(name, PRICES[name]) for name in PRICES)]


def test_the_page_gives_the_limits_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert MAX_MARKS == 4
    assert "at most four" in text
    assert f"up to {_POSITIONS_PER_MARK - 1} pieces before" in text
    assert f"the {_MAX_PREFIXES:,} used last" in text
    assert f"cached tokens at {UNKNOWN.cache_read / UNKNOWN.input:.0%}".replace("%", " %") in text
    assert all(f"{row.source.partition(',')[0]}" in text.replace("\n", " ") for row in PRICES.values())


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- prices -->\n")
    table = "\n".join([*HEAD, *(line_of(name, PRICES[name]) for name in PRICES)])
    end = "<!-- end of the prices -->" + rest.partition("<!-- end of the prices -->")[2]
    PAGE.write_text(f"{before}<!-- prices -->\n\n{table}\n\n{end}", encoding="utf-8")
