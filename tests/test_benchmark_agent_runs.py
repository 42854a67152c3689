"""The benchmark of recorded runs finds the values that a call uses, and whether they are sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.agent_runs import POLICIES, main, measure, questions
from gatekeeper_core.messages import Message

if TYPE_CHECKING:
    from pathlib import Path


def recorded(name: str, rounds: int, line: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Fix {name}"}]
    for at in range(rounds):
        path = f"src/{name}_{max(0, at - 5)}.py"
        call = {
            "id": f"c{at}",
            "type": "function",
            "function": {"name": "read", "arguments": json.dumps({"path": path})},
        }
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{at}", "content": f"{line * 200} src/{name}_{at + 1}.py"})
    return messages


def test_a_value_is_far_where_no_message_of_the_last_three_rounds_has_it() -> None:
    run = [Message.from_dict(message) for message in recorded("tax", 8, "x ")]
    assert [(at, used) for at, used in questions(run, ()) if used] == [
        *((at, {"src/tax_0.py": False}) for at in (3, 5, 7, 9, 11)),
        (13, {"src/tax_1.py": True}),
        (15, {"src/tax_2.py": True}),
    ]


def test_everything_has_all_values_and_a_window_has_lost_the_far_ones() -> None:
    run = [Message.from_dict(message) for message in recorded("税率", 9, "断言失败 ")]
    full = measure(run, (), POLICIES["everything"](0, len), 0, len)
    short = measure(run, (), POLICIES["window of 5"](0, len), 0, len)
    assert full["recall"] == full["recall_calls"] > 0
    assert short["far"] < full["far"]
    assert short["task"] == full["task"] == full["calls"]


@pytest.mark.parametrize("line", ["断言失败 ", "assertion failed "])
def test_the_command_measures_each_policy_within_its_budget(line: str, tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    runs = [{"kind": "run", "messages": recorded(name, 40, line)} for name in ("tax", "rate")]
    (tmp_path / "agents" / "made_up.jsonl").write_text("\n".join(map(json.dumps, runs)), encoding="utf-8")
    main(["--data", str(tmp_path), "--quick", "--counter", "estimate", "--json", str(tmp_path / "out.json")])
    tables = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["tables"]
    assert list(tables) == ["2 coding runs, 4,000 tokens", "2 coding runs, 8,000 tokens"]
    rows = {row["policy"]: row for row in tables["2 coding runs, 4,000 tokens"]}
    assert list(rows) == list(POLICIES)
    assert (rows["everything"]["$"], rows["everything"]["recall"]) == ("1.00", 100.0)
    assert float(rows["the same, delayed"]["$"]) <= min(1.02, float(rows["clear old tool results"]["$"]))
    assert [rows[name]["over"] for name in ("gate", "cache", "trim_messages (human, ai)")] == [0.0] * 3
    assert rows["gate"]["recall"] > rows["trim_messages (human)"]["recall"]
