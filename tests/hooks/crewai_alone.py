"""The hooks of CrewAI, around calls of its own executor, with a model class of its own kind.

CrewAI is a gigabyte and holds other packages back, so no test run collects this file: .ci/thorough installs the extra
on its own and names the file. Nothing here reaches the network; CrewAI's telemetry is off.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

import pytest
from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from gatekeeper_core import HistoryConfig
from gatekeeper_hooks import GatekeeperHooks
from tests.hooks.hook_contract import CONFIG, Call, Hooked, HookContract, Line, Played, Run, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crewai.hooks import LLMCallHookContext


def line_of(message: Any) -> Line:
    calls = tuple(call["id"] for call in message.get("tool_calls") or ())
    return Line(message["role"], message.get("content") or "", calls, message.get("tool_call_id", ""))


def lines_of(messages: Sequence[Any]) -> list[Line]:
    return [line_of(message) for message in messages if message["role"] != "system"]


def scripted(steps: Iterator[Call | str], requests: list[list[Line]]) -> BaseLLM:
    class ScriptedLLM(BaseLLM):
        def call(self, messages: Any, *rest: Any, **settings: Any) -> Any:
            requests.append(lines_of(messages))
            step = next(steps)
            if isinstance(step, str):
                return step
            arguments = json.dumps({"number": step.number})
            return [{"id": step.id, "type": "function", "function": {"name": "look_up", "arguments": arguments}}]

        def supports_function_calling(self) -> bool:
            return True

    return ScriptedLLM(model="scripted")


class Recorded(GatekeeperHooks):
    def __init__(self, config: HistoryConfig) -> None:
        super().__init__(config)
        self.hooked: list[Hooked] = []

    def before_llm_call(self, context: LLMCallHookContext) -> None:
        self.after_llm_call(context)
        given = [*context.messages]
        super().before_llm_call(context)
        recorded(self.hooked, given, context.messages, self.last_view)


class TestGatekeeperHooks(HookContract):
    def play(self, runs: Sequence[Run], config: HistoryConfig) -> Played:
        results = {call.number: call.result for run in runs for call in run.calls}
        requests: list[list[Line]] = []

        @tool
        def look_up(number: int) -> str:
            """Look up."""
            return results[number]

        llm = scripted(iter([step for run in runs for step in run.steps]), requests)
        agent = Agent(role="clerk", goal="answer", backstory="", llm=llm, tools=[look_up])
        hooks, history = Recorded(config), []
        hooks.register()
        try:
            for run in runs:
                done = agent.kickoff([*history, {"role": "user", "content": run.question}])
                history = [message for message in done.messages if message["role"] != "system"]
        finally:
            hooks.unregister()
        return Played(requests, lines_of(history), hooks.hooked)
