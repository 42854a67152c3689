"""Token counts: the estimate, what a message costs, cutting to a budget, and the books of a budget.

One counter serves one object, fixed when that object is made. Any function from text to a whole number fits
``TokenCounter``; without one, ``TokenEstimator()`` counts. What a message costs is defined once, in ``count_message``;
how much of a budget is kept free because counts are estimates, in ``token_estimate.budget_within``.
"""

from __future__ import annotations

import re
import reprlib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import MediaKind, Message, TextPart
from gatekeeper_core.text import LazyPattern
from gatekeeper_core.token_estimate import TokenEstimator

__all__ = [
    "MEDIA_TOKENS",
    "TokenBudgetTracker",
    "TokenCounter",
    "cached_counter",
    "check_tokens",
    "checked_counter",
    "count_message",
    "count_messages",
    "describe_counter",
    "estimate_text_tokens",
    "is_ours",
    "truncate_middle",
    "truncate_to_tokens",
]

MEDIA_TOKENS: Mapping[MediaKind, int] = {
    "image": 765,
    "audio": 1_920,
    "video": 15_780,
    "document": 2_580,
    "other": 765,
}
"""Estimated tokens of a part that is no text, by kind; its real size is unknown here.

Source: image: OpenAI's vision guide, 1024 x 1024 in high detail, 85 + 4 * 170. Audio and video: Gemini's token guide,
32 and 263 tokens per second, for one minute. Document: Gemini's document guide, 258 tokens per page, for ten pages. The
lengths, and an unknown part as dear as an image, are ours.
"""


class TokenCounter(Protocol):
    """Anything that counts the tokens of a text; a plain function fits."""

    def __call__(self, text: str, /) -> int:
        """Return the number of tokens, at least 0."""
        ...


# Pages of 256 characters: 30 holds kana (from 3040 on), 4E to 9F ideographs, AC to D7 hangul syllables (up to D7AF).
_CJK_PAGES = bytes([0x30, *range(0x4E, 0xA0), *range(0xAC, 0xD8)])
_OTHER_PAGES = bytes(sorted(set(range(256)) - set(_CJK_PAGES)))
_UTF8_OF_3000_TO_303F = b"\xe3\x80"
_MAX_DIGITS = 18
_REST_OF_PAGE_D7 = LazyPattern("[\ud7b0-\ud7ff]")


def estimate_text_tokens(text: str) -> int:
    """Return the estimated tokens of a text: 1 per CJK character, 1 per 4 others, rounded down once.

    CJK is exactly U+4E00 to U+9FFF, U+3040 to U+30FF and U+AC00 to U+D7AF. Lone surrogates count as other characters.

    Raises:
        TypeError: ``text`` is no text.

    Source: specification 003, rule R1; the rounding of mixed text (``cjk + other // 4``) is ours.

    >>> estimate_text_tokens("你好世界"), estimate_text_tokens("hello world"), estimate_text_tokens("用 Redis 做缓存")
    (4, 2, 5)
    """
    _require_str("text", text)
    if text.isascii():
        return len(text) // 4
    # The high bytes of UTF-16 are page numbers; those of surrogates (D8 to DF) are on none of the pages.
    pages = text.encode("utf-16-be", "surrogatepass")[::2]
    cjk = len(pages.translate(None, _OTHER_PAGES))
    if 0x30 in pages:
        cjk -= text.encode("utf-8", "surrogatepass").count(_UTF8_OF_3000_TO_303F)
    if 0xD7 in pages:
        cjk -= sum(1 for _ in _REST_OF_PAGE_D7.finditer(text))
    return cjk + (len(text) - cjk) // 4


_DEFAULT_COUNTER = TokenEstimator()


class _CheckedCounter:
    """A foreign counter whose every result is checked."""

    __slots__ = ("_counter",)

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    def __call__(self, text: str, /) -> int:
        tokens: object = self._counter(text)
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
            name = _name_of(self._counter)
            raise ConfigError(f"the token counter {name} returned {reprlib.repr(tokens)}: return an int, at least 0")
        return tokens


def checked_counter(counter: TokenCounter | None) -> TokenCounter:
    """Return the counter to use: ``TokenEstimator()`` for None, else ``counter`` with its results checked.

    The returned counter raises ``ConfigError`` when ``counter`` gives anything but an int of at least 0. Our own
    estimates and a counter that is checked already come back as they are.

    Raises:
        TypeError: ``counter`` cannot be called.

    >>> checked_counter(None) == TokenEstimator(), checked_counter(len)("abc")
    (True, 3)
    """
    if counter is None:
        return _DEFAULT_COUNTER
    if is_ours(counter) or isinstance(counter, (_CheckedCounter, _CachedCounter)):
        return counter
    if not callable(counter):
        raise TypeError(f"token_counter must be callable, got {type(counter).__name__}")
    return _CheckedCounter(counter)


def is_ours(counter: TokenCounter) -> bool:
    """Return whether a counter is one of the estimates of this library."""
    return counter is estimate_text_tokens or isinstance(counter, TokenEstimator)


def _name_of(counter: object) -> str:
    while isinstance(counter, (_CheckedCounter, _CachedCounter)):
        counter = counter._counter
    return str(getattr(counter, "__qualname__", type(counter).__qualname__))


class _CachedCounter:
    """A counter that remembers the counts of the texts that it saw last, by digest: the texts are not held."""

    __slots__ = ("_counter", "_digest", "_max_texts", "_seen")

    def __init__(self, counter: TokenCounter, max_texts: int) -> None:
        from hashlib import blake2b  # here, because it is a tenth of the import of the library

        self._digest = blake2b
        self._counter = counter
        self._max_texts = max_texts
        self._seen: dict[bytes, int] = {}

    def __call__(self, text: str, /) -> int:
        key = self._digest(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        tokens = self._seen.get(key)
        if tokens is None:
            tokens = self._counter(text)
            if len(self._seen) >= self._max_texts:
                self._seen = {}
            self._seen[key] = tokens
        return tokens


def cached_counter(counter: TokenCounter | None, *, max_texts: int = 16_384) -> TokenCounter:
    """Return a checked counter that counts each text once, as long as it remembers it.

    Our own estimates are nearly as fast as a memory and come back as they are.

    Args:
        counter: counts a text; None: ``TokenEstimator()``.
        max_texts: texts after which it forgets all and starts again, at least 1.

    Raises:
        ConfigError: ``max_texts`` is out of range.
        TypeError: an argument has the wrong type.

    >>> cached_counter(None) == TokenEstimator(), cached_counter(len)("abc")
    (True, 3)
    """
    check_tokens("max_texts", max_texts, at_least=1)
    checked = checked_counter(counter)
    if is_ours(checked) or isinstance(checked, _CachedCounter):
        return checked
    return _CachedCounter(checked, max_texts)


def describe_counter(counter: TokenCounter) -> dict[str, Any]:
    """Return what counts, as JSON-ready facts for statistics: ``counter`` (a name) and ``margin`` (a share).

    >>> describe_counter(TokenEstimator("cl100k", margin=0.1)), describe_counter(estimate_text_tokens)["counter"]
    ({'counter': 'cl100k', 'margin': 0.1}, 'estimate_text_tokens')
    """
    if isinstance(counter, TokenEstimator):
        return {"counter": counter.name, "margin": counter.margin}
    return {"counter": _name_of(counter), "margin": 0.0}


def count_message(message: Message, *, token_counter: TokenCounter | None = None, per_message_tokens: int = 0) -> int:
    """Return what a message costs, in tokens: the one definition that everything here uses.

    The cost is the sum over its texts, each counted by itself and once: content (each text part), name and arguments of
    each tool call, and the ``name`` field; then ``MEDIA_TOKENS`` for each part that is no text, and
    ``per_message_tokens``. An empty text costs nothing. Roles and ids are not counted.

    Args:
        message: the message.
        token_counter: counts a text; None: ``TokenEstimator()``.
        per_message_tokens: what the provider adds to every message, at least 0.

    Raises:
        ConfigError: ``per_message_tokens`` is negative, or the counter returned no int of at least 0.
        TypeError: an argument has the wrong type.

    Source: specification 003-31 (the sum over texts; no overhead by default). Texts of parts and tool calls: ours.

    >>> count_message(Message("user", "你好世界", name="ann-lee1"), token_counter=estimate_text_tokens)
    6
    """
    return count_messages((message,), token_counter=token_counter, per_message_tokens=per_message_tokens)


def count_messages(
    messages: Iterable[Message], *, token_counter: TokenCounter | None = None, per_message_tokens: int = 0
) -> int:
    """Return the sum of ``count_message`` over messages, in tokens; arguments and errors are the same.

    >>> count_messages([Message("user", "hello world"), Message("assistant", "你好")], token_counter=len)
    13
    """
    counter = checked_counter(token_counter)
    check_tokens("per_message_tokens", per_message_tokens)
    total = 0
    for message in messages:
        if not isinstance(message, Message):
            raise TypeError(f"message must be a Message, got {type(message).__name__}")
        total += per_message_tokens + _media_tokens(message) + sum(map(counter, filter(None, _texts(message))))
    return total


def _texts(message: Message) -> Iterator[str]:
    if isinstance(message.content, str):
        yield message.content
    else:
        yield from (part.text for part in message.content if isinstance(part, TextPart))
    for call in message.tool_calls:
        yield call.name
        yield call.arguments
    yield message.name or ""


def _media_tokens(message: Message) -> int:
    if isinstance(message.content, str):
        return 0
    return sum(MEDIA_TOKENS[part.kind] for part in message.content if not isinstance(part, TextPart))


def truncate_to_tokens(
    text: str, budget_tokens: int, *, token_counter: TokenCounter | None = None, marker: str = ""
) -> str:
    """Return the longest prefix of a text that the counter puts within the budget; the whole text if it fits.

    The promise is that the counter's count of the result is at most ``budget_tokens``, for any counter that gives
    ``""`` no more than that. "Longest" holds for counters that never count a longer prefix lower; with others the
    result is a prefix that fits. The cut never falls inside a character as people see it: a surrogate pair, a letter
    with its combining marks, a joined emoji, a flag, a hangul syllable in letters, a CR LF pair. The counter is called
    O(log n) times.

    Args:
        text: the text; lone surrogates pass through.
        budget_tokens: at least 0; 0 gives ``""``, also where the counter counts a short text as 0.
        token_counter: counts a text; None: ``TokenEstimator()``.
        marker: stands at the end when something was cut, inside the budget; left out when it does not fit by itself.

    Raises:
        ConfigError: the budget is negative, or the counter returned no int of at least 0.
        TypeError: an argument has the wrong type.

    Source: specification 001, ``truncateToTokens``.

    >>> truncate_to_tokens("缓存穿透怎么解决", 5, token_counter=len, marker="…")
    '缓存穿透…'
    """
    _require_str("text", text)
    _require_str("marker", marker)
    check_tokens("budget_tokens", budget_tokens)
    counter = checked_counter(token_counter)

    def fits(candidate: str) -> bool:
        return counter(candidate) <= budget_tokens

    if budget_tokens == 0:
        return ""
    if fits(text):
        return text
    if marker and not fits(marker):
        marker = ""
    stop = _safe_cut(text, _longest_fit(text, marker, budget_tokens, fits))
    # A counter that is not monotone may refuse the safe cut: halving ends after O(log n) counts.
    while stop and not fits(text[:stop] + marker):
        stop = _safe_cut(text, stop // 2)
    return text[:stop] + marker


def truncate_middle(
    text: str, budget_tokens: int, *, token_counter: TokenCounter | None = None, marker: str = "…[{omitted}]…"
) -> str:
    """Return a text without its middle, so that the counter puts it within the budget; the whole text if it fits.

    Two thirds of what stays are the beginning, one third the end: the end of a tool's output tells how it went. The cut
    falls inside no character, as in :func:`truncate_to_tokens`, and the counter is called O(log n) times.

    Args:
        text: the text; lone surrogates pass through.
        budget_tokens: at least 0.
        token_counter: counts a text; None: ``estimate_text_tokens``.
        marker: stands between the two parts, ``{omitted}`` in it for the bytes of UTF-8 that are gone. Where it does
            not fit by itself, the beginning alone is left, without a marker. A cut that falls on the same marker of an
            earlier one takes its place and adds up the bytes.

    Raises:
        ConfigError: the budget is negative, or the counter returned no int of at least 0.
        TypeError: an argument has the wrong type.

    Source: specification 002-29 (head and tail, the omitted bytes said); the shares are ours.

    >>> truncate_middle("error: " + "x" * 100 + " exit 1", 28, token_counter=len)
    'error: xxxxxxxx…[92]… exit 1'
    """
    _require_str("text", text)
    _require_str("marker", marker)
    check_tokens("budget_tokens", budget_tokens)
    counter = checked_counter(token_counter)
    if counter(text) <= budget_tokens:
        return text
    earlier = _cuts_in(text, marker)

    def shortened(kept: int) -> str:
        start, stop = _safe_cut(text, kept - kept // 3), _safe_cut(text, len(text) - kept // 3)
        covered = [cut for cut in earlier if cut.start < stop and start < cut.stop]
        start, stop = min([start, *(cut.start for cut in covered)]), max([stop, *(cut.stop for cut in covered)])
        omitted = len(text[start:stop].encode("utf-8", "surrogatepass"))
        omitted += sum(cut.omitted - len(text[cut.start : cut.stop].encode("utf-8")) for cut in covered)
        return f"{text[:start]}{marker.replace('{omitted}', str(omitted))}{text[stop:]}"

    if counter(shortened(0)) > budget_tokens:
        return truncate_to_tokens(text, budget_tokens, token_counter=counter)
    fitting, failing = 0, len(text)
    while failing - fitting > 1:
        middle = min(2 * fitting + budget_tokens + 1, (fitting + failing) // 2)  # grows first: long texts are dear
        if counter(shortened(middle)) <= budget_tokens:
            fitting = middle
        else:
            failing = middle
    return shortened(fitting)


class _Cut(NamedTuple):
    start: int
    stop: int
    omitted: int


def _cuts_in(text: str, marker: str) -> list[_Cut]:
    """Return where the marker stands in a text with a number in it: the cuts that were made before."""
    before, number, after = marker.partition("{omitted}")
    found: list[_Cut] = []
    at = text.find(before) if before and number and after else -1
    while at >= 0:
        digits = at + len(before)
        stop = text.find(after, digits, digits + _MAX_DIGITS + len(after))
        said = text[digits:stop] if stop >= 0 else ""
        if said.isascii() and said.isdecimal():
            found.append(_Cut(at, stop + len(after), int(said)))
        at = text.find(before, at + len(before))
    return found


class _Fits(Protocol):
    def __call__(self, candidate: str, /) -> bool: ...


def _longest_fit(text: str, marker: str, budget_tokens: int, fits: _Fits) -> int:
    """Return the largest length below the whole at which prefix and marker fit, 0 if none does.

    Doubling before halving: the counts read about as much text as the result is long, not the whole text each time.
    """
    fitting, failing = 0, len(text)
    size = 4 * budget_tokens + 1
    while size < failing:
        if fits(text[:size] + marker):
            fitting, size = size, 2 * size
        else:
            failing = size
    while failing - fitting > 1:
        middle = (fitting + failing) // 2
        if fits(text[:middle] + marker):
            fitting = middle
        else:
            failing = middle
    return fitting


def _safe_cut(text: str, stop: int) -> int:
    """Return the last place up to ``stop`` that lies inside no character as people see it; linear in the steps back.

    Source: Unicode Standard Annex 29, rules GB3 to GB13, simplified towards not cutting (never after a joiner).
    """
    while 0 < stop < len(text) and _is_inside(text, stop):
        stop -= 1
    return stop


# What extends the character before it although it is no mark: joiners, halfwidth voicing marks, Thai and Lao AM, skin
# tones, tags.
_EXTENDERS = LazyPattern("[\u200c\u200d\uff9e\uff9f\u0e33\u0eb3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_HANGUL = "\u1100-\u11ff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
_INSEPARABLE_PAIR = LazyPattern(
    "\r\n"
    "|\u200d."
    "|[\ud800-\udbff][\udc00-\udfff]"
    f"|[\u1100-\u115f\ua960-\ua97c][{_HANGUL}]"  # a leading letter and whatever it leads
    f"|[{_HANGUL}][\u1160-\u11ff\ud7b0-\ud7fb]",  # a vowel or a final letter after any part of a syllable
    re.DOTALL,
)


def _is_inside(text: str, at: int) -> bool:
    after = text[at]
    if after.isascii() and after != "\n" and text[at - 1] != "\u200d":
        return False
    if unicodedata.category(after).startswith("M") or _EXTENDERS.match(after):
        return True
    if _INSEPARABLE_PAIR.match(text, at - 1, at + 1):
        return True
    return _is_regional(after) and _regional_run(text, at) % 2 == 1


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regional_run(text: str, stop: int) -> int:
    """Return how many regional indicators stand directly before ``stop``: two make a flag."""
    start = stop
    while start and _is_regional(text[start - 1]):
        start -= 1
    return stop - start


class TokenBudgetTracker:
    """The books of one token budget: who took how much, and what is left.

    Args:
        total: tokens to give away, at least 1.
        caps: the most that a category may take, by category, each at least 0; the others are limited by ``total``.

    Raises:
        ConfigError: ``total`` or a cap is out of range.
        TypeError: ``total`` or a cap is no int.

    Source: specification 001, ``TokenBudgetTracker``; ``caps`` is ours.

    >>> tracker = TokenBudgetTracker(100, caps={"recall": 30})
    >>> tracker.allocate("system", 60), tracker.allocate("recall", 31), tracker.allocate("recall", 30)
    (True, False, True)
    >>> tracker.remaining, tracker.breakdown
    (10, {'system': 60, 'recall': 30})
    """

    __slots__ = ("_breakdown", "_caps", "_total", "_used")

    def __init__(self, total: int, *, caps: Mapping[str, int] | None = None) -> None:
        check_tokens("total", total, at_least=1)
        self._total = total
        self._caps = dict(caps or {})
        for category, cap in self._caps.items():
            _require_str("a category of caps", category)
            check_tokens(f"caps[{reprlib.repr(category)}]", cap)
        self._breakdown: dict[str, int] = {}
        self._used = 0

    def allocate(self, category: str, tokens: int) -> bool:
        """Return whether ``tokens`` were given to ``category``; where they are too many, nothing changes.

        Raises:
            ConfigError: ``tokens`` is negative.
            TypeError: an argument has the wrong type.
        """
        _require_str("category", category)
        check_tokens("tokens", tokens)
        taken = self._breakdown.get(category, 0) + tokens
        if self._used + tokens > self._total or taken > self._caps.get(category, self._total):
            return False
        self._breakdown[category] = taken
        self._used += tokens
        return True

    @property
    def total(self) -> int:
        """Tokens to give away in all."""
        return self._total

    @property
    def used(self) -> int:
        """Tokens given away so far."""
        return self._used

    @property
    def remaining(self) -> int:
        """Tokens that are left."""
        return self._total - self._used

    @property
    def breakdown(self) -> dict[str, int]:
        """Tokens given to each category, in the order of their first allocation; a copy."""
        return dict(self._breakdown)


def _require_str(argument: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be str, got {type(value).__name__}")


def check_tokens(argument: str, value: object, *, at_least: int = 0) -> None:
    """Check a whole number, of tokens or of turns, that an argument gives.

    Raises:
        TypeError: it is no whole number.
        ConfigError: it is below ``at_least``.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{argument} must be int, got {type(value).__name__}")
    if value < at_least:
        raise ConfigError(f"{argument} must be at least {at_least}, got {value}")
