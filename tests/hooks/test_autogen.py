"""The model context of AutoGen, in its own agent, with its replay client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall, Image
from autogen_core.model_context import ChatCompletionContextState
from autogen_core.models import (
    AssistantMessage,
    CreateResult,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    ModelFamily,
    RequestUsage,
    SystemMessage,
    UserMessage,
)
from autogen_ext.models.replay import ReplayChatCompletionClient
from PIL.Image import new as new_image

from benchmarks.long_answers import long_talks
from gatekeeper_core import GatekeeperConfig, HistoryConfig
from gatekeeper_hooks import GatekeeperChatCompletionContext
from tests.hooks.hook_contract import FILLER, Call, HookContract, Hooked, Line, Played, Run, recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

LONG_TALK = long_talks(2)[1]
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


def sent_of(messages: Sequence[LLMMessage], **options: Any) -> list[LLMMessage]:
    config = HistoryConfig(on_error="raise", passthrough_below=0, **options)
    return asyncio.run(GatekeeperChatCompletionContext(config, initial_messages=[*messages]).get_messages())


def test_the_texts_beside_the_context_are_counted() -> None:
    context = GatekeeperChatCompletionContext(
        fixed=["Be brief."], initial_messages=[UserMessage(content="Hi", source="ann")]
    )
    asyncio.run(context.get_messages())
    assert context.last_view is not None
    assert context.last_view.fixed_tokens > 0


def test_of_two_results_only_the_text_of_the_compressed_one_changes() -> None:
    calls = [FunctionCall(id="a", name="count", arguments="{}"), FunctionCall(id="b", name="list", arguments="{}")]
    short = FunctionExecutionResult(content="5", name="count", call_id="a", is_error=False)
    long = FunctionExecutionResult(content=FILLER * 90, name="list", call_id="b", is_error=False)
    messages = [
        UserMessage(content=["Which bread is on the picture?", Image.from_pil(new_image("RGB", (8, 8)))], source="ann"),
        AssistantMessage(content=calls, thought="I count.", source="scripted"),
        FunctionExecutionResultMessage(content=[short, long]),
    ]
    question, called, results = sent_of(messages, token_budget=1200)
    assert (question, called) == (messages[0], messages[1])
    assert isinstance(results, FunctionExecutionResultMessage)
    assert results.content[0] == short
    assert results.content[1] == long.model_copy(update={"content": results.content[1].content})
    assert len(results.content[1].content) < len(long.content) == len(FILLER * 90)


def test_a_long_answer_is_sent_as_a_cut_copy() -> None:
    _, talk, needed, fact = LONG_TALK
    messages: list[LLMMessage] = [
        UserMessage(content=one.text, source="ann")
        if one.role == "user"
        else AssistantMessage(content=one.text, source="scripted")
        for one in talk
    ]
    sent = sent_of(messages, gatekeeper=GatekeeperConfig(coverage=0.4))
    [cut] = [message for message in sent if isinstance(message, AssistantMessage) and fact.strip() in message.content]
    assert 2 * len(cut.content) < len(talk[2 * needed + 1].text)
    assert cut.source == "scripted"
    assert sent[-1] is messages[-1]
