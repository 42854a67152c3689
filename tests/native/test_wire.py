"""Lists of dicts, sent as they are kept to a server that refuses what the provider would refuse."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import get_args

import pytest

from gatekeeper_core import ContextGatekeeper, HistoryConfig, RunConfig, ToolResultCompressor, keep, select_history
from gatekeeper_core.context.history.strategies import Strategy
from tests.native_lists import FORMATS, Call, Native, NativeTurn, Round, talk
from tests.strict_server import HISTORIES, StrictServer

each_format = pytest.mark.parametrize("native", FORMATS, ids=lambda native: native.name)

CALLS = (Call("call_1", "look_up", {"n": 1}, "6380"), Call("call_2", "look_up", {"n": 2}, "6381"))
ROUND = Round("Two tables have it.", "Let me see.", CALLS, cached=True)
TURN = NativeTurn("Which port?", (ROUND,), Round("They differ.", "6380 or 6381."), cached=True)
NEXT = NativeTurn("端口是哪个？", (), None)


@pytest.fixture
def server() -> Iterator[StrictServer]:
    with StrictServer() as running:
        yield running


@each_format
def test_what_is_kept_of_a_list_is_never_refused(native: Native, server: StrictServer) -> None:
    changed = 0
    for seed in range(HISTORIES):
        chance, turns = random.Random(seed), talk(seed)
        items = native.write(turns)
        config = HistoryConfig(
            token_budget=chance.choice((60, 150, 400, 1_500)),
            strategy=chance.choice(get_args(Strategy)),
            passthrough_below=0,
            on_error="raise",
            run=RunConfig(keep_recent_rounds=1, compress_result=ToolResultCompressor()),
        )
        server.begin(native, turns, [])
        sent = keep(items, select_history(items, gatekeeper=ContextGatekeeper(), config=config))
        assert server.post(native, sent).status == 200, f"seed {seed}: {server.refused}"
        changed += sent != items
    assert changed > HISTORIES // 2


FEWER = ROUND._replace(calls=CALLS[1:])
BROKEN = {
    "a result is missing": lambda n: [n.question(TURN), *n.answer(ROUND), *n.results(FEWER)],
    "a call is missing": lambda n: [n.question(TURN), *n.answer(FEWER), *n.results(ROUND)],
    "there is no result": lambda n: [n.question(TURN), *n.answer(ROUND)],
    "there is no call": lambda n: [n.question(TURN), *n.results(ROUND)],
    "results come before their calls": lambda n: [n.question(TURN), *n.results(ROUND), *n.answer(ROUND)],
    "calls stand twice": lambda n: [n.question(TURN), *(n.answer(ROUND) + n.results(ROUND)) * 2],
    "the user does not begin": lambda n: [*n.answer(ROUND), *n.results(ROUND), n.question(NEXT)],
    "a signature is changed": lambda n: [n.question(TURN), *n.answer(ROUND._replace(thought="?")), *n.results(ROUND)],
    "a signature is lost": lambda n: [n.question(TURN), *n.answer(ROUND._replace(thought="")), *n.results(ROUND)],
    "a signature is made up": lambda n: [n.question(TURN), *n.answer(ROUND), *n.results(ROUND), *n.answer(Round("?", "Yes."))],
}  # fmt: skip
NOT_REFUSED = {
    # A call of Gemini's has no id: only its signature and its place tell it from another one.
    ("Gemini contents", "calls stand twice"),
    # Nothing is signed beside an answer in the chat format.
    ("OpenAI chat messages", "a signature is made up"),
}


@each_format
@pytest.mark.parametrize("how", BROKEN)
def test_the_server_refuses(native: Native, how: str, server: StrictServer) -> None:
    server.begin(native, [TURN, NEXT], [])
    posted = server.post(native, BROKEN[how](native))
    expected = 200 if (native.name, how) in NOT_REFUSED else 400
    assert posted.status == expected
    assert bool(server.refused) == (expected == 400)
