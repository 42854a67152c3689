"""What conversations cost on a server that keeps prefixes as the providers do, and what the library says they cost.

The oracle is the server: it measures what reaches it, by rules of its own. Beside each conversation with the gatekeeper
the same one is billed without it, everything sent and the cache used as well as it can be.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

if os.environ.get("GATEKEEPER_FORBID_SKIPS") != "1":
    for package in ("langchain_anthropic", "langchain_openai", "llama_index.llms.openai"):
        pytest.importorskip(package, reason=f"no {package}: pip install --group test-providers")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.utils import get_tokenizer
from llama_index.llms.openai import OpenAI

from gatekeeper_core import HistoryConfig, TokenEstimator
from gatekeeper_core.pricing.prices import UNKNOWN, ModelPrices, prices_of_model
from gatekeeper_core.pricing.usage import Usage, read_usage
from gatekeeper_core.storage.sqlite import SQLiteStore
from langchain_gatekeeper import GatekeeperMiddleware
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBuffer
from tests.adapters.bills import GPT, LANGUAGES, MODELS, Agents, dollars, talk_in, tool_of
from tests.caching_server import CachingServer, Reported
from tests.native_lists import CHAT, Asked, script_of

pytestmark = pytest.mark.adapters

TURNS = 60
MOST = 1.02
"""Times the bill of everything sent, at every call from the fourth on."""
WITHIN = 0.02
"""How far the account may be from the bill."""

each_model = pytest.mark.parametrize("model", MODELS)
each_language = pytest.mark.parametrize("language", LANGUAGES)


def estimated(text: str) -> int:
    return TokenEstimator()(text)


def counted_otherwise(text: str) -> int:
    """Return the tokens of a tokenizer that is not ours: a quarter more."""
    return -(-5 * estimated(text) // 4)


class Weather(NamedTuple):
    """What happens to the caches of a conversation.

    Attributes:
        cold: the share of turns before which so much time passes that everything is gone.
        dropped: the share of turns before which the server drops everything, though nobody could know.
    """

    cold: float = 0.0
    dropped: float = 0.0

    def pass_over(self, server: CachingServer, turns: Sequence[Asked]) -> Iterator[Asked]:
        """Yield turn after turn, each a while after the one before."""
        chance = random.Random(f"{self}")
        for turn in turns:
            server.wait(1000 if chance.random() < self.cold else 20)
            if chance.random() < self.dropped:
                server.forget()
            yield turn


WARM, COLD, DROPPED = Weather(), Weather(cold=0.3), Weather(dropped=0.1)
each_weather = pytest.mark.parametrize("weather", [WARM, COLD, DROPPED], ids=["warm", "cold", "dropped"])


class Run(NamedTuple):
    """A conversation that was billed.

    Attributes:
        reported: what the server reported for each call.
        bodies: what it was sent.
        accounts: what the library said that the thread had cost, after each turn, in dollars.
    """

    reported: tuple[Reported, ...]
    bodies: tuple[str, ...]
    accounts: tuple[float, ...] = ()


def prices_for(model: str) -> ModelPrices:
    return prices_of_model(MODELS[model].name) or UNKNOWN


def gate_on(server: CachingServer, **options: Any) -> GatekeeperMiddleware:
    """Return a middleware that goes by the clock of the server."""
    gate = GatekeeperMiddleware(HistoryConfig(on_error="raise"), **options)
    gate._selected.selector._clock = lambda: server.now
    return gate


@cache
def everything(
    model: str, language: str, weather: Weather, count: Callable[[str], int] = estimated, system_parts: int = 12
) -> Run:
    """Return the conversation without the gatekeeper."""
    talk = talk_in(language, turns=TURNS)
    with CachingServer(count=count) as server:
        ask = Agents(server, MODELS[model], language, talk, system_parts=system_parts).open(*MODELS[model].caching())
        for turn in weather.pass_over(server, talk):
            ask(turn)
        return ended(server)


@cache
def gated(
    model: str, language: str, weather: Weather, count: Callable[[str], int] = estimated, system_parts: int = 12
) -> Run:
    """Return it with one middleware from the first turn to the last."""
    talk, accounts = talk_in(language, turns=TURNS), []
    with CachingServer(count=count) as server:
        gate = gate_on(server)
        ask = Agents(server, MODELS[model], language, talk, system_parts=system_parts).open(gate)
        for turn in weather.pass_over(server, talk):
            ask(turn)
            accounts.append(paid_by(gate))
        return ended(server, accounts)


def paid_by(gate: GatekeeperMiddleware) -> float:
    view = gate.last_selection
    assert view is not None
    assert view.bill is not None
    return view.bill.paid


def ended(server: CachingServer, accounts: Sequence[float] = ()) -> Run:
    assert server.refused == []
    assert server.unsaid == 0
    return Run(tuple(server.reported), tuple(server.bodies), tuple(accounts))


def check_never_dearer(ours: Run, theirs: Run, prices: ModelPrices) -> None:
    assert len(ours.reported) == len(theirs.reported)
    bills = zip(dollars(ours.reported, prices), dollars(theirs.reported, prices), strict=True)
    ratios = [bill / other for bill, other in bills]
    assert max(ratios[3:]) <= MOST


@each_model
@each_language
@each_weather
def test_no_conversation_is_ever_dearer_than_everything_sent(model: str, language: str, weather: Weather) -> None:
    ours, theirs = gated(model, language, weather), everything(model, language, weather)
    check_never_dearer(ours, theirs, prices_for(model))
    assert dollars(ours.reported, prices_for(model))[-1] < dollars(theirs.reported, prices_for(model))[-1]


@each_model
@each_language
@each_weather
def test_the_account_is_the_bill(model: str, language: str, weather: Weather) -> None:
    run = gated(model, language, weather)
    assert run.accounts[-1] == pytest.approx(dollars(run.reported, prices_for(model))[-1], rel=WITHIN)


@each_model
def test_what_is_reported_puts_the_account_right_where_tokens_are_counted_otherwise(model: str) -> None:
    run = gated(model, "mixed", WARM, counted_otherwise)
    assert run.accounts[-1] == pytest.approx(dollars(run.reported, prices_for(model))[-1], rel=WITHIN)
    check_never_dearer(run, everything(model, "mixed", WARM, counted_otherwise), prices_for(model))


@each_model
def test_a_long_system_message_is_paid_for_as_it_is_without_the_gatekeeper(model: str) -> None:
    run = gated(model, "english", WARM, system_parts=160)
    assert run.accounts[-1] == pytest.approx(dollars(run.reported, prices_for(model))[-1], rel=WITHIN)
    check_never_dearer(run, everything(model, "english", WARM, system_parts=160), prices_for(model))


@each_model
def test_a_crash_between_two_turns_costs_one_cold_call(model: str) -> None:
    language, prices = "mixed", prices_for(model)
    talk = talk_in(language, turns=TURNS)
    for crash in (TURNS // 3, TURNS - 10):
        with CachingServer(count=estimated) as server:
            agents = Agents(server, MODELS[model], language, talk)
            ask = agents.open(gate_on(server))
            for at, turn in enumerate(WARM.pass_over(server, talk)):
                if at == crash:
                    before = len(server.reported)
                    ask = agents.open(gate_on(server))
                ask(turn)
            run = ended(server)
        whole, theirs = gated(model, language, WARM), everything(model, language, WARM)
        cold = theirs.reported[before].input_tokens * prices.cache_write / 1_000_000
        assert run.bodies[:before] == whole.bodies[:before]
        assert dollars(run.reported, prices)[-1] <= dollars(whole.reported, prices)[-1] + cold
        check_never_dearer(run, theirs, prices)


@each_model
def test_the_client_says_what_the_server_reported(model: str) -> None:
    talk = talk_in("english", turns=6)
    with CachingServer(count=estimated) as server:
        agents = Agents(server, MODELS[model], "english", talk)
        ask = agents.open(*MODELS[model].caching())
        for turn in talk:
            ask(turn)
        said = [message.usage_metadata for message in agents.messages if message.type == "ai"]
    read, written = [*map(read_usage, said)], {one.written_tokens for one in server.reported}
    assert read == [Usage(one.input_tokens, one.output_tokens, *one[1:3]) for one in server.reported]
    assert read[-1] is not None
    assert read[-1].cached_tokens > 0
    assert (len(written) > 1) == (model == "ChatAnthropic")


# --- several workers


@each_model
def test_two_workers_in_turn_send_what_one_would_have_sent(model: str, tmp_path: Path) -> None:
    talk = talk_in("chinese", turns=TURNS)
    with CachingServer(count=estimated) as server, ExitStack() as stack:
        agents = Agents(server, MODELS[model], "chinese", talk)
        stores = [stack.enter_context(closing(SQLiteStore(tmp_path / "states.db"))) for _ in range(2)]
        gates = [gate_on(server, states=store) for store in stores]
        workers = [agents.open(gate) for gate in gates]
        for at, turn in enumerate(WARM.pass_over(server, talk)):
            workers[at % 2](turn)
        run = ended(server, [paid_by(gates[at % 2])])
    alone = gated(model, "chinese", WARM)
    assert run.bodies == alone.bodies
    assert run.accounts[-1] == alone.accounts[-1]


@each_model
def test_a_worker_that_takes_over_goes_on_with_what_was_stored(model: str, tmp_path: Path) -> None:
    talk = talk_in("english", turns=TURNS)
    with CachingServer(count=estimated) as server:
        agents = Agents(server, MODELS[model], "english", talk)
        for at, turn in enumerate(WARM.pass_over(server, talk)):
            if at % 7 == 0:  # the process of before is gone
                store = SQLiteStore(tmp_path / "states.db")
                gate = gate_on(server, states=store)
                ask = agents.open(gate)
            ask(turn)
        run = ended(server, [paid_by(gate)])
    alone = gated(model, "english", WARM)
    assert (run.bodies, run.accounts[-1]) == (alone.bodies, alone.accounts[-1])


# --- marks


# --- LlamaIndex


def tokenized(text: str) -> int:
    return len(get_tokenizer()(text))


def stock() -> ChatMemoryBuffer:
    """Return a memory that gives everything."""
    return ChatMemoryBuffer.from_defaults(token_limit=1_000_000)


def buffer() -> GatekeeperMemoryBuffer:
    config = HistoryConfig(on_error="raise", token_budget=96_000, prices=prices_for("ChatOpenAI"))
    return GatekeeperMemoryBuffer.from_defaults(config=config)


def memory() -> GatekeeperMemory:
    config = HistoryConfig(on_error="raise", token_budget=96_000, prices=prices_for("ChatOpenAI"))
    return GatekeeperMemory.from_defaults(config=config)


Ask = Callable[[Asked], None]


def chat(llm: OpenAI, memory: Any, system: str, talk: Sequence[Asked]) -> Ask:
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


@pytest.mark.parametrize("made", [buffer, memory])
@pytest.mark.parametrize("opened", [chat, agent])
@each_language
def test_a_memory_of_llama_index_is_never_dearer_and_accounts_for_it(
    opened: Callable[..., Ask], made: Callable[[], Any], language: str
) -> None:
    talk = talk_in(language, turns=TURNS)
    if opened is chat:
        talk = [turn._replace(rounds=()) for turn in talk]
    runs = []
    for remembers in (made(), stock()):
        with CachingServer(count=tokenized) as server:
            server.begin(CHAT, [], script_of(talk))
            llm = OpenAI(model=GPT, api_base=f"{server.url}/v1", api_key="secret", max_retries=0)
            ask = opened(llm, remembers, LANGUAGES[language].system * 12, talk)
            for turn in talk:
                ask(turn)
            runs.append(ended(server))
    prices = prices_for("ChatOpenAI")
    check_never_dearer(*runs, prices)
