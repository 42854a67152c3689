"""The specification's acceptance checks on natural conversations, in Chinese, English and both.

Check 1: within a topic, later questions recall what was said. Check 2: after a switch, the old topic is not recalled.
Check 3: words that point back inherit the last one or two turns. Check 4: the token budget holds.
"""

from __future__ import annotations

import pytest

from gatekeeper_core import ContextGatekeeper, GatekeeperConfig
from gatekeeper_core.tokens import estimate_text_tokens
from tests.case_files import from_file, rows

CONVERSATIONS = {name: [(user, reply) for user, reply in turns] for name, turns in rows("acceptance", "conversations")}


def gatekeeper_after(*conversations: str, token_budget: int = 4000, strategy: str = "gate") -> ContextGatekeeper:
    config = GatekeeperConfig(strategy=strategy)  # type: ignore[arg-type]
    gatekeeper = ContextGatekeeper(token_budget, config=config, token_counter=estimate_text_tokens)
    for conversation in conversations:
        for user, assistant in CONVERSATIONS[conversation]:
            gatekeeper.add_turn(user, assistant)
    return gatekeeper


def kept(gatekeeper: ContextGatekeeper, query: str) -> set[int]:
    return {turn.turn_id for turn in gatekeeper.explain(query).turns}


@from_file("conversation", "query", "needed")
def test_within_a_topic_later_questions_recall_what_was_said(conversation: str, query: str, needed: int) -> None:
    """000-02, 000-51, 000-52: check 1."""
    assert needed in kept(gatekeeper_after(conversation), query)


@from_file("conversation", "query")
def test_after_a_switch_the_old_topic_is_not_recalled(conversation: str, query: str) -> None:
    """000-51, 000-53: check 2."""
    selection = gatekeeper_after(conversation).explain(query)
    assert selection.gate.decision == "switch"
    assert selection.turns == ()


@pytest.mark.parametrize("conversation", ["redis_zh", "trip_zh", "nginx_en", "party_en", "bread_mixed"])
@pytest.mark.parametrize("query", ["今天天气怎么样？", "Tell me a joke", "Tell me a joke 吧"])
def test_small_talk_recalls_nothing_whatever_the_verdict(conversation: str, query: str) -> None:
    """000-53: check 2; so few words tell the gate little, and what is sent does not hang on its verdict."""
    assert gatekeeper_after(conversation).explain(query).turns == ()


@from_file("first", "second", "query", "wanted", "unwanted")
def test_after_two_topics_a_question_recalls_its_own_topic_only(
    first: str, second: str, query: str, wanted: int, unwanted: list[int]
) -> None:
    """000-02, 000-51, 000-53: checks 1 and 2 together."""
    chosen = kept(gatekeeper_after(first, second), query)
    assert wanted in chosen
    assert chosen.isdisjoint(unwanted)


@from_file("first", "second", "query", "wanted", "unwanted")
def test_a_return_finds_the_turns_of_the_earlier_topic(
    first: str, second: str, query: str, wanted: int, unwanted: list[int]
) -> None:
    """000-30, 000-51: a return is a switch that resumes an earlier topic."""
    selection = gatekeeper_after(first, second).explain(query)
    chosen = {turn.turn_id for turn in selection.turns}
    assert selection.gate.decision == "switch"
    assert wanted in chosen
    assert chosen.isdisjoint(unwanted)


@pytest.mark.parametrize("conversation", ["redis_zh", "trip_zh", "nginx_en", "party_en", "bread_mixed"])
@from_file("query")
def test_words_that_point_back_inherit_the_last_turns(conversation: str, query: str) -> None:
    """000-22, 000-23, 000-54: check 3, whatever stood before the last topic."""
    selection = gatekeeper_after("trip_zh", "nginx_en", conversation).explain(query)
    assert selection.gate.decision == "continue"
    assert {7, 8} <= {turn.turn_id for turn in selection.turns}


@pytest.mark.parametrize("conversation", ["redis_zh", "nginx_en", "bread_mixed"])
@from_file("query")
def test_what_was_said_before_is_the_last_turns_where_nothing_else_is_named(conversation: str, query: str) -> None:
    """000-23, 000-54: check 3; the turn before the last one, too, where both are of one topic."""
    gatekeeper = gatekeeper_after(conversation)
    selection = gatekeeper.explain(query)
    assert selection.gate.decision == "continue"
    wanted = {2} if gatekeeper.topics[-1].start == 2 else {1, 2}
    assert wanted <= {turn.turn_id for turn in selection.turns}


@pytest.mark.parametrize("query", ["继续", "Can you expand on that?"])
def test_the_last_turn_is_cut_rather_than_dropped(query: str) -> None:
    """000-23, 000-54: two turns if the budget allows, else one, trimmed."""
    long_answer = "这是第一点，很重要。" * 40 + "The second point matters too. " * 40
    gatekeeper = gatekeeper_after(token_budget=100)
    gatekeeper.sync([("第一个问题", "第一个回答。"), ("讲讲原理", long_answer)])
    selection = gatekeeper.explain(query)
    assert selection.turns[-1].turn_id == 1
    assert selection.turns[-1].trimmed
    assert selection.turns[-1].assistant
    assert selection.tokens <= 100


@pytest.mark.parametrize("strategy", ["gate", "fill"])
@pytest.mark.parametrize("budget", [1, 10, 40, 75, 150, 400])
@pytest.mark.parametrize(
    "query", ["Redis 的过期时间", "继续", "proxy_read_timeout?", "我们都聊了什么？", "How long is the party?", "好的"]
)
def test_the_budget_holds(query: str, budget: int, strategy: str) -> None:
    """000-34, 000-55: check 4, counted on the text that is given back."""
    gatekeeper = gatekeeper_after("redis_zh", "trip_zh", "nginx_en", "party_en", token_budget=budget, strategy=strategy)
    selection = gatekeeper.explain(query)
    sent = sum(estimate_text_tokens(turn.user) + estimate_text_tokens(turn.assistant) for turn in selection.turns)
    assert sent <= selection.tokens <= budget
