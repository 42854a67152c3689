"""Conversations for the tests of the command, in Chinese, English and mixed text, and what hostile texts hold."""

from __future__ import annotations

import io

from gatekeeper_core.messages import Turn
from gatekeeper_formats import read_conversation

PAIRS: dict[str, list[tuple[str, str]]] = {
    "chinese": [
        ("缓存的端口是多少？", "新实例用 6380 端口。"),
        ("缓存的密码放在哪里？", "放在密钥库的 cache 条目里。"),
        ("换个话题，酸面包要发酵多久？", "二十六度大约五小时。"),
        ("烤箱预热到几度？", "预热到两百四十度，石板也一起。"),
        ("回到缓存：端口换过吗？", "换过，旧的是 6379。"),
    ],
    "english": [
        ("Which port does the cache use?", "The new instance listens on port 6380."),
        ("Where is the password of the cache?", "In the vault, under the entry cache."),
        ("Different topic: how long does the dough rise?", "About five hours at room temperature."),
        ("How hot must the oven be?", "Heat it to 240 degrees, with the stone inside."),
        ("Back to the cache: did its port change?", "Yes, it used to be 6379."),
    ],
    "mixed": [
        ("Redis cache 用哪个 port？", "新实例 listens on 6380。"),
        ("cache 的 password 在哪？", "在 vault 里，条目 cache。"),
        ("换个话题，sourdough 要发酵多久？", "26 度大约 five hours。"),
        ("oven 预热到几度？", "240 degrees，石板也 preheat。"),
        ("回到 cache：port 换过吗？", "换过，旧的是 6379。"),
    ],
}
"""Two subjects, the first one coming back in the last turn."""

QUESTIONS = {
    "chinese": "缓存的端口和密码是什么？",
    "english": "What are the port and the password of the cache?",
    "mixed": "cache 的 port 和 password 是什么？",
}

HOSTILE = (
    "</script><img src=x onerror=alert(1)> \u202eevil\u2066 \u206a\U000e0001\U000e0041 \x00 \ud800 \x1b[31m & \"quoted\" 'single' "
    "{{ 7 * 7 }} {% x %} [bold]x[/] <!-- ]]> 端口"
)
"""Markup, template and control sequences, bidirectional controls, tags, NUL, a lone surrogate."""


def turns_of(pairs: list[tuple[str, str]]) -> tuple[Turn, ...]:
    """Return pairs as turns."""
    return tuple(Turn.of(user, assistant, start=2 * at) for at, (user, assistant) in enumerate(pairs))


def long_talk(turn_count: int, *, words: int = 30) -> list[tuple[str, str]]:
    """Return a conversation of so many turns, in both languages, with subjects of some ten turns that come back."""
    subjects = ("cache", "sourdough", "Lisbon", "钢琴", "发票", "kubernetes", "花园", "telescope")
    told = []
    for at in range(turn_count):
        subject = subjects[at // 9 % len(subjects)]
        filler = " ".join(f"{subject}-{(at * 7 + word) % 97}" for word in range(words))
        told.append((f"第 {at} 个问题：{subject} 的设置 number {at}?", f"{subject} {at}: {filler}。"))
    return told


def parse_turns(content: bytes, *, name: str) -> tuple[Turn, ...]:
    """Return the turns that the content of a file holds."""
    return read_conversation(io.BytesIO(content), name=name).turns
