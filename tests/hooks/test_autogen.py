"""The model context of AutoGen, in its own agent, with its replay client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.model_context import ChatCompletionContextState
from autogen_core.models import (
    AssistantMessage,
    CreateResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    ModelFamily,
    RequestUsage,
    SystemMessage,
)
from autogen_ext.models.replay import ReplayChatCompletionClient

from gatekeeper_hooks import GatekeeperChatCompletionContext
from tests.hooks.hook_contract import Call, HookContract, Hooked, Line, Played, Run, recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_core import HistoryConfig

MODEL: Any = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "structured_output": False,
    "family": ModelFamily.UNKNOWN,
}


def lines_of(messages: Sequence[LLMMessage]) -> list[Line]:
    lines = []
    for message in messages:
        if isinstance(message, FunctionExecutionResultMessage):
            lines += [Line("tool", result.content, answers=result.call_id) for result in message.content]
        elif isinstance(message, AssistantMessage) and not isinstance(message.content, str):
            lines.append(Line("assistant", message.thought or "", tuple(call.id for call in message.content)))
        elif not isinstance(message, SystemMessage):
            role = "assistant" if isinstance(message, AssistantMessage) else "user"
            lines.append(Line(role, str(message.content)))
    return lines


def completion(step: Call | str) -> CreateResult | str:
    if isinstance(step, str):
        return step
    call = FunctionCall(id=step.id, name="look_up", arguments=f'{{"number": {step.number}}}')
    return CreateResult(finish_reason="function_calls", content=[call], usage=RequestUsage(0, 0), cached=False)


class Recorded(GatekeeperChatCompletionContext):
    def __init__(self, config: HistoryConfig) -> None:
        super().__init__(config, fixed=["Be brief."])
        self.hooked: list[Hooked] = []

    async def get_messages(self) -> list[LLMMessage]:
        returned = await super().get_messages()
        recorded(self.hooked, self._messages, returned, self.last_view)
        return returned


class TestGatekeeperChatCompletionContext(HookContract):
    def play(self, runs: Sequence[Run], config: HistoryConfig) -> Played:
        results = {call.number: call.result for run in runs for call in run.calls}

        async def look_up(number: int) -> str:
            """Look a number up."""
            return results[number]

        client = ReplayChatCompletionClient([completion(step) for run in runs for step in run.steps], MODEL)
        context = Recorded(config)
        agent = AssistantAgent(
            "scripted",
            client,
            tools=[look_up],
            model_context=context,
            system_message="Be brief.",
            max_tool_iterations=20,
        )

        async def all_runs() -> Any:
            for run in runs:
                await agent.run(task=run.question)
            return await context.save_state()

        stored = ChatCompletionContextState.model_validate(asyncio.run(all_runs())).messages
        requests = [lines_of(call["messages"]) for call in client.create_calls]
        return Played(requests, lines_of(stored), context.hooked)
