"""Long conversations with labelled needs, to be paid call by call: joined everyday talks, LoCoMo, runs of an agent.

::

    everyday talks ──joined, questions in place, answers to length──> sessions
    LoCoMo         ──questions behind their evidence────────────────> locomo      ──> Talk(messages, calls)
    tool outputs   ──requests of so many rounds─────────────────────> agent_runs

A call of the model reads the messages up to its ``stop``; the one before that is the user's question or the result of a
tool. In sessions and LoCoMo each turn is one call and has two messages, so turn and call have the same number.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.talks import HANGING
from gatekeeper_core.messages import Message, ToolCall
from gatekeeper_core.selection.anchors import telling_terms
from gatekeeper_core.text import clean, is_han, sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from benchmarks import talks as labelled
    from benchmarks.data import Conversation
    from gatekeeper_core import TokenCounter


COLD_SHARE = 0.3
"""Calls before which the cache is lost, where some are to find it cold."""

_LATE_SHARE = 0.5
"""Of the questions that stand alone and come behind a talk, those that come later in the session."""

_LEANING = (*HANGING, "smalltalk")
"""Kinds that lean on the turn before: nothing may come in between, and only one of them fits behind a talk."""

_SPREAD = 0.5
"""Answers are between so much less and so much more than their mean length, evenly."""


class Call(NamedTuple):
    """One call of the model.

    Its prompt may hold the messages before ``stop``; ``needed`` has for each turn that the answer needs the turns that
    may replace it, itself first; ``kind`` is that of the question, ``further`` before it where it was no turn of its
    talk; ``cold``: the lifetime of the cache has passed before it, where some calls are to be cold.
    """

    stop: int
    needed: tuple[tuple[int, ...], ...] = ()
    kind: str = ""
    cold: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Talk:
    """A conversation of a corpus (``session``, ``locomo`` or ``agent``) and the calls that it is paid by, oldest first.

    ``size`` is the tokens a turn that were asked for, 0 for as they are; ``length`` the turns, or the shape of a run.
    """

    name: str
    corpus: str
    language: str
    size: int
    length: str
    messages: tuple[Message, ...]
    calls: tuple[Call, ...]

    def prompt(self, call: Call) -> tuple[Message, ...]:
        """Return all messages up to a call, its question the last."""
        return self.messages[: call.stop]

    def seconds(self, *, cold: bool) -> list[float]:
        """Return when each call is made: half a minute apart, and a day later before the cold ones."""
        now, times = 0.0, list[float]()
        for call in self.calls:
            now += 86_400.0 if cold and call.cold else 30.0
            times.append(now)
        return times


class _Ask(NamedTuple):
    """One turn of a session before its answer has its length; ``place``: talk and turn, None for a further question."""

    user: str
    answer: str
    place: tuple[str, int] | None
    needed: tuple[tuple[int, ...], ...]
    kind: str


# --- everyday sessions ------------------------------------------------------------------------------------------------


def sessions(
    talks: Sequence[labelled.Talk],
    *,
    turns: int,
    tokens: int,
    language: str,
    seed: int,
    count: TokenCounter,
) -> Talk:
    """Return a session of so many turns, joined from everyday talks with all their questions.

    A labelled question is the user's message of its own turn. One that comes behind a talk is a turn of its own there,
    or (half of those that stand alone) later in the session, never before a turn that leans on the one
    before. Of several that lean on a talk's last turn one is asked; those about the conversation as a whole are left
    out, because a session is another conversation. Where the talks of the language do not suffice, others follow.
    """
    draw = random.Random(f"session {language} {turns} {seed}")
    asks: list[tuple[labelled.Talk, _Ask]] = []
    waiting: list[tuple[int, labelled.Talk, _Ask]] = []
    for talk in _shuffled(talks, language, draw):
        at_turn = {question.after: question for question in reversed(talk.questions)}
        for at, block in enumerate(talk.blocks):
            question = at_turn.get(at)
            if not (question and question.kind in _LEANING):
                due = [item for item in waiting if item[0] <= len(asks)]
                waiting = [item for item in waiting if item[0] > len(asks)]
                asks += [(other, turn) for _, other, turn in due]
            labels = (question.needed, question.kind) if question else ((), "")
            asks.append((talk, _Ask(block.user, block.assistant, (talk.name, at), *labels)))
        for question in _behind(talk, draw):
            turn = _Ask(question.text, "", None, question.needed, f"further {question.kind}")
            if question.kind not in _LEANING and draw.random() < _LATE_SHARE:
                waiting.append((draw.randrange(len(asks), max(turns, len(asks) + 1)), talk, turn))
            else:
                asks.append((talk, turn))
        if len(asks) >= turns:
            break
    asks = asks[:turns]

    draw = random.Random(f"lengths {language} {turns} {seed}")
    number = {turn.place: at for at, (_, turn) in enumerate(asks) if turn.place}
    terms_by_turn: dict[int, frozenset[str]] = {}
    calls = []
    for at, (talk, turn) in enumerate(asks):
        groups = [[number.get((talk.name, old), at) for old in group] for group in turn.needed]
        needed = tuple(tuple(old for old in group if old < at) for group in groups)
        for old in chain.from_iterable(needed):
            terms_by_turn[old] = terms_by_turn.get(old, frozenset()) | telling_terms(turn.user)
        calls.append(Call(2 * at + 1, needed, turn.kind, draw.random() < COLD_SHARE))
    messages = list[Message]()
    for at, (talk, turn) in enumerate(asks):
        size = round(tokens * draw.uniform(1 - _SPREAD, 1 + _SPREAD)) - count(turn.user)
        spoken = "zh" if talk.language != "en" and any(map(is_han, turn.user)) else "en"
        asking = terms_by_turn.get(at, frozenset())
        answer = stretched(turn.answer, size, language=spoken, terms_by_turn=asking, count=count, draw=draw)
        messages += [Message("user", turn.user), Message("assistant", answer)]
    name = f"{language}-{turns}-{tokens}-{seed}"
    return Talk(name, "session", language, tokens, str(turns), tuple(messages), tuple(calls))


def _shuffled(talks: Sequence[labelled.Talk], language: str, draw: random.Random) -> list[labelled.Talk]:
    order = sorted(talks, key=lambda talk: (talk.name, draw.random()))
    draw.shuffle(order)
    return order if language == "mixed" else sorted(order, key=lambda talk: talk.language != language)


def _behind(talk: labelled.Talk, draw: random.Random) -> list[labelled.Question]:
    """Return the questions that come behind a talk, one that leans on its last turn first."""
    behind = [each for each in talk.questions if each.after == len(talk.blocks) and each.kind != "about_conversation"]
    leaning = [each for each in behind if each.kind in _LEANING]
    alone = [each for each in behind if each.kind not in _LEANING]
    draw.shuffle(alone)
    return [*draw.sample(leaning, min(1, len(leaning))), *alone]


# --- the length of answers --------------------------------------------------------------------------------------------

_SECTIONS = Path(__file__).with_name("cost_fillers.txt").read_text(encoding="utf-8").split("= ")[1:]
_FILLER = {language: [part.split("|") for part in lines] for language, *lines in map(str.splitlines, _SECTIONS)}
"""Sentences that say nothing: a beginning, a middle and an end, each drawn by itself."""


def stretched(
    answer: str, tokens: int, *, language: str, terms_by_turn: frozenset[str], count: TokenCounter, draw: random.Random
) -> str:
    """Return an answer of about so many tokens: with empty sentences in between, or cut to whole sentences.

    No cut takes the last sentence with one of the words that are wanted; without any the first sentence stays.
    """
    starts = [0, *(span.start for span in sentences(answer)[1:]), len(answer)]
    texts = [answer[start:stop] for start, stop in pairwise(starts)]
    costs = [count(text) for text in texts]
    if sum(costs) > tokens:
        terms = [{word for word in terms_by_turn if word in low} for low in (clean(text).lower() for text in texts)]
        kept, covered = set[int](), set[str]()
        while len(kept) < len(texts):
            best = min(set(range(len(texts))) - kept, key=lambda at: (-len(terms[at] - covered), at))
            if kept and terms[best] <= covered and sum(costs[at] for at in {*kept, best}) > tokens:
                break
            kept.add(best)
            covered |= terms[best]
        return "".join(texts[at] for at in sorted(kept)).strip()
    paragraphs = answer.split("\n\n") if answer else [""]
    missing, space = tokens - sum(costs), " " if language == "en" else ""
    while missing > 6 or not any(paragraphs):
        filler = "".join(draw.choice(part) for part in _FILLER[language])
        missing -= max(1, count(filler))
        at = draw.randrange(len(paragraphs))
        before = draw.random() < 0.5
        joined = (filler, paragraphs[at]) if before else (paragraphs[at], filler)
        paragraphs[at] = space.join(part for part in joined if part)
    return "\n\n".join(paragraphs)


# --- LoCoMo -----------------------------------------------------------------------------------------------------------


def locomo(talk: Conversation, *, turns: int, seed: int) -> Talk:
    """Return the beginning of a LoCoMo conversation with its questions as turns of their own, so many turns together.

    A question comes some blocks after its last evidence: as many as an even draw of their logarithm says, up to the end
    of the conversation, so that most look back a little and some very far. Of the questions that would come at one
    place one does; its turn ends with the labelled answer.
    """
    draw = random.Random(f"locomo {talk.name} {seed}")
    block_of = {message: at for at, block in enumerate(talk.blocks) for message in block.ids}
    due: dict[int, tuple[str, str, tuple[int, ...]]] = {}
    for question in talk.questions:
        needed = tuple(dict.fromkeys(block_of[message] for message in question.evidence))
        last = max(needed)
        place = last + max(1, round(math.exp(draw.uniform(0, math.log(max(2, len(talk.blocks) - last))))))
        due.setdefault(place, (question.text, question.answer or "I do not know.", needed))
    messages, calls, turn_of = list[Message](), list[Call](), dict[int, int]()

    def add(written: datetime | None, user: str, assistant: str, needed: tuple[int, ...] = ()) -> None:
        groups = tuple((turn_of[at],) for at in needed)
        calls.append(Call(len(messages) + 1, groups, cold=draw.random() < COLD_SHARE))
        messages.append(Message("user", user, created_at=written))
        messages.append(Message("assistant", assistant or "…", created_at=written))

    for at, block in enumerate(talk.blocks):
        if at in due:
            add(block.written, *due[at])
        turn_of[at] = len(calls)
        add(block.written, block.user, block.assistant)
    calls, messages = calls[:turns], messages[: 2 * turns]
    return Talk(f"locomo-{talk.name}-{turns}-{seed}", "locomo", "en", 0, str(turns), tuple(messages), tuple(calls))


# --- runs of an agent -------------------------------------------------------------------------------------------------


def agent_runs(outputs: Sequence[Mapping[str, str]], *, requests: int, rounds: int, kilobytes: int, seed: int) -> Talk:
    """Return a conversation of requests, each worked on in so many rounds of a tool call and a result.

    Each request draws one output (its ``query`` is the question, its ``text`` gives the results, a piece a round) and
    ends with a short answer: ``rounds + 1`` calls of the model. No needs are labelled.
    """
    draw = random.Random(f"agent {requests} {rounds} {kilobytes} {seed}")
    size = kilobytes * 1000
    messages, calls = list[Message](), list[Call]()

    def call() -> None:
        calls.append(Call(len(messages), cold=draw.random() < COLD_SHARE))

    for request in range(requests):
        output = draw.choice(outputs)
        messages.append(Message("user", f"Request {request + 1}: {output['query']}"))
        start = draw.randrange(max(1, len(output["text"])))
        for step in range(rounds):
            call()
            at = (start + step * size) % max(1, len(output["text"]))
            asks = ToolCall(f"call-{request}-{step}", "read", json.dumps({"name": output["name"], "offset": at}))
            messages.append(Message("assistant", "", tool_calls=(asks,)))
            piece = (output["text"][at:] + output["text"])[:size]
            messages.append(Message("tool", piece, tool_call_id=asks.id))
        call()
        messages.append(Message("assistant", f"I have read {rounds} parts of {output['name']} and noted what I found."))
    shape = f"{requests}x{rounds}x{kilobytes}"
    return Talk(f"agent-{shape}-{seed}", "agent", "en", 0, shape, tuple(messages), tuple(calls))
