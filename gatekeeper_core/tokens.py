"""Token counts: the specification's estimate, counters, and the cost of a message.

Any function from text to an int of at least 0 is a ``TokenCounter``; ``TokenEstimator()`` is the default.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from gatekeeper_core.caching import LruCache, text_key
from gatekeeper_core.errors import ConfigError, check_str
from gatekeeper_core.messages import MediaKind, MediaPart, Message, TextPart, checked_messages
from gatekeeper_core.text import LazyPattern
from gatekeeper_core.token_estimate import TokenEstimator

MEDIA_TOKENS: Mapping[MediaKind, int] = {
    "image": 765,
    "audio": 1_920,
    "video": 15_780,
    "document": 2_580,
    "other": 765,
}
"""Estimated tokens of a non-text part, by kind; its real size is unknown here.

Source: image: OpenAI's vision guide, 1024 x 1024 in high detail, 85 + 4 * 170. Audio and video: Gemini's token guide,
32 and 263 tokens per second, for one minute. Document: Gemini's document guide, 258 tokens per page, for ten pages. The
lengths, and the cost of an image for an unknown part, are ours.
"""


class TokenCounter(Protocol):
    """A callable that counts the tokens of a text, such as a plain function."""

    def __call__(self, text: str, /) -> int:
        """Return the number of tokens, at least 0."""
        ...


_CJK = LazyPattern("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]+")


def estimate_text_tokens(text: str) -> int:
    """Return the estimated tokens of a text: 1 per CJK character, 1 per 4 others, rounded down once.

    CJK is exactly U+4E00 to U+9FFF, U+3040 to U+30FF and U+AC00 to U+D7AF. Lone surrogates count as other characters.

    Source: specification 003, rule R1; the rounding of mixed text (``cjk + other // 4``) is ours.

    >>> estimate_text_tokens("你好世界"), estimate_text_tokens("hello world"), estimate_text_tokens("用 Redis 做缓存")
    (4, 2, 5)
    """
    check_str("text", text)
    cjk = sum(map(len, _CJK.findall(text)))
    return cjk + (len(text) - cjk) // 4


_DEFAULT_COUNTER = TokenEstimator()

_MAX_TEXTS = 16_384
"""Cached counts of a caller's counter. Source: ours; 2 MB."""


class _ForeignCounter:
    __slots__ = ("_counter", "_seen")

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._seen: LruCache[bytes, int] = LruCache(max_entries=_MAX_TEXTS)

    def __call__(self, text: str, /) -> int:
        key = text_key(text)
        cached = self._seen.get(key)
        if cached is not None:
            return cached
        tokens: object = self._counter(text)
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
            name = _name_of(self._counter)
            raise ConfigError(f"the token counter {name} returned {reprlib.repr(tokens)}: it must return an int >= 0")
        self._seen.put(key, tokens)
        return tokens


def checked_counter(counter: TokenCounter | None) -> TokenCounter:
    """Return the counter to use: ``TokenEstimator()`` for None, else ``counter`` with its results checked and cached.

    It raises ``ConfigError`` if ``counter`` returns anything but an int of at least 0. It caches the counts of 16,384
    texts by digest. Our own estimates and an already checked counter come back unchanged.

    >>> checked_counter(None) == TokenEstimator(), checked_counter(len)("abc")
    (True, 3)
    """
    if counter is None:
        return _DEFAULT_COUNTER
    if counter is estimate_text_tokens or isinstance(counter, (TokenEstimator, _ForeignCounter)):
        return counter
    if not callable(counter):
        raise TypeError(f"token_counter must be callable, got {type(counter).__name__}")
    return _ForeignCounter(counter)


def _name_of(counter: object) -> str:
    while isinstance(counter, _ForeignCounter):
        counter = counter._counter
    return str(getattr(counter, "__qualname__", type(counter).__qualname__))


def describe_counter(counter: TokenCounter) -> dict[str, Any]:
    """Return facts about a counter, JSON-ready: ``counter`` (a name) and ``margin`` (a share)."""
    if isinstance(counter, TokenEstimator):
        return {"counter": counter.name, "margin": counter.margin}
    return {"counter": _name_of(counter), "margin": 0.0}


def count_message(message: Message, *, token_counter: TokenCounter | None = None) -> int:
    """Return the cost of a message in tokens; see :func:`count_messages`."""
    return count_messages((message,), token_counter=token_counter)


def count_messages(
    messages: Iterable[Message], *, token_counter: TokenCounter | None = None, per_message_tokens: int = 0
) -> int:
    """Return the cost of messages in tokens, as used throughout the library.

    The cost is that of each non-empty text (text parts, names and arguments of tool calls, ``name``), the ``tokens`` of
    media parts (default: ``MEDIA_TOKENS``) and ``per_message_tokens``. Roles and ids are free.

    Args:
        messages: the messages.
        token_counter: counts the tokens of a text; defaults to ``TokenEstimator()``.
        per_message_tokens: tokens that the provider adds to every message, at least 0.

    Raises:
        ConfigError: ``per_message_tokens`` is negative, or the counter returned anything but an int of at least 0.
        TypeError: ``messages`` contains anything but messages.

    Source: specification 003-31 (the sum over texts; no overhead by default). Texts of parts and tool calls: ours.

    >>> count_messages([Message("user", "你好世界", name="ann-lee1")], token_counter=estimate_text_tokens)
    6
    """
    counter = checked_counter(token_counter)
    check_tokens("per_message_tokens", per_message_tokens)
    total = 0
    for message in checked_messages(messages):
        parts = (TextPart(message.content),) if isinstance(message.content, str) else message.content
        texts = [part.text for part in parts if isinstance(part, TextPart)]
        texts += [text for call in message.tool_calls for text in (call.name, call.arguments)]
        total += sum(map(counter, filter(None, [*texts, message.name]))) + per_message_tokens
        for part in parts:
            if isinstance(part, MediaPart):
                total += MEDIA_TOKENS[part.kind] if part.tokens is None else part.tokens
    return total


def check_tokens(argument: str, value: object, *, at_least: int = 0) -> None:
    """Raise TypeError if an argument is not an int, ConfigError if it is below ``at_least``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{argument} must be an int, got {type(value).__name__}")
    if value < at_least:
        raise ConfigError(f"{argument} must be at least {at_least}, got {value}")
