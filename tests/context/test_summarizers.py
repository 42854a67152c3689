"""Whoever takes a summarizer asks it: each public constructor, with what the face of the package offers."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import gatekeeper_core
from gatekeeper_core import (
    ContextBuilder,
    ContextBuilderConfig,
    ContextCompressor,
    Message,
    Summarizer,
    Thread,
    compact_messages,
)
from gatekeeper_core.context.history.rounds import fold_rounds
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.history.tool_loop import compact_in_place
from gatekeeper_core.context.memory.summary import ThreadSummary
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests.loops import assistant, calls, result, user

REPLY = "They look after the hosts."
LOOP = [user("why?"), *(one for at in range(9) for one in (calls(f"c{at}"), result(f"c{at}", "磁盘 full " * 50)))]
TALK = [
    message for at in range(12) for message in (user(f"Which port has host {at}?"), assistant(f"Host {at} has 63{at}."))
]


class Model:
    """The whole protocol, as somebody writes it who read the face."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, messages: Sequence[Message], previous: str | None, max_tokens: int, /) -> str:
        assert messages
        assert max_tokens > 0
        self.calls += 1
        return REPLY

    def of_messages(self, messages: Sequence[Message]) -> str:
        """Take the messages alone, as the plainest function does."""
        return self(messages, None, 1)


def built(summarizer: Any) -> str:
    builder = ContextBuilder(
        ContextBuilderConfig(locale="en", history=HistoryConfig(keep_newest=3, passthrough_below=0)),
        summarizer=summarizer,
    )
    until = time.monotonic() + 30
    while time.monotonic() < until:  # a build waits for no model
        text = "\n".join(message.text for message in builder.build(Thread("t1", TALK), "Is it raining?", "").messages)
        if REPLY in text:
            break
        time.sleep(0.01)
    return text


def summed_up(summarizer: Any) -> str:
    summaries = ThreadSummary(InMemoryStore(), summarizer=summarizer, locale="en")
    summaries.update_if_needed(Thread("t1", TALK))
    summary = summaries.run_model(Thread("t1", TALK)).summary
    return summary.text if summary else ""


def texts(messages: Sequence[Message]) -> str:
    return "\n".join(message.text for message in messages)


TAKERS: dict[str, Callable[[Any], str]] = {
    "ContextBuilder": built,
    "ThreadSummary": summed_up,
    "ContextCompressor": lambda model: texts(ContextCompressor(1_000, summarizer=model).compress(LOOP)),
    "fold_rounds": lambda model: texts(fold_rounds(LOOP, 1, summarizer=model).messages),
    "compact_messages": lambda model: texts(compact_messages(LOOP, max_tokens=1_000, summarizer=model).messages),
    "compact_in_place": lambda model: texts(compact_in_place([*LOOP], max_tokens=1_000, summarizer=model).messages),
}
each_taker = pytest.mark.parametrize("taker", TAKERS.values(), ids=TAKERS)


def test_each_public_name_that_takes_a_summarizer_is_tried_here() -> None:
    names = [module.name for module in pkgutil.walk_packages(gatekeeper_core.__path__, "gatekeeper_core.")]
    modules = [importlib.import_module(name) for name in names]
    public = {name: value for module in modules for name, value in vars(module).items() if name[0] != "_"}
    classes = {name: value.__init__ for name, value in public.items() if isinstance(value, type)}
    functions = {name: public[name] for name in gatekeeper_core.__all__ if inspect.isfunction(public[name])}
    callables = {name: value for name, value in {**classes, **functions}.items() if inspect.isfunction(value)}
    takes = {name for name, value in callables.items() if "summarizer" in inspect.signature(value).parameters}
    # Two are no public names, the others are handed one that was checked.
    assert takes | {"compact_in_place", "fold_rounds"} == TAKERS.keys() | {"BuilderParts", "Shrinking"}


@each_taker
def test_a_summarizer_and_a_plain_function_are_really_asked_and_their_text_is_in_use(
    taker: Callable[[Any], str],
) -> None:
    for model, is_plain in ((Model(), False), (Model(), True)):
        summarizer: Summarizer = model
        assert REPLY in taker(model.of_messages if is_plain else summarizer)
        assert model.calls


@each_taker
@pytest.mark.parametrize("wrong", ["gpt", lambda: REPLY, lambda messages, previous: REPLY])
def test_what_could_never_be_asked_is_refused_when_it_is_given(taker: Callable[[Any], str], wrong: Any) -> None:
    with pytest.raises(TypeError, match="summarizer must"):
        taker(wrong)
