"""New sentences into an old summary: what is repeated, what is replaced, and what gives way when room is short.

A sentence replaces an earlier one about the same thing where the user said it, or where the earlier one was the
assistant's as well:

* a decision, or a preference, with the same subject but for its numbers;
* a decision or a detail that says that something is now otherwise ("instead", 改用), and shares a third of all terms of
  both subjects, or two thirds of those of the earlier one.

Where neither holds, both stay: a stale sentence beside a newer one does less harm than a lost one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from gatekeeper_core.context.rounds import Locale
from gatekeeper_core.context.summary_record import SECTIONS, Section, Summary, SummaryItem, render_items
from gatekeeper_core.context.summary_sentences import detail_weight, says_change, subject_of
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter

__all__ = ["SHARES", "fit_summary", "merged", "value_of"]

SHARES: dict[Section, float] = {"topics": 0.2, "decisions": 0.35, "preferences": 0.2, "details": 0.25}
"""Share of the room that a section gets before any other may take it. Source: ours; a conversation of one kind of
sentence uses all of it."""

_VALUES: dict[Section, float] = {"topics": 1.0, "decisions": 3.0, "preferences": 3.0, "details": 1.0}
_SAME_SHARE, _HELD_SHARE = 1 / 3, 2 / 3
_MAX_SEQS, _MAX_REPLACED = 8, 16  # of one item: the first and the newest ones
_REPLACEABLE: dict[Section, tuple[Section, ...]] = {
    "decisions": ("decisions", "details"),
    "details": ("decisions", "details"),
    "preferences": ("preferences",),
    "topics": (),
}


class _Known(NamedTuple):
    """An item with what it is about."""

    item: SummaryItem
    subject: frozenset[str]


def merged(items: Iterable[SummaryItem], new: Iterable[SummaryItem]) -> tuple[SummaryItem, ...]:
    """Return a summary's sentences with new ones, by section and then in the order in which they were said last.

    Args:
        items: the old ones.
        new: in the order in which they were said, all of them later.

    >>> first, later = "We decided to use Redis for the cache.", "Let's switch the cache to Memcached instead."
    >>> both = [SummaryItem("decisions", text, (seq,), "user") for seq, text in enumerate((first, later))]
    >>> [(item.text, item.replaces) for item in merged(both[:1], both[1:])]
    [("Let's switch the cache to Memcached instead.", (0,))]
    """
    known = {(item.section, item.text): _Known(item, subject_of(item)) for item in items}
    for item in new:
        key = (item.section, item.text)
        if key in known:
            known[key] = known[key]._replace(item=_said_again(known[key].item, item))
            continue
        fresh = _Known(item, subject_of(item))
        if not _is_repetition(fresh, known.values()):
            gone = _replaced(fresh, known.values())
            for old in gone:
                del known[old.section, old.text]
            known[key] = fresh._replace(item=_in_place_of(item, gone))
    return _ordered(one.item for one in known.values())


def _ordered(items: Iterable[SummaryItem]) -> tuple[SummaryItem, ...]:
    return tuple(sorted(items, key=lambda item: (SECTIONS.index(item.section), item.seqs[-1])))


def _said_again(old: SummaryItem, item: SummaryItem) -> SummaryItem:
    seqs = sorted({*old.seqs, *item.seqs})
    return old._replace(seqs=tuple(seqs[:1] + seqs[1:][1 - _MAX_SEQS :]))


def _in_place_of(item: SummaryItem, gone: Sequence[SummaryItem]) -> SummaryItem:
    replaces = sorted({seq for old in gone for seq in (*old.seqs, *old.replaces)} - set(item.seqs))
    return item._replace(replaces=tuple(replaces[-_MAX_REPLACED:]))


def _is_repetition(fresh: _Known, known: Iterable[_Known]) -> bool:
    """Return whether a sentence says nothing new: a topic that is listed, or the assistant's echo of an item."""
    item, subject = fresh
    if item.section == "topics":
        return any(_share(subject, old.subject) >= 0.5 for old in known if old.item.section == "topics")
    if item.speaker == "user" or not subject:
        return False
    return any(subject <= old.subject for old in known if old.item.section != "topics")


def _replaced(fresh: _Known, known: Iterable[_Known]) -> list[SummaryItem]:
    item = fresh.item
    changes = item.section in ("decisions", "details") and says_change(item.text)
    settles = item.section in ("decisions", "preferences")
    if not (changes or settles):
        return []
    return [
        old.item
        for old in known
        if old.item.section in _REPLACEABLE[item.section]
        and (item.speaker == "user" or old.item.speaker == "assistant")
        and ((changes and _same_thing(fresh.subject, old.subject)) or (settles and _same_but_numbers(fresh, old)))
    ]


def _same_thing(subject: frozenset[str], earlier: frozenset[str]) -> bool:
    shared = len(subject & earlier)
    return _share(subject, earlier) >= _SAME_SHARE or (shared > 0 and shared >= _HELD_SHARE * len(earlier))


def _share(subject: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of all terms of two subjects that both have. Source: Jaccard 1901."""
    together = len(subject | other)
    return len(subject & other) / together if together else 0.0


def _same_but_numbers(fresh: _Known, old: _Known) -> bool:
    words = _words(fresh.subject)
    return bool(words) and fresh.item.section == old.item.section and words == _words(old.subject)


def _words(subject: frozenset[str]) -> frozenset[str]:
    return frozenset(term for term in subject if not _is_value(term))


def _is_value(term: str) -> bool:
    """Return whether a term is a number, a version, a date or an amount; ``node1`` is the name of something."""
    return term[0] in "@#" or term.lstrip("v").replace(".", "").isdigit()


def value_of(item: SummaryItem, *, upto_seq: int) -> float:
    """Return what a sentence is worth beside the others of a summary: the cheapest gives way first.

    3 for a decision or a preference, 1 for a topic or a detail; half a point where the user said it; a quarter for each
    technical detail in it, up to four; half for each repetition, up to two; a quarter where it corrects something; up
    to half a point (topics and details: one) for how late it was said.

    Args:
        item: the sentence.
        upto_seq: how far the summary reads.

    Source: ours.

    >>> value_of(SummaryItem("decisions", "Let's use Redis.", (10,), "user"), upto_seq=10)
    4.0
    """
    lateness = item.seqs[-1] / max(1, upto_seq) * (0.5 if _VALUES[item.section] > 1 else 1.0)
    value = _VALUES[item.section] + 0.5 * (item.speaker == "user") + 0.25 * detail_weight(item.text)
    return round(value + 0.5 * min(2, len(item.seqs) - 1) + 0.25 * bool(item.replaces) + lateness, 6)


def fit_summary(summary: Summary, budget_tokens: int, *, token_counter: TokenCounter | None = None) -> Summary:
    """Return a summary whose text costs at most so many tokens, with the most valuable of its sentences.

    A model's text is shown where it fits together with all sentences that came after it; it is never cut. Otherwise the
    sentences are shown alone. Of an estimating counter its margin is kept free.

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
    plain = replace(summary, source="extractive", items=_chosen(summary.items, room, counter, summary))
    shown = replace(plain, source="model") if summary.model_text else plain
    for one in (shown, plain):
        tokens = counter(one.text) if one.text else 0
        if tokens <= room:
            return replace(one, tokens=tokens)
    return replace(plain, items=(), tokens=0)


def _chosen(
    items: tuple[SummaryItem, ...], room: int, counter: Callable[[str], int], summary: Summary
) -> tuple[SummaryItem, ...]:
    """Return the sentences that fit, in their order: each section's best within its share, then the best of all."""
    if not items or counter(render_items(items, summary.locale)) <= room:
        return items
    ranked = sorted(
        items, key=lambda item: (-value_of(item, upto_seq=summary.upto_seq), -item.seqs[-1], item.section, item.text)
    )
    costs = _Costs(summary.locale, counter)
    taken = _take(ranked, costs, room)
    kept = _in_order_of(items, taken)
    while kept and counter(render_items(kept, summary.locale)) > room:
        taken.pop()  # lines may cost more together than one by one
        kept = _in_order_of(items, taken)
    return kept


def _in_order_of(items: Iterable[SummaryItem], taken: Sequence[SummaryItem]) -> tuple[SummaryItem, ...]:
    chosen = frozenset(taken)
    return tuple(item for item in items if item in chosen)


class _Costs:
    """What lines cost by themselves, each counted once."""

    def __init__(self, locale: Locale, counter: Callable[[str], int]) -> None:
        self._locale = locale
        self._counter = counter
        self._known: dict[SummaryItem, int] = {}

    def of(self, item: SummaryItem, *, first: bool) -> int:
        """Return what a sentence costs, the heading before it included where it is the first of its section."""
        if item not in self._known:
            self._known[item] = self._counter(f"- {item.text}\n")
        if not first:
            return self._known[item]
        heading = render_items([item._replace(text="")], self._locale)
        return self._known[item] + self._counter(heading)


def _take(ranked: Sequence[SummaryItem], costs: _Costs, room: int) -> list[SummaryItem]:
    taken: dict[SummaryItem, None] = {}
    spent = 0
    spent_by: dict[Section, int] = {}
    for shares in (SHARES, dict.fromkeys(SECTIONS, 1.0)):
        for item in ranked:
            section = item.section
            cost = costs.of(item, first=section not in spent_by)
            if item in taken or spent + cost > room or spent_by.get(section, 0) + cost > shares[section] * room:
                continue
            taken[item] = None
            spent += cost
            spent_by[section] = spent_by.get(section, 0) + cost
    return [item for item in ranked if item in taken]
