"""What conversations cost on a server that keeps prefixes as the providers do, and what the library says they cost.

The oracle is the server: it measures what reaches it, by rules of its own. Beside each conversation with the gatekeeper
the same one is billed without it, everything sent and the cache used as well as it can be.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

if os.environ.get("GATEKEEPER_FORBID_SKIPS") != "1":
    for package in ("langchain_anthropic", "langchain_openai", "llama_index.llms.openai"):
        pytest.importorskip(package, reason=f"no {package}: pip install --group test-providers")

from langchain_core.messages import AIMessage
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.utils import get_tokenizer
from llama_index.llms.openai import OpenAI

from gatekeeper_core import GatekeeperConfig, HistoryConfig, TokenEstimator
from gatekeeper_core.pricing.policy import CallBill
from gatekeeper_core.pricing.prices import UNKNOWN, ModelPrices, prices_of_model
from gatekeeper_core.pricing.usage import Usage, read_usage
from gatekeeper_core.storage.base import RecordStore
from gatekeeper_core.storage.sqlite import SQLiteStore
from langchain_gatekeeper import GatekeeperMiddleware
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from tests.adapters.bills import GPT, LANGUAGES, MODELS, Agents, dollars, talk_in, tool_of
from tests.caching_server import CachingServer, Reported
from tests.native_lists import CHAT, Asked, script_of

pytestmark = pytest.mark.adapters

TURNS = 24
MOST = 1.02
"""Times the bill of everything sent, at every call from the fourth on."""
WITHIN = 0.02
"""How far an account may be from the bill."""

each_model = pytest.mark.parametrize("model", MODELS)
each_language = pytest.mark.parametrize("language", LANGUAGES)


def estimated(text: str) -> int:
    return TokenEstimator()(text)


def counted_otherwise(text: str) -> int:
    """Return the tokens of a tokenizer that is not ours: a quarter more."""
    return -(-5 * estimated(text) // 4)


class Case(NamedTuple):
    """A conversation on a server, and what happens to its caches.

    Attributes:
        model: by its name in ``MODELS``.
        language: what is spoken.
        cold: the share of turns before which so much time passes that everything is gone.
        dropped: the share of turns before which the server drops everything, though nobody could know.
        count: the tokens of a text, as the server counts.
        system_parts: the length of the system message, in units of some 25 tokens.
        turns: of the conversation.
        coverage: that the gatekeeper is asked for.
    """

    model: str
    language: str
    cold: float = 0.0
    dropped: float = 0.0
    count: Callable[[str], int] = estimated
    system_parts: int = 48
    turns: int = TURNS
    coverage: float = GatekeeperConfig().coverage

    @property
    def prices(self) -> ModelPrices:
        return prices_of_model(MODELS[self.model].name) or UNKNOWN

    @property
    def talk(self) -> list[Asked]:
        return talk_in(self.language, turns=self.turns)

    def agents_on(self, server: CachingServer) -> Agents:
        return Agents(server, MODELS[self.model], self.language, self.talk, system_parts=self.system_parts)

    def turns_on(self, server: CachingServer) -> Iterator[Asked]:
        """Yield turn after turn, each a while after the one before."""
        chance = random.Random(f"{self.language} {self.cold} {self.dropped}")
        for turn in self.talk:
            server.wait(1000 if chance.random() < self.cold else 20)
            if chance.random() < self.dropped:
                server.forget()
            yield turn


class Run(NamedTuple):
    """A conversation that was billed.

    Attributes:
        reported: what the server reported for each call.
        bodies: what it was sent.
        bill: the last one that the library made out; None: it was not asked.
    """

    reported: tuple[Reported, ...]
    bodies: tuple[str, ...]
    bill: CallBill | None = None


@contextmanager
def server_of(case: Case) -> Iterator[CachingServer]:
    """Give a server that refuses nothing in the end, and has said everything."""
    with CachingServer(count=case.count, least=case.prices.min_cached_tokens or 1024) as server:
        yield server
        assert server.refused == []
        assert server.unsaid == 0


def gate_on(
    server: CachingServer, states: RecordStore | None = None, *, coverage: float = GatekeeperConfig().coverage
) -> GatekeeperMiddleware:
    """Return a middleware that goes by the clock of the server."""
    config = HistoryConfig(strategy="cache", on_error="raise", gatekeeper=GatekeeperConfig(coverage=coverage))
    gate = GatekeeperMiddleware(config, states=states)
    gate._selector._clock = lambda: server.now
    return gate


@cache
def everything(case: Case) -> Run:
    """Return the conversation without the gatekeeper."""
    with server_of(case) as server:
        ask = case.agents_on(server).open(*MODELS[case.model].caching())
        for turn in case.turns_on(server):
            ask(turn)
    return Run(tuple(server.reported), tuple(server.bodies))


@cache
def gated(case: Case) -> Run:
    """Return it with one middleware from the first turn to the last."""
    with server_of(case) as server:
        gate = gate_on(server, coverage=case.coverage)
        ask = case.agents_on(server).open(gate)
        for turn in case.turns_on(server):
            ask(turn)
    return ended(server, gate)


def ended(server: CachingServer, gate: GatekeeperMiddleware) -> Run:
    view = gate.last_selection
    return Run(tuple(server.reported), tuple(server.bodies), view.bill if view else None)


def check_accounts(ours: Run, theirs: Run, prices: ModelPrices) -> None:
    """Check both accounts: of what was paid, and of what everything would have cost."""
    assert ours.bill is not None
    assert ours.bill.paid == pytest.approx(dollars(ours.reported, prices)[-1], rel=WITHIN)
    assert ours.bill.everything_paid == pytest.approx(dollars(theirs.reported, prices)[-1], rel=WITHIN)


def check_never_dearer(ours: Run, theirs: Run, prices: ModelPrices, *, besides: float = 0.0) -> None:
    """Check every prefix of a conversation; ``besides``: dollars that it may cost on top."""
    bills = zip(dollars(ours.reported, prices), dollars(theirs.reported, prices), strict=True)
    over = [paid - MOST * other - besides for paid, other in bills]
    assert max(over[3:]) <= 0


CASES = [
    case
    for model in MODELS
    for case in (
        Case(model, "chinese"),
        Case(model, "mixed"),
        Case(model, "chinese", cold=0.3, dropped=0.1),
        Case(model, "mixed", cold=0.3, dropped=0.1, count=counted_otherwise),
        Case(model, "english", cold=0.3, system_parts=1),
        Case(model, "english", system_parts=160),
    )
]


def name_of(case: Case) -> str:
    cold, dropped = case.cold and "cold", case.dropped and "dropped"
    told = (case.model, case.language, cold, dropped, case.system_parts)
    return "-".join(str(one) for one in told if one) + f"-{case.count.__name__}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_no_conversation_is_dearer_than_everything_sent_and_the_account_is_the_bill(case: Case) -> None:
    ours, theirs = gated(case), everything(case)
    check_never_dearer(ours, theirs, case.prices)
    check_accounts(ours, theirs, case.prices)


def test_a_long_conversation_of_an_agent_costs_a_tenth_less() -> None:
    case = Case("ChatAnthropic", "chinese", turns=80, coverage=0.6)
    ours, theirs = gated(case), everything(case)
    assert dollars(ours.reported, case.prices)[-1] < 0.9 * dollars(theirs.reported, case.prices)[-1]


@each_model
def test_what_the_client_says_of_its_usage_is_what_the_server_reported(model: str) -> None:
    case = Case(model, "english")
    with server_of(case) as server:
        agents = case.agents_on(server)
        ask = agents.open(*MODELS[model].caching())
        for turn in case.turns_on(server):
            ask(turn)
    said = [message.usage_metadata for message in agents.messages if isinstance(message, AIMessage)]
    assert [*map(read_usage, said)] == [Usage(one[0], one[3], *one[1:3]) for one in server.reported]
    assert min(max(one.cached_tokens for one in server.reported), len(said)) > 0
    assert any(one.written_tokens for one in server.reported) == case.prices.marked


# --- several workers


@each_model
@pytest.mark.parametrize("crash", [3, 20])
def test_a_crash_between_two_turns_costs_one_cold_call(model: str, crash: int) -> None:
    case = Case(model, "mixed")
    with server_of(case) as server:
        agents = case.agents_on(server)
        for at, turn in enumerate(case.turns_on(server)):
            if at in (0, crash):
                before = len(server.reported)
                gate = gate_on(server)
                ask = agents.open(gate)
            ask(turn)
    run, whole, theirs = ended(server, gate), gated(case), everything(case)
    cold = theirs.reported[before].input_tokens * case.prices.cache_write / 1_000_000
    assert run.bodies[:before] == whole.bodies[:before]
    assert dollars(run.reported, case.prices)[-1] <= dollars(whole.reported, case.prices)[-1] + cold
    check_never_dearer(run, theirs, case.prices, besides=cold)


@each_model
@pytest.mark.parametrize("workers", ["in turn", "each after the last one's end"])
def test_workers_that_share_states_send_what_one_alone_would_have_sent(
    model: str, workers: str, tmp_path: Path
) -> None:
    case = Case(model, "chinese")
    with server_of(case) as server, ExitStack() as stack:
        agents, opened = case.agents_on(server), list[tuple[GatekeeperMiddleware, Callable[[Asked], None]]]()
        for at, turn in enumerate(case.turns_on(server)):
            if at < 2 or (workers != "in turn" and at % 5 == 0):
                store = stack.enter_context(closing(SQLiteStore(tmp_path / "states.db")))
                gate = gate_on(server, store)
                opened.append((gate, agents.open(gate)))
            gate, ask = opened[at % 2 if workers == "in turn" else -1]
            ask(turn)
    assert ended(server, gate) == gated(case)


# --- marks of others


@pytest.mark.parametrize("theirs_first", [True, False])
def test_beside_a_middleware_that_marks_prompts_nothing_is_refused_or_dearer(theirs_first: bool) -> None:
    case = Case("ChatAnthropic", "english")
    with server_of(case) as server:
        gate = gate_on(server)
        marking = MODELS[case.model].caching()
        ask = case.agents_on(server).open(*([*marking, gate] if theirs_first else [gate, *marking]))
        for turn in case.turns_on(server):
            ask(turn)
    run = ended(server, gate)
    check_never_dearer(run, everything(case), case.prices)
    check_accounts(run, everything(case), case.prices)


# --- LlamaIndex


Ask = Callable[[Asked], None]


def chat(llm: OpenAI, memory: Any, system: str, _talk: Sequence[Asked]) -> Ask:
    """Return what asks one question of a chat engine."""
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt=system)

    def ask(turn: Asked) -> None:
        engine.chat(turn.question)

    return ask


def agent(llm: OpenAI, memory: Any, system: str, talk: Sequence[Asked]) -> Ask:
    """Return what asks one question of an agent with a tool."""
    tools: list[Any] = [FunctionTool.from_defaults(tool_of(talk))]
    worker = FunctionAgent(tools=tools, llm=llm, system_prompt=system, streaming=False)

    async def run(question: str) -> None:
        await worker.run(question, memory=memory)

    def ask(turn: Asked) -> None:
        asyncio.run(run(turn.question))

    return ask


def tokenized(text: str) -> int:
    return len(get_tokenizer()(text))


@cache
def asked_through(opened: Callable[..., Ask], language: str, memory: type | None) -> Run:
    """Return a conversation through LlamaIndex, with a memory of ours or one that gives everything."""
    case = Case("ChatOpenAI", language, count=tokenized, turns=16)
    talk = case.talk if opened is agent else [turn._replace(rounds=()) for turn in case.talk]
    config = HistoryConfig(strategy="cache", on_error="raise", token_budget=96_000, prices=case.prices)
    remembers = memory.from_defaults(config=config) if memory else ChatMemoryBuffer.from_defaults(token_limit=10**6)
    with server_of(case) as server:
        server.begin(CHAT, [], script_of(talk))
        llm = OpenAI(model=GPT, api_base=f"{server.url}/v1", api_key="secret", max_retries=0)
        ask = opened(llm, remembers, LANGUAGES[language].system * case.system_parts, talk)
        for turn in talk:
            ask(turn)
    return Run(tuple(server.reported), tuple(server.bodies), remembers.last_selection.bill if memory else None)


@pytest.mark.parametrize("memory", [GatekeeperMemoryBuffer, GatekeeperMemory])
@pytest.mark.parametrize("opened", [chat, agent])
@each_language
def test_a_memory_of_llama_index_is_never_dearer_than_everything_sent(
    opened: Callable[..., Ask], memory: type, language: str
) -> None:
    """The account is the bill for chat engines; agents tell their memory nothing of system message and tools."""
    ours, theirs = asked_through(opened, language, memory), asked_through(opened, language, None)
    prices = Case("ChatOpenAI", language).prices
    check_never_dearer(ours, theirs, prices)
    if opened is chat:
        check_accounts(ours, theirs, prices)
