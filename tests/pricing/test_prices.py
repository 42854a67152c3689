"""The price list, the prices of a model, and a list of one's own."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.pricing.prices import PRICES, UNKNOWN, ModelPrices, prices_of_model, read_prices
from gatekeeper_core.pricing.usage import Usage
from tests.case_files import from_file

ROW = {"input": 2.0, "output": 8.0}


@from_file("name", "paid", "smallest", "marked")
def test_each_family_has_its_prices(name: str, paid: list[float], smallest: int | None, marked: bool) -> None:
    prices = prices_of_model(name)
    assert [prices.input, prices.output, prices.cache_read, prices.cache_write] == paid
    assert (prices.min_cached_tokens, prices.marked) == (smallest, marked)


def test_every_row_names_its_source_and_its_date_and_never_a_place_on_a_machine() -> None:
    for row in PRICES.values():
        assert row.source
        assert "/" not in row.source
        assert date.fromisoformat(row.as_of).year >= 2026
    assert all(name == name.lower() for name in PRICES)


def test_no_row_is_less_favourable_to_a_selection_than_that_of_an_unknown_model() -> None:
    for name, row in PRICES.items():
        assert UNKNOWN.cache_read / UNKNOWN.input <= row.cache_read / row.input, name
        assert UNKNOWN.cache_write / UNKNOWN.input >= row.cache_write / row.input, name
        assert UNKNOWN.lifetime_seconds >= row.lifetime_seconds, name


def test_dollars_count_each_kind_of_token_once() -> None:
    prices = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=3.75)
    usage = Usage(1_000_000, 200_000, cached_tokens=600_000, cache_written_tokens=300_000)
    assert prices.dollars(usage) == pytest.approx(0.1 * 3 + 0.6 * 0.3 + 0.3 * 3.75 + 0.2 * 15)


def test_a_list_of_ones_own_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"house-model": {**ROW, "cache_read": 0.2, "marked": True}}), encoding="utf-8")
    for given_path in (path, str(path)):
        row = prices_of_model("house-model-7b", read_prices(given_path))
        assert row == ModelPrices(input=2.0, output=8.0, cache_read=0.2, cache_write=2.0, marked=True)


def test_ones_own_rows_win_over_ours_for_every_model_that_they_name() -> None:
    mine = read_prices({"GPT-5": ROW})
    for name in ("gpt-5", "openai/gpt-5-mini", "gpt-5.5-pro"):
        row = prices_of_model(name, mine)
        assert row.input == 2.0
    assert prices_of_model("gpt-4o", mine) == PRICES["gpt-4o"]


@from_file("content", "says")
def test_a_list_that_is_none_is_refused_with_what_to_do(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"prices\.json") as caught:
        read_prices(path)
    assert says in str(caught.value)
