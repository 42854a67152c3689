"""The request that a history is selected for: the question, the tokens beside the messages, and the model's limits."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatekeeper_core.pricing.prices import ModelPrices
    from gatekeeper_core.text import Locale


@dataclass(frozen=True, slots=True)
class PromptOverhead:
    """The part of the fixed tokens that may move or change from question to question.

    Attributes:
        before_tokens: before the past turns, after the part that stays.
        after_tokens: after the past turns; may change at the next question.
        unsent_tokens: reserved, not sent.
        summary_tokens: part of ``before_tokens`` or ``after_tokens``: a summary that is sent only if turns are dropped.
        before_digest: identifies everything before the past turns, except a summary.
        summary_digest: identifies a summary before the past turns; "" if it comes after them.
    """

    before_tokens: int = 0
    after_tokens: int = 0
    unsent_tokens: int = 0
    summary_tokens: int = 0
    before_digest: str = ""
    summary_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRequest:
    """The parts of a model call that are not in the messages.

    Attributes:
        query: the question; None: the last user message.
        fixed_tokens: tokens sent in addition to the messages; ``reserve_tokens`` is added.
        overhead: the part of ``fixed_tokens`` that may move or change.
        window_tokens: context window of the model, used if no budget is set; None: unknown.
        prices: prices of the model; default to those of the settings, else ``UNKNOWN``.
        notes: positions of messages that are always kept and do not count as questions.
        all_past: whether every turn is past, even if the last one holds the query: the caller sends it separately.
        provider_messages: number of messages at the beginning that the provider stores.
        window_from: with the strategy ``window`` the position of the first message that may be kept.
        can_recall: whether earlier turns may be sent inside the question: False if the caller rewrites it.
        locale: language of the placeholder of folded rounds; None: that of the question.
        cut_results: whether to cut results and fold all rounds but the last, as a last resort; False if the caller
            does.
    """

    query: str | None = None
    fixed_tokens: int = 0
    overhead: PromptOverhead = PromptOverhead()
    window_tokens: int | None = None
    prices: ModelPrices | None = None
    notes: Collection[int] = ()
    all_past: bool = False
    provider_messages: int = 0
    window_from: int = 0
    can_recall: bool = True
    locale: Locale | None = None
    cut_results: bool = True
