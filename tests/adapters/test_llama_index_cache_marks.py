"""Marks of Anthropic's prompt cache in what the memories give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from llama_index.core.base.llms.types import CacheControl, CachePoint, ChatMessage, ImageBlock, TextBlock
from llama_index.core.llms import MockLLM

from gatekeeper_core import HistoryConfig, ModelPrices
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer

CONFIG = HistoryConfig(strategy="cache", on_error="raise")
PRICES = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=3.75, min_cached_tokens=64)
LONG = "More of it, and more. " * 300
QUESTION = "Who plays the organ, and when?"


class OfAnthropic(MockLLM):
    """A model that names itself as LlamaIndex's ``Anthropic`` does."""

    @classmethod
    def class_name(cls) -> str:
        return "Anthropic_LLM"


FACTS = (
    ("Redis", f"It listens on port 6380. {LONG}"),
    ("organ", f"Marta plays it. {LONG}"),
    ("bread", f"Bake it hot. {LONG}"),
)


def history(*facts: tuple[str, str]) -> list[ChatMessage]:
    return [
        ChatMessage(text, role=role)
        for topic, fact in facts or FACTS
        for role, text in (("user", f"New topic: the {topic}?"), ("assistant", f"The {topic}: {fact}"))
    ]


def buffer_of(messages: list[ChatMessage], **more: Any) -> GatekeeperMemoryBuffer:
    return GatekeeperMemoryBuffer.from_defaults(messages, token_limit=20_000, config=CONFIG, **more)


def marked(messages: list[ChatMessage]) -> list[int]:
    return [at for at, message in enumerate(messages) for block in message.blocks if isinstance(block, CachePoint)]


def test_the_past_that_stays_is_marked_and_the_question_stays_the_stores_own() -> None:
    stored = [*history(), ChatMessage(QUESTION)]
    memory = buffer_of(stored, cache_marks=True)
    sent = memory.get()
    assert marked(sent) == [len(sent) - 2]
    assert sent[-1] is stored[-1]
    assert sent[-2].blocks[:-1] == [TextBlock(text=sent[-2].content or "")]
    assert not marked(stored), "the store's own messages are not changed"
    assert memory.get_all() == stored


def test_where_turns_are_recalled_the_mark_stands_before_the_question() -> None:
    things = ("garden", "car", "bicycle", "violin", "harbour", "window", "carpet", "lamp")
    past = history(
        ("Redis", f"It is on 6380. {LONG[:200]}"), ("organ", "Marta plays it."), *((thing, LONG) for thing in things)
    )
    memory = buffer_of(past, cache_marks=True)
    memory.config = replace(CONFIG, prices=PRICES)
    for question in ("Which port has Redis?", "Which port has Redis?", QUESTION):
        memory.put(ChatMessage(question))
        sent = memory.get()
        memory.put(ChatMessage("6380.", role="assistant"))
    assert memory.last_selection.bill.recalled == (1,)
    assert marked(sent) == [len(sent) - 2]
    assert "Marta" in (sent[-1].content or "")


def test_it_is_on_by_itself_only_where_the_model_is_anthropics() -> None:
    kinds: tuple[Any, ...] = (GatekeeperMemoryBuffer, GatekeeperMemory)
    for kind in kinds:
        assert kind.from_defaults(llm=OfAnthropic(), token_limit=900).cache_marks
        assert not kind.from_defaults(llm=OfAnthropic(), token_limit=900, cache_marks=False).cache_marks
        assert not kind.from_defaults(llm=MockLLM(), token_limit=900).cache_marks
        assert not kind.from_defaults(token_limit=900).cache_marks
    written = buffer_of([], cache_marks=True).to_string()
    assert GatekeeperMemoryBuffer.from_string(written).cache_marks
    assert not marked(buffer_of([*history(), ChatMessage(QUESTION)]).get())


def test_in_shadow_mode_and_for_a_selection_of_one_call_there_is_no_mark() -> None:
    for config in (HistoryConfig(strategy="cache", shadow=True), HistoryConfig(passthrough_below=0)):
        messages = [*history(), ChatMessage(QUESTION)]
        memory = GatekeeperMemoryBuffer.from_defaults(messages, token_limit=20_000, config=config, cache_marks=True)
        assert not marked(memory.get())


def test_marks_of_the_user_stay_and_count() -> None:
    point = CachePoint(cache_control=CacheControl(type="ephemeral", ttl="1h"))
    turns = [
        ChatMessage(role=role, blocks=[TextBlock(text=f"{role} {at}"), *([point] if role == "user" else [])])
        for at in range(4)
        for role in ("user", "assistant")
    ]
    memory = buffer_of([*turns[:6], ChatMessage(role="user", blocks=[TextBlock(text="user 3")])], cache_marks=True)
    assert marked(memory.get()) == [0, 2, 4, 5]
    full = buffer_of([*turns[:7]], cache_marks=True)
    assert marked(full.get()) == [0, 2, 4, 6]
    before = buffer_of([*turns[1:2], ChatMessage("a"), ChatMessage("b", role="assistant"), turns[0]], cache_marks=True)
    points = [block for message in before.get() for block in message.blocks if isinstance(block, CachePoint)]
    assert [one.cache_control.ttl for one in points] == ["1h", "1h"]


def test_what_cannot_carry_a_mark_hands_it_to_the_message_before() -> None:
    seen = ChatMessage(role="user", blocks=[TextBlock(text="Look:"), ImageBlock(url="https://x/y.png")])
    result = ChatMessage("6380", role="tool", additional_kwargs={"tool_call_id": "c1"})
    called = ChatMessage(role="assistant", blocks=[], additional_kwargs={"tool_calls": []})
    memory = buffer_of([seen, called, result, ChatMessage("And now?")], cache_marks=True)
    assert marked(memory.get()) == [0]
    assert memory.get()[0].blocks[:2] == seen.blocks


def test_reported_usage_reaches_the_account() -> None:
    paid = []
    for cached in (0, 1_000_000):
        memory = buffer_of([*history(), ChatMessage("Which port has Redis?")])
        memory.get()
        memory.report_usage({"usage": {"prompt_tokens": cached + 9, "completion_tokens": 1}}, "chat_history")
        memory.put(ChatMessage("6380.", role="assistant"))
        memory.put(ChatMessage("And is it fast?"))
        memory.get()
        paid.append(memory.last_selection.bill.paid)
    assert paid[1] > 10 * paid[0]
    memory.report_usage({}, "nobody")
