"""The choice for a question: the most needed turns, down to the price of a token."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, GatekeeperConfig, Selection
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.need import price_of
from gatekeeper_core.tokens import estimate_text_tokens
from tests.case_files import from_file, rows

Pairs = list[tuple[str, str]]

TALKS: dict[str, Pairs] = {}
for talk, user, assistant in rows("planner", "talk"):
    TALKS.setdefault(talk, []).append((user, assistant))
REDIS, NOODLES, LISBON = TALKS.values()

LONG = "The weather was fine and we walked along the river for a while. " * 40


def gatekeeper_of(turns: Sequence[Any], token_budget: int = 4000, **settings: Any) -> ContextGatekeeper:
    """Return the gatekeeper of some turns, each a pair of texts or the name of a talk."""
    gatekeeper = ContextGatekeeper(
        token_budget, config=GatekeeperConfig(**settings), token_counter=estimate_text_tokens
    )
    for turn in turns:
        for user, assistant in TALKS[turn] if isinstance(turn, str) else [turn]:
            gatekeeper.add_turn(user, assistant)
    return gatekeeper


def ids(selection: Selection) -> list[int]:
    return [turn.turn_id for turn in selection.turns]


WORDS = ["Redis", "port", "password", "红烧肉", "冰糖", "五花肉", "Lisbon", "metro", "zanzibar", "热带雨林", "parquet"]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7), st.sampled_from(["New topic: ", "换个话题，"]))
def test_after_a_worded_switch_no_turn_is_sent_for_its_place(words: list[str], opening: str) -> None:
    """000-30, 000-53: only for what it shares with the question, and not for little."""
    selection = gatekeeper_of(REDIS + NOODLES + LISBON).explain(opening + " ".join(words))
    assert selection.gate.reason == "explicit_switch"
    for turn in selection.turns:
        decision = selection.decision(turn.turn_id)
        assert decision.why == "evidence"
        assert (decision.need or 0.0) >= 0.25


@pytest.mark.parametrize("candidates", [1, 3, 20])
def test_at_most_so_many_turns_compete(candidates: int) -> None:
    """000-29: top 20 by default."""
    assert GatekeeperConfig().candidates == 20
    turns = [(f"Redis question {word}", f"Redis answer {word}") for word in "abcdefghijklmnopqrstuvwxyz" * 2]
    gatekeeper = gatekeeper_of(turns, candidates=candidates, coverage=1.0)
    selection = gatekeeper.explain("New topic: Redis")
    competing = [decision for decision in selection.decisions if decision.why != "not_a_candidate"]
    assert len(competing) == candidates


@pytest.mark.parametrize(
    "query", ["继续", "这个怎么弄？", "它安全吗？", "Tell me more", "Why is it so?", "继续 please"]
)
def test_a_word_that_points_back_takes_the_newest_two_turns(query: str) -> None:
    """000-22, 000-23, 000-54."""
    selection = gatekeeper_of(REDIS + NOODLES).explain(query)
    assert selection.gate.decision == "continue"
    assert {4, 5} <= set(ids(selection)) <= {3, 4, 5}
    assert selection.decision(5).why == "newest_turn"
    assert selection.order[:2] == (5, 4)


@pytest.mark.parametrize("query", ["继续", "Tell me more", "这个 details 呢"])
def test_a_word_that_points_back_takes_no_turn_of_the_topic_before(query: str) -> None:
    """000-53, 000-54: two turns where both are of one topic."""
    selection = gatekeeper_of([*REDIS, ("换个话题，红烧肉怎么做？", "小火慢炖。")]).explain(query)
    assert ids(selection) == [3]


@from_file("turns", "query")
def test_the_newest_state_of_a_thing_brings_the_turns_that_changed_it(turns: Pairs, query: str) -> None:
    """000-52: a draft is in the turn that changed it last."""
    assert ids(gatekeeper_of(turns).explain(query)) == [0, 1, 2]


@pytest.mark.parametrize("query", ["我们都聊了什么？", "What did we talk about?", "总结一下我们的对话"])
def test_a_question_about_the_conversation_gets_both_ends_and_each_topic(query: str) -> None:
    gatekeeper = gatekeeper_of(REDIS + NOODLES)
    selection = gatekeeper.explain(query)
    assert selection.gate.reason == "about_conversation"
    assert {0, 5} | {topic.start for topic in gatekeeper.topics} <= set(ids(selection))
    assert {decision.why for decision in selection.decisions} <= {"overview", "newest_turn", "earlier_turn"}


@from_file("turns", "query", "wanted")
def test_a_return_finds_the_turns_of_the_earlier_topic(turns: Pairs, query: str, wanted: int) -> None:
    """000-30: the verdict is switch, with the topic that it resumes."""
    selection = gatekeeper_of(turns).explain(query)
    assert selection.gate.decision == "switch"
    assert selection.gate.resumed_topic is not None
    assert wanted in ids(selection)
    assert not {3, 4, 5} & set(ids(selection))
    assert selection.gate.resumed_topic == 0


def test_what_does_not_fit_is_cut_first_and_then_passed_over() -> None:
    """000-34: a long turn gives way to its excerpt; one that cannot be cut, to the next."""
    turns = [("Redis notes", LONG + "Redis keeps keys. " + LONG), ("Redis keys", "Redis keys are strings."), *NOODLES]
    cut = gatekeeper_of(turns, token_budget=80).explain("Redis keys")
    assert ids(cut) == [0, 1]
    assert [turn.trimmed for turn in cut.turns] == [True, False]
    full = gatekeeper_of(turns, token_budget=80, trim=False).explain("Redis keys")
    assert ids(full) == [1]
    refused = full.decision(0)
    assert (refused.outcome, refused.why) == ("dropped", "no_room")


@from_file("turn")
def test_turns_that_say_the_same_are_taken_once(turn: tuple[str, str]) -> None:
    """000-35: the newest of them."""
    selection = gatekeeper_of([turn, *NOODLES, turn, turn]).explain("New topic: gate code 大门密码 4417")
    assert [turn_id for turn_id in ids(selection) if turn_id in (0, 4, 5)] == [5]
    assert {selection.decision(turn_id).why for turn_id in (0, 4)} == {"repeat"}


def test_fill_uses_the_room_that_the_gate_leaves() -> None:
    """000-33, 000-34: the coverage bounds ``gate`` alone."""
    query = "Which file holds the Redis password?"
    few = gatekeeper_of(REDIS + NOODLES, coverage=0).explain(query)
    many = gatekeeper_of(REDIS + NOODLES, coverage=0, strategy="fill").explain(query)
    assert set(ids(few)) < set(ids(many))


def test_the_number_of_candidates_grows_with_the_budget_in_fill() -> None:
    """000-29: 20 is the cap of ``gate``."""
    turns = [(f"Redis question about {i} {i * 7919 % 1000}", f"Redis answer of {i * 104729 % 1000}") for i in range(60)]
    assert len(gatekeeper_of(turns).explain("Redis").turns) <= 21  # the newest one is sent for its place
    filled = gatekeeper_of(turns, strategy="fill").explain("Redis")
    assert len([decision for decision in filled.decisions if decision.why == "evidence"]) > 40


def test_long_turns_are_trimmed_unless_the_settings_or_the_call_say_no() -> None:
    """000-36."""
    turns = [("Redis notes", LONG + "Redis keeps its keys in memory. " + LONG)]
    trimmed, full = gatekeeper_of(turns), gatekeeper_of(turns, trim=False)
    query = "New topic: Redis keys"
    assert [turn.trimmed for turn in trimmed.explain(query).turns] == [True]
    assert [turn.trimmed for turn in full.explain(query).turns] == [False]
    assert [turn.trimmed for turn in trimmed.explain(query, trim=False).turns] == [False]
    assert [turn.trimmed for turn in full.explain(query, trim=True).turns] == [True]


@from_file("script", "sentence", "query")
def test_evidence_is_cut_to_what_it_is_worth(script: str, sentence: str, query: str) -> None:
    """000-32, 000-36: however much of it shares an anchor with the question; the cost is that of the excerpt."""
    turns = [("Redis 笔记 notes", " ".join(sentence.format(at) for at in range(200))), *NOODLES, *LISBON]
    sent = [gatekeeper_of(turns, coverage=coverage).explain(query).turns[0] for coverage in (0.5, 0.8, 1)]
    assert [turn.turn_id for turn in sent] == [0, 0, 0]
    assert 0 < sent[0].tokens < sent[1].tokens < sent[2].tokens
    assert all(turn.tokens == sum(map(estimate_text_tokens, (turn.user, turn.assistant))) for turn in sent)


@from_file("setting", "value")
def test_an_impossible_setting_is_refused_with_its_name(setting: str, value: Any) -> None:
    """000-17, 000-18, 000-25, 000-29, 000-33, 000-40: the error is a ValueError, too."""
    with pytest.raises(ConfigError, match=rf"GatekeeperConfig\.{setting}") as caught:
        GatekeeperConfig(**{setting: value})
    assert isinstance(caught.value, ValueError)


@from_file("turns", "query", "order")
def test_the_most_needed_turn_is_taken_first_and_given_up_last(
    turns: Pairs, query: str, order: tuple[int, ...]
) -> None:
    """000-33: the order of taking is the order of need."""
    selection = gatekeeper_of(turns).explain(query, trim=False)
    assert selection.order == tuple(order)
    needs = [selection.decision(turn).need or 0.0 for turn in order]
    assert needs == sorted(needs, reverse=True)


def plain_greedy(turns: Pairs, selection: Selection, *, coverage: float) -> list[int]:
    """Take the most needed turn that is left while it earns its price: the documented rule, without any short cut."""
    chosen = [each for each in selection.decisions if each.score]
    active = selection.gate.active_topic if selection.gate.decision == "continue" else selection.gate.resumed_topic
    least = {each.turn_id: (0.2 if each.topic_id == active else 0.55) * (1 - coverage) for each in chosen}
    needs = {each.turn_id: each.need or 0.0 for each in chosen if (each.need or 0.0) >= least[each.turn_id]}
    matched = {each.turn_id: each.score.matched for each in chosen if each.score}
    costs = {at: estimate_text_tokens(turns[at][0]) + estimate_text_tokens(turns[at][1]) for at in matched}
    terms = {at: {*count_terms(turns[at][0]), *count_terms(turns[at][1])} for at in matched}

    def likeness(one: int, other: int) -> float:
        short, long = sorted((costs[one], costs[other]))
        same = matched[one] == matched[other] and 2 * short >= long
        return len(terms[one] & terms[other]) / len(terms[one] | terms[other]) if same else 0.0

    def restates(newer: int, older: int) -> bool:
        return newer > older and len(terms[newer]) >= len(terms[older]) and likeness(newer, older) >= 0.6

    def need(turn_id: int, kept: list[int]) -> float:
        if any(restates(other, turn_id) for other in kept):
            return 0.0
        return needs[turn_id] * math.prod(1 - likeness(turn_id, other) ** 2 for other in kept)

    kept: list[int] = []
    remaining = {at for at in needs if needs[at] >= price_of(coverage) * costs[at]}
    while remaining:
        best = max(remaining, key=lambda each: (round(need(each, kept), 9), each))
        turn_id = max((each for each in remaining if restates(each, best)), default=best)
        remaining.remove(turn_id)
        value = need(turn_id, kept) if turn_id == best else max(need(best, kept), needs[turn_id])
        if value >= price_of(coverage) * costs[turn_id]:
            kept.append(turn_id)
    return kept


notes = st.lists(
    st.tuples(
        st.lists(
            st.sampled_from(["Redis", "port", "password", "缓存", "端口", "冰糖", "metro"]), min_size=1, max_size=5
        ),
        st.integers(0, 12),
    ),
    min_size=1,
    max_size=8,
)


@given(notes, st.sampled_from([0.3, 0.6, 0.85, 0.95]))
def test_the_choice_is_the_plain_greedy(drawn: list[tuple[list[str], int]], coverage: float) -> None:
    """000-31 to 000-35: against a second implementation; of equals the newer."""
    turns = [(" ".join(words), f"{' walk' * filler}.") for words, filler in drawn]
    selection = gatekeeper_of([*turns, ("hm", "hm")], coverage=coverage).explain(
        "Redis port password 缓存 端口", trim=False
    )
    greedy = plain_greedy(turns, selection, coverage=coverage)
    assert [at for at in selection.order if selection.decision(at).score] == greedy


@pytest.mark.parametrize("strategy", ["gate", "fill"])
@from_file("unanswered", "query")
def test_a_newest_turn_without_an_answer_is_sent_whole(strategy: str, unanswered: str, query: str) -> None:
    gatekeeper = ContextGatekeeper(45, config=GatekeeperConfig(strategy=strategy))  # type: ignore[arg-type]
    gatekeeper.add_turn(query, f"{query} {query}")
    gatekeeper.add_turn("Which awning suits a balcony?", "A cloth awning or an aluminium one.")
    gatekeeper.add_turn(unanswered, "")
    assert unanswered in [turn.user for turn in gatekeeper.explain(query).turns]
