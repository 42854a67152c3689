"""Chats with a known answer, in three scripts, and a scripted model that answers and judges them.

Each chat tells a port, goes on about something else for long, and then asks for the port; the selection holds what the
question needs and at most a cut of the rest. What the model answers to which prompt is told by the first word of the question.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.talks import dicts_of

if TYPE_CHECKING:
    from pathlib import Path

PORTS = {
    "english": ("Our Redis cache listens on port 6380.", "{}: which port does our Redis cache use?"),
    "chinese": ("我们的 Redis 缓存使用 6380 端口。", "{}：我们的 Redis 缓存用哪个端口？"),
    "mixed": ("我们的 Redis cache 的 port 是 6380。", "{}: Redis cache 用哪个 port？"),
}
BREAD = (
    "Different topic: how do I bake sourdough bread? 换个话题，酸面包怎么烤？",
    "Feed the starter, fold the dough, let it rise for five hours and bake it at 240 degrees. 先喂酵种，折叠，发酵五小时，再烤。 "
    * 30,
)
RIGHT, WRONG = "It is 6380.", "It is 6379."
CASES = {
    "Better": (WRONG, RIGHT, "better"),
    "Worse": (RIGHT, WRONG, "worse"),
    "Tie": (WRONG, "I do not know.", "equal"),
    "Biased": (WRONG, "No idea at all.", "equal"),
    "Alike": (RIGHT, RIGHT, "equal"),
    "Unclear": (WRONG, "Hm.", "no_verdict"),
}
"""By the first word of the question: the answer to the whole history, that to the selection, and the verdict."""
ANSWERS = {word: answers for word, (*answers, _) in CASES.items()}
VERDICTS = {word: verdict for word, (*_, verdict) in CASES.items()}


def chat(word: str, script: str = "english", *, then: tuple[str, ...] = ()) -> list[dict[str, str]]:
    """Return the messages of a chat whose question begins with a word, with further user turns."""
    fact, question = PORTS[script]
    pairs = [(fact, "Noted."), BREAD, (question.format(word), RIGHT), *((text, "Yes.") for text in then)]
    return dicts_of(pairs)


def write_chats(folder: Path, *words: str, script: str = "english") -> Path:
    """Write a chat for each word into a folder, and return the folder."""
    folder.mkdir(exist_ok=True)
    for word in words:
        text = json.dumps(chat(word, script), ensure_ascii=False)
        (folder / f"{word.lower()}.json").write_text(text, encoding="utf-8")
    return folder


def is_judging(body: dict[str, Any]) -> bool:
    return body["messages"][0]["role"] == "system"


def reply(body: dict[str, Any]) -> str:
    """Return what the scripted model says: it judges by the right port, and by place where the question says so."""
    last = body["messages"][-1]["content"]
    word = next(word for word in ANSWERS if f"{word}:" in last or f"{word}：" in last)
    if not is_judging(body):
        full, selected = ANSWERS[word]
        return full if any(BREAD[1].strip() in message["content"] for message in body["messages"]) else selected
    verdict, is_chinese = "VERDICT", "请比较" in body["messages"][0]["content"]
    if is_chinese:
        verdict = "结论"
    if word == "Biased":
        return f"The first is better.\n{verdict}: 1"
    if word == "Unclear":
        return "Both have their merits."
    answers = last.split("<answer-")[1:]
    right = [RIGHT in answer for answer in answers]
    decided = "1" if right == [True, False] else "2" if right == [False, True] else "相同" if is_chinese else "EQUAL"
    return f"What decides is the port.\n{verdict}: {decided}"
