"""A prompt is put together within its budget: what is optional gives way in its order, and every token is counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.context.prompt.assembly import Assembly, Material
from gatekeeper_core.context.prompt.budget import BudgetShares, ContextBuilderConfig
from gatekeeper_core.context.prompt.request import Request, make_request
from gatekeeper_core.context.prompt.result import BuiltContext
from gatekeeper_core.errors import BudgetError
from gatekeeper_core.messages import Message
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from tests.histories import view_with
from tests.loops import assistant, calls, result, system, user

TALK = [
    message for number in range(6) for message in (user(f"question {number}?"), assistant(f"answer {number}. " * 4))
]
ASKED = user("And now?")
OPTIONAL = ("constraints", "pinned", "steps", "summary", "retrieved")
"""The optional parts, the most valuable first."""


def said(length: int | Callable[[int], None]) -> Callable[[int], Message | None]:
    """Return what makes a part of so many tokens where they are allowed."""
    if callable(length):
        return length
    return lambda limit: system("m" * length) if length and length <= limit else None


def assembled(
    messages: list[Message] | None = None, *, budget: int = 1000, pin: int = 20, **changes: Any
) -> BuiltContext:
    """Return a context of a talk, with parts of 30 tokens each."""
    listed = [*TALK, ASKED] if messages is None else messages
    request = make_request(listed, None, token_counter=len)
    settings = {name: changes.pop(name) for name in ("redistribute", "cache_friendly") if name in changes}
    shares = changes.pop("shares", BudgetShares())
    memories = said(changes.pop("memories", 30))
    material = {
        "system": (system("rules"),),
        "request": request,
        "thread_length": len(listed),
        "repeated": (),
        "tools_tokens": 0,
        "constraints": system("c" * 30),
        "steps": system("s" * 30),
        "cleared": (),
        "summary": said(changes.pop("summary", 30)),
        "upto_seq": 3 if messages is None else -1,
        "covered_messages": 4 if messages is None else 0,
        "memories": lambda limit, _: (memories(limit), 2 if memories(limit) else 0),
        "found_memories": 2,
        "pin": "p" * pin if request.asked else "",
        **changes,
    }
    config = ContextBuilderConfig(total_budget=budget, **settings)
    assembly = Assembly(Material(**material), config=config, shares=shares.of(budget), locale="zh", token_counter=len)
    view_of = selected(request, budget)
    while (view := view_of(assembly.fixed_tokens(), assembly.window_from())).status == "over_budget":
        if not assembly.give_up():
            break
    chosen = assembly.squeezed(view) if view.status == "over_budget" else assembly.kept(view)
    limit = assembly.pin_limit()
    return assembly.context(chosen, system("p" * pin) if 0 < pin <= limit else None)


def selected(request: Request, budget: int) -> Callable[[int, int], HistoryView]:
    return lambda fixed, first: view_with(
        request.messages,
        gatekeeper=ContextGatekeeper(token_counter=len),
        token_budget=budget,
        fixed_tokens=fixed,
        floor_turns=20,
        mode="window",
        window_from=first,
    )


def parts(context: BuiltContext) -> list[str]:
    return [part.part for part in context.trace.parts]


def test_the_parts_stand_in_their_order() -> None:
    """001-03, 001-13, 004-26."""
    kinds = list(dict.fromkeys(parts(assembled())))
    assert kinds == [
        *("system_prompt", "constraints", "summary", "steps", "retrieved", "recent_messages", "current_input", "pinned")
    ]
    kinds = list(dict.fromkeys(parts(assembled(cache_friendly=True))))
    assert kinds == [
        *("system_prompt", "constraints", "recent_messages", "summary", "steps", "retrieved", "current_input", "pinned")
    ]


def test_the_least_valuable_optional_part_gives_way_first() -> None:
    """001-29, 001-72: whatever the budget, what is sent is a beginning of the order of value."""
    seen = set()
    for budget in range(30, 900):
        kinds = parts(assembled(budget=budget, messages=[ASKED], pin=30, summary=0))
        order = [part for part in OPTIONAL if part != "summary"]  # there is nothing that it could stand for
        sent = [part for part in order if part in kinds]
        assert sent == order[: len(sent)]
        seen.add(len(sent))
    assert seen == {0, 1, 2, 3, 4}


@given(
    st.integers(1, 700),
    st.booleans(),
    *(st.sampled_from([0, 30, 90, 400]) for _ in range(2)),
    st.sampled_from([0, 20, 150]),
    st.sampled_from([0, 50]),
)
def test_the_sum_never_passes_the_budget(
    budget: int, redistribute: bool, summary: int, memories: int, pin: int, tools: int
) -> None:
    """001-12, 001-21, 001-64, 001-72: with pin and tools, reserved before anything is taken."""
    try:
        context = assembled(
            budget=budget, redistribute=redistribute, summary=summary, memories=memories, pin=pin, tools_tokens=tools
        )
    except BudgetError as error:
        assert error.needed_tokens > error.available_tokens == budget  # noqa: PT017 - no other outcome is an error
        assert budget < len("rules") + len(ASKED.text) + tools
        return
    stats = context.token_stats
    assert stats.total == sum(stats[:-1]) == tools + sum(len(message.text) for message in context.messages) <= budget
    assert context.messages.count(ASKED) == 1
    assert context.trace.fates[-1].stop == len(TALK) + 1


def test_the_window_begins_at_the_first_message_where_the_summary_is_not_sent() -> None:
    """001-23: a literal window begins after what the summary covers, sent or not."""
    context = assembled(summary=0)
    assert context.trace.given_up == ("summary",)
    assert not context.metadata.used_summary
    assert context.metadata.summarized_message_count == 0
    assert [fate.fate for fate in context.trace.fates] == ["sent"]
    with_summary = assembled()
    assert [(fate.stop, fate.fate) for fate in with_summary.trace.fates] == [(4, "summary"), (13, "sent")]
    assert with_summary.metadata.summarized_message_count == 4


def test_memories_are_counted_only_where_they_are_sent() -> None:
    """001-28: a literal builder counts them before it knows."""
    assert assembled().metadata.retrieved_memory_count == 2
    assert assembled(memories=400).metadata.retrieved_memory_count == 0
    pushed_out = assembled([ASKED, calls("a"), result("a", "r" * 900)])
    assert "retrieved" in pushed_out.trace.given_up
    assert pushed_out.metadata.retrieved_memory_count == 0


def test_an_optional_part_gives_way_to_the_current_run() -> None:
    """001-82: the run of an agent is no past that could be left out."""
    run = [ASKED, calls("a"), result("a", "r" * 120)]
    context = assembled(run, budget=200)
    assert run[-1] in context.messages
    assert {"steps", "pinned"} <= set(context.trace.given_up)
    assert "constraints" in parts(context)
    assert context.trace.squeezed == ""


def test_where_all_has_gone_the_run_itself_is_made_to_fit() -> None:
    """001-72."""
    context = assembled([ASKED, calls("a"), result("a", "很长。" * 200)], budget=120)
    assert context.trace.squeezed
    assert context.token_stats.total <= 120
    assert ASKED in context.messages


def test_the_pin_comes_last_at_each_step_of_a_run() -> None:
    """001-38, 001-42, 001-53, 004-51."""
    run = [ASKED, calls("a", "b"), result("a"), result("b"), calls("c"), result("c")]
    for stop in (1, 4, 6):
        context = assembled([*TALK, *run[:stop]])
        assert parts(context)[-1] == "pinned"
        assert context.messages[-1 - stop : -1] == tuple(run[:stop])


def test_without_redistribution_each_part_keeps_to_its_share() -> None:
    """001-49, 001-64: the literal behaviour."""
    settings: dict[str, Any] = {"budget": 360, "summary": 0, "memories": 0}
    context = assembled(redistribute=False, **settings)
    assert 0 < context.token_stats.recent_messages <= BudgetShares().of(360).recent_messages
    assert assembled(**settings).token_stats.recent_messages > context.token_stats.recent_messages


@pytest.mark.parametrize("redistribute", [True, False])
def test_summary_and_memories_are_each_asked_for_their_own_share(redistribute: bool) -> None:
    """001-07, 001-08: of a budget of 1000, here 150 and 40; of little room a part like these."""
    shares = BudgetShares(summary=150, retrieved=40, recent_messages=560)

    def asked(budget: int) -> dict[str, int]:
        limits: dict[str, int] = {}
        assembled(
            budget=budget,
            shares=shares,
            redistribute=redistribute,
            summary=lambda limit: limits.update(summary=limit),
            memories=lambda limit: limits.update(memories=limit),
        )
        return limits

    assert asked(1000) == {"summary": 150, "memories": 40}
    little = asked(300)
    assert little["memories"] < little["summary"] <= 45
    assert little["memories"] == pytest.approx(little["summary"] * 40 / 150, abs=1)


@pytest.mark.parametrize("tools", [0, 7])
def test_what_must_be_sent_is_refused_with_the_numbers_where_it_does_not_fit(tools: int) -> None:
    """001-72."""
    needed = len("rules") + len(ASKED.text) + tools
    with pytest.raises(BudgetError) as caught:
        assembled([ASKED], budget=needed - 1, tools_tokens=tools)
    assert (caught.value.needed_tokens, caught.value.available_tokens) == (needed, needed - 1)
    assert assembled([ASKED], budget=needed, tools_tokens=tools).token_stats.total == needed
