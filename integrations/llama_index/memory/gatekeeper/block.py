"""A memory block that brings back turns flushed from a stock ``Memory`` when they become relevant again.

::

    archived · active turns, question ──select──> archived turns on topic ──> "user: …", "assistant: …" inside a fence
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from llama_index.core.utils import get_tokenizer

from gatekeeper_core.context.history.pins import positions_of
from gatekeeper_core.context.history.strategies import HistoryConfig, budget_for_window
from gatekeeper_core.messages import turn_starts
from llama_index.memory.gatekeeper.fields import SelectionFields, one_budget
from llama_index.memory.gatekeeper.messages import RecalledText, read_message, role_of, text_of


class GatekeeperMemoryBlock(SelectionFields, BaseMemoryBlock[str]):
    """A block for a stock ``Memory`` that brings back, as text, flushed turns that the last user message is about.

    Turns are chosen from the whole conversation; active messages are not repeated. ``last_selection`` has archived and
    active messages in one list, without system messages.

    Attributes:
        name: name of the block and tag of its fence, where ``_`` replaces characters that a tag cannot have.
        priority: as in LlamaIndex: 0 is never truncated; above it, lower numbers are truncated first.
        config: the settings; default to ``HistoryConfig(passthrough_below=0)``. The strategy is always ``gate``, as the
            text serves one question.
        token_budget: token limit of the text, fence included, >= 1; defaults to that of ``config``, else 16,000.
        tokenizer_fn: tokenizer; defaults to LlamaIndex's own.
        chat_store: the memory's store (its ``sql_store``). With it the archive is read at each call, so the block sees
            restarts, resets and other processes; without it the block keeps what is flushed to it.
    """

    name: str = "recalled_turns"
    priority: int = 1
    token_budget: int | None = None
    tokenizer_fn: Callable[[str], list[Any]] = Field(default_factory=get_tokenizer, exclude=True)
    chat_store: AsyncDBChatStore | None = Field(default=None, exclude=True)

    _budget_setting: ClassVar[str | None] = None
    _defaults: ClassVar[HistoryConfig] = HistoryConfig(passthrough_below=0, run=None)
    _flushed: dict[str | None, list[ChatMessage]] = PrivateAttr(default_factory=dict)

    def forget(self, session_id: str | None = None) -> None:
        """Discard the flushed turns of a session; call it with ``Memory.reset`` if there is no ``chat_store``."""
        self._flushed.pop(session_id, None)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return the text shortened by that many tokens, in whole turns; None if nothing is left, or it is not ours."""
        if not isinstance(content, RecalledText):
            return None
        return self._fitting(content.turns, self._current_selector().count(content) - tokens_to_truncate) or None

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        session = block_kwargs.get("session_id")
        recent = _up_to_question(messages or [])
        if self.chat_store is None or session is None:
            flushed = self._flushed.get(session, [])
        else:
            flushed = await self.chat_store.get_messages(session, status=MessageStatus.ARCHIVED)
        archived = _without_system(flushed)
        if not recent or not archived or text_of(recent[-1]) is None:
            return ""
        recalled = await asyncio.to_thread(self._recalled, archived, recent, session)
        return "" if self._settings.shadow else recalled

    async def _aput(self, messages: list[ChatMessage]) -> None:
        if self.chat_store is None:
            for message in messages:
                self._flushed.setdefault(message.additional_kwargs.get("session_id"), []).append(message)

    def _recalled(self, archived: list[ChatMessage], recent: list[ChatMessage], session: str | None) -> RecalledText:
        # Active messages are in the prompt anyway, so they are free here.
        messages = [*archived, *recent]
        free = self._cost(recent)
        config = replace(self._current_selector().config, token_budget=self._budget_tokens() + free)
        view = self._select(messages, thread=session, config=config)
        excluded = {*positions_of(messages, self.exclude)}
        starts = [*turn_starts(list(map(role_of, messages))), len(messages)]
        turns = [turn for turn in map(range, starts, starts[1:]) if excluded.isdisjoint(turn)]
        pinned = (number for number, turn in enumerate(turns) if not {*view.pinned}.isdisjoint(turn))
        cut, kept = dict(view.replaced), {*view.kept}.intersection(range(len(archived)))  # the rest is in the prompt
        texts = []
        for turn in dict.fromkeys((*pinned, *view.turns)):
            shown = (cut.get(at) or read_message(messages[at]) for at in turns[turn] if at in kept)
            text = "\n".join(f"{message.role}: {message.text}" for message in shown if message.text.strip())
            if text:
                texts.append((turn, text))
        return self._fitting(texts, self._budget_tokens())

    def _fitting(self, turns: Sequence[tuple[int, str]], limit_tokens: int) -> RecalledText:
        """Return the text of as many turns as fit; labels and fence count as well."""
        count = self._current_selector().count
        texts = [RecalledText.of(turns[:kept], name=self.name) for kept in range(len(turns) + 1)]
        return texts[bisect_right(texts, limit_tokens, lo=1, key=count) - 1]

    @property
    def _settings(self) -> HistoryConfig:
        settings = super()._settings
        gatekeeper = settings.gatekeeper and replace(settings.gatekeeper, strategy="gate")
        return replace(settings, strategy="gate", gatekeeper=gatekeeper)

    def _budget_tokens(self) -> int:
        return one_budget(self.config, None, token_budget=self.token_budget)[0] or budget_for_window(None)


def _without_system(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    return [message for message in messages if role_of(message) != "system"]


def _up_to_question(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return the messages up to the last user message, the question, without repeats of it by an agent."""
    read = _without_system(messages)
    starts = turn_starts(list(map(role_of, read)))
    if not starts:
        return []
    last = stop = starts[-1]
    while stop > 0 and role_of(read[stop - 1]) == "user" and text_of(read[stop - 1]) == text_of(read[last]):
        stop -= 1
    return [*read[:stop], read[last]]
