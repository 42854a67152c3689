"""Messages that the user pins or excludes, and instructions that hold for the whole conversation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from gatekeeper_core.caching import LruCache
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import SIGNED, Message, Turn, is_summary, with_text
from gatekeeper_core.selection.trimming import GAP
from gatekeeper_core.text import data_pattern, is_question, sentences

Pins: TypeAlias = Collection[int | str] | Callable[[Any], bool]
"""Messages of a conversation: positions, ids, or a function that picks them."""

_STANDING = data_pattern("summary_patterns.tsv", "STANDING")
_NOT_THEIRS = (">", "＞", "```", "~~~")  # quoted lines and code blocks are not the user's own words
_SHORT_CHARACTERS = 120
"""Characters of an answer that is kept whole beside its question. Source: ours."""

_LABEL = re.compile(
    r"\s*(<\w[^>\n]{0,30}>|\[\w[^\]\n]{0,30}\]|(?:observation|output|result)s?\b|观察结果|执行结果|工具结果|输出结果)",
    re.I,
)
"""Openings of an agent's observations: ``<output>``, ``[Result]``, ``Observation:``. Source: ours."""

_READ_CHARACTERS = 2_000
"""Characters of a message that are searched for an instruction. Source: ours; longer text was pasted."""


def positions_of(items: Sequence[Any], pins: Pins) -> tuple[int, ...]:
    """Return the positions of the messages that pins select, ascending; unknown ids are ignored.

    Args:
        items: the caller's messages: objects with an ``id``, or dicts.
        pins: positions, ids, or a function of one message.

    >>> positions_of([{"id": "a"}, {"id": "b"}], ["b"]), positions_of(["x", "yy"], lambda text: len(text) > 1)
    ((1,), (1,))
    """
    if callable(pins):
        return tuple(at for at, item in enumerate(items) if pins(item))
    positions = {pin for pin in pins if not isinstance(pin, str)}
    ids = {pin for pin in pins if isinstance(pin, str)}
    for at, item in enumerate(items if ids else ()):
        if (item.get("id") if isinstance(item, Mapping) else getattr(item, "id", None)) in ids:
            positions.add(at)
    return tuple(sorted(positions))


def check_pins(name: str, pins: object, *, count: int | None = None) -> None:
    """Check the argument ``pinned`` or ``exclude`` for a list of ``count`` messages; None: for a list of any length.

    Raises:
        TypeError: it is neither a collection of positions and ids nor a function.
        ConfigError: a position is negative or not in the list.
    """
    if callable(pins):
        return
    if isinstance(pins, (str, bytes)) or not isinstance(pins, Collection):
        expected = "a list of positions or ids, or a function of one message"
        raise TypeError(f"{name} must be {expected}, got {type(pins).__name__}")
    for pin in pins:
        if isinstance(pin, bool) or not isinstance(pin, (int, str)):
            raise TypeError(f"{name} must contain positions or ids, got {type(pin).__name__}")
        if isinstance(pin, int) and pin < 0:
            raise ConfigError(f"{name} must count positions from the start of the list (0 or more), got {pin}")
        if isinstance(pin, int) and count is not None and pin >= count:
            raise ConfigError(f"{name} position {pin} does not exist: the list has {count} messages")


def instructions_in(turns: Iterable[Turn], cache: LruCache[str, Any], *, in_an_agent: bool) -> tuple[int, ...]:
    """Return the positions of user messages that apply to the whole conversation, the most valuable first.

    Standing instructions come newest first; in an agent's thread, its first user message, the task, comes before them.
    The cache is the thread's, so that its next call reads only new messages.

    >>> talk = [Turn((Message("user", "From now on, answer in French."), Message("assistant", "Oui.")), 0, 2)]
    >>> instructions_in(talk, LruCache(max_entries=1), in_an_agent=False)
    (0,)
    """
    placed = ((turn.start + at, one) for turn in turns for at, one in enumerate(turn.messages))
    questions = [(at, one) for at, one in placed if one.role == "user" and one.text.strip() and not is_summary(one)]
    before = cache.get("instructions") or {}
    texts = dict.fromkeys(one.text for _, one in questions)
    is_instruction = {text: before[text] if text in before else _is_instruction(text) for text in texts}
    cache.put("instructions", is_instruction)
    first = [at for at, _ in questions[:1]] if in_an_agent else []
    return (*first, *(at for at, one in reversed(questions) if at not in first and is_instruction[one.text]))


def has_observations(turns: Sequence[Turn]) -> bool:
    """Return whether an agent writes observations as the user: most turns after the first open with the same label.

    >>> talk = [Turn((Message("user", f"<output>{at}</output>"),), at, at + 1) for at in range(9)]
    >>> has_observations(talk), has_observations(talk[:1])
    (True, False)
    """
    labels = Counter(label[1] for turn in turns[1:] if (label := _LABEL.match(turn.messages[0].text)))
    return 2 * max(labels.values(), default=0) > len(turns) - 1


def beginning_of(answer: Message) -> Message:
    """Return an answer, cut to its first sentence if it is long; a signed one is unchanged.

    >>> beginning_of(Message("assistant", "Noted. " + "Here is a story. " * 20)).text
    'Noted. …'
    """
    text = answer.text
    if len(text) <= _SHORT_CHARACTERS or SIGNED in answer.metadata:
        return answer
    stop = next((one.stop for one in sentences(text[: 2 * _SHORT_CHARACTERS])), 0)
    return with_text(answer, text[: min(stop, _SHORT_CHARACTERS)].rstrip() + " " + GAP.strip())


def _is_instruction(text: str) -> bool:
    read = text[:_READ_CHARACTERS].lower()
    if not _STANDING.search(read):
        return False
    parts = (read[start:stop] for start, stop in sentences(read))
    return any(_STANDING.search(one) and not is_question(one) and not one.startswith(_NOT_THEIRS) for one in parts)
