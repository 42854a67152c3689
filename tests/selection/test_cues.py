"""Cues: what the wording of a text says, in tables of what is one and what only looks like one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.data_files import rows
from gatekeeper_core.selection import cues, lexicon
from gatekeeper_core.selection.cues import Cues, ends_with_question, read_cues, without_cues

if sys.version_info >= (3, 11):
    from re import _parser as parser
else:
    import sre_parse as parser

PIECES = [
    "这个",
    "其它",
    "that",
    " that ",
    "that's",
    "it",
    "换个话题",
    "back to",
    "我们聊了",
    "what have we ",
    "总结",
    "'",
    "’",
    " ",
]
PIECES += [
    "的",
    "。",
    "?",
    "？",
    "\n",
    "Redis",
    "缓存",
    "\u200b",
    "\ud800",
    "\x00",
    "ｉｔ",
    "expand",
    "上面",
    "summary of our chat",
]
any_text = st.one_of(st.text(st.characters(exclude_categories=())), st.lists(st.sampled_from(PIECES)).map("".join))


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


# --- Words that point back ------------------------------------------------------------------------------------------

POINTS_BACK = lines("""
    这个怎么改
    那个函数呢
    它支持集群吗
    它们有什么区别
    把它删掉
    用它做缓存可以吗
    上面的代码报错了
    把上面的表格翻译成英文
    上述方案有什么缺点
    刚才的命令再发一遍
    刚刚的结果不对
    前面的例子太长了
    继续
    请继续写下去
    接着说
    展开讲讲
    展开说说第二点
    能展开一点吗
    详细说说
    这些参数是什么意思
    那些文件可以删吗
    为什么这个会失败
    这个方案行吗
    还有呢
    然后呢
    這個怎麼改
    剛才的例子
    這個月的帳單裡，它最貴
    这个 API 返回什么
    继续用 Redis 讲
    它的 latency 高吗
    什么是 idempotency，上面提到过
    那this呢
    What does this mean?
    Does this work on Windows?
    Fix these errors
    Are those values right?
    What is that?
    Explain that in more detail
    Can you translate that into French?
    Rewrite that, please
    Why does that happen?
    How long does that take?
    Is that safe?
    Would that work with Redis?
    Can you do that in Python?
    That's not what I meant
    That was helpful, but why?
    That didn't help
    OK, that works
    What if that fails?
    So that means I need two servers?
    I tried that already
    I don't understand that
    Compare that with Postgres
    Can you explain it again?
    How does it work?
    How do I run it?
    What about its price?
    Translate the above into French
    The table above is wrong
    Your earlier answer was better
    Please continue
    Go on
    Keep going
    Carry on
    Could you expand on the second point?
    Expand a bit
    Elaborate, please
    Do the same for Postgres
    Tell me more
    More details please
    What else?
    And then?
""")

POINTS_NOWHERE = lines("""
    其它的呢
    其他语言有哪些
    这个月的账单
    这个周末去哪玩
    这个星期天气怎么样
    这个学期的课表
    这个季度的销售额
    这个暑假去哪
    这个世界上最高的山
    那个时候的人怎么生活
    继续教育学院怎么报名
    继续教育证书有效期
    画展开幕了吗
    车展开幕时间
    书画展开放时间
    花展开到什么时候
    网上面试要准备什么
    线上面试几点
    海上面积最大的岛
    早上面包卖完了
    晚上面条怎么做
    马上面试了
    吉它怎么学
    上周的会议几点
    他在上海工作
    怎么做红烧肉
    推荐一本书
    這個月的帳單
    Redis 的端口是多少
    用 Docker 部署 Postgres
    这个月的 invoice 在哪
    I think that Go is fast
    I believe that is true for most people
    The book that I read was long
    There are many things that matter
    I hope that you are well
    He said that the server is down
    The problem is that the server is down
    Make sure that the port is open
    Check that the port is open
    Show me a hotel that has a pool
    A function that returns a string
    The port that Redis uses
    Repair the part that's broken
    Find me the phone that's cheapest
    I know that feeling
    Do you like that movie
    That evening we went home
    That said, I prefer tea
    What's the weather this morning?
    We met this week
    What will change this year?
    Those days were good
    What time is it?
    What day is it today?
    Is it possible to fly to Mars?
    Is it hard to learn Go?
    It is important to sleep
    It was nice to meet you
    It rains a lot in London
    Is it raining?
    It takes an hour to fly
    It depends on the weather
    What is it like to live in Paris?
    How's it going?
    OK, got it
    I work in the IT department
    Above all, I want speed
    At the same time
    What is the same-origin policy?
    How do I continue education abroad?
    Expand a zip archive
    All those who wait
    What is a thesis?
    The first item is a sofa
""")


@pytest.mark.parametrize("text", POINTS_BACK)
def test_a_word_that_points_back_is_found(text: str) -> None:
    """000-22: 这个, 那个, 它, 上面, 刚才, 继续, 展开, and this, that, it, above, earlier, continue, expand, same."""
    assert read_cues(text).referring is not None


@pytest.mark.parametrize("text", POINTS_NOWHERE)
def test_a_wording_that_only_looks_like_it_is_not_taken(text: str) -> None:
    """000-22: 其它, 这个月, 继续教育, 画展开幕; "that" as a conjunction or relative; "it" of the weather."""
    assert read_cues(text).referring is None, read_cues(text).referring


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("其它的先不管，刚才那段再说一遍", "刚才"),
        ("这个月忙，它能自动跑吗", "它"),
        ("I think that Go is fast. Continue", "continue"),
        ("What time is it? And explain that again", "that"),
    ],
)
def test_a_guarded_wording_does_not_hide_a_real_one(text: str, word: str) -> None:
    """000-22: guards are cut out, the rest is read."""
    assert read_cues(text).referring == word


@pytest.mark.parametrize(
    ("text", "plain"), [("ｉｔ ｗｏｒｋｓ", "it works"), ("刚\u200b才", "刚才"), ("THAT’S wrong", "that's wrong")]
)
def test_full_width_zero_width_and_case_change_nothing(text: str, plain: str) -> None:
    """000-22: cues are read from the cleaned text."""
    assert read_cues(text) == read_cues(plain)


@pytest.mark.parametrize(
    "text",
    [
        "What happens when the lease ends? Does it renew by itself?",
        "租约到期了怎么办？它会自动续吗？",
        "Write a poem and translate it into French",
        "写一个函数并测试它",
        "That's great! Where do you live?",
        "It happens, do you have any hobbies?",
    ],
)
def test_a_word_for_what_the_text_itself_has_named_or_comments_on_points_back_no_further(text: str) -> None:
    assert read_cues(text).referring is None, read_cues(text).referring


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Thanks. Can you explain it again?", "it"),
        ("That's great, how does it work?", "it"),
        ("好的，谢谢。它贵吗？", "它"),
    ],
)
def test_a_comment_before_it_does_not_hide_a_word_that_points_back(text: str, word: str) -> None:
    assert read_cues(text).referring == word


@pytest.mark.parametrize(
    "text",
    ["それは安全ですか", "先ほどの例をもう一度", "続きを教えて", "그건 왜 그래요?", "방금 말한 거", "이건 뭐예요"],
)
def test_words_that_point_back_in_japanese_and_korean(text: str) -> None:
    """000-22."""
    assert read_cues(text).referring is not None


@pytest.mark.parametrize(
    "text",
    ["那边晚上冷吗？", "这样的行程老人吃得消吗？", "那種材質會熱嗎", "そんな方法がありますか", "그런 방법이 있나요"],
)
def test_words_for_places_and_kinds_are_a_weaker_sign(text: str) -> None:
    cues = read_cues(text)
    assert cues.pronoun is not None
    assert cues.referring is None


CORRECTIONS = lines("""
    不是，我说的是刚才那个
    不对，我问的是价格
    我问的不是这个
    我不是这个意思，我不是问价格
    你误会了
    我問的不是這個
    不是，我說的是剛才那個
    No, I meant the proxy
    no I was asking about the timeout
    That's not what I meant
    That is not what I asked
    You misunderstood me
    I wasn't asking about that
    そうじゃなくて、最初の話です
    その話ではなくて
    그게 아니라 아까 그거
    그런 뜻이 아니에요
""")

NO_CORRECTIONS = lines("""
    我说的话你听懂了吗
    这个不是我要的颜色
    不是所有的缓存都要过期
    意思是什么
    What does this error mean?
    I meant to ask about the port
    Is that what you meant?
    No, thanks
    それは違う色ですか
    그것은 무엇입니까
""")


@pytest.mark.parametrize("text", CORRECTIONS)
def test_a_correction_is_found(text: str) -> None:
    assert read_cues(text).correction is not None


@pytest.mark.parametrize("text", NO_CORRECTIONS)
def test_what_only_looks_like_a_correction_is_none(text: str) -> None:
    assert read_cues(text).correction is None, read_cues(text).correction


# --- Switching and returning ----------------------------------------------------------------------------------------

SWITCHES = lines("""
    换个话题，聊聊旅行
    换一个话题
    聊点别的吧
    我们说点别的
    聊聊别的
    新话题：旅行计划
    先不说这个了，问你个事
    不聊这个了
    先把这个放一放，我们聊聊 X
    这个先放一边，聊聊吃的
    换个问题
    跟这个无关，帮我写首诗
    換個話題
    换个话题, Docker volume 怎么清理？
    Let's change the subject
    Can we change topics?
    Changing the topic, do you like tea?
    Let's switch topics
    Switching gears, what about dinner?
    New topic: travel
    Let's start a new topic
    Different question: how do I bake bread?
    Separate question: how do I cook rice?
    Unrelated question: what is Rust?
    Unrelated, but what is Rust?
    Let's talk about something else
    On a different note, how are you?
    Off topic, but what is Go?
    Moving on to deployment
    Enough about databases
    Put that aside for a moment
    Forget about that for now
""")

NO_SWITCHES = lines("""
    这个话题很有意思
    换个颜色
    换个数据库行吗
    Kafka topic 怎么建
    话题标签怎么加
    别的方案呢
    放一勺糖
    聊天机器人怎么做
    新手怎么入门
    How do I switch branches in git?
    What is the topic of the book?
    Create a new Kafka topic
    How do I create a new topic in Kafka?
    Use a different topic name
    Write a different subject line
    Are the two variables unrelated?
    I have enough about cats
    I know enough about databases
    Which gears does the bike have?
    Tell me about topics in physics
    The subject of the email
    What changed?
    Put the milk aside
    Change the colour
    Is there another question mark?
""")


@pytest.mark.parametrize("text", SWITCHES)
def test_an_explicit_change_of_topic_is_found(text: str) -> None:
    """000-24: also where a word that points back stands in it."""
    assert read_cues(text).switch is not None


@pytest.mark.parametrize("text", NO_SWITCHES)
def test_a_topic_that_is_talked_about_is_no_change_of_topic(text: str) -> None:
    """000-24: a Kafka topic, a subject line."""
    assert read_cues(text).switch is None, read_cues(text).switch


RETURNS = lines("""
    回到缓存的问题
    回到刚才的话题
    说回 Redis
    再说回部署
    回头说一下缓存
    刚才说的那个端口是多少
    之前聊的旅行计划
    我们之前提到的方案
    之前问的那个报错
    前面提到的表格
    一开始说的预算是多少
    接着刚才的话题
    上次说的餐厅叫什么
    back to缓存
    Back to the Redis cache
    Let's get back to the hotel
    Going back, what was the port?
    Let's return to deployment
    Returning to our trip
    Circling back to pricing
    Let me revisit the migration
    As we discussed, the port is 6379
    As I said, I have two cats
    You mentioned earlier a library
    Earlier you said Redis is faster
    You said before that it was free
    The hotel we talked about earlier
    Previously you mentioned a book
    At the beginning you named a price
    At the start of our conversation
    The recipe from before
""")

NO_RETURNS = lines("""
    我想回到家里休息
    回到主页的按钮怎么写
    怎么回到上一页
    回头率高吗
    回答得不错
    接着怎么办
    之前没用过 Docker
    上次更新是什么时候
    缓存回收策略
    用户返回首页
    最初的版本号
    How do I go back in git?
    I want to go back to school
    I will go back home
    Is life back to normal?
    Send feedback to users
    Add a callback to the server
    Run a backup to S3
    The function returns to the caller
    At the start of the year
    In the beginning of the book
    What did they discuss?
    My back hurts
    Before lunch
    The earlier train
""")


@pytest.mark.parametrize("text", RETURNS)
def test_an_explicit_return_is_found(text: str) -> None:
    """000-24: 回到, 说回, back to; 之前说的 and "as we discussed", where an earlier topic holds what follows."""
    assert read_cues(text).back is not None or read_cues(text).said is not None


@pytest.mark.parametrize("text", NO_RETURNS)
def test_going_home_is_no_return_to_a_topic(text: str) -> None:
    """000-24: 回到家里, "go back in git", "feedback to"."""
    assert read_cues(text).back is None, read_cues(text).back


# --- Questions about the conversation -------------------------------------------------------------------------------

ABOUT_CONVERSATION = lines("""
    我们都聊了什么
    我们聊了什么？
    我们刚才讨论了哪些话题
    我们之前聊过什么
    我们之前都谈过哪些话题
    我们一共聊了多少个话题
    我们这次都讨论了些什么？
    我们今天聊了啥
    咱们今天都说了些什么
    到目前为止我们聊了哪些内容
    你还记得我们聊了什么吗
    总结一下我们的对话
    总结一下今天的聊天内容
    总结一下我们今天聊的内容
    总结以上内容
    回顾一下我们之前的讨论
    帮我概括一下整个对话
    请总结一下上面的讨论要点
    梳理一下这次对话
    简单总结一下这段对话
    列出我们讨论过的话题
    聊天记录里都有什么
    總結一下我們的對話
    What did we discuss?
    What did we talk about today?
    What have we talked about so far?
    What have we covered?
    What have we been discussing today?
    What were we talking about?
    So what have we discussed until now?
    What topics have we covered?
    What topics did we discuss?
    Which topics have we covered so far?
    List the topics we discussed
    Can you list all our topics?
    Remind me what we talked about
    Summarize our conversation
    Summarise this chat
    Can you summarize our discussion so far?
    Summarize everything so far
    Recap the discussion, please
    Review our whole conversation
    Sum up the discussion in three bullet points
    Can you give me a summary of our conversation?
    Give me a recap of this chat
    Give me an overview of our chat
""")

ABOUT_SOMETHING_ELSE = lines("""
    我们聊聊缓存
    我们讨论一下部署方案
    我们聊了 Redis 的什么配置？
    我们讨论缓存的时候说了什么
    我们聊过什么电影
    我们讨论了什么数据库
    我们说的端口是多少
    我们聊天软件用哪个好
    总结一下这篇文章
    总结一下这本书的要点
    总结一下我和老板的对话
    总结一下客户的聊天记录
    总结会议纪要
    总结以上代码
    怎么总结会话内容
    如何概括对话
    回顾一下第二次世界大战
    聊天机器人怎么做
    Redis 的对话框怎么写
    what did we decide about the Redis port?
    What did we discuss about the Redis port?
    What did we say about the budget?
    What did Alice and Bob talk about?
    What did you recommend for the migration?
    What have we got for dinner?
    What did we have to pay for the flight?
    What topics should I study?
    List the topics of the physics exam
    Summarize the meeting notes
    Summarize this article
    Summarize the discussion about Redis
    Summarize everything in this file about Kafka
    Summary of our quarterly numbers
    Outline the conversation between Romeo and Juliet
    How do I summarize a conversation with LangChain?
    Review my code
    Review everything in this pull request
    Recap the last season of the show
    Give me an overview of Kubernetes
    Let's talk about caching
""")


@pytest.mark.parametrize("text", ABOUT_CONVERSATION)
def test_a_question_about_the_conversation_is_found(text: str) -> None:
    """Such a question names no topic; it asks for all of them."""
    assert read_cues(text).about_conversation is not None


@pytest.mark.parametrize("text", ABOUT_SOMETHING_ELSE)
def test_a_question_about_something_in_it_is_not_about_the_conversation(text: str) -> None:
    """An article, meeting notes, or one thing that was talked about."""
    assert read_cues(text).about_conversation is None, read_cues(text).about_conversation


# --- Small talk -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "greeting"),
    [
        ("你好", "你好"),
        ("你好，请问怎么部署", "你好"),
        ("您好", "您好"),
        ("早上好，想问个事", "早上好"),
        ("Hi there", "hi"),
        ("Hello, can you help?", "hello"),
        ("Good morning!", "good morning"),
        ("hi，帮我看下", "hi"),
        ("我说你好", None),
        ("你好像很忙", None),
        ("你好久没来", None),
        ("History of Rome", None),
        ("Say hello to Bob", None),
        ("hidden files", None),
    ],
)
def test_a_greeting_opens_a_text(text: str, greeting: str | None) -> None:
    """A greeting makes the border of a topic cheap."""
    assert read_cues(text).greeting == greeting


@pytest.mark.parametrize(
    ("text", "thanks"),
    [
        ("谢谢", "谢谢"),
        ("好的，多谢", "多谢"),
        ("再见", "再见"),
        ("Thanks a lot", "thanks"),
        ("That works, thank you!", "thank you"),
        ("bye", "bye"),
        ("thankful", None),
        ("bytes", None),
        ("怎么写", None),
    ],
)
def test_thanks_and_goodbyes_are_found_anywhere(text: str, thanks: str | None) -> None:
    """After them a topic tends to end."""
    assert read_cues(text).thanks == thanks


@pytest.mark.parametrize(
    ("text", "acknowledgement"),
    [
        ("好的", "好的"),
        ("好", "好"),
        ("好，然后呢", "好"),
        ("嗯，明白", "嗯"),
        ("明白了", "明白了"),
        ("可以", "可以"),
        ("没错", "没错"),
        ("ok", "ok"),
        ("ok吧", "ok"),
        ("OK, got it", "ok"),
        ("Yes", "yes"),
        ("Sounds good", "sounds good"),
        ("好吃的餐厅有哪些", None),
        ("好奇怪", None),
        ("对数怎么算", None),
        ("行程怎么安排", None),
        ("可以推荐一本书吗", None),
        ("okra recipe", None),
        ("yesterday", None),
        ("noodles", None),
        ("我觉得好的", None),
    ],
)
def test_an_acknowledgement_opens_a_text_as_a_word_of_its_own(text: str, acknowledgement: str | None) -> None:
    """好的, "ok" keep a topic going; 好吃 and okra do not."""
    assert read_cues(text).acknowledgement == acknowledgement


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("请问怎么部署", "请问"),
        ("How do I deploy it", "how do i"),
        ("端口是多少？", "?"),
        ("Which port is it?", "?"),
        ("端口是多少", "?"),
        ("部署好了。", None),
        ("It is deployed.", None),
    ],
)
def test_a_text_asks_by_its_opening_or_its_last_sentences(text: str, asks: str | None) -> None:
    """A request brings more new words than a remark."""
    assert read_cues(text).asks == asks


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Done. Shall I deploy it?", True),
        ("要现在部署吗？", True),
        ('Shall I write "yes?"', True),
        ("(Shall I?)  \n", True),
        ("部署好了。", False),
        ("Why? Because it is safe.", False),
        ("", False),
    ],
)
def test_an_answer_may_end_with_a_question(text: str, asks: bool) -> None:
    """Then the next turn most likely answers it."""
    assert ends_with_question(text) is asks


@pytest.mark.parametrize(
    ("text", "pronoun"),
    [
        ("她住在哪", "她"),
        ("他写过什么书", "他"),
        ("他们几点开门", "他们"),
        ("那里有停车场吗", "那里"),
        ("Where does she live?", "she"),
        ("What's their phone number?", "their"),
        ("How do I get there?", "there"),
        ("其他语言有哪些", None),
        ("吉他怎么学", None),
        ("Is there a faster way?", None),
        ("There are two ports", None),
        ("The theory of everything", None),
        ("Sheep and hers", None),
    ],
)
def test_a_word_for_a_person_or_place_is_found(text: str, pronoun: str | None) -> None:
    """It mostly stands for something said before: a weaker sign than 这个 or "it"."""
    assert read_cues(text).pronoun == pronoun


@pytest.mark.parametrize(
    ("text", "small_talk"),
    [
        ("今天天气怎么样", "今天天气"),
        ("讲个笑话吧", "讲个笑话"),
        ("Tell me a joke", "tell me a joke"),
        ("What's the weather in Paris?", "what's the weather"),
        ("帮我写首诗", "写首诗"),
        ("天气预报接口怎么调", None),
        ("The joke was old", None),
        ("Does the weather API need a key?", None),
    ],
)
def test_a_request_out_of_the_blue_is_found(text: str, small_talk: str | None) -> None:
    """It opens a topic where nothing else in the text belongs to the active one."""
    assert read_cues(text).small_talk == small_talk


# --- Going on, editing, asking for a state ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "continues"),
    [
        ("那价格呢", "那"),
        ("好的，那价格多少", "好的,那"),
        ("还有别的吗", "还"),
        ("改成周五可以吗", "改成"),
        ("价格呢？", "呢?"),
        ("要是下雨的话", "要是"),
        ("And the price?", "and"),
        ("Ok, and the price?", "ok, and"),
        ("What about Friday?", "what about"),
        ("Would that work on Friday instead?", "instead?"),
        ("那 price 呢", "那"),
        ("and 价格", "and"),
        ("那个函数在哪", None),
        ("那天下雨", None),
        ("还款日是哪天", None),
        ("再见", None),
        ("Android or iOS?", None),
        ("Sofia is a city", None),
        ("If only", "if"),
        ("Which port does Redis use?", None),
        ("缓存的端口是多少", None),
        ("What about something unrelated: bread", None),
    ],
)
def test_a_beginning_or_an_end_that_goes_on_is_found(text: str, continues: str | None) -> None:
    """000-23: 那…, …呢, "and", "then?": it makes the link to the newest turn firmer."""
    assert read_cues(text).continues == continues


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("改短一点", "短一点"),
        ("把第二段删掉", "删掉"),
        ("语气正式点", "语气"),
        ("Make it shorter", "make it"),
        ("Please rewrite the opening", "rewrite"),
        ("把它 rewrite 一下", "rewrite"),
        ("更正：是周五", "更正"),
        ("That's wrong, it is Friday", "that's wrong"),
        ("How long is the coast of Norway?", None),
        ("Shortening in a pie crust", None),
        ("端口是多少", None),
    ],
)
def test_a_wording_that_changes_what_was_written_is_found(text: str, edit: str | None) -> None:
    """000-23: an edit cannot do without what it edits."""
    assert read_cues(text).edit == edit


@pytest.mark.parametrize(
    ("text", "newest_state"),
    [
        ("给我完整的邀请函", "完整"),
        ("最新的版本发我", "最新"),
        ("把最终稿再发一遍", "最终"),
        ("Give me the final version", "final"),
        ("What is the current plan?", "current"),
        ("Show the whole letter", "whole"),
        ("最终版 letter", "最终"),
        ("the final 版本", "final"),
        ("Which port does Redis use?", None),
        ("Nowhere near Finland", None),
        ("新的端口是多少", None),
    ],
)
def test_a_wording_that_asks_for_the_state_after_all_changes_is_found(text: str, newest_state: str | None) -> None:
    """000-52: then the turns that changed it are wanted, too."""
    assert read_cues(text).newest_state == newest_state


@pytest.mark.parametrize(
    ("text", "asked_before"),
    [
        ("我问过你几个问题", "我问过"),
        ("我第一个问的是什么", "我第一个问"),
        ("我说过我住哪吗", "我说过"),
        ("What did I ask first?", "did i ask"),
        ("Have I told you my name?", "have i told"),
        ("What was my first question?", "my first question"),
        ("How many topics did we cover?", "how many topics"),
        ("我问过你 Redis 吗", "我问过"),
        ("did I mention 缓存?", "did i mention"),
        ("What did Anna ask?", None),
        ("Which questions should I ask?", None),
        ("你问过他吗", None),
        ("Redis 用哪个端口", None),
    ],
)
def test_a_wording_that_asks_what_the_user_asked_is_found(text: str, asked_before: str | None) -> None:
    """000-52: then every turn may be meant."""
    assert read_cues(text).asked_before == asked_before


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("它安全吗", "它"),
        ("她住在哪", "她"),
        ("刚才说的端口", "刚才"),
        ("Does it scale?", "it"),
        ("Where does she live?", "she"),
        ("As I said, two cats", "as i said"),
        ("它 safe 吗", "它"),
        ("Which port does Redis use?", None),
        ("缓存的端口是多少", None),
    ],
)
def test_a_pointer_is_the_first_of_what_points_back(text: str, pointer: str | None) -> None:
    """000-22: a word that points back, a pronoun, or what was said before."""
    found = read_cues(text)
    assert found.pointer == pointer == (found.referring or found.pronoun or found.said)


# --- What is left ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("换个话题，聊聊旅行", "聊聊旅行"),
        ("New topic: travel", "travel"),
        ("Back to the Redis cache", "the Redis cache"),
        ("回到缓存", "缓存"),
        ("Enough of that. 怎么清缓存？", "怎么清缓存？"),
        ("跟这个没关系，缓存怎么清？", "缓存怎么清？"),
        ("先把这个放一放,我们聊聊缓存", "我们聊聊缓存"),
        ("这个缓存怎么清", "缓存怎么清"),
        ("Which port does Redis use?", "Which port does Redis use?"),
    ],
)
def test_without_its_cues_a_text_says_what_it_is_about(text: str, left: str) -> None:
    """In 换个话题 the topic is no anchor."""
    assert without_cues(text).strip() == left


# --- Any text -------------------------------------------------------------------------------------------------------


@given(any_text)
def test_no_text_raises_and_the_same_text_has_the_same_cues(text: str) -> None:
    """Each cue is a wording of the cleaned text, or None."""
    cues = read_cues(text)
    assert cues == read_cues(text)
    assert all(cue is None or cue for cue in cues)
    ends_with_question(text)


@given(any_text)
def test_taking_the_cues_out_leaves_only_what_was_there(text: str) -> None:
    """Nothing is added but spaces."""
    left = iter(text)
    assert all(char in left for char in without_cues(text) if char != " ")


@pytest.mark.parametrize("text", ["", "   ", "。", "42"])
def test_a_text_without_wording_has_no_cues(text: str) -> None:
    """Nothing to go by."""
    assert read_cues(text) == Cues()


@pytest.mark.parametrize(
    "piece", ["that ", "这个", "总结一下的", "what have we ", "'", "is that ", "a" * 50, "to ", "。", "it's "]
)
def test_only_the_beginning_of_a_long_text_is_read(piece: str) -> None:
    """2,000 characters, so that a text of any length takes a bounded time; what comes later is left as it is."""
    long = piece * (2_000_000 // len(piece))
    assert read_cues(long) == read_cues(long[:2_000])
    assert without_cues(long)[-1_900_000:] == long[-1_900_000:]
    assert read_cues("x" * 2_000 + " 换个话题").switch is None


GROUPS = sorted({key.removesuffix(" english") for key, _ in rows("cues.tsv") if key.endswith(" english")})


def beginnings(nodes: Sequence[tuple[object, Any]]) -> Iterator[str]:
    """Yield how the matches of a parsed pattern may begin, up to the end of their first word."""
    if not nodes:
        yield ""
        return
    (kind, value), rest = nodes[0], nodes[1:]
    name = str(kind)
    if name in ("LITERAL", "IN"):
        assert all(str(what) == "LITERAL" for what, _ in (value if name == "IN" else ()))
        for char in [chr(value)] if name == "LITERAL" else [chr(code) for _, code in value]:
            if re.match(r"[0-9a-z_']", char):
                yield from (char + more for more in beginnings(rest))
            else:
                yield "" if char.isascii() else char
    elif name == "SUBPATTERN":
        yield from beginnings([*value[3], *rest])
    elif name == "BRANCH":
        for alternative in value[1]:
            yield from beginnings([*alternative, *rest])
    elif name == "MAX_REPEAT":
        assert value[1] == 1, "a wording must not begin with a repetition"
        if value[0] == 0:
            yield from beginnings(rest)
        yield from beginnings([*value[2], *rest])
    else:
        assert name in ("ASSERT", "ASSERT_NOT"), name
        yield from beginnings(rest)


@pytest.mark.parametrize("name", GROUPS)
def test_the_words_that_wordings_begin_with_are_listed_beside_them(name: str) -> None:
    """000-19: what is not listed would never be found; what is listed in vain would cost time."""
    words = lexicon.wordings(name)
    begins = set(beginnings(parser.parse(words.english).data))
    chinese = {word[0] for word in words.chinese}
    assert begins - chinese == set(words.begins) - chinese


@pytest.mark.parametrize("name", GROUPS)
@given(st.data())
def test_a_wording_is_found_where_a_search_of_the_whole_text_finds_it(name: str, data: st.DataObject) -> None:
    """000-19: that most texts are ruled out by how the wordings begin changes nothing."""
    pattern, words = cues._pattern(name), lexicon.wordings(name)
    pieces = sorted(
        {piece for piece in re.split(r"[^\w' ]+", "|".join([*words.chinese, words.english]).replace(" ", "|")) if piece}
    )
    drawn = data.draw(st.lists(st.sampled_from([*pieces, "?", ",", ". ", "'s", "-", "that"]), max_size=40))
    for text in (" ".join(drawn), "".join(drawn)):
        found = [match.span() for match in cues._Search(text).matches(name)]
        assert found == [match.span() for match in pattern.finditer(text)]
