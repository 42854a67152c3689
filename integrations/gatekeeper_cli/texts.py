"""The texts of the command in English and Chinese (``texts.json``), and safe display of a conversation's texts.

Messages of the conversation, JSON, and the errors of the library are never translated.
"""

from __future__ import annotations

import json
import locale
import os
import re
from collections.abc import Mapping
from contextvars import ContextVar
from enum import Enum
from pathlib import Path

from gatekeeper_core.notebook import UNSHOWABLE
from gatekeeper_core.selection.result import Decision

_UNSHOWABLE = re.compile(UNSHOWABLE)
_UNSHOWABLE_IN_LINES = re.compile(f"(?![\t\n]){UNSHOWABLE}")


class Language(str, Enum):
    """A language of the output; ``auto`` follows the locale."""

    auto = "auto"
    en = "en"
    zh = "zh"


TABLE: Mapping[str, tuple[str, str]] = {
    key: (english, chinese)
    for key, (english, chinese) in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")).items()
}
"""The English and the Chinese text by key; ``left_out.X`` and ``odd.X`` have two English forms, ``one|many``."""

_MIN_ODDS = 0.1  # log odds from which a sign is worth naming

_COUNTED = re.compile(
    r"\{(\w+)[^}]*\} (?:more |smaller |model )?(?:turn|topic|token|word|answer|character|call|conversation|line"
    r"|problem|request|session|file|text)s\b"
)


class Texts:
    """The texts of one language, ``en`` or ``zh``.

    >>> Texts(Language.en)("way.budget", tokens=1200), Texts(Language.zh)("way.budget", tokens=1200)
    ('budget >= 1,200', '预算 ≥ 1,200')
    >>> Texts(Language.en)("inspect_heading", turns=1, tokens=1200, topics=1)
    '1 turn, 1,200 tokens, 1 topic'
    """

    def __init__(self, language: Language) -> None:
        self.language = language
        self._column = 1 if language is Language.zh else 0

    def __call__(self, key: str, /, **values: object) -> str:
        """Return a text with its values filled in."""
        text = TABLE[key][self._column]
        if self._column == 0:
            text = _COUNTED.sub(lambda match: match[0][:-1] if values.get(match[1]) == 1 else match[0], text)
        return text.format(**values) if values else text

    def percent(self, part: float, whole: float) -> str:
        """Return a share with one decimal; 100 only for all of it.

        >>> Texts(Language.en).percent(9_999, 10_000), Texts(Language.zh).percent(1, 8)
        ('99.9 %', '12.5%')
        """
        share = 100 * part / whole if whole else 0.0
        return f"{min(share, 99.9) if share < 100 else share:.{1 if whole else 0}f}{'' if self._column else ' '}%"

    def reason(self, decision: Decision) -> str:
        """Return the reason of a decision in words; for a turn kept by its meaning, with the cosine."""
        switched = decision.why == "low_need" and decision.kept_from_coverage is None
        name = "after_switch" if switched else f"reason.{decision.why}"
        reason = self(name, meaning=decision.meaning, tokens=decision.tokens) if name in TABLE else decision.why
        return reason if decision.why != "meaning" or decision.shared else self("no_anchor", why=reason)

    def why(self, decision: Decision, *, with_need: bool = True) -> str:
        """Return the reason of a decision, the need of the turn and, if it is kept, its strongest sign."""
        signs = () if decision.outcome == "dropped" else decision.signs
        shown = [(name, odds) for name, odds in signs if odds >= _MIN_ODDS and f"sign.{name}" in TABLE]
        notes = [f"{self(f'sign.{name}')} {odds:+.1f}" for name, odds in shown[:1]]
        if with_need and decision.need is not None:
            notes.insert(0, self("need_is", need=decision.need))
        return self("semicolon").join(filter(None, (self.reason(decision), self("colon").join(notes))))

    def gate_reason(self, name: str) -> str:
        """Return a reason of the gate in words; an unknown one unchanged."""
        return self(f"gate_reason.{name}") if f"gate_reason.{name}" in TABLE else name

    def counted(self, counts: Mapping[str, int], kinds: str) -> str:
        """Return counts in words, highest first.

        >>> Texts(Language.en).counted({"image": 1, "hidden_message": 1_200}, "left_out")
        '1,200 hidden messages, 1 image'
        """
        parts = []
        for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            one, _, many = self(f"{kinds}.{kind}").partition("|")
            parts.append(f"{count:,} {many if many and count != 1 else one}")
        return self("comma").join(parts)


def texts_for(language: Language) -> Texts:
    """Return the texts of a language."""
    return Texts(language_of(os.environ, locale.getlocale()[0]) if language is Language.auto else language)


ENGLISH = Texts(Language.en)
_spoken: ContextVar[Texts] = ContextVar("spoken", default=ENGLISH)


def speak(language: Language) -> Texts:
    """Return the texts of a language, and use them for further errors and notes of the running command."""
    texts = texts_for(language)
    _spoken.set(texts)
    return texts


def spoken() -> Texts:
    """Return the texts in the language of the running command."""
    return _spoken.get()


def language_of(environment: Mapping[str, str], system: str | None = None) -> Language:
    """Return the language of the first of ``LC_ALL``, ``LC_MESSAGES`` and ``LANG`` that is set, else of ``system``.

    ``LANGUAGE`` takes precedence, unless the locale is C (as in gettext).

    >>> language_of({"LANG": "zh_CN.UTF-8"}).value, language_of({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}).value
    ('zh', 'en')
    """
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    locale = next((environment[name] for name in names if environment.get(name)), "")
    if locale and locale.partition(".")[0] not in ("C", "POSIX"):
        locale = (environment.get("LANGUAGE") or locale).partition(":")[0]
    name = (locale or system or "").lower()
    return Language.zh if name.startswith(("zh", "chinese")) else Language.en


def visible(text: str) -> str:
    r"""Return a text on one line; what a terminal would obey or cannot show becomes U+FFFD.

    >>> visible("one\n  two \x1b[31m")
    'one two \ufffd[31m'
    """
    return _UNSHOWABLE.sub("\ufffd", " ".join(text.split()))


def visible_lines(text: str) -> str:
    r"""Return a text made safe like ``visible``, but with its lines and tabs; carriage returns are removed.

    >>> visible_lines("one\r\n\ttwo \x1b[31m")
    'one\n\ttwo \ufffd[31m'
    """
    return _UNSHOWABLE_IN_LINES.sub("\ufffd", text.replace("\r", ""))
