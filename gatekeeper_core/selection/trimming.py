"""Sentence trimming: the part of a turn that answers the query.

A turn is cut to a number of tokens. First come the sentences that share most with the query, then on the user's side
its questions, then the sentences beside one that shares something, then the beginning; a fenced block of code is one
sentence. Kept sentences are verbatim and in their order, and a gap is marked.

A turn that came from messages is cut message by message, so that each can be sent as a copy of its original; see
:func:`is_cuttable` for the messages that stay as they are.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.caching import LruCache
from gatekeeper_core.messages import SIGNED
from gatekeeper_core.selection.anchors import MAX_SCANNED_CHARACTERS, terms_in
from gatekeeper_core.selection.cues import ends_with_question
from gatekeeper_core.selection.prefilter import Prefilter
from gatekeeper_core.text import Span, is_question, sentences, split_thinking
from gatekeeper_core.truncation import truncate_to_tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from gatekeeper_core.messages import Message, Turn
    from gatekeeper_core.selection.records import Records
    from gatekeeper_core.selection.retrieval import Query
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["GAP", "Excerpt", "Forms", "Sentences", "Trimmer", "is_cuttable"]

GAP = " … "
"""The mark where sentences were left out. Source: ours."""

_WORTH_LEAVING = 15
_SMALLEST_CUT = 40  # or a quarter of a turn that is shorter than 160: less of a turn says nothing

_LONGEST_BREAK = 100  # characters of white space that are kept between two sentences; more is a gap
_CODE_FENCES = ("```", "~~~")

_MAX_TEXTS = 2_048  # whose sentences are kept


class Excerpt(NamedTuple):
    """The part of a turn that would be sent.

    Attributes:
        user: the user's text, or what is left of it.
        assistant: the assistant's text, or what is left of it.
        tokens_user: what the user's side costs.
        tokens_assistant: what the assistant's side costs.
        trimmed: whether anything was left out, if only white space.
        cuts: of a turn made of messages, for each that was cut its place in the turn and the text that is left of it.
    """

    user: str
    assistant: str
    tokens_user: int
    tokens_assistant: int
    trimmed: bool = False
    cuts: tuple[tuple[int, str], ...] = ()

    @property
    def tokens(self) -> int:
        """The cost of both sides together, at least 1."""
        return self.tokens_user + self.tokens_assistant or 1


def is_cuttable(message: Message) -> bool:
    r"""Return whether sentences of a message may be left out: plain text that a user or a model wrote, and no more.

    Tool calls and results, media and content in several parts stay whole, and so do code blocks, thinking, and messages
    that carry something signed by their provider (the mark ``SIGNED``) or stand for folded ones.

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
    """The sentences of the texts that were cut last, and what each costs, for the queries to come.

    Args:
        count: the token counter.
    """

    def __init__(self, count: TokenCounter) -> None:
        self.count = count
        self._read: LruCache[str, tuple[array[int], list[int]]] = LruCache(max_entries=_MAX_TEXTS)

    @cached_property
    def gap_tokens(self) -> int:
        """The cost of a gap."""
        return self.count(GAP)

    def of(self, text: str) -> tuple[list[Span], list[int]]:
        """Return the sentences of a text, and the list to note in what each costs, -1 where that is not known.

        Of a text that is longer than what anchors are read from, the sentences of both ends.
        """
        read = self._read.get(text)
        if read is None:
            cut = max(0, len(text) - MAX_SCANNED_CHARACTERS)
            head = MAX_SCANNED_CHARACTERS * 3 // 4 if cut else len(text)
            spans = sentences(text[:head])
            spans += [Span(start + head + cut, stop + head + cut) for start, stop in sentences(text[head + cut :])]
            read = array("I", [end for span in spans for end in span]), [-1] * len(spans)
            self._read.put(text, read)
        ends = iter(read[0])
        return list(map(Span, ends, ends)), read[1]


class Trimmer:
    """Cuts turns to what matters for one query; what it has read of a text it remembers.

    Args:
        query: what is looked for; a query without anchors takes from the beginning.
        known: the sentences of texts that were cut before.
    """

    def __init__(self, query: Query, *, known: Sentences) -> None:
        self._counter = known.count
        self._count = cache(known.count)
        self._known = known
        alone = len(query.idf) == 1
        wanted = {term: idf for term, idf in query.idf.items() if idf > 0 and (len(term) > 1 or alone)}
        wanted |= {related.term: related.weight for related in query.related}
        self._wanted = wanted
        self._passage = cache(lambda text: _Passage(text, wanted, known))

    def tight(self, whole: Excerpt, *, budget_tokens: int, source: Turn | None = None) -> Excerpt | None:
        """Return the best part of a turn that fits a budget, or None where no sentence of it does.

        The user's side gets half of the room at most. Of each side the sentences that share most of the query's idf;
        where nothing is shared, the beginning. A text that is one sentence is cut at its end and marked.

        Of a turn made of messages, those that may be cut share what the others leave: a short one stays whole, the rest
        get equal parts. Every message keeps some text, so that the turn stays one that a provider takes.
        """
        if source is not None:
            part = self._tight_messages(whole, source, budget_tokens)
        else:
            share = budget_tokens // 2 if whole.assistant else budget_tokens
            user = whole.user if whole.tokens_user <= share else self._fitted(whole.user, share, questions=True)
            left = budget_tokens - (whole.tokens_user if user == whole.user else self._count(user))
            fits = whole.tokens_assistant <= left
            assistant = whole.assistant if fits else self._fitted(whole.assistant, left, questions=False)
            silent = not assistant and (bool(whole.assistant) or not user)
            part = None if silent else self._cut(whole, user, assistant)
        return part if part is not None and part.tokens <= budget_tokens else None

    def one_side(self, whole: Excerpt) -> Excerpt:
        """Return a turn of two people without the side that shares nothing with the query, where that saves 15 tokens.

        The answer to a question stays. Source: ours.
        """
        wanted = {term for term in self._wanted if len(term) > 1}
        user, assistant = (not wanted.isdisjoint(terms_in(text)) for text in (whole.user, whole.assistant))
        if assistant and not user and whole.tokens_user >= _WORTH_LEAVING:
            return whole._replace(user="", tokens_user=0, trimmed=True)
        if user and not assistant and whole.tokens_assistant >= _WORTH_LEAVING and not ends_with_question(whole.user):
            return whole._replace(assistant="", tokens_assistant=0, trimmed=True)
        return whole

    def _tight_messages(self, whole: Excerpt, source: Turn, budget_tokens: int) -> Excerpt | None:
        count = self._count
        costs = {at: count(message.text) for at, message in enumerate(source.messages) if is_cuttable(message)}
        left = budget_tokens - whole.tokens + sum(costs.values())
        texts = {}
        for open_ones, at in zip(range(len(costs), 0, -1), sorted(costs, key=lambda at: (costs[at], at)), strict=True):
            text, share = source.messages[at].text, left // open_ones
            if costs[at] > share:
                rest = self._fitted(text, share, questions=source.messages[at].role == "user")
                rest = rest or truncate_to_tokens(text, max(0, share), token_counter=self._counter, marker=GAP.rstrip())
                if not rest.strip():
                    return None
                texts[at] = rest
            left -= count(texts.get(at, text))
        return self._cut_messages(whole, source, texts)

    def _cut_messages(self, whole: Excerpt, source: Turn, texts: Mapping[int, str]) -> Excerpt:
        """Return a turn with other texts in some of its messages."""
        if not texts:
            return whole
        messages = list(source.messages)
        saved = {"user": 0, "assistant": 0}
        for at, text in texts.items():
            saved[messages[at].role] += self._count(messages[at].text) - self._count(text)
            messages[at] = replace(messages[at], content=text)
        made = source._replace(messages=tuple(messages))
        user, assistant = whole.tokens_user - saved["user"], whole.tokens_assistant - saved["assistant"]
        return Excerpt(made.user_text, made.assistant_text, user, assistant, True, tuple(sorted(texts.items())))

    def _cut(self, whole: Excerpt, user: str, assistant: str) -> Excerpt:
        """Return a turn with other texts; a side that did not change costs what it cost."""
        if (user, assistant) == (whole.user, whole.assistant):
            return whole
        user_tokens = whole.tokens_user if user == whole.user else self._count(user)
        assistant_tokens = whole.tokens_assistant if assistant == whole.assistant else self._count(assistant)
        return Excerpt(user, assistant, user_tokens, assistant_tokens, trimmed=True)

    def _fitted(self, text: str, budget_tokens: int, *, questions: bool) -> str:
        """Return the sentences of a text that matter most and fit together, in order; "" where none fits.

        First those that share most of the query's idf, then questions (with ``questions``), then the sentences beside
        one that shares something, then the beginning.
        """
        if budget_tokens < 1 or not text:
            return ""
        passage, count = self._passage(text), self._count
        spans = passage.spans
        if len(spans) < 2:
            return truncate_to_tokens(text, budget_tokens, token_counter=self._counter, marker=GAP.rstrip())
        worth = [0.0 if held is False else passage.shared(at) for at, held in enumerate(passage.held)]
        beside = {at + step for at, value in enumerate(worth) if value for step in (-1, 1)}

        def rank(at: int) -> tuple[float, bool, bool, int]:
            asks = questions and is_question(text[spans[at].start : spans[at].stop])
            return -worth[at], not asks, at not in beside, at

        keep: list[int] = []
        room = budget_tokens
        for at in sorted(range(len(spans)), key=rank):
            cost = passage.tokens(at) + self._known.gap_tokens + 1
            if cost <= room:
                keep.append(at)
                room -= cost
            elif keep:
                break
        joined = _joined(text, spans, set(keep))
        while keep and count(joined) > budget_tokens:  # counts of parts need not add up to the count of the whole
            del keep[-1 - len(keep) // 16 :]
            joined = _joined(text, spans, set(keep))
        return joined


class _Passage:
    """A text as one query reads it: its sentences, and what each of them shares with the query.

    Args:
        text: the text.
        wanted: the terms that a sentence is kept for, each with its weight; single characters do not count.
        known: the sentences of texts that were cut before.
    """

    def __init__(self, text: str, wanted: Mapping[str, float], known: Sentences) -> None:
        self._text = text
        self._wanted = wanted
        self._known = known
        self._shares: dict[int, float] = {}

    @cached_property
    def _read(self) -> tuple[list[Span], list[int]]:
        return self._known.of(self._text)

    @property
    def spans(self) -> list[Span]:
        """The sentences; of a text that is longer than what anchors are read from, those of both ends."""
        return self._read[0]

    @cached_property
    def prefilter(self) -> Prefilter:
        """The quick check that rules out sentences without a wanted term."""
        return Prefilter(self._text, self._wanted)

    @cached_property
    def held(self) -> list[bool | None]:
        """Flags by sentence: it has a wanted term; None where only :meth:`shared` can tell."""
        return list(map(self.prefilter.holds, self.spans))

    def shared(self, at: int) -> float:
        """Return what the wanted terms of a sentence weigh together, to six digits."""
        if at not in self._shares:
            terms = terms_in(self._text[self.spans[at].start : self.spans[at].stop])
            self._shares[at] = round(math.fsum(weight for term, weight in self._wanted.items() if term in terms), 6)
        return self._shares[at]

    def tokens(self, at: int) -> int:
        """Return what a sentence costs."""
        spans, costs = self._read
        if costs[at] < 0:
            costs[at] = self._known.count(self._text[spans[at].start : spans[at].stop])
        return costs[at]


def _joined(text: str, spans: Sequence[Span], keep: Collection[int]) -> str:
    """Return the kept sentences with what stood between neighbours, and a mark for each gap."""
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
    """The forms in which the turns of a conversation can be sent for one query, each made once.

    Args:
        trimmer: cuts texts for the query.
        records: the turns.
        trim: whether long turns are cut at all.
        two_people: whether the conversation is one between two named people.
    """

    def __init__(self, trimmer: Trimmer, records: Records, *, trim: bool, two_people: bool) -> None:
        self._trimmer = trimmer
        self._records = records
        self._trim = trim
        self._two_people = two_people
        self._wholes: dict[int, Excerpt] = {}
        self._cuts: dict[tuple[int, int], Excerpt | None] = {}

    def whole(self, turn_id: int) -> Excerpt:
        """Return a turn as it is, of two people without a side that has nothing to do with the query."""
        if turn_id not in self._wholes:
            whole = Excerpt(*self._records[turn_id][:4])
            one_sided = self._two_people and self._trim and self._records.source_of(turn_id) is None
            self._wholes[turn_id] = self._trimmer.one_side(whole) if one_sided else whole
        return self._wholes[turn_id]

    def at_most(self, turn_id: int, tokens: int) -> Excerpt:
        """Return the best of a turn within some tokens, or the whole turn where it cannot be cut so far."""
        whole, source = self.whole(turn_id), self._records.source_of(turn_id)
        if whole.tokens <= tokens or not self._trim:
            return whole
        least = _SMALLEST_CUT if source else max(1, min(_SMALLEST_CUT, whole.tokens // 4))
        if tokens < least:
            return whole
        if (turn_id, tokens) not in self._cuts:
            self._cuts[turn_id, tokens] = self._trimmer.tight(whole, budget_tokens=tokens, source=source)
        return self._cuts[turn_id, tokens] or whole
