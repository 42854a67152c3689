"""The requests of an evaluation: their bytes, their maximum cost, and a sender that asks each once.

::

    prompts + settings ──answer_request, judge_request──> Request(bytes) ──Asker──> ledger, or model and then ledger
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Literal, get_args

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.pricing.prices import PRICES, ModelPrices, prices_of_model
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.text import locale_of
from gatekeeper_core.token_estimate import TokenEstimator
from gatekeeper_eval.errors import ModelRefusedError
from gatekeeper_eval.ledger import Entry, Ledger
from gatekeeper_eval.models import Model
from gatekeeper_eval.prompts import Prompts, chat_messages
from gatekeeper_eval.rubric import RUBRIC_VERSION, judge_prompt
from gatekeeper_eval.sampling import TurnId

Side = Literal["whole", "selected"]
Rubric = Literal["auto", "en", "zh"]

_MESSAGE_TOKENS = 4
"""Overhead of a chat message. Source: OpenAI's cookbook on counting tokens, 3 to 4."""

_ANSWER_TOKENS, _JUDGE_TOKENS = 1_024, 512
"""Output limits of an answer and a verdict, unless ``EvalConfig.body`` sets its own. Source: ours."""

_count = TokenEstimator()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalConfig:
    """The request settings of an evaluation.

    Attributes:
        model: name of the model that answers, or a function as ``package.module:function``.
        judge: name of the model that judges; "" means the same.
        rubric: language of the rubric; ``auto`` follows the question.
        body: extra fields of every request; they override ``max_tokens`` and ``temperature: 0``, None removes a field.

    Raises:
        ConfigError: a value is invalid.
    """

    model: str
    judge: str = ""
    rubric: Rubric = "auto"
    body: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise ConfigError("EvalConfig.model must be a model name, got an empty str")
        if self.rubric not in get_args(Rubric):
            raise ConfigError(f'EvalConfig.rubric must be "auto", "en" or "zh", got {self.rubric!r}')
        if reserved := {"model", "messages", "stream"} & self.body.keys():
            raise ConfigError(f"EvalConfig.body must not contain {min(reserved)}: the evaluation sets it")

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values; without ``rubric_version``, ``EvalConfig(**values)`` restores the settings."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**values, "body": dict(self.body), "rubric_version": RUBRIC_VERSION}


class SpendingLimitError(Exception):
    """The next request could cost more than is left of the limit; nothing was sent."""


@dataclass(frozen=True)
class Request:
    """One request; ``part`` is that of its ``Entry``."""

    turn: TurnId
    part: str
    model: str
    body: bytes
    input_tokens: int  # of the messages, estimated
    output_tokens: int  # of the answer, at most
    settings: Mapping[str, Any]  # rebuild it, with the logs: those of the selection and ``EvalConfig.to_dict``

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the body, in hexadecimal."""
        return sha256(self.body).hexdigest()

    @property
    def most(self) -> Usage:
        """Estimated upper bound of the usage."""
        return Usage(self.input_tokens, self.output_tokens, model=self.model)


def answer_request(prompts: Prompts, side: Side, config: EvalConfig) -> Request:
    """Return the request for an answer to one of the two prompts."""
    messages = chat_messages(prompts.whole if side == "whole" else prompts.selected)
    return _request(prompts, side, config.model, messages, _ANSWER_TOKENS, config)


def judge_request(prompts: Prompts, whole: str, selected: str, *, first: Side, config: EvalConfig) -> Request:
    """Return the request for a verdict on the two answers; ``first`` is the side whose answer comes first."""
    turn = prompts.turn
    transcript = []
    for message in chat_messages(turn.messages[: turn.past]):
        functions = [call["function"] for call in message.get("tool_calls", ())]
        calls = "".join(f"\n[{function['name']} {function['arguments']}]" for function in functions)
        transcript.append(f"{message['role']}: {message['content'] or ''}{calls}")
    answers = (whole, selected) if first == "whole" else (selected, whole)
    language = locale_of([turn.question]) if config.rubric == "auto" else config.rubric
    messages = judge_prompt("\n\n".join(transcript), turn.question, answers, language=language)
    model = config.judge or config.model
    return _request(prompts, f"judge_{first}_first", model, messages, _JUDGE_TOKENS, config)


def _request(
    prompts: Prompts, part: str, model: str, messages: list[dict[str, Any]], output_tokens: int, config: EvalConfig
) -> Request:
    body = {"model": model, "messages": messages, "max_tokens": output_tokens, "temperature": 0, **config.body}
    kept = {name: value for name, value in body.items() if value is not None}
    limits = (kept.get(name) for name in ("max_tokens", "max_completion_tokens"))
    output_tokens = min((limit for limit in limits if isinstance(limit, int)), default=output_tokens)
    tokens = sum(_MESSAGE_TOKENS + _count(json.dumps(message, ensure_ascii=False)) for message in messages)
    encoded = json.dumps(kept, ensure_ascii=False).encode("utf-8", "replace")
    settings = {**prompts.settings, **config.to_dict()}
    return Request(prompts.turn.id, part, model, encoded, tokens, output_tokens, settings)


class Asker:
    """A sender that asks each request once, within a dollar limit; thread-safe.

    Args:
        model: model that answers.
        ledger: ledger of all answers.
        prices: prices by prefix of a model's name.
        max_dollars: limit of the total cost, checked against the upper bound of each request; None means no limit.

    Attributes:
        requests_sent: number of requests sent.
        dollars: cost of the requests whose price is known.
    """

    def __init__(
        self,
        model: Model,
        ledger: Ledger,
        *,
        prices: Mapping[str, ModelPrices] = PRICES,
        max_dollars: float | None = None,
    ) -> None:
        self._model, self._ledger, self._prices, self._max_dollars = model, ledger, prices, max_dollars
        self._lock = threading.Lock()
        self._asking: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._reserved = 0.0
        self.requests_sent, self.dollars = 0, 0.0

    def ask(self, request: Request) -> Entry:
        """Return the entry of a request from the ledger, or ask now and write it there; a refusal is an entry, too.

        Raises:
            SpendingLimitError: the request could cost more than is left.
            GatekeeperError: the model cannot answer now.
            LedgerError: the answer could not be written.
        """
        with self._lock:
            asking = self._asking[request.digest]
        with asking:  # the same conversation may be in two files
            if entry := self._ledger.get(request.digest):
                return entry
            prices = prices_of_model(request.model, self._prices)
            most = prices.dollars(request.most) if prices else 0.0
            with self._lock:
                if self._max_dollars is not None and self.dollars + self._reserved + most > self._max_dollars:
                    raise SpendingLimitError
                self._reserved += most
            reply, refused, spent = None, "", 0.0
            try:
                try:
                    reply = self._model.answer(request.body)
                except ModelRefusedError as error:
                    refused = str(error)
                entry = Entry(request.digest, request.turn, request.part, request.settings, reply, refused)
                spent = prices.dollars(usage_of(entry, request)) if prices and reply else 0.0
                self._ledger.add(entry)
            finally:
                with self._lock:
                    self._reserved -= most
                    self.dollars += spent
                    self.requests_sent += 1
            return entry


def usage_of(entry: Entry, request: Request) -> Usage:
    """Return the usage that the model reported, or an estimate; zero for a refused request."""
    if entry.reply is None:
        return Usage(0, 0, model=request.model)
    counted = entry.reply.usage or Usage(request.input_tokens, _count(entry.reply.text))
    return counted._replace(model=request.model)
