"""A scripted model of LangChain for the tests of the adapters."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field


class RefusedError(Exception):
    """A request is too long."""


class Scripted(BaseChatModel):
    """A model that answers from a script, then with ``ok``, and remembers what it was sent.

    Attributes:
        script: its answers.
        max_chars: it refuses a request with more characters than that, as a provider whose window is full.
        seen: the requests that it was sent, refused ones too.
    """

    script: list[AIMessage] = Field(default_factory=list)
    max_chars: int | None = None
    seen: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def text(self) -> str:
        """What it was sent last."""
        return "\n".join(message.text for message in self.seen[-1])

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.seen.append(list(messages))
        if self.max_chars is not None and sum(len(message.text) for message in messages) > self.max_chars:
            raise RefusedError
        answer = self.script.pop(0) if self.script else AIMessage("ok")
        return ChatResult(generations=[ChatGeneration(message=answer)])


class Heard(BaseCallbackHandler):
    """Keeps the events and the names of the runs that it hears of, or fails."""

    raise_error = True

    def __init__(self, error: Exception | None = None) -> None:
        self.events: list[tuple[str, Any]] = []
        self.parents: list[Any] = []
        self.runs: dict[Any, Any] = {}
        self.error = error

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, **more: Any) -> None:
        self.runs[run_id] = more.get("name")

    def on_custom_event(self, name: str, data: Any, *, run_id: Any, **_: Any) -> None:
        self.events.append((name, data))
        self.parents.append(run_id)
        if self.error:
            raise self.error


def talk(pairs: Sequence[tuple[str, str]]) -> list[BaseMessage]:
    return [message for question, answer in pairs for message in (HumanMessage(question), AIMessage(answer))]


def texts_of(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return [text for pair in pairs for text in pair]


def contents(messages: Sequence[BaseMessage]) -> list[Any]:
    return [message.content for message in messages]


def called(step: Any, inputs: Any, config: Any = None, *, asynchronous: bool = False) -> Any:
    return asyncio.run(step.ainvoke(inputs, config)) if asynchronous else step.invoke(inputs, config)


def on(thread: str, *callbacks: Any) -> Any:
    """Return the config of a run on a thread."""
    return {"configurable": {"thread_id": thread}, "callbacks": list(callbacks)}


def run_again(agent: Any, config: Any, messages: Sequence[BaseMessage] = ()) -> None:
    """Run an agent twice more on the thread of a test, without a checkpointer on messages; its state keeps everything."""
    for question in ("And now?", "还有呢？"):
        before = agent.get_state(config).values["messages"] if agent.checkpointer else [*messages]
        inputs = [*([] if agent.checkpointer else before), HumanMessage(question)]
        messages = agent.invoke({"messages": inputs}, config)["messages"]
        assert messages[: len(before)] == before
        assert [message.type for message in messages[len(before) :]] == ["human", "ai"]
