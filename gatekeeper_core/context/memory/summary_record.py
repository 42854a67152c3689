"""The summary of a conversation as a value: sentences by section, merging of new ones, fitting into a budget.

Sentences are verbatim; a model's text is kept beside them, so there is always a fallback. A sentence replaces an
earlier one about the same thing if the user said it, or the assistant said both:

* a decision, or a preference, with the same subject but for its numbers;
* a decision or detail that announces a change ("instead", 改用) and shares 1/3 of both subjects' terms or 2/3 of the
  earlier one's.

Otherwise both stay: a stale sentence beside a newer one does less harm than a lost one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from typing import Literal, get_args

from gatekeeper_core.context.memory.summary_sentences import (
    Section,
    SummaryItem,
    says_change,
    sentence_weight,
    subject_of,
)
from gatekeeper_core.errors import CorruptionError
from gatekeeper_core.records import from_record, to_record
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter

SECTIONS: tuple[Section, ...] = get_args(Section)  # in their order. Source: specification 004-30; the last one is ours

_HEADINGS: dict[Locale, str] = {
    "zh": "主要话题：|重要决定：|用户偏好：|技术细节：|其他事实：",
    "en": "Main topics:|Important decisions:|User preferences:|Technical details:|Other facts:",
}
_FORMAT = 2
SHARES: dict[Section, float] = {"topics": 0.15, "decisions": 0.3, "preferences": 0.15, "details": 0.2, "facts": 0.2}
"""Share of the room kept for a section in a first pass; what is free then goes to any. Source: ours."""

MOST_OF_SAID = 1 / 3  # of what a summary covers: its size with facts, at most. Source: ours; more would be no summary

_WORTHS: dict[Section, float] = {"topics": 1.0, "decisions": 3.0, "preferences": 1.5, "details": 1.0, "facts": 1.0}
_REPEATED = 0.3  # weight of a repeated term, relative to the first use
_LINE_TOKENS = 8  # added to the cost of a line, so that the shortest do not always win
_USERS_WORTH, _LATENESS_WORTH = 1.15, 0.1
_SHARE_OF_ALL, _SHARE_OF_EARLIER = 1 / 3, 2 / 3
_MAX_SEQS, _MAX_REPLACED = 8, 16  # of one item: the first and the newest ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary of a conversation up to one of its messages.

    Attributes:
        items: the sentences, by section, then by when they were last said.
        upto_seq: sequence number of the newest covered message, -1 for none.
        covered_messages: messages up to there, system messages aside. Source: specification 001-22.
        covered_tokens: tokens of the texts in them, 0 if unknown.
        source: ``model`` if a model's text is shown, ``extractive`` if only sentences are.
        tokens: tokens of ``text``.
        version: version of the stored record, 0 if not saved.
        locale: language of the headings.
        model_text: text written by a model, "" without one.
        model_upto_seq: sequence number of the newest message that the model's text covers, -1 for none.
        checkpoints: ``upto_seq`` of each update, with the digest of all messages up to there; the newest last.
    """

    items: tuple[SummaryItem, ...] = ()
    upto_seq: int = -1
    covered_messages: int = 0
    covered_tokens: int = 0
    source: Literal["extractive", "model"] = "extractive"
    tokens: int = 0
    version: int = 0
    locale: Locale = "zh"
    model_text: str = ""
    model_upto_seq: int = -1
    checkpoints: tuple[tuple[int, str], ...] = field(default=(), repr=False)

    @property
    def topics(self) -> tuple[SummaryItem, ...]:
        """The sentences that opened a topic."""
        return self._of("topics")

    @property
    def decisions(self) -> tuple[SummaryItem, ...]:
        """The decisions that still hold."""
        return self._of("decisions")

    @property
    def preferences(self) -> tuple[SummaryItem, ...]:
        """The user's likes, dislikes and standing requests."""
        return self._of("preferences")

    @property
    def details(self) -> tuple[SummaryItem, ...]:
        """Sentences with numbers, names of things in code, versions, paths, dates or amounts."""
        return self._of("details")

    @property
    def facts(self) -> tuple[SummaryItem, ...]:
        """Other informative sentences: who did what, and when."""
        return self._of("facts")

    @property
    def text(self) -> str:
        """The model's text and the sentences after it, or the sentences by section; ``fence()`` it for a model."""
        if self.source == "extractive":
            return render_items(self.items, self.locale)
        later = [item for item in self.items if item.seqs[-1] > self.model_upto_seq]
        return "\n".join(filter(None, (self.model_text, render_items(later, self.locale))))

    def to_json(self) -> str:
        """Return the summary as JSON, in ASCII."""
        return to_record(self, format_number=_FORMAT)

    @classmethod
    def from_json(cls, body: str, *, version: int = 0) -> Summary:
        """Return the summary that the JSON text of a record describes; raise CorruptionError if it is damaged."""
        summary = replace(from_record(cls, body, format_number=_FORMAT), version=version)
        if not all(item.seqs for item in summary.items):
            raise CorruptionError("a sentence of the stored summary has no message: build it again from the messages")
        return summary

    def _of(self, section: Section) -> tuple[SummaryItem, ...]:
        return tuple(item for item in self.items if item.section == section)


def render_items(items: Iterable[SummaryItem], locale: Locale) -> str:
    """Return sentences as plain text, one per line, under the headings of their sections."""
    headings = dict(zip(SECTIONS, _HEADINGS[locale].split("|"), strict=True))
    lines: dict[Section, list[str]] = {section: [] for section in SECTIONS}
    for item in items:
        lines[item.section].append(f"- {item.text}")
    return "\n".join(line for section in SECTIONS if lines[section] for line in (headings[section], *lines[section]))


def merged(items: Iterable[SummaryItem], new: Iterable[SummaryItem]) -> tuple[SummaryItem, ...]:
    """Return sentences merged with new ones (in order, and later), by section, then by when they were last said.

    >>> first, later = "We decided to use Redis for the cache.", "Let's switch the cache to Memcached instead."
    >>> both = [SummaryItem("decisions", text, (seq,), "user") for seq, text in enumerate((first, later))]
    >>> [(item.text, item.replaces) for item in merged(both[:1], both[1:])]
    [("Let's switch the cache to Memcached instead.", (0,))]
    """
    current = {(item.section, item.text): item for item in items}
    for item in new:
        key = (item.section, item.text)
        if key in current:
            seqs = sorted({*current[key].seqs, *item.seqs})
            current[key] = current[key]._replace(seqs=tuple(seqs[:1] + seqs[1:][1 - _MAX_SEQS :]))
        elif not _is_repetition(item, current.values()):
            replaced = _replaced(item, current.values())
            for old in replaced:
                del current[old.section, old.text]
            replaces = sorted({seq for old in replaced for seq in (*old.seqs, *old.replaces)} - set(item.seqs))
            current[key] = item._replace(replaces=tuple(replaces[-_MAX_REPLACED:]))
    return tuple(sorted(current.values(), key=lambda item: (SECTIONS.index(item.section), item.seqs[-1])))


def _is_repetition(item: SummaryItem, items: Iterable[SummaryItem]) -> bool:
    """Return whether a sentence adds nothing: a listed topic or fact, or an echo by the assistant."""
    subject = subject_of(item)
    if item.section in ("topics", "facts"):
        rivals = [old for old in items if item.section == "facts" or old.section == "topics"]
        if any(_jaccard(subject, subject_of(old)) >= 0.5 for old in rivals):
            return True
    if item.section == "topics" or item.speaker == "user" or not subject:
        return False
    return any(subject <= subject_of(old) for old in items if old.section != "topics")


def _replaced(item: SummaryItem, items: Iterable[SummaryItem]) -> list[SummaryItem]:
    subject = subject_of(item)
    changes = item.section in ("decisions", "details") and says_change(item.text)
    words = _words(subject) if item.section in ("decisions", "preferences") else frozenset()
    replaced = []
    for old in items if changes or words else ():
        earlier = subject_of(old)
        shared = len(subject & earlier)
        is_within = shared > 0 and shared >= _SHARE_OF_EARLIER * len(earlier)
        is_alike = is_within or _jaccard(subject, earlier) >= _SHARE_OF_ALL
        same_thing = changes and is_alike and old.section in ("decisions", "details", "facts")
        same_words = words and item.section == old.section and words == _words(earlier)
        if (same_thing or same_words) and (item.speaker == "user" or old.speaker == "assistant"):
            replaced.append(old)
    return replaced


def _jaccard(subject: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard index of two subjects. Source: Jaccard 1901."""
    together = len(subject | other)
    return len(subject & other) / together if together else 0.0


def _words(subject: frozenset[str]) -> frozenset[str]:
    """Return the terms except numbers, versions, dates and amounts; ``node1`` is a name and stays."""
    return frozenset(term for term in subject if not (term[0] in "@#" or term.lstrip("v").replace(".", "").isdigit()))


def fit_summary(summary: Summary, budget_tokens: int, *, token_counter: TokenCounter) -> Summary:
    """Return a summary within a token budget, with its most valuable sentences; an estimate's margin is kept free.

    A model's text is never cut: it is shown if it fits together with all later sentences, else only sentences are.
    """
    room = budget_within(token_counter, budget_tokens)
    limit = int(summary.covered_tokens * MOST_OF_SAID) if summary.covered_tokens else room
    kept = summary.items
    items: list[SummaryItem] | None = None
    while kept:
        tokens = token_counter(render_items(kept, summary.locale))
        if tokens <= room and (tokens <= limit or all(item.section != "facts" for item in kept)):
            break
        if items is None:
            items = _take(summary, room, token_counter)
        else:  # lines may cost more together than alone; if only ``limit`` is exceeded, facts go
            facts = [at for at, item in enumerate(items) if item.section == "facts"] if tokens <= room else []
            del items[facts[-1] if facts else -1]
        chosen = frozenset(items)
        kept = tuple(item for item in summary.items if item in chosen)
    plain = replace(summary, source="extractive", items=kept)
    shown = replace(plain, source="model") if summary.model_text else plain
    for one in (shown, plain):
        tokens = token_counter(one.text) if one.text else 0
        if tokens <= room:
            return replace(one, tokens=tokens)
    return replace(plain, items=(), tokens=0)


def _take(summary: Summary, room: int, counter: Callable[[str], int]) -> list[SummaryItem]:
    """Return the chosen sentences in the order of choice; each earlier use of its terms makes a sentence worth less."""
    lines = {item: counter(f"- {item.text}\n") for item in summary.items}
    information = {item: sentence_weight(item.text) for item in lines}
    taken: dict[SummaryItem, None] = {}
    spent: dict[Section, int] = {}
    times: Counter[str] = Counter()

    def entry(item: SummaryItem) -> tuple[float, int, str, str, SummaryItem]:
        terms, factor = information[item].weights.items(), information[item].factor
        new = math.fsum(weight * _REPEATED ** times[term] for term, weight in terms)
        by = _USERS_WORTH if item.speaker == "user" else 1.0
        by *= 1 + _LATENESS_WORTH * item.seqs[-1] / max(1, summary.upto_seq)
        worth = round(new * factor * by * _WORTHS[item.section] / (lines[item] + _LINE_TOKENS), 9)
        return -worth, -item.seqs[-1], item.section, item.text, item

    for shares in (SHARES, dict.fromkeys(SECTIONS, 1.0)):
        # Worths only fall: an entry that is still first when recomputed is the best of all.
        queue = [entry(item) for item in lines if item not in taken]
        heapify(queue)
        while queue:
            item = heappop(queue)[-1]
            again = entry(item)
            if queue and queue[0] < again:
                heappush(queue, again)
                continue
            cost = lines[item]
            if item.section not in spent:
                cost += counter(render_items([item._replace(text="")], summary.locale))
            of_section = spent.get(item.section, 0) + cost
            if sum(spent.values()) + cost <= room and of_section <= shares[item.section] * room:
                taken[item] = None
                spent[item.section] = of_section
                times.update(information[item].weights.keys())
    return list(taken)
