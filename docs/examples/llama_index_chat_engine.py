"""A chat engine on LlamaIndex: the gatekeeper in the place of ChatMemoryBuffer.

In the checkout: pip install ".[llama-index]"
After the first release: pip install "context-gatekeeper[llama-index]"

The model is scripted, so that the program runs offline: it answers from what it reads, and from nothing else.
"""

from __future__ import annotations

import re
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockLLM

from gatekeeper_core.context.history.strategies import HistoryConfig
from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer


class ScriptedModel(MockLLM):
    """Answers a question for the number of a crate from its messages; to anything else it says something."""

    read: list[list[ChatMessage]] = []  # noqa: RUF012 - a field of a pydantic model

    def chat(self, messages: Any, **more: Any) -> ChatResponse:
        """Return what the script says to these messages."""
        self.read.append(list(messages))
        question = messages[-1].content or ""
        text = "记下了，谢谢你说得这么详细。" * 12
        if "编号" in question and "？" in question:
            found = re.search(r"编号是 ([\w-]+)", "\n".join(message.content or "" for message in messages[:-1]))
            text = f"编号是 {found[1]}。" if found else "我不知道。"
        return ChatResponse(message=ChatMessage(role="assistant", content=text))


def main() -> None:
    """Talk about three things, then go back to the first."""
    model = ScriptedModel()
    # The one line: ChatMemoryBuffer.from_defaults(token_limit=...) stood here.
    memory = GatekeeperMemoryBuffer.from_defaults(token_limit=600, config=HistoryConfig(passthrough_below=0))
    engine = SimpleChatEngine.from_defaults(llm=model, memory=memory)

    engine.chat("仓库里那个箱子的编号是 ZX-4471。")
    engine.chat("换个话题，酸面包为什么发不起来？")
    for step in ("面粉", "水", "温度", "耐心"):
        engine.chat(f"那酸面包的{step}呢？")
    engine.chat("换个话题，星期天谁弹管风琴？")
    answer = str(engine.chat("回到仓库里的箱子，它的编号是多少？"))

    view = memory.last_selection
    assert view is not None
    print(f"answer: {answer}")
    print(f"sent {view.tokens} of {view.history_tokens} tokens, turns {sorted(view.turns)} of {view.turn_count}")
    assert "ZX-4471" in answer
    assert not any("面粉" in (message.content or "") for message in model.read[-1])
    assert len(engine.chat_history) == 16, "the store keeps everything"


if __name__ == "__main__":
    main()
