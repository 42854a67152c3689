"""Adapters and commands that work, and that fail: what all of them tell together holds no word of a conversation.

The core alone is tested in ``tests/test_events.py``, and what reaches an exporter from it in ``tests/otel``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store import SimpleChatStore

from gatekeeper_core import ContextBuilder, ContextBuilderConfig, HistoryConfig, LongTermMemory, RunConfig, Thread
from gatekeeper_core.context.tool_results.working_memory import ThreadMemories
from gatekeeper_core.observation import add_observer, remove_observer
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore
from gatekeeper_formats.reading import read_conversation
from gatekeeper_otel import instrument
from langchain_gatekeeper import (
    GatekeeperChatMemory,
    GatekeeperMiddleware,
    GatekeeperSelector,
    recall_tool,
    working_memory_tool,
)
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBlock, GatekeeperMemoryBuffer
from tests.adapters.scripted import Heard, Scripted
from tests.case_files import rows
from tests.observed import Away, everything_told, failing
from tests.otel.test_otel import collector
from tests.talks import TALKS, sides
from tests.test_observation import Watching

pytestmark = [pytest.mark.cli, pytest.mark.otel]

MARK = "zwquux犇犇"
"""Stands in every message, memory, tool result, constraint, secret and error of this file, and nowhere else."""

OURS = ("gatekeeper_core", "integrations", "langchain_gatekeeper", "llama_index/memory/gatekeeper", "gatekeeper_cli")
HISTORY = HistoryConfig(token_budget=400, passthrough_below=0)
TIGHT = HistoryConfig(token_budget=1, passthrough_below=0, on_error="raise")


class Probe:
    """Everything that is told while an adapter works.

    Attributes:
        errors: texts of the errors that the library itself has raised.
        callbacks: what LangChain's callbacks get.
    """

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.callbacks = Heard()

    def run(self, thread: str = "t1") -> Any:
        """Return the config of a run of LangChain's."""
        return {"configurable": {"thread_id": thread, "user_id": "ann"}, "callbacks": [self.callbacks]}

    def attempt(self, call: Callable[..., object], *arguments: Any, **named: Any) -> None:
        """Call, and note an error whose last line of code is ours."""
        try:
            called = call(*arguments, **named)
            if asyncio.iscoroutine(called):
                asyncio.run(called)
        except Exception as error:  # noqa: BLE001 - whatever it is, its text is what is looked at
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            file = place.tb_frame.f_code.co_filename if place else ""
            if any(f"/{folder}/" in file for folder in OURS):
                self.errors.append(f"{type(error).__name__}: {error} {getattr(error, '__notes__', '')}")


def past(script: str) -> list[tuple[str, str]]:
    return [(f"{user} {MARK}", f"{assistant} {MARK}") for user, assistant in TALKS[script][0]] * 4


def question(script: str) -> str:
    return f"{TALKS[script][1]} {MARK}"


def builder(*, fails: bool, total_budget: int = 3000, store: Any = None) -> ContextBuilder:
    """Return a builder with memories and constraints; its parts raise errors with the mark, if it fails."""
    memory = LongTermMemory(InMemoryStore(), embedder=failing(MARK) if fails else None)
    memory.add(MemoryScope("default", "ann"), f"prefers {MARK}", category="user_preference", key=MARK)
    fail: Any = failing(MARK) if fails else None
    built = ContextBuilder(
        ContextBuilderConfig(total_budget=total_budget, locale="en"),
        store=store,
        memory=memory,
        summarizer=fail,
        extractor=fail,
        tool_results=fail,
        embedder=fail,
    )
    if store is None:
        built.constraints.set(Thread("t1"), MARK, MARK)
    return built


def builders() -> Iterator[ContextBuilder]:
    yield builder(fails=False)
    yield builder(fails=False, total_budget=5)
    for store in (None, Away(MARK, LookupError), Away(MARK)):
        yield builder(fails=True, store=store)


# --- LangChain


def langchain_talk(script: str) -> list[BaseMessage]:
    call = {"name": f"tool_{MARK}", "args": {"name": MARK}, "id": "c1"}
    result = "\n".join(f"row {row}: {MARK} is at port {6000 + row}" for row in range(200))
    talk = [message for user, answer in past(script) for message in (HumanMessage(user), AIMessage(answer))]
    looked_up = [HumanMessage(f"Look it up: {MARK}"), AIMessage("", tool_calls=[call])]
    return [*talk, *looked_up, ToolMessage(result, tool_call_id="c1"), AIMessage(MARK), HumanMessage(question(script))]


def middleware(script: str, probe: Probe, folder: Path) -> None:
    memories = ThreadMemories(InMemoryBlobStore(), secret=MARK.encode() * 4)
    gates = [
        GatekeeperMiddleware(HISTORY, states=Away(MARK), embedder=failing(MARK)),
        GatekeeperMiddleware(HistoryConfig(shadow=True, token_budget=300, passthrough_below=0)),
        GatekeeperMiddleware(TIGHT),
        GatekeeperMiddleware(HistoryConfig(run=RunConfig(compress_result=failing(MARK)), token_budget=300)),
        GatekeeperMiddleware(HISTORY, token_counter=failing(MARK)),
        GatekeeperMiddleware(HistoryConfig(on_error="raise"), builder=builder(fails=False, total_budget=5)),
        *(GatekeeperMiddleware(builder=built) for built in builders()),
    ]
    for gate in gates:
        for model in (Scripted(), Scripted(max_chars=1)):
            tools = [recall_tool(gate), working_memory_tool(memories)]
            agent: Any = create_agent(model, tools, middleware=[gate], system_prompt=f"Be brief, {MARK}.")
            probe.attempt(agent.invoke, {"messages": langchain_talk(script)}, probe.run())
            probe.attempt(agent.ainvoke, {"messages": langchain_talk(script)}, probe.run())
        probe.attempt(gate.recall_earlier, MARK, "t1")
    tool = working_memory_tool(memories)
    for args in ({"pointer": MARK}, {"pointer": f"[[wm:{MARK}]]", "query": MARK}, {"pointer": MARK, "first_line": -1}):
        probe.attempt(tool.invoke, args, probe.run())


def runnables(script: str, probe: Probe, folder: Path) -> None:
    talk = langchain_talk(script)
    for config in (HISTORY, TIGHT):
        for embedder in (None, failing(MARK)):
            probe.attempt(GatekeeperSelector(config, embedder=embedder).invoke, talk, probe.run())
    probe.attempt(GatekeeperSelector(HISTORY).invoke, {MARK: talk}, probe.run())
    probe.attempt(GatekeeperSelector(HISTORY).invoke, [*talk, MARK, 7, {"role": MARK, "content": MARK}], probe.run())
    for constraints in ({MARK: MARK}, {MARK: MARK * 9000}):
        memory = GatekeeperChatMemory(
            chat_memory=InMemoryChatMessageHistory(messages=talk), config=HISTORY, constraints=constraints
        )
        probe.attempt(memory.load_memory_variables, {"input": question(script)})
        probe.attempt(memory.load_memory_variables, {"other": question(script), "one": MARK})
        probe.attempt(memory.save_context, {MARK: MARK, "b": MARK}, {"output": MARK})


# --- LlamaIndex


class Lost(SimpleChatStore):
    """A chat store that cannot be read."""

    def get_messages(self, key: str) -> list[ChatMessage]:
        raise LookupError(f"cannot read {key} {MARK}")


def llama_index(script: str, probe: Probe, folder: Path) -> None:
    last_message = ChatMessage(question(script), role="user")
    talk = [*(ChatMessage(text, role=role) for role, text in sides(past(script))), last_message]
    options: list[dict[str, Any]] = [{"config": HISTORY}, {"config": HISTORY, "embedder": failing(MARK)}]
    options += [{"config": TIGHT}, *({"builder": built, "user": "ann"} for built in builders())]
    for arguments in options:
        buffer = GatekeeperMemoryBuffer.from_defaults(talk, chat_store_key="t1", **arguments)
        probe.attempt(buffer.get)
        probe.attempt(buffer.aget, last_message.content)
        probe.attempt(buffer.get, initial_token_count=10**9)
        probe.attempt(buffer.recall_earlier, MARK, "t1")
        memory = GatekeeperMemory.from_defaults(session_id="t1", **arguments)
        probe.attempt(memory.aput_messages, talk)
        probe.attempt(memory.aget)
    probe.attempt(GatekeeperMemoryBuffer.from_defaults(chat_store=Lost(), chat_store_key="t1", config=HISTORY).get)
    for config in (HISTORY, TIGHT):
        block = GatekeeperMemoryBlock(config=config)
        probe.attempt(block.aput, talk[:-1], from_short_term_memory=True, session_id="t1")
        probe.attempt(block.aget, [last_message], session_id="t1")


# --- commands and files


def commands(script: str, probe: Probe, folder: Path) -> None:
    from typer.testing import CliRunner

    from gatekeeper_cli.app import app

    file, store = folder / "chat.jsonl", folder / "store.db"
    file.write_text(
        "".join(json.dumps({"user": user, "assistant": assistant}) + "\n" for user, assistant in past(script)), "utf-8"
    )
    with SQLiteStore(store) as opened:
        opened.append_messages("acme", "t1", [])
    for arguments in (
        ("select", file, question(script)),
        ("inspect", file),
        ("explain", file, question(script), "--json"),
        ("convert", file, folder / "out.json"),
        ("chat", "--offline"),
        ("store", "check", store),
        ("store", "forget", store, "acme", "--yes"),
        ("store", "check", file),
    ):
        probe.attempt(
            CliRunner().invoke, app, [*map(str, arguments)], input=f"{MARK}\n{MARK}?\n", catch_exceptions=False
        )


BROKEN = [text.replace("MARK", MARK) for text in rows("text_in_telemetry", "broken")[0]]
"""Files that are no conversation, though they hold text of one."""


def files(script: str, probe: Probe, folder: Path) -> None:
    from gatekeeper_core import read_messages

    for broken in BROKEN:
        probe.attempt(read_conversation, BytesIO(broken.encode()), name="chat.json")
        probe.attempt(lambda text: read_messages(json.loads(text)), broken)


def holding(texts: Iterable[str]) -> list[str]:
    """Return the texts that hold the mark or a part of it, also escaped."""
    parts = (MARK[:3], MARK[-1], json.dumps(MARK[-1])[1:-1])
    return [text for text in texts if any(part in text.casefold() for part in parts)]


@pytest.mark.parametrize("script", TALKS)
@pytest.mark.parametrize("work", [middleware, runnables, llama_index, commands, files])
def test_no_word_of_a_conversation_is_told_by_adapters_that_work_or_fail(
    work: Callable[[str, Probe, Path], None], script: str, tmp_path: Path, events: list[Any]
) -> None:
    probe, out, watching = Probe(), collector(), Watching()
    add_observer(watching)
    try:
        with (
            everything_told() as records,
            instrument(tracer_provider=out.tracer_provider, meter_provider=out.meter_provider, conversation_ids=True),
        ):
            work(script, probe, tmp_path)
    finally:
        remove_observer(watching)
    data = out.reader.get_metrics_data()
    everything = {
        "records": [f"{record.getMessage()} {vars(record)}" for record in records],
        "stages": [repr(each) for each in watching.seen],
        "spans": [f"{span.to_json()} {span.events} {span.status.description}" for span in out.spans()],
        "metrics": [repr(data)],
        "callbacks": [repr(each) for each in probe.callbacks.events],
        "events": [repr(each) for each in events],
        "errors": probe.errors,
    }
    assert {kind: leaks for kind, texts in everything.items() if (leaks := holding(texts))} == {}
    assert probe.errors or records
