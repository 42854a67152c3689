"""What a clause says about who wrote it, in Chinese and English."""

from __future__ import annotations

from functools import partial

import pytest

from gatekeeper_core.context.memory import extraction_rules
from gatekeeper_core.context.memory.extraction_rules import read_clause
from gatekeeper_core.text import LazyPattern
from tests.timing import assert_linear

SAYS = {
    "user_preference": [
        "I really like green tea",
        "I don't like long answers",
        "I can’t stand loud music",
        "I'd rather have short answers",
        "my favourite editor is Vim",
        "I'm a vegetarian",
        "please always answer in Chinese",
        "from now on, use tabs",
        "never use semicolons",
        "call me Ann",
        "我喜欢喝绿茶",
        "我平时不太喜欢长回答",
        "我讨厌香菜",
        "我不吃辣",
        "我最喜欢的颜色是蓝色",
        "我吃素",
        "请用中文回答",
        "以后都用 Markdown 表格",
        "叫我小王",
        "我习惯用 Vim",
    ],
    "fact": [
        "my name is Ann",
        "I live in Paris",
        "I've just moved to Rome",
        "I no longer live in Paris",
        "I'm from Leeds",
        "I work as a nurse",
        "I work at Acme",
        "I'm 34 years old",
        "I'm allergic to peanuts",
        "my birthday is May 3rd",
        "my wife is called Eve",
        "I have two kids",
        "I'm married",
        "I'm a nurse",
        "我叫李雷",
        "我住在上海",
        "我搬到北京了",
        "我来自四川",
        "我在一家医院工作",
        "我今年34岁",
        "我对花生过敏",
        "我的生日是5月3日",
        "我老婆叫韩梅",
        "我家有一只猫",
        "我已经结婚了",
        "我是一名护士",
        "我是医生",
    ],
    "skill": [
        "I speak French",
        "I know how to weld",
        "I know Python",
        "I'm good at chess",
        "I have 5 years of experience with Go",
        "I've been programming for ten years",
        "I'm a beginner in Rust",
        "I'm learning Japanese",
        "我会说法语",
        "我擅长下棋",
        "我精通 Python",
        "我有五年后端开发经验",
        "我学了三年日语",
        "我正在学 Rust",
        "我会Python",
    ],
    "project_context": [
        "we use PostgreSQL 15",
        "our deadline is Friday",
        "the staging database runs on a large server",
        "my project is written in Go",
        "I'm working on a compiler",
        "we're migrating to Kubernetes",
        "我们用 PostgreSQL",
        "我们的项目基于 FastAPI",
        "截止日期是周五",
        "数据库是 MySQL",
        "我在开发一个天气应用",
        "我们团队统一使用 Redis",
        "项目部署在阿里云",
    ],
}

SAYS_NOTHING = [
    "I'd prefer the cheaper one",
    "我很喜欢她",
    "我喜欢这种感觉",
    "I liked tea once",
    "I like your answer",
    "I like it",
    "I love that",
    "I'm not a doctor",
    "I'm a bit tired",
    "I know that it fails",
    "I can come tomorrow",
    "I'd like to book a table",
    "I work from home today",
    "my name is not Ann",
    "he lives in Paris",
    "my friend likes tea",
    "the server is down",
    "never mind",
    "we run out of disk",
    "call me later",
    "I moved it to the left",
    "我不是程序员",
    "我没有孩子",
    "我会考虑的",
    "我叫了外卖",
    "我喜欢你的回答",
    "我对花生不过敏",
    "他住在上海",
    "我朋友喜欢喝茶",
    "我是说这样不行",
    "服务器挂了",
    "我以前喜欢喝茶",
    "我住院了",
    "",
]


@pytest.mark.parametrize(
    ("category", "clause"), [(name, clause) for name, clauses in SAYS.items() for clause in clauses]
)
def test_a_clause_says_something_of_its_category(category: str, clause: str) -> None:
    """004-33: preferences, facts, skills and the project, in Chinese and English."""
    said = read_clause(clause)
    assert said is not None
    assert said.category == category


@pytest.mark.parametrize("clause", SAYS_NOTHING)
def test_a_clause_about_something_else_says_nothing(clause: str) -> None:
    assert read_clause(clause) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I like tea", "I don't like tea."),
        ("I like cats", "I hate a cat"),
        ("I'm allergic to peanuts", "I'm also allergic to peanuts"),
        ("I live in Paris", "I've moved to Rome"),
        ("my favourite colour is red", "My favourite colour is blue"),
        ("our deadline is Friday", "the deadline is Monday"),
        ("我喜欢喝茶", "我不喜欢茶"),
        ("我爱吃香菜", "我讨厌香菜了"),
        ("我住在上海", "我搬到北京了"),
        ("我的生日是5月3日", "我生日是6月3日"),
        ("我们的截止日期是周五", "项目的截止日期是周一"),
        ("请用中文回答", "please answer in English"),
    ],
)
def test_two_answers_to_one_question_have_one_key(first: str, second: str) -> None:
    """004-65: a contradiction is told by the key."""
    one, other = read_clause(first), read_clause(second)
    assert one is not None
    assert other is not None
    assert one.key == other.key is not None


@pytest.mark.parametrize(
    ("first", "second"),
    [("I like tea", "I like coffee"), ("我喜欢茶", "我喜欢咖啡"), ("my birthday is today", "my height is 180 cm")],
)
def test_answers_to_two_questions_have_two_keys(first: str, second: str) -> None:
    one, other = read_clause(first), read_clause(second)
    assert one is not None
    assert other is not None
    assert one.key != other.key


PATTERNS = {name: value for name, value in vars(extraction_rules).items() if isinstance(value, LazyPattern)}


@pytest.mark.parametrize(
    "unit", ["a ", "i really ", "my ", "我", "我们的", "please ", "(", "remember ", "忘掉", "\ud800", ",", "I have "]
)
def test_long_clauses_take_no_longer_than_their_length(unit: str) -> None:
    def read(text: str) -> None:
        read_clause(text)
        read_clause(f"I have {text}")
        read_clause(f"我{text}")
        for pattern in PATTERNS.values():
            pattern.match(text)

    assert_linear(lambda size: partial(read, unit * (size // len(unit))), small=10_000, large=100_000)


@pytest.mark.parametrize("text", ["forget it", "forget about that", "忘了吧", "don't store it"])
def test_to_forget_nothing_is_no_request(text: str) -> None:
    match = extraction_rules.FORGET.match(text)
    assert match is None or extraction_rules.NOTHING_TO_FORGET.match(match[match.lastgroup or 0])
