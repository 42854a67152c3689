"""Edits of a prompt whose beginning the provider has cached: delayed while they lose money.

An editor that clears or drops old messages saves their tokens at each later call, but everything after them is written
again. A **delayed** edit keeps the prompt as last sent, earlier edits included, and adds the new messages. It is made
when the prompt has no room without it, or when carrying what it removes has cost as much as the edit (at once if the
cache is cold) and the bill stays within ``MOST`` times that of a prompt that is never edited. Source: rent or buy, as
in :mod:`gatekeeper_core.pricing.policy`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.pricing.cache import MOST, PromptCache, Request, charge

if TYPE_CHECKING:
    from gatekeeper_core.pricing.prices import ModelPrices
    from gatekeeper_core.pricing.usage import Usage

Pieces = tuple[tuple[bytes, int], ...]
"""Digest and tokens of each piece of a prompt: what precedes the messages, then each message."""


class EditedPrompt(NamedTuple):
    """The last prompt of a thread, and the decision on its edit.

    Attributes:
        unedited: the prompt as the editor got it.
        sent: the prompt to send.
        unedited_cache, sent_cache: the provider's cache, had only these prompts been sent.
        allowance: dollars that the thread may still lose.
        rent: dollars that the delayed edit would have saved so far.
        is_cached: False if the provider needs marks and reported less than half of the prompt as cached or written.
        reason: ``paid_off``, ``cheaper_now``, ``no_room``, ``done`` (it could not be delayed): made; ``not_paid_off``,
            ``guard`` (the bill would be too large): delayed; "": no edit.
        saved_tokens: tokens that the edit removes.
        rewritten_tokens: tokens to write again because of the edit.
        dollars: extra cost of this call with the edit.
    """

    unedited: Pieces = ()
    sent: Pieces = ()
    unedited_cache: PromptCache = PromptCache()
    sent_cache: PromptCache = PromptCache()
    allowance: float = 0.0
    rent: float = 0.0
    is_cached: bool = True
    reason: str = ""
    saved_tokens: int = 0
    rewritten_tokens: int = 0
    dollars: float = 0.0

    @property
    def is_delayed(self) -> bool:
        """Whether the edit is delayed."""
        return self.reason in ("not_paid_off", "guard")

    def reported(self, usage: Usage, prices: ModelPrices) -> EditedPrompt:
        """Return the prompt after the provider's report: without marks, a cache that needs them holds nothing."""
        cached = usage.cached_tokens + usage.cache_written_tokens
        is_small = usage.input_tokens < (prices.min_cached_tokens or 0)
        return self._replace(is_cached=is_small or not prices.marked or 2 * cached >= usage.input_tokens)


def choose_edit(
    last: EditedPrompt,
    unedited: Pieces,
    edited: Pieces,
    *,
    prices: ModelPrices,
    now: float,
    room: int,
    is_done: bool = False,
) -> EditedPrompt:
    """Return the next prompt to send: edited, or unchanged with the new pieces appended.

    Args:
        last: the last prompt of the thread; ``EditedPrompt()`` at first.
        unedited: the prompt as the editor gets it.
        edited: the prompt as the editor leaves it.
        prices: prices of the model.
        now: time of the call in seconds, on the clock of the earlier calls.
        room: token limit of a prompt.
        is_done: whether messages before the new ones were edited for good: then the edit is only priced.
    """
    if not last.is_cached:
        prices = replace(prices, min_cached_tokens=None)

    def charged(pieces: Pieces, cache: PromptCache) -> tuple[Usage, float, PromptCache]:
        usage, after = charge(cache, Request(pieces, {0, len(pieces) - 1}), now=now, prices=prices)
        return usage, prices.dollars(usage), PromptCache(after.prefixes[-len(pieces) :])

    read_count, goes_on = len(last.unedited), unedited[: len(last.unedited)] == last.unedited
    if is_done:
        read_count = max((at for at, piece in enumerate(unedited, 1) if piece in last.unedited), default=0)
    kept = (*last.sent, *unedited[read_count:])
    if not is_done and not (goes_on and {*kept} <= {*unedited, *edited}):
        kept = edited  # the history has changed
    kept_usage, kept_dollars, kept_cache = charged(kept, last.sent_cache)
    edit_usage, edit_dollars, edit_cache = charged(edited, last.sent_cache)
    _, unedited_dollars, unedited_cache = charged(unedited, last.unedited_cache)

    sizes = kept_usage.input_tokens, edit_usage.input_tokens
    least = prices.min_cached_tokens or 0
    gain = (sizes[0] - sizes[1]) * prices.cache_read / 1_000_000  # at each later call
    dollars = edit_dollars - kept_dollars
    allowance = last.allowance + MOST * unedited_dollars
    rounding = abs(prices.cache_write - prices.cache_read) * (prices.step_tokens - 1) / 1_000_000
    if kept == edited:
        reason = ""
    elif is_done:
        reason = "done"
    elif sizes[0] > room:
        reason = "no_room"
    elif dollars > last.rent:
        reason = "not_paid_off"
    elif sizes[1] < least or gain < rounding or edit_dollars > allowance:
        reason = "guard"
    else:
        reason = "cheaper_now" if dollars <= 0 else "paid_off"
    edited_prompt = EditedPrompt(
        unedited,
        edited,
        unedited_cache,
        edit_cache,
        allowance - edit_dollars,
        is_cached=last.is_cached,
        reason=reason,
        saved_tokens=sizes[0] - sizes[1],
        rewritten_tokens=max(0, sizes[1] - edit_usage.cached_tokens - sizes[0] + kept_usage.cached_tokens),
        dollars=dollars,
    )
    rent = last.rent + gain
    delayed = edited_prompt._replace(sent=kept, sent_cache=kept_cache, allowance=allowance - kept_dollars, rent=rent)
    return delayed if edited_prompt.is_delayed else edited_prompt
