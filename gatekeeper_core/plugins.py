"""Calls of plug-ins that may hang: your own memory search, embedder, summarizer, extractor or compressor.

Nothing can stop a thread that hangs in foreign code. So each call runs on a daemon thread, which never delays process
exit, and at most four calls of one plug-in are under way, whoever makes them::

    fewer than four are under way         ──> the call begins at once
    four are under way                    ──> it waits for its turn, as long as its caller waits
    four are late, or 64 more calls wait  ──> it is refused at once

A hanging plug-in never delays another one. A forked child starts without the calls of its parent.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Lock, Thread
from typing import Any, Literal, NamedTuple

_MAX_CALLS = 4
"""Calls of one plug-in under way at once. Source: ours; a search of 50 ms serves 40 builds at once within 500 ms."""

_MAX_WAITING = 64
"""Waiting calls of one plug-in. Source: ours; a waiting call keeps its arguments in memory."""


class Outcome(NamedTuple):
    """The outcome of a call.

    Attributes:
        status: ``done``; ``late`` (no answer in time); ``failed`` (it raised); ``busy`` (refused).
        value: the result of a call that is done.
        reason: the error type of a failed call; never the message, which may hold text of the conversation.
    """

    status: Literal["done", "late", "failed", "busy"]
    value: Any = None
    reason: str = ""


def run_plugin(plugin: object, function: Callable[[], object], *, timeout_seconds: float) -> Outcome:
    """Call a function of a plug-in, and return its outcome after at most ``timeout_seconds``.

    A late answer is dropped; a call that is late before its turn is never made.

    Args:
        plugin: the plug-in that is called, by identity.
        function: called in the context of the caller.
        timeout_seconds: 0 or less does not wait.

    >>> run_plugin(abs, lambda: abs(-7), timeout_seconds=5.0)
    Outcome(status='done', value=7, reason='')
    """
    call = _started(plugin, function)
    if call is None:
        return Outcome("busy")
    if not call.done.wait(max(0.0, timeout_seconds)):
        with _lock:
            if call in call.calls.waiting:
                call.calls.waiting.remove(call)
            elif not call.done.is_set():
                call.calls.late.add(call)
    return call.outcome


def start_plugin(plugin: object, function: Callable[[], object]) -> bool:
    """Start a call that nobody waits for, and return whether it was accepted; arguments as for :func:`run_plugin`."""
    return _started(plugin, function) is not None


@dataclass(eq=False, slots=True)
class _Calls:
    """The calls of one plug-in: the number under way, the late ones among them, and the waiting ones."""

    under_way: int = 0
    late: set[_Call] = field(default_factory=set)
    waiting: deque[_Call] = field(default_factory=deque)


@dataclass(eq=False, slots=True)
class _Call:
    key: int
    calls: _Calls
    function: Callable[[], object]
    done: Event = field(default_factory=Event)
    outcome: Outcome = field(default=Outcome("late"))


def _started(plugin: object, function: Callable[[], object]) -> _Call | None:
    """Return a call that has begun or waits for its turn; None if it is refused."""
    key = id(plugin)
    with _lock:
        calls = _plugins.setdefault(key, _Calls())
        if len(calls.late) >= _MAX_CALLS or len(calls.waiting) >= _MAX_WAITING:
            return None
        call = _Call(key, calls, partial(copy_context().run, function))
        if calls.under_way == _MAX_CALLS:
            calls.waiting.append(call)
            return call
        calls.under_way += 1
    try:
        Thread(target=_work, args=(call,), name="gatekeeper-call", daemon=True).start()
    except RuntimeError:  # the system has no thread left
        with _lock:
            calls.under_way -= 1
        return None
    return call


def _work(call: _Call) -> None:
    """Make a call, then the waiting ones of its plug-in."""
    calls = call.calls
    while True:
        try:
            call.outcome = Outcome("done", call.function())
        except BaseException as error:  # noqa: BLE001 - foreign code may raise anything, SystemExit too: the outcome says so
            call.outcome = Outcome("failed", None, type(error).__name__)
        call.done.set()
        with _lock:
            calls.late.discard(call)
            if not calls.waiting:
                calls.under_way -= 1
                if not calls.under_way and _plugins.get(call.key) is calls:
                    del _plugins[call.key]
                return
            call = calls.waiting.popleft()


def _reset() -> None:
    """Forget all calls: a forked child has no threads for them, and perhaps a lock that nobody releases."""
    global _lock, _plugins
    _lock, _plugins = Lock(), {}


_lock: Lock
_plugins: dict[int, _Calls]
_reset()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_reset)
