"""The benchmark of the adapters counts what it says: valid histories and broken rules."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.adapters import (
    MEASURES,
    PROVIDERS,
    Case,
    Subject,
    cost,
    from_langchain,
    from_llama_index,
    generate_cases,
    judge,
    main,
    measure,
    rule_rows,
    share,
    to_langchain,
    to_llama_index,
    unclean,
)
from gatekeeper_core import Message, ToolCall
from gatekeeper_core.messages import validate_messages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = [
    pytest.mark.adapters,
    pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning"),
]

CALL = ToolCall("c1", "search", '{"query": "port"}')
ANSWERED = (Message("assistant", "", tool_calls=(CALL,)), Message("tool", "6380", tool_call_id="c1"))
SYSTEM, GREETING = Message("system", "be brief"), Message("assistant", "welcome")
PAST = (Message("user", "which port"), *ANSWERED, Message("assistant", "the port is 6380"))
QUESTION = Message("user", "缓存的端口呢")
CASE = Case((SYSTEM, *PAST, QUESTION), budget=100, head=1, start=5)
WHOLE = list(CASE.messages)

each_column = pytest.mark.parametrize("open_run", [False, True], ids=["A", "B"])


def broken(sent: Sequence[Message], case: Case = CASE, *, history_only: bool = False) -> set[str]:
    return {name for name, value in judge(case, sent, history_only=history_only).items() if value}


@each_column
def test_the_histories_are_valid_and_break_no_rule_but_the_budget(open_run: bool) -> None:
    """But for a greeting, which some providers refuse."""
    for case in generate_cases(200, seed=7, open_run=open_run):
        assert broken(case.messages, case) <= {"over"}
        messages = case.messages[case.head :]
        messages = messages[1:] if messages[0].role == "assistant" else messages
        for provider in PROVIDERS:
            assert not validate_messages(messages, provider=provider, open_run=open_run)  # type: ignore[arg-type]


ASKED = Message("assistant", "", tool_calls=(CALL,))
OPEN = Case((QUESTION, ASKED), budget=100, head=0, start=0)
EARLIER = "From earlier: which port"


@pytest.mark.parametrize(
    ("sent", "case", "rules"),
    [
        ([SYSTEM, PAST[0], PAST[2], PAST[3], QUESTION], CASE, {*PROVIDERS}),
        ([SYSTEM], CASE, {*PROVIDERS, "user lost"}),
        ([SYSTEM, PAST[3], QUESTION], CASE, {"anthropic", "gemini"}),
        ([SYSTEM, PAST[0], QUESTION], CASE, {"strict"}),
        (WHOLE[1:], CASE, {"system lost"}),
        ([QUESTION, ASKED], OPEN, set()),
        ([ASKED, QUESTION], OPEN, {*PROVIDERS}),
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
    assert broken(sent, case) == rules


def test_what_does_not_apply_to_a_case_is_not_held_against_a_class() -> None:
    greeted = Case((GREETING, QUESTION), budget=100, head=0, start=1)
    assert judge(greeted, greeted.messages, history_only=False)["anthropic"] is None
    assert judge(Case(CASE.messages[1:], 100, 0, 4), WHOLE[1:], history_only=False)["system lost"] is None
    assert judge(Case(CASE.messages, 1, 1, 5), [], history_only=True)["system lost"] is None


def test_over_the_budget_counts_only_where_head_and_current_turn_fit() -> None:
    fits = Case(CASE.messages, budget=cost((SYSTEM, QUESTION)), head=1, start=5)
    too_big = Case(CASE.messages, budget=fits.budget - 1, head=1, start=5)
    assert judge(fits, WHOLE, history_only=False)["over"] is True
    assert judge(fits, [SYSTEM, QUESTION], history_only=False)["over"] is False
    assert judge(too_big, WHOLE, history_only=False)["over"] is None


def test_a_history_alone_has_a_hard_limit_and_no_current_message() -> None:
    case = Case(CASE.messages, budget=cost((SYSTEM, *PAST)), head=1, start=5)
    assert broken(case.past, case, history_only=True) == set()
    smaller = Case(CASE.messages, budget=case.budget - 1, head=1, start=5)
    assert broken(smaller.past, smaller, history_only=True) == {"over"}
    assert judge(case, case.past, history_only=True)["user lost"] is None
    assert broken(PAST, Case(CASE.messages, 1, 1, 5), history_only=True) == {"over"}


def test_a_share_is_of_the_prompts_that_a_measure_applies_to() -> None:
    broken = [{"over": value, "strict": None} for value in (True, False, False, None)]
    assert (share(broken, "over"), share(broken, "strict")) == ("33.3", "-")


@pytest.mark.parametrize(
    "there_and_back",
    [lambda messages: from_langchain(to_langchain(messages)), lambda m: from_llama_index(to_llama_index(m))],
    ids=["LangChain", "LlamaIndex"],
)
def test_a_history_comes_back_from_a_framework_as_it_was(there_and_back: Any) -> None:
    for case in generate_cases(30, seed=7, open_run=True):
        assert there_and_back(case.messages) == list(case.messages)


def test_one_of_ours_that_breaks_a_rule_is_named_and_one_of_theirs_is_not() -> None:
    subjects = [Subject("theirs", False, lambda _: []), Subject("bad", True, lambda _: []), Subject("good", True, _all)]
    tallies = {subject: [asyncio.run(measure(subject, [CASE]))] * 2 for subject in subjects}
    assert unclean(tallies) == ["bad"]
    rows = {row["class"]: row for row in rule_rows(tallies)}
    assert (rows["bad"]["openai"], rows["good"]["openai"], rows["good"]["prompts"]) == (
        "100.0 / 100.0",
        "0.0 / 0.0",
        "1 / 1",
    )


def _all(case: Case) -> list[Message]:
    return list(case.messages)


def test_a_small_run_finds_nothing_broken_by_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "figures.json"
    assert main(["--prompts", "10", "--json", str(path)]) == 0
    (rows,) = json.loads(path.read_text(encoding="utf-8"))["tables"].values()
    ours = [row for row in rows if row["whose"] == "ours"]
    assert len(ours) == 10
    assert all(row[name] in ("0.0 / 0.0", "-") for row in ours for name in MEASURES)
    assert "nothing broken" in capsys.readouterr().out
