"""The playground in Python: reads a conversation, and answers a question with the page that explains what is kept.

It runs in the browser, in a web worker. Requests and answers are JSON; bytes of a file come beside them.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gatekeeper_cli.costs import PriceList
from gatekeeper_cli.explanation import shown_dollars, without_current
from gatekeeper_cli.html.pages import explanation_page
from gatekeeper_cli.texts import Language, Texts, visible
from gatekeeper_core.errors import GatekeeperError
from gatekeeper_core.pricing.cache import PromptCache, Request, charge
from gatekeeper_core.pricing.prices import UNKNOWN, prices_of_model
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_formats import AmbiguousConversationError, read_conversation

if TYPE_CHECKING:
    from gatekeeper_core.messages import Turn
    from gatekeeper_core.pricing.prices import ModelPrices

Strategy = Literal["gate", "fill"]
STRATEGIES: tuple[Strategy, ...] = ("gate", "fill")
EXAMPLES = Path(__file__).with_name("examples")


class Playground:
    """One conversation at a time, and questions about it."""

    def __init__(self) -> None:
        self._turns: tuple[Turn, ...] = ()
        self._name = ""
        # Kept from question to question: indexing a long chat takes longer than choosing from it.
        self._gatekeepers = {name: ContextGatekeeper(config=GatekeeperConfig(strategy=name)) for name in STRATEGIES}

    def respond(self, request: str, content: bytes = b"") -> str:
        """Return the answer to a request: ``{"call": "example" | "read" | "ask", ...}`` with its arguments.

        What the library refuses comes back as ``{"error": text}``, a file of many conversations as ``{"choose": ...}``.
        """
        arguments = json.loads(request)
        call = arguments.pop("call")
        try:
            if call == "example":
                answer = {"text": (EXAMPLES / arguments["file"]).read_text(encoding="utf-8")}
            elif call == "read":
                answer = self._read(content, **arguments)
            else:
                answer = self._ask(**arguments)
        except AmbiguousConversationError as error:
            numbers = {str(heading.number): visible(str(heading)) for heading in error.headings}
            answer = {"error": visible(str(error)), "choose": numbers}
        except GatekeeperError as error:
            answer = {"error": visible(str(error))}
        return json.dumps(answer)

    def _read(self, content: bytes, *, name: str, form: str, conversation: str, language: str) -> dict[str, Any]:
        texts = Texts(Language(language))
        read = read_conversation(io.BytesIO(content), form=form or None, conversation=conversation or None, name=name)
        self._turns, self._name = read.turns, name
        tariff = PriceList().tariff(read.usage)
        notes = [texts("left_out", counts=texts.counted(read.left_out, "left_out"))] if read.left_out else []
        if read.repeated_speakers:
            notes.append(texts("repeated_speakers", count=read.repeated_speakers))
        return {
            "form": read.form,
            "turns": len(read.turns),
            "notes": notes,
            "model": tariff.model if tariff else "",
        }

    def _ask(self, *, query: str, budget: int, strategy: Strategy, model: str, language: str) -> dict[str, Any]:
        turns = without_current(self._turns, query=query)
        gatekeeper = self._gatekeepers[strategy]
        gatekeeper.sync(turns)
        selection = gatekeeper.explain(query, token_budget=budget)
        texts = Texts(Language(language))
        saved = selection.history_tokens - selection.tokens
        prices = prices_of_model(model) or UNKNOWN
        return {
            "page": explanation_page(selection, turns, decision=None, name=self._name, texts=texts),
            "selected": _costs(selection.tokens, prices)[:2],
            "whole": _costs(selection.history_tokens, prices),
            "saved": texts.percent(saved, selection.history_tokens),
        }


def _costs(tokens: int, prices: ModelPrices) -> list[str]:
    """Return tokens, what they cost to read, and what they cost where a prompt cache holds all of them."""
    request = Request([(b"history", tokens)], marks=[0])
    _, cache = charge(PromptCache(), request, now=0.0, prices=prices)
    again, _ = charge(cache, request, now=0.0, prices=prices)
    return [f"{tokens:,}", *(shown_dollars(prices.dollars(usage)) for usage in (Usage(tokens, 0), again))]
