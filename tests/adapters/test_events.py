"""One schema: the same conversation told by LangChain's callbacks, LlamaIndex's instrumentation and log records."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.instrumentation.events.base import BaseEvent  # type: ignore[attr-defined]

from gatekeeper_core.events import HISTORY
from langchain_gatekeeper import GatekeeperSelector
from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer
from tests.adapters.scripted import Heard
from tests.histories import configured
from tests.observed import event_of, everything_told, facts_of, fits
from tests.talks import TALKS

OPTIONS: dict[str, Any] = {"passthrough_below": 0, "keep_newest": 0}
each_script = pytest.mark.parametrize("script", TALKS)
each_shadow = pytest.mark.parametrize("shadow", [False, True])


def langchain_talk(script: str) -> list[BaseMessage]:
    pairs, question = TALKS[script]
    messages = [message for user, answer in pairs for message in (HumanMessage(user), AIMessage(answer))]
    return [*messages, HumanMessage(question)]


def memory_of(script: str, **options: Any) -> GatekeeperMemoryBuffer:
    roles = {"human": "user", "ai": "assistant"}
    messages = [ChatMessage(role=roles[message.type], content=message.text) for message in langchain_talk(script)]
    return GatekeeperMemoryBuffer.from_defaults(**configured(chat_history=messages, tokenizer_fn=list, **options))


def selection_by_langchain(script: str, *, shadow: bool) -> dict[str, Any]:
    heard = Heard()
    gate = GatekeeperSelector(**configured(token_budget=4000, token_counter=len, shadow=shadow, **OPTIONS))
    gate.invoke(langchain_talk(script), {"callbacks": [heard]})
    ((_, data),) = heard.events
    return dict(data)


@each_script
@each_shadow
def test_both_frameworks_and_the_log_tell_the_same_of_a_selection(script: str, shadow: bool, events: list[Any]) -> None:
    with everything_told() as records:
        langchain = selection_by_langchain(script, shadow=shadow)
        memory_of(script, token_limit=4000, shadow=shadow, **OPTIONS).get()
    (event,) = events
    assert (event.memory, event.thread) == ("GatekeeperMemoryBuffer", "chat_history")
    payload = event.model_dump(exclude={*BaseEvent.model_fields, "memory", "thread"})
    assert payload.pop("class_name") == "GatekeeperSelectionEvent"
    del payload["counter"], langchain["counter"]  # each names its own
    assert payload == langchain
    logged = [facts_of(record) for record in records if event_of(record) is HISTORY]
    for facts in logged:
        assert fits(HISTORY, facts)
        del facts["outcome"], facts["counter"]
    assert logged == [langchain, langchain]
