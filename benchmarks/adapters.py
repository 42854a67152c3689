"""How often a prompt breaks the rules: the frameworks' own memories beside ours, on the same random histories.

Run ``python -m benchmarks.adapters [--quick] [--prompts 500] [--speed] [--sizes 300,1000] [--json FILE]``. Seeded
histories with tool calls, valid for every provider by construction, are given to each class in two forms: A ends at the
current user message, B within the agent's loop, after calls that are answered or wait. Every class counts with the same
tokenizer, and one definition of a message's cost judges them all. Exit status 1 when one of ours breaks a rule, or
counts a text again that it has counted.

The time of one call is measured on a history of about 60 tokens a message, the classes in turn, so that a noisy machine
is noisy for all. ``--speed`` measures the time alone; ``--quick`` is small enough for each change.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import sys
import time
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import groupby, pairwise
from pathlib import Path
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
    HumanMessage,
    SystemMessage,
    ToolMessage,
    trim_messages,
)
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from llama_index.core.utils import get_tokenizer
from sqlalchemy.ext.asyncio import create_async_engine

from benchmarks.corpus import GeneratedTurn, generate_turns
from benchmarks.report import print_table, write_json
from gatekeeper_core import Message, ToolCall
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.messages import validate_messages
from gatekeeper_core.tokens import count_messages
from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware, GatekeeperSelector, select_messages
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer

SEED = 20_261_121
BUDGETS = (40, 400)
PROVIDERS = ("openai", "anthropic", "gemini")
MEASURES = (*PROVIDERS, "strict", "over", "system lost", "user lost")
COLUMNS = ("A", "B")

_TOKEN = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")


def words(text: str) -> list[str]:
    """Return the tokens of a text: each Chinese character, and each other run of letters, digits and underscores.

    Punctuation is free, so that it does not matter how a framework writes the arguments of a call.

    >>> words('{"city": "Bern"} 你好!')
    ['city', 'Bern', '你', '好']
    """
    return _TOKEN.findall(text)


def count_words(text: str) -> int:
    """Return how many tokens a text has."""
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
        """Add a finished turn."""
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
    found = words(f"{turn.user} {turn.assistant}")
    at = rng.randrange(len(found))
    return _written((found * (2 + size // len(found)))[at : at + size])


def _written(found: Sequence[str]) -> str:
    return "".join(word if word[0] > "\u2fff" else f" {word} " for word in found).replace("  ", " ").strip()


def generate_cases(count: int, *, seed: int, open_run: bool) -> list[Case]:
    """Return so many histories, the same for the same seed.

    Args:
        count: histories.
        seed: of everything drawn.
        open_run: whether the current turn goes on after its user message: one or two steps, the last one possibly
            without results.
    """
    rng = random.Random(seed)
    return [_case(rng, open_run) for _ in range(count)]


def _case(rng: random.Random, open_run: bool) -> Case:
    author = _Author(rng)
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


def judge(case: Case, sent: Sequence[Message], *, history_only: bool) -> dict[str, bool | None]:
    """Return by measure whether a prompt breaks the rule; None where the measure does not apply.

    Args:
        case: the history.
        sent: what the class gave back.
        history_only: whether the class holds the past alone, and the current turn is put behind what it gives.
    """
    prompt = [*sent, *case.current] if history_only else list(sent)
    broken: dict[str, bool | None] = {name: _refused(case, prompt, name) for name in PROVIDERS}
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
    """Return whether two user or two assistant messages stand side by side; the histories hold no such pair."""
    roles = [message.role for message in prompt if message.role != "system"]
    return any(one == other and one in ("user", "assistant") for one, other in pairwise(roles))


def _holds(prompt: Iterable[Message], wanted: Message) -> bool:
    """Return whether a prompt has a message with its words whole; earlier turns may be told before them."""
    words = wanted.text
    texts = (message.text for message in prompt if message.role == wanted.role)
    return any(text == words or text.endswith(f"\n\n{words}") for text in texts)


class Tally:
    """Counts, by measure, the prompts that break it and those that it applies to."""

    def __init__(self) -> None:
        self.prompts = 0
        self._broken: Counter[str] = Counter()
        self._of: Counter[str] = Counter()

    def add(self, broken: dict[str, bool | None]) -> None:
        """Count one prompt."""
        self.prompts += 1
        for name, value in broken.items():
            self._of[name] += value is not None
            self._broken[name] += value is True

    def shares(self) -> dict[str, float | None]:
        """Return the share that breaks each measure, in per cent; None where it applied to no prompt."""
        return {name: 100 * self._broken[name] / self._of[name] if self._of[name] else None for name in MEASURES}

    @property
    def clean(self) -> bool:
        """Whether no prompt broke a rule."""
        return not any(self._broken.values())


# --- to the frameworks and back -------------------------------------------------------------------------------------


def to_langchain(messages: Iterable[Message]) -> list[AnyMessage]:
    """Return LangChain's messages."""
    return [_to_langchain(message) for message in messages]


def _to_langchain(message: Message) -> AnyMessage:
    if message.role == "tool":
        return ToolMessage(message.text, tool_call_id=message.tool_call_id)
    if message.role == "assistant":
        calls = [{"name": call.name, "args": json.loads(call.arguments), "id": call.id} for call in message.tool_calls]
        return AIMessage(message.text, tool_calls=calls)
    return HumanMessage(message.text) if message.role == "user" else SystemMessage(message.text)


_ROLES: dict[str, Any] = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}


def from_langchain(messages: Iterable[BaseMessage]) -> list[Message]:
    """Return the core's messages for LangChain's."""
    return [
        Message(
            _ROLES[message.type],
            str(message.text),
            tool_calls=tuple(
                ToolCall(call["id"] or "", call["name"], json.dumps(call["args"], ensure_ascii=False))
                for call in getattr(message, "tool_calls", ())
            ),
            tool_call_id=getattr(message, "tool_call_id", None),
        )
        for message in messages
    ]


def to_llama_index(messages: Iterable[Message]) -> list[ChatMessage]:
    """Return LlamaIndex's messages."""
    made = []
    for message in messages:
        blocks: list[Any] = [TextBlock(text=message.text)] if message.text or not message.tool_calls else []
        for call in message.tool_calls:
            arguments = json.loads(call.arguments)
            blocks.append(ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=arguments))
        more = {"tool_call_id": message.tool_call_id} if message.tool_call_id else {}
        made.append(ChatMessage(role=message.role, blocks=blocks, additional_kwargs=more))
    return made


def from_llama_index(messages: Iterable[ChatMessage]) -> list[Message]:
    """Return the core's messages for LlamaIndex's."""
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
    """One class with its settings.

    Attributes:
        name: for the table.
        ours: whether it must be clean.
        drive: gives what the model would read of a history.
        history_only: see :func:`judge`.
        slow: whether it gets a fifth of the histories: every message goes through a database.
    """

    name: str
    ours: bool
    drive: Callable[[Case], list[Message] | Awaitable[list[Message]]]
    history_only: bool = False
    slow: bool = False


class ScriptedModel(FakeListChatModel):
    """Says what it is given, and counts like everything else here."""

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Any = None) -> int:  # noqa: ARG002
        """Return what messages cost."""
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
        """The messages, copied."""
        return [message.model_copy(deep=True) for message in self._rows]

    def add_message(self, message: BaseMessage) -> None:
        """Store a message."""
        self._rows.append(message)

    def clear(self) -> None:
        """Forget everything."""
        self._rows.clear()


def langchain_cost(messages: Iterable[Any]) -> int:
    """Return what LangChain's messages cost."""
    return cost(from_langchain(messages))


def trimmed(case: Case, **options: Any) -> list[Message]:
    """Drive ``trim_messages``."""
    given = to_langchain(case.messages)
    return from_langchain(trim_messages(given, max_tokens=case.budget, token_counter=langchain_cost, **options))


def windowed(case: Case) -> list[Message]:
    """Drive ``ConversationBufferWindowMemory``."""
    history = _in_memory(to_langchain(case.past))
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


def _in_memory(messages: Sequence[BaseMessage]) -> BaseChatMessageHistory:
    return InMemoryChatMessageHistory(messages=list(messages))


def _loaded(memory: Any, case: Case) -> list[Message]:
    return from_langchain(memory.load_memory_variables({"input": case.current[0].text})["history"])


def summarized(case: Case) -> list[Message]:
    """Drive ``SummarizationMiddleware`` before a model call."""
    middleware: Any = SummarizationMiddleware(
        scripted_model(), trigger=("tokens", case.budget), keep=("messages", 6), token_counter=langchain_cost
    )
    given = to_langchain(case.messages)
    update = middleware.before_model({"messages": given}, None)
    return from_langchain(update["messages"][1:] if update else given)  # the first one removes what was there


def wrapped(case: Case, middleware: AgentMiddleware[Any, Any, Any]) -> list[Message]:
    """Drive a middleware around a model call."""
    seen: list[list[AnyMessage]] = []

    def handler(request: ModelRequest[Any]) -> ModelResponse[Any]:
        seen.append(request.messages)
        return ModelResponse(result=[AIMessage("done")])

    given = to_langchain(case.messages)
    middleware.wrap_model_call(
        ModelRequest(model=scripted_model(), messages=given, state=cast("Any", {"messages": given})), handler
    )
    return from_langchain(seen[0])


def cleared(case: Case) -> list[Message]:
    """Drive ``ContextEditingMiddleware``."""
    edit = ClearToolUsesEdit(trigger=case.budget, keep=1)
    return wrapped(case, ContextEditingMiddleware(edits=[edit], token_counter=langchain_cost))


def buffered(case: Case, kind: type[ChatMemoryBuffer], **options: Any) -> list[Message]:
    """Drive a ``ChatMemoryBuffer``."""
    given = to_llama_index(case.messages)
    memory = kind.from_defaults(chat_history=given, token_limit=case.budget, tokenizer_fn=words, **options)
    return from_llama_index(memory.get())


async def remembered(case: Case, kind: type[Memory], store: SQLAlchemyChatStore, **options: Any) -> list[Message]:
    """Drive a ``Memory``; user messages and what follows them come in apart, as agents store them."""
    memory = kind.from_defaults(token_limit=case.budget, tokenizer_fn=words, chat_store=store, **options)
    for _, some in groupby(to_llama_index(case.messages), key=lambda message: message.role == "user"):
        await memory.aput_messages(list(some))
    return from_llama_index(await memory.aget())


def selected(case: Case, config: HistoryConfig) -> list[Message]:
    """Drive ``select_messages``."""
    config = replace(config, token_budget=case.budget)
    return from_langchain(select_messages(to_langchain(case.messages), config, **OURS))


def gated_memory(case: Case, config: HistoryConfig) -> list[Message]:
    """Drive ``GatekeeperChatMemory``."""
    memory = GatekeeperChatMemory(
        chat_memory=_in_memory(to_langchain(case.past)),
        return_messages=True,
        config=replace(config, token_budget=case.budget),
        **OURS,
    )
    return _loaded(memory, case)


def gated_middleware(case: Case, config: HistoryConfig) -> list[Message]:
    """Drive ``GatekeeperMiddleware``."""
    return wrapped(case, GatekeeperMiddleware(replace(config, token_budget=case.budget), **OURS))


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
        past("ConversationTokenBufferMemory, in memory", False, partial(pruned, history=_in_memory)),
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


async def measure(subject: Subject, cases: Iterable[Case]) -> Tally:
    """Return the tally of one class."""
    tally = Tally()
    for case in cases:
        sent = subject.drive(case)
        if not isinstance(sent, list):
            sent = await sent
        tally.add(judge(case, sent, history_only=subject.history_only))
    return tally


async def measure_rules(prompts: int, seed: int) -> dict[Subject, dict[str, Tally]]:
    """Return for each class its tally by column; the same histories for all."""
    cases = {name: generate_cases(prompts, seed=seed, open_run=name == "B") for name in COLUMNS}
    engine = create_async_engine("sqlite+aiosqlite://")
    store = SQLAlchemyChatStore(table_name="benchmark", async_engine=engine)
    tallies: dict[Subject, dict[str, Tally]] = {}
    try:
        for subject in subjects(store):
            tallies[subject] = {}
            for name, some in cases.items():
                tallies[subject][name] = await measure(subject, some[: -(-prompts // 5)] if subject.slow else some)
        return tallies
    finally:
        await engine.dispose()


def rule_rows(tallies: dict[Subject, dict[str, Tally]]) -> list[dict[str, Any]]:
    """Return one row for each class, each cell with both columns."""
    rows = []
    for subject, by_column in tallies.items():
        row: dict[str, Any] = {"class": subject.name, "whose": "ours" if subject.ours else "stock"}
        row["prompts"] = _cell([str(tally.prompts) for tally in by_column.values()])
        shares = [tally.shares() for tally in by_column.values()]
        rows.append(row | {name: _cell([_percent(share[name]) for share in shares]) for name in MEASURES})
    return rows


def _cell(values: list[str]) -> str:
    return values[0] if values[0] == values[1] == "-" else " / ".join(values)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1f}"


def unclean(tallies: dict[Subject, dict[str, Tally]]) -> list[str]:
    """Return the names of our classes that broke a rule."""
    return [
        subject.name
        for subject, by_column in tallies.items()
        if subject.ours and not all(tally.clean for tally in by_column.values())
    ]


# --- speed ----------------------------------------------------------------------------------------------------------

TOKEN_LIMIT = 3000
MESSAGE_TOKENS = 60
MAX_NEW_TEXTS = 64
"""Texts that may be counted for one more turn: its messages, and the excerpts of about twenty turns."""

SLOW_FROM = 1000
"""Messages from which the stock buffer is left out: its time grows with the square of the history."""


class CountingTokenizer:
    """LlamaIndex's default tokenizer, which counts its calls."""

    def __init__(self) -> None:
        self.calls = 0
        self._encode = get_tokenizer()

    def __call__(self, text: str) -> list[int]:
        self.calls += 1
        return list(self._encode(text))


class Contender:
    """One class at work on one history.

    Args:
        name: for the table.
        beside: the one of the framework that it stands in for; None for the framework's own.
        tokenizer: the one that it counts with.
        ask: one call, as the model would be asked.
        grow: adds the assistant's answer and the next user message.
        repeats: calls in each round.
    """

    def __init__(
        self,
        name: str,
        beside: str | None,
        tokenizer: CountingTokenizer,
        ask: Callable[[], object],
        grow: Callable[[str, str], None],
        repeats: int = 5,
    ) -> None:
        self.name, self.beside, self.repeats = name, beside, repeats
        self._tokenizer, self._ask, self._grow = tokenizer, ask, grow
        self.times: dict[str, list[float]] = {"first": [], "unchanged": [], "one more turn": []}
        self.calls: Counter[str] = Counter()

    def time(self, step: str, turn: tuple[str, str] | None = None) -> None:
        """Time one call, after one more turn if given; count the tokenizer's calls of both."""
        before = self._tokenizer.calls
        if turn is not None:
            self._grow(*turn)
        begin = time.perf_counter()
        self._ask()
        self.times[step].append(1e3 * (time.perf_counter() - begin))
        self.calls[step] = max(self.calls[step], self._tokenizer.calls - before)

    @property
    def frugal(self) -> bool:
        """Whether it counted nothing twice: no text of an unchanged history, of one more turn what is new.

        New are its two messages and what is cut out of the turns that are sent, whatever the size of the history.
        """
        return self.beside is None or (self.calls["unchanged"] == 0 and self.calls["one more turn"] <= MAX_NEW_TEXTS)


def generate_texts(count: int, *, seed: int) -> list[str]:
    """Return texts of about 60 tokens by LlamaIndex's default tokenizer, with the topics of the corpus."""
    encode = get_tokenizer()
    texts = []
    for turn, after in pairwise(generate_turns(count + 1, seed=seed)):
        found = words(f"{turn.user} {turn.assistant} {after.assistant}")
        tokens = len(encode(_written(found)))
        texts.append(_written(found[: max(1, len(found) * MESSAGE_TOKENS // tokens)]))
    return texts


def _conversation(texts: Sequence[str]) -> list[Message]:
    """Return a system message, turns of two messages, and the user message to answer, for an even count."""
    roles = ("system", *(("user", "assistant") * len(texts))[: len(texts) - 1])
    return [Message(cast(Any, role), text) for role, text in zip(roles, texts, strict=True)]


def _buffer(kind: type[ChatMemoryBuffer], given: Sequence[Message], **options: Any) -> Contender:
    tokenizer, is_stock = CountingTokenizer(), kind is ChatMemoryBuffer
    memory = kind.from_defaults(
        chat_history=to_llama_index(given), token_limit=TOKEN_LIMIT, tokenizer_fn=tokenizer, **options
    )

    def grow(answer: str, question: str) -> None:
        memory.put(ChatMessage(role="assistant", content=answer))
        memory.put(ChatMessage(role="user", content=question))

    beside, repeats = (None, 1) if is_stock else ("ChatMemoryBuffer.get", 5)
    return Contender(f"{kind.__name__}.get", beside, tokenizer, memory.get, grow, repeats)


def _trimmer(given: Sequence[Message]) -> Contender:
    tokenizer, history = CountingTokenizer(), to_langchain(given)

    def ask() -> object:
        return trim_messages(
            history,
            max_tokens=TOKEN_LIMIT,
            token_counter=lambda messages: sum(len(tokenizer(message.text)) for message in messages),
            start_on="human",
            include_system=True,
        )

    return Contender("trim_messages", None, tokenizer, ask, partial(_append, history))


def _selector(given: Sequence[Message]) -> Contender:
    tokenizer, history = CountingTokenizer(), to_langchain(given)
    config = HistoryConfig(token_budget=TOKEN_LIMIT, on_error="raise")
    selector = GatekeeperSelector(config, token_counter=lambda text: len(tokenizer(text)), embedder=None)
    ask = partial(selector.invoke, history)
    return Contender("GatekeeperSelector.invoke", "trim_messages", tokenizer, ask, partial(_append, history))


def _append(history: list[AnyMessage], answer: str, question: str) -> None:
    history += [AIMessage(answer), HumanMessage(question)]


def contenders(given: Sequence[Message]) -> list[Contender]:
    """Return what is timed on a history."""
    stock = [_buffer(ChatMemoryBuffer, given)] if len(given) < SLOW_FROM else []
    config = HistoryConfig(token_budget=None, on_error="raise")
    buffer = _buffer(GatekeeperMemoryBuffer, given, config=config, embedder=None)
    return [*stock, buffer, _trimmer(given), _selector(given)]


def measure_speed(size: int, rounds: int, *, seed: int) -> list[Contender]:
    """Return the contenders after a first call, so many rounds on an unchanged history, and as many with a new turn.

    Args:
        size: messages, an even number.
        rounds: of each kind; in each one every contender has its turn.
        seed: of the texts.
    """
    texts = generate_texts(size + 2 * rounds, seed=seed)
    running = contenders(_conversation(texts[:size]))
    for contender in running:
        contender.time("first")
    for _ in range(rounds):
        for contender in running:
            for _ in range(contender.repeats):
                contender.time("unchanged")
    for turn in zip(texts[size::2], texts[size + 1 :: 2], strict=True):
        for contender in running:
            contender.time("one more turn", turn)
    return running


def speed_rows(size: int, running: Sequence[Contender]) -> list[dict[str, Any]]:
    """Return one row for each contender: medians in milliseconds, calls of the tokenizer, ratio to stock."""
    unchanged = {contender.name: statistics.median(contender.times["unchanged"]) for contender in running}
    rows = []
    for contender in running:
        row: dict[str, Any] = {"call": contender.name, "messages": size}
        row |= {f"{step}, ms": f"{statistics.median(times):.2f}" for step, times in contender.times.items()}
        row["tokenizer calls"] = " / ".join(str(contender.calls[step]) for step in contender.times)
        stock = unchanged.get(contender.beside or "")
        row["unchanged, stock / ours"] = f"{stock / unchanged[contender.name]:.0f}" if stock else "-"
        rows.append(row)
    return rows


# --- the program ----------------------------------------------------------------------------------------------------


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prompts", type=int, default=500, help="histories in each column")
    parser.add_argument("--sizes", type=_sizes, default=(300, 1000), help="messages, even, with commas between")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each timing")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--speed", action="store_true", help="measure the time alone")
    parser.add_argument("--quick", action="store_true", help="few histories, one small size")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables, for a page")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args(arguments)
    if options.quick:
        options.prompts, options.sizes, options.rounds = 25, (60,), 2
    return options


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(int(part) for part in text.split(","))
    if any(size < 2 or size % 2 for size in sizes):
        raise argparse.ArgumentTypeError("sizes must be even, 2 or more")
    return sizes


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, write JSON if asked to; return 1 when one of ours broke a rule or counted twice."""
    options = _options(arguments)
    tables: dict[str, list[dict[str, Any]]] = {}
    with warnings.catch_warnings():
        # The memories that ours stand in for are deprecated, and so is the class under all of them.
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        failed = [] if options.speed else _rules(options, tables)
        failed += _speed(options, tables)
    settings = {"prompts": options.prompts, "sizes": options.sizes, "rounds": options.rounds, "seed": options.seed}
    write_json(options.json, "adapters", settings, tables)
    print("\nours: " + (f"broken by {', '.join(failed)}" if failed else "nothing broken"))
    return 1 if failed else 0


def _rules(options: argparse.Namespace, tables: dict[str, list[dict[str, Any]]]) -> list[str]:
    tallies = asyncio.run(measure_rules(options.prompts, options.seed))
    tables["rules"] = rule_rows(tallies)
    title = "Prompts that break a rule (%), A / B: at the user message / within the agent's loop"
    print_table(title, tables["rules"], markdown=options.markdown)
    return unclean(tallies)


def _speed(options: argparse.Namespace, tables: dict[str, list[dict[str, Any]]]) -> list[str]:
    measure_speed(20, 1, seed=options.seed)  # what is loaded or compiled on the first call of all
    tables["speed"], wasteful = [], []
    for size in options.sizes:
        running = measure_speed(size, options.rounds, seed=options.seed)
        tables["speed"] += speed_rows(size, running)
        wasteful += [f"{contender.name}, {size} messages" for contender in running if not contender.frugal]
    title = f"One call at {TOKEN_LIMIT} tokens, {options.rounds} interleaved rounds, medians; tokenizer calls in each"
    print_table(title, tables["speed"], markdown=options.markdown)
    return wasteful


if __name__ == "__main__":
    sys.exit(main())
