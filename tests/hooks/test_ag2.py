"""The assembly policy of AG2, in its own agent, on its own stream, with its own test client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ag2 import Agent
from ag2.events import BaseEvent, ModelRequest, ModelResponse, TextInput, ToolCallEvent, ToolResultsEvent
from ag2.testing import TestClient, TestConfig

from gatekeeper_hooks import GatekeeperPolicy
from tests.hooks.hook_contract import Call, HookContract, Hooked, Line, Played, Run, recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_core import HistoryConfig


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
