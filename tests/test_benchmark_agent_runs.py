"""The benchmark of recorded runs finds the values that a call uses, and whether they are sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.agent_runs import (
    OURS,
    PEER,
    POLICIES,
    Recorded,
    bills,
    first_rounds,
    joined,
    main,
    measure,
    observed_by_user,
    questions,
    times,
)
from gatekeeper_core.messages import Message, ToolCall

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


def steps(*paths: str, result: str = "-") -> list[Message]:
    """Return a round for each path, of 10 characters beside path and result."""
    calls = [ToolCall("c", "r", json.dumps({"p": path})) for path in paths]
    return [
        message
        for call in calls
        for message in (Message("assistant", "", tool_calls=(call,)), Message("tool", result, tool_call_id="c"))
    ]


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


def test_recall_far_and_cost_of_a_run_that_loses_its_oldest_result_are_as_worked_out_by_hand() -> None:
    run = [Message("user", "Fix"), *steps("aa.py", result="see bb.py"), *steps("dd.py", "ee.py", "ff.py", "bb.py")]
    run.append(Message("assistant", "Done: ee.py and cc.py"))  # in the call three rounds back, and in nothing
    sums = measure(run, (), lambda sent: [each for each in sent if each.text != "see bb.py"], 34, len)
    assert (sums["recall_calls"], sums["recall"], sums["far_calls"], sums["far"]) == (2, 1, 1, 0)
    sizes = [3, 18, 34, 50, 66, 82]  # of the prompts, each the beginning of the next one
    assert (sums["calls"], sums["tokens"], sums["over"], sums["task"]) == (6, sum(sizes), 3, 6)
    assert sums["cost"] == pytest.approx(1.25 * sizes[-1] + 0.1 * sum(sizes[:-1]))
    assert measure(run, (), list, 0, len)["far"] == 1


def test_a_bill_has_the_mean_and_the_worst_ratio_of_its_runs() -> None:
    runs = [
        [Message("user", "Fix"), *steps(*map("{}.py".format, range(count)), result="-" * 86)] for count in (5, 5, 7)
    ]
    table = bills([Recorded(run) for run in runs], 10_000, ("everything", "window of 5", "cache"), len)
    # Before the last call of the long run a window of 5 drops a round: of 503 characters only the task is cached.
    shared = 1.25 * 503 + 0.1 * (3 + 103 + 203 + 303 + 403)
    worst = (shared + 0.1 * 3 + 1.25 * 500) / (shared + 0.1 * 503 + 1.25 * 100)
    assert [[*row.values()][1:3] for row in table] == [
        ["1.00", "1.00"],
        [f"{(1 + 1 + worst) / 3:.2f}", f"{worst:.2f}"],
        ["1.00", "1.00"],
    ]


def test_a_run_is_cut_to_twelve_rounds_written_with_observations_of_the_user_and_joined() -> None:
    system = Message("system", "Policy")
    run = [system, Message("user", "Fix"), *steps(*"abcdefghijklmn", result="ok")]
    assert first_rounds(run) == run[:26]
    assert first_rounds(run[:8]) == run[:8]
    native = observed_by_user(run)
    assert [message.role for message in native[:5]] == ["system", "user", "assistant", "user", "assistant"]
    assert [message.text for message in native[2:4]] == ['\nr {"p": "a"}', "Observation:\nok"]
    assert observed_by_user(steps("a", result="<output>ok"))[1] == Message("user", "<output>ok")
    runs = [Recorded(run), Recorded([system, Message("user", "Again"), *steps("z")])]
    assert joined(runs, "assistant", 16)[28:] == [*run[-2:], *runs[1].messages[2:], run[2]]
    assert [each.text for each in joined(runs, "user", 4) if each.role in ("system", "user")] == [
        *("Policy", "Fix", "Again", "Fix", "Again")
    ]


def test_times_are_those_of_each_policy_and_ratios_to_the_first() -> None:
    run = [Message("user", "Fix"), *steps(*map("{}.py".format, range(60)))]
    table = times(run, 8_000, (PEER, "gate"), 5)
    assert [row["policy"] for row in table] == [PEER, "gate"]
    assert (table[0]["ratio"], table[0]["p95 ratio"]) == ("1.00", "1.00")
    assert float(table[1]["ratio"]) == pytest.approx(table[1]["median"] / table[0]["median"], abs=0.005)
    assert all(0 < row["median"] <= row["p95"] for row in table)


def test_the_command_measures_each_policy_within_its_budget(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    runs = [{"kind": "run", "messages": recorded(name, 16, "断言失败 failed ")} for name in ("tax", "rate")]
    talk = {"role": "user", "content": "And now?"}, {"role": "assistant", "content": "Wait."}
    runs += [{"kind": "chat", "messages": [*talk] * count} for count in (3, 30)]
    (tmp_path / "agents" / "made_up.jsonl").write_text("\n".join(map(json.dumps, runs)), encoding="utf-8")
    main(["--data", str(tmp_path), "--quick", "--counter", "estimate", "--json", str(tmp_path / "out.json")])
    tables = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["tables"]
    assert list(tables) == [
        *(f"1 tau-bench chats, {budget} tokens" for budget in ("3,000", "8,000")),
        *(f"1 times six tau-bench chats in a row, {budget} tokens" for budget in ("3,000", "8,000")),
        *(f"2 coding runs, {budget} tokens" for budget in ("4,000", "8,000", "16,000")),
        *(f"2 coding runs, observations as the user, {budget} tokens" for budget in ("4,000", "8,000")),
        *(f"2 coding runs cut to 12 rounds, {budget} tokens" for budget in ("4,000", "8,000", "16,000")),
        *(f"CPU ms of a call: {past}, 8,000 tokens" for past in ("100 to 150 rounds", "about 1,000 older turns")),
    ]
    assert [row["policy"] for row in tables["CPU ms of a call: 100 to 150 rounds, 8,000 tokens"]] == [PEER, *OURS]
    rows = {row["policy"]: row for row in tables["2 coding runs, 4,000 tokens"]}
    assert list(rows) == list(POLICIES)
    assert (rows["everything"]["$"], rows["everything"]["recall"]) == ("1.00", 100.0)
    assert float(rows["the same, delayed"]["$"]) <= min(1.02, float(rows["clear old tool results"]["$"]))
    assert [rows[name]["over"] for name in ("gate", "cache", "trim_messages (human, ai)")] == [0.0] * 3
    assert rows["gate"]["recall"] > rows["trim_messages (human)"]["recall"]
