from __future__ import annotations

import math
from typing import Any

import pytest

from gatekeeper_core import (
    ContextGatekeeper,
    CoverageConfig,
    GatekeeperConfig,
    PlanConfig,
    RetrievalConfig,
    Selection,
    TrimmingConfig,
)
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.tokens import estimate_text_tokens

Pairs = list[tuple[str, str]]

REDIS: Pairs = [
    ("How do I install Redis on Ubuntu?", "Run apt install redis-server and enable the Redis service."),
    ("Which port does Redis listen on?", "Redis listens on port 6379; Redis reads it from redis.conf."),
    ("How do I set a Redis password?", "Set requirepass in redis.conf and restart the Redis server."),
]
NOODLES: Pairs = [
    ("红烧肉要炖多久？", "红烧肉小火慢炖一个小时，直到五花肉软烂。"),
    ("红烧肉放多少冰糖？", "五百克五花肉放三十克冰糖，先炒糖色。"),
    ("红烧肉可以用高压锅吗？", "可以，五花肉上汽压二十分钟，再收汁。"),
]
LISBON: Pairs = [
    (
        "I'm planning a trip to Lisbon in May, any tips?",
        "Visit Alfama and Belém, and take tram 28 early in the morning.",
    ),
    ("How do I get from the Lisbon airport to the centre?", "Take the red metro line; it takes about 25 minutes."),
    ("Where should I stay in Lisbon?", "Baixa and Chiado are central and walkable."),
]
LONG = "The weather was fine and we walked along the river for a while. " * 40


def gatekeeper_of(turns: Pairs, token_budget: int = 4000, **settings: Any) -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper(
        token_budget, config=GatekeeperConfig(**settings), token_counter=estimate_text_tokens
    )
    for user, assistant in turns:
        gatekeeper.add_turn(user, assistant)
    return gatekeeper


def ids(selection: Selection) -> list[int]:
    return [turn.turn_id for turn in selection.turns]


# --- who may compete


def test_a_turn_that_shares_nothing_is_no_candidate_after_a_switch() -> None:
    """000-29, 000-30, 000-53: zero evidence is never recalled, however new the turn is."""
    selection = gatekeeper_of(REDIS).explain("换个话题，红烧肉怎么做？")
    assert selection.gate.decision == "switch"
    assert ids(selection) == []
    assert selection.decisions == ()


def test_a_switch_keeps_turns_with_real_evidence() -> None:
    """000-30: old turns compete where the query itself names what they hold."""
    selection = gatekeeper_of(REDIS + NOODLES).explain("New topic: what did requirepass do?")
    assert selection.gate.reason == "explicit_switch"
    assert ids(selection) == [2]


def test_a_turn_with_too_little_evidence_is_dropped_by_the_gate() -> None:
    """000-30."""
    turns = [*REDIS, ("What is a server?", "A machine.")]
    query = "New topic: compare the server of Minecraft, Terraria, Factorio, Valheim, Starbound and Eve"
    selection = gatekeeper_of(turns).explain(query)
    assert ids(selection) == []
    assert {(decision.stage, decision.why) for decision in selection.decisions} == {("gate", "off_topic")}


@pytest.mark.parametrize("candidates", [1, 3, 20])
def test_at_most_so_many_turns_compete(candidates: int) -> None:
    """000-29: top 20 by default."""
    assert RetrievalConfig().candidates == 20
    turns = [(f"Redis question {word}", f"Redis answer {word}") for word in "abcdefghijklmnopqrstuvwxyz" * 2]
    gatekeeper = gatekeeper_of(
        turns, retrieval=RetrievalConfig(candidates=candidates), coverage=CoverageConfig(eta=1.0)
    )
    selection = gatekeeper.explain("New topic: Redis")
    competing = [decision for decision in selection.decisions if decision.why != "not_a_candidate"]
    assert len(competing) == candidates


# --- words that point back


@pytest.mark.parametrize(
    "query", ["继续", "这个怎么弄？", "它安全吗？", "Tell me more", "Why is it so?", "继续 please"]
)
def test_a_word_that_points_back_takes_the_newest_two_turns(query: str) -> None:
    """000-22, 000-23, 000-54."""
    selection = gatekeeper_of(REDIS + NOODLES).explain(query)
    assert selection.gate.reason == "referring_word"
    assert {4, 5} <= set(ids(selection))
    assert selection.decision(5).stage == selection.decision(4).stage == "inherit"


def test_with_little_room_the_newest_turn_is_cut_rather_than_dropped() -> None:
    """000-23: 2 where the budget allows it, else 1, trimmed rather than dropped."""
    gatekeeper = gatekeeper_of([*REDIS, ("Tell me of your day.", LONG)], token_budget=60)
    selection = gatekeeper.explain("继续")
    newest = selection.turns[-1]
    assert newest.turn_id == 3
    assert newest.trimmed
    assert 0 < newest.tokens <= 60
    assert newest.assistant


@pytest.mark.parametrize("referring_turns", [1, 2, 3])
def test_how_many_turns_are_inherited_is_a_setting(referring_turns: int) -> None:
    """000-54: 1 to 2; the setting says how many."""
    turns = [*REDIS, ("a b?", "c d."), ("明天见", "好")]
    selection = gatekeeper_of(turns, plan=PlanConfig(referring_turns=referring_turns)).explain("继续")
    inherited = [decision.turn_id for decision in selection.decisions if decision.stage == "inherit"]
    assert inherited == list(range(5 - referring_turns, 5))


def test_a_conversation_of_one_turn_gives_that_turn() -> None:
    assert ids(gatekeeper_of(REDIS[:1]).explain("继续")) == [0]


# --- the conversation itself


@pytest.mark.parametrize("query", ["我们都聊了什么？", "What did we talk about?", "总结一下我们的对话"])
def test_a_question_about_the_conversation_gets_both_ends_and_each_topic(query: str) -> None:
    gatekeeper = gatekeeper_of(REDIS + NOODLES)
    selection = gatekeeper.explain(query)
    assert selection.gate.reason == "about_conversation"
    assert {0, 5} | {topic.start for topic in gatekeeper.topics} == set(ids(selection))
    assert {decision.stage for decision in selection.decisions} == {"overview"}


def test_an_overview_of_long_turns_gives_each_its_share() -> None:
    """000-55: no end of the conversation takes the room of the other."""
    gatekeeper = gatekeeper_of([("Tell me of spring.", LONG), *NOODLES, ("Tell me of autumn.", LONG)], token_budget=200)
    selection = gatekeeper.explain("我们聊了什么？")
    assert {0, 4} <= set(ids(selection))
    assert selection.tokens <= 200


def test_an_empty_conversation_has_nothing_to_look_back_on() -> None:
    selection = gatekeeper_of([]).explain("我们聊了什么？")
    assert (selection.turns, selection.tokens, selection.coverage) == ((), 0, 1.0)


# --- going back


@pytest.mark.parametrize(
    ("turns", "query", "wanted"),
    [
        (NOODLES + REDIS, "回到红烧肉，冰糖放多少来着？", 1),
        (NOODLES + LISBON, "Back to 红烧肉: 可以用高压锅吗？", 2),
    ],
)
def test_a_return_finds_the_turns_of_the_earlier_topic(turns: Pairs, query: str, wanted: int) -> None:
    """000-30: the verdict is switch, with the topic that it resumes."""
    selection = gatekeeper_of(turns).explain(query)
    assert selection.gate.decision == "switch"
    assert selection.gate.resumed_topic is not None
    assert wanted in ids(selection)
    assert not {3, 4, 5} & set(ids(selection))


# --- room


def test_what_does_not_fit_is_cut_first_and_then_passed_over() -> None:
    """000-34: a long turn gives way to its excerpt; one that cannot be cut, to the next."""
    turns = [("Redis notes", LONG + "Redis keeps keys. " + LONG), ("Redis keys", "Redis keys are strings.")]
    cut = gatekeeper_of(turns, token_budget=80).explain("New topic: Redis keys")
    assert ids(cut) == [0, 1] or ids(cut) == [1]
    whole = gatekeeper_of(turns, token_budget=80, trim=False).explain("New topic: Redis keys")
    assert ids(whole) == [1]
    refused = whole.decision(0)
    assert (refused.outcome, refused.why) == ("dropped", "no_room")


def test_where_nothing_fits_the_smallest_need_is_told() -> None:
    """000-34: an empty selection that says what the smallest candidate needed."""
    gatekeeper = gatekeeper_of(REDIS)
    selection = gatekeeper.explain("Redis password and port?", token_budget=2)
    assert (selection.turns, selection.tokens) == ((), 0)
    assert selection.smallest_needed_tokens is not None
    assert gatekeeper.explain("Redis password and port?", token_budget=selection.smallest_needed_tokens).turns


def test_where_something_fits_no_need_is_told() -> None:
    assert gatekeeper_of(REDIS).explain("Redis password?").smallest_needed_tokens is None
    assert gatekeeper_of([]).explain("Redis password?").smallest_needed_tokens is None


@pytest.mark.parametrize(
    "turn",
    [
        ("The gate code is 4417.", "Noted."),
        ("大门密码是 4417。", "记住了。"),
        ("大门 gate code 是 4417。", "好的，noted."),
    ],
)
def test_turns_that_say_the_same_are_taken_once(turn: tuple[str, str]) -> None:
    """000-35."""
    selection = gatekeeper_of([turn, *NOODLES, turn, turn], coverage=CoverageConfig(eta=1.0)).explain(
        "New topic: gate code 大门密码 4417"
    )
    same = [turn_id for turn_id in ids(selection) if turn_id in (0, 4, 5)]
    assert len(same) == 1
    assert "repeat" in {decision.why for decision in selection.decisions}


# --- the two modes


@pytest.mark.parametrize("query", ["Redis password?", "冰糖和高压锅", "Redis 和 红烧肉"])
def test_fill_keeps_at_least_what_minimal_keeps_and_stays_inside(query: str) -> None:
    """000-34: the same order of worth, without the stop."""
    few = gatekeeper_of(REDIS + NOODLES).explain(query)
    many = gatekeeper_of(REDIS + NOODLES, mode="fill").explain(query)
    assert set(ids(few)) <= set(ids(many))
    assert many.tokens <= 4000


def test_fill_uses_the_room_that_minimal_leaves() -> None:
    """000-33, 000-34: eta stops ``minimal`` alone."""
    query, stop_early = "New topic: Redis port and password", CoverageConfig(eta=0.0)
    few = gatekeeper_of(REDIS + NOODLES, coverage=stop_early).explain(query)
    many = gatekeeper_of(REDIS + NOODLES, coverage=stop_early, mode="fill").explain(query)
    assert set(ids(few)) < set(ids(many))


def test_the_number_of_candidates_grows_with_the_budget_in_fill() -> None:
    """000-29: 20 is the cap of ``minimal``."""
    turns = [(f"Redis question about {i} {i * 7919 % 1000}", f"Redis answer of {i * 104729 % 1000}") for i in range(60)]
    assert len(gatekeeper_of(turns).explain("Redis").turns) <= 20
    assert len(gatekeeper_of(turns, mode="fill").explain("Redis").turns) > 40


def test_fill_brings_nothing_of_another_topic_after_a_switch() -> None:
    """000-53."""
    assert ids(gatekeeper_of(REDIS, mode="fill").explain("换个话题，红烧肉怎么做？")) == []


# --- trimming within a selection


def test_long_turns_are_trimmed_unless_the_settings_or_the_call_say_no() -> None:
    """000-36."""
    turns = [("Redis notes", LONG + "Redis keeps its keys in memory. " + LONG)]
    trimmed, whole = gatekeeper_of(turns), gatekeeper_of(turns, trim=False)
    query = "New topic: Redis keys"
    assert [turn.trimmed for turn in trimmed.explain(query).turns] == [True]
    assert [turn.trimmed for turn in whole.explain(query).turns] == [False]
    assert [turn.trimmed for turn in trimmed.explain(query, trim=False).turns] == [False]
    assert [turn.trimmed for turn in whole.explain(query, trim=True).turns] == [True]


def test_the_cost_of_a_candidate_is_that_of_its_excerpt() -> None:
    """000-32: cost = tokens after trimming."""
    turns = [("Redis notes", LONG + "Redis keeps its keys in memory. " + LONG)]
    decision = gatekeeper_of(turns).explain("New topic: Redis keys").decision(0)
    assert decision.tokens < 150
    config = TrimmingConfig(min_tokens=10_000)
    assert gatekeeper_of(turns, trimming=config).explain("New topic: Redis keys").decision(0).tokens > 1_000


# --- the settings


@pytest.mark.parametrize(
    "name",
    [
        *("staying_enough", "newest_share", "newest_decay", "active_floor", "other_floor", "relative_floor"),
        *("switch_floor", "resumed_enough", "evidence_elsewhere", "told_enough"),
    ],
)
@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan])
def test_a_share_outside_its_range_is_refused_with_its_name(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"PlanConfig.{name}"):
        PlanConfig(**{name: value})  # type: ignore[arg-type]


def test_at_least_one_turn_is_inherited() -> None:
    """000-54."""
    with pytest.raises(ConfigError, match="referring_turns"):
        PlanConfig(referring_turns=0)


@pytest.mark.parametrize("mode", ["", "all", "Minimal", None])
def test_there_are_two_modes(mode: Any) -> None:
    with pytest.raises(ConfigError, match="mode"):
        GatekeeperConfig(mode=mode)


def test_settings_are_keyword_only_and_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        GatekeeperConfig("fill")  # type: ignore[misc]
    with pytest.raises(AttributeError):
        GatekeeperConfig().mode = "fill"  # type: ignore[misc]


# --- the order of taking


@pytest.mark.parametrize(
    ("turns", "query", "order"),
    [
        (NOODLES + LISBON, "New topic: tram 28 in Alfama, and the Lisbon airport metro", (4, 3)),
        (NOODLES + REDIS, "红烧肉放多少冰糖，要炖多久？", (1, 0, 2)),
    ],
)
def test_the_most_valuable_evidence_is_taken_first_and_given_up_last(
    turns: Pairs, query: str, order: tuple[int, ...]
) -> None:
    """000-33: the order of taking is the order of value."""
    selection = gatekeeper_of(turns).explain(query, trim=False)
    assert selection.order == order
    values = [selection.decision(turn).value or 0.0 for turn in order]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("mode", ["minimal", "fill"])
def test_dropping_from_the_end_of_the_order_gives_up_what_was_taken_last(mode: str) -> None:
    """With room for only the first turns of the order, these are the ones that are taken."""
    turns = [(f"Redis note {'abcdef'[at]} {'port ' * at}", "x" * (40 - 5 * at)) for at in range(6)]
    gatekeeper, query = gatekeeper_of(turns, mode=mode), "New topic: Redis note port"
    whole = gatekeeper.explain(query, trim=False)
    assert len(whole.order) > 2
    costs = {turn.turn_id: turn.tokens for turn in whole.turns}
    for kept in range(1, len(whole.order)):
        room = sum(costs[turn] for turn in whole.order[:kept])
        assert gatekeeper.explain(query, trim=False, token_budget=room).order[:kept] == whole.order[:kept]


def test_a_word_that_points_back_takes_the_newest_turns_before_any_evidence() -> None:
    """000-54: they are given up last."""
    selection = gatekeeper_of(REDIS + LISBON, mode="fill").explain("继续", trim=False)
    assert selection.order[:2] == (5, 4)
