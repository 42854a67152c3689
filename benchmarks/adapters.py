"""How often a prompt breaks the rules: the frameworks' own memories beside ours, on the same random histories.

Run ``python -m benchmarks.adapters [--prompts 500] [--json FILE]``. Seeded histories with tool calls, valid for every
provider by construction, are given to each class in two forms: A ends at the current user message, B within the agent's
loop, after calls that are answered or wait. Every class counts with the same tokenizer, and one definition of a
message's cost judges them all. Exit status 1 when one of ours breaks a rule. What a call takes is measured by
``benchmarks.speed_adapters``.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import warnings
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple, cast

from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    ModelRequest,
    ModelResponse,
    SummarizationMiddleware,
)
from langchain_classic.memory import ConversationBufferWindowMemory, ConversationTokenBufferMemory
from langchain_core._api import LangChainDeprecationWarning
from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    convert_to_messages,
    convert_to_openai_messages,
    trim_messages,
)
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from sqlalchemy.ext.asyncio import create_async_engine

from benchmarks.corpus import GeneratedTurn, generate_turns
from benchmarks.report import SEED, Row, options, report
from gatekeeper_core import Message, ToolCall, read_messages
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.messages import validate_messages
from gatekeeper_core.tokens import count_messages
from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware, select_messages
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer

BUDGETS = (40, 400)
PROVIDERS = ("openai", "anthropic", "gemini")
_FOLDED = re.compile(r"\[\d+ tool calls? executed,|\[已执行 \d+ 次工具调用")
MEASURES = (*PROVIDERS, "strict", "over", "system lost", "user lost")

_TOKEN = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")


def words(text: str) -> list[str]:
    """Return the tokens of a text: each Chinese character, and each other run of letters, digits and underscores.

    Punctuation is free, so that it does not matter how a framework writes the arguments of a call.

    >>> words('{"city": "Bern"} 你好!')
    ['city', 'Bern', '你', '好']
    """
    return _TOKEN.findall(text)


def count_words(text: str) -> int:
    return len(words(text))


OURS: dict[str, Any] = {"token_counter": count_words, "embedder": None}


def cost(messages: Iterable[Message]) -> int:
    """Return what messages cost, in tokens: texts, and names and arguments of calls."""
    return count_messages(messages, token_counter=count_words)


# --- histories ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """One history and its budget; ``head`` system messages lead, and the current turn begins at ``start``."""

    messages: tuple[Message, ...]
    budget: int
    head: int
    start: int

    @property
    def past(self) -> tuple[Message, ...]:
        """Everything before the current turn."""
        return self.messages[: self.start]

    @property
    def current(self) -> tuple[Message, ...]:
        """The user message to answer, and the steps after it."""
        return self.messages[self.start :]


@cache
def _corpus() -> list[GeneratedTurn]:
    return generate_turns(2000, seed=SEED)


class _Author:
    """Writes one history; its texts come from neighbouring turns of the corpus, so they have topics."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._at = rng.randrange(len(_corpus()) - 20)
        self._calls = 0
        self.messages: list[Message] = []

    def say(self, role: Any, low: int, high: int) -> None:
        """Add a message of so many words."""
        self.messages.append(Message(role, self._text(low, high)))

    def call_tools(self, *, answered: bool = True) -> None:
        """Add one step: calls, and the result of each."""
        rng = self._rng
        calls = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            self._calls += 1
            arguments = json.dumps({"query": self._text(1, 5)}, ensure_ascii=False)
            calls.append(ToolCall(f"call_{self._calls}", rng.choice(("search", "lookup")), arguments))
        text = self._text(2, 8) if rng.random() < 0.3 else ""
        self.messages.append(Message("assistant", text, tool_calls=tuple(calls)))
        for call in calls if answered else ():
            low, high = (60, 150) if rng.random() < 0.2 else (5, 40)
            self.messages.append(Message("tool", self._text(low, high), tool_call_id=call.id))

    def turn(self) -> None:
        self.say("user", 3, 12)
        if self._rng.random() < 0.45:
            for _ in range(self._rng.randint(1, 2)):
                self.call_tools()
        self.say("assistant", 3, 30)
        self._at += 1

    def _text(self, low: int, high: int) -> str:
        turns = [_corpus()[self._at]]
        if self._rng.random() < 0.3:
            turns.append(self._rng.choice(_corpus()))  # from anywhere: as often as not, the other language
        size = -(-self._rng.randint(low, high) // len(turns))
        return " ".join(_cut(turn, size, self._rng) for turn in turns)


def _cut(turn: GeneratedTurn, size: int, rng: random.Random) -> str:
    """Return so many words of a turn, from a random place on."""
    results = words(f"{turn.user} {turn.assistant}")
    at = rng.randrange(len(results))
    some = (results * (2 + size // len(results)))[at : at + size]
    return "".join(word if word[0] > "\u2fff" else f" {word} " for word in some).replace("  ", " ").strip()


def generate_cases(count: int, *, seed: int, open_run: bool) -> list[Case]:
    """Return histories, the same for the same seed; an open run goes on after the question, maybe without results."""
    rng = random.Random(seed)
    return [_case(_Author(rng), rng, open_run) for _ in range(count)]


def _case(author: _Author, rng: random.Random, open_run: bool) -> Case:
    head = rng.choice((0, 0, 1, 1, 2))
    for _ in range(head):
        author.say("system", 3, 15)
    if rng.random() < 0.2:
        author.say("assistant", 3, 8)
    for _ in range(rng.randint(0, 8)):
        author.turn()
    start = len(author.messages)
    author.say("user", 3, 12)
    if open_run:
        waits = rng.random() < 0.3
        for _ in range(rng.randint(0 if waits else 1, 2)):
            author.call_tools()
        if waits:
            author.call_tools(answered=False)
    return Case(tuple(author.messages), rng.randint(*BUDGETS), head, start)


# --- judging --------------------------------------------------------------------------------------------------------


def judge(case: Case, sent: Sequence[Message], *, history_only: bool) -> Broken:
    """Return by measure whether a prompt breaks the rule; None where the measure does not apply.

    A class that holds the past alone gives the history only, and the current turn is put behind it.
    """
    prompt = [*sent, *case.current] if history_only else list(sent)
    broken: Broken = {name: _refused(case, prompt, name) for name in PROVIDERS}
    broken["strict"] = _side_by_side(prompt)
    head = case.messages[: case.head]
    applies = history_only or cost((*head, *case.current)) <= case.budget
    broken["over"] = cost(sent) > case.budget if applies else None
    applies = case.head > 0 and not (history_only and cost(head) > case.budget)
    broken["system lost"] = not _holds(prompt, head[0]) if applies else None
    broken["user lost"] = None if history_only else not _holds(prompt, case.current[0])
    return broken


def _refused(case: Case, prompt: Sequence[Message], provider: str) -> bool | None:
    """Return whether a provider refuses a prompt; None where it refuses the whole history as well."""
    if _violates(case.messages, provider):
        return None
    return all(message.role == "system" for message in prompt) or _violates(prompt, provider)


def _violates(messages: Sequence[Message], provider: str) -> bool:
    if provider == "anthropic":  # the provider's package takes the leading system messages out
        first = next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))
        messages = messages[first:]
    return bool(validate_messages(messages, provider=cast(Any, provider), open_run=True))


def _side_by_side(prompt: Sequence[Message]) -> bool:
    """Return whether two user or two assistant messages stand side by side; the histories hold no such pair.

    A user message that stands for folded rounds is beside the question, as it is specified.
    """
    roles = [message.role for message in prompt if message.role != "system" and not _FOLDED.match(message.text)]
    return any(one == other and one in ("user", "assistant") for one, other in pairwise(roles))


def _holds(prompt: Iterable[Message], expected: Message) -> bool:
    """Return whether a prompt has a message with its words whole; earlier turns may be told before them."""
    words = expected.text
    texts = (message.text for message in prompt if message.role == expected.role)
    return any(text == words or text.endswith(f"\n\n{words}") for text in texts)


Broken = dict[str, bool | None]


def share(broken: Sequence[Broken], name: str) -> str:
    """Return the share of prompts that break a rule, in per cent of those that it applies to; "-" for none."""
    values = [each[name] for each in broken if each[name] is not None]
    return f"{100 * sum(map(bool, values)) / len(values):.1f}" if values else "-"


# --- to the frameworks and back -------------------------------------------------------------------------------------


def to_langchain(messages: Iterable[Message]) -> list[AnyMessage]:
    return cast("list[AnyMessage]", convert_to_messages([message.to_dict(for_provider=True) for message in messages]))


def from_langchain(messages: Iterable[BaseMessage]) -> list[Message]:
    return list(read_messages(convert_to_openai_messages(list(messages))))


def to_llama_index(messages: Iterable[Message]) -> list[ChatMessage]:
    converted = []
    for message in messages:
        blocks: list[Any] = [TextBlock(text=message.text)] if message.text or not message.tool_calls else []
        for call in message.tool_calls:
            arguments = json.loads(call.arguments)
            blocks.append(ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=arguments))
        more = {"tool_call_id": message.tool_call_id} if message.tool_call_id else {}
        converted.append(ChatMessage(role=message.role, blocks=blocks, additional_kwargs=more))
    return converted


def from_llama_index(messages: Iterable[ChatMessage]) -> list[Message]:
    return [
        Message(
            cast(Any, message.role.value),
            message.content or "",
            tool_calls=tuple(
                ToolCall(block.tool_call_id or "", block.tool_name, json.dumps(block.tool_kwargs, ensure_ascii=False))
                for block in message.blocks
                if isinstance(block, ToolCallBlock)
            ),
            tool_call_id=message.additional_kwargs.get("tool_call_id"),
        )
        for message in messages
    ]


# --- the classes ----------------------------------------------------------------------------------------------------


class Subject(NamedTuple):
    """One class with its settings; ``drive`` gives what the model would read, a slow class gets a fifth of them."""

    name: str
    ours: bool
    drive: Callable[[Case], list[Message] | Awaitable[list[Message]]]
    history_only: bool = False
    slow: bool = False


class ScriptedModel(FakeListChatModel):
    """Says what it is given, and counts like everything else here."""

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Any = None) -> int:  # noqa: ARG002
        return langchain_cost(messages)


def scripted_model() -> ScriptedModel:
    """Return a model that writes the same summary each time."""
    return ScriptedModel(
        responses=["The user asked for several things, the assistant looked them up. 用户问了几件事。"]
    )


class CopyingHistory(BaseChatMessageHistory):
    """A history that gives out a new list of new messages each time, as one on a database does."""

    def __init__(self, messages: Iterable[BaseMessage]) -> None:
        self._rows = list(messages)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the base class declares an attribute
        return [message.model_copy(deep=True) for message in self._rows]

    def add_message(self, message: BaseMessage) -> None:
        self._rows.append(message)

    def clear(self) -> None:
        self._rows.clear()


def langchain_cost(messages: Iterable[Any]) -> int:
    return cost(from_langchain(messages))


def trimmed(case: Case, **options: Any) -> list[Message]:
    converted = to_langchain(case.messages)
    return from_langchain(trim_messages(converted, max_tokens=case.budget, token_counter=langchain_cost, **options))


def windowed(case: Case) -> list[Message]:
    history = in_memory(to_langchain(case.past))
    return _loaded(ConversationBufferWindowMemory(k=3, chat_memory=history, return_messages=True), case)


def pruned(case: Case, *, history: Callable[[Sequence[BaseMessage]], BaseChatMessageHistory]) -> list[Message]:
    """Drive ``ConversationTokenBufferMemory``: it prunes when a turn is saved, so the last turn is saved through it."""
    users = [at for at, message in enumerate(case.past) if message.role == "user"]
    memory = ConversationTokenBufferMemory(
        llm=scripted_model(),
        max_token_limit=case.budget,
        chat_memory=history(to_langchain(case.past[: users[-1]] if users else case.past)),
        return_messages=True,
    )
    if users:
        memory.save_context({"input": case.past[users[-1]].text}, {"output": case.past[-1].text})
    return _loaded(memory, case)


def in_memory(messages: Sequence[BaseMessage]) -> BaseChatMessageHistory:
    return InMemoryChatMessageHistory(messages=list(messages))


def _loaded(memory: Any, case: Case) -> list[Message]:
    return from_langchain(memory.load_memory_variables({"input": case.current[0].text})["history"])


def summarized(case: Case) -> list[Message]:
    middleware: Any = SummarizationMiddleware(
        scripted_model(), trigger=("tokens", case.budget), keep=("messages", 6), token_counter=langchain_cost
    )
    converted = to_langchain(case.messages)
    update = middleware.before_model({"messages": converted}, None)
    return from_langchain(update["messages"][1:] if update else converted)  # the first one removes what was there


def wrapped(messages: Sequence[Message], middleware: AgentMiddleware[Any, Any, Any]) -> list[Message]:
    """Return what a model call in a middleware reads of messages."""
    requests: list[list[AnyMessage]] = []

    def handler(request: ModelRequest[Any]) -> ModelResponse[Any]:
        requests.append(request.messages)
        return ModelResponse(result=[AIMessage("done")])

    converted = to_langchain(messages)
    state = cast("Any", {"messages": converted})
    middleware.wrap_model_call(ModelRequest(model=scripted_model(), messages=converted, state=state), handler)
    return from_langchain(requests[0])


def cleared(case: Case) -> list[Message]:
    edit = ClearToolUsesEdit(trigger=case.budget, keep=1)
    return wrapped(case.messages, ContextEditingMiddleware(edits=[edit], token_counter=langchain_cost))


def buffered(case: Case, kind: type[ChatMemoryBuffer], **options: Any) -> list[Message]:
    converted = to_llama_index(case.messages)
    memory = kind.from_defaults(chat_history=converted, token_limit=case.budget, tokenizer_fn=words, **options)
    return from_llama_index(memory.get())


async def remembered(case: Case, kind: type[Memory], store: SQLAlchemyChatStore, **options: Any) -> list[Message]:
    """Drive a ``Memory``; user messages and what follows them come in apart, as agents store them."""
    memory = kind.from_defaults(token_limit=case.budget, tokenizer_fn=words, chat_store=store, **options)
    for _, some in groupby(to_llama_index(case.messages), key=lambda message: message.role == "user"):
        await memory.aput_messages(list(some))
    return from_llama_index(await memory.aget())


def selected(case: Case, config: HistoryConfig) -> list[Message]:
    config = replace(config, token_budget=case.budget)
    return from_langchain(select_messages(to_langchain(case.messages), config, **OURS))


def gated_memory(case: Case, config: HistoryConfig) -> list[Message]:
    history, config = in_memory(to_langchain(case.past)), replace(config, token_budget=case.budget)
    memory = GatekeeperChatMemory(chat_memory=history, return_messages=True, config=config, **OURS)
    return _loaded(memory, case)


def gated_middleware(case: Case, config: HistoryConfig) -> list[Message]:
    config = replace(config, token_budget=case.budget)
    return wrapped(case.messages, GatekeeperMiddleware(config, **OURS))


def subjects(store: SQLAlchemyChatStore) -> list[Subject]:
    """Return the classes, ours after those that they stand in for."""
    human: dict[str, Any] = {"start_on": "human", "include_system": True}
    past = partial(Subject, history_only=True)
    copies = partial(pruned, history=CopyingHistory)
    indexed = partial(remembered, store=store)
    return [
        Subject("trim_messages", False, trimmed),
        Subject("trim_messages, start_on=human, include_system", False, partial(trimmed, **human)),
        *_ours(Subject, "select_messages", selected),
        past("ConversationBufferWindowMemory, k=3", False, windowed),
        past("ConversationTokenBufferMemory, in memory", False, partial(pruned, history=in_memory)),
        past("ConversationTokenBufferMemory, history of copies", False, copies),
        *_ours(past, "GatekeeperChatMemory", gated_memory),
        Subject("SummarizationMiddleware, keep 6 messages", False, summarized),
        Subject("ContextEditingMiddleware, ClearToolUses keep=1", False, cleared),
        *_ours(Subject, "GatekeeperMiddleware", gated_middleware),
        Subject("ChatMemoryBuffer", False, partial(buffered, kind=ChatMemoryBuffer)),
        *_ours(Subject, "GatekeeperMemoryBuffer", buffered, kind=GatekeeperMemoryBuffer, embedder=None),
        Subject("Memory", False, partial(indexed, kind=Memory), slow=True),
        *_ours(partial(Subject, slow=True), "GatekeeperMemory", indexed, kind=GatekeeperMemory, embedder=None),
    ]


def _ours(make: Callable[..., Subject], name: str, drive: Callable[..., Any], **options: Any) -> list[Subject]:
    """Return a class of ours twice: as it comes, and without passing small histories through."""
    config = HistoryConfig(token_budget=None, on_error="raise")
    gated = replace(config, passthrough_below=0)
    return [
        make(name, True, partial(drive, config=config, **options)),
        make(f"{name}, passthrough_below=0", True, partial(drive, config=gated, **options)),
    ]


# --- the rules ------------------------------------------------------------------------------------------------------


async def measure(subject: Subject, cases: Iterable[Case]) -> list[Broken]:
    broken = []
    for case in cases:
        sent = subject.drive(case)
        broken.append(judge(case, sent if isinstance(sent, list) else await sent, history_only=subject.history_only))
    return broken


async def measure_rules(prompts: int) -> dict[Subject, list[list[Broken]]]:
    """Return for each class what its prompts break, by column; the same histories for all."""
    columns = [generate_cases(prompts, seed=SEED, open_run=is_open) for is_open in (False, True)]
    engine = create_async_engine("sqlite+aiosqlite://")
    store = SQLAlchemyChatStore(table_name="benchmark", async_engine=engine)
    results = {}
    try:
        for subject in subjects(store):  # Python 3.10 awaits in no inner comprehension
            most = -(-prompts // 5) if subject.slow else prompts
            results[subject] = [await measure(subject, some[:most]) for some in columns]
    finally:
        await engine.dispose()
    return results


def rule_rows(results: dict[Subject, list[list[Broken]]]) -> list[Row]:
    rows = []
    for subject, columns in results.items():
        row: Row = {"class": subject.name, "whose": "ours" if subject.ours else "stock"}
        row["prompts"] = " / ".join(str(len(column)) for column in columns)
        for name in MEASURES:
            cells = [share(column, name) for column in columns]
            row[name] = "-" if {*cells} == {"-"} else " / ".join(cells)
        rows.append(row)
    return rows


def unclean(results: dict[Subject, list[list[Broken]]]) -> list[str]:
    return [
        subject.name
        for subject, columns in results.items()
        if subject.ours and any(value for column in columns for broken in column for value in broken.values())
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__)
    parser.add_argument("--prompts", type=int, default=500, help="histories in each column")
    chosen = parser.parse_args(arguments)
    with warnings.catch_warnings():
        # The memories that ours replace are deprecated, and so is the class under all of them.
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        results = asyncio.run(measure_rules(chosen.prompts))
    title = "Prompts that break a rule (%), A / B: at the user message / within the agent's loop"
    report(chosen, "adapters", {title: rule_rows(results)})
    failed = unclean(results)
    print("\nours: " + (f"broken by {', '.join(failed)}" if failed else "nothing broken"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
