"""Stores, models and searches that fail in every way: for the tests of what a build does without them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.errors import ConflictError
from gatekeeper_core.storage.base import DerivedRecord, MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore

PATIENCE = 20.0
ANN = MemoryScope("default", "ann")


class Remote:
    """A store behind its protocol, as over a network: not in this process.

    Args:
        inner: the store itself.
        before: called before each method.
        instead: replacements of methods, by name.
    """

    def __init__(self, inner: Any, before: Callable[[], object] | None = None, **instead: Callable[..., Any]) -> None:
        self._inner, self._before, self._instead = inner, before, instead

    def __getattr__(self, name: str) -> Any:
        if name == "is_in_process":
            raise AttributeError(name)
        method = self._instead.get(name) or getattr(self._inner, name)

        def called(*arguments: Any, **named: Any) -> Any:
            if self._before:
                self._before()
            return method(*arguments, **named)

        return called


class RecordsOnly:
    """A store of records, and of nothing else."""

    def __init__(self) -> None:
        self._inner = InMemoryStore()
        self.load_record, self.save_record = self._inner.load_record, self._inner.save_record


def until(ask: Callable[[], object]) -> None:
    """Wait for what happens behind a build."""
    deadline = time.monotonic() + PATIENCE
    while not ask():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def raising(*_: Any, **__: Any) -> Any:
    """Raise, with a message that must not reach a log."""
    raise RuntimeError("secret text of the conversation")


class Hang:
    """A call that hangs until it is let go.

    Attributes:
        entered: set when a call has begun.
        returned: how many calls have returned.
    """

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.returned = 0
        self._go = threading.Event()

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Wait."""
        self.entered.set()
        self._go.wait(PATIENCE)
        self.returned += 1

    def let_go(self) -> None:
        """Let all calls return, those to come at once."""
        self._go.set()


@contextmanager
def hanging() -> Iterator[Hang]:
    """Give a call that hangs, and let it go at the end so that no thread is left."""
    hang = Hang()
    try:
        yield hang
    finally:
        hang.let_go()


def conflicting(*_: Any, **__: Any) -> Any:
    """Say that another writer was faster: always."""
    raise ConflictError("record", expected_version=0, stored_version=7)


class FaultyMemory(LongTermMemory):
    """A memory whose search is the caller's own."""

    def __init__(self, search: Callable[..., Any], *, inline: bool = False) -> None:
        super().__init__(InMemoryStore())
        self._own_search = search
        self._own_inline = inline

    @property
    def is_inline(self) -> bool:
        """Whether it says that it waits for nobody."""
        return self._own_inline

    def search(self, *arguments: Any, **named: Any) -> Any:
        """Return whatever the caller's own search returns."""
        return self._own_search(*arguments, **named)


def with_tea(store: Any = None, **settings: Any) -> LongTermMemory:
    """Return a memory in which Ann prefers green tea."""
    inner = InMemoryStore()
    LongTermMemory(inner).add(ANN, "I prefer green tea", category="user_preference")
    return LongTermMemory(inner if store is None else store(inner), **settings)


def _records(*bodies: object) -> list[Callable[..., Any]]:
    return [lambda *_, body=body: DerivedRecord(body, 3, 1) for body in bodies]


def _answers(*values: object) -> list[Callable[..., Any]]:
    return [lambda *_, value=value: value for value in values]


DAMAGED: Sequence[Callable[..., Any]] = _records(
    "", "{", "null", "[]", '{"a": 1}', '{"format": 1}', "[" * 50_000, None, b"{}", '{"k": "\\ud800"}', "NaN"
)
NONSENSE: Sequence[Callable[..., Any]] = _answers(7, "record", (), ("{}", "3", None), object())

FAILURES: dict[str, Callable[[Any], Remote]] = {
    "raises": lambda inner: Remote(inner, raising),
    "conflicts forever": lambda inner: Remote(inner, save_record=conflicting),
    "saves nothing": lambda inner: Remote(inner, save_record=lambda *_, **__: None),
    "raises at a save": lambda inner: Remote(inner, save_record=raising),
    **{f"damaged {at}": partial(Remote, load_record=load) for at, load in enumerate(DAMAGED)},
    **{f"nonsense {at}": partial(Remote, load_record=load) for at, load in enumerate(NONSENSE)},
}
"""Ways in which a store of records fails without hanging."""
