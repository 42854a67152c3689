"""A scripted model that needs no network: it answers from what it was sent, and from nothing else.

What it says shows what the gatekeeper chose: a fact that was not sent cannot be in its answer.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection.anchors import count_terms, term_weight
from gatekeeper_core.selection.cues import read_cues
from gatekeeper_core.text import is_han, is_question, sentences

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from gatekeeper_core.pricing.usage import Usage

__all__ = ["OfflineModel", "scripted_answer"]

_NOTED = {"Chinese": "好的，记下了。", "English": "Noted."}
_UNKNOWN = {"Chinese": "发给我的内容里没有提到。", "English": "Nothing that I was sent answers this."}
_EMPTY_WORDS = frozenset({*_NOTED.values(), *_UNKNOWN.values()})

_MIN_SHARED_WEIGHT = 1.0
"""Weight of shared terms from which on a sentence says something about a question. Source: ours, one whole term."""

_CONTEXT_SHARE = 0.5
"""What a term counts that stands in the question that a sentence answers, and not in itself. Source: ours."""

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
        """Do nothing: it holds nothing."""


class _Sentence(NamedTuple):
    """A sentence that was sent, its terms, and the terms of the question that it answers."""

    text: str
    terms: frozenset[str]
    context: frozenset[str]


def scripted_answer(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the sentences before the last message that share most with it, or a short acknowledgement of it.

    Questions are no answers, so they are never given back; of equal sentences the newest counts. The first sentence
    under a question also counts, by half, for the words of that question: "6380." answers what "Which port?" asked for.
    Where nothing is shared and the question points back, the answer is the last sentence that was sent.

    Args:
        messages: chat messages, the question last.

    >>> said = [{"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "6380. Restart it."}]
    >>> scripted_answer([*said, {"role": "user", "content": "What was the port?"}])
    '6380.'
    """
    question = messages[-1]["content"] if messages else ""
    sent = list(_statements(messages[:-1]))
    best = _best(sent, frozenset(count_terms(question)))
    if not best and sent and read_cues(question).referring is not None:
        best = sent[-1:]
    if best:
        return "\n".join(sentence.text for sentence in best)
    language = "Chinese" if any(map(is_han, question)) else "English"
    return (_UNKNOWN if is_question(question) else _NOTED)[language]


def _statements(messages: Iterable[Mapping[str, str]]) -> Iterator[_Sentence]:
    """Yield the sentences that state something, oldest first."""
    asked: frozenset[str] = frozenset()
    for message in messages:
        text = message["content"]
        context = asked if message["role"] == "assistant" else frozenset()
        for start, stop in sentences(text):
            sentence = text[start:stop]
            if sentence not in _EMPTY_WORDS and not is_question(sentence):
                yield _Sentence(sentence, frozenset(count_terms(sentence)), context)
                context = frozenset()
        asked = frozenset(count_terms(text)) if message["role"] == "user" else frozenset()


def _best(sent: Sequence[_Sentence], wanted: frozenset[str]) -> list[_Sentence]:
    """Return the sentences that share most with the wanted terms, at most two, oldest first."""
    frequency = {term: sum(term in sentence.terms | sentence.context for sentence in sent) for term in wanted}
    scored = []
    for at, sentence in enumerate(sent):
        own, context = sentence.terms & wanted, (sentence.context - sentence.terms) & wanted
        if sum(map(term_weight, own | context)) >= _MIN_SHARED_WEIGHT:
            worth = math.fsum(term_weight(term) / frequency[term] for term in sorted(own))
            worth += math.fsum(_CONTEXT_SHARE * term_weight(term) / frequency[term] for term in sorted(context))
            scored.append((round(worth, 9), at))
    top = max(scored, default=(0.0, 0))[0]
    newest_first = sorted((entry for entry in scored if entry[0] * 2 > top), reverse=True)
    chosen: dict[str, int] = {}
    for _, at in newest_first:
        chosen.setdefault(sent[at].text, at)
    return [sent[at] for at in sorted(list(chosen.values())[:_MAX_SENTENCES])]
