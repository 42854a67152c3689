"""Past turns of an agent in a short form: the question, the beginning of the answer, and a log of the calls.

::

    over the limit? ──> 1 digest old turns, until half is left ──> 2 drop the oldest digests

The conversation is replayed from its first message. So a shortened turn stays short, the provider's cache finds the
same beginning at each call, and another process that resumes the thread sends the same prompt.
"""

from __future__ import annotations

import math
from collections.abc import Container
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.context.history.call_log import CallLog, LiveIdentifiers
from gatekeeper_core.context.history.pins import beginning_of
from gatekeeper_core.context.history.recall import recalled_block, turn_text
from gatekeeper_core.context.history.rounds import our_pointers
from gatekeeper_core.context.history.view import DIGESTS
from gatekeeper_core.messages import SIGNED, Message, common_beginning, is_answer, with_text
from gatekeeper_core.tokens import count_messages
from gatekeeper_core.truncation import truncate_middle

if TYPE_CHECKING:
    from gatekeeper_core.context.history.account import Costs
    from gatekeeper_core.context.history.reading import History
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
    from gatekeeper_core.tokens import TokenCounter

_LOW_SHARE = 0.5
"""Share of the limit down to which old turns are digested, to make room for the next ones. Source: ours, as below."""

_DIGEST_SHARE = 0.5
"""Share of the limit that all digests may use; above it the oldest are dropped, down to half of it. Source: ours,
``python -m benchmarks.agent_runs``: in chats with tools at 3,000 tokens the prompt holds 97 % of the values that the
next call uses, and 87 % of those far back; with a share of 0.35, eight points less of the latter in 20 of the chats.
Dropping one digest at a time costs a fifth more."""

_IDENTIFIERS = 40
"""Maximum identifiers of a turn beside its calls.
Source: ours, as above: with 20 the prompt holds 90 % of the values far back, not 96, in 20 of the chats."""

_IDENTIFIERS_SHARE = 0.1
"""Share of the limit for identifiers of dropped turns. Source: ours, as above: with it the prompt of chats with tools
at 3,000 tokens holds 87 % of the values far back, not 80 %, and that of agents that write their observations as the
user 83 %, not 56 %, at 4,000. With 0.15 chats gain a point or more, and these agents lose one."""

_QUESTION_CHARACTERS = 300
"""Maximum characters of a user message other than the task; a longer one keeps its ends. Source: ours."""

_RECALLED_FROM = 0.5
"""Least need, 0..1, to recall a shortened turn: likelier than not. Source: ours, ``python -m benchmarks.doors``."""


class TurnDigest(NamedTuple):
    """A past turn in its short form.

    Attributes:
        omitted: positions of the calls and results that are not sent.
        replaced: position and new message of the answer, with the log, and of long questions.
        tokens: tokens of the turn in this form.
    """

    omitted: tuple[int, ...]
    replaced: tuple[tuple[int, Message], ...]
    tokens: int


def digest_past(costs: Costs, gatekeeper: ContextGatekeeper) -> PastDigests | None:
    """Return the past turns to digest or drop; None if there are none, without a run config, or for a ``window``.

    The first turn, with an agent's task, is never dropped. The synced gatekeeper keeps the result for the next call.
    """
    history, config = costs.history, costs.config
    if config.run is None or config.strategy == "window":
        return None
    room, keep_newest = costs.room_at_start + costs.question + costs.pinned, config.keep_newest or 0
    # The limit when a turn begins. ``cache`` promises a bill, and digesting turns early is paid for at once.
    most = min(room, config.passthrough_below or room) if config.strategy == "gate" else room
    turns = [*history.past, *filter(None, [history.current])]
    key = (room, most, keep_newest, history.pinned, history.required, history.summaries, history.provider_free)
    key_before, messages, past = gatekeeper.derived.pop("past") or (None, (), None)
    is_same = key_before == key and common_beginning(messages, history.messages) == len(messages)
    if past is None or not is_same or past.starts != [turn.start for turn in turns[: len(past.starts)]]:
        past = PastDigests(gatekeeper, keep_newest)
    past.memory = config.run.memory  # each build of a builder has its own
    for number, turn in enumerate(turns):
        for at in range(max(turn.start, past.read), turn.stop):
            is_over = at == turn.start and past.tokens > most
            past.add(at, number, costs.tokens_at(at), history, most if is_over else room)
            if at == costs.run_start - 1:
                past.recallable = frozenset((*past.digests, *past.dropped))
    past.starts = [turn.start for turn in turns]
    gatekeeper.derived.put("past", (key, history.messages, past))
    return past if past.digests or past.dropped else None


class PastDigests:
    """An agent's past, replayed message by message, with the turns that were digested or dropped.

    Attributes:
        memory: ids of the pointers that stay readable at this call.
        starts: positions of the first messages of its turns.
        read: number of messages so far.
        tokens: their tokens as they are sent.
        digests: the turns that are sent in their short form.
        dropped: turns that are not sent.
        recallable: turns digested or dropped before the current run began; the question may recall them.
    """

    def __init__(self, gatekeeper: ContextGatekeeper, keep_newest: int) -> None:
        self._gatekeeper = gatekeeper
        self._keep = keep_newest
        self._oldest = 0  # the oldest turn that was not tried yet
        self._digest_tokens = 0
        self._first: TurnDigest | None = None
        self._live = LiveIdentifiers()
        self.memory: Container[str] | None = None
        self.starts: list[int] = []
        self.read = self.tokens = 0
        self.digests: dict[int, TurnDigest] = {}
        self.dropped: set[int] = set()
        self.recallable: frozenset[int] = frozenset()

    def add(self, at: int, number: int, tokens: int, history: History, limit: int) -> None:
        """Add the message at a position, of a turn; if all are over the limit, digest or drop older turns."""
        self.read = at + 1
        self.tokens += tokens
        if self.tokens <= limit:
            return
        turn_tokens = self._gatekeeper.turn_tokens
        while self._oldest < number - self._keep and self.tokens > _LOW_SHARE * limit:
            digest = _digest_of(self._oldest, history, self.memory, self._gatekeeper.token_counter)
            if digest and digest.tokens < turn_tokens[self._oldest]:
                self.digests[self._oldest] = digest
                self._digest_tokens += digest.tokens
                self.tokens -= turn_tokens[self._oldest] - digest.tokens
            self._oldest += 1
        if self._digest_tokens > _DIGEST_SHARE * limit:
            for each in [each for each in self.digests if each > 0]:
                if self._digest_tokens <= _DIGEST_SHARE * limit / 2:
                    break
                self.dropped.add(each)
                self._digest_tokens -= self.digests[each].tokens
                self.tokens -= self.digests.pop(each).tokens
            self._keep_identifiers(history, _IDENTIFIERS_SHARE * limit)

    def _keep_identifiers(self, history: History, room: float) -> None:
        """Append identifiers of the dropped turns to the first turn's answer, those that the agent used first."""
        for message in history.messages[len(self._live.mentions) : self.read]:
            self._live.add(message)
        first = self._first = self._first or self.digests.get(0)
        if not first or not self.dropped or not first.replaced:
            return  # a signed answer cannot be changed
        turns = (history.past[each] for each in sorted(self.dropped))
        places = [at for turn in turns for at in range(turn.start, turn.stop)]
        counter = self._gatekeeper.token_counter
        log = CallLog(counter, math.inf).text((), identifiers=self._live.of(places), room=room)
        at, answer = first.replaced[-1]
        replaced = (*first.replaced[:-1], (at, with_text(answer, "\n".join(filter(None, (answer.text, log))))))
        digest = TurnDigest(first.omitted, replaced, first.tokens + counter(log))
        self.tokens += digest.tokens - self.digests[0].tokens
        self.digests[0] = digest


def with_digests(choice: HistoryView, past: PastDigests, costs: Costs, *, recall_tokens: int) -> HistoryView:
    """Return a choice of every past turn that was not dropped, the older ones as digests.

    Digested or dropped turns that the question needs are recalled before it, within ``recall_tokens`` and without calls
    and results; ``Costs.view`` omits them if the other turns do not fit beside them.
    """
    history = costs.history
    kept = [turn for turn in reversed(range(len(history.past))) if turn not in past.dropped]
    texts, selection = dict[int, str](), choice.selection
    if recall_tokens and selection:
        for number in selection.order:
            if number in past.recallable and (selection.decision(number).need or 0.0) >= _RECALLED_FROM:
                turn = history.past[number]
                text = turn_text(turn._replace(messages=tuple(one for one in turn.messages if one.role != "tool")))
                if (tokens := costs.counter(text)) <= recall_tokens:
                    recall_tokens -= tokens
                    texts[number] = text
    return choice._replace(
        status="selected",
        reason=DIGESTS,
        turns=tuple(sorted(kept, key=past.digests.__contains__)),
        replaced=tuple(sorted(each for digest in past.digests.values() for each in digest.replaced)),
        folded=tuple(sorted(at for digest in past.digests.values() for at in digest.omitted)),
        recalled_text=recalled_block(texts, question=history.query) if texts else "",
    )


def _digest_of(
    number: int, history: History, memory: Container[str] | None, token_counter: TokenCounter
) -> TurnDigest | None:
    """Return the digest of a past turn; None if it must stay whole, has no answer, or contains a summary."""
    turn = history.past[number]
    places, messages = range(turn.start, turn.stop), history.messages[turn.start : turn.stop]
    if number in history.required or not is_answer(messages[-1]) or not {*history.summaries}.isdisjoint(places):
        return None
    sent: list[Message | None] = [None if message.role in ("assistant", "tool") else message for message in messages]
    results, full = [], {at for at, _ in history.pinned} if number else {*places}  # the task stays
    for at, message in enumerate(messages):
        is_cut = message.role == "user" and len(message.text) > _QUESTION_CHARACTERS and places[at] not in full
        if is_cut:
            sent[at] = with_text(message, truncate_middle(message.text, _QUESTION_CHARACTERS, token_counter=len))
        if is_cut or message.role == "tool":
            results.append(message)
    answer = messages[-1]
    if SIGNED not in answer.metadata:
        pointers = our_pointers(messages, memory)
        log = CallLog(token_counter, math.inf)
        calls = [message for message in messages if message.role == "assistant"]
        log.add(calls, results=results, identifiers=_IDENTIFIERS)
        answer = beginning_of(answer)
        lines = (answer.text, " ".join(f"[[wm:{pointer}]]" for pointer in pointers), log.text(pointers))
        answer = with_text(answer, "\n".join(filter(None, lines)))
    sent[-1] = answer
    both = [(at, new, old) for at, new, old in zip(places, sent, messages, strict=True) if new is not old]
    return TurnDigest(
        omitted=tuple(at for at, new, _ in both if new is None),
        replaced=tuple((at, new) for at, new, _ in both if new is not None),
        tokens=count_messages(filter(None, sent), token_counter=token_counter),
    )
