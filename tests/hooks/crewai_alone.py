"""The hooks of CrewAI, around calls of its own executor, with a model class of its own kind.

CrewAI is a gigabyte and holds other packages back, so no test run collects this file: .ci/thorough installs the extra
on its own and names the file. Nothing here reaches the network; CrewAI's telemetry is off.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from crewai import Agent, BaseLLM
from crewai.hooks import LLMCallHookContext
from crewai.tools import tool

from gatekeeper_hooks import GatekeeperHooks
from tests.hooks.hook_contract import (
    CONFIG,
    SCRIPTS,
    Call,
    HookContract,
    Hooked,
    Line,
    Played,
    Run,
    recorded,
    three_runs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper_core import HistoryConfig


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


@contextmanager
def registered(hooks: Recorded) -> Iterator[Recorded]:
    hooks.register()
    try:
        yield hooks
    finally:
        hooks.unregister()


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
        history: list[Any] = []
        with registered(Recorded(config)) as hooks:
            for run in runs:
                done = agent.kickoff([*history, {"role": "user", "content": run.question}])
                history = [message for message in done.messages if message["role"] != "system"]
        return Played(requests, lines_of(history), hooks.hooked)


def test_the_list_is_whole_again_after_a_call_that_failed() -> None:
    about_bread = three_runs(*SCRIPTS["english"])[1]
    turn = [{"role": "user", "content": about_bread.question}, {"role": "assistant", "content": about_bread.answer}]
    messages: list[Any] = turn * 6
    messages.append({"role": "user", "content": "New topic: who painted the Night Watch?"})
    snapshot, again = [*messages], {"role": "user", "content": "Who painted the Night Watch, please?"}
    hooks = GatekeeperHooks(CONFIG)
    context = LLMCallHookContext(messages=messages)
    hooks.before_llm_call(context)
    assert len(messages) < len(snapshot)
    messages.append(again)  # no hook came after the call
    hooks.before_llm_call(context)
    assert len(messages) < len(snapshot)
    for _ in range(2):
        hooks.after_llm_call(context)
        assert messages == [*snapshot, again]


def test_tools_are_counted_where_they_are_sent_beside_the_messages() -> None:
    @tool
    def look_up(number: int) -> str:
        """Look a number up in the ledger of the year."""
        return ""

    counted = []
    for tools in ([], [look_up]):
        agent = Agent(role="clerk", goal="answer", backstory="", llm=scripted(iter(["6380"]), []), tools=tools)
        with registered(Recorded(CONFIG)) as hooks:
            agent.kickoff("Which port?")
        counted.append(hooks.hooked[0].view.fixed_tokens)
    assert 0 == counted[0] < counted[1]


def test_the_recipe_of_the_page_runs(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "integrations" / "gatekeeper_hooks" / "README.md"
    _, _, section = page.read_text(encoding="utf-8").partition("## CrewAI")
    assert "assert" in section
    recipe = section.partition("```py\n")[2].partition("```")[0]
    done = subprocess.run([sys.executable, "-c", recipe], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
