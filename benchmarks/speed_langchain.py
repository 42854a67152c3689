"""LangChain's ways to keep a history within a budget, as methods of the speed benchmark; and tiktoken's count alone."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.speed_methods import BUDGET, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Summarization", "Tiktoken", "Trim", "cl100k", "tiktoken_tables"]


def tiktoken_tables() -> str | None:
    """Return the folder of tiktoken's tables: ``TIKTOKEN_CACHE_DIR``, or the one in llama-index-core; or None."""
    named = os.environ.get("TIKTOKEN_CACHE_DIR")
    if named:
        return named
    spec = find_spec("llama_index.core") if find_spec("llama_index") else None
    folder = Path(spec.origin).parent / "_static" / "tiktoken_cache" if spec and spec.origin else None
    return str(folder) if folder and folder.is_dir() else None


def cl100k() -> Callable[[str], int]:
    """Return tiktoken's count of cl100k; nothing is downloaded.

    Raises:
        RuntimeError: there is no table on this machine.
    """
    folder = tiktoken_tables()
    if folder is None:
        raise RuntimeError("no table of tiktoken: TIKTOKEN_CACHE_DIR must name its folder")
    os.environ["TIKTOKEN_CACHE_DIR"] = folder  # this process runs one method
    import tiktoken

    encoding = tiktoken.get_encoding("cl100k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


class Trim(Subject):
    """``trim_messages`` on the whole history and the question, as its documentation keeps a chat within a limit."""

    def __init__(self, counter: str) -> None:
        from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, trim_messages

        self._trim, self._human, self._ai = trim_messages, HumanMessage, AIMessage
        self._history: list[BaseMessage] = []
        self._counter: Any = counter
        if counter == "tiktoken":
            count = cl100k()
            self._counter = lambda messages: sum(count(message.text) for message in messages)

    def ask(self, question: str) -> None:
        self._trim(
            [*self._history, self._human(question)],
            max_tokens=BUDGET,
            token_counter=self._counter,
            strategy="last",
            start_on="human",
            include_system=True,
        )

    def add(self, user: str, assistant: str) -> None:
        self._history += [self._human(user), self._ai(assistant)]


class Summarization(Subject):
    """``SummarizationMiddleware.before_model`` where nothing is due to be summarised: ids and the count."""

    def __init__(self) -> None:
        from langchain.agents.middleware import SummarizationMiddleware
        from langchain_core.language_models.fake_chat_models import FakeListChatModel
        from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

        self._human, self._ai = HumanMessage, AIMessage
        self._history: list[BaseMessage] = []
        self._middleware: Any = SummarizationMiddleware(
            model=FakeListChatModel(responses=[""]), trigger=("tokens", 1_000_000_000)
        )

    def ask(self, question: str) -> None:
        self._middleware.before_model({"messages": [*self._history, self._human(question)]}, None)

    def add(self, user: str, assistant: str) -> None:
        self._history += [self._human(user), self._ai(assistant)]


class Tiktoken(Subject):
    """tiktoken's count of a text."""

    def __init__(self) -> None:
        self._count = cl100k()

    def load(self, turns: Sequence[tuple[str, str]]) -> None:
        del turns

    def ask(self, question: str) -> None:
        self._count(question)
