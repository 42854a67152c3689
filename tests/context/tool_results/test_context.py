"""What a compaction tells a compressor of tool results, and what becomes of the message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.rounds import our_pointers
from gatekeeper_core.context.history.run import RunConfig, shrink_run
from gatekeeper_core.context.history.tool_loop import compact_messages
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.context import ResultContext, ThreadCompressor, ToolResults
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.context.tool_results.working_memory import READ_TOOL_NAME, ThreadMemories
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.tokens import count_messages
from tests.loops import assistant, calls, pointer, result, system, user


def call(*named: tuple[str, str]) -> Message:
    """Return an assistant message with calls, each an id and a tool."""
    return Message("assistant", "", tool_calls=tuple(ToolCall(one, name, "{}") for one, name in named))


def first(message: Message, context: ResultContext) -> str:
    return message.text[:1]


def names(messages: Sequence[Message]) -> list[str | None]:
    """Return the tools that a compressor is told of, for the results in their order."""
    tools: list[str | None] = []

    def note(message: Message, context: ResultContext) -> str:
        tools.append(context.tool_name)
        return ""

    results = ToolResults(messages, note)
    for at, message in enumerate(messages):
        results.smaller(at, message)
    return tools


# --- what a compressor is told


def test_a_result_has_the_tool_whose_call_it_answers() -> None:
    assert names(
        [
            *(user(), call(("a", "grep"), ("b", "bash")), result("b"), system(), result("a"), result("x")),
            *(call(("", "ls"), ("", "cat")), result(None), result(None), result(None)),
            *(call(("a", "")), Message("tool", "r", tool_call_id="a", name="named")),
            *(call(("a", "grep")), user(), Message("tool", "r", tool_call_id="a")),
        ]
    ) == ["bash", "grep", None, "ls", "cat", None, "named", None]


def contexts_of(compact: str, messages: list[Message]) -> list[ResultContext]:
    """Return what a compressor is told in a compaction, or in the current run."""
    seen: list[ResultContext] = []

    def note(message: Message, context: ResultContext) -> str:
        seen.append(context._replace(live=tuple(context.live)))
        return pointer(len(seen))

    if compact == "compaction":
        compact_messages(messages, max_tokens=90, token_counter=len, compress_result=note)
    else:
        start = next(at for at, one in enumerate(messages) if one.tool_calls)
        shrink_run(
            messages,
            range(start, len(messages)),
            room=90,
            tokens_at=lambda at: count_messages([messages[at]], token_counter=len),
            token_counter=len,
            config=RunConfig(compress_result=note),
            request=HistoryRequest(query=messages[start - 1].text),
        )
    return seen


@pytest.mark.parametrize("way", ["compaction", "run"])
@pytest.mark.parametrize("question", ["为什么失败？", "why did it fail?", "为什么 failed?"])
def test_a_compressor_knows_the_question_the_age_and_the_pointers_of_the_window(way: str, question: str) -> None:
    past = [user("old"), assistant(f"see {pointer(9)}")]
    rounds = [one for at in range(3) for one in (calls(f"c{at}"), result(f"c{at}", "x" * 80))]
    seen = contexts_of(way, [*past, user(question), *rounds, calls("open")])
    assert {context.query for context in seen} == {question}
    assert {context.tool_name for context in seen} == {"search"}
    assert [context.age_rounds for context in seen] == ([2, 1, 0] if way == "compaction" else [0, 0, 0])
    ids = [pointers_in(pointer(number))[0] for number in (9, 1, 2)]
    assert [context.live for context in seen] == [tuple(ids[:1]), tuple(ids[:2]), tuple(ids)]


def test_a_compressor_knows_whose_result_it_is() -> None:
    owners: list[tuple[str | None, str]] = []

    def note(message: Message, context: ResultContext) -> str:
        owners.append((context.thread_id, context.tenant))
        return ""

    messages = [call(("a", "grep")), result("a", "text")]
    ToolResults(messages, ThreadCompressor(note, "会话 1", "default")).smaller(1, messages[1])
    ToolResults(messages, note).smaller(1, messages[1])
    run = RunConfig(compress_result=ThreadCompressor(note, "t1", "acme"))
    shrink_run(messages, range(2), room=0, tokens_at=int, token_counter=len, config=run, request=HistoryRequest())
    assert owners == [("会话 1", "default"), (None, "default"), ("t1", "acme")]
    memories = ThreadMemories(InMemoryBlobStore(), b"0123456789abcdef")
    results = ToolResultCompressor(working_memory=memories)
    assert ThreadCompressor(results, "t1", "acme").working_memory is memories.of("t1", tenant="acme")


# --- what becomes of a message


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (call(("a", READ_TOOL_NAME)), result("a", "what was read")),
        (call(("a", "grep")), Message("tool", "small", tool_call_id="a", metadata={"compressed": True})),
        (call(("a", "grep")), user("a question")),
        (call(("a", "grep")), result("a", "")),
        (call(("a", "grep")), result("a", "x")),
    ],
)
def test_what_was_read_what_is_compressed_and_what_gets_no_shorter_stays(before: Message, message: Message) -> None:
    messages = [before, message]
    assert ToolResults(messages, first).smaller(1, message) is None


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        (
            (MediaPart("image"), TextPart("长 text"), MediaPart("audio"), TextPart("more")),
            (MediaPart("image"), TextPart("长"), MediaPart("audio")),
        ),
        ((TextPart("long text"), TextPart("more")), "l"),
    ],
)
def test_media_of_a_compressed_result_stay(parts: Any, kept: Any) -> None:
    message = Message("tool", parts, tool_call_id="a", name="look")
    shorter = ToolResults([message], first).smaller(0, message)
    assert shorter == Message("tool", kept, tool_call_id="a", name="look", metadata={"compressed": True})
    alone = Message("tool", (MediaPart("image"),), tool_call_id="a")
    assert ToolResults([alone], first).smaller(0, alone) is None


def test_a_compressor_must_return_text() -> None:
    message = result("a", "text")
    with pytest.raises(TypeError, match="compress_result must return a str"):
        ToolResults([message], lambda *_: None).smaller(0, message)  # type: ignore[arg-type, return-value]


# --- with the compressor of this library


@pytest.mark.parametrize("text", ["看 {} 日志 日志", "see {} log log", "see {} 日志 log"])
def test_what_a_result_brought_along_is_no_pointer_of_the_compressor(text: str) -> None:
    """004-37: a compressor that hands a beginning on hands no pointer on with it."""
    message = result("a", text.format(pointer(1)) * 9)
    results = ToolResults([message], lambda message, _: pointer(2) + message.text[: len(text) + 30])
    shorter = results.smaller(0, message)
    assert shorter is not None
    assert pointers_in(shorter.text) == pointers_in(pointer(2))
    assert our_pointers([shorter]) == pointers_in(pointer(2))
