"""What conversations cost on a server that keeps prefixes as the providers do, and what the library says they cost.

The oracle is the server: it measures what reaches it, by rules of its own. Beside each conversation with the gatekeeper
the same one is billed without it, everything sent and the cache used as well as it can be.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

if os.environ.get("GATEKEEPER_FORBID_SKIPS") != "1":
    for package in ("langchain_anthropic", "langchain_openai", "llama_index.llms.openai"):
        pytest.importorskip(package, reason=f"no {package}: pip install --group test-providers")

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware
from langchain_core.messages import AIMessage

from gatekeeper_core import HistoryConfig, TokenEstimator
from gatekeeper_core.pricing.policy import CallBill
from gatekeeper_core.pricing.prices import UNKNOWN, ModelPrices, prices_of_model
from gatekeeper_core.pricing.usage import Usage, read_usage
from langchain_gatekeeper import GatekeeperMiddleware, delay_edits
from tests.adapters.bills import MODELS, Agents, dollars, talk_in
from tests.caching_server import CachingServer
from tests.native_lists import NativeTurn

pytestmark = pytest.mark.adapters

TURNS = 24
MOST = 1.02
"""Times the bill of everything sent, at every call from the fourth on."""
WITHIN = 0.02
"""How far an account may be from the bill."""

each_model = pytest.mark.parametrize("model", MODELS)


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
    """

    model: str
    language: str
    cold: float = 0.0
    dropped: float = 0.0
    count: Callable[[str], int] = estimated
    system_parts: int = 48

    @property
    def prices(self) -> ModelPrices:
        return prices_of_model(MODELS[self.model].name) or UNKNOWN

    @property
    def talk(self) -> list[NativeTurn]:
        return talk_in(self.language, turns=TURNS)

    def agents_on(self, server: CachingServer) -> Agents:
        return Agents(server, MODELS[self.model], self.language, self.talk, system_parts=self.system_parts)

    def turns_on(self, server: CachingServer) -> Iterator[NativeTurn]:
        """Yield turn after turn, each a while after the one before."""
        chance = random.Random(f"{self.language} {self.cold} {self.dropped}")
        for turn in self.talk:
            server.wait(1000 if chance.random() < self.cold else 20)
            if chance.random() < self.dropped:
                server.forget()
            yield turn


@contextmanager
def server_of(case: Case) -> Iterator[CachingServer]:
    """Give a server that refuses nothing in the end, and has said everything."""
    with CachingServer(count=case.count, least=case.prices.min_cached_tokens or 1024) as server:
        yield server
        assert server.refused == []
        assert server.unsaid == 0


def billed(case: Case, *, is_gated: bool) -> tuple[list[float], CallBill | None]:
    """Return the running total of a conversation at the server, and the last bill that the library made out."""
    gate = GatekeeperMiddleware(HistoryConfig(strategy="cache", on_error="raise"))
    with server_of(case) as server:
        gate._selector._clock = lambda: server.now
        ask = case.agents_on(server).open(*([gate] if is_gated else MODELS[case.model].caching()))
        for turn in case.turns_on(server):
            ask(turn)
    view = gate.last_selection
    return dollars(server.reported, case.prices), view.bill if view else None


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
    parts = (case.model, case.language, cold, dropped, case.system_parts)
    return "-".join(str(one) for one in parts if one) + f"-{case.count.__name__}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_no_conversation_is_dearer_than_everything_sent_and_the_account_is_the_bill(case: Case) -> None:
    (paid, bill), (everything, _) = billed(case, is_gated=True), billed(case, is_gated=False)
    assert max(ours - MOST * theirs for ours, theirs in list(zip(paid, everything, strict=True))[3:]) <= 0
    assert bill.paid == pytest.approx(paid[-1], rel=WITHIN)
    assert bill.everything_paid == pytest.approx(everything[-1], rel=WITHIN)


@each_model
def test_what_the_client_says_of_its_usage_is_what_the_server_reported(model: str) -> None:
    case = Case(model, "english")
    with server_of(case) as server:
        agents = case.agents_on(server)
        ask = agents.open(*MODELS[model].caching())
        for turn in case.turns_on(server):
            ask(turn)
    usages = [message.usage_metadata for message in agents.messages if isinstance(message, AIMessage)]
    assert [*map(read_usage, usages)] == [Usage(one[0], one[3], *one[1:3]) for one in server.reported]
    assert min(max(one.cached_tokens for one in server.reported), len(usages)) > 0
    assert any(one.written_tokens for one in server.reported) == case.prices.marked


@each_model
def test_an_editor_costs_less_behind_the_guard_and_no_more_than_none(model: str) -> None:
    case = Case(model, "mixed", cold=0.1)
    editor: Any = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=3_000, keep=2)])
    paid = {}
    for way in ("none", "alone", "guarded"):
        with server_of(case) as server:
            guard = delay_edits(editor, clock=lambda: server.now)
            first = {"none": [], "alone": [editor], "guarded": [guard]}[way]
            ask = case.agents_on(server).open(*first, *MODELS[model].caching())
            for turn in case.turns_on(server):
                ask(turn)
        paid[way] = dollars(server.reported, case.prices)
    assert max(ours - MOST * theirs for ours, theirs in zip(paid["guarded"], paid["none"], strict=True)) <= 0
    assert paid["guarded"][-1] < paid["alone"][-1]
