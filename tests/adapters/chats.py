"""A short chat in three scripts, in LlamaIndex's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_index.core.base.llms.types import ChatMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

TALKS = {
    "english": (
        [
            ("The staging Redis listens on port 6380.", "Noted: staging Redis, port 6380."),
            ("New topic: how long does sourdough bread rise?", "About twelve hours in a cool kitchen."),
            ("And which flour for the bread?", "Strong wheat flour with some rye."),
        ],
        "Which port does the staging Redis listen on?",
    ),
    "chinese": (
        [
            ("测试环境的数据库端口是 6380。", "记住了：测试环境数据库端口 6380。"),
            ("换个话题：酸面包要发酵多久？", "在凉爽的厨房里大约十二个小时。"),
            ("做面包用什么面粉？", "高筋小麦粉加一点黑麦粉。"),
        ],
        "测试环境的数据库端口是多少？",
    ),
    "mixed": (
        [
            ("staging 的 Redis 端口是 6380。", "好的，staging Redis port 6380。"),
            ("换个话题：sourdough 面包要发酵多久？", "大约 12 hours，放在凉爽的厨房。"),
            ("面包用什么 flour？", "高筋小麦粉 plus rye。"),
        ],
        "staging 的 Redis 端口是多少？",
    ),
}
"""By script: turns of which the first is on a topic of its own, and a question for that topic."""


def user(text: str) -> ChatMessage:
    return ChatMessage(text, role="user")


def assistant(text: str) -> ChatMessage:
    return ChatMessage(text, role="assistant")


def history_of(pairs: Sequence[tuple[str, str]]) -> list[ChatMessage]:
    return [message for asked, answered in pairs for message in (user(asked), assistant(answered))]


def texts(messages: Sequence[ChatMessage]) -> list[str]:
    return [message.content or "" for message in messages]


def words(text: str) -> list[str]:
    return text.split()
