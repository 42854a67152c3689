"""An embedder behind a builder finds turns that share no word, and costs its opinion at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.result import BuiltContext, Miss
from gatekeeper_core.messages import Message
from tests.concepts import AT_ONCE, QUESTIONS, TALK, WANTED, concepts

NO_LIMIT_MS = 20_000


def builder_of(embedder: Any, timeout_ms: int = NO_LIMIT_MS, **arguments: Any) -> ContextBuilder:
    config = ContextBuilderConfig(
        history=AT_ONCE, call_timeout_ms=timeout_ms, enable_summary=False, enable_instruction_pinning=False
    )
    return ContextBuilder(config, embedder=embedder, **arguments)


def built(builder: ContextBuilder, question: str, messages: Sequence[Message] = TALK) -> BuiltContext:
    return builder.build(Thread("t1", tuple(messages)), question, "Be brief.")


def turns_of(context: BuiltContext) -> tuple[int, ...]:
    assert context.trace.view
    return tuple(sorted(context.trace.view.turns))


@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_question_finds_its_turn_without_a_shared_word(kind: str) -> None:
    context = built(builder_of(concepts), QUESTIONS[kind])
    assert WANTED[kind] in turns_of(context)
    assert context.trace.misses == ()
    assert WANTED[kind] not in turns_of(built(builder_of(None), QUESTIONS[kind]))


def test_a_failing_embedder_is_a_miss_and_words_decide() -> None:
    """C7: no model is needed, and where one fails the way without goes on."""

    def fails(_texts: object, /) -> Any:
        raise ConnectionError("green tea")

    context = built(builder_of(fails), QUESTIONS["mixed"])
    assert context.trace.misses == (Miss("meaning", "degraded", "error: ConnectionError"),)
    assert context.messages == built(builder_of(None), QUESTIONS["mixed"]).messages
