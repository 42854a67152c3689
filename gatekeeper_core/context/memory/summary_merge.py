"""New sentences into an old summary: what is repeated, what is replaced, and what gives way when room is short.

A sentence replaces an earlier one about the same thing where the user said it, or where the earlier one was the
assistant's as well:

* a decision, or a preference, with the same subject but for its numbers;
* a decision or a detail that says that something has changed ("instead", 改用), and shares a third of all terms of both
  subjects, or two thirds of those of the earlier one.

Where neither holds, both stay: a stale sentence beside a newer one does less harm than a lost one.

When room is short it goes to the sentences that tell most for their tokens, each term counting less the more often it
was told already: first within a share for each section, then wherever there is room.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from heapq import heapify, heappop, heappush

from gatekeeper_core.context.memory.summary_record import SECTIONS, Section, Summary, SummaryItem, render_items
from gatekeeper_core.context.memory.summary_sentences import read_telling, says_change, subject_of
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter

__all__ = ["SHARES", "fit_summary", "merged"]

SHARES: dict[Section, float] = {"topics": 0.15, "decisions": 0.3, "preferences": 0.15, "details": 0.2, "facts": 0.2}
"""Share of the room that a section gets before any other may take it. Source: ours; a conversation of one kind of
sentence uses all of it."""

MOST_OF_SAID = 1 / 3
"""Share of what it covers up to which a summary takes facts. Source: ours: a longer one would be no summary."""

_WORTHS: dict[Section, float] = {"topics": 1.0, "decisions": 3.0, "preferences": 1.5, "details": 1.0, "facts": 1.0}
_TOLD_AGAIN = 0.3  # what a term tells a second time, beside the first
_LINE_TOKENS = 8  # added to what a line costs, so that the shortest are not the best
_USERS_WORTH, _LATENESS_WORTH = 1.15, 0.1
_SETTLED: tuple[Section, ...] = ("decisions", "preferences")
_SAME_SHARE, _HELD_SHARE = 1 / 3, 2 / 3
_MAX_SEQS, _MAX_REPLACED = 8, 16  # of one item: the first and the newest ones
_REPLACEABLE: dict[Section, tuple[Section, ...]] = {
    "decisions": ("decisions", "details", "facts"),
    "details": ("decisions", "details", "facts"),
    "preferences": ("preferences",),
    "topics": (),
    "facts": (),
}


def merged(items: Iterable[SummaryItem], new: Iterable[SummaryItem]) -> tuple[SummaryItem, ...]:
    """Return a summary's sentences with new ones, by section and then in the order in which they were said last.

    The new ones come in the order in which they were said, all of them later than the old ones.

    >>> first, later = "We decided to use Redis for the cache.", "Let's switch the cache to Memcached instead."
    >>> both = [SummaryItem("decisions", text, (seq,), "user") for seq, text in enumerate((first, later))]
    >>> [(item.text, item.replaces) for item in merged(both[:1], both[1:])]
    [("Let's switch the cache to Memcached instead.", (0,))]
    """
    known = {(item.section, item.text): item for item in items}
    for item in new:
        key = (item.section, item.text)
        if key in known:
            seqs = sorted({*known[key].seqs, *item.seqs})
            known[key] = known[key]._replace(seqs=tuple(seqs[:1] + seqs[1:][1 - _MAX_SEQS :]))
        elif not _is_repetition(item, known.values()):
            gone = _replaced(item, known.values())
            for old in gone:
                del known[old.section, old.text]
            replaces = sorted({seq for old in gone for seq in (*old.seqs, *old.replaces)} - set(item.seqs))
            known[key] = item._replace(replaces=tuple(replaces[-_MAX_REPLACED:]))
    return tuple(sorted(known.values(), key=lambda item: (SECTIONS.index(item.section), item.seqs[-1])))


def _is_repetition(item: SummaryItem, known: Iterable[SummaryItem]) -> bool:
    """Return whether a sentence says nothing new: a topic or a fact that is listed, or the assistant's echo."""
    subject = subject_of(item)
    if item.section == "topics":
        return any(_share(subject, subject_of(old)) >= 0.5 for old in known if old.section == "topics")
    if item.section == "facts" and any(_share(subject, subject_of(old)) >= 0.5 for old in known):
        return True
    if item.speaker == "user" or not subject:
        return False
    return any(subject <= subject_of(old) for old in known if old.section != "topics")


def _replaced(item: SummaryItem, known: Iterable[SummaryItem]) -> list[SummaryItem]:
    """Return what a sentence takes the place of: a change of the same thing, or the same words with other numbers."""
    subject = subject_of(item)
    changes = item.section in ("decisions", "details") and says_change(item.text)
    settles = item.section in _SETTLED
    words = _words(subject)
    found = []
    for old in known if changes or settles else ():
        if old.section not in _REPLACEABLE[item.section] or not (item.speaker == "user" or old.speaker == "assistant"):
            continue
        earlier = subject_of(old)
        shared = len(subject & earlier)
        held = shared > 0 and shared >= _HELD_SHARE * len(earlier)
        same_thing = changes and (held or _share(subject, earlier) >= _SAME_SHARE)
        if same_thing or (settles and words and item.section == old.section and words == _words(earlier)):
            found.append(old)
    return found


def _share(subject: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of all terms of two subjects that both have. Source: Jaccard 1901."""
    together = len(subject | other)
    return len(subject & other) / together if together else 0.0


def _words(subject: frozenset[str]) -> frozenset[str]:
    """Return the terms that are no number, version, date or amount; ``node1`` is the name of something."""
    return frozenset(term for term in subject if not (term[0] in "@#" or term.lstrip("v").replace(".", "").isdigit()))


def fit_summary(summary: Summary, budget_tokens: int, *, token_counter: TokenCounter | None = None) -> Summary:
    """Return a summary whose text costs at most so many tokens, with the most valuable of its sentences.

    A model's text is shown where it fits together with all sentences that came after it; it is never cut. Otherwise the
    sentences are shown alone. The margin of an estimating counter is kept free.

    Args:
        summary: the summary.
        budget_tokens: what its text may cost, >= 0; an empty text costs nothing.
        token_counter: counts a text; None: ``TokenEstimator()``.

    Raises:
        ConfigError: the budget is negative.
        TypeError: an argument has the wrong type.
    """
    check_tokens("budget_tokens", budget_tokens)
    counter = checked_counter(token_counter)
    room = budget_within(counter, budget_tokens)
    plain = replace(summary, source="extractive", items=_chosen(summary, room, counter))
    shown = replace(plain, source="model") if summary.model_text else plain
    for one in (shown, plain):
        tokens = counter(one.text) if one.text else 0
        if tokens <= room:
            return replace(one, tokens=tokens)
    return replace(plain, items=(), tokens=0)


def _chosen(summary: Summary, room: int, counter: Callable[[str], int]) -> tuple[SummaryItem, ...]:
    """Return the sentences that fit, in their order: each section's best within its share, then the best of all."""
    limit = int(summary.covered_tokens * MOST_OF_SAID) if summary.covered_tokens else room
    kept = summary.items
    taken: list[SummaryItem] | None = None
    while kept:
        tokens = counter(render_items(kept, summary.locale))
        if tokens <= room and (tokens <= limit or all(item.section != "facts" for item in kept)):
            break
        if taken is None:
            taken = _take(summary, room, counter)
        else:  # lines may cost more together than alone; of a short conversation facts are not taken for their room
            facts = [at for at, item in enumerate(taken) if item.section == "facts"] if tokens <= room else []
            del taken[facts[-1] if facts else -1]
        chosen = frozenset(taken)
        kept = tuple(item for item in summary.items if item in chosen)
    return kept


def _take(summary: Summary, room: int, counter: Callable[[str], int]) -> list[SummaryItem]:
    """Return the sentences that are taken, in the order in which they are: shares first, then the rest.

    What a sentence is worth falls with each time that its terms were told before. A decision counts three times, a
    preference one and a half; a little more counts what the user said, and what was said late.
    """
    lines = {item: counter(f"- {item.text}\n") for item in summary.items}
    telling = {item: read_telling(item.text) for item in lines}
    taken: dict[SummaryItem, None] = {}
    spent: dict[Section, int] = {}
    times: Counter[str] = Counter()

    def entry(item: SummaryItem) -> tuple[float, int, str, str, SummaryItem]:
        terms, factor = telling[item].weights.items(), telling[item].factor
        new = math.fsum(weight * _TOLD_AGAIN ** times[term] for term, weight in terms)
        by = _USERS_WORTH if item.speaker == "user" else 1.0
        by *= 1 + _LATENESS_WORTH * item.seqs[-1] / max(1, summary.upto_seq)
        worth = round(new * factor * by * _WORTHS[item.section] / (lines[item] + _LINE_TOKENS), 9)
        return -worth, -item.seqs[-1], item.section, item.text, item

    def take(items: Iterable[SummaryItem], shares: Mapping[Section, float]) -> None:
        # A worth only falls: what is still the best when it is worked out again is the best of all.
        queue = [entry(item) for item in items if item not in taken]
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
                times.update(telling[item].weights.keys())

    take(lines, SHARES)
    take(lines, dict.fromkeys(SECTIONS, 1.0))
    return list(taken)
