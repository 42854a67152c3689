"""Reminders: what users bring up again, which checks a selection without labels or a model.

::

    next user turn ──anchors──> corrections, quotes and names ──in the past, but not in the question──>
    reminders ──in the selection?──> held | missed

A user who brings up something from earlier shows what mattered there. If the selection for the previous question
lacked it, the answer may have missed it. Users also just change the subject, so the rate is an upper bound. The
baseline is the newest turns that fit into the same tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gatekeeper_core.context.history.strategies import newest_turns
from gatekeeper_core.messages import Message, group_turns
from gatekeeper_core.selection.anchors import count_terms, extract_anchors, folded, has_whole
from gatekeeper_core.selection.cues import read_cues, without_cues
from gatekeeper_core.selection.lexicon import background_frequencies
from gatekeeper_core.text import is_wide, sentences, word_strings
from gatekeeper_core.tokens import count_messages
from gatekeeper_eval.statistics import Share, bootstrap_ratio, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_eval.prompts import Prompts
    from gatekeeper_eval.sampling import SampledTurn

ReminderKind = Literal["correction", "quote", "name"]
_EXACT = frozenset({"identifier", "version", "number", "date", "amount"})
_LEAST_WEIGHT = 0.5
"""Lighter anchors (one-digit numbers, single characters) are in every text; see ``term_weight``."""


class Reminder(NamedTuple):
    """Something that the user brings up again, as written.

    The kind is ``correction`` (in a turn that corrects the answer), ``quote`` (quoted, or code) or ``name`` (an
    identifier, version, number, date or amount, a capitalised word within a sentence, a rare run of Chinese).
    """

    text: str
    kind: ReminderKind


class LookBack(NamedTuple):
    """The reminders of one turn that the selection holds and misses."""

    turn: SampledTurn  # the one answered
    held: tuple[Reminder, ...]
    missed: tuple[Reminder, ...]
    missed_by_newest: tuple[Reminder, ...]  # by the newest turns that fit into the same tokens
    tokens: int  # of the selection
    history_tokens: int

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        named = {name: [each._asdict() for each in getattr(self, name)] for name in ("held", "missed")}
        texts = {"question": self.turn.question, "next_turn": self.turn.next_text}
        return {"turn": list(self.turn.id), **texts, **named, "missed_by_newest": len(self.missed_by_newest)}


class Reminders(NamedTuple):
    """The reminders of all sampled turns, and the shares of misses."""

    looks: tuple[LookBack, ...]  # of turns with reminders, most misses first
    turns: Share  # of these turns, those with a miss (Wilson)
    missed: Share  # of the reminders (bootstrap over conversations)
    missed_by_newest: Share

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        shares = {name: getattr(self, name).to_dict() for name in ("turns", "missed", "missed_by_newest")}
        kinds: dict[str, dict[str, int]] = {}
        for look in self.looks:
            for name in ("held", "missed"):
                for each in getattr(look, name):
                    kind = kinds.setdefault(each.kind, {"held": 0, "missed": 0})
                    kind[name] += 1
        return {**shares, "kinds": kinds, "looks": [look.to_dict() for look in self.looks]}


def reminders_of(looks: Sequence[LookBack], *, seed: int = 0) -> Reminders:
    """Return the shares over turns; those without a reminder do not count."""
    relevant = [look for look in looks if look.held or look.missed]
    by_conversation: dict[tuple[str, int], list[LookBack]] = {}
    for look in relevant:
        by_conversation.setdefault(look.turn.id[:2], []).append(look)

    def share(name: str) -> Share:
        groups = [
            [(len(getattr(look, name)), len(look.held) + len(look.missed)) for look in looks]
            for looks in by_conversation.values()
        ]
        return bootstrap_ratio(groups, seed=seed)

    ordered = sorted(relevant, key=lambda look: (-len(look.missed), look.turn.id))
    turns = wilson(sum(bool(look.missed) for look in relevant), len(relevant))
    return Reminders(tuple(ordered), turns, share("missed"), share("missed_by_newest"))


def look_back(prompts: Prompts) -> LookBack:
    """Return the corrections, quotes and names of the next user turn that the selection holds and misses."""
    turn = prompts.turn
    before, after = turn.messages[: turn.past], turn.messages[turn.past :]
    past, question = _Texts(before), _Texts(after)
    corrects = read_cues(turn.next_text).correction is not None
    text = without_cues(turn.next_text) if corrects or prompts.goes_on else ""
    anchors = [anchor for anchor in extract_anchors(text) if anchor.weight >= _LEAST_WEIGHT]
    names: dict[str, Reminder] = {}  # by search term
    others: dict[str, Reminder] = {}
    # Join pairs of neighbouring characters if the past has them joined, too.
    # Source: ours; a name of three characters gives two pairs, but is one reminder.
    runs: list[str] = []
    for pair in [anchor.term for anchor in anchors if anchor.kind == "pair"]:
        grown = runs[-1] + pair[1:] if runs and runs[-1][-1] == pair[0] else ""
        if grown and grown in folded(text) and grown in past.folded:
            runs[-1] = grown
        elif past.has(pair):
            runs.append(pair)
    common = background_frequencies()
    for run in runs:
        # A name has a pair that is rare in everyday dialogue.
        is_rare = all(map(is_wide, run)) and any(run[at : at + 2] not in common for at in range(len(run) - 1))
        if not question.has(run) and (corrects or is_rare):
            names.setdefault(run, Reminder(run, "correction" if corrects else "name"))
    starts = {word for start, stop in sentences(text) for word in word_strings(text[start:stop])[:1]}
    for anchor in anchors:
        is_name = anchor.kind == "word" and anchor.text[0].isupper() and anchor.text not in starts
        kind: ReminderKind | None = "name" if is_name or anchor.kind in _EXACT else None
        if anchor.kind in ("quote", "code"):
            kind = "quote"
        if corrects and anchor.kind not in ("pair", "character", "triple"):
            kind = "correction"
        if kind and past.has(anchor.term) and not question.has(anchor.term):
            others.setdefault(anchor.term, Reminder(anchor.text, kind))
    # The baseline: the newest turns that fit into the tokens of the selection, with the head and the question.
    turns, view = group_turns(before), prompts.view
    head = before[: turns[0].start] if turns else ()
    room = view.tokens - count_messages((*head, *after))
    kept = newest_turns([count_messages(each.messages) for each in turns], budget_tokens=room)
    newest = _Texts((*head, *(message for at in kept for message in turns[at].messages), *after))
    sent = _Texts(prompts.selected)
    reminders = [*names.items(), *others.items()]
    held = tuple(reminder for term, reminder in reminders if sent.has(term))
    missed = tuple(reminder for term, reminder in reminders if not sent.has(term))
    missed_by_newest = tuple(reminder for term, reminder in reminders if not newest.has(term))
    return LookBack(turn, held, missed, missed_by_newest, view.tokens, view.history_tokens)


class _Texts:
    """The searchable texts of messages, tool results and calls included."""

    def __init__(self, messages: Sequence[Message]) -> None:
        texts = []
        for message in messages:
            texts.append(message.text)
            texts += (f"{call.name} {call.arguments}" for call in message.tool_calls)
        self.folded = folded("\n".join(texts))
        self._terms = {term for text in texts for term in count_terms(text)}

    def has(self, term: str) -> bool:
        return term in self._terms or has_whole(term, self.folded)
