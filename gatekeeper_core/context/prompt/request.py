"""The messages of a thread, prepared for a build: whole exchanges, the question in its place, a smaller past.

::

    thread ──finished steps out──> question missing? add it ──> whole exchanges ──> results compressed, long texts cut
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from gatekeeper_core.context.tool_results.context import ResultCompressor, ToolResults
from gatekeeper_core.messages import Message, ToolCall, is_answer, is_answered, last_turns, turn_starts
from gatekeeper_core.tokens import TokenCounter
from gatekeeper_core.truncation import truncate_middle

NO_RESULT = "[no result]"
"""The result of a call that has none."""

_SURE_CHARS = 20
"""Prompts up to this many characters may be part of another question by chance."""

_MOST_TOKENS = 4
"""Most tokens of one character (its bytes in UTF-8): texts that are surely short enough need no counting."""


class Request(NamedTuple):
    """The messages that a build chooses from.

    Attributes:
        messages: the messages to send, unless the current run must shrink.
        seqs: sequence number of each in the thread, None if added here.
        changed: positions whose text was compressed or cut.
        starts: first positions of the turns, ascending; the last turn is the current one.
    """

    messages: tuple[Message, ...]
    seqs: tuple[int | None, ...]
    changed: frozenset[int]
    starts: tuple[int, ...]

    @property
    def start(self) -> int:
        """First position of the current turn; 0 without a turn."""
        return self.starts[-1] if self.starts else 0

    @property
    def head(self) -> tuple[int, ...]:
        """Positions of the system messages before the first user message."""
        stop = self.starts[0] if self.starts else 0
        return tuple(at for at in range(stop) if self.messages[at].role == "system")

    @property
    def query(self) -> tuple[int, ...]:
        """Positions of the user messages of the current turn."""
        return tuple(at for at in range(self.start, len(self.messages)) if self.messages[at].role == "user")

    @property
    def has_open_calls(self) -> bool:
        """Whether the last calls still wait for their results: nothing may follow them yet."""
        for results, message in enumerate(reversed(self.messages)):
            if message.role != "tool":
                return len(message.tool_calls) > results
        return False

    @property
    def least(self) -> frozenset[int]:
        """Positions of the mandatory messages: head, question, and open calls."""
        calls = [at for at in range(self.start, len(self.messages)) if self.messages[at].tool_calls]
        return frozenset((*self.head, *self.query[-1:], *(calls[-1:] if self.has_open_calls else ())))

    def first_after(self, seq: int) -> int:
        """Return the first position whose message is later than ``seq`` in the thread, or was added here."""
        return next((at for at, own in enumerate(self.seqs) if own is None or own > seq), len(self.seqs))

    def contains(self, upto_seq: int) -> bool:
        """Return whether it has all messages of the thread up to ``upto_seq``, unchanged."""
        return {seq for at, seq in enumerate(self.seqs) if at not in self.changed}.issuperset(range(upto_seq + 1))


def make_request(
    messages: Sequence[Message],
    question: Message | None,
    *,
    max_message_tokens: int,
    token_counter: TokenCounter,
    without: Collection[int] = (),
    compress_result: ResultCompressor | None = None,
) -> Request:
    """Return the messages of a thread except ``without``, with the question in its place, ready to choose from.

    Past results are compressed, and past texts over ``max_message_tokens`` are cut in the middle. Results that long in
    the current run are always compressed for its question, so that each step sends them in the same form.
    """
    listed: list[tuple[int | None, Message]] = [*enumerate(messages)]
    if question:
        listed.insert(question_place(messages), (None, question))
    listed = [(seq, message) for seq, message in listed if seq not in without]
    exchanges = whole_exchanges([message for _, message in listed])
    full = tuple(message for _, message in exchanges)
    starts = tuple(turn_starts([message.role for message in full]))
    start = starts[-1] if starts else 0
    sent = list(full)
    if compress_result:
        query = "\n".join(message.text for message in full[start:] if message.role == "user")
        of_past, of_run = ToolResults(full, compress_result), ToolResults(full, compress_result, query=query)
    for at, message in enumerate(full):
        text, is_past = message.text, at < start
        is_long = len(text) * _MOST_TOKENS > max_message_tokens and token_counter(text) > max_message_tokens
        if message.role == "tool" and compress_result and (is_past or is_long):
            sent[at] = (of_past if is_past else of_run).smaller(at, message) or message
        elif message.role in ("user", "assistant") and is_past and is_long and isinstance(message.content, str):
            sent[at] = replace(message, content=truncate_middle(text, max_message_tokens, token_counter=token_counter))
    return Request(
        tuple(sent),
        tuple(None if at is None else listed[at][0] for at, _ in exchanges),
        frozenset(at for at, message in enumerate(sent) if message.text != full[at].text),
        starts,
    )


def whole_exchanges(messages: Sequence[Message]) -> list[tuple[int | None, Message]]:
    """Return a conversation in an order that every provider accepts, each message with its position (None: added).

    The last calls, if only tool messages follow, still wait for results. Unchanged messages are the caller's objects::

        a call without a result, then other roles  a result that says so, directly after the other results
        a result that answers no call, or again    left out
        a call without an id, or with one twice    an id of its own, also in its result; results without one in order
        a system message amid calls and results    after the results; before the calls while they wait for results

    >>> call = Message("assistant", "", tool_calls=(ToolCall("a", "now", "{}"),))
    >>> [(at, one.text) for at, one in whole_exchanges([Message("user", "?"), call, Message("user", "again?")])]
    [(0, '?'), (1, ''), (None, '[no result]'), (2, 'again?')]
    """
    sent: list[tuple[int | None, Message]] = []
    delayed: list[tuple[int | None, Message]] = []  # system messages amid calls and results
    waiting: list[tuple[str, ToolCall]] = []  # calls without a result so far, each with its original id
    opened = 0  # the position of the newest message that is not a result
    for at, message in enumerate(messages):
        if message.role == "tool":
            call_id = message.tool_call_id or ""
            place = next((place for place, (own, _) in enumerate(waiting) if own == call_id), None)
            if place is None and not call_id and waiting:
                place = 0  # without an id, results match in order
            if place is None:
                continue
            _, call = waiting.pop(place)
            sent.append((at, message if call.id == call_id else replace(message, tool_call_id=call.id)))
        elif message.role == "system" and waiting:
            delayed.append((at, message))
        else:
            missing = [Message("tool", NO_RESULT, tool_call_id=call.id, name=call.name or None) for _, call in waiting]
            sent += [*((None, result) for result in missing), *delayed]
            delayed, opened = [], len(sent)
            waiting, ids = [], set[str]()
            for number, call in enumerate(message.tool_calls if message.role == "assistant" else ()):
                is_own = call.id and call.id not in ids
                waiting.append((call.id, call if is_own else replace(call, id=f"call_{at}_{number}")))
                ids.add(waiting[-1][1].id)
            calls = tuple(call for _, call in waiting) or message.tool_calls
            sent.append((at, message if calls == message.tool_calls else replace(message, tool_calls=calls)))
        if not waiting:
            sent += delayed
            delayed = []
    sent[opened:opened] = delayed
    return sent


def needs_prompt(messages: Sequence[Message], prompt: str, *, included: bool) -> bool:
    """Return whether the prompt is missing at the end of a thread and must be added; a blank one never is.

    It is present if the newest turn is open (its last message is no answer) and has a user message with the same text,
    white space aside; if both exceed 20 characters, also one that contains it or is its beginning: so at every step of
    a tool loop. With ``included`` it must be the very last message. Source: specification 001-33 to 001-35.

    >>> talk = [Message("user", "Which port?"), Message("assistant", "6380")]
    >>> [needs_prompt(messages, "Which  port?", included=False) for messages in (talk[:1], talk)]
    [False, True]
    """
    query = " ".join(prompt.split())
    newest = [message for turn in last_turns(messages, 1) for message in turn.messages]
    candidates = newest[-1:] if included else [] if is_answered(newest) else newest
    for text in (" ".join(message.text.split()) for message in candidates if message.role == "user"):
        is_short = included or min(len(text), len(query)) <= _SURE_CHARS
        if text == query or (not is_short and (query in text or query.startswith(text))):
            return False
    return query != ""


def question_place(messages: Sequence[Message]) -> int:
    """Return the position of the message before which a missing question belongs.

    That is the end, unless calls and results follow the last answer: they are steps towards this question, which comes
    before them, in the same place at each step. Steps after a user message belong to that message.

    >>> from gatekeeper_core.messages import ToolCall
    >>> answer, call = Message("assistant", "6380"), Message("assistant", "", tool_calls=(ToolCall("a", "now", "{}"),))
    >>> query, result = Message("user", "Which port?"), Message("tool", "12:00", tool_call_id="a")
    >>> question_place([query, answer, call, result]), question_place([query, call, result])
    (2, 3)
    """
    start = run_start(messages)
    if start and messages[start - 1].role == "user":
        return len(messages)
    return next((at for at in range(start, len(messages)) if messages[at].role != "system"), len(messages))


def run_start(messages: Sequence[Message]) -> int:
    """Return where the steps of the current run begin: the position after the last user message or answer."""
    start = len(messages)
    while start and not (messages[start - 1].role == "user" or is_answer(messages[start - 1])):
        start -= 1
    return start
