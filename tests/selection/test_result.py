from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from gatekeeper_core import ContextGatekeeper, SelectedTurn, Selection
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_core.selection.result import SCHEMA_VERSION
from gatekeeper_core.selection.topics import Verdict
from gatekeeper_core.tokens import estimate_text_tokens
from gatekeeper_core.vectors import dot, packed
from tests.case_files import from_file
from tests.tiny_embedder import TinyEmbedder

REDIS = [
    ("Which port does Redis use?", "Redis listens on port 6379 by default."),
    ("How do I set a Redis password?", "Set requirepass in redis.conf and restart."),
]
NOODLES = [
    ("红烧肉要炖多久？", "小火慢炖一个小时，直到肉质软烂。"),
    ("红烧肉放多少冰糖？", "五百克五花肉放三十克冰糖。"),
]

DECISION = {
    *("turn_id", "outcome", "stage", "why", "topic_id", "tokens", "shared", "related", "score", "need", "signs"),
    *("kept_from_tokens", "kept_from_coverage", "kept_with"),
}


def gatekeeper_of(turns: list[tuple[str, str]], **settings: Any) -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper(**{"token_counter": estimate_text_tokens, **settings})
    for user, assistant in turns:
        gatekeeper.add_turn(user, assistant)
    return gatekeeper


def test_a_prompt_is_the_constraints_the_kept_turns_and_the_query_last() -> None:
    """000-04: constraints first, as one system message; a pending answer gives no message."""
    gatekeeper = gatekeeper_of([("Redis port?", "6379"), ("Redis password?", "")])
    gatekeeper.set_constraint("language", "中文")
    assert gatekeeper.explain("Redis port and Redis password?").to_messages("q") == [
        {"role": "system", "content": render_constraints({"language": "中文"})},
        {"role": "user", "content": "Redis port?"},
        {"role": "assistant", "content": "6379"},
        {"role": "user", "content": "Redis password?"},
        {"role": "user", "content": "q"},
    ]


def test_the_json_has_a_schema_version_and_every_field() -> None:
    selection = gatekeeper_of(REDIS).explain("Redis password file?")
    values = selection.to_dict()
    assert SCHEMA_VERSION == values["schema_version"] == 4
    public = {field.name for field in fields(Selection) if not field.name.startswith("_")}
    assert set(values) == public | {"schema_version", "decisions", "covered", "uncovered", "tokens", "order"}
    assert set(values["turns"][0]) == set(SelectedTurn._fields)
    assert set(values["gate"]) == set(Verdict._fields)
    assert set(values["decisions"][0]) == DECISION


def test_a_turn_that_shares_nothing_says_so_and_what_would_find_it() -> None:
    selection = gatekeeper_of(REDIS + NOODLES).explain("换个话题，Redis port?")
    decision = selection.decision(2)
    assert (decision.outcome, decision.stage, decision.why) == ("dropped", "recall", "no_shared_anchor")
    assert (decision.shared, decision.score) == ((), None)
    assert decision.kept_with
    assert all(anchor in "".join(NOODLES[0]) for anchor in decision.kept_with)


@from_file("query", "turn_id", "stage", "why")
def test_each_reason_comes_with_the_stage_that_decided(query: str, turn_id: int, stage: str, why: str) -> None:
    """000-16: in Chinese, English and both."""
    decision = gatekeeper_of(NOODLES + REDIS).explain(query).decision(turn_id)
    assert (decision.stage, decision.why) == (stage, why)


@pytest.mark.parametrize("turn_id", [-1, 2, 10**9])
def test_there_is_no_decision_on_a_turn_that_is_not_there(turn_id: int) -> None:
    with pytest.raises(IndexError, match="2 turns"):
        gatekeeper_of(REDIS).explain("Redis").decision(turn_id)


def test_anchors_are_covered_or_not_as_the_query_writes_them() -> None:
    selection = gatekeeper_of(REDIS).explain("Which PORT for Redis v9.9 and `requirepass`?")
    assert {"PORT", "Redis"} <= set(selection.covered)
    assert "v9.9" in selection.uncovered
    assert not set(selection.covered) & set(selection.uncovered)


# --- with an embedder


MEANT = [
    (REDIS, "Tell me the passphrase?", 1),
    ([*NOODLES, ("面包要发酵几个小时？", "五小时左右。"), *REDIS], "How long for a batard?", 2),
    ([*REDIS, ("面包 proof 多久？", "五 hours。")], "馒头醒多长时间？", 2),
]
"""Conversations, questions that share no word with the turn that they mean, and that turn."""


@pytest.mark.parametrize(("turns", "query", "turn_id"), MEANT)
def test_a_turn_kept_by_its_meaning_says_so_and_covers_no_anchor(
    turns: list[tuple[str, str]], query: str, turn_id: int
) -> None:
    """The cosine is that of the two texts; what is covered stays a matter of words."""
    tiny = TinyEmbedder()
    selection = gatekeeper_of([*turns, ("Thanks, bye.", "好的。")], embedder=tiny).explain(query)
    decision = selection.decision(turn_id)
    assert (decision.outcome, decision.stage, decision.why) == ("kept", "cover", "meaning")
    assert (decision.shared, decision.related) == ((), ())
    query_vector, turn_vector = map(packed, tiny([query, "\n".join(turns[turn_id])]))
    assert decision.meaning == dot(query_vector, turn_vector)
    assert selection.covered == ()
    plain = gatekeeper_of([*turns, ("Thanks, bye.", "好的。")]).explain(query)
    assert selection.covered + selection.uncovered == plain.covered + plain.uncovered
    assert ">meaning</td>" in selection._repr_html_()


@pytest.mark.parametrize(("turns", "query", "turn_id"), MEANT)
def test_the_json_names_the_embedder_and_survives_a_round_trip(
    turns: list[tuple[str, str]], query: str, turn_id: int
) -> None:
    selection = gatekeeper_of(turns, embedder=TinyEmbedder("我的 model")).explain(query)
    values = selection.to_dict()
    assert (values["embedder"], values["embedder_missed"]) == ("我的 model", "")
    fields_of = {decision["turn_id"]: set(decision) for decision in values["decisions"]}
    assert fields_of[turn_id] == DECISION | {"meaning"}
    plain = gatekeeper_of(turns).explain(query).to_dict()
    assert list(values) == [*plain, "embedder", "embedder_missed"]
    text = json.dumps(values, sort_keys=True, allow_nan=False)
    assert json.dumps(json.loads(text), sort_keys=True) == text
    again = gatekeeper_of(turns, embedder=TinyEmbedder("我的 model")).explain(query)
    assert (again, again.to_dict()) == (selection, values)
