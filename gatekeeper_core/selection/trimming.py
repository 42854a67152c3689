"""Sentence trimming: the part of a turn that answers the query.

Only long messages are trimmed. A sentence stays if it shares an anchor with the query, if it stands next to one that
does, or, on the user's side, if it is a question; a fenced block of code is one sentence. Kept sentences are verbatim
and in their order, and a gap is marked. A message in which nothing matches is left whole: its words answer the other
side of the turn. Where even that does not fit, :func:`tight_excerpt` goes further, down to the best sentences.

A turn that came from messages is cut message by message, so that each can be sent as a copy of its original; see
:func:`is_cuttable` for the messages that stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.errors import check_range
from gatekeeper_core.messages import SIGNED
from gatekeeper_core.selection.anchors import MAX_SCANNED_CHARACTERS, count_terms
from gatekeeper_core.selection.cues import ends_with_question
from gatekeeper_core.selection.prefilter import Prefilter
from gatekeeper_core.text import Span, is_question, sentences, split_thinking
from gatekeeper_core.truncation import truncate_to_tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from gatekeeper_core.messages import Message, Turn
    from gatekeeper_core.selection.retrieval import Query
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["Excerpt", "TrimmingConfig", "excerpt", "is_cuttable", "one_side", "tight_excerpt"]

_WORTH_LEAVING = 15
_CODE_FENCES = ("```", "~~~")

_LONGEST_BREAK = 100
"""Characters of white space that are kept between two sentences; more is a gap. Source: ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimmingConfig:
    """When and how turns are trimmed.

    Attributes:
        min_tokens: a message of at most so many tokens is left whole, >= 0. Source: ours; trimming short turns costs
            evidence and saves little.
        max_tokens: what a turn is cut to that is taken for its evidence, >= 1. Source: ours.
        snippet_tokens: what a turn is cut to that tells little of the question, >= 1. Source: ours.
        neighbours: sentences kept on either side of one that matches, >= 0. Source: ours.
        gap: what stands where sentences were left out. Source: ours.
    """

    min_tokens: int = 120
    max_tokens: int = 220
    snippet_tokens: int = 60
    neighbours: int = 1
    gap: str = " … "

    def __post_init__(self) -> None:
        check_range(self, "min_tokens", "neighbours", low=0, whole=True)
        check_range(self, "max_tokens", "snippet_tokens", low=1, whole=True)
        if not isinstance(self.gap, str):
            raise TypeError(f"TrimmingConfig.gap must be a str, got {type(self.gap).__name__}")


class Excerpt(NamedTuple):
    """What would be sent of a turn.

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
        """What both sides cost together, at least 1."""
        return max(1, self.tokens_user + self.tokens_assistant)


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


def excerpt(
    whole: Excerpt, query: Query, *, config: TrimmingConfig, count: TokenCounter, source: Turn | None = None
) -> Excerpt:
    """Return a turn without the sentences of its long messages that have nothing to do with the query.

    Args:
        whole: the turn as it is.
        query: what is looked for.
        config: what counts as long, and how much stays around a match.
        count: the token counter.
        source: the messages that the turn is made of; None: it is a pair of texts.
    """
    if whole.tokens <= config.min_tokens:
        return whole
    if source is not None:
        return _cut_messages(whole, source, _trimmed_messages(whole, source, query, config, count), count)
    user, assistant = whole.user, whole.assistant
    if whole.tokens_user > config.min_tokens:
        user = _trimmed(user, query, config, questions=True)
    if whole.tokens_assistant > config.min_tokens:
        assistant = _trimmed(assistant, query, config, questions=False)
    return _cut(whole, user, assistant, count)


def _trimmed_messages(
    whole: Excerpt, source: Turn, query: Query, config: TrimmingConfig, count: TokenCounter
) -> dict[int, str]:
    """Return, by its place in the turn, the text of each message that is shorter without what does not matter."""
    texts = {}
    for at, message in enumerate(source.messages):
        asked = message.role == "user"
        if (whole.tokens_user if asked else whole.tokens_assistant) <= config.min_tokens or not is_cuttable(message):
            continue
        tokens = count(message.text)
        if tokens > config.min_tokens:
            text = _trimmed(message.text, query, config, questions=asked)
            if text != message.text and count(text) < tokens:
                texts[at] = text
    return texts


def tight_excerpt(
    whole: Excerpt,
    query: Query,
    *,
    budget_tokens: int,
    config: TrimmingConfig,
    count: TokenCounter,
    source: Turn | None = None,
) -> Excerpt | None:
    """Return the best part of a turn that fits a budget, or None where no sentence of it does.

    The user's question comes first, then the sentences that share most of the query's idf, each with its follower as
    far as they fit; where nothing is shared, the beginning of the assistant's text. Whole sentences only, but for a
    text that is one sentence: that is cut at its end and marked.

    Of a turn made of messages, those that may be cut share what the others leave: a short one stays whole, the rest get
    equal parts. Every message keeps some text, so that the turn stays one that a provider takes.

    Args:
        whole: the turn as it is.
        query: what is looked for; a query without anchors takes from the beginning.
        budget_tokens: what the result may cost.
        config: the mark of a gap.
        count: the token counter.
        source: the messages that the turn is made of; None: it is a pair of texts.
    """
    if source is not None:
        return _tight_messages(whole, source, query, budget_tokens, config, count)
    share = budget_tokens // 2 if whole.assistant else budget_tokens
    user = whole.user if whole.tokens_user <= share else _fitted(whole.user, query, share, config, count)
    left = budget_tokens - (whole.tokens_user if user == whole.user else count(user))
    assistant = whole.assistant
    if whole.tokens_assistant > left:
        assistant = _fitted(whole.assistant, query, left, config, count)
    if (not user and not assistant) or (whole.assistant and not assistant):
        return None
    part = _cut(whole, user, assistant, count)
    return part if part.tokens <= budget_tokens else None


def one_side(part: Excerpt, query: Query) -> Excerpt:
    """Return a turn of two people without the side that shares nothing with the query, where that saves 15 tokens.

    The answer to a question stays. Source: ours.

    Args:
        part: the turn, whole or cut.
        query: what is looked for.
    """
    wanted = {term for term in _wanted(query) if len(term) > 1}
    user, assistant = (not wanted.isdisjoint(count_terms(text)) for text in (part.user, part.assistant))
    if assistant and not user and part.tokens_user >= _WORTH_LEAVING:
        return part._replace(user="", tokens_user=0, trimmed=True)
    if user and not assistant and part.tokens_assistant >= _WORTH_LEAVING and not ends_with_question(part.user):
        return part._replace(assistant="", tokens_assistant=0, trimmed=True)
    return part


def _tight_messages(
    whole: Excerpt, source: Turn, query: Query, budget_tokens: int, config: TrimmingConfig, count: TokenCounter
) -> Excerpt | None:
    costs = {at: count(message.text) for at, message in enumerate(source.messages) if is_cuttable(message)}
    left = budget_tokens - whole.tokens + sum(costs.values())
    texts = {}
    for open_ones, at in zip(range(len(costs), 0, -1), sorted(costs, key=lambda at: (costs[at], at)), strict=True):
        text, share = source.messages[at].text, left // open_ones
        if costs[at] > share:
            rest = _fitted(text, query, share, config, count)
            rest = rest or truncate_to_tokens(text, max(0, share), token_counter=count, marker=config.gap.rstrip())
            if not rest.strip():
                return None
            texts[at] = rest
        left -= count(texts.get(at, text))
    part = _cut_messages(whole, source, texts, count)
    return part if part.tokens <= budget_tokens else None


def _cut_messages(whole: Excerpt, source: Turn, texts: Mapping[int, str], count: TokenCounter) -> Excerpt:
    """Return a turn with other texts in some of its messages."""
    if not texts:
        return whole
    messages = list(source.messages)
    saved = {"user": 0, "assistant": 0}
    for at, text in texts.items():
        saved[messages[at].role] += count(messages[at].text) - count(text)
        messages[at] = replace(messages[at], content=text)
    made = source._replace(messages=tuple(messages))
    return Excerpt(
        made.user_text,
        made.assistant_text,
        whole.tokens_user - saved["user"],
        whole.tokens_assistant - saved["assistant"],
        trimmed=True,
        cuts=tuple(sorted(texts.items())),
    )


def _cut(whole: Excerpt, user: str, assistant: str, count: TokenCounter) -> Excerpt:
    """Return a turn with other texts; a side that did not change is not counted again."""
    if (user, assistant) == (whole.user, whole.assistant):
        return whole
    return Excerpt(
        user,
        assistant,
        whole.tokens_user if user == whole.user else count(user),
        whole.tokens_assistant if assistant == whole.assistant else count(assistant),
        trimmed=True,
    )


def _trimmed(text: str, query: Query, config: TrimmingConfig, *, questions: bool) -> str:
    prefilter = Prefilter(text, _wanted(query))
    spans = [] if prefilter.empty else _readable_sentences(text)
    matching = [at for at, span in enumerate(spans) if _matches(text, span, query, prefilter)]
    if not matching:
        return text
    keep = {near for at in matching for near in range(at - config.neighbours, at + config.neighbours + 1)}
    if questions:
        keep.update(at for at, span in enumerate(spans) if is_question(text[span.start : span.stop]))
    return _joined(text, spans, keep, config.gap)


def _readable_sentences(text: str) -> list[Span]:
    """Return the sentences of a text; of one that is longer than what anchors are read from, those of both ends."""
    if len(text) <= MAX_SCANNED_CHARACTERS:
        return sentences(text)
    head = MAX_SCANNED_CHARACTERS * 3 // 4
    offset = len(text) - (MAX_SCANNED_CHARACTERS - head)
    tail = (Span(span.start + offset, span.stop + offset) for span in sentences(text[offset:]))
    return [*sentences(text[:head]), *tail]


def _wanted(query: Query) -> list[str]:
    """Return the terms that a sentence is kept for; single characters do not count by themselves."""
    own = [term for term, idf in query.idf.items() if idf > 0 and (len(term) > 1 or len(query.idf) == 1)]
    return [*own, *(related.term for related in query.related)]


def _matches(text: str, span: Span, query: Query, prefilter: Prefilter) -> bool:
    """Return whether a sentence holds a term that it is kept for."""
    held = prefilter.holds(span)
    return _shared(text, span, query) > 0 if held is None else held


def _shared(text: str, span: Span, query: Query) -> float:
    """Return how much of the query's idf a sentence holds; single characters do not count by themselves.

    A related term counts what it weighs in the score.
    """
    terms = count_terms(text[span.start : span.stop])
    own = sum(idf for term, idf in query.idf.items() if term in terms and (len(term) > 1 or len(query.idf) == 1))
    return own + sum(related.weight for related in query.related if related.term in terms)


def _fitted(text: str, query: Query, budget_tokens: int, config: TrimmingConfig, count: TokenCounter) -> str:
    """Return the sentences of a text that are worth most and fit together, in order; "" where none fits."""
    if budget_tokens < 1 or not text:
        return ""
    spans = _readable_sentences(text)
    if len(spans) < 2:
        return truncate_to_tokens(text, budget_tokens, token_counter=count, marker=config.gap.rstrip())
    prefilter = Prefilter(text, _wanted(query))
    worth = [0.0 if prefilter.holds(span) is False else round(_shared(text, span, query), 6) for span in spans]
    order = sorted(range(len(spans)), key=lambda at: (-worth[at], at))
    keep: list[int] = []
    room = budget_tokens
    for at in order:
        cost = count(text[spans[at].start : spans[at].stop]) + count(config.gap) + 1
        if cost <= room:
            keep.append(at)
            room -= cost
        elif keep:
            break
    joined = _joined(text, spans, set(keep), config.gap)
    while keep and count(joined) > budget_tokens:  # counts of parts need not add up to the count of the whole
        del keep[-1 - len(keep) // 16 :]
        joined = _joined(text, spans, set(keep), config.gap)
    return joined


def _joined(text: str, spans: Sequence[Span], keep: Collection[int], gap: str) -> str:
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
    lead = "" if 0 in keep else gap.lstrip()
    tail = "" if len(spans) - 1 in keep else gap.rstrip()
    return lead + gap.join(pieces) + tail
