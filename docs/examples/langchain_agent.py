"""An agent on LangChain with tools and a checkpointer: the gatekeeper as its last middleware.

In the checkout: pip install ".[langchain]"
After the first release: pip install "context-gatekeeper[langchain]"

The model is scripted, so that the program runs offline: it calls a tool when it is asked for the weather, and otherwise
answers from what it reads.
"""

from __future__ import annotations

import re
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from gatekeeper_core.context.history.strategies import HistoryConfig
from langchain_gatekeeper import GatekeeperMiddleware


def weather(city: str) -> str:
    """Return the weather of a city."""
    return f"{city}: rain in the morning, 12 degrees, then sun. " + "Wind from the west, light. " * 30


class ScriptedModel(BaseChatModel):
    """Calls the tool once per question for the weather; knows nothing but what it reads."""

    read: list[list[BaseMessage]] = []  # noqa: RUF012 - a field of a pydantic model

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        """Return the model itself: it knows its tool by heart."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **more: Any) -> ChatResult:
        self.read.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])

    def answer(self, messages: list[BaseMessage]) -> AIMessage:
        """Return what the script says to these messages."""
        question = next(message.text for message in reversed(messages) if isinstance(message, HumanMessage))
        if isinstance(messages[-1], ToolMessage):
            return AIMessage(f"The service says: {messages[-1].text[:40]}")
        if city := re.search(r"weather in (\w+)", question):
            call = {"id": f"call-{len(self.read)}", "name": "weather", "args": {"city": city[1]}}
            return AIMessage("", tool_calls=[call])
        found = re.search(r"budget is (\d+)", " ".join(message.text for message in messages))
        return AIMessage(f"The budget is {found[1]}." if found and "budget" in question else "Noted.")


def main() -> None:
    """Fill a thread with tool results, then ask for something that was said before them."""
    model = ScriptedModel()
    gatekeeper = GatekeeperMiddleware(HistoryConfig(token_budget=600, passthrough_below=0))
    agent = create_agent(
        model,
        tools=[weather],
        system_prompt="You plan journeys.",
        middleware=[gatekeeper],  # the one line
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "journey"}}

    def ask(text: str) -> str:
        return str(agent.invoke({"messages": [HumanMessage(text)]}, config)["messages"][-1].text)

    ask("The travel budget is 1900 francs for the whole journey.")
    for city in ("Bern", "Turin", "Lyon", "Graz", "Split"):
        ask(f"New topic: what is the weather in {city}?")
    answer = ask("Back to the travel budget: how much was the budget?")

    view = gatekeeper.selection_for("journey")
    assert view is not None
    print(f"answer: {answer}")
    print(f"sent {view.tokens} of {view.history_tokens} tokens, turns {sorted(view.turns)} of {view.turn_count}")
    assert "1900" in answer
    assert view.tokens < view.history_tokens / 2
    assert len(agent.get_state(config).values["messages"]) == 24, "the checkpoint keeps everything"


if __name__ == "__main__":
    main()
