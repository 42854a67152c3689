"""A summary by a model: what it is given to read, and whether what it writes can be used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from gatekeeper_core.context.summary.check import unsupported
from gatekeeper_core.context.summary.record import Summary
from gatekeeper_core.context.summary.sentences import said_text
from gatekeeper_core.messages import Message
from gatekeeper_core.tokens import count_message

__all__ = ["Draft", "Summarizer", "write_draft"]


class Summarizer(Protocol):
    """Writes a summary; a plain function fits, most often one that asks a model."""

    def __call__(self, messages: Sequence[Message], previous: str | None, max_tokens: int, /) -> str:
        """Return a summary of the messages and of what was summarised before.

        Args:
            messages: what people said, oldest first: texts of users and assistants, no tool calls and no results.
            previous: the summary of what came before them, None where there is none.
            max_tokens: what the text may cost.
        """
        ...


class Draft(NamedTuple):
    """What came of asking a model.

    Attributes:
        text: what it wrote, "" where that cannot be used.
        failure: why not: ``error: `` and its type, ``not_text``, ``empty``, ``too_long``, ``unsupported``; "" where
            it can.
        unsupported: names, numbers and identifiers in what it wrote that nobody had said.
    """

    text: str
    failure: str = ""
    unsupported: tuple[str, ...] = ()


def write_draft(
    summarizer: Summarizer,
    messages: Sequence[Message],
    summary: Summary,
    *,
    max_tokens: int,
    max_input_tokens: int,
    max_unsupported: int,
    counter: Callable[[str], int],
) -> Draft:
    """Return what a model writes of the messages that are covered by a summary and that it does not know of yet.

    Args:
        summarizer: asks the model.
        messages: the conversation.
        summary: how far it is covered, and what the model wrote last.
        max_tokens: what the text may cost; a longer one is refused, not cut.
        max_input_tokens: what the model may read at once. Where that is less than all that is new it reads the newest
            messages, and the sentences of the summary in the place of the others.
        max_unsupported: things without a source up to which the text is taken.
        counter: counts a text.
    """
    said = _said(messages[summary.model_upto_seq + 1 : summary.upto_seq + 1])
    fitting = _newest(said, max_input_tokens, counter)
    previous = summary.model_text if len(fitting) == len(said) else summary.text
    try:
        text: object = summarizer(fitting, previous or None, max_tokens)
    except Exception as error:  # noqa: BLE001 - the caller's own function, most often a model: it may raise anything
        return Draft("", f"error: {type(error).__name__}")
    if not isinstance(text, str):
        return Draft("", "not_text")
    text = text.strip()
    if not text:
        return Draft("", "empty")
    if counter(text) > max_tokens:
        return Draft("", "too_long")
    made_up = _made_up(text, [message.text for message in fitting], previous, summary.unsupported)
    return Draft("", "unsupported", made_up) if len(made_up) > max_unsupported else Draft(text, "", made_up)


def _made_up(text: str, said: Sequence[str], previous: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return what nobody said; what was made up before is not said by standing in the previous summary."""
    found = unsupported(text, [*said, previous])
    if not known:
        return found
    still = [one for one in unsupported(text, said) if one in known]
    return tuple(dict.fromkeys([*found, *still]))


def _said(messages: Sequence[Message]) -> list[Message]:
    """Return what people said in messages, as plain messages."""
    spoken = [(message, said_text(message)) for message in messages]
    return [Message(message.role, text, name=message.name) for message, text in spoken if text.strip()]


def _newest(said: Sequence[Message], max_tokens: int, counter: Callable[[str], int]) -> tuple[Message, ...]:
    """Return the newest messages that fit, at least one where there is one."""
    start, left = len(said), max_tokens
    while start > 0:
        left -= count_message(said[start - 1], token_counter=counter)
        if left < 0 and start < len(said):
            break
        start -= 1
    return tuple(said[start:])
