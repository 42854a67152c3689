"""A wrapper for other prompt editors that delays their edits while these would lose money.

::

    request ──editor──> edited request ──EditGuard──> the edited messages, or those sent last and the new ones ──> model
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from langchain.agents.middleware.types import AgentMiddleware, AgentState, ModelRequest

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.history.strategies import HistoryConfig, budget_for_window
from gatekeeper_core.events import EDIT, WINDOW_UNKNOWN
from gatekeeper_core.messages import Message, messages_digest
from gatekeeper_core.observation import tell
from gatekeeper_core.pricing.edits import EditedPrompt, Pieces, choose_edit
from gatekeeper_core.pricing.prices import UNKNOWN, ModelPrices
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter, checked_counter, count_message
from langchain_gatekeeper.messages import opens_with_summary, read_message, usages_of
from langchain_gatekeeper.models import prices_of, window_of
from langchain_gatekeeper.requests import Owner, owner_of, schemas_of, system_of, thread_of

if TYPE_CHECKING:
    Middleware = AgentMiddleware[AgentState[Any], Any, Any]
else:
    Middleware = AgentMiddleware  # LangChain 1.0 takes fewer type parameters

Editor = TypeVar("Editor", bound=AgentMiddleware[Any, Any])


@with_suggestions()
def delay_edits(
    editor: Editor,
    *,
    prices: ModelPrices | None = None,
    token_budget: int | None = None,
    token_counter: TokenCounter | None = None,
    tenant: Owner = "tenant_id",
    clock: Callable[[], float] = time.time,
) -> Editor:
    """Return a copy of a prompt-shortening middleware whose edits wait until they pay off; see ``choose_edit``.

    A delayed edit leaves the messages as last sent, plus the new ones; ``history.edit`` is logged. Do not wrap
    middleware whose edits must not wait, such as redaction. ``SummarizationMiddleware`` edits the state, so its edit is
    priced and logged, but not delayed.

    Args:
        editor: a ``ContextEditingMiddleware``, or another one that shortens requests. Its hooks, tools and name stay.
        prices: prices of the model; default to those of the request's model, else the least favourable ratios.
        token_budget: tokens of a whole request above which no edit waits; defaults to three quarters of the model's
            window, or 16,000 if that is unknown.
        token_counter: counts the tokens of a text; defaults to an estimate.
        tenant: as for ``GatekeeperMiddleware``.
        clock: returns the time in seconds, to detect an expired cache.

    Raises:
        TypeError: an argument has the wrong type.
        ConfigError: ``token_budget`` is below 1.
    """
    if not isinstance(editor, AgentMiddleware):
        raise TypeError(f"editor must be an AgentMiddleware, got {type(editor).__name__}")
    config = HistoryConfig(prices=prices, token_budget=token_budget)
    kind = type(editor)
    hooks = ("wrap_model_call", "awrap_model_call")
    edits_requests = any(getattr(kind, hook) is not getattr(AgentMiddleware, hook) for hook in hooks)
    delayed: Any = copy.copy(editor)
    # A subclass of the editor's class, because LangChain looks for hooks on the class.
    bases = (_Delaying, kind) if edits_requests else (_Delaying, kind, _Passing)
    delayed.__class__ = type(kind.__name__, bases, {"__module__": kind.__module__, "__doc__": kind.__doc__})
    delayed._edit_guard = EditGuard(editor.name, config, checked_counter(token_counter), tenant, clock)
    return cast("Editor", delayed)


@dataclass
class EditGuard:
    """The last prompt of each thread, by tenant; see ``delay_edits`` for the settings."""

    editor: str
    config: HistoryConfig
    counter: TokenCounter
    tenant: Owner
    clock: Callable[[], float]
    prompts: LruCache[tuple[str, Hashable], EditedPrompt] = field(init=False)

    def __post_init__(self) -> None:
        self.prompts = LruCache(max_entries=self.config.max_threads)

    def choose(
        self, request: ModelRequest[Any], edited: ModelRequest[Any]
    ) -> tuple[ModelRequest[Any], Callable[[Any], None]]:
        """Return the request to send, and a function to call with the model's answer."""
        thread = thread_of(request)
        if thread is None and request.messages:
            thread = messages_digest([read_message(request.messages[0])])
        key = owner_of(request.runtime, self.tenant) or "default", thread
        last = self.prompts.get(key) or EditedPrompt()
        counts = dict((*last.unedited, *last.sent))
        unedited, pieces = self._pieces(request, counts), self._pieces(edited, counts)
        prices, window = self.config.prices or prices_of(request.model) or UNKNOWN, window_of(request.model)
        budget = self.config.token_budget or budget_for_window(window)
        is_summarized = opens_with_summary(request.messages) and unedited[1:3] != last.unedited[1:3]
        prompt = choose_edit(
            last,
            unedited,
            pieces,
            prices=prices,
            now=self.clock(),
            room=budget_within(self.counter, budget),
            is_done=is_summarized,
        )
        if prompt.is_delayed:
            messages = dict(zip(pieces[1:], edited.messages, strict=True))
            messages |= zip(unedited[1:], request.messages, strict=True)
            edited = edited.override(messages=[messages[piece] for piece in prompt.sent[1:]])
        is_new = prompt.reason != last.reason
        if prompt.reason:
            tell(
                EDIT,
                level="INFO" if is_new else "DEBUG",
                editor="SummarizationMiddleware" if is_summarized else self.editor,
                saved_tokens=prompt.saved_tokens,
                rewritten_tokens=prompt.rewritten_tokens,
                extra_dollars=round(prompt.dollars, 4),
                verdict="delayed" if prompt.is_delayed else "made",
                reason=prompt.reason,
            )
        is_guess = not (self.config.token_budget or window)
        if is_new and is_guess and prompt.reason == "no_room":
            tell(WINDOW_UNKNOWN, setting="delay_edits(token_budget=)", budget_tokens=budget)

        def answered(answer: Any) -> None:
            sent = prompt
            for usage in usages_of(answer):
                sent = sent.reported(usage, prices)
            self.prompts.put(key, sent)

        return edited, answered

    def _pieces(self, request: ModelRequest[Any], counts: dict[bytes, int]) -> Pieces:
        """Return the pieces of a request; ``counts`` has the tokens of known ones, and gets those of the others."""
        system = system_of(request)
        fixed = "\n".join((*schemas_of(request), read_message(system).text if system else ""))
        digests = []
        for message in (Message("system", fixed), *map(read_message, request.messages)):
            digests.append(messages_digest([message]).encode())
            if digests[-1] not in counts:
                counts[digests[-1]] = count_message(message, token_counter=self.counter)
        return tuple((digest, counts[digest]) for digest in digests)


class _Delaying(Middleware):
    _edit_guard: EditGuard

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        def send(edited: Any) -> Any:
            chosen, answered = self._edit_guard.choose(request, edited)
            answer = handler(chosen)
            answered(answer)
            return answer

        return super().wrap_model_call(_copied(request), send)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        async def send(edited: Any) -> Any:
            chosen, answered = await asyncio.to_thread(self._edit_guard.choose, request, edited)
            answer = await handler(chosen)
            answered(answer)
            return answer

        return await super().awrap_model_call(_copied(request), send)


def _copied(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """Return the request with a list of its own: LangChain 1.0 edits in place."""
    return request.override(messages=[*request.messages])


class _Passing(Middleware):
    """The last base of an editor that edits only the state: it passes each request on unchanged."""

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(request)
