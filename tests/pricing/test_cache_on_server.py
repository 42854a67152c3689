"""The model of a prompt cache beside a server that keeps prefixes: random prompts cost the same on both."""

from __future__ import annotations

import random
from typing import Any

import pytest

from gatekeeper_core.pricing.cache import PromptCache, Request, charge
from gatekeeper_core.pricing.prices import ModelPrices
from tests.caching_server import CachingServer, anthropic_pieces, chat_prompt
from tests.native_lists import ANTHROPIC, CHAT, EPHEMERAL

MARKED = ModelPrices(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75, marked=True)
AUTOMATIC = ModelPrices(input=2.5, output=10.0, cache_read=1.25, cache_write=2.5, step_tokens=128)
SEEDS = range(60)


def prompts(chance: random.Random) -> list[tuple[float, list[str]]]:
    """Return prompts, and the seconds before each: they grow, are cut, change their end and are begun anew.

    No two texts begin with the same character.
    """
    told, asked, number = list[str](), [], 0
    for _ in range(chance.randint(5, 25)):
        how = chance.choice(("grow", "grow", "grow", "cut", "change", "anew"))
        kept = {"grow": len(told), "cut": chance.randint(0, len(told)), "change": len(told) - 1, "anew": 0}[how]
        told = told[: max(0, kept)]
        for _ in range(chance.choice((1, 2, 2, 9, 25))):
            number += 1
            told.append(chr(0x4E00 + number) + "x" * chance.choice((3, 60, 700)))
        asked.append((chance.choice((0, 10, 10, 200, 300, 301)), [*told]))
    return asked


@pytest.mark.parametrize("prices", [MARKED, AUTOMATIC], ids=["marked", "automatic"])
def test_prefixes_are_found_and_written_as_on_a_server(prices: ModelPrices) -> None:
    found = 0
    with CachingServer(count=len) as server:
        for seed in SEEDS:
            server.forget()
            chance, cache = random.Random(seed), PromptCache()
            for waited, texts in prompts(chance):
                server.wait(waited)
                if prices.marked:
                    blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
                    marks = {chance.randrange(len(blocks)) for _ in range(chance.randint(0, 3))}
                    marks |= {len(blocks) - 1} if chance.random() < 0.8 else set()
                    for at in marks:
                        blocks[at]["cache_control"] = EPHEMERAL
                    native, items = ANTHROPIC, [{"role": "user", "content": blocks}]
                    pieces = [(piece.digest, piece.tokens) for piece in anthropic_pieces({"messages": items}, len)]
                else:
                    native, items, marks = CHAT, [{"role": "user", "content": text} for text in texts], set()
                    pieces = [(said.text.encode(), len(said.text)) for said in chat_prompt({"messages": items})]
                usage, cache = charge(cache, Request(pieces, marks), now=server.now, prices=prices)
                assert server.post(native, items).status == 200
                charged = usage.input_tokens, usage.cached_tokens, usage.cache_written_tokens
                counted = 3 if prices.marked else 2  # an automatic cache reports nothing as written
                assert server.reported[-1][:counted] == charged[:counted], f"seed {seed}"
                found += usage.cached_tokens > 0
    assert found > len(SEEDS)
