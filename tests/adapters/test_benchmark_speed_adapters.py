"""The benchmark of unchanged histories measures every adapter, above its store's own read."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.speed_adapters import adapters, conversation, main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.adapters,
    pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning"),
]


def test_every_adapter_reads_its_store_and_gives_the_same_again() -> None:
    given, loop = conversation(9, shape="tools", seed=1), asyncio.new_event_loop()
    try:
        running = adapters(given, loop.run_until_complete)
        assert len({adapter.name for adapter in running}) == len(running) == 7
        for adapter in running:
            assert adapter.call() == adapter.call()
            assert adapter.read() is None or len(adapter.read()) in (8, 9)  # type: ignore[arg-type]
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def test_the_program_writes_one_row_for_each_adapter_and_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--sizes", "9", "--rounds", "1", "--json", str(tmp_path / "figures.json")])
    rows = json.loads((tmp_path / "figures.json").read_text())["tables"]["unchanged"]
    assert len(rows) == 14
    assert all(float(row["first, ms"]) > 0 for row in rows)
    assert "GatekeeperMemory.aget" in capsys.readouterr().out
