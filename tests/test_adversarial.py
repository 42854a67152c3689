"""Hostile input: nothing raises, budgets hold, time and memory stay linear.

Environment:
    GATEKEEPER_ADVERSARIAL_SEED: the seed of the texts; any seed must pass.
    GATEKEEPER_ADVERSARIAL_SIZE: size of the hostile texts in characters.
    GATEKEEPER_ADVERSARIAL_BIG: size of the big messages in millions of characters.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

import pytest

from gatekeeper_core import ContextGatekeeper, GatekeeperConfig, Selection
from gatekeeper_core.selection.anchors import MAX_QUERY_ANCHORS, extract_anchors
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_core.selection.result import SCHEMA_VERSION
from tests.adversarial import big_texts, hostile_conversations, hostile_texts, query_of_words

SEED = int(os.environ.get("GATEKEEPER_ADVERSARIAL_SEED", "20261120"))
BIG = int(os.environ.get("GATEKEEPER_ADVERSARIAL_BIG", "10"))
SIZE = int(os.environ.get("GATEKEEPER_ADVERSARIAL_SIZE", "4000"))

TEXTS = hostile_texts(SEED, size=SIZE)
SHORT_TEXTS = hostile_texts(SEED, size=SIZE // 4)
CONVERSATIONS = hostile_conversations(SEED)

# Far above what any of these takes, far below what a quadratic step would take.
CEILING_SECONDS = 10.0
FLOOR_SECONDS = 0.01

SOME_TURNS = [
    ("Which port does Redis use?", "Redis listens on port 6379."),
    ("红烧肉放多少冰糖？", "放三十克。"),
    ("What is `get_user()` in v1.2.3?", "A helper. 它返回用户。"),
]
QUERIES = ["Redis 的 port?", "继续", "我们聊了什么？", "换个话题，get_user() v1.2.3", "a x 中"]


def gatekeeper_of(turns: list[tuple[str, str]], *, strategy: str = "gate") -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper(300, config=GatekeeperConfig(strategy=strategy))  # type: ignore[arg-type]
    gatekeeper.sync(turns)
    return gatekeeper


def assert_sound(selection: Selection) -> None:
    assert sum(turn.tokens for turn in selection.turns) == selection.tokens <= selection.token_budget
    values = selection.to_dict()
    assert json.loads(json.dumps(values, sort_keys=True, allow_nan=False))["schema_version"] == SCHEMA_VERSION


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work: other programs on the machine do not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


# --- each text in each place


@pytest.mark.parametrize("name", TEXTS)
def test_any_text_can_be_said_and_asked(name: str) -> None:
    """000-55: as query, as the user's and as the assistant's text: no exception, within budget, in bounded time."""
    text = TEXTS[name]

    def use() -> None:
        gatekeeper = gatekeeper_of(SOME_TURNS)
        assert_sound(gatekeeper.explain(text))
        gatekeeper.add_turn(text, "ok")
        assert gatekeeper.explain("继续", token_budget=10**9, trim=False).turns[-1].user == text
        gatekeeper.add_turn("Redis 的 port 呢?", text)
        for query in ("Redis 的 port? a x 中", text[:200]):
            assert_sound(gatekeeper.explain(query))
        filling = gatekeeper_of([*SOME_TURNS, (text, "ok"), ("Redis 的 port 呢?", text)], strategy="fill")
        newest = filling.explain("继续", token_budget=10**9, trim=False).turns[-2:]
        assert (newest[0].user, newest[1].assistant) == (text, text)
        gatekeeper.sync(SOME_TURNS)
        assert gatekeeper.explain(QUERIES[0]).to_dict() == gatekeeper_of(SOME_TURNS).explain(QUERIES[0]).to_dict()

    assert seconds(use) < CEILING_SECONDS


@pytest.mark.parametrize("name", ["orders", "terminal escapes", "special tokens", "bidirectional"])
def test_an_order_in_a_text_is_data(name: str) -> None:
    """Nothing that a turn says becomes a constraint or reaches the system message."""
    gatekeeper = gatekeeper_of([*SOME_TURNS, (TEXTS[name], TEXTS[name])])
    gatekeeper.set_constraint("style", "short")
    for query in QUERIES:
        messages = gatekeeper.explain(query).to_messages()
        assert messages[0] == {"role": "system", "content": render_constraints({"style": "short"})}
        assert all(message["role"] != "system" for message in messages[1:])


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_any_conversation_can_be_held(name: str) -> None:
    turns = CONVERSATIONS[name]

    def use() -> None:
        gatekeeper = gatekeeper_of(turns)
        for query in (*QUERIES, turns[len(turns) // 2][0]):
            assert_sound(gatekeeper.explain(query))
        gatekeeper.sync(turns[: len(turns) // 2])
        assert len(gatekeeper.turns) == len(gatekeeper.verdicts) == len(turns) // 2

    assert seconds(use) < CEILING_SECONDS


# --- time


@pytest.mark.parametrize("name", TEXTS)
def test_four_times_the_text_takes_about_four_times_as_long(name: str) -> None:
    """Reading a turn, being one and being asked: linear. Quadratic would be sixteen times."""

    def used(text: str) -> float:
        def use() -> None:
            gatekeeper = gatekeeper_of([*SOME_TURNS, (text, text)])
            gatekeeper.explain("a x 中 port")

        return seconds(use)

    used(SHORT_TEXTS[name])  # patterns and tables are made once
    small, large = used(SHORT_TEXTS[name]), used(TEXTS[name])
    if large > 10 * max(small, FLOOR_SECONDS):  # the collector may have come by
        small, large = (min(used(texts[name]) for _ in range(3)) for texts in (SHORT_TEXTS, TEXTS))
    assert large < 10 * max(small, FLOOR_SECONDS)


@pytest.mark.parametrize("name", big_texts(SEED, 1))
def test_a_message_of_many_megabytes_is_read_and_selected(name: str) -> None:
    """10 MB in one message: no exception, in bounded time, within the budget."""
    text = big_texts(SEED, BIG)[name]()

    def use() -> None:
        gatekeeper = gatekeeper_of(SOME_TURNS)
        gatekeeper.add_turn(text, "ok")
        assert_sound(gatekeeper.explain("New topic: 缓存 worker cache"))

    assert seconds(use) < CEILING_SECONDS * max(1, BIG / 10)


def test_a_query_of_a_hundred_thousand_words_is_read_up_to_a_cap() -> None:
    query = query_of_words(SEED, 100_000)
    assert len(extract_anchors(query)) == MAX_QUERY_ANCHORS == 256
    gatekeeper = gatekeeper_of([(f"w{i}x{i % 99} note", f"w{i + 1}") for i in range(1_000)])
    assert_sound(gatekeeper.explain(query))
    assert seconds(lambda: gatekeeper.explain(query)) < CEILING_SECONDS / 2
