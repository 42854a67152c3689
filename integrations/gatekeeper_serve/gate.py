"""The gate: selection in the body of a request, with the reasons as headers and for the pages."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from os.path import basename
from threading import Lock
from traceback import walk_tb

from gatekeeper_core.context.history.reading import read_history
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.messages import Turn
from gatekeeper_core.native.reading import NativeMessages
from gatekeeper_core.pricing.prices import prices_of_model
from gatekeeper_hooks.native import NativeCall, NativeSelector
from gatekeeper_serve.apis import Api
from gatekeeper_serve.body import JsonBody
from gatekeeper_serve.reading import GrowingLists
from gatekeeper_serve.usage import UsageReader

_log = logging.getLogger("gatekeeper.serve")
_log.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class LiveThread:
    """A conversation after its latest request."""

    id: str  # for URLs and headers
    name: Hashable  # in the selector
    tenant: str
    api: Api
    model: str  # as in the request
    calls: int  # number of requests so far
    view: HistoryView
    native: NativeMessages  # what the client sent

    @property
    def is_priced(self) -> bool:
        """Whether the model has prices, so that costs are in dollars."""
        return self.view.bill is not None and prices_of_model(self.model) is not None

    def facts(self) -> dict[str, str]:
        """Return facts about the latest request: counts and fixed words, never text."""
        view, bill = self.view, self.view.bill
        facts: dict[str, object] = {
            "status": view.status,
            "cause": view.cause,
            "thread": self.id,
            "turns-kept": len(view.turns),
            "turns-left-out": len(view.left_out),
            "tokens": view.tokens + view.fixed_tokens,
            "tokens-before": view.history_tokens + view.fixed_tokens,
        }
        if bill and self.is_priced:
            facts |= {"dollars": f"{bill.dollars:.6f}", "dollars-before": f"{bill.everything_dollars:.6f}"}
        return {name: str(fact) for name, fact in facts.items()}

    def past(self) -> tuple[Turn, ...]:
        """Return the past turns, in the order of the view's turn ids."""
        return read_history(self.native.messages, HistoryRequest(notes=self.native.settings)).past


@dataclass(frozen=True, slots=True)
class Gated:
    """A request ready to send."""

    body: bytes  # the client's own bytes if nothing is left out
    headers: Mapping[str, str]  # facts for the response: counts and fixed words, never text
    thread: LiveThread | None = None  # None if the body could not be read


class Gate:
    """The selection for all threads of the proxy; thread-safe."""

    def __init__(self, history: HistoryConfig) -> None:
        self._selector = NativeSelector(history, budget_setting="--budget")
        self._is_shadow = history.shadow
        self._lists = GrowingLists(history.max_threads)
        self._max_threads = history.max_threads
        self._threads: dict[str, LiveThread] = {}  # least recently used first
        self._lock = Lock()

    def select(self, body: bytes, api: Api, tenant: str) -> Gated:
        """Return the request to send; a body that cannot be read stays unchanged."""
        try:
            request = JsonBody(body, api.items)
        except (ValueError, RecursionError):
            return _unread(body, "not_json")
        values = request.values
        items, model = values.get(api.items), values.get("model")
        if not isinstance(items, list):
            return _unread(body, "no_list")
        if any(values.get(name) is not None for name in api.stored):
            return _unread(body, "stored_conversation")
        model = model if isinstance(model, str) else ""
        fixed = [text for name in api.fixed if (text := request.text_of(name))]
        try:
            native = self._lists.read(items, api.format, tenant)
            call = self._selector.call(native, fixed=fixed, model=model, tenant=tenant)
        except MessageFormatError:
            return _unread(body, "message_format")
        except Exception as error:  # noqa: BLE001 - a fault of the gate must not fail the client's request
            *_, (frame, line) = walk_tb(error.__traceback__)
            place = f"{basename(frame.f_code.co_filename)}:{line}"
            # Without the error's message, which may contain text of the conversation.
            _log.error("selection failed, sending everything: %s at %s", type(error).__name__, place)
            return _unread(body, "failed")
        thread = self._noted(api, model, tenant, call, native)
        view = call.view
        if not self._is_shadow and (view.replaced or len(view.kept) < len(items)):
            body = request.with_items(view.kept, dict(view.replaced))
        facts = thread.facts() | ({"shadow": "true"} if self._is_shadow else {})
        return Gated(body, {f"x-gatekeeper-{name}": fact for name, fact in facts.items()}, thread)

    def report(self, thread: LiveThread, response: UsageReader) -> None:
        """Correct the costs of a thread with the usage that the provider reports, if any."""
        if usage := response.usage(thread.model):
            self._selector.threads.report(usage, thread=thread.name, tenant=thread.tenant)

    def threads(self) -> list[LiveThread]:
        """Return the latest threads, most recently used first."""
        with self._lock:
            return [*self._threads.values()][::-1]

    def thread(self, thread_id: str) -> LiveThread | None:
        """Return the thread with an id, or None."""
        return self._threads.get(thread_id)

    def _noted(self, api: Api, model: str, tenant: str, call: NativeCall, native: NativeMessages) -> LiveThread:
        thread_id = hashlib.blake2b(f"{tenant} {call.thread!r}".encode(), digest_size=6).hexdigest()
        with self._lock:
            before = self._threads.pop(thread_id, None)
            calls = before.calls + 1 if before else 1
            thread = LiveThread(thread_id, call.thread, tenant, api, model, calls, call.view, native)
            self._threads[thread_id] = thread
            if len(self._threads) > self._max_threads:
                del self._threads[next(iter(self._threads))]
        return thread


def _unread(body: bytes, cause: str) -> Gated:
    return Gated(body, {"x-gatekeeper-status": "unread", "x-gatekeeper-cause": cause})
