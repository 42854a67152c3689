"""The gatekeeper as the memory of a classic chain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage

from langchain_gatekeeper.events import aannounce, announce
from langchain_gatekeeper.options import SelectionOptions
from langchain_gatekeeper.reading import text_of

if TYPE_CHECKING:
    from gatekeeper_core.context.history.select import HistoryView

__all__ = ["GatekeeperChatMemory"]


class GatekeeperChatMemory(SelectionOptions):
    r"""A chat memory that loads the turns that the new input needs, and keeps all of them in its history.

    It stands wherever a ``ConversationBufferMemory`` stands. Saving is the base class's: nothing is ever removed. The
    options are the fields of :class:`SelectionOptions`; unknown arguments are ignored, as by every memory.

    Raises:
        pydantic.ValidationError: a setting cannot work.
        TypeError: ``gatekeeper_config`` is something else.

    >>> memory = GatekeeperChatMemory(floor_turns=0, passthrough_below=0)
    >>> memory.save_context({"input": "The Redis port is 6380."}, {"output": "Noted."})
    >>> memory.save_context({"input": "New topic: how do I bake bread?"}, {"output": "With patience."})
    >>> memory.load_memory_variables({"input": "Which port has Redis?"})
    {'history': 'Human: The Redis port is 6380.\nAI: Noted.'}
    """

    @property
    def memory_variables(self) -> list[str]:
        """The prompt's variable, in a list."""
        return [self.memory_key]

    @property
    def buffer(self) -> Any:
        """The whole history, as text or as messages."""
        return self._shown(self.buffer_as_messages)

    @property
    def buffer_as_str(self) -> str:
        """The whole history as text."""
        return self._as_str(self.buffer_as_messages)

    @property
    def buffer_as_messages(self) -> list[BaseMessage]:
        """The whole history as messages."""
        return self.chat_memory.messages

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the turns of the history that the input needs, under ``memory_key``.

        Args:
            inputs: the chain's inputs. The question is the one under ``input_key``, else the only one; where there is
                none, the newest turns that fit are loaded.

        Raises:
            Exception: whatever the store of the history raises; a failed selection, where ``on_error`` is ``raise``.
        """
        messages = self.chat_memory.messages
        view = self._view(messages, inputs)
        announce(view, shadow=self.shadow)
        return self._loaded(messages, view)

    async def aload_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Do the same as ``load_memory_variables``; neither the store nor the selection blocks the event loop."""
        messages = await self.chat_memory.aget_messages()
        view = await asyncio.to_thread(self._view, messages, inputs)
        await aannounce(view, shadow=self.shadow)
        return self._loaded(messages, view)

    def _view(self, messages: list[BaseMessage], inputs: dict[str, Any]) -> HistoryView:
        session = getattr(self.chat_memory, "session_id", None)
        thread = session if isinstance(session, str) else None
        return self._selector().view(messages, thread=thread, query=self._question(inputs))

    def _question(self, inputs: dict[str, Any]) -> str:
        """Return the text of the input; the base class looks for it in the same way when it saves."""
        keys = [self.input_key] if self.input_key else [*({*inputs} - {*self.memory_variables, "stop"})]
        return text_of(inputs.get(keys[0])) if len(keys) == 1 else ""

    def _loaded(self, messages: list[BaseMessage], view: HistoryView) -> dict[str, Any]:
        return {self.memory_key: self._shown(self._selector().kept(messages, view))}
