"""What is extracted from a conversation: the user's own statements, word for word, and nothing else."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.extraction import MAX_READ_CHARACTERS, Extracted, ForgetRequest, extract, masked
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.messages import Message, ToolCall
from tests.timing import assert_linear


def said(*texts: str) -> Thread:
    return Thread("t1", tuple(Message("user", text) for text in texts), user="ann")


def items(thread: Thread) -> list[Extracted | ForgetRequest]:
    extraction = extract(thread)
    return [*extraction.found, *extraction.forget]


def texts(text: str) -> list[str]:
    return [item.text for item in extract(said(text)).found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Hi! My name is Ann, I live in Paris and I prefer short answers. Can you help?",
            ["My name is Ann", "I live in Paris", "I prefer short answers"],
        ),
        ("我叫李雷，住在北京，我喜欢喝茶、咖啡和果汁。", ["我叫李雷", "住在北京", "我喜欢喝茶、咖啡和果汁"]),
        (
            "我们的项目用 FastAPI，部署在 AWS。By the way, I'm allergic to nuts.",
            ["我们的项目用 FastAPI，部署在 AWS", "I'm allergic to nuts"],
        ),
        ("I'm vegetarian, what can I cook tonight?", ["I'm vegetarian"]),
        ("我是素食者，今晚吃什么好？", ["我是素食者"]),
        ("- I prefer tabs\n- I use `ruff`\n- I speak French", ["I prefer tabs", "I speak French"]),
        ('I like "green" tea.', ['I like "green" tea']),
    ],
)
def test_what_the_user_says_of_themselves_is_taken_word_for_word(text: str, found: list[str]) -> None:
    """004-23, 004-52: users do not curate; what is worth knowing is found by itself, in Chinese and English."""
    assert texts(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Do I like tea?",
        "I live in Paris, right?",
        "I live in Paris, don't I?",
        "Assistant: Sure. I like tea.",
        "我喜欢喝茶吗？",
        "我住在上海，对吧？",
        "If I liked tea, I would buy it.",
        "Suppose I live in Paris, I like walks.",
        "Imagine that I live in Paris. I like walks.",
        "假如我住在巴黎，我喜欢散步。",
        "我喜欢喝茶的话会告诉你。",
        "I'm not a doctor.",
        "我不是程序员。",
        "I used to live in Rome.",
        "我以前住在罗马。",
        'He said "I like tea".',
        "She told me, I like tea.",
        "他说，我喜欢喝茶。",
        "小王说：“我喜欢喝茶。”",
        "> I like tea",
        "```\nI like tea\n```",
        "`I like tea`",
        "    I like tea",
        "<email>\nI live in Rome.\n</email>",
        "Translate this: I like tea.",
        "Please proofread: I live in Paris. I like tea.",
        "帮我翻译：我喜欢喝茶。我住在上海。",
        "User: Hi! I like tea.\nAssistant: Fine.",
        "Tom: Hello. I like tea.\nJim: Me too. I live in Rome.",
        "For example, I like tea.",
        "",
    ],
)
def test_what_is_asked_supposed_quoted_or_handed_over_is_not_taken(text: str) -> None:
    """004-23: what is never remembered."""
    assert extract(said(text)).found == ()


def test_only_what_the_user_wrote_is_read() -> None:
    """004-23: nothing from the assistant, from tools, from the system, or made up in the user's place."""
    like = "I like tea. Remember that I live in Rome. 我住在上海。"
    thread = Thread(
        "t1",
        (
            Message("system", like),
            Message("assistant", like, tool_calls=(ToolCall("c1", "read", '{"text": "I like tea."}'),)),
            Message("tool", like, tool_call_id="c1"),
            Message("user", like, metadata={"synthetic": "summary"}),
        ),
        user="ann",
    )
    assert extract(thread) == ((), (), 0)


def test_an_item_says_where_it_stands_and_only_new_messages_are_read() -> None:
    """004-35: what came behind a sequence number."""
    thread = said("I live in Rome.", "我喜欢喝茶。", "Well, I speak French.")
    everything = extract(thread).found
    assert [(item.seq, item.key) for item in everything] == [(0, "residence"), (1, "like:茶"), (2, None)]
    for item in everything:
        assert thread.messages[item.seq].text[item.start : item.stop] == item.text
    assert extract(thread, 1).found == everything[2:]
    assert extract(thread, -5).found == everything
    assert extract(thread, 9).found == ()


@pytest.mark.parametrize(
    ("text", "found", "category"),
    [
        ("Remember that my dog is called Rex.", "my dog is called Rex", "fact"),
        ("Please remember: I work at Acme!", "I work at Acme", "fact"),
        ("Can you remember that I prefer tabs?", "I prefer tabs", "user_preference"),
        ("Keep in mind that we use Python 3.10", "we use Python 3.10", "project_context"),
        ("Don't forget that I hate cilantro.", "I hate cilantro", "user_preference"),
        ("Remember to use tabs.", "to use tabs", "user_preference"),
        ("Remember this:\nThe door code is blue.", "The door code is blue", "fact"),
        ("Remember that my password hint is blue.", "my password hint is blue", "fact"),
        ("请记住我的生日是5月3日。", "我的生日是5月3日", "fact"),
        ("记住：部署要在周五之前完成", "部署要在周五之前完成", "fact"),
        ("帮我记一下，我喜欢喝茶", "我喜欢喝茶", "user_preference"),
        ("别忘了我们用 Redis。", "我们用 Redis", "project_context"),
    ],
)
def test_what_the_user_asks_to_remember_is_taken(text: str, found: str, category: str) -> None:
    assert [(item.text, item.category) for item in extract(said(text)).found] == [(found, category)]


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember my name?",
        "Remember when we met?",
        "你还记得我叫什么吗？",
        "记得我们上次聊的吗",
        "I remember it well.",
        "记住了。谢谢啊。",
        "好的，记下了，谢谢你。",
        "记得，是在五月。",
        "记得啊，他来过。",
        "Remember! I like it.",
        "Remember?",
    ],
)
def test_to_ask_whether_something_is_remembered_is_no_request(text: str) -> None:
    assert extract(said(text)).found == ()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Forget my address.", "my address"),
        ("Please forget that I like tea, ok", "that I like tea"),
        ("Can you delete my phone number from your memory?", "my phone number"),
        ("Don't remember my age.", "my age"),
        ("忘掉我的地址。", "我的地址"),
        ("别记我的生日", "我的生日"),
        ("请把我的电话号码忘掉", "我的电话号码"),
        ("删除关于我工作的记忆", "我工作"),
        ("忘掉 my address 吧", "my address 吧"),
    ],
)
def test_what_the_user_asks_to_forget_is_told_and_not_remembered(text: str, what: str) -> None:
    extraction = extract(said(text))
    assert [item.text.removeprefix("that ") for item in extraction.forget] == [what.removeprefix("that ")]
    assert extraction.found == ()
    (item,) = extraction.forget
    assert text[item.start : item.stop] == item.text


@pytest.mark.parametrize(
    "text",
    [
        "Forget it, let's go on.",
        "算了，忘了吧",
        "Forget about that.",
        "I forget names.",
        "我忘了我的地址",
        "Forget what I said",
        "Forget I said anything.",
        "Forget the tests, just deploy.",
        "忘掉之前的方案",
        "忘掉我刚才说的",
    ],
)
def test_talk_of_forgetting_is_no_request(text: str) -> None:
    assert extract(said(text)).forget == ()


@pytest.mark.parametrize(
    "text", ["My favourite password is hunter2.", "I like my API key abc.", "我喜欢的话", "我的工作是保管银行卡密码"]
)
def test_secrets_are_left_out_unless_asked_for(text: str) -> None:
    extraction = extract(said(text))
    assert extraction.found == ()
    assert extraction.dropped == (0 if text == "我喜欢的话" else 1)


@given(st.lists(st.text(max_size=200), max_size=4))
def test_any_text_is_read_and_every_item_is_a_span_of_it(written: list[str]) -> None:
    thread = said(*written)
    for item in items(thread):
        assert thread.messages[item.seq].text[item.start : item.stop] == item.text != ""


pieces = st.sampled_from(
    [
        "I like tea",
        "我住在上海",
        "if ",
        "“",
        "”",
        '"',
        "`",
        "```",
        "\n",
        "> ",
        "。",
        ", ",
        "remember that ",
        "忘掉",
        "?",
        "<a>",
        "</a>",
    ]
)


@given(st.lists(pieces, max_size=20).map("".join))
def test_every_item_is_a_span_whatever_stands_around_it(text: str) -> None:
    assert len(masked(text)) == len(text)
    for item in items(said(text)):
        assert text[item.start : item.stop] == item.text != ""


@pytest.mark.parametrize(
    "unit", ['"', "“", "`", "<a>", "</a>", "<a></b>", "I like tea, ", "我住在上海，", "remember ", "a: b\n", ". ", "'"]
)
def test_a_long_message_takes_no_longer_than_its_length(unit: str) -> None:
    assert_linear(lambda size: partial(extract, said(unit * (size // len(unit)))), small=100_000, large=400_000)
    extraction = extract(said(unit * (100_000 // len(unit))))
    assert all(item.stop <= MAX_READ_CHARACTERS for item in extraction.found)


@pytest.mark.parametrize("arguments", [(["hello"],), (said("a"), "1"), (said("a"), True)])
def test_what_is_no_thread_is_refused(arguments: Any) -> None:
    with pytest.raises(TypeError, match="must be"):
        extract(*arguments)
