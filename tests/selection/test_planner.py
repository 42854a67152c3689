"""What is sent for a question: the newest turn by its link, evidence by its value, and what else a wording asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, GatekeeperConfig, Selection
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.selection import planner, trimming
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.information import LEAST_INFORMATION, information
from gatekeeper_core.selection.retrieval import RetrievalConfig
from gatekeeper_core.selection.topics import GateConfig
from gatekeeper_core.selection.trimming import TrimmingConfig
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


def test_a_turn_with_too_little_evidence_is_dropped() -> None:
    """000-30."""
    turns = [*REDIS, ("What is a server?", "A machine.")]
    query = "New topic: compare the server of Minecraft, Terraria, Factorio, Valheim, Starbound and Eve"
    selection = gatekeeper_of(turns).explain(query)
    assert ids(selection) == []
    assert {(decision.stage, decision.why) for decision in selection.decisions} == {("cover", "little_evidence")}


WORDS = ["Redis", "port", "password", "红烧肉", "冰糖", "五花肉", "Lisbon", "metro", "zanzibar", "热带雨林", "parquet"]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7), st.sampled_from(["New topic: ", "换个话题，"]))
def test_after_a_worded_switch_only_thrice_the_evidence_is_sent(words: list[str], opening: str) -> None:
    """000-30, 000-53: 0.24 of the question's information, or a whole hit."""
    query, turns = " ".join(words), REDIS + NOODLES + LISBON
    index = TurnIndex()
    for user, assistant in turns:
        index.add(count_terms(user), count_terms(assistant))
    selection = gatekeeper_of(turns).explain(opening + query)
    worth = information(count_terms(query), index)
    mass = max(math.fsum(worth.values()), LEAST_INFORMATION)
    assert selection.gate.reason == "explicit_switch"
    for turn in selection.turns:
        score = selection.decision(turn.turn_id).score
        assert score is not None
        assert score.whole or score.related or math.fsum(worth[term] for term in score.matched) / mass >= 0.24 - 1e-6


@from_file("old", "new", "query")
def test_a_question_that_hangs_on_the_newest_turn_takes_no_other_topic_for_a_generic_word(
    old: tuple[str, str], new: tuple[str, str], query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """000-30, 000-53."""
    turns = [old, *LISBON, new]
    selection = gatekeeper_of(turns).explain(query)
    assert selection.gate.link >= planner._WHOLE_ABOVE
    assert selection.decision(0).why == "little_evidence"
    assert 0 not in ids(selection)
    monkeypatch.setattr(planner, "_WHOLE_ABOVE", 1.0)
    assert 0 in ids(gatekeeper_of(turns).explain(query))


@from_file("note", "query")
def test_of_turns_that_hold_little_of_a_question_two_are_sent_at_most(note: str, query: str) -> None:
    """000-30: as snippets; the others say so."""
    about = (
        "Moss grows on slates and barrels. ",
        "Trains leave Porto at dawn. ",
        "Violins want rosin. ",
        "冰川会移动。",
    )
    turns = [(note.format(at), text * 60) for at, text in enumerate(about)]
    selection = gatekeeper_of([*turns, *LISBON, *NOODLES], eta=1.0).explain(query)
    assert sorted(one.why for one in selection.decisions) == ["evidence"] * 2 + ["little_evidence"] * 2
    assert ids(selection) == [one.turn_id for one in selection.decisions if one.why == "evidence"]
    assert all(0 < turn.tokens <= trimming._SNIPPET_TOKENS for turn in selection.turns)


@pytest.mark.parametrize("candidates", [1, 3, 20])
def test_at_most_so_many_turns_compete(candidates: int) -> None:
    """000-29: top 20 by default."""
    assert RetrievalConfig().candidates == 20
    turns = [(f"Redis question {word}", f"Redis answer {word}") for word in "abcdefghijklmnopqrstuvwxyz" * 2]
    gatekeeper = gatekeeper_of(turns, retrieval=RetrievalConfig(candidates=candidates), eta=1.0)
    selection = gatekeeper.explain("New topic: Redis")
    competing = [decision for decision in selection.decisions if decision.why != "not_a_candidate"]
    assert len(competing) == candidates


# --- the newest turn, by its link


NEWEST: dict[str, tuple[Pairs, str]] = {
    "english": (REDIS, "Does the restart lose its keys?"),
    "chinese": (NOODLES, "收汁要盖锅盖吗？"),
    "mixed": ([*NOODLES, ("port 是多少？", "Redis 用 6379 port，在 redis.conf 里。")], "那 redis.conf 在哪？"),
}


@pytest.mark.parametrize("script", NEWEST)
@pytest.mark.parametrize(("whole_above", "snippet_above", "form"), [(0, 0, "all"), (1, 0, "part"), (1, 1, "none")])
def test_the_link_decides_what_is_sent_of_the_newest_turn(
    script: str, whole_above: float, snippet_above: float, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """000-23: its excerpt, a snippet, or nothing."""
    turns, query = NEWEST[script]
    turns = [*turns[:-1], (turns[-1][0], f"{turns[-1][1]} " * 16)]
    monkeypatch.setattr(planner, "_WHOLE_ABOVE", whole_above)
    monkeypatch.setattr(planner, "_SNIPPET_ABOVE", snippet_above)
    monkeypatch.setattr(planner, "_EVIDENCE_SHARE", 1)
    selection = gatekeeper_of(turns, eta=0).explain(query)
    newest = [turn for turn in selection.turns if turn.turn_id == len(turns) - 1]
    assert 0 < selection.gate.link < 1
    if form == "none":
        assert newest == []
        return
    (sent,) = newest
    assert selection.decision(sent.turn_id).why == "newest_turn"
    assert selection.decision(sent.turn_id).stage == "link"
    assert (sent.tokens <= trimming._SNIPPET_TOKENS) == (form == "part")


@pytest.mark.parametrize(
    "query", ["继续", "这个怎么弄？", "它安全吗？", "Tell me more", "Why is it so?", "继续 please"]
)
def test_a_word_that_points_back_takes_the_newest_two_turns(query: str) -> None:
    """000-22, 000-23, 000-54."""
    selection = gatekeeper_of(REDIS + NOODLES).explain(query)
    assert selection.gate.decision == "continue"
    assert ids(selection) == [4, 5]
    assert [selection.decision(turn).why for turn in (4, 5)] == ["earlier_turn", "newest_turn"]
    assert selection.order == (5, 4)


@pytest.mark.parametrize("query", ["继续", "Tell me more", "这个 details 呢"])
def test_a_word_that_points_back_takes_no_turn_of_the_topic_before(query: str) -> None:
    """000-53, 000-54: two turns where both are of one topic."""
    selection = gatekeeper_of([*REDIS, ("换个话题，红烧肉怎么做？", "小火慢炖。")]).explain(query)
    assert ids(selection) == [3]


@from_file("turns", "query")
def test_the_chain_of_links_brings_the_turns_before_the_newest_one(
    turns: Pairs, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """000-23: each link weakens it, so it ends; where the question says nothing itself, one more turn goes along."""
    monkeypatch.setattr(planner, "_EVIDENCE_SHARE", 1)
    gatekeeper = gatekeeper_of(turns, eta=0)
    selection = gatekeeper.explain(query)
    links = [verdict.link for verdict in gatekeeper.verdicts]
    need, wanted = selection.gate.link, {4}
    if not selection.gate.overlap:
        wanted.add(3)
    for turn in (3, 2, 1):
        need *= 0.7 * links[turn + 1]
        if need < 0.3:
            break
        wanted.add(turn)
    assert 3 in wanted
    assert ids(selection) == sorted(wanted)


def test_with_little_room_the_newest_turn_is_cut_rather_than_dropped() -> None:
    """000-23: 2 where the budget allows it, else 1, trimmed rather than dropped."""
    gatekeeper = gatekeeper_of([*REDIS, ("Tell me of your day.", LONG)], token_budget=60)
    selection = gatekeeper.explain("继续")
    newest = selection.turns[-1]
    assert newest.turn_id == 3
    assert newest.trimmed
    assert 0 < newest.tokens <= 60
    assert newest.assistant


# --- the newest state of a thing


@from_file("turns", "query")
def test_the_newest_state_of_a_thing_brings_the_turns_that_changed_it(turns: Pairs, query: str) -> None:
    """000-52: a draft is in the turn that changed it last."""
    selection = gatekeeper_of(turns, eta=0.1).explain(query)
    assert {0, 1, 2} <= set(ids(selection))
    assert "later_turn" in {selection.decision(turn).why for turn in (0, 1, 2)}
    assert 3 not in ids(selection)


# --- the conversation itself


@pytest.mark.parametrize("query", ["我们都聊了什么？", "What did we talk about?", "总结一下我们的对话"])
def test_a_question_about_the_conversation_gets_both_ends_and_each_topic(query: str) -> None:
    gatekeeper = gatekeeper_of(REDIS + NOODLES)
    selection = gatekeeper.explain(query)
    assert selection.gate.reason == "about_conversation"
    assert {0, 5} | {topic.start for topic in gatekeeper.topics} <= set(ids(selection))
    assert {decision.why for decision in selection.decisions} <= {"overview", "newest_turn", "earlier_turn"}


@pytest.mark.parametrize(
    "query", ["我第一个问题是什么，我问过你哪些？", "What did I ask you first?", "what did I ask 你"]
)
def test_what_did_i_ask_brings_a_snippet_of_each_turn(query: str) -> None:
    """000-52: as far as candidates go."""
    turns = [*REDIS, *[(f"Tell me of day {at}.", LONG) for at in range(30)]]
    selection = gatekeeper_of(turns).explain(query)
    snippets = [turn for turn in selection.turns if selection.decision(turn.turn_id).why == "overview"]
    assert 10 < len(snippets) <= RetrievalConfig().candidates
    assert 0 in ids(selection)
    assert all(turn.tokens <= 60 for turn in snippets)


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


@from_file("turns", "query", "wanted")
def test_a_return_finds_the_turns_of_the_earlier_topic(turns: Pairs, query: str, wanted: int) -> None:
    """000-30: the verdict is switch, with the topic that it resumes."""
    selection = gatekeeper_of(turns).explain(query)
    assert selection.gate.decision == "switch"
    assert selection.gate.resumed_topic is not None
    assert wanted in ids(selection)
    assert not {3, 4, 5} & set(ids(selection))
    assert selection.gate.resumed_topic == 0


# --- room


def test_what_does_not_fit_is_cut_first_and_then_passed_over() -> None:
    """000-34: a long turn gives way to its excerpt; one that cannot be cut, to the next."""
    turns = [("Redis notes", LONG + "Redis keeps keys. " + LONG), ("Redis keys", "Redis keys are strings."), *NOODLES]
    cut = gatekeeper_of(turns, token_budget=80).explain("Redis keys")
    assert ids(cut) == [0, 1]
    assert [turn.trimmed for turn in cut.turns] == [True, False]
    whole = gatekeeper_of(turns, token_budget=80, trim=False).explain("Redis keys")
    assert ids(whole) == [1]
    refused = whole.decision(0)
    assert (refused.outcome, refused.why) == ("dropped", "no_room")


@from_file("turn")
def test_turns_that_say_the_same_are_taken_once(turn: tuple[str, str]) -> None:
    """000-35: the newest of them."""
    selection = gatekeeper_of([turn, *NOODLES, turn, turn]).explain("New topic: gate code 大门密码 4417")
    assert [turn_id for turn_id in ids(selection) if turn_id in (0, 4, 5)] == [5]
    assert {selection.decision(turn_id).why for turn_id in (0, 4)} == {"repeat"}


@from_file("template", "query")
def test_of_twenty_near_equal_turns_one_or_two_are_kept(template: str, query: str) -> None:
    """000-35: they share their worth, and what the first one told is not told again."""
    turns = [(template.format(at % 10), "Noted. 记下了。") for at in range(20)]
    selection = gatekeeper_of([*turns, *LISBON]).explain(query)
    assert 1 <= len([turn_id for turn_id in ids(selection) if turn_id < 20]) <= 2
    assert 9 in ids(selection) or 19 in ids(selection)


def test_where_nothing_fits_the_smallest_need_is_told() -> None:
    """000-34: an empty selection that says what the smallest candidate needed."""
    gatekeeper = gatekeeper_of(REDIS)
    query = "Redis password and port?"
    selection = gatekeeper.explain(query, token_budget=2, trim=False)
    assert (selection.turns, selection.tokens) == ((), 0)
    assert selection.smallest_needed_tokens is not None
    assert gatekeeper.explain(query, token_budget=selection.smallest_needed_tokens, trim=False).turns


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
    query = "New topic: Redis port and password"
    few = gatekeeper_of(REDIS + NOODLES, eta=0).explain(query)
    many = gatekeeper_of(REDIS + NOODLES, eta=0, mode="fill").explain(query)
    assert set(ids(few)) < set(ids(many))


def test_the_number_of_candidates_grows_with_the_budget_in_fill() -> None:
    """000-29: 20 is the cap of ``minimal``."""
    turns = [(f"Redis question about {i} {i * 7919 % 1000}", f"Redis answer of {i * 104729 % 1000}") for i in range(60)]
    assert len(gatekeeper_of(turns).explain("Redis").turns) <= 20
    filled = gatekeeper_of(turns, mode="fill").explain("Redis")
    assert len([decision for decision in filled.decisions if decision.why == "evidence"]) > 40


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


def test_the_cost_of_a_candidate_is_that_of_its_excerpt(monkeypatch: pytest.MonkeyPatch) -> None:
    """000-32: cost = tokens after trimming."""
    turns = [("Redis notes", LONG + "Redis keeps its keys in memory. " + LONG)]
    decision = gatekeeper_of(turns).explain("New topic: Redis keys").decision(0)
    assert decision.tokens < 150
    monkeypatch.setattr(trimming, "_MIN_TOKENS", 10_000)
    config = TrimmingConfig(max_tokens=10_000)
    assert gatekeeper_of(turns, trimming=config).explain("New topic: Redis keys").decision(0).tokens > 1_000


@pytest.mark.parametrize("max_tokens", [40, 220])
def test_evidence_is_cut_to_the_tokens_of_the_settings(max_tokens: int) -> None:
    """000-36: however much of it shares an anchor with the question."""
    turns = [("Redis notes", " ".join(f"Redis keeps key {at} in memory." for at in range(200))), *NOODLES, *LISBON]
    config = TrimmingConfig(max_tokens=max_tokens)
    (turn,) = gatekeeper_of(turns, trimming=config).explain("New topic: Redis notes on key memory").turns
    assert max_tokens / 2 < turn.tokens <= max_tokens


# --- the settings


SETTINGS: list[Any] = [GatekeeperConfig, GateConfig, RetrievalConfig, TrimmingConfig]


@from_file("kind", "setting", "value")
def test_an_impossible_setting_is_refused_with_its_name(kind: str, setting: str, value: Any) -> None:
    """000-17, 000-18, 000-25, 000-29, 000-33, 000-40: the error is a ValueError, too."""
    with pytest.raises(ConfigError, match=rf"{kind}\.{setting}") as caught:
        next(each for each in SETTINGS if each.__name__ == kind)(**{setting: value})
    assert isinstance(caught.value, ValueError)


# --- the order of taking


@from_file("turns", "query", "order")
def test_the_most_valuable_evidence_is_taken_first_and_given_up_last(
    turns: Pairs, query: str, order: tuple[int, ...]
) -> None:
    """000-33: the order of taking is the order of value."""
    selection = gatekeeper_of(turns).explain(query, trim=False)
    assert selection.order == tuple(order)
    values = [selection.decision(turn).value or 0.0 for turn in order]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("mode", ["minimal", "fill"])
def test_dropping_from_the_end_of_the_order_gives_up_what_was_taken_last(mode: str) -> None:
    """With room for only the first turns of the order, these are the ones that are taken."""
    plants = ["alder birch cedar", "daisy elder fern", "gorse hazel iris", "juniper kale larch", "maple nettle", "oak"]
    turns = [(f"Redis note {'abcdef'[at]} {'port ' * at}", plants[at]) for at in range(6)]
    gatekeeper, query = gatekeeper_of(turns, mode=mode), "New topic: Redis note port"
    whole = gatekeeper.explain(query, trim=False)
    assert len(whole.order) > 2
    costs = {turn.turn_id: turn.tokens for turn in whole.turns}
    for kept in range(1, len(whole.order)):
        room = sum(costs[turn] for turn in whole.order[:kept])
        assert gatekeeper.explain(query, trim=False, token_budget=room).order[:kept] == whole.order[:kept]


@pytest.mark.parametrize("query", ["继续", "Tell me more", "展开 please"])
def test_a_word_that_points_back_takes_the_newest_turns_before_any_evidence(query: str) -> None:
    """000-54: they are given up last."""
    selection = gatekeeper_of(REDIS + LISBON, mode="fill").explain(query, trim=False)
    assert selection.order[:2] == (5, 4)


def plain_greedy(turns: Pairs, selection: Selection, *, eta: float, budget: int) -> list[int]:
    """Take the most valuable turn that is left, again and again: the documented formula, without any short cut."""
    all_scores = {each.turn_id: each.score for each in selection.decisions if each.score}
    best = max(score.total for score in all_scores.values())
    sharp = {turn_id: (score.total / best) ** 3.0 for turn_id, score in all_scores.items()}
    mass = math.fsum(sharp.values())
    little = {each.turn_id for each in selection.decisions if each.why == "little_evidence"}
    scores = {turn_id: score for turn_id, score in all_scores.items() if turn_id not in little}
    costs = {at: estimate_text_tokens(turns[at][0]) + estimate_text_tokens(turns[at][1]) for at in scores}
    terms = {at: {*count_terms(turns[at][0]), *count_terms(turns[at][1])} for at in scores}

    def restates(newer: int, older: int) -> bool:
        short, long = sorted((costs[newer], costs[older]))
        if newer < older or scores[newer].matched != scores[older].matched or 2 * short < long:
            return False
        alike = len(terms[newer] & terms[older]) / len(terms[newer] | terms[older])
        return len(terms[newer]) >= len(terms[older]) and alike >= 0.6

    def value(turn_id: int, kept: list[int]) -> float:
        novelty = 1.0
        for other in kept:
            alike = len(terms[turn_id] & terms[other]) / len(terms[turn_id] | terms[other])
            short, long = sorted((costs[turn_id], costs[other]))
            if restates(other, turn_id):
                novelty = 0.0
            elif scores[turn_id].matched == scores[other].matched and 2 * short >= long:
                novelty *= 1 - alike**2
        return sharp[turn_id] / mass * novelty * (62 / max(30, costs[turn_id])) ** 0.85

    kept: list[int] = []
    left = set(scores)
    while left:
        turn_id = max(left, key=lambda each: (round(value(each, kept), 7), each))
        if 1 - math.sqrt(value(turn_id, kept)) >= eta - 5e-5:
            break
        turn_id = max((each for each in left if restates(each, turn_id)), default=turn_id)
        left.remove(turn_id)
        if costs[turn_id] <= budget:
            kept.append(turn_id)
            budget -= costs[turn_id]
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


@given(notes, st.sampled_from([0.3, 0.6, 0.85, 0.95]), st.integers(20, 400))
def test_the_cover_is_the_plain_greedy(drawn: list[tuple[list[str], int]], eta: float, budget: int) -> None:
    """000-31 to 000-35: against a second implementation; of equals the newer."""
    turns = [(" ".join(words), f"{' walk' * filler}.") for words, filler in drawn]
    gatekeeper = gatekeeper_of([*turns, ("hm", "hm")], eta=eta)
    query = "New topic: Redis port password 缓存 端口"
    everything = gatekeeper.explain(query, trim=False, token_budget=10**6)
    selection = gatekeeper.explain(query, trim=False, token_budget=budget)
    if any(decision.why != "little_evidence" for decision in everything.decisions):
        assert list(selection.order) == plain_greedy(turns, everything, eta=eta, budget=budget)
