"""The assembly policy of AG2, in its own agent, on its own stream, with its own test client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ag2 import Agent, MemoryStream, ToolResult
from ag2.context import ConversationContext
from ag2.events import (
    BaseEvent,
    ImageInput,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextInput,
    ToolCallEvent,
    ToolCallsEvent,
    ToolResultEvent,
    ToolResultsEvent,
)
from ag2.testing import TestClient, TestConfig

from benchmarks.long_answers import long_talks
from gatekeeper_core import GatekeeperConfig, HistoryConfig
from gatekeeper_hooks import GatekeeperPolicy
from tests.hooks.hook_contract import CONFIG, FILLER, Call, HookContract, Hooked, Line, Played, Run, recorded

if TYPE_CHECKING:
    from collections.abc import Sequence


def text_of(parts: Sequence[Any]) -> str:
    return "".join(part.content for part in parts if isinstance(part, TextInput))


def lines_of(events: Sequence[BaseEvent]) -> list[Line]:
    lines = []
    for event in events:
        if isinstance(event, ModelRequest):
            lines.append(Line("user", text_of(event.parts)))
        elif isinstance(event, ModelResponse):
            lines.append(Line("assistant", event.content or "", tuple(call.id for call in event.tool_calls.calls)))
        elif isinstance(event, ToolResultsEvent):
            lines += [Line("tool", text_of(one.result.parts), answers=one.parent_id) for one in event.results]
    return lines


class RecordingConfig(TestConfig):
    """The fake model of AG2, which notes what it is sent."""

    def __init__(self, steps: Sequence[Call | str]) -> None:
        calls = [
            step
            if isinstance(step, str)
            else ToolCallEvent("look_up", id=step.id, arguments=f'{{"number": {step.number}}}')
            for step in steps
        ]
        super().__init__(*calls)
        self.requests: list[list[Line]] = []

    def create(self) -> TestClient:
        class Recording(TestClient):
            async def __call__(client, messages: Any, context: Any, **rest: Any) -> ModelResponse:  # noqa: N805
                self.requests.append(lines_of(messages))
                return await super().__call__(messages, context, **rest)

        return Recording(*self.events)


class Recorded(GatekeeperPolicy):
    def __init__(self, config: HistoryConfig) -> None:
        super().__init__(config)
        self.hooked: list[Hooked] = []

    async def apply(self, prompts: list[str], events: list[BaseEvent], context: Any) -> Any:
        returned = await super().apply(prompts, events, context)
        recorded(self.hooked, events, returned[1], self.last_view)
        return returned


class TestGatekeeperPolicy(HookContract):
    def play(self, runs: Sequence[Run], config: HistoryConfig) -> Played:
        results = {call.number: call.result for run in runs for call in run.calls}

        def look_up(number: int) -> str:
            return results[number]

        model, policy = RecordingConfig([step for run in runs for step in run.steps]), Recorded(config)
        agent = Agent("scripted", prompt="Be brief.", config=model, tools=[look_up], assembly=[policy])

        async def all_runs() -> list[BaseEvent]:
            reply: Any = agent
            for run in runs:
                reply = await reply.ask(run.question)
            return [*await reply.context.stream.history.get_events()]

        stored = lines_of(asyncio.run(all_runs()))
        return Played(model.requests, stored, policy.hooked)


LONG_TALK = long_talks(2)[1]


def sent_of(events: Sequence[BaseEvent], **options: Any) -> list[BaseEvent]:
    config = HistoryConfig(on_error="raise", passthrough_below=0, **options)
    context = ConversationContext(MemoryStream())
    return asyncio.run(GatekeeperPolicy(config).apply([], [*events], context))[1]


def test_each_stream_is_a_thread_and_the_prompt_is_counted() -> None:
    policy, streams = GatekeeperPolicy(CONFIG), [MemoryStream(), MemoryStream()]
    for stream, prompts in zip(streams, ([], ["Be brief."]), strict=True):
        asyncio.run(policy.apply(prompts, [ModelRequest([TextInput("Hello")])], ConversationContext(stream)))
    bare, prompted = (policy.selector.threads.view_of(str(stream.id)) for stream in streams)
    assert bare is not None
    assert prompted is not None
    assert bare.fixed_tokens == 0 < prompted.fixed_tokens


def test_of_two_results_only_the_one_that_is_compressed_is_a_copy() -> None:
    call, other = ToolCallEvent("count", id="a"), ToolCallEvent("list", id="b")
    results = [
        ToolResultEvent.from_call(call, "5"),
        ToolResultEvent.from_call(other, ToolResult(FILLER * 90, final=True)),
    ]
    question = ModelRequest([ImageInput("https://example.com/bread.png"), TextInput("Which bread is on the picture?")])
    events = [question, ModelResponse(tool_calls=ToolCallsEvent([call, other])), *results, ToolResultsEvent(results)]
    *before, last = sent_of(events, token_budget=1200)
    assert all(one is event for one, event in zip(before, events[:-1], strict=True))
    assert isinstance(last, ToolResultsEvent)
    assert last.results[0] is results[0]
    assert len(text_of(last.results[1].result.parts)) < len(FILLER * 90) == len(text_of(results[1].result.parts))
    assert (last.results[1].parent_id, last.results[1].result.final) == ("b", True)


def test_a_long_answer_is_sent_as_a_cut_copy() -> None:
    _, messages, needed, fact = LONG_TALK
    events: list[BaseEvent] = [
        ModelRequest([TextInput(message.text)]) if message.role == "user" else ModelResponse(ModelMessage(message.text))
        for message in messages
    ]
    sent = sent_of(events, gatekeeper=GatekeeperConfig(coverage=0.4))
    [cut] = [event for event in sent if isinstance(event, ModelResponse) and fact.strip() in (event.content or "")]
    assert 2 * len(cut.content or "") < len(messages[2 * needed + 1].text)
    assert sent[-1] is events[-1]
