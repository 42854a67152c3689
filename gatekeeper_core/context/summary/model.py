"""A summary by a model: what it reads, and whether its text can be used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gatekeeper_core.context.compaction.summarizer import PlainSummarizer, Summarizer, ask, readable
from gatekeeper_core.context.summary.check import unsupported
from gatekeeper_core.context.summary.record import Summary
from gatekeeper_core.context.summary.sentences import said_text
from gatekeeper_core.messages import Message
from gatekeeper_core.tokens import count_message

__all__ = ["Draft", "write_draft"]


class Draft(NamedTuple):
    """The answer of a model.

    Attributes:
        text: what it wrote, "" where that cannot be used.
        failure: why not: ``error: `` and its type, ``not_text``, ``empty``, ``too_long``, ``unsupported``; else "".
        unsupported: names, numbers and identifiers in what it wrote that nobody had said.
    """

    text: str
    failure: str = ""
    unsupported: tuple[str, ...] = ()


def write_draft(
    summarizer: Summarizer | PlainSummarizer,
    messages: Sequence[Message],
    summary: Summary,
    *,
    max_tokens: int,
    max_input_tokens: int,
    counter: Callable[[str], int],
) -> Draft:
    """Return what a model writes of the messages that are covered by a summary and that it does not know of yet.

    Args:
        summarizer: asks the model.
        messages: the conversation.
        summary: how far it is covered, and what the model wrote last.
        max_tokens: what the text may cost; a longer one is refused, not cut.
        max_input_tokens: what the model may read at once. Where that is less than all that is new it reads the newest
            messages, at least one, and the sentences of the summary in the place of the others.
        counter: counts a text.
    """
    spoken = [(message, said_text(message)) for message in messages[summary.model_upto_seq + 1 : summary.upto_seq + 1]]
    said = [Message(message.role, text, name=message.name) for message, text in spoken if text.strip()]
    start, left = len(said), max_input_tokens
    while start > 0:
        left -= count_message(said[start - 1], token_counter=counter)
        if left < 0 and start < len(said):
            break
        start -= 1
    previous = summary.text if start else summary.model_text
    fitting = readable(said[start:], max_input_tokens, token_counter=counter, locale=summary.locale)
    text, failure = ask(summarizer, fitting, previous or None, max_tokens)
    if failure:
        return Draft("", failure)
    if counter(text) > max_tokens:
        return Draft("", "too_long")
    made_up = unsupported(text, [*(message.text for message in fitting), previous])
    return Draft("", "unsupported", made_up) if made_up else Draft(text)
