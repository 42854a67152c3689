"""A chain with memory on LangChain: the gatekeeper in the place of a window buffer.

In the checkout: pip install ".[langchain-classic]"
After the first release: pip install "context-gatekeeper[langchain-classic]"

The model is scripted, so that the program runs offline: it answers from what it reads, and from nothing else.
"""

from __future__ import annotations

import re
from typing import Any

from langchain_classic.chains import ConversationChain
from langchain_core.language_models.llms import LLM

from gatekeeper_core.context.history.strategies import HistoryConfig
from langchain_gatekeeper import GatekeeperChatMemory


class ScriptedModel(LLM):
    """Answers a question for a port from its prompt; to anything else it says something."""

    prompts: list[str] = []  # noqa: RUF012 - a field of a pydantic model

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _call(self, prompt: str, stop: Any = None, run_manager: Any = None, **more: Any) -> str:
        self.prompts.append(prompt)
        history, _, question = prompt.rpartition("Human:")
        if "port" in question and "?" in question:
            found = re.search(r"port (?:is|to) (\d+)", history)
            return f"It is {found[1]}." if found else "I do not know."
        return "Noted, and thank you for telling me in such detail. " * 8


def main() -> None:
    """Talk about three things, then go back to the first."""
    model = ScriptedModel()
    # The one line: ConversationBufferWindowMemory(k=5) stood here.
    memory = GatekeeperChatMemory(config=HistoryConfig(token_budget=400, passthrough_below=0))
    chain = ConversationChain(llm=model, memory=memory)

    chain.predict(input="The port is 6380 for the Redis cache.")
    chain.predict(input="New topic: my sourdough does not rise. What could be wrong with the starter?")
    for step in ("flour", "water", "temperature", "patience"):
        chain.predict(input=f"And what about the {step} of the sourdough?")
    chain.predict(input="New topic: who plays the organ in the choir on Sunday?")
    answer = chain.predict(input="Back to the Redis cache: which port was it?")

    view = memory.last_selection
    assert view is not None
    print(f"answer: {answer}")
    print(f"sent {view.tokens} of {view.history_tokens} tokens, turns {sorted(view.turns)} of {view.turn_count}")
    print(f"why: {view.status}, {view.reason}")
    assert "6380" in answer
    assert "sourdough" not in model.prompts[-1]
    assert len(memory.chat_memory.messages) == 16, "the history keeps everything"


if __name__ == "__main__":
    main()
