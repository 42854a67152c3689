"""The benchmark of an agent loop measures limits, stable prefixes and what is found again."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.agent_loop import FACT, Shelf, main, pieces, planted, pointers, row_of, run_loop
from gatekeeper_core.context.compaction import compact_messages
from gatekeeper_core.messages import Message

if TYPE_CHECKING:
    from pathlib import Path

OUTPUTS = ["".join(f"{number} 服务 restarted after 3 s\n" for number in range(600)), "ok", "x" * 9_000]


def compacted(prompt: list[Message]) -> list[Message]:
    return compact_messages(prompt, max_tokens=9_000, max_chars=9_000, token_counter=len, summarizer=pointers).messages


def test_a_loop_of_many_rounds_stays_under_its_limit_and_changes_only_when_it_is_compacted() -> None:
    """002-10, 002-12, 002-32: and the calls of all rounds are known at the end."""
    loop = run_loop(planted(pieces(OUTPUTS, 60)), compacted, count=len)
    assert max(step.tokens for step in loop.steps) <= 9_000
    assert all(step.stable is not step.compacted for step in loop.steps)
    assert 0 < sum(step.compacted for step in loop.steps) < 40
    assert loop.calls_known == 60


def test_a_fact_of_an_early_round_is_found_through_its_pointer() -> None:
    loop = run_loop(planted(pieces(OUTPUTS, 30)), compacted, count=len)
    assert (loop.fact_in_prompt, loop.fact_by_pointer) == (False, True)


def test_a_shelf_takes_large_results_only() -> None:
    shelf = Shelf()
    assert shelf.put("short") == "short"
    shown = shelf.put("a" * 9_000 + FACT)
    assert len(shown) < 9_000
    assert shelf.find([Message("tool", shown)], FACT)
    assert not Shelf().find([Message("tool", shown)], FACT)


def test_pieces_go_through_the_outputs_again_and_again() -> None:
    assert pieces(["abcdef", "xy"], 5, size=4) == ["abcd", "xy", "ef", "xy", "cdef"]


def test_a_row_leaves_the_first_step_out_of_the_shares() -> None:
    row = row_of("all", run_loop(["a", "b", "c", "d"], lambda prompt: prompt, count=len), 10_000)
    assert (row["steps"], row["over limit"], row["stable steps %"], row["compactions"]) == (4, 0, 100.0, 0)


def test_the_command_prints_a_row_for_each_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "tool_results"
    folder.mkdir()
    lines = (json.dumps({"name": "log", "text": text}) for text in OUTPUTS)
    (folder / "tool_outputs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["agent_loop", "--data", str(tmp_path), "--rounds", "8"])
    main()
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("low water 60%", "newest 3 rounds", "nothing"))
