from __future__ import annotations

import inspect
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from gatekeeper_core import ConfigError, ContextGatekeeper, GatekeeperError, Message, Selection, ToolCall
from gatekeeper_core.messages import Turn, group_turns
from gatekeeper_core.tokens import count_messages, estimate_text_tokens
from tests.case_files import from_file
from tests.gatekeeper_state import state_of
from tests.tiny_embedder import TinyEmbedder

Pairs = list[tuple[str, str]]

REDIS: Pairs = [
    ("How do I install Redis?", "Run apt install redis-server, then enable the Redis service."),
    ("Which port does Redis use?", "Redis listens on port 6379 by default."),
    ("Redis 的密码怎么设置？", "在 redis.conf 里设置 requirepass，然后重启 Redis。"),
]
NOODLES: Pairs = [
    ("红烧肉要炖多久？", "红烧肉小火慢炖一个小时。"),
    ("红烧肉放多少冰糖？", "五百克五花肉放三十克冰糖。"),
]
QUERIES = ["Redis port?", "红烧肉要放冰糖吗？", "继续", "what did we talk about?", "something else", ""]


def gatekeeper_of(turns: Pairs, token_budget: int = 4000, **settings: Any) -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper(token_budget, **settings)
    for user, assistant in turns:
        gatekeeper.add_turn(user, assistant)
    return gatekeeper


def observed(gatekeeper: ContextGatekeeper) -> str:
    return state_of(gatekeeper, QUERIES)


def tool_turns(city: str = "Bern") -> tuple[Turn, ...]:
    return group_turns(
        [
            Message("user", f"What is the weather in {city}?"),
            Message("assistant", "", tool_calls=(ToolCall("c1", "get_weather", f'{{"city": "{city}"}}'),)),
            Message("tool", "overcast, 7 degrees", tool_call_id="c1"),
            Message("assistant", "It is cloudy."),
            Message("user", "谢谢"),
            Message("assistant", "不客气"),
        ]
    )


def test_the_signatures_are_those_of_the_specification() -> None:
    """000-43, 000-44, 000-45, 000-47, 000-48: names, order, types and defaults."""
    signatures = {
        name: str(inspect.signature(getattr(ContextGatekeeper, name)))
        for name in ("add_turn", "select", "set_constraint", "get_constraints")
    }
    assert signatures == {
        "add_turn": "(self, user_text: 'str', assistant_text: 'str') -> 'None'",
        "select": "(self, query: 'str') -> 'list[dict[str, str | int]]'",
        "set_constraint": "(self, key: 'str', value: 'str') -> 'None'",
        "get_constraints": "(self) -> 'dict[str, str]'",
    }
    parameters = list(inspect.signature(ContextGatekeeper).parameters.values())
    assert (parameters[0].name, parameters[0].default) == ("token_budget", 4000)
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters[1:])


def test_a_block_has_the_six_fields_of_the_specification() -> None:
    """000-05 to 000-11, 000-13: names and types; pairs, triples, words, versions and code once, in order."""
    block = gatekeeper_of(REDIS, token_counter=estimate_text_tokens).turns[2]
    assert (block.user_text, block.assistant_text) == REDIS[2]
    assert block.tokens_user == estimate_text_tokens(REDIS[2][0])
    assert block.tokens_assistant == estimate_text_tokens(REDIS[2][1])
    assert block.turn_id == 2
    anchors = gatekeeper_of([("布隆过滤器 v1.2.3", "布隆过滤器，see `SETBIT key`")]).turns[0].anchors
    assert {"布隆", "隆过", "过滤", "滤器", "布隆过", "隆过滤", "过滤器", "v1.2.3", "SETBIT key"} <= set(anchors)
    assert (len(anchors), anchors[0]) == (len(set(anchors)), "布隆")
    assert not any("器 v" in anchor or "，" in anchor for anchor in anchors)


def test_sync_takes_turns_made_of_messages() -> None:
    """000-06 to 000-08: what tools said is searched, and the cost counts every message."""
    turns = tool_turns()
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(turns)
    block = gatekeeper.turns[0]
    assert block.user_text == "What is the weather in Bern?"
    assert "overcast, 7 degrees" in block.assistant_text
    assert block.tokens_user + block.tokens_assistant == count_messages(turns[0].messages)
    selection = gatekeeper.explain("New topic: overcast?")
    assert [turn.turn_id for turn in selection.turns] == [0]
    assert selection.tokens == count_messages(turns[0].messages)


def test_a_broken_element_leaves_the_history_as_it_was() -> None:
    gatekeeper = gatekeeper_of(REDIS)
    before = observed(gatekeeper)
    for broken in (None, "ab", ("a",), ("a", "b", "c"), {"user": "a", "assistant": "b"}, 3):
        with pytest.raises(TypeError, match=r"turns\[1\]"):
            gatekeeper.sync([REDIS[0], broken])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"turns\[0\]\[1\]"):
        gatekeeper.sync([("a", None)])  # type: ignore[list-item]
    assert observed(gatekeeper) == before


def test_a_counter_of_the_caller_is_the_only_measure() -> None:
    """000-07, 000-08: one counter per object, for blocks, budget, trimming and constraints."""
    gatekeeper = gatekeeper_of(REDIS, token_budget=60, token_counter=len)
    assert gatekeeper.turns[0].tokens_user == len(REDIS[0][0])
    selection = gatekeeper.explain("New topic: Redis port?")
    assert selection.history_tokens == sum(len(user) + len(assistant) for user, assistant in REDIS)
    assert sum(len(turn.user) + len(turn.assistant) for turn in selection.turns) == selection.tokens <= 60


@pytest.mark.parametrize("wrong", [-1, 1.5, None, "3", True, float("nan")])
def test_a_counter_that_does_not_count_is_refused(wrong: Any) -> None:
    """An int of at least 0, or a ConfigError that names the counter; nothing is added."""
    gatekeeper = ContextGatekeeper(token_counter=lambda text: wrong)
    with pytest.raises(ConfigError, match="counter"):
        gatekeeper.add_turn("a", "b")
    with pytest.raises(ConfigError, match="counter"):
        gatekeeper.sync(REDIS)
    with pytest.raises(ConfigError, match="counter"):
        gatekeeper.set_constraint("k", "v")
    assert len(gatekeeper.turns) == 0
    assert gatekeeper.get_constraints() == {}


def test_a_counter_that_fails_in_the_middle_of_a_sync_leaves_the_history_as_it_was() -> None:
    def counter(text: str) -> int:
        if "poison" in text:
            raise OSError("no tokenizer")
        return len(text)

    gatekeeper = gatekeeper_of(REDIS, token_counter=counter)
    before = observed(gatekeeper)
    with pytest.raises(OSError, match="no tokenizer"):
        gatekeeper.sync([REDIS[0], *NOODLES, ("poison", "b")])
    with pytest.raises(OSError, match="no tokenizer"):
        gatekeeper.add_turn("a", "poison")
    assert observed(gatekeeper) == before


@pytest.mark.parametrize("wrong", [None, 3, b"bytes", ["a"], {"a": 1}])
def test_what_is_no_text_is_refused_by_name(wrong: Any) -> None:
    gatekeeper = gatekeeper_of(REDIS)
    before = observed(gatekeeper)
    calls: dict[str, Callable[[], Any]] = {
        "user_text": lambda: gatekeeper.add_turn(wrong, "b"),
        "assistant_text": lambda: gatekeeper.add_turn("a", wrong),
        "query": lambda: gatekeeper.select(wrong),
        "key": lambda: gatekeeper.set_constraint(wrong, "v"),
        "value": lambda: gatekeeper.set_constraint("k", wrong),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=f"{name} must be a str"):
            call()
    assert observed(gatekeeper) == before


@pytest.mark.parametrize("budget", [0, -1, -(10**9)])
def test_a_budget_that_is_not_positive_is_impossible(budget: int) -> None:
    """000-43: a ConfigError, which is a ValueError too."""
    with pytest.raises(ConfigError, match="token_budget") as caught:
        ContextGatekeeper(budget)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, GatekeeperError)
    with pytest.raises(ConfigError, match="token_budget"):
        gatekeeper_of(REDIS).explain("Redis", token_budget=budget)


@pytest.mark.parametrize("query", ["", "Redis?", "继续", "我们聊了什么？", "换个话题", "back to Redis"])
def test_an_empty_history_has_nothing_to_give(query: str) -> None:
    selection = ContextGatekeeper().explain(query)
    assert ContextGatekeeper().select(query) == []
    assert (selection.turns, selection.tokens, selection.decisions) == ((), 0, ())
    assert (selection.history_tokens, selection.turn_count, selection.coverage) == (0, 0, 1.0)
    assert selection.smallest_needed_tokens is None
    assert (selection.gate.decision, selection.gate.reason) == ("switch", "first_turn")


@from_file("question", "thinking", "answer")
def test_thinking_is_left_out_of_a_turn(question: str, thinking: str, answer: str) -> None:
    """000-50: added or synced, a turn with thinking is the turn without it: anchors, tokens and what is selected."""
    thought = f"<think>\n{thinking}\n</think>\n\n{answer}"
    added, synced, plain = ContextGatekeeper(), ContextGatekeeper(), gatekeeper_of([(question, answer)])
    added.add_turn(question, thought)
    synced.sync([(question, thought)])
    assert observed(added) == observed(synced) == observed(plain)
    assert added.select(question) == [{"user": question, "assistant": answer, "turn_id": 0}]


MEANT = "馒头醒多长时间？"  # shares no word with the turn of TALK that answers it

TALK: Pairs = [
    ("Who writes for the choir?", "Marta, since the spring."),
    ("谢谢，那天气呢？", "明天下雨。"),
    ("密码 和 password 在哪里？", "In the vault, 第三格。"),
    ("Which tram goes to the beach?", "The number 15 from the square."),
    ("面包 发酵要几个小时？", "五小时左右。"),
    ("周末去爬山吗？", "去，早上七点出发。"),
    ("Can you recommend a film?", "Watch the one about the lighthouse."),
]


class Moody:
    """An embedder that answers as ``answer`` does; it may raise, wait or lie."""

    name = "tiny"

    def __init__(self, answer: Callable[[Sequence[str]], Any]) -> None:
        self.answer = answer

    def __call__(self, texts: Sequence[str], /) -> Any:
        return self.answer(texts)


def fails(_texts: object, /) -> Any:
    raise ConnectionError("网络")


def with_embedder(turns: Pairs, **settings: Any) -> ContextGatekeeper:
    return gatekeeper_of(turns, **{"embedder": TinyEmbedder(), **settings})


def by_words(selection: Selection) -> str:
    """Return all of a selection but what an embedder says of itself."""
    values = selection.to_dict()
    del values["embedder"], values["embedder_missed"]
    for decision in values["decisions"]:
        assert decision.pop("meaning") is None
        if decision["score"] is not None:
            assert decision["score"].pop("meaning") == 0.0
    return json.dumps(values)


LIES: list[tuple[Any, str]] = [
    (fails, "error: ConnectionError"),
    (lambda texts: [[math.nan] * 32 for _ in texts], "no_vector"),
    (lambda texts: [[1.0] * 32] * (len(texts) + 1), "wrong_count"),
]


@pytest.mark.parametrize(("lie", "reason"), LIES)
def test_after_an_embedder_failed_the_next_add_recovers(lie: Any, reason: str) -> None:
    model = Moody(lie)
    gatekeeper = with_embedder(TALK[:-1], embedder=model)
    selection = gatekeeper.explain(MEANT)
    assert (selection.embedder, selection.embedder_missed) == ("tiny", reason)
    assert by_words(selection) == json.dumps(gatekeeper_of(TALK[:-1]).explain(MEANT).to_dict())
    model.answer = TinyEmbedder()
    assert gatekeeper.explain(MEANT).embedder_missed == "no_vectors"
    gatekeeper.add_turn(*TALK[-1])
    assert observed(gatekeeper) == observed(with_embedder(TALK))


def test_each_text_is_embedded_once_and_only_what_is_there() -> None:
    tiny = TinyEmbedder()
    gatekeeper = with_embedder(TALK, embedder=tiny)
    gatekeeper.sync([*TALK, ("", ""), (" ", "\n")])
    gatekeeper.sync(TALK[:3])
    gatekeeper.sync(TALK)
    assert Counter(tiny.texts) == Counter({"\n".join(turn): 1 for turn in TALK})


def test_a_history_that_grew_and_was_edited_has_the_vectors_of_one_built_anew() -> None:
    """Appended, answered, edited in the middle, cut back, emptied."""
    gatekeeper = with_embedder([])
    histories: list[Pairs] = [
        TALK[:3],
        [*TALK[:3], ("哪里停车？", "")],
        [*TALK[:3], ("哪里停车？", "Behind the square.")],
        [TALK[0], ("Where is the bread?", "发酵"), *TALK[2:]],
        TALK[:2],
        [],
        TALK,
    ]
    for history in histories:
        gatekeeper.sync(history)
        assert observed(gatekeeper) == observed(with_embedder(history))
    added = with_embedder(TALK[:2])
    for user, assistant in TALK[2:]:
        added.add_turn(user, assistant)
    assert observed(added) == observed(gatekeeper)


def test_a_gatekeeper_says_what_it_holds_and_no_word_of_it() -> None:
    gatekeeper = ContextGatekeeper(500)
    gatekeeper.add_turn("a secret 秘密", "kept")
    shown = repr(gatekeeper)
    tokens = sum(gatekeeper.turn_tokens)
    assert shown == f"ContextGatekeeper(token_budget=500, strategy='gate', turns=1, tokens={tokens})"
