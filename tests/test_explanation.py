"""What stands behind a selection: the budget, anchors by turns, near misses, why a turn is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_cli.conversation import CONVERSATION, QUESTIONS
from gatekeeper_cli.explanation import grid_of, near_groups, near_misses, why_not
from gatekeeper_cli.texts import ENGLISH, Language, Texts
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.result import Selection
from gatekeeper_core.selection.settings import GatekeeperConfig
from tests.conversations import HOSTILE

CHINESE = Texts(Language.zh)


def explained(query: str, *, budget: int = 4000, strategy: str = "gate") -> Selection:
    gatekeeper = ContextGatekeeper(budget, config=GatekeeperConfig(strategy=strategy))  # type: ignore[arg-type]
    gatekeeper.sync(CONVERSATION)
    return gatekeeper.explain(query)


each_question = pytest.mark.parametrize("query", [question.text for question in QUESTIONS])


@each_question
@pytest.mark.parametrize("strategy", ["gate", "fill"])
def test_the_grid_says_of_each_anchor_what_the_selection_says(query: str, strategy: str) -> None:
    selection = explained(query, budget=800, strategy=strategy)
    grid = grid_of(selection)
    assert grid.turn_ids == tuple(turn.turn_id for turn in selection.turns)
    matches = {anchor for anchor, row in zip(grid.anchors, grid.counts, strict=True) if any(row)}
    assert matches == set(selection.covered)
    assert set(grid.anchors) - matches == set(selection.uncovered)


@each_question
@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_near_misses_stand_by_what_would_keep_them_and_each_sentence_once(query: str, texts: Texts) -> None:
    selection = explained(query, budget=300, strategy="fill")
    groups = near_groups(selection, texts)
    assert len({reason for reason, _ in groups}) == len(groups)
    assert sorted(turn_id for _, turns in groups for turn_id, _ in turns) == sorted(
        decision.turn_id for decision in near_misses(selection)
    )
    assert all(text for _, turns in groups for _, text in turns)


def test_a_turn_that_shares_nothing_names_what_would_find_it() -> None:
    selection = explained(QUESTIONS[3].text)
    decision = next(selection.decision(at) for at in range(41) if selection.decision(at).why == "no_shared_anchor")
    sentence = why_not(decision, ENGLISH, query=selection.query)
    assert sentence.startswith(f"Turn {decision.turn_id} is left out because it shares nothing with the question.")
    assert all(anchor in sentence for anchor in decision.kept_with)


@given(
    query=st.sampled_from([question.text for question in QUESTIONS]) | st.just(HOSTILE),
    turn_id=st.integers(0, 40),
    budget=st.sampled_from([1, 100, 400, 4000]),
    strategy=st.sampled_from(["gate", "fill"]),
)
def test_every_turn_has_a_sentence_in_both_languages(query: str, turn_id: int, budget: int, strategy: str) -> None:
    decision = explained(query, budget=budget, strategy=strategy).decision(turn_id)
    for texts, name in ((ENGLISH, f"Turn {turn_id} is "), (CHINESE, f"第 {turn_id} 轮")):
        sentence = why_not(decision, texts, query=query)
        assert sentence.startswith(name)
        assert len(sentence.splitlines()) == 1
        assert not set("{}\x00\ud800\u202e") & set(sentence)
