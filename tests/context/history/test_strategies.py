"""The four strategies: what the question needs, what fits, what the cache holds, the newest turns."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core.context.history.reading import read_history
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.select import select_history
from gatekeeper_core.context.history.strategies import HistoryConfig, Strategy, choose_past, newest_turns, with_defaults
from gatekeeper_core.context.history.view import HistoryView, ThreadState
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_core.tokens import count_messages, estimate_text_tokens
from tests.calls import first_column
from tests.case_files import rows
from tests.histories import config_of, view_with
from tests.loops import assistant, calls, result, user

TALK: dict[str, list[tuple[str, str]]] = {}
for language, question, answer in rows("strategies", "talk"):
    TALK.setdefault(language, []).append((question, answer))
QUESTION = {"en": "Which port does Redis use?", "zh": "Redis 用的是哪个端口？", "mixed": "Redis 用哪个 port？"}


STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


def test_the_page_lists_each_strategy() -> None:
    assert [cell.split('"')[1] for cell in first_column("history.md", "## Strategies")] == [*STRATEGIES]


def messages_of(talk: list[tuple[str, str]]) -> list[Message]:
    return [message for question, answer in talk for message in (user(question), assistant(answer))]


def chosen(
    talk: list[tuple[str, str]], query: str, *, room: int = 10_000, window_from: int = 0, **settings: Any
) -> HistoryView:
    history = read_history(messages_of(talk), HistoryRequest(query=query))
    gatekeeper = ContextGatekeeper(config=GatekeeperConfig(trim=False), token_counter=len)
    gatekeeper.sync(history.past)
    return choose_past(
        history,
        gatekeeper,
        gatekeeper.turn_tokens,
        with_defaults(config_of(**settings), in_an_agent=False),
        room=room,
        window_from=window_from,
    )


@pytest.mark.parametrize("language", TALK)
def test_the_newest_turns_stand_beside_what_the_question_needs(language: str) -> None:
    """004-61, C5."""
    costs = [len(question) + len(answer) for question, answer in TALK[language]]
    choice = chosen(TALK[language], QUESTION[language], keep_newest=2, room=sum(costs[3:]) + costs[0])
    assert choice.turns == (4, 3, 0)
    assert choice.selection is not None


@pytest.mark.parametrize("language", TALK)
def test_the_gate_sends_what_the_question_needs_and_fill_whatever_fits(language: str) -> None:
    talk, question = TALK[language], QUESTION[language]
    costs = [len(text) + len(reply) for text, reply in talk]
    assert chosen(talk, question).turns == (0,)
    everything = chosen(talk, question, strategy="fill", room=sum(costs))
    assert (everything.turns, everything.reason) == ((4, 3, 2, 1, 0), "everything_fits")
    filled = chosen(talk, question, strategy="fill", room=sum(costs) - 1)
    assert (filled.status, filled.turns[0]) == ("selected", 0)
    assert 1 < len(filled.turns) < 5


@pytest.mark.parametrize("language", TALK)
def test_only_the_gate_and_fill_send_a_small_history_whole_and_the_cache_begins_with_everything(language: str) -> None:
    messages = [*messages_of(TALK[language]), user(QUESTION[language])]
    views = {strategy: select_history(messages, token_budget=4_000, strategy=strategy) for strategy in STRATEGIES}
    reasons = {strategy: view.reason for strategy, view in views.items()}
    assert (reasons["gate"], reasons["fill"], reasons["window"]) == ("small_history", "everything_fits", "window")
    assert views["cache"].bill is not None
    assert (views["cache"].bill.action, views["cache"].kept) == ("everything", tuple(range(len(messages))))
    assert view_with(messages, token_budget=4_000).turns == (0,), "with passthrough_below=0"


ASIDE = {"en": "The river runs past the old mill. ", "zh": "河水流过旧磨坊，", "mixed": "河水流过 mill。"}


def long_talk(language: str, *, tools: bool = True) -> list[Message]:
    """Return a talk of five topics of about 4,000 tokens, with a call in its first turn or without any."""
    count = 4_200 // (len(TALK[language]) * estimate_text_tokens(ASIDE[language]))
    pairs = [(question, answer + ASIDE[language] * count) for question, answer in TALK[language]]
    messages = messages_of(pairs)
    if tools:
        messages[1:1] = [calls("c"), result("c", "6380")]
    assert 3_000 < count_messages(messages) < 5_000
    return [*messages, user(QUESTION[language])]


def test_what_the_gate_sends_whole_is_cached_also_after_a_choice() -> None:
    talk, prices = long_talk("zh"), ModelPrices(input=3, output=15, cache_read=0.3, cache_write=3.75)
    options: dict[str, Any] = {"config": HistoryConfig(prices=prices, coverage=0.5)}
    before = select_history(long_talk("zh", tools=False)[:-1] + talk[-1:], state=ThreadState(), **options)
    assert (before.bill and before.bill.action, before.turns) == ("fresh", (0,))
    first = select_history(talk, state=before.state, **options)
    assert first.bill is not None
    assert (first.cause, first.kept, first.recalled_text) == ("everything: small_history", tuple(range(len(talk))), "")
    assert (first.bill.body_end, first.bill.cached_tokens) == (len(talk) - 1, 0)
    talk += [assistant("6380"), user("Thanks.")]
    second = select_history(talk, state=first.state, **options)
    assert second.bill is not None
    assert second.bill.cached_tokens == first.tokens
    assert second.bill.dollars < 0.2 * first.bill.dollars


@pytest.mark.parametrize("language", TALK)
def test_three_turns_stay_where_the_past_holds_tool_results(language: str) -> None:
    """C4."""
    plain = messages_of(TALK[language])
    tools = [*plain[:3], calls("c"), result("c"), *plain[3:]]
    question = user(QUESTION[language])
    options: dict[str, Any] = {"pin_instructions": False, "token_budget": 4_000}
    assert view_with([*plain, question], **options).turns == (0,)
    assert view_with([*tools, question], **options).turns == (4, 3, 2, 0)
    assert view_with([*tools, question], keep_newest=0, **options).turns == (0,)
    first, later = [*plain, question], [*plain, question, calls("c"), result("c")]
    assert view_with(later, **options).turns == view_with(first, **options).turns, "each step of a run says the same"


@pytest.mark.parametrize("language", TALK)
def test_a_window_is_the_newest_turns_and_asks_no_gatekeeper(language: str) -> None:
    """001-56, 004-10."""
    choice = chosen(TALK[language], QUESTION[language], strategy="window", keep_newest=3)
    assert (choice.turns, choice.status, choice.selection) == ((4, 3, 2), "selected", None)
    assert len(chosen(TALK[language] * 9, QUESTION[language], strategy="window").turns) == 20


def test_a_window_begins_after_what_a_summary_covers() -> None:
    """001-31: a turn that is covered in part belongs to the window."""
    assert chosen(TALK["en"], "Which way?", strategy="window", keep_newest=9, window_from=4).turns == (4, 3, 2)
    assert chosen(TALK["en"], "Which way?", strategy="window", keep_newest=9, window_from=5).turns == (4, 3, 2)
    assert chosen(TALK["en"], "Which way?", strategy="window", keep_newest=9, window_from=10).turns == ()


# --- the window

costs_of_turns = st.lists(st.integers(0, 60), max_size=12)
budgets = st.integers(-5, 150)


@example([5, 30, 40], 50)
@given(costs_of_turns, budgets)
def test_the_window_fits_and_has_no_hole_but_for_turns_that_are_too_large_by_themselves(
    costs: list[int], budget_tokens: int
) -> None:
    """004-12, 001-82, 001-32."""
    kept = newest_turns(costs, budget_tokens=budget_tokens)
    fitting = [turn for turn, cost in enumerate(costs) if cost <= budget_tokens]
    assert list(kept) == fitting[len(fitting) - len(kept) :]
    assert sum(costs[turn] for turn in kept) <= max(0, budget_tokens)
    if len(kept) < len(fitting):
        assert sum(costs[turn] for turn in fitting[len(fitting) - len(kept) - 1 :]) > budget_tokens
