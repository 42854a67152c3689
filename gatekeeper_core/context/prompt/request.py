"""The messages of a thread made ready for a build: exchanges whole, the question in its place, what is past made small.

::

    thread ──finished steps out──> question missing? add it ──> whole exchanges ──> past results small, long texts cut
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from gatekeeper_core.context.prompt.exchanges import whole_exchanges
from gatekeeper_core.context.tool_results.context import ResultCompressor, ToolResults
from gatekeeper_core.messages import Message, Turn, is_answer, is_answered, turn_starts
from gatekeeper_core.tokens import TokenCounter
from gatekeeper_core.truncation import truncate_middle

__all__ = ["Request", "make_request", "needs_prompt", "question_place", "run_start"]

_SURE_CHARS = 20
_MOST_TOKENS = 4
"""Tokens of one character at the most, in bytes of UTF-8: what is far shorter than allowed need not be counted."""


class Request(NamedTuple):
    """The messages that a build chooses from.

    Attributes:
        messages: the messages as they are sent, unless the current run has to be made smaller.
        seqs: for each its sequence number in the thread, None where it was made here.
        changed: positions whose text was compressed or cut.
        starts: positions at which the turns begin, ascending; the last turn is the current one.
        added: whether the question was added.
    """

    messages: tuple[Message, ...]
    seqs: tuple[int | None, ...]
    changed: frozenset[int]
    starts: tuple[int, ...]
    added: bool

    @property
    def start(self) -> int:
        """Position at which the current turn begins; 0 without a turn."""
        return self.starts[-1] if self.starts else 0

    @property
    def head(self) -> tuple[int, ...]:
        """Positions of the system messages before the first user message."""
        users = (at for at, message in enumerate(self.messages) if message.role == "user")
        first = next(users, len(self.messages))
        return tuple(at for at in range(min(first, self.start)) if self.messages[at].role == "system")

    @property
    def asked(self) -> tuple[int, ...]:
        """Positions of what the user asks now."""
        return tuple(at for at in range(self.start, len(self.messages)) if self.messages[at].role == "user")

    def first_behind(self, seq: int) -> int:
        """Return the first position whose message comes behind one of the thread, or was made here."""
        return next((at for at, own in enumerate(self.seqs) if own is None or own > seq), len(self.seqs))

    def says_all(self, upto_seq: int) -> bool:
        """Return whether the messages of the thread up to one are all in it, and none of them is changed."""
        return {seq for at, seq in enumerate(self.seqs) if at not in self.changed}.issuperset(range(upto_seq + 1))

    @property
    def waits(self) -> bool:
        """True if the last calls still wait for their results: nothing may follow them yet."""
        for results, message in enumerate(reversed(self.messages)):
            if message.role != "tool":
                return len(message.tool_calls) > results
        return False


def make_request(
    messages: Sequence[Message],
    question: Message | None = None,
    *,
    without: Collection[int] = (),
    compress_result: ResultCompressor | None = None,
    max_message_tokens: int | None = None,
    token_counter: TokenCounter,
) -> Request:
    """Return the messages of a thread, ready to choose from.

    Args:
        messages: the thread's.
        question: a message to add in its place (:func:`question_place`), or None.
        without: sequence numbers of messages that something else stands for.
        compress_result: makes the text of a past tool result smaller; None: nothing does.
        max_message_tokens: a longer text of a past user or assistant message is cut in the middle, and a longer result
            of the current run is compressed; None: none is.
        token_counter: counts a text.
    """
    seqs: list[int | None] = [seq for seq in range(len(messages)) if seq not in without]
    listed = [messages[seq] for seq in seqs if seq is not None]
    if question:
        place = question_place(messages)
        at = sum(seq is not None and seq < place for seq in seqs)
        seqs.insert(at, None)
        listed.insert(at, question)
    whole = whole_exchanges(listed)
    sent = tuple(message for _, message in whole)
    starts = tuple(turn_starts([message.role for message in sent]))
    start = starts[-1] if starts else 0
    small = _made_small(sent, start, compress_result, max_message_tokens, token_counter)
    return Request(
        tuple(small.get(at, message) for at, message in enumerate(sent)),
        tuple(None if at is None else seqs[at] for at, _ in whole),
        frozenset(at for at, message in small.items() if message.text != sent[at].text),
        starts,
        question is not None,
    )


def _made_small(
    messages: tuple[Message, ...],
    start: int,
    compress_result: ResultCompressor | None,
    max_tokens: int | None,
    count: TokenCounter,
) -> dict[int, Message]:
    """Return what is sent in another form: past results compressed, other long texts of the past cut.

    Results of the current run that are longer than a past message may be are compressed for its question. Whether there
    is room for them does not matter: so each step of the run sends them in the same form.
    """
    small = {at: _cut(message, max_tokens, count) for at, message in enumerate(messages[:start])}
    if compress_result is None:
        return small
    results = ToolResults(messages, compress_result)
    asked = "\n".join(message.text for message in messages[start:] if message.role == "user")
    of_run = ToolResults(messages, compress_result, query=asked)
    for at, message in enumerate(messages):
        if message.role != "tool":
            continue
        if at < start:
            small[at] = results.smaller(at, message) or message
        elif max_tokens is not None and _is_longer(message.text, max_tokens, count):
            small[at] = of_run.smaller(at, message) or message
    return small


def _cut(message: Message, max_tokens: int | None, count: TokenCounter) -> Message:
    """Return a message whose text is no longer than allowed; parts that are no text stay out of it."""
    if max_tokens is None or message.role not in ("user", "assistant") or not isinstance(message.content, str):
        return message
    if not _is_longer(message.content, max_tokens, count):
        return message
    return replace(message, content=truncate_middle(message.content, max_tokens, token_counter=count))


def _is_longer(text: str, max_tokens: int, count: TokenCounter) -> bool:
    return len(text) * _MOST_TOKENS > max_tokens and count(text) > max_tokens


def needs_prompt(turns: Sequence[Turn], prompt: str, *, included: bool) -> bool:
    """Return whether the prompt is missing at the end of a thread and has to be added.

    It is there where the newest turn is still open (its last message is no answer) and the user said the prompt in it,
    white space aside: the same text, or of a text over 20 characters one that holds it whole, or its beginning where
    that is all of the message. In a tool loop that is so at every step.

    Args:
        turns: the thread's.
        prompt: what the user asks now; blank: nothing is missing.
        included: whether the caller asks for it to be added: then it is there only where it is the very last message.

    Source: specification 001-33 to 001-35.

    >>> from gatekeeper_core.messages import group_turns
    >>> talk = [Message("user", "Which port?"), Message("assistant", "6380")]
    >>> [needs_prompt(group_turns(said), "Which  port?", included=False) for said in (talk[:1], talk)]
    [False, True]
    """
    asked = _folded(prompt)
    if not asked:
        return False
    newest = turns[-1].messages if turns else ()
    if included:
        return not newest or newest[-1].role != "user" or _folded(newest[-1].text) != asked
    if not newest or is_answered(newest):
        return True
    for said in (_folded(message.text) for message in newest if message.role == "user"):
        short = min(len(said), len(asked)) <= _SURE_CHARS
        if said == asked or (not short and (asked in said or asked.startswith(said))):
            return False
    return True


def question_place(messages: Sequence[Message]) -> int:
    """Return where a question that is missing in a thread belongs: the position of the message that it stands before.

    That is the end; but calls and results behind the last answer are steps on the way to this question's, so it stands
    before them, at each step in the same place. Those behind a user message answer that one.

    >>> from gatekeeper_core.messages import ToolCall
    >>> answer, call = Message("assistant", "6380"), Message("assistant", "", tool_calls=(ToolCall("a", "now", "{}"),))
    >>> asked, result = Message("user", "Which port?"), Message("tool", "12:00", tool_call_id="a")
    >>> question_place([asked, answer, call, result]), question_place([asked, call, result])
    (2, 3)
    """
    start = run_start(messages)
    if start and messages[start - 1].role == "user":
        return len(messages)
    return next((at for at in range(start, len(messages)) if messages[at].role != "system"), len(messages))


def run_start(messages: Sequence[Message]) -> int:
    """Return where the steps of the current run begin: the position behind the last user message or answer."""
    start = len(messages)
    while start and not (messages[start - 1].role == "user" or is_answer(messages[start - 1])):
        start -= 1
    return start


def _folded(text: str) -> str:
    return " ".join(text.split())
