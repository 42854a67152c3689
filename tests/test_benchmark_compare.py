"""What different ways to choose would send."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.compare import METHODS, Comparison, Sent, compare_ways, main
from gatekeeper_cli.conversation import CONVERSATION, QUESTIONS
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.planner import GatekeeperConfig
from tests.conversations import HOSTILE, PAIRS, turns_of
from tests.conversations import QUESTIONS as SHORT_QUESTIONS

if TYPE_CHECKING:
    from pathlib import Path

TURNS = turns_of(list(CONVERSATION))


def row(comparison: Comparison, method: str, budget: int) -> Sent:
    (found,) = [sent for sent in comparison.sent if (sent.method, sent.token_budget) == (method, budget)]
    return found


@pytest.mark.parametrize("query", [question.text for question in QUESTIONS])
def test_everything_but_the_full_history_is_within_its_budget(query: str) -> None:
    comparison = compare_ways(TURNS, query, budgets=(100, 1000))
    assert len(comparison.sent) == 2 * len(METHODS)
    for sent in comparison.sent:
        assert comparison.fits(sent) == (sent.method != "full_history")
        assert list(sent.turn_ids) == sorted(sent.turn_ids)


@pytest.mark.parametrize("query", [QUESTIONS[0].text, QUESTIONS[4].text])
def test_the_gatekeepers_rows_are_its_own_selections(query: str) -> None:
    comparison = compare_ways(TURNS, query, budgets=(400,))
    for mode in ("minimal", "fill"):
        gatekeeper = ContextGatekeeper(400, config=GatekeeperConfig(mode=mode))  # type: ignore[arg-type]
        gatekeeper.sync(TURNS)
        selection, sent = gatekeeper.explain(query), row(comparison, mode, 400)
        assert sent.turn_ids == tuple(turn.turn_id for turn in selection.turns)
        assert (sent.tokens, sent.anchors_held) == (selection.tokens, len(selection.covered))


def test_full_history_is_everything_and_the_window_its_end() -> None:
    comparison = compare_ways(TURNS, QUESTIONS[0].text, budgets=(500,))
    full, window = row(comparison, "full_history", 500), row(comparison, "window", 500)
    assert full.turn_ids == tuple(range(41))
    assert full.tokens == comparison.history_tokens
    assert window.turn_ids == tuple(range(41))[-len(window.turn_ids) :]
    assert window.turn_ids


@pytest.mark.parametrize("language", PAIRS)
def test_the_literal_specification_finds_what_shares_words_but_stops_at_one_mention(language: str) -> None:
    comparison = compare_ways(turns_of(PAIRS[language]), SHORT_QUESTIONS[language], budgets=(4000,))
    literal, minimal = row(comparison, "literal", 4000), row(comparison, "minimal", 4000)
    assert set(literal.turn_ids) & {0, 1}
    assert {0, 1} <= set(minimal.turn_ids)
    assert minimal.anchors_held >= literal.anchors_held


def test_a_conversation_without_turns_and_hostile_text_are_compared() -> None:
    empty = compare_ways((), HOSTILE, budgets=(10,))
    assert {sent.turn_ids for sent in empty.sent} == {()}
    value = compare_ways(turns_of([(HOSTILE, HOSTILE)]), HOSTILE, budgets=(10, 4000)).to_dict()
    assert json.loads(json.dumps(value)) == value


def test_the_program_prints_a_table_for_each_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text("".join(json.dumps({"user": user, "assistant": said}) + "\n" for user, said in PAIRS["mixed"]))
    monkeypatch.setattr(sys, "argv", ["compare", str(file), SHORT_QUESTIONS["mixed"], "--budget", "10,4000"])
    main()
    printed = capsys.readouterr().out
    assert printed.count("budget ") >= 2
    assert [printed.count(f"{method} ") for method in METHODS] == [2] * len(METHODS)
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--json"])
    main()
    comparison = compare_ways(turns_of(PAIRS["mixed"]), SHORT_QUESTIONS["mixed"], budgets=(10, 4000))
    assert json.loads(capsys.readouterr().out) == comparison.to_dict()
