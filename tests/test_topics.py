"""The gate: its two answers, its thresholds, its cues."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, GatekeeperConfig
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.cues import ends_with_question, read_cues, without_cues
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.retrieval import read_query
from gatekeeper_core.selection.topics import (
    GateConfig,
    Judgement,
    Topic,
    TopicMap,
    Verdict,
    judge,
    topic_terms,
)

ENGLISH = (
    ("Which port does Redis listen on?", "Redis listens on port 6379 by default."),
    ("How do I set a Redis password?", "Set requirepass in redis.conf and restart the Redis server."),
    ("Does the Redis server keep data on disk?", "Yes, Redis writes an RDB snapshot and an append-only file to disk."),
    ("New topic: how do I bake sourdough bread?", "Feed the sourdough starter, fold the dough, bake the bread hot."),
    ("How long should the dough proof?", "Proof the sourdough dough for twelve hours in the fridge."),
    ("Why is my bread crust pale?", "Bake the bread longer with steam, then the crust browns."),
)
CHINESE = (
    ("Redis 缓存雪崩怎么处理？", "给缓存过期时间加随机值，避免同时过期，再加限流。"),
    ("缓存穿透和缓存击穿有区别吗？", "缓存穿透查的是不存在的数据，缓存击穿是热点数据过期。"),
    ("缓存的过期时间设多久合适？", "热点数据的过期时间可以设三十分钟，加随机值。"),
    ("换个话题，推荐杭州的景点", "杭州的西湖、灵隐寺、龙井村都值得去。"),
    ("西湖要门票吗？", "西湖景区免费，不要门票，灵隐寺要门票。"),
    ("龙井村怎么走？", "从西湖坐公交可以直达龙井村，春天去喝龙井茶。"),
)
MIXED = (
    ("用 Docker 部署 Postgres 要注意什么？", "用 volume 挂载 Postgres 的数据目录，设置 POSTGRES_PASSWORD。"),
    ("Docker 容器重启后 Postgres 数据会丢吗？", "挂载了 volume 就不会丢，Postgres 数据在容器外面。"),
    ("怎么备份 Postgres？", "用 pg_dump 导出 Postgres，再用 cron 定时备份到 S3。"),
    ("换个话题，聊聊旅行：东京 hotel 怎么选？", "东京新宿 station 附近的 hotel 交通方便，浅草便宜。"),
    ("新宿的 hotel 一晚多少钱？", "新宿 hotel 一晚大约 15000 日元。"),
    ("浅草有什么好吃的？", "浅草的天妇罗和鳗鱼饭很有名，hotel 楼下就有 ramen。"),
)
CONVERSATIONS = [ENGLISH, CHINESE, MIXED]
Turns = tuple[tuple[str, str], ...]


class State(NamedTuple):
    topic_map: TopicMap
    index: TurnIndex
    verdicts: list[Verdict]


def read(turns: Turns) -> State:
    """Return the state after some turns, put together from the stages alone."""
    state = State(TopicMap(), TurnIndex(), [])
    for user, assistant in turns:
        state.verdicts.append(ask(state, user).verdict)
        user_terms, assistant_terms = count_terms(user), count_terms(assistant)
        state.index.add(user_terms, assistant_terms)
        state.topic_map.add(
            topic_terms(user_terms, assistant_terms),
            cues=read_cues(user),
            verdict=state.verdicts[-1],
            question_open=ends_with_question(assistant),
        )
    return state


def ask(state: State, query: str, **settings: Any) -> Judgement:
    read_as = read_query(query, state.index, about=without_cues(query))
    return judge(read_as.idf, read_cues(query), state.topic_map, state.index, config=GateConfig(**settings))


def verdict(turns: Turns, query: str, **settings: Any) -> Verdict:
    return ask(read(turns), query, **settings).verdict


def gatekeeper_of(turns: Turns, **gate: Any) -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper(config=GatekeeperConfig(gate=GateConfig(**gate)))
    gatekeeper.sync(turns)
    return gatekeeper


@pytest.mark.parametrize("turns", CONVERSATIONS)
def test_two_topics_with_an_explicit_border_are_two(turns: Turns) -> None:
    """000-15: in Chinese, English and mixed text."""
    assert read(turns).topic_map.topics == (Topic(0, 0, 3), Topic(1, 3, 6))
    assert tuple(topic[:3] for topic in gatekeeper_of(turns).topics) == ((0, 0, 3), (1, 3, 6))


# --- Two answers, measured ------------------------------------------------------------------------------------------

QUESTIONS = [
    *("Which port was it?", "How hot should the oven be for the bread?", "And the crust?", "ok", "", "???"),
    *("What was the Redis port again?", "Back to Redis: which file holds the password?", "Tell me a joke"),
    *("Can you recommend a good laptop for video editing?", "New topic: Redis", "What have we discussed so far?"),
    *("西湖附近有什么好吃的？", "回到缓存的问题，过期时间设多久？", "推荐一款适合编程的笔记本电脑", "它贵吗", "好的"),
    *("换个话题，缓存怎么监控？", "我们都聊了什么", "新宿 hotel 有 breakfast 吗？", "怎么学 Rust 的 async？"),
    *("Postgres 备份到 S3 的 cron 怎么写？", "\ud800", "先把这个放一放，我们聊聊 X", "bread Redis 西湖 Postgres"),
]


@pytest.mark.parametrize("turns", [*CONVERSATIONS, ()])
@pytest.mark.parametrize("query", QUESTIONS)
def test_the_gate_answers_continue_or_switch_with_measures_in_0_to_1(turns: Turns, query: str) -> None:
    """000-16, 000-17, 000-20: never a third answer, always with its reason and its measures."""
    judgement = ask(read(turns), query)
    answer = judgement.verdict
    assert answer.decision in ("continue", "switch")
    assert 0.0 <= answer.overlap <= 1.0
    assert 0.0 <= answer.new_ratio <= 1.0
    assert 0.0 <= answer.staying <= 1.0
    assert sum(judgement.probabilities.values()) <= 1.0 + 1e-5
    assert answer.active_topic == (1 if turns else None)
    assert answer.resumed_topic is None or (answer.decision, answer.resumed_topic) == ("switch", 0)


ENGLISH_WORDS = ["redis", "port", "bread", "dough", "oven", "kafka", "it", "that", "new topic:", "back to", "?"]
CHINESE_WORDS = ["缓存", "西湖", "门票", "这个", "继续", "回到", "换个话题"]
words = st.sampled_from([*ENGLISH_WORDS, *CHINESE_WORDS, "hotel", "Postgres"])


@given(st.sampled_from(CONVERSATIONS), st.lists(words, max_size=8).map(" ".join))
def test_judging_is_pure(turns: Turns, query: str) -> None:
    """000-16: twice the same, and neither the topic map nor the index has changed."""
    state = read(turns)
    before = (state.topic_map.topics, list(state.topic_map.topic_ids), state.topic_map.token_count, len(state.index))
    first = ask(state, query)
    assert ask(state, query) == first
    assert first.verdict.decision in ("continue", "switch")
    after = (state.topic_map.topics, list(state.topic_map.topic_ids), state.topic_map.token_count, len(state.index))
    assert before == after
    anew = ask(read(turns), query)
    assert (anew.verdict, anew.probabilities) == (first.verdict, first.probabilities)


@pytest.mark.parametrize("turns", CONVERSATIONS)
@pytest.mark.parametrize("query", QUESTIONS)
def test_the_verdict_of_a_question_is_the_one_that_adding_it_records(turns: Turns, query: str) -> None:
    """000-16: one gate, whether a turn is asked about or added."""
    gatekeeper = gatekeeper_of(turns)
    judged = gatekeeper.explain(query).gate
    gatekeeper.add_turn(query, "")
    assert gatekeeper.verdicts[-1] == judged == verdict(turns, query)


# --- Thresholds -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turns", "query"),
    [
        (ENGLISH, "Does the bread dough need steam?"),
        (CHINESE, "灵隐寺门票多少钱"),
        (MIXED, "新宿 hotel 有 breakfast 吗？"),
    ],
)
def test_an_overlap_strictly_above_the_threshold_continues(turns: Turns, query: str) -> None:
    """000-17: 0.45 by default, a setting; at the threshold itself the rule does not hold."""
    measured = verdict(turns, query)
    assert (measured.decision, measured.reason) == ("continue", "overlap")
    assert measured.overlap > 0.45
    assert verdict(turns, query, continue_above=measured.overlap - 1e-4).reason == "overlap"
    assert verdict(turns, query, continue_above=measured.overlap).reason == "ambiguous"


NEW_TOPICS = [
    (ENGLISH, "Can you recommend a good laptop for video editing?"),
    (CHINESE, "推荐一款适合编程的笔记本电脑"),
    (MIXED, "怎么学 Rust 的 async runtime 和 tokio？"),
]


@pytest.mark.parametrize(("turns", "query"), NEW_TOPICS)
def test_a_small_overlap_with_many_new_terms_switches(turns: Turns, query: str) -> None:
    """000-18: below 0.20 and above 0.70."""
    answer = verdict(turns, query)
    assert (answer.decision, answer.reason, answer.resumed_topic) == ("switch", "new_topic", None)
    assert answer.overlap < 0.20
    assert answer.new_ratio > 0.70


@pytest.mark.parametrize(("turns", "query"), NEW_TOPICS)
def test_a_switch_needs_both_conditions_strictly(turns: Turns, query: str) -> None:
    """000-18, C12: *and* joins them; at either threshold itself the verdict is to continue."""
    measured = verdict(turns, query)
    new_above = measured.new_ratio - 1e-4
    assert verdict(turns, query, switch_below=measured.overlap + 1e-4, new_above=new_above).decision == "switch"
    at_the_border = [
        verdict(turns, query, switch_below=measured.overlap, new_above=new_above),
        verdict(turns, query, switch_below=0.45, new_above=measured.new_ratio),
        verdict(turns, query, switch_below=0.0, new_above=0.0),
    ]
    assert {(answer.decision, answer.reason) for answer in at_the_border} == {("continue", "ambiguous")}


@pytest.mark.parametrize(("turns", "query"), NEW_TOPICS)
@pytest.mark.parametrize("where", ["between", "few new terms"])
def test_the_zone_without_a_rule_continues_as_ambiguous(turns: Turns, query: str, where: str) -> None:
    """000-19: between the thresholds, or a small overlap with few new terms."""
    measured = verdict(turns, query)
    settings = {"switch_below": measured.overlap / 2} if where == "between" else {"new_above": measured.new_ratio}
    answer = verdict(turns, query, **settings)
    assert (answer.decision, answer.reason) == ("continue", "ambiguous")
    assert (answer.overlap, answer.new_ratio) == (measured.overlap, measured.new_ratio)


@given(st.sampled_from(CONVERSATIONS), st.lists(words, min_size=1, max_size=8).map(" ".join))
def test_every_verdict_follows_its_rule(turns: Turns, query: str) -> None:
    """000-17, 000-18, 000-19, C12: read back from the measures, with the default thresholds."""
    answer = verdict(turns, query)
    if answer.reason == "overlap":
        assert (answer.decision, answer.overlap > 0.45) == ("continue", True)
    elif answer.reason in ("new_topic", "return"):
        assert (answer.decision, answer.overlap < 0.20, answer.new_ratio > 0.70) == ("switch", True, True)
    elif answer.reason == "ambiguous":
        assert answer.decision == "continue"
        assert 0.20 <= answer.overlap <= 0.45 or (answer.overlap < 0.20 and answer.new_ratio <= 0.70)
    expected = answer.staying / (answer.staying + 18 * (1 - answer.staying))
    assert answer.overlap == pytest.approx(expected, abs=1e-3)


# --- The measures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", CONVERSATIONS)
def test_questions_within_a_topic_continue(turns: Turns) -> None:
    """000-19b: no turn inside a topic is taken for a new one; the borders are found."""
    decisions = [answer.decision for answer in gatekeeper_of(turns).verdicts]
    assert decisions[0] == decisions[3] == "switch"
    assert decisions[4:] == ["continue", "continue"]


@pytest.mark.parametrize(
    ("turns", "inside", "outside"),
    [
        (ENGLISH, "Does the bread dough need steam?", "Does the laptop screen need calibration?"),
        (CHINESE, "西湖的门票多少钱", "显卡的价格多少钱"),
        (MIXED, "新宿 hotel 有 ramen 吗？", "iPhone 屏幕有 warranty 吗？"),
    ],
)
def test_the_active_topics_own_words_raise_the_overlap_and_lower_the_new_ratio(
    turns: Turns, inside: str, outside: str
) -> None:
    """000-15, 000-17, 000-20: the gate reads the question's anchors against the active topic."""
    known, unknown = verdict(turns, inside), verdict(turns, outside)
    assert known.overlap > unknown.overlap
    assert known.new_ratio < unknown.new_ratio == 1.0


@pytest.mark.parametrize(
    ("turns", "query", "new_ratio"),
    [
        (ENGLISH, "sourdough starter", 0.0),
        (CHINESE, "龙井茶", 0.0),
        (MIXED, "浅草 ramen", 0.0),
        (ENGLISH, "Redis snapshot on disk", 1.0),
        (CHINESE, "缓存雪崩", 1.0),
        (MIXED, "Postgres pg_dump", 1.0),
    ],
)
def test_the_new_ratio_asks_for_the_active_topic_alone(turns: Turns, query: str, new_ratio: float) -> None:
    """000-20: 0 where the active topic holds every term, 1 where it holds none, whatever earlier topics hold."""
    assert verdict(turns, query).new_ratio == new_ratio


@pytest.mark.parametrize(
    ("turns", "query"),
    [(ENGLISH, "bread or zanzibar"), (CHINESE, "西湖和热带雨林"), (MIXED, "hotel 和 zanzibar")],
)
def test_a_question_that_is_half_new_lies_between(turns: Turns, query: str) -> None:
    """000-20: a share of the informative terms."""
    assert 0.0 < verdict(turns, query).new_ratio < 1.0


def test_the_newest_turn_of_a_topic_counts_more() -> None:
    """000-15: of two words that each stand once in the topic, the newer one keeps it better."""
    turns = tuple((f"Tell me about the raft quorum and {word}", "") for word in ("kafka", "etcd", "nginx", "vacuum"))
    assert read(turns).topic_map.topics == (Topic(0, 0, 4),)
    assert verdict(turns, "vacuum zanzibar").overlap > verdict(turns, "kafka zanzibar").overlap


def test_a_topic_fades_as_it_grows() -> None:
    """000-15: what was said once counts less in a long topic than in a short one."""
    first, filler = ("Tell me about the raft quorum and kafka", ""), ("Tell me about the raft quorum and etcd", "")
    short, long = (first, filler), (first, *[filler] * 20)
    assert len(read(long).topic_map.topics) == 1
    assert verdict(long, "kafka zanzibar").overlap < verdict(short, "kafka zanzibar").overlap


# --- First turn, no anchors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["How do I bake bread?", "缓存雪崩怎么处理", "继续", "ok", "", "换个话题", "我们都聊了什么"]
)
def test_the_first_turn_switches_because_there_is_nothing_to_inherit(query: str) -> None:
    """000-21: whatever it says."""
    assert verdict((), query) == Verdict("switch", "first_turn", overlap=0.0, new_ratio=1.0)


@pytest.mark.parametrize("query", ["ok", "OK!", "嗯", "是的。", "", "???", "the of and", "了吗", "👍"])
@pytest.mark.parametrize("turns", CONVERSATIONS)
def test_a_question_without_anchors_continues(turns: Turns, query: str) -> None:
    """000-21: there is nothing to tell a new topic by."""
    answer = verdict(turns, query)
    assert (answer.decision, answer.reason) == ("continue", "no_anchors")


@pytest.mark.parametrize("query", ["好的", "好", "明白了", "yes, great"])
@pytest.mark.parametrize("turns", CONVERSATIONS)
def test_an_acknowledgement_continues(turns: Turns, query: str) -> None:
    """000-21: 好的 is no topic."""
    assert verdict(turns, query).decision == "continue"


# --- Cues -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turns", "query", "cue"),
    [
        (ENGLISH, "Explain that with a laptop screen and video editing", "that"),
        (ENGLISH, "Continue", "continue"),
        (ENGLISH, "Does it work with Redis snapshots on disk?", "it"),
        (CHINESE, "这个适合编程的笔记本电脑吗", "这个"),
        (CHINESE, "展开说说", "展开"),
        (CHINESE, "它和缓存雪崩有关系吗", "它"),
        (MIXED, "这个 async runtime 怎么学", "这个"),
    ],
)
def test_a_word_that_points_back_continues_whatever_the_measures_say(turns: Turns, query: str, cue: str) -> None:
    """000-22, 000-23, C13: it decides; the thresholds are not asked."""
    answer = verdict(turns, query, continue_above=1.0, switch_below=1.0, new_above=0.0)
    assert (answer.decision, answer.reason, answer.cue) == ("continue", "referring_word", cue)


@pytest.mark.parametrize(
    ("turns", "query"),
    [
        (ENGLISH, "I think that a good laptop needs a calibrated screen for video editing"),
        (CHINESE, "这个月推荐买哪款编程笔记本电脑"),
        (MIXED, "其它 Rust async runtime 框架 tokio 推荐"),
    ],
)
def test_a_wording_that_only_looks_like_it_does_not_hold_the_topic(turns: Turns, query: str) -> None:
    """000-22: 其它, 这个月, "that" as a conjunction."""
    assert verdict(turns, query).reason != "referring_word"


@pytest.mark.parametrize(
    ("turns", "query", "cue"),
    [
        (ENGLISH, "Put that aside for now, new topic: it rains", "put that aside"),
        (ENGLISH, "Let's change the subject, does the bread dough need salt?", "change the subject"),
        (CHINESE, "先把这个放一放，我们聊聊 X", "先把这个放一放"),
        (CHINESE, "换个话题，西湖的门票多少钱", "换个话题"),
        (MIXED, "不聊这个了, 新宿 hotel 的 breakfast 呢", "不聊这个了"),
    ],
)
def test_an_explicit_change_of_topic_wins_over_everything(turns: Turns, query: str, cue: str) -> None:
    """000-24, C13: over a word that points back and over any overlap; the trace says so."""
    answer = verdict(turns, query, continue_above=0.0, switch_below=0.0)
    assert (answer.decision, answer.reason, answer.cue) == ("switch", "explicit_switch", cue)


RETURNS = [
    (ENGLISH, "Back to Redis: which file holds the password?", "explicit_return"),
    (ENGLISH, "As we discussed, the Redis port and its password", "explicit_return"),
    (ENGLISH, "Does the Redis snapshot live on disk?", "return"),
    (CHINESE, "回到缓存的问题，过期时间设多久？", "explicit_return"),
    (CHINESE, "缓存雪崩怎么处理", "return"),
    (MIXED, "back to Postgres，pg_dump 怎么压缩？", "explicit_return"),
    (MIXED, "Postgres 备份到 S3 的 cron 怎么写？", "return"),
]


@pytest.mark.parametrize(("turns", "query", "reason"), RETURNS)
def test_a_return_is_a_switch_that_names_the_topic_it_goes_back_to(turns: Turns, query: str, reason: str) -> None:
    """000-20, 000-24, 000-30: explicit or by its words alone, and the turns of that topic are found."""
    answer = verdict(turns, query)
    assert (answer.decision, answer.reason, answer.resumed_topic) == ("switch", reason, 0)
    assert (answer.cue is not None) == (reason == "explicit_return")
    kept = {turn["turn_id"] for turn in gatekeeper_of(turns).select(query)}
    assert kept
    assert kept <= {0, 1, 2}


REJECTED = [
    (ENGLISH[:3], ("New topic: which laptop is good for video editing?", "One with a calibrated screen.")),
    (CHINESE[:3], ("换个话题，国庆去哪里玩？", "杭州的西湖很适合。")),
    (MIXED[:3], ("换个话题，聊聊 hotel", "新宿 station 附近方便。")),
]


@pytest.mark.parametrize(("turns", "wrong"), REJECTED)
@pytest.mark.parametrize(
    "query",
    [
        "不是，我说的是刚才那个",
        "我問的不是這個",
        "No, I meant the other thing",
        "That's not what I meant",
        "そうじゃなくて",
        "그게 아니라",
    ],
)
def test_a_correction_after_a_switch_brings_the_topic_before_it_back(
    turns: Turns, wrong: tuple[str, str], query: str
) -> None:
    """000-30: the topic that the switch left competes again, as a return."""
    gatekeeper = gatekeeper_of((*turns, wrong))
    selection = gatekeeper.explain(query)
    assert (selection.gate.decision, selection.gate.reason, selection.gate.resumed_topic) == (
        "switch",
        "explicit_return",
        0,
    )
    assert {turn.turn_id for turn in selection.turns} & {0, 1, 2}


@pytest.mark.parametrize("turns", CONVERSATIONS)
def test_a_correction_without_a_switch_before_it_brings_nothing_back(turns: Turns) -> None:
    """000-22: the last turns are what was meant."""
    answer = verdict(turns, "That's not what I meant")
    assert (answer.decision, answer.reason) == ("continue", "referring_word")


def test_of_several_earlier_topics_the_one_with_the_words_is_resumed() -> None:
    """000-30: three topics, each can be gone back to."""
    turns = (*ENGLISH, *CHINESE[3:])
    assert len(read(turns).topic_map.topics) == 3
    assert verdict(turns, "Back to Redis: which file holds the password?").resumed_topic == 0
    assert verdict(turns, "Back to the sourdough bread dough").resumed_topic == 1
    assert verdict(turns, "Back to the Redis server, its port and password, not the bread").resumed_topic == 0


@pytest.mark.parametrize(("turns", "query"), NEW_TOPICS)
def test_a_new_topic_recalls_nothing_of_the_old_ones(turns: Turns, query: str) -> None:
    """000-30: no turn has real evidence, so none is kept."""
    assert gatekeeper_of(turns).select(query) == []


@pytest.mark.parametrize(
    ("turns", "query", "found"),
    [
        (ENGLISH, "New topic: requirepass and redis.conf", 1),
        (ENGLISH, "New topic: a Redis password for zanzibar", 1),
        (ENGLISH, "New topic: convert redis.conf into a parquet column store for zanzibar analytics", 1),
        (CHINESE, "换个话题，缓存击穿", 1),
        (MIXED, "换个话题，pg_dump", 2),
    ],
)
def test_a_wrong_switch_is_cheap(turns: Turns, query: str, found: int) -> None:
    """000-19b, 000-30: turns with real evidence stay, even after an explicit change of topic."""
    gatekeeper = gatekeeper_of(turns)
    assert gatekeeper.explain(query).gate.reason == "explicit_switch"
    assert found in {turn["turn_id"] for turn in gatekeeper.select(query)}


@pytest.mark.parametrize("turns", CONVERSATIONS)
@pytest.mark.parametrize("query", QUESTIONS)
def test_what_is_kept_after_a_switch_has_a_quarter_of_the_evidence_or_a_whole_hit(turns: Turns, query: str) -> None:
    """000-30: half where the user says that the topic is new, an eighth on a return, where its topic is kept anyhow.

    What has less is of the active topic, and only while that is still the likeliest: a wrong verdict is cheap.
    """
    selection = gatekeeper_of(turns).explain(query)
    gate = selection.gate
    needed = 0.125 if gate.resumed_topic is not None else 0.5 if gate.reason == "explicit_switch" else 0.25
    for decision in selection.decisions:
        if gate.decision == "switch" and decision.outcome != "dropped" and decision.topic_id != gate.resumed_topic:
            evidenced = decision.score is not None and (decision.score.whole or decision.score.share >= needed)
            in_doubt = gate.reason in ("new_topic", "return") and gate.staying >= 0.5
            assert evidenced or (decision.topic_id == gate.active_topic and in_doubt)


@pytest.mark.parametrize("turns", CONVERSATIONS)
@pytest.mark.parametrize("query", ["What have we discussed so far?", "我们都聊了什么", "总结一下上面的讨论要点"])
def test_a_question_about_the_conversation_continues_with_its_own_reason(turns: Turns, query: str) -> None:
    """000-16: it bypasses the measures; every topic is shown."""
    selection = gatekeeper_of(turns).explain(query)
    assert (selection.gate.decision, selection.gate.reason) == ("continue", "about_conversation")
    assert {decision.topic_id for decision in selection.decisions if decision.outcome != "dropped"} == {0, 1}


# --- Settings -------------------------------------------------------------------------------------------------------


def test_the_thresholds_of_the_specification_are_the_defaults() -> None:
    """000-17, 000-18: 0.45, 0.20, 0.70."""
    assert (GateConfig().continue_above, GateConfig().switch_below, GateConfig().new_above) == (0.45, 0.20, 0.70)


@pytest.mark.parametrize(
    "settings",
    [
        {"continue_above": 1.01},
        {"continue_above": -0.1},
        {"switch_below": -0.1},
        {"new_above": 1.5},
        {"new_above": math.nan},
        {"staying_prior": 0.04},
        {"staying_prior": 0.91},
        {"evidence_share": -0.1},
        {"evidence_share": 1.1},
        {"switch_below": 0.5},
    ],
)
def test_impossible_thresholds_raise(settings: dict[str, float]) -> None:
    """000-17, 000-18, 000-30: the error names the setting, and is a ValueError too."""
    with pytest.raises(ConfigError, match=f"GateConfig.{next(iter(settings))}") as caught:
        GateConfig(**settings)
    assert isinstance(caught.value, ValueError)


def test_settings_are_frozen_and_named() -> None:
    """000-17: a threshold does not change under a gatekeeper, and no number goes without its name."""
    with pytest.raises(FrozenInstanceError):
        GateConfig().new_above = 0.5  # type: ignore[misc]
    with pytest.raises(TypeError):
        GateConfig(0.45)  # type: ignore[misc]


@pytest.mark.parametrize(("turns", "query"), [(ENGLISH, "Redis bread"), (ENGLISH[:3], "Redis in zanzibar")])
def test_a_lower_prior_for_staying_finds_more_returns(turns: Turns, query: str) -> None:
    """000-19b: the one knob between wrong switches and missed ones."""
    assert verdict(turns, query, staying_prior=0.3).overlap < verdict(turns, query).overlap
