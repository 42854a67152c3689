"""The filter of the OpenAI Agents SDK, in its own runner, on its own session."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from agents import Agent, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from agents.models.interface import Model
from agents.run import CallModelData, ModelInputData
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from gatekeeper_hooks import GatekeeperInputFilter
from tests.hooks.hook_contract import CONFIG, Call, HookContract, Hooked, Line, Played, Run, recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_core import HistoryConfig


class ScriptedModel(Model):
    def __init__(self, steps: Sequence[Call | str]) -> None:
        self.steps = iter(steps)
        self.requests: list[list[Line]] = []

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **settings: Any) -> ModelResponse:  # noqa: A002
        self.requests.append([line_of(item) for item in input])
        step = next(self.steps)
        if isinstance(step, Call):
            call = ResponseFunctionToolCall(
                type="function_call", name="look_up", call_id=step.id, arguments=f'{{"number": {step.number}}}'
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        text = ResponseOutputText(type="output_text", text=step, annotations=[])
        message = ResponseOutputMessage(type="message", id="msg", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *arguments: Any, **settings: Any) -> Any:
        raise NotImplementedError


class Recorded(GatekeeperInputFilter):
    def __init__(self, config: HistoryConfig) -> None:
        super().__init__(config)
        self.hooked: list[Hooked] = []

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        returned = await super().__call__(data)
        recorded(self.hooked, data.model_data.input, returned.input, self.last_view)
        return returned


def line_of(item: Any) -> Line:
    if item.get("type") == "function_call":
        return Line("assistant", "", (item["call_id"],))
    if item.get("type") == "function_call_output":
        return Line("tool", item["output"], answers=item["call_id"])
    content = item["content"]
    return Line(item["role"], content if isinstance(content, str) else "".join(block["text"] for block in content))


class TestGatekeeperInputFilter(HookContract):
    def play(self, runs: Sequence[Run], config: HistoryConfig) -> Played:
        results = {call.number: call.result for run in runs for call in run.calls}

        @function_tool
        def look_up(number: int) -> str:
            return results[number]

        model, hook = ScriptedModel([step for run in runs for step in run.steps]), Recorded(config)
        agent = Agent(name="scripted", instructions="Be brief.", model=model, tools=[look_up])
        run_config = RunConfig(call_model_input_filter=hook, tracing_disabled=True)

        async def all_runs() -> list[Any]:
            session = SQLiteSession("one")
            for run in runs:
                await Runner.run(agent, run.question, session=session, run_config=run_config, max_turns=20)
            return await session.get_items()

        stored = [line_of(item) for item in asyncio.run(all_runs())]
        return Played(model.requests, stored, hook.hooked)


def test_instructions_and_tools_are_counted() -> None:
    @function_tool
    def look_up(number: int) -> str:
        """Look a number up in the ledger of the year."""
        return str(number)

    def fixed_tokens(agent: Agent[Any]) -> int:
        hook = GatekeeperInputFilter(CONFIG)
        items: Any = [{"role": "user", "content": "Hello"}]
        asyncio.run(hook(CallModelData(ModelInputData(items, "Be brief."), agent, None)))
        assert hook.last_view is not None
        return hook.last_view.fixed_tokens

    bare = fixed_tokens(Agent(name="bare"))
    assert 0 < bare < fixed_tokens(Agent(name="bare", tools=[look_up]))


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="max_tokens"):
        GatekeeperInputFilter(max_tokens=100)
