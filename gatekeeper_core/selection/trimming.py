"""Sentence trimming: the part of a turn that answers the query.

A turn is cut to a number of tokens. First come the sentences that share most with the query, then the user's questions,
then the sentences next to one that shares something, then the beginning; a fenced code block is one sentence. Kept
sentences are verbatim and in order, and gaps are marked. A turn of messages is cut message by message, so that each can
be sent as a copy of its original; see :func:`is_cuttable` for the messages that stay whole.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from gatekeeper_core.caching import LruCache
from gatekeeper_core.messages import SIGNED, Message, Turn
from gatekeeper_core.selection.anchors import MAX_SCANNED_CHARACTERS, count_terms
from gatekeeper_core.selection.blocks import Block
from gatekeeper_core.selection.cues import ends_with_question
from gatekeeper_core.selection.retrieval import Query
from gatekeeper_core.text import Span, is_question, sentences, split_thinking
from gatekeeper_core.tokens import TokenCounter
from gatekeeper_core.truncation import truncate_to_tokens

GAP = " … "
"""The mark for left-out sentences. Source: ours."""

_WORTH_LEAVING = 15
_SMALLEST_CUT = 40  # or a quarter of a turn of less than 160: less of a turn says nothing

_LONGEST_BREAK = 100  # characters of white space that are kept between two sentences; more is a gap
_CODE_FENCES = ("```", "~~~")

_MAX_TEXTS = 2_048  # whose sentences are cached


class Excerpt(NamedTuple):
    """The part of a turn that would be sent.

    Attributes:
        user: the remaining text of the user.
        assistant: the remaining text of the assistant.
        tokens_user: cost of the user's text.
        tokens_assistant: cost of the assistant's text.
        trimmed: whether anything was left out, even white space.
        cuts: for a turn of messages, the position and the remaining text of each message that was cut.
    """

    user: str
    assistant: str
    tokens_user: int
    tokens_assistant: int
    trimmed: bool = False
    cuts: tuple[tuple[int, str], ...] = ()

    @property
    def tokens(self) -> int:
        """The cost of both sides, at least 1."""
        return self.tokens_user + self.tokens_assistant or 1


def is_cuttable(message: Message) -> bool:
    r"""Return whether sentences of a message may be left out: only of plain text by a user or a model.

    Tool calls and results, media and content in several parts stay whole, and so do messages with code blocks or
    thinking, those with content signed by the provider (``SIGNED``), and those that replace folded ones.

    >>> from gatekeeper_core.messages import Message
    >>> is_cuttable(Message("assistant", "The port is 6380.")), is_cuttable(Message("assistant", "```sh\nls\n```"))
    (True, False)
    """
    text = message.content
    return (
        isinstance(text, str)
        and message.role in ("user", "assistant")
        and not message.tool_calls
        and SIGNED not in message.metadata
        and "synthetic" not in message.metadata
        and not any(fence in text for fence in _CODE_FENCES)
        and not split_thinking(text)[0]
    )


class Sentences:
    """A cache of the sentences of recently cut texts, with their costs, for later queries."""

    def __init__(self, count: TokenCounter) -> None:
        self.count = count
        self._read: LruCache[str, tuple[list[Span], list[int]]] = LruCache(max_entries=_MAX_TEXTS)

    def of(self, text: str) -> tuple[list[Span], list[int]]:
        """Return the sentences of a text (of its ends if it is too long) and the list of their costs, -1 if unknown."""
        read = self._read.get(text)
        if read is None:
            cut = max(0, len(text) - MAX_SCANNED_CHARACTERS)
            head = MAX_SCANNED_CHARACTERS * 3 // 4 if cut else len(text)
            spans = sentences(text[:head])
            spans += [Span(start + head + cut, stop + head + cut) for start, stop in sentences(text[head + cut :])]
            read = spans, [-1] * len(spans)
            self._read.put(text, read)
        return read


class Trimmer:
    """A trimmer that cuts turns to what matters for one query.

    Args:
        query: the query; without anchors, texts are kept from the beginning.
        sentences: cached sentences of texts, and the token counter.
    """

    def __init__(self, query: Query, *, sentences: Sentences) -> None:
        self._counter = sentences.count
        self._count = cache(sentences.count)
        self._sentences = sentences
        alone = len(query.idf) == 1
        query_terms = {term: idf for term, idf in query.idf.items() if idf > 0 and (len(term) > 1 or alone)}
        self._weights = query_terms | {related.term: related.weight for related in query.related}
        self._shared: dict[str, list[float]] = {}

    def tight(self, full: Excerpt, *, budget_tokens: int, source: Turn | None = None) -> Excerpt | None:
        """Return the best part of a turn that fits a budget, or None if no sentence fits.

        The user's side gets at most half of the room. A text of one sentence is cut at its end and marked. In a turn of
        messages, those that may be cut share the room that the others leave: short ones stay whole, the rest get equal
        parts. Every message keeps some text, so that providers accept the turn.
        """
        if source is not None:
            part = self._tight_messages(full, source, budget_tokens)
        else:
            share = budget_tokens // 2 if full.assistant else budget_tokens
            user = full.user if full.tokens_user <= share else self._fitted(full.user, share, questions=True)
            tokens_user = full.tokens_user if user == full.user else self._count(user)
            fits = full.tokens_assistant <= budget_tokens - tokens_user
            assistant = full.assistant if fits else self._fitted(full.assistant, budget_tokens - tokens_user)
            tokens_assistant = full.tokens_assistant if assistant == full.assistant else self._count(assistant)
            if not assistant and (full.assistant or not user):
                return None
            is_cut = (user, assistant) != (full.user, full.assistant)
            part = Excerpt(user, assistant, tokens_user, tokens_assistant, trimmed=True) if is_cut else full
        return part if part is not None and part.tokens <= budget_tokens else None

    def one_side(self, full: Excerpt) -> Excerpt:
        """Return a turn of two people without a side that shares nothing with the query, if that saves 15 tokens.

        The answer to a question stays. Source: ours.
        """
        terms_of_query = {term for term in self._weights if len(term) > 1}
        user, assistant = (not terms_of_query.isdisjoint(count_terms(text)) for text in (full.user, full.assistant))
        if assistant and not user and full.tokens_user >= _WORTH_LEAVING:
            return full._replace(user="", tokens_user=0, trimmed=True)
        if user and not assistant and full.tokens_assistant >= _WORTH_LEAVING and not ends_with_question(full.user):
            return full._replace(assistant="", tokens_assistant=0, trimmed=True)
        return full

    def _tight_messages(self, full: Excerpt, source: Turn, budget_tokens: int) -> Excerpt | None:
        count = self._count
        costs = {at: count(message.text) for at, message in enumerate(source.messages) if is_cuttable(message)}
        remaining = budget_tokens - full.tokens + sum(costs.values())
        texts = {}
        for open_ones, at in zip(range(len(costs), 0, -1), sorted(costs, key=lambda at: (costs[at], at)), strict=True):
            text, share = source.messages[at].text, remaining // open_ones
            if costs[at] > share:
                rest = self._fitted(text, share, questions=source.messages[at].role == "user")
                rest = rest or truncate_to_tokens(text, max(0, share), token_counter=self._counter, marker=GAP.rstrip())
                if not rest.strip():
                    return None
                texts[at] = rest
            remaining -= count(texts.get(at, text))
        if not texts:
            return full
        messages = list(source.messages)
        saved = {"user": 0, "assistant": 0}
        for at, text in texts.items():
            saved[messages[at].role] += costs[at] - count(text)
            messages[at] = replace(messages[at], content=text)
        cut_turn = source._replace(messages=tuple(messages))
        user, assistant = full.tokens_user - saved["user"], full.tokens_assistant - saved["assistant"]
        return Excerpt(cut_turn.user_text, cut_turn.assistant_text, user, assistant, True, tuple(sorted(texts.items())))

    def _fitted(self, text: str, budget_tokens: int, *, questions: bool = False) -> str:
        """Return the sentences that matter most (see the module) and fit together, in order; "" if none fits."""
        if budget_tokens < 1 or not text:
            return ""
        spans, costs = self._sentences.of(text)
        if len(spans) < 2:
            return truncate_to_tokens(text, budget_tokens, token_counter=self._counter, marker=GAP.rstrip())
        worth = self._shared_by_sentence(text)
        beside = {at + step for at, value in enumerate(worth) if value for step in (-1, 1)}

        def rank(at: int) -> tuple[float, bool, bool, int]:
            asks = questions and is_question(text[spans[at].start : spans[at].stop])
            return -worth[at], not asks, at not in beside, at

        keep: list[int] = []
        room = budget_tokens
        for at in sorted(range(len(spans)), key=rank):
            if costs[at] < 0:
                costs[at] = self._counter(text[spans[at].start : spans[at].stop])
            cost = costs[at] + self._count(GAP) + 1
            if cost <= room:
                keep.append(at)
                room -= cost
            elif keep:
                break
        joined = _joined(text, spans, set(keep))
        while keep and self._count(joined) > budget_tokens:  # parts need not add up to the count of the full text
            del keep[-1 - len(keep) // 16 :]
            joined = _joined(text, spans, set(keep))
        return joined

    def _shared_by_sentence(self, text: str) -> list[float]:
        if text not in self._shared:
            with_quantities, shared = any(term[0] in "@#" for term in self._weights), []
            for span in self._sentences.of(text)[0]:
                terms = count_terms(text[span.start : span.stop], with_quantities=with_quantities)
                shared.append(round(math.fsum([weight for term, weight in self._weights.items() if term in terms]), 6))
            self._shared[text] = shared
        return self._shared[text]


def _joined(text: str, spans: Sequence[Span], keep: Collection[int]) -> str:
    """Return the kept sentences, joined by the original text between neighbours, with a mark for each gap."""
    pieces: list[str] = []
    run_start = None
    for at, span in enumerate(spans):
        if at in keep:
            run_start = span.start if run_start is None else run_start
            if at + 1 not in keep or at + 1 == len(spans) or spans[at + 1].start - span.stop > _LONGEST_BREAK:
                pieces.append(text[run_start : span.stop])
                run_start = None
    if not pieces:
        return ""
    lead = "" if 0 in keep else GAP.lstrip()
    tail = "" if len(spans) - 1 in keep else GAP.rstrip()
    return lead + GAP.join(pieces) + tail


class Forms:
    """The forms in which turns can be sent for one query, each built once."""

    def __init__(self, trimmer: Trimmer, blocks: Sequence[Block], *, trim: bool, two_people: bool) -> None:
        self._trimmer = trimmer
        self._blocks = blocks
        self._trim = trim
        self._two_people = two_people
        self._fulls: dict[int, Excerpt] = {}
        self._cuts: dict[tuple[int, int], Excerpt | None] = {}

    def full(self, turn_id: int) -> Excerpt:
        """Return a full turn; between two people, without a side that has nothing to do with the query."""
        if turn_id not in self._fulls:
            block = self._blocks[turn_id]
            full = Excerpt(*block[:4])
            one_sided = self._two_people and self._trim and block.source is None
            self._fulls[turn_id] = self._trimmer.one_side(full) if one_sided else full
        return self._fulls[turn_id]

    def at_most(self, turn_id: int, tokens: int) -> Excerpt:
        """Return the best part of a turn within some tokens, or the full turn if it cannot be cut that far."""
        full, source = self.full(turn_id), self._blocks[turn_id].source
        if full.tokens <= tokens or not self._trim:
            return full
        least = _SMALLEST_CUT if source else max(1, min(_SMALLEST_CUT, full.tokens // 4))
        if tokens < least:
            return full
        if (turn_id, tokens) not in self._cuts:
            self._cuts[turn_id, tokens] = self._trimmer.tight(full, budget_tokens=tokens, source=source)
        return self._cuts[turn_id, tokens] or full
