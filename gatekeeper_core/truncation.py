"""Texts cut to a token budget, never inside a user-perceived character; a cut calls the counter O(log n) times."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from gatekeeper_core.errors import check_str
from gatekeeper_core.text import LazyPattern
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter


def truncate_to_tokens(
    text: str, budget_tokens: int, *, token_counter: TokenCounter | None = None, marker: str = ""
) -> str:
    """Return the longest prefix of a text that the counter puts within the budget; the whole text if it fits.

    The count of the result is at most ``budget_tokens``, for any counter that gives ``""`` no more than that; the
    result is longest for counters that never count a longer prefix lower. It never splits a surrogate pair, a letter
    with combining marks, a joined emoji, a flag, a hangul syllable in letters or a CR LF pair.

    Args:
        text: the text; lone surrogates pass through.
        budget_tokens: at least 0; 0 gives ``""``, even if the counter counts a short text as 0.
        token_counter: counts a text; None: ``TokenEstimator()``.
        marker: ends a cut text, inside the budget; dropped if it does not fit alone.

    Raises:
        ConfigError: the budget is negative, or the counter returned anything but an int of at least 0.

    Source: specification 001, ``truncateToTokens``.

    >>> truncate_to_tokens("缓存穿透怎么解决", 5, token_counter=len, marker="…")
    '缓存穿透…'
    """
    counter = _check(text, budget_tokens, token_counter, marker)

    def fits(size: int) -> bool:
        return counter(text[:size] + marker) <= budget_tokens

    if budget_tokens == 0:
        return ""
    if counter(text) <= budget_tokens:
        return text
    if marker and not fits(0):
        marker = ""
    stop = _safe_cut(text, _largest_fitting(fits, len(text), 4 * budget_tokens))
    # A counter that is not monotone may refuse the safe cut: halving ends after O(log n) counts.
    while stop and not fits(stop):
        stop = _safe_cut(text, stop // 2)
    return text[:stop] + marker


def truncate_middle(
    text: str, budget_tokens: int, *, token_counter: TokenCounter | None = None, marker: str = "…[{omitted}]…"
) -> str:
    """Return a text without its middle, so that the counter puts it within the budget; the whole text if it fits.

    The beginning takes two thirds of the result, the end one third, because the end of a tool's output shows how it
    went. No character is split; other arguments and errors as in :func:`truncate_to_tokens`. ``marker`` joins the two
    parts, with the number of omitted UTF-8 bytes for ``{omitted}``. If it does not fit alone, only the beginning stays,
    without a marker. A cut that meets the same marker of an earlier cut replaces it and adds up the bytes.

    Source: specification 002-29 (head and tail, omitted bytes reported); the shares are ours.

    >>> truncate_middle("error: " + "x" * 100 + " exit 1", 28, token_counter=len)
    'error: xxxxxxxx…[92]… exit 1'
    """
    counter = _check(text, budget_tokens, token_counter, marker)
    if counter(text) <= budget_tokens:
        return text
    before, number, after = marker.partition("{omitted}")
    earlier: list[re.Match[str]] = []  # places of the marker in the text, with a number of up to 18 digits
    if before and number and after:
        earlier = [*re.finditer(f"{re.escape(before)}([0-9]{{1,18}}){re.escape(after)}", text)]

    def shortened(kept: int) -> str:
        start, stop = _safe_cut(text, kept - kept // 3), _safe_cut(text, len(text) - kept // 3)
        covered = [cut for cut in earlier if cut.start() < stop and start < cut.end()]
        start, stop = min([start, *(cut.start() for cut in covered)]), max([stop, *(cut.end() for cut in covered)])
        omitted = len(text[start:stop].encode("utf-8", "surrogatepass"))
        omitted += sum(int(cut[1]) - len(cut[0].encode("utf-8")) for cut in covered)
        return f"{text[:start]}{marker.replace('{omitted}', str(omitted))}{text[stop:]}"

    if counter(shortened(0)) > budget_tokens:
        return truncate_to_tokens(text, budget_tokens, token_counter=counter)
    return shortened(_largest_fitting(lambda kept: counter(shortened(kept)) <= budget_tokens, len(text), budget_tokens))


def _largest_fitting(fits: Callable[[int], bool], failing: int, step: int) -> int:
    """Return the largest size below ``failing`` that fits; sizes grow from ``step``, as long texts cost more."""
    fitting = 0
    while failing - fitting > 1:
        middle = min(2 * fitting + step + 1, (fitting + failing) // 2)
        if fits(middle):
            fitting = middle
        else:
            failing = middle
    return fitting


def _check(text: str, budget_tokens: int, token_counter: TokenCounter | None, marker: str) -> TokenCounter:
    check_str("text", text)
    check_str("marker", marker)
    check_tokens("budget_tokens", budget_tokens)
    return checked_counter(token_counter)


# Extend the previous character without being marks: joiners, halfwidth voicing marks, Thai and Lao AM, skin tones,
# tags.
_EXTENDERS = LazyPattern("[\u200c\u200d\uff9e\uff9f\u0e33\u0eb3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_HANGUL = "\u1100-\u11ff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
_REGIONAL = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_INSEPARABLE_PAIR = LazyPattern(
    "\r\n"
    "|\u200d."
    "|[\ud800-\udbff][\udc00-\udfff]"
    f"|[\u1100-\u115f\ua960-\ua97c][{_HANGUL}]"  # a leading letter and whatever it leads
    f"|[{_HANGUL}][\u1160-\u11ff\ud7b0-\ud7fb]",  # a vowel or a final letter after any part of a syllable
    re.DOTALL,
)


def _safe_cut(text: str, stop: int) -> int:
    """Return the last position up to ``stop`` that splits no user-perceived character; linear in the steps back.

    Source: Unicode Standard Annex 29, rules GB3 to GB13, simplified towards not cutting (never after a joiner).
    """
    while 0 < stop < len(text):
        after = text[stop]
        if after.isascii() and after != "\n" and text[stop - 1] != "\u200d":
            break
        is_extender = unicodedata.category(after).startswith("M") or _EXTENDERS.match(after)
        # Two regional indicators make a flag: an odd number before the cut means inside one.
        flags_at = len(text[:stop].rstrip(_REGIONAL)) if after in _REGIONAL else stop
        is_in_flag = (stop - flags_at) % 2 == 1
        if not (is_extender or is_in_flag or _INSEPARABLE_PAIR.match(text, stop - 1, stop + 1)):
            break
        stop -= 1
    return stop
