"""The specification's acceptance checks on natural conversations, in Chinese, English and both.

Check 1: within a topic, later questions recall what was said. Check 2: after a switch, the old topic is not recalled.
Check 3: words that point back inherit the last one or two turns. Check 4: the token budget holds.
"""

from __future__ import annotations

import pytest

from gatekeeper_core import ContextGatekeeper, GatekeeperConfig
from gatekeeper_core.tokens import estimate_text_tokens
from tests.case_files import from_file

Turns = tuple[tuple[str, str], ...]

REDIS_ZH: Turns = (
    ("后端想加一层缓存，用 Redis 还是 Memcached？", "需要持久化和丰富的数据结构就用 Redis，只做键值缓存两者都行。"),
    ("Redis 的过期时间怎么设置？", "SET key value EX 900，再加 0 到 120 秒的随机抖动，避免同时失效。"),
    ("缓存穿透怎么防？", "把空值也缓存 60 秒，或者用布隆过滤器挡住不存在的键。"),
)
TRIP_ZH: Turns = (
    ("国庆想去杭州玩三天，怎么安排？", "第一天西湖和断桥，第二天灵隐寺和龙井村，第三天河坊街。"),
    ("西湖边住哪里方便？", "湖滨路附近，走到断桥 10 分钟，民宿每晚 480 元左右。"),
    ("有什么好吃的？", "知味观的小笼包和楼外楼的西湖醋鱼，人均 120 元。"),
)
NGINX_EN: Turns = (
    (
        "How do I set up nginx as a reverse proxy for my API?",
        "Use proxy_pass inside a location block, for instance http://127.0.0.1:8080, and pass the Host header on.",
    ),
    ("Requests to the proxy time out after a minute, why?", "proxy_read_timeout defaults to 60s; set it to 300s."),
    ("Does nginx cache the upstream responses?", "Only with proxy_cache_path and proxy_cache; it is off by default."),
)
PARTY_EN: Turns = (
    (
        "What do I need for my daughter's birthday party? She turns seven.",
        "A dinosaur theme works well at that age: a fossil dig in the sandbox and an egg hunt for twelve kids.",
    ),
    ("What cake fits the dinosaur theme?", "A chocolate volcano with red jelly lava, two layers, serves fourteen."),
    ("How long should the party last?", "Two and a half hours, from 14:30 to 17:00, cake in the middle."),
)
BREAD_MIXED: Turns = (
    ("想做 sourdough，面粉和水的比例是多少？", "500 克高筋粉配 350 克水，hydration 70%，盐 10 克，酵种 100 克。"),
    ("Bulk fermentation 要多久？", "26 度大约 5 小时，体积涨到 1.7 倍，中间做四次 stretch and fold。"),
    ("烤箱温度怎么定？", "先 250 度带盖烤 20 分钟，再 230 度开盖烤 20 分钟，用铸铁锅。"),
)


def gatekeeper_after(*conversations: Turns, token_budget: int = 4000, strategy: str = "gate") -> ContextGatekeeper:
    config = GatekeeperConfig(strategy=strategy)  # type: ignore[arg-type]
    gatekeeper = ContextGatekeeper(token_budget, config=config, token_counter=estimate_text_tokens)
    for conversation in conversations:
        for user, assistant in conversation:
            gatekeeper.add_turn(user, assistant)
    return gatekeeper


def kept(gatekeeper: ContextGatekeeper, query: str) -> set[int]:
    return {turn.turn_id for turn in gatekeeper.explain(query).turns}


@pytest.mark.parametrize(
    ("conversation", "query", "needed"),
    [
        (REDIS_ZH, "Redis 的过期时间要加多少抖动？", 1),
        (REDIS_ZH, "布隆过滤器能完全挡住缓存穿透吗？", 2),
        (TRIP_ZH, "湖滨路的民宿一晚多少钱？", 1),
        (TRIP_ZH, "灵隐寺安排在第几天？", 0),
        (NGINX_EN, "Which value did you suggest for proxy_read_timeout?", 1),
        (NGINX_EN, "Is the nginx cache on by default?", 2),
        (PARTY_EN, "How many people does the volcano cake serve?", 1),
        (PARTY_EN, "When does the party end?", 2),
        (BREAD_MIXED, "酵种放多少克？", 0),
        (BREAD_MIXED, "fermentation 做几次 stretch and fold？", 1),
    ],
)
def test_within_a_topic_later_questions_recall_what_was_said(conversation: Turns, query: str, needed: int) -> None:
    """000-02, 000-51, 000-52: check 1."""
    assert needed in kept(gatekeeper_after(conversation), query)


@pytest.mark.parametrize(
    ("conversation", "query"),
    [
        (REDIS_ZH, "换个话题，孩子发烧 38 度要不要去医院？"),
        (REDIS_ZH, "推荐几部适合周末看的悬疑电影"),
        (TRIP_ZH, "帮我写一封英文的辞职信"),
        (TRIP_ZH, "Python 里怎么读取 CSV 文件？"),
        (NGINX_EN, "Let's talk about something else: how do I grow tomatoes on a balcony?"),
        (NGINX_EN, "What is a good recipe for vegetable lasagna?"),
        (PARTY_EN, "Can you explain how compound interest works on a mortgage?"),
        (PARTY_EN, "Write a SQL query that joins customers with invoices."),
        (BREAD_MIXED, "How do I renew my passport at the embassy?"),
        (BREAD_MIXED, "租房合同里押金条款要注意什么？"),
    ],
)
def test_after_a_switch_the_old_topic_is_not_recalled(conversation: Turns, query: str) -> None:
    """000-51, 000-53: check 2."""
    selection = gatekeeper_after(conversation).explain(query)
    assert selection.gate.decision == "switch"
    assert selection.turns == ()


@pytest.mark.parametrize("conversation", [REDIS_ZH, TRIP_ZH, NGINX_EN, PARTY_EN, BREAD_MIXED])
@pytest.mark.parametrize("query", ["今天天气怎么样？", "Tell me a joke", "Tell me a joke 吧"])
def test_small_talk_recalls_nothing_whatever_the_verdict(conversation: Turns, query: str) -> None:
    """000-53: check 2; so few words tell the gate little, and what is sent does not hang on its verdict."""
    assert gatekeeper_after(conversation).explain(query).turns == ()


@pytest.mark.parametrize(
    ("first", "second", "query", "wanted", "unwanted"),
    [
        (REDIS_ZH, TRIP_ZH, "西湖边的民宿多少钱一晚？", 4, {0, 1, 2}),
        (TRIP_ZH, REDIS_ZH, "缓存空值要缓存多少秒？", 5, {0, 1, 2}),
        (NGINX_EN, PARTY_EN, "How many layers does the volcano cake have?", 4, {0, 1, 2}),
        (PARTY_EN, NGINX_EN, "What is the default of proxy_read_timeout?", 4, {0, 1, 2}),
        (NGINX_EN, BREAD_MIXED, "250 度要带盖烤几分钟？", 5, {0, 1, 2}),
    ],
)
def test_after_two_topics_a_question_recalls_its_own_topic_only(
    first: Turns, second: Turns, query: str, wanted: int, unwanted: set[int]
) -> None:
    """000-02, 000-51, 000-53: checks 1 and 2 together."""
    chosen = kept(gatekeeper_after(first, second), query)
    assert wanted in chosen
    assert not chosen & unwanted


@pytest.mark.parametrize(
    ("first", "second", "query", "wanted", "unwanted"),
    [
        (REDIS_ZH, TRIP_ZH, "说回 Redis，过期时间设多少秒？", 1, {4, 5}),
        (TRIP_ZH, REDIS_ZH, "回到刚才的旅行，灵隐寺是第几天？", 0, {4, 5}),
        (NGINX_EN, PARTY_EN, "Back to nginx: which value for proxy_read_timeout?", 1, {4, 5}),
        (PARTY_EN, NGINX_EN, "Going back to the party, how many kids are on the egg hunt?", 0, {4, 5}),
        (BREAD_MIXED, NGINX_EN, "说回 sourdough，hydration 是多少？", 0, {4, 5}),
    ],
)
def test_a_return_finds_the_turns_of_the_earlier_topic(
    first: Turns, second: Turns, query: str, wanted: int, unwanted: set[int]
) -> None:
    """000-30, 000-51: a return is a switch that resumes an earlier topic."""
    selection = gatekeeper_after(first, second).explain(query)
    chosen = {turn.turn_id for turn in selection.turns}
    assert selection.gate.decision == "switch"
    assert wanted in chosen
    assert not chosen & unwanted


@pytest.mark.parametrize("conversation", [REDIS_ZH, TRIP_ZH, NGINX_EN, PARTY_EN, BREAD_MIXED])
@from_file("query")
def test_words_that_point_back_inherit_the_last_turns(conversation: Turns, query: str) -> None:
    """000-22, 000-23, 000-54: check 3, whatever stood before the last topic."""
    selection = gatekeeper_after(TRIP_ZH, NGINX_EN, conversation).explain(query)
    assert selection.gate.decision == "continue"
    assert {7, 8} <= {turn.turn_id for turn in selection.turns}


@pytest.mark.parametrize("conversation", [REDIS_ZH, NGINX_EN, BREAD_MIXED])
@from_file("query")
def test_what_was_said_before_is_the_last_turns_where_nothing_else_is_named(conversation: Turns, query: str) -> None:
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
    gatekeeper = gatekeeper_after((("第一个问题", "第一个回答。"), ("讲讲原理", long_answer)), token_budget=100)
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
    gatekeeper = gatekeeper_after(REDIS_ZH, TRIP_ZH, NGINX_EN, PARTY_EN, token_budget=budget, strategy=strategy)
    selection = gatekeeper.explain(query)
    sent = sum(estimate_text_tokens(turn.user) + estimate_text_tokens(turn.assistant) for turn in selection.turns)
    assert sent <= selection.tokens <= budget
