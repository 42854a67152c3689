"""The benchmark of the adapters counts what it says: valid histories and broken rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.adapters import MEASURES, PROVIDERS, Case, judge, main
from gatekeeper_core import Message, ToolCall

if TYPE_CHECKING:
    from pathlib import Path


CALL = ToolCall("c1", "search", '{"query": "port"}')
ANSWERED = (Message("assistant", "", tool_calls=(CALL,)), Message("tool", "6380", tool_call_id="c1"))
SYSTEM = Message("system", "be brief")
PAST = (Message("user", "which port"), *ANSWERED, Message("assistant", "the port is 6380"))
QUESTION = Message("user", "缓存的端口呢")
CASE = Case((SYSTEM, *PAST, QUESTION), budget=100, head=1, start=5)
MESSAGES = list(CASE.messages)


CALL_MESSAGE = Message("assistant", "", tool_calls=(CALL,))
OPEN = Case((QUESTION, CALL_MESSAGE), budget=100, head=0, start=0)
EARLIER = "From earlier: which port"


@pytest.mark.parametrize(
    ("sent", "case", "rules"),
    [
        ([SYSTEM, PAST[0], PAST[2], PAST[3], QUESTION], CASE, {*PROVIDERS}),
        ([SYSTEM], CASE, {*PROVIDERS, "user lost"}),
        ([SYSTEM, PAST[3], QUESTION], CASE, {"anthropic", "gemini"}),
        ([SYSTEM, PAST[0], QUESTION], CASE, {"strict"}),
        (MESSAGES[1:], CASE, {"system lost"}),
        ([QUESTION, CALL_MESSAGE], OPEN, set()),
        ([CALL_MESSAGE, QUESTION], OPEN, {*PROVIDERS}),
        ([SYSTEM, Message("user", f"{EARLIER}\n\n{QUESTION.text}")], CASE, set()),
        ([SYSTEM, Message("user", f"{EARLIER}\n\n{QUESTION.text[1:]}")], CASE, {"user lost"}),
        ([SYSTEM, Message("user", f"{QUESTION.text}\n\n{EARLIER}")], CASE, {"user lost"}),
    ],
    ids=[
        *("a result without its call", "system messages alone", "the assistant first", "two user messages"),
        *("no system message", "a call that waits", "a call that waits before the end"),
        *("earlier turns before the question", "the question cut", "earlier turns behind the question"),
    ],
)
def test_a_prompt_breaks_these_rules(sent: list[Message], case: Case, rules: set[str]) -> None:
    assert {name for name, value in judge(case, sent, history_only=False).items() if value} == rules


def test_a_small_run_finds_nothing_broken_by_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "figures.json"
    assert main(["--prompts", "10", "--json", str(path)]) == 0
    (rows,) = json.loads(path.read_text(encoding="utf-8"))["tables"].values()
    ours = [row for row in rows if row["whose"] == "ours"]
    assert len(ours) == 10
    assert all(row[name] in ("0.0 / 0.0", "-") for row in ours for name in MEASURES)
    assert "nothing broken" in capsys.readouterr().out
