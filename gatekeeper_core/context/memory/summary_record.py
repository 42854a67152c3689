"""The summary of a conversation as a value: sentences by section, and the JSON in which a store keeps them.

Sentences are verbatim, with the messages that they come from. A model's text is kept beside them, so that there is
always something to fall back to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, get_args

from gatekeeper_core.errors import CorruptionError
from gatekeeper_core.storage.codec import from_record, to_record
from gatekeeper_core.text import Locale

__all__ = ["SECTIONS", "Section", "Speaker", "Summary", "SummaryItem", "SummarySource", "render_items"]

Section = Literal["topics", "decisions", "preferences", "details", "facts"]
Speaker = Literal["user", "assistant"]
SummarySource = Literal["extractive", "model"]

SECTIONS: tuple[Section, ...] = get_args(Section)
"""The sections in the order in which they are written. Source: specification 004-30; the last one is ours."""

_HEADINGS: dict[Locale, dict[Section, str]] = {
    "zh": {
        "topics": "主要话题：",
        "decisions": "重要决定：",
        "preferences": "用户偏好：",
        "details": "技术细节：",
        "facts": "其他事实：",
    },
    "en": {
        "topics": "Main topics:",
        "decisions": "Important decisions:",
        "preferences": "User preferences:",
        "details": "Technical details:",
        "facts": "Other facts:",
    },
}

_FORMAT = 2


class SummaryItem(NamedTuple):
    """One sentence of a summary.

    Attributes:
        section: what it is.
        text: the sentence, as it stands in each of its messages.
        seqs: sequence numbers of the messages in which it was said, ascending, at least one.
        speaker: who said it first.
        replaces: sequence numbers of what was said earlier of the same thing and no longer holds, ascending.
    """

    section: Section
    text: str
    seqs: tuple[int, ...]
    speaker: Speaker
    replaces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary of a conversation up to one of its messages.

    Attributes:
        items: the sentences, by section and then in the order in which they were said last.
        upto_seq: sequence number of the newest message that is covered, -1 for none.
        covered_messages: messages up to there, system messages aside. Source: specification 001-22.
        covered_tokens: what the said in them costs by the counter of whoever made it, 0 where it is not known.
        source: ``model`` where what a model wrote is shown, ``extractive`` where only sentences are.
        tokens: what ``text`` costs by the counter of whoever made it.
        version: of the record in the store, 0 where it was not saved.
        locale: language of the headings.
        model_text: what a model wrote, "" for nothing.
        model_upto_seq: sequence number of the newest message that the model knew of, -1 for none.
        checkpoints: sequence numbers at which the summary was brought up to date, each with the digest of all messages
            up to there; the last one is ``upto_seq``.
    """

    items: tuple[SummaryItem, ...] = ()
    upto_seq: int = -1
    covered_messages: int = 0
    covered_tokens: int = 0
    source: SummarySource = "extractive"
    tokens: int = 0
    version: int = 0
    locale: Locale = "zh"
    model_text: str = ""
    model_upto_seq: int = -1
    checkpoints: tuple[tuple[int, str], ...] = field(default=(), repr=False)

    @property
    def topics(self) -> tuple[SummaryItem, ...]:
        """The topics: the most telling text of the messages that opened each."""
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
        """Other sentences that tell much: who did what, and when."""
        return self._of("facts")

    @property
    def text(self) -> str:
        """The model's text and the sentences after it, or the sentences by section; ``fence()`` it for a model."""
        if self.source == "extractive":
            return render_items(self.items, self.locale)
        return "\n".join(filter(None, (self.model_text, render_items(self.after_model, self.locale))))

    @property
    def after_model(self) -> tuple[SummaryItem, ...]:
        """The sentences that were said after what the model knew of."""
        return tuple(item for item in self.items if item.seqs[-1] > self.model_upto_seq)

    def to_json(self) -> str:
        """Return the summary as JSON, in ASCII; :meth:`from_json` gives an equal one back."""
        return to_record(self, format_number=_FORMAT)

    @classmethod
    def from_json(cls, body: str, *, version: int = 0) -> Summary:
        """Return the summary that a JSON text describes; the version is that of the record that held it.

        Raises:
            CorruptionError: the text is damaged or something else; make the summary anew.
            TypeError: ``body`` is no str.

        >>> Summary.from_json(Summary(upto_seq=3, covered_messages=4).to_json()).upto_seq
        3
        """
        summary = replace(from_record(cls, body, format_number=_FORMAT), version=version)
        seqs = [seq for item in summary.items for seq in (*item.seqs, *item.replaces)]
        numbers = (*seqs, summary.model_upto_seq, *(seq for seq, _ in summary.checkpoints))
        if not all(item.seqs for item in summary.items) or min(seqs, default=0) < 0 or max(numbers) > summary.upto_seq:
            raise CorruptionError("the stored summary does not fit its messages: make it anew from the messages")
        return summary

    def _of(self, section: Section) -> tuple[SummaryItem, ...]:
        return tuple(item for item in self.items if item.section == section)


def render_items(items: Iterable[SummaryItem], locale: Locale) -> str:
    """Return sentences as plain text, a line each, under the headings of their sections.

    >>> print(render_items([SummaryItem("decisions", "Let's use Redis.", (4,), "user")], "en"))
    Important decisions:
    - Let's use Redis.
    """
    said: dict[Section, list[str]] = {section: [] for section in SECTIONS}
    for item in items:
        said[item.section].append(f"- {item.text}")
    return "\n".join(line for section, lines in said.items() if lines for line in (_HEADINGS[locale][section], *lines))
