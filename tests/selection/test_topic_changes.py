"""Ways to leave a topic, and ways to stay that look like them, over a conversation on Redis.

``tests/cases/topic_changes.tsv`` has a meaning (``change`` or ``stay``), a language, a part and a text in each line.
The part ``kept`` was written after the patterns, which are fitted on ``fit``.
"""

from __future__ import annotations

import pytest

from gatekeeper_core import ContextGatekeeper
from tests.case_files import table

REDIS = {
    "en": (
        "Which port does Redis use, and how do I cap its memory?",
        "Redis listens on 6379 by default. Set maxmemory 256mb and choose allkeys-lru as the eviction policy.",
    ),
    "zh": (
        "Redis 默认端口是多少？内存上限怎么设？",
        "默认端口是 6379。在 redis.conf 里写 maxmemory 256mb，淘汰策略选 allkeys-lru。",
    ),
}
CASES = table("topic_changes")
POINTING_BACK = {"referring_word", "explicit_return", "about_conversation"}


def reasons(meaning: str, language: str, part: str) -> dict[str, str]:
    gatekeeper = ContextGatekeeper()
    gatekeeper.add_turn(*REDIS[language])
    texts = [text for *labels, text in CASES if labels == [meaning, language, part]]
    return {text: gatekeeper.explain(text).gate.reason for text in texts}


@pytest.mark.parametrize("part", ["fit", "kept"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_change_of_subject_is_recognised_and_never_read_as_pointing_back(language: str, part: str) -> None:
    """000-24."""
    found = reasons("change", language, part)
    missed = {text: reason for text, reason in found.items() if reason != "explicit_switch"}
    assert len(missed) <= 0.15 * len(found), missed
    assert POINTING_BACK.isdisjoint(missed.values()), missed


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_wording_that_looks_like_a_change_and_stays_is_none(language: str) -> None:
    """000-24: "forget what I said about the port, use 6380" goes on about the port."""
    found = reasons("stay", language, "fit")
    assert [text for text, reason in found.items() if reason == "explicit_switch"] == []


KAFKA = [
    ("Kafka 的分区数怎么选？", "按吞吐量选，先从 6 个分区开始。"),
    ("消费者数量怎么定？", "不超过分区数，多了会闲着。"),
]
BREAD = [("Which port does Redis use?", "6379 by default."), ("How do I proof bread?", "Twelve hours in the fridge.")]


@pytest.mark.parametrize(
    "query", ["帮我写一封辞职信。", "谁写了红楼梦？", "Which author wrote Hamlet?", "鲸鱼 sleep 的时候怎么呼吸？"]
)
@pytest.mark.parametrize("turns", [KAFKA, BREAD], ids=["kafka", "bread"])
def test_a_complete_question_that_shares_nothing_opens_a_topic_alone(turns: list[tuple[str, str]], query: str) -> None:
    """000-18, 000-53."""
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(turns)
    selection = gatekeeper.explain(query)
    assert (selection.gate.decision, selection.turns) == ("switch", ())
