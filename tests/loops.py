"""Tool loops for the tests of compaction: messages of each kind, and random conversations that providers accept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import get_args

import pytest
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.context import ResultCompressor, ResultContext
from gatekeeper_core.messages import Message, Provider, ToolCall, validate_messages

PROVIDERS: tuple[Provider, ...] = get_args(Provider)
SCRIPTS = {"chinese": "部署失败磁盘已满", "english": "deploy failed, disk full", "mixed": "deploy 失败 disk 已满"}
three_scripts = pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)


def system(text: str = "be brief") -> Message:
    """Return a system message."""
    return Message("system", text)


def user(text: str = "q") -> Message:
    """Return a user message."""
    return Message("user", text)


def assistant(text: str = "a") -> Message:
    """Return an assistant message without calls."""
    return Message("assistant", text)


def calls(*ids: str, text: str = "", arguments: str = '{"q": "x"}') -> Message:
    """Return an assistant message with a call for each id."""
    return Message("assistant", text, tool_calls=tuple(ToolCall(one, "search", arguments) for one in ids))


def result(call_id: str | None, text: str = "r") -> Message:
    """Return the result of a call."""
    return Message("tool", text, tool_call_id=call_id)


def loop(count: int, text: str, *, start: int = 0) -> list[Message]:
    """Return rounds of one call each, with this text as each result."""
    ids = [f"c{number}" for number in range(start, start + count)]
    return [message for one in ids for message in (calls(one, arguments="{}"), result(one, text))]


def compressed(call_id: str | None, text: str) -> Message:
    """Return the result of a call as a compressor leaves it: pointers in it are ours."""
    return Message("tool", text, tool_call_id=call_id, metadata={"compressed": True})


def pointer(number: int) -> str:
    """Return the pointer with a number, as it stands in a text."""
    return f"[[wm:{format(number, '016b').translate(str.maketrans('01', 'ab'))}]]"


class Holding:
    """A compressor with a working memory that holds these ids; by itself it leaves results as they are."""

    def __init__(self, ids: Collection[str], compress: ResultCompressor = lambda message, _: message.text) -> None:
        self.working_memory, self._compress = ids, compress

    def __call__(self, message: Message, context: ResultContext) -> str:
        return self._compress(message, context)


def call_count(messages: Sequence[Message]) -> int:
    """Return how many calls stand in the messages."""
    return sum(len(message.tool_calls) for message in messages)


def violations(messages: Sequence[Message], provider: Provider) -> list[str]:
    """Return the rules that a list breaks, the calls of an open run aside."""
    return [found.rule for found in validate_messages(messages, provider=provider, open_run=True)]


_WORDS = [
    *("error 42 in deploy.py", "retrying", "done", "exit code 1", "v1.2", "[已执行 3 次工具调用,最近结果见下文]"),
    *("缓存失效", "部署失败,原因是磁盘已满。", "继续", "日志", "\ud800", "👩‍👩‍👧", "\x00", ""),
    *("x" * 90, "长" * 60),
    *('[[wm:abcdefghijklmnop]] type=log size=9 preview=""', "[[wm:ponmlkjihgfedcba]] [[wm:2345672345672345]]"),
]
texts = st.lists(st.sampled_from(_WORDS), max_size=5).map(" ".join)
outputs = st.builds(lambda text, times: text * times, texts, st.sampled_from([1, 1, 3, 20]))


@st.composite
def rounds(draw: st.DrawFn, name: str, *, answered: bool = True) -> list[Message]:
    """Return a round of up to three parallel calls; unanswered: some of its results are missing."""
    ids = [f"{name}.{index}" for index in range(draw(st.integers(1, 3)))]
    results = [result(one, draw(outputs)) for one in draw(st.permutations(ids))]
    return [calls(*ids, text=draw(texts)), *(results if answered else results[: draw(st.integers(0, len(ids) - 1))])]


@st.composite
def conversations(draw: st.DrawFn, *, open_run: bool | None = None) -> list[Message]:
    """Return a head, a few turns with rounds of tool use, and perhaps a run that waits for results.

    Narration stands before some rounds, which Gemini refuses, and a system message before some turns, which Anthropic
    refuses.
    """
    messages = [system(draw(texts)) for _ in range(draw(st.integers(0, 2)))]
    for turn in range(draw(st.integers(1, 4))):
        messages += [system(draw(texts))] * draw(st.sampled_from([0, 0, 0, 0, 1]))
        messages += [user(draw(texts)) for _ in range(draw(st.sampled_from([1, 1, 2])))]
        for number in range(draw(st.sampled_from([0, 1, 3, 5]))):
            messages += [assistant(draw(texts))] * draw(st.sampled_from([0, 0, 0, 1]))
            messages += draw(rounds(f"{turn}-{number}"))
        messages += [assistant(draw(texts))] * draw(st.sampled_from([0, 1, 1]))
    opens = draw(st.booleans()) if open_run is None else open_run
    return [*messages, user(draw(texts)), *draw(rounds("open", answered=False))] if opens else messages
