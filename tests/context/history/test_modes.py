"""Which past turns are worth sending: what the question selects, the newest ones first, or the newest ones alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.modes import Choice, HistoryMode, choose_past
from gatekeeper_core.context.history.select import read_history
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.planner import GatekeeperConfig
from tests.histories import config_of
from tests.loops import assistant, user

TALK = {
    "en": [
        ("The Redis port is 6380.", "Noted."),
        ("How long does rice cook?", "Twelve minutes."),
        ("Which bicycle suits a child of six?", "One with 16 inch wheels."),
        ("Who painted the Night Watch?", "Rembrandt."),
        ("Does basil need much water?", "Every other day."),
    ],
    "zh": [
        ("Redis 的端口是 6380。", "记下了。"),
        ("米饭要煮多久？", "十二分钟。"),
        ("六岁孩子适合什么自行车？", "十六寸的。"),
        ("《夜巡》是谁画的？", "伦勃朗。"),
        ("罗勒需要浇很多水吗？", "隔天一次。"),
    ],
    "mixed": [
        ("Redis 的 port 是 6380。", "OK，记下了。"),
        ("rice 要煮多久？", "12 分钟。"),
        ("六岁孩子适合什么 bicycle？", "16 寸的。"),
        ("Night Watch 是谁画的？", "Rembrandt。"),
        ("basil 需要浇很多水吗？", "隔天一次。"),
    ],
}
QUESTION = {"en": "Which port does Redis use?", "zh": "Redis 用的是哪个端口？", "mixed": "Redis 用哪个 port？"}


def chosen(
    talk: list[tuple[str, str]],
    query: str,
    *,
    mode: HistoryMode,
    floor_turns: int = 0,
    room: int = 10_000,
    window_from: int = 0,
) -> Choice:
    history = read_history([message for asked, said in talk for message in (user(asked), assistant(said))], query=query)
    gatekeeper = ContextGatekeeper(config=GatekeeperConfig(trim=False), token_counter=len)
    gatekeeper.sync(history.past)
    return choose_past(
        history,
        gatekeeper,
        gatekeeper.turn_tokens,
        config_of(mode=mode, floor_turns=floor_turns),
        room=room,
        history_tokens=sum(gatekeeper.turn_tokens),
        window_from=window_from,
    )


@pytest.mark.parametrize("language", TALK)
def test_a_hybrid_history_has_the_newest_turns_and_what_the_question_needs(language: str) -> None:
    """C5: a floor of the last rounds, and recall in the rest."""
    costs = [len(asked) + len(said) for asked, said in TALK[language]]
    choice = chosen(TALK[language], QUESTION[language], mode="hybrid", floor_turns=2, room=sum(costs[3:]) + costs[0])
    assert choice.turns == (4, 3, 0)
    assert choice.selection is not None


@pytest.mark.parametrize("language", TALK)
def test_a_window_is_the_newest_rounds_and_asks_no_gatekeeper(language: str) -> None:
    """001-56, 004-10: at most so many rounds."""
    choice = chosen(TALK[language], QUESTION[language], mode="window", floor_turns=3)
    assert (choice.turns, choice.status, choice.selection) == ((4, 3, 2), "selected", None)


def test_a_window_begins_after_what_a_summary_covers() -> None:
    """001-31: a turn that is covered in part belongs to the window."""
    assert chosen(TALK["en"], "Which way?", mode="window", floor_turns=9, window_from=4).turns == (4, 3, 2)
    assert chosen(TALK["en"], "Which way?", mode="window", floor_turns=9, window_from=5).turns == (4, 3, 2)
    assert chosen(TALK["en"], "Which way?", mode="window", floor_turns=9, window_from=10).turns == ()


def test_a_window_shrinks_where_the_room_is_small() -> None:
    """001-32, 004-12: it never goes as a whole."""
    costs = [len(asked) + len(said) for asked, said in TALK["en"]]
    choice = chosen(TALK["en"], "Which way?", mode="window", floor_turns=9, room=costs[4] + costs[3] + 1)
    assert choice.turns == (4, 3)


def test_without_a_question_the_newest_turns_are_kept_but_a_window_keeps_its_length() -> None:
    assert chosen(TALK["en"], "", mode="hybrid", floor_turns=1).status == "no_query"
    assert len(chosen(TALK["en"], "", mode="gated").turns) == 5
    assert chosen(TALK["en"], "", mode="window", floor_turns=2).turns == (4, 3)


@pytest.mark.parametrize("mode", ["gated", "hybrid"])
def test_without_room_nothing_fits(mode: HistoryMode) -> None:
    assert chosen(TALK["en"], "Redis?", mode=mode, floor_turns=2, room=0)[:3] == ((), "nothing_fits", "no_room")


@pytest.mark.parametrize("mode", ["gated", "hybrid", "window"])
def test_without_a_past_there_is_nothing_to_choose(mode: HistoryMode) -> None:
    assert chosen([], "Redis?", mode=mode, floor_turns=2)[:3] == ((), "passthrough", "no_past_turns")


@given(
    st.sampled_from(["gated", "hybrid", "window"]),
    st.integers(0, 12),
    st.integers(-50, 2_000),
    st.sampled_from(sorted(TALK)),
)
def test_a_choice_holds_each_turn_once_and_fits(mode: HistoryMode, floor_turns: int, room: int, language: str) -> None:
    talk = TALK[language]
    choice = chosen(talk, QUESTION[language], mode=mode, floor_turns=floor_turns, room=room)
    costs = [len(asked) + len(said) for asked, said in talk]
    assert len(set(choice.turns)) == len(choice.turns)
    assert sum(costs[turn] for turn in choice.turns) <= max(0, room)
