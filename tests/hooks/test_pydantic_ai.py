"""The history processor of Pydantic AI, in its own agent, with its own model for tests."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from gatekeeper_core import HistoryConfig, ModelPrices
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_hooks import GatekeeperHistoryProcessor
from tests.hooks.hook_contract import CONFIG, FILLER, Call, HookContract, Hooked, Line, Played, Run, recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai import RunContext
    from pydantic_ai.models import ModelRequestContext


def lines_of(messages: Sequence[ModelMessage]) -> list[Line]:
    lines = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                lines.append(Line("assistant", "", (part.tool_call_id,)))
            elif isinstance(part, ToolReturnPart):
                lines.append(Line("tool", part.model_response_str(), answers=part.tool_call_id))
            elif isinstance(part, (TextPart, UserPromptPart)):
                lines.append(Line("assistant" if isinstance(part, TextPart) else "user", str(part.content)))
    return lines


class Recorded(GatekeeperHistoryProcessor):
    def __init__(self, config: HistoryConfig) -> None:
        super().__init__(config)
        self.hooked: list[Hooked] = []

    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> Any:
        given = [*request_context.messages]
        returned = await super().before_model_request(ctx, request_context)
        recorded(self.hooked, given, returned.messages, self.last_view)
        return returned


class TestGatekeeperHistoryProcessor(HookContract):
    def play(self, runs: Sequence[Run], config: HistoryConfig) -> Played:
        results = {call.number: call.result for run in runs for call in run.calls}
        steps, hook = iter([step for run in runs for step in run.steps]), Recorded(config)
        requests: list[list[Line]] = []

        def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            requests.append(lines_of(messages))
            step = next(steps)
            if isinstance(step, Call):
                return ModelResponse([ToolCallPart("look_up", {"number": step.number}, tool_call_id=step.id)])
            return ModelResponse([TextPart(step)])

        agent = Agent(FunctionModel(answer), instructions="Be brief.", capabilities=[hook])

        @agent.tool_plain
        def look_up(number: int) -> str:
            return results[number]

        history: list[ModelMessage] = []
        for run in runs:
            history = asyncio.run(agent.run(run.question, message_history=history)).all_messages()
        assert all(hooked.view.fixed_tokens for hooked in hook.hooked)
        return Played(requests, lines_of(history), hook.hooked)


def sent_after(
    history: Sequence[ModelMessage], question: Any, hook: GatekeeperHistoryProcessor
) -> tuple[list[ModelMessage], list[ModelMessage]]:
    """Return what the model is sent for a question, and the history that the run stores."""
    sent: list[ModelMessage] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        sent[:] = messages
        return ModelResponse([TextPart("Yes.")], usage=RequestUsage(input_tokens=500, cache_write_tokens=499))

    agent = Agent(FunctionModel(answer), capabilities=[hook])
    return sent, asyncio.run(agent.run(question, message_history=history)).all_messages()


def test_a_cut_text_loses_its_id_because_the_provider_would_take_its_own_copy() -> None:
    fact = "The 缓存 cache listens on port 6380."
    long = " ".join(f"Loaf {number} rises." for number in range(200))
    answer = TextPart(f"{long} {fact}", id="msg_1", provider_name="openai")
    history = [ModelRequest([UserPromptPart("Where is the cache?")]), ModelResponse([answer])]
    hook = GatekeeperHistoryProcessor(CONFIG)
    sent, stored = sent_after(history, "Which port does the cache 缓存 listen on?", hook)
    assert sent[0] is stored[0] is history[0]
    (cut,) = sent[1].parts
    assert isinstance(cut, TextPart)
    assert fact in cut.content
    assert len(cut.content) < len(long)
    assert cut.id is None
    assert stored[1].parts == [answer]


def test_turns_are_recalled_beside_the_files_of_a_question_and_usage_is_accounted() -> None:
    image = BinaryContent(b"GIF89a" + (64).to_bytes(2, "little") * 2, media_type="image/gif")
    history: list[ModelMessage] = []
    topics = ("bread", "tea", "garden", "bicycle", "museum")
    facts = {"Redis": "It listens on port 6380", "organ": "Marta plays it", **dict.fromkeys(topics, "Fine")}
    for topic, fact in facts.items():
        history += [
            ModelRequest([UserPromptPart(f"New topic: the {topic}?")]),
            ModelResponse([TextPart(f"The {topic}: {fact}. " + "More of it, and more. " * 100)]),
        ]
    prices = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=6, min_cached_tokens=64)
    config = HistoryConfig(token_budget=20_000, passthrough_below=0, strategy="cache", prices=prices)
    hook = GatekeeperHistoryProcessor(config)
    _, history = sent_after(history, "Which port does Redis listen on?", hook)
    account = hook.selector.threads.policy_of(history[-1].conversation_id)
    assert account is not None
    assert account.ledger.paid == prices.dollars(Usage(500, 0, cache_written_tokens=499))
    sent, stored = sent_after(history, ["Who plays the organ, and when?", image], hook)
    (text, file) = sent[-1].parts[-1].content
    assert "Marta" in text
    assert text.endswith("Who plays the organ, and when?")
    assert file is image
    assert stored[-2].parts[-1].content == ["Who plays the organ, and when?", image]


def test_the_system_prompt_stays_where_its_turn_does_not() -> None:
    agent = Agent("test", system_prompt="You are a baker.")
    history = asyncio.run(agent.run(f"Tell me about bread. {FILLER * 4}")).all_messages()
    sent, _ = sent_after(history, "New topic: which port does Redis use?", GatekeeperHistoryProcessor(CONFIG))
    assert [part.part_kind for message in sent for part in message.parts] == ["system-prompt", "user-prompt"]
    assert FILLER not in str(sent)


def test_each_question_to_an_agent_with_structured_answers_is_a_turn() -> None:
    class Port(BaseModel):
        number: int

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([ToolCallPart(info.output_tools[0].name, {"number": 1})])

    hook = GatekeeperHistoryProcessor(CONFIG)
    agent = Agent(FunctionModel(answer), output_type=Port, capabilities=[hook])
    history: list[ModelMessage] = []
    for number in range(4):
        history = asyncio.run(agent.run(f"Which port {number}?", message_history=history)).all_messages()
    assert hook.last_view is not None
    assert hook.last_view.turn_count == 3
    assert hook.selector.threads.view_of(history[-1].conversation_id) is not None


def test_a_processor_that_stores_what_it_returns_stores_no_selection() -> None:
    gate = GatekeeperHistoryProcessor(CONFIG)
    agent = Agent("test", capabilities=[gate, ProcessHistory(lambda messages: messages)])
    history: list[ModelMessage] = []
    for question in ("Our Redis cache uses port 6380.", FILLER * 40, "New topic: which port does our Redis cache use?"):
        history = asyncio.run(agent.run(question, message_history=history)).all_messages()
    assert gate.last_view is not None
    assert gate.last_view.left_out == (1,)
    assert len(history) == 6
