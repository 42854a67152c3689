"""A scripted offline model that answers only from what it was sent, which shows what the gatekeeper chose."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple

from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.anchors import count_terms, term_weight
from gatekeeper_core.selection.cues import read_cues
from gatekeeper_core.text import is_han, is_question, sentences

_NOTED = {"Chinese": "好的，记下了。", "English": "Noted."}
_UNKNOWN = {"Chinese": "发给我的内容里没有提到。", "English": "Nothing that I was sent answers this."}
_EMPTY_WORDS = frozenset({*_NOTED.values(), *_UNKNOWN.values()})
_MIN_SHARED_WEIGHT = 1.0  # of shared terms, for a sentence to answer a question: one whole term
_CONTEXT_SHARE = 0.5  # weight of a term that is only in the question that the sentence answered
_MAX_SENTENCES = 2
_PIECE_CHARACTERS = 8


class OfflineModel:
    """The scripted model: deterministic, at no cost."""

    name = "the scripted offline model"

    def answer(self, messages: list[dict[str, str]]) -> Generator[str, None, Usage | None]:
        """Yield the scripted answer in pieces of a few characters; it counts no tokens."""
        text = scripted_answer(messages)
        for start in range(0, len(text), _PIECE_CHARACTERS):
            yield text[start : start + _PIECE_CHARACTERS]
        return None

    def close(self) -> None:
        """Do nothing."""


class _Sentence(NamedTuple):
    """A sentence that was sent, its terms, and the terms of the question that it answers."""

    text: str
    terms: frozenset[str]
    context: frozenset[str]


def scripted_answer(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the earlier sentences that share most with the last message, or a short acknowledgement of it.

    Questions are never returned; of equal sentences the newest counts. The first sentence after a question also counts,
    by half, for the words of that question: "6380." answers "Which port?". If nothing is shared and the question refers
    back, the answer is the last sentence that was sent.

    >>> talk = [{"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "6380. Restart it."}]
    >>> scripted_answer([*talk, {"role": "user", "content": "What was the port?"}])
    '6380.'
    """
    question = messages[-1]["content"] if messages else ""
    statements: list[_Sentence] = []
    previous: frozenset[str] = frozenset()  # the terms of the message before, if it was the user's
    for message in messages[:-1]:
        text = message["content"]
        context = previous if message["role"] == "assistant" else frozenset()
        for start, stop in sentences(text):
            sentence = text[start:stop]
            if sentence not in _EMPTY_WORDS and not is_question(sentence):
                statements.append(_Sentence(sentence, frozenset(count_terms(sentence)), context))
                context = frozenset()
        previous = frozenset(count_terms(text)) if message["role"] == "user" else frozenset()
    terms = frozenset(count_terms(question))
    weight = {
        term: term_weight(term) / frequency
        for term in terms
        if (frequency := sum(term in sentence.terms | sentence.context for sentence in statements))
    }
    scored = []
    for at, statement in enumerate(statements):
        own, other = statement.terms & terms, (statement.context - statement.terms) & terms
        if sum(map(term_weight, own | other)) >= _MIN_SHARED_WEIGHT:
            worth = math.fsum(weight[term] for term in own) + math.fsum(_CONTEXT_SHARE * weight[term] for term in other)
            scored.append((round(worth, 9), at))
    top = max(scored, default=(0.0, 0))[0]
    newest: dict[str, int] = {}
    for worth, at in sorted(scored, reverse=True):
        if worth * 2 > top:
            newest.setdefault(statements[at].text, at)
    best = [statements[at].text for at in sorted(list(newest.values())[:_MAX_SENTENCES])]
    if not best and read_cues(question).referring is not None:
        best = [sentence.text for sentence in statements[-1:]]
    if best:
        return "\n".join(best)
    language = "Chinese" if any(map(is_han, question)) else "English"
    return (_UNKNOWN if is_question(question) else _NOTED)[language]
