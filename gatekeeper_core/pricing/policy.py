"""The prompt policy: which past turns stay in a prompt whose beginning the provider has cached.

::

    fixed part │ body │ question, with the recalled turns inside

    sizes, selection, state ──choose──> CallBill, state ──charge──> CallBill, state

The **body** starts as everything and only grows: its tokens are read at the cached price. Turns that the question needs
and the body lacks are **recalled**: sent inside the question, for this call only. The body is **rebuilt** from what the
question selects when that is cheaper at once, because the cache is cold, or when the useless part of the body has cost
as much as a new one would: an online rent-or-buy rule. Three conditions restrict it: the new body is smaller; the first
cut saves a third of the running price; and the bill stays within 1.02 times that of sending everything, at every call.

What the question selects is always sent, in the body or recalled. A body is used only for a history that begins with
the turns it was chosen from. If turns were recalled and the model then called tools, the recalled text stays in that
turn until the body is rebuilt: without it, the cached run after it would have to be written again. The policy is a pure
function of sizes, prices, the time and the earlier state. Amounts are in dollars.

Source: the rule of rent or buy is that of ski rental (Karlin, Manasse, Rudolph, Sleator, "Competitive snoopy caching",
1988); the rest is ours, ``python -m benchmarks.cost``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import common_beginning
from gatekeeper_core.pricing.cache import FIRST_CUT, MOST, input_cost
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.records import UNREADABLE, read_value

Action = Literal["everything", "kept", "rebuilt", "fresh"]

_FILLED_UP = 1.05
"""Size to which a small body is filled up, in smallest prefixes. Source: ours, the error of an estimate."""

_REMEMBERED_QUESTIONS = 20
"""Questions in the mean of what a small body would have recalled. Source: ours; 10 to 100 do as well."""

_PRIOR_QUESTIONS = 5
"""Questions in the prior of a young thread, each recalling a turn of mean length. Source: ours, ``python -m
benchmarks.cost --agents 5000``; without them chats that were cut early come to 1.26 times everything."""

_VERSION = 4


@dataclass(frozen=True, slots=True)
class Body:
    """The past turns of a thread's last prompt.

    Attributes:
        turns: ids of the turns that were chosen last, ascending.
        since: every turn from this one on is in the body as well; at first 0: everything.
        texts: ids of the turns that still hold recalled text, ascending, each with the text.
        recalled: ids of the turns inside the last question, the most valuable first.
    """

    turns: tuple[int, ...] = ()
    since: int = 0
    texts: tuple[tuple[int, str], ...] = ()
    recalled: tuple[int, ...] = ()

    def ids(self, count: int) -> tuple[int, ...]:
        """Return the turns of the body in a conversation with ``count`` past turns, ascending."""
        return (*(turn for turn in self.turns if turn < min(self.since, count)), *range(self.since, count))


@dataclass(frozen=True, slots=True)
class CachedPrompt:
    """The last request of a thread in tokens, as far as the provider's cache can hold it.

    Attributes:
        fixed_tokens: tokens before the body.
        run_tokens: tokens at the beginning of the run's next step that the cache should hold.
        stable_tokens: the same for the prompt of the next question.
        everything_tokens: tokens of the request if everything were sent.
        everything_stable_tokens: tokens of that request that would begin the prompt of the next question.
        sent_tokens: estimated tokens of the request.
        expected_tokens: tokens of the request that the cache should have held.
        called_at: time of the call in seconds, None before the first and without a clock.
    """

    fixed_tokens: int = 0
    run_tokens: int = 0
    stable_tokens: int = 0
    everything_tokens: int = 0
    everything_stable_tokens: int = 0
    sent_tokens: int = 0
    expected_tokens: int = 0
    called_at: float | None = None


@dataclass(frozen=True, slots=True)
class HistoryDigests:
    """Digests of the history at the last question, to recognise the part that the next one shares with it.

    Attributes:
        turn_count: number of past turns.
        prefixes: digests of the history up to each of its newest past turns, ascending.
        branch: the same for the previous branch, before an edit or a fork.
        tail: digest of the history up to its last message.
        tail_messages: number of messages of the current turn.
        summary: digest of the text that replaced dropped turns, "" without one.
        question: digest of the question, "" before the first and if the next call chooses again.
    """

    turn_count: int = 0
    prefixes: tuple[str, ...] = ()
    branch: tuple[str, ...] = ()
    tail: str = ""
    tail_messages: int = 0
    summary: str = ""
    question: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The estimated bills of a thread, corrected by the provider's reports.

    Attributes:
        paid: all calls so far.
        everything_paid: the same with everything sent.
        gate_paid: the same with the selection alone, as with the strategy ``gate``.
        dollars: the last call.
        everything_dollars: the last call with everything sent.
        gate_dollars: the last call with the selection alone.
        rent: dollars that a smaller body would have saved since the last choice.
        questions: number of questions.
        recalled_tokens: mean tokens that a small body would have recalled.
        most_recalled_tokens: most recalled tokens at one question; older questions count less.
    """

    paid: float = 0.0
    everything_paid: float = 0.0
    gate_paid: float = 0.0
    dollars: float = 0.0
    everything_dollars: float = 0.0
    gate_dollars: float = 0.0
    rent: float = 0.0
    questions: int = 0
    recalled_tokens: float = 0.0
    most_recalled_tokens: float = 0.0

    def with_question(self, recalled_tokens: int) -> Ledger:
        """Return the ledger with one more question, given the tokens that a small body would have recalled for it."""
        questions = self.questions + 1
        change = (recalled_tokens - self.recalled_tokens) / min(_REMEMBERED_QUESTIONS, questions)
        most = max(recalled_tokens, self.most_recalled_tokens * (1 - 1 / _REMEMBERED_QUESTIONS))
        return replace(
            self, questions=questions, recalled_tokens=self.recalled_tokens + change, most_recalled_tokens=most
        )

    def with_call(self, dollars: float, *, everything: float, gate: float) -> Ledger:
        """Return the ledger with one more call."""
        return replace(
            self,
            dollars=dollars,
            everything_dollars=everything,
            gate_dollars=gate,
            paid=self.paid + dollars,
            everything_paid=self.everything_paid + everything,
            gate_paid=self.gate_paid + gate,
        )


@dataclass(frozen=True, slots=True)
class PolicyState:
    """The state of a thread's policy between calls; a small value that can be stored."""

    body: Body = field(default_factory=Body)
    cache: CachedPrompt = field(default_factory=CachedPrompt)
    history: HistoryDigests = field(default_factory=HistoryDigests)
    ledger: Ledger = field(default_factory=Ledger)

    def is_after(self, other: PolicyState) -> bool:
        """Return whether it is of a later call: by questions (a clock may go back), within a question by the clock."""
        times = ((each.ledger.questions, each.cache.called_at or 0.0) for each in (self, other))
        return next(times) > next(times)

    def to_dict(self) -> dict[str, Any]:
        """Return the state, JSON-ready.

        >>> PolicyState.from_dict(PolicyState(Body((0, 3), since=7)).to_dict()).body.ids(9)
        (0, 3, 7, 8)
        """
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        values = {name: {one.name: getattr(part, one.name) for one in fields(part)} for name, part in parts.items()}
        return {"version": _VERSION, **values}  # ``asdict`` would copy every element

    @classmethod
    def from_dict(cls, stored: object) -> PolicyState:
        """Return a state from its stored form.

        Raises:
            ConfigError: it is not a state of this version of the library: begin with ``PolicyState()``.
        """
        if not isinstance(stored, Mapping) or stored.get("version") != _VERSION:
            raise ConfigError("not a policy state of this version: start with PolicyState()")
        try:
            state: PolicyState = read_value(cls, {name: part for name, part in stored.items() if name != "version"})
            lists: tuple[tuple[Any, ...], ...] = (state.body.turns, state.body.texts)
            if any(list(turns) != sorted(set(turns)) for turns in lists):
                raise ValueError("the turns are out of order")
        except UNREADABLE as error:
            raise ConfigError("the policy state cannot be read: start with PolicyState()") from error
        return state


class Continuation(NamedTuple):
    """The part of a history that an earlier call had as well.

    Attributes:
        same_turns: number of leading past turns that are unchanged since the previous call.
        everything_same_tokens: tokens at the beginning of the full history that an earlier call shares.
        goes_on: whether the history begins with that of the previous call, including its question.
        is_summary_same: whether the text for dropped turns is unchanged.
        is_same_question: whether the question and the history before it are those of the previous call.
    """

    same_turns: int = 0
    everything_same_tokens: int = 0
    goes_on: bool = True
    is_summary_same: bool = True
    is_same_question: bool = False


_NEW = Continuation()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSizes:
    """The sizes of a prompt in tokens, before past turns are chosen.

    Attributes:
        fixed: the part that always comes first: system prompt, tools, head.
        question: the user's text, and what else moves with it.
        turns: each past turn in full.
        selected: each selected turn as the selection would send it, most valuable first.
        room: limit for past turns, in full and recalled.
        recall: returns the tokens of some turns inside the question; None if turns cannot be recalled.
        continuation: the part of the history that it shares with the previous call.
        texts: tokens of the recalled text that turns still hold, by turn.
        tools: ``likely`` if the model will probably call tools, so that the next step reads the recalled text as well;
            ``seen`` if it has called one before, so that the bill must leave room to write the recalled text.
        summary: the text for dropped turns, if any; not part of ``question``.
        ahead: the part of ``question`` and ``summary`` before the past turns.
        is_small: whether the past turns have too few tokens for a first cut.
    """

    fixed: int
    question: int
    turns: Sequence[int]
    selected: Mapping[int, int]
    room: int
    recall: Callable[[Sequence[int]], int] | None
    continuation: Continuation = _NEW
    texts: Mapping[int, int] = field(default_factory=dict)
    tools: Literal["", "seen", "likely"] = ""
    summary: int = 0
    ahead: int = 0
    is_small: bool = False


class CallBill(NamedTuple):
    """The bill of a call, in dollars for its input, and the decision on the past turns.

    Attributes:
        action: ``everything``, ``kept`` (the old body, grown), ``rebuilt``, or ``fresh`` (the selection alone).
        reason: the reason as a fixed word, see ``docs/savings.md``; ``same_run`` if the model only continues.
        dollars: this call, estimated.
        everything_dollars: this call, if everything were sent at each call.
        paid: all calls of the thread so far, corrected by the provider's reports.
        everything_paid: the same with everything sent.
        cached_tokens: tokens at the beginning of the prompt that the cache should hold.
        recalled: ids of the turns inside the question, most valuable first.
        body_end: position in the caller's list of the stable beginning's last message, for a cache mark; None without.
        is_end_cached: whether the next call, at this question or in this run, reads the prompt to its end.
    """

    action: Action
    reason: str
    dollars: float = 0.0
    everything_dollars: float = 0.0
    paid: float = 0.0
    everything_paid: float = 0.0
    cached_tokens: int = 0
    recalled: tuple[int, ...] = ()
    body_end: int | None = None
    is_end_cached: bool = False

    @property
    def saved(self) -> float:
        """Savings of the thread so far, in dollars; negative if it cost more."""
        return self.everything_paid - self.paid

    def facts(self) -> dict[str, Any]:
        """Return the bill as flat JSON-ready facts for logs and events."""
        return {
            "policy_action": self.action,
            "policy_reason": self.reason,
            "dollars": self.dollars,
            "everything_dollars": self.everything_dollars,
            "paid_dollars": self.paid,
            "everything_paid_dollars": self.everything_paid,
            "cached_tokens": self.cached_tokens,
            "turns_recalled": len(self.recalled),
        }


class _Plan(NamedTuple):
    """Past turns to send, with their tokens, the tokens of the prompt that the cache should hold, and its price."""

    body: tuple[int, ...]
    recalled: tuple[int, ...]
    body_tokens: int
    recalled_tokens: int
    cached_tokens: int
    dollars: float


@dataclass(slots=True, kw_only=True)
class PromptPolicy:
    """The policy at one call: prices, the time, and the state of the thread.

    Attributes:
        prices: prices of the model of this call.
        state: state after the previous call; ``PolicyState()`` at first.
        now: time of this call in seconds, on the clock of the earlier calls; None: every cache counts as warm.
        is_thrifty: whether to send the selection alone, without a body; only the part before it is cached.
        everything_reason: reason to send everything at any price; "" if the prices decide.

    >>> prices = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=3.75)
    >>> sizes = PromptSizes(fixed=1500, question=20, turns=[200] * 9, selected={7: 200}, room=100_000, recall=None)
    >>> bill, state = PromptPolicy(prices=prices, state=PolicyState()).choose(sizes)
    >>> bill.action, state.body.ids(10)
    ('rebuilt', (7, 9))
    """

    prices: ModelPrices
    state: PolicyState
    now: float | None = None
    is_thrifty: bool = False
    everything_reason: str = ""

    def choose(self, sizes: PromptSizes) -> tuple[CallBill, PolicyState]:
        """Return which past turns are sent for a question and why, and the state with them in its body, not charged."""
        count, common, is_warm = len(sizes.turns), sizes.continuation, self.is_warm
        body = self.state.body
        if common.same_turns < min(body.since, self.state.history.turn_count):
            body = Body()  # the turns it was chosen from have changed: everything again
        elif common.same_turns < self.state.history.turn_count:
            body = replace(body, texts=tuple(each for each in body.texts if each[0] < common.same_turns))
        fresh_tokens, cached = sizes.fixed + sum(sizes.selected.values()), min(self._cached(sizes, ()), sizes.fixed)
        gate_dollars = self._cost(fresh_tokens + sizes.question + sizes.summary, cached, sizes.fixed)
        fresh_ledger = replace(self.state.ledger, gate_dollars=gate_dollars)
        fresh = replace(
            self.state,
            body=Body(since=count),
            ledger=fresh_ledger.with_question(self._missing(sizes, self.state.body)),
        )
        if self.is_thrifty:
            return CallBill("fresh", "strategy", cached_tokens=cached), fresh
        ledger = fresh_ledger if body.since or not self.state.body.since else replace(fresh_ledger, rent=0.0)
        old = body.ids(count)
        if common.is_same_question and not self.everything_reason:  # repeated, or in a run that continues elsewhere
            plan = self._plan(sizes, old, tuple(turn for turn in body.recalled if turn < count))
            if is_warm and common.goes_on:
                plan = plan._replace(cached_tokens=self.state.cache.run_tokens)
            return self._decided(sizes, "same_run", plan, body, ledger)
        ledger = ledger.with_question(self._missing(sizes, body))
        if self.everything_reason:
            plan = self._plan(replace(sizes, texts={}), tuple(range(count)), ())
            return self._decided(sizes, self.everything_reason, plan, Body(), replace(ledger, rent=0.0))
        kept = self._plan(sizes, old, tuple(turn for turn in sizes.selected if turn not in old))
        new, too_long = self._new_body(sizes)
        rebuilt = self._plan(replace(sizes, texts={}), new, too_long)
        rate = (self.prices.cache_read if is_warm else self.prices.input) / 1_000_000
        gain = rate * (kept.body_tokens - rebuilt.body_tokens) - self._to_recall(sizes, ledger)
        ledger = replace(ledger, rent=max(0.0, ledger.rent + gain))
        is_slight = sizes.is_small or gain < FIRST_CUT * rate * (sizes.fixed + kept.body_tokens)
        reason = self._reason(sizes, ledger, kept, rebuilt, is_slight=is_slight and not body.since)
        if reason == "no_room" and too_long:  # a selected turn fits only as an excerpt
            return CallBill("fresh", reason, cached_tokens=cached), fresh
        if reason in ("no_room", "paid_off", "cheaper_now"):
            decision, state = self._decided(sizes, reason, rebuilt, Body(new, count), replace(ledger, rent=0.0))
            return decision._replace(action="rebuilt"), state
        return self._decided(sizes, reason, kept, body, ledger)

    def _decided(
        self, sizes: PromptSizes, reason: str, plan: _Plan, body: Body, ledger: Ledger
    ) -> tuple[CallBill, PolicyState]:
        """Return the bill of a plan, and the state with its body, which includes turns that could not be recalled."""
        count = len(sizes.turns)
        if plan.body != body.ids(count):
            body = replace(body, turns=plan.body, since=count)
        action: Action = "kept" if body.since else "everything"
        bill = CallBill(action, reason, cached_tokens=plan.cached_tokens, recalled=plan.recalled)
        return bill, replace(self.state, body=replace(body, recalled=plan.recalled), ledger=ledger)

    def _reason(self, sizes: PromptSizes, ledger: Ledger, kept: _Plan, rebuilt: _Plan, *, is_slight: bool) -> str:
        """Return the reason to keep or rebuild the body; ``is_slight``: a first cut would save too little."""
        prices, extra = self.prices, rebuilt.dollars - kept.dollars
        read, written = prices.cache_read, prices.cache_write
        past = sum(sizes.turns)
        saved = read * (past - rebuilt.body_tokens)  # at each later call, before its hit is rounded down
        newest = 0 if sizes.is_small or not sizes.turns else sizes.turns[-1]
        if kept.body_tokens + kept.recalled_tokens + newest > sizes.room:
            return "no_room"  # for another turn like the newest: to run out of room inside a run costs most
        if rebuilt.body_tokens >= kept.body_tokens + kept.recalled_tokens:
            return "not_smaller"
        if extra > ledger.rent:
            return "not_paid_off"
        everything = self._everything(sizes.fixed + past + sizes.question, sizes.fixed, sizes.continuation)
        limit = MOST * (ledger.everything_paid + everything) - ledger.paid  # the promise for this call
        if is_slight and kept.dollars <= limit:
            return "saves_too_little"
        # Reserve for two recalls of the largest size in a row. The next question writes this one again without them,
        # or a step of the run writes them and the question.
        largest = max(ledger.most_recalled_tokens, *sizes.turns, 0)
        reserve = 2 * prices.input / 1_000_000 * largest
        if largest:
            step = written * (largest + sizes.question) if sizes.tools else 0.0
            reserve += ((written - read) * sizes.question + step) / 1_000_000
        to_recall = self._to_recall(sizes, ledger)
        reserve += _REMEMBERED_QUESTIONS * max(0.0, to_recall - read / 1_000_000 * (past - rebuilt.body_tokens))
        is_dear = rebuilt.dollars + reserve > limit and (extra >= 0 or kept.dollars <= limit)
        if is_dear or saved < (written - read) * (prices.step_tokens - 1):
            return "guard"
        return "paid_off" if extra > 0 else "cheaper_now"

    def charge(
        self,
        bill: CallBill | None,
        state: PolicyState,
        sent: CachedPrompt,
        *,
        continuation: Continuation,
        same_tokens: int,
        is_last: bool,
    ) -> tuple[CallBill, PolicyState]:
        """Return the bill of a request, and the state after payment.

        Args:
            bill: from :meth:`choose`; None for a later step of a run.
            state: from :meth:`choose`; for a later step of a run, the earlier one.
            sent: the tokens of the request; the figures of the cache are filled in here.
            continuation: as in ``PromptSizes``.
            same_tokens: tokens at its beginning that equal those of the run's previous step.
            is_last: whether no later call reads more than the stable beginning from the cache: the turns are for this
                question alone, and no run is likely.
        """
        marked_to = sent.stable_tokens if is_last and bill else sent.sent_tokens
        step = min(same_tokens, self.state.cache.run_tokens) if self.is_warm else 0
        cached = bill.cached_tokens if bill else step
        written_to = marked_to if self.prices.marked else sent.sent_tokens
        dollars = self._cost(sent.sent_tokens, cached, written_to)
        gate = dollars if bill is None or bill.action == "fresh" else state.ledger.gate_dollars
        bill = bill or CallBill("kept", "same_run")
        is_step = bill.reason == "same_run"
        everything = self._everything(sent.everything_tokens, sent.fixed_tokens, continuation, is_step=is_step)
        expected = cached if cached >= (self.prices.min_cached_tokens or cached + 1) else 0
        cache = replace(sent, run_tokens=written_to, expected_tokens=expected, called_at=self.now)
        ledger = state.ledger.with_call(dollars, everything=everything, gate=gate)
        return bill._replace(
            dollars=dollars,
            everything_dollars=everything,
            paid=ledger.paid,
            everything_paid=ledger.everything_paid,
            cached_tokens=cached,
            is_end_cached=marked_to == sent.sent_tokens,
        ), replace(state, cache=cache, ledger=ledger)

    def corrected(self, usage: Usage) -> PolicyState:
        """Return the state with the bill of its last call as the provider reports it.

        If the provider's token count differs from ours, the bill of everything is scaled by the same factor. If its
        cache held less than half or more than twice what we expect, the bill of everything has as many uncached tokens.
        """
        state, cache, ledger = self.state, self.state.cache, self.state.ledger
        if not cache.sent_tokens or not usage.input_tokens:
            return state
        scale = usage.input_tokens / cache.sent_tokens
        dollars = self.prices.dollars(usage._replace(output_tokens=0))
        everything = ledger.everything_dollars
        expected, cached = cache.expected_tokens * scale, usage.cached_tokens
        if 2 * cached < expected or cached > 2 * expected:
            new = (usage.input_tokens - cached) / scale
            hit = max(0, cache.everything_tokens - round(new)) if cached else 0
            everything = self._cost(cache.everything_tokens, hit, cache.everything_tokens)
        everything = everything * scale if state.body.since else dollars
        before = replace(
            ledger,
            paid=ledger.paid - ledger.dollars,
            everything_paid=ledger.everything_paid - ledger.everything_dollars,
            gate_paid=ledger.gate_paid - ledger.gate_dollars,
        )
        gate = ledger.gate_dollars * scale
        return replace(state, ledger=before.with_call(dollars, everything=everything, gate=gate))

    @property
    def is_warm(self) -> bool:
        """Whether the cache still holds the last prompt."""
        before, now = self.state.cache.called_at, self.now
        lives = now is None or before is None or now - before <= self.prices.lifetime_seconds
        return self.state.ledger.questions > 0 and self.prices.min_cached_tokens is not None and lives

    # --- the pieces -------------------------------------------------------------------------------------------------

    def _missing(self, sizes: PromptSizes, body: Body) -> int:
        count = len(sizes.turns)
        there = body.ids(count) if body.since else (count - 1,)
        return sum(tokens for turn, tokens in sizes.selected.items() if turn not in there)

    def _new_body(self, sizes: PromptSizes) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return a new body, and the turns to recall: selected ones that do not fit in full.

        A body that is too small for any cache is filled up with the newest turns: below the smallest prefix every token
        is paid in full at each call, while the full history would soon be cached.
        """
        room = sizes.room
        body: set[int] = set()
        for turn in sizes.selected:
            if sizes.turns[turn] <= room:
                room -= sizes.turns[turn]
                body.add(turn)
        recalled = tuple(turn for turn in sizes.selected if turn not in body)
        room -= sum(sizes.selected[turn] for turn in recalled)
        missing = (self.prices.min_cached_tokens or 0) * _FILLED_UP - sizes.fixed - sizes.ahead - (sizes.room - room)
        for turn in range(len(sizes.turns))[::-1]:
            if missing <= 0 or sizes.turns[turn] > room:
                break
            if turn not in body and turn not in recalled:
                missing -= sizes.turns[turn]
                room -= sizes.turns[turn]
                body.add(turn)
        return tuple(sorted(body)), recalled

    def _plan(self, sizes: PromptSizes, body: tuple[int, ...], recalled: tuple[int, ...]) -> _Plan:
        """Return the plan that sends these turns; if turns cannot be recalled, they go into the body."""
        if recalled and sizes.recall is None:
            body, recalled = tuple(sorted({*body, *recalled})), ()
        body_tokens = sum(sizes.turns[turn] + sizes.texts.get(turn, 0) for turn in body)
        recalled_tokens = sizes.recall(recalled) if recalled and sizes.recall else 0
        stable, cached = sizes.fixed + body_tokens, self._cached(sizes, body)
        tokens = stable + recalled_tokens + sizes.question + (sizes.summary if len(body) < len(sizes.turns) else 0)
        written_to = stable if recalled and sizes.tools != "likely" and self.prices.marked else tokens
        return _Plan(body, recalled, body_tokens, recalled_tokens, cached, self._cost(tokens, cached, written_to))

    def _to_recall(self, sizes: PromptSizes, ledger: Ledger) -> float:
        """Return the expected price of a recall: the mean so far, and a mean turn in a young thread."""
        prior, questions = sum(sizes.turns) / max(1, len(sizes.turns)), ledger.questions
        tokens = (questions * ledger.recalled_tokens + _PRIOR_QUESTIONS * prior) / (questions + _PRIOR_QUESTIONS)
        return self.prices.input / 1_000_000 * tokens

    def _cached(self, sizes: PromptSizes, body: tuple[int, ...]) -> int:
        old, cache, ledger, common = self.state.body, self.state.cache, self.state.ledger, sizes.continuation
        turn_count = self.state.history.turn_count
        if not self.is_warm or sizes.fixed != cache.fixed_tokens:
            return 0
        if old.since and not common.is_summary_same:
            return sizes.fixed
        if ledger.paid == ledger.everything_paid and len(body) == len(sizes.turns) and not common.goes_on:
            return common.everything_same_tokens  # nothing was ever left out, on any branch
        texts = {turn for turn, _ in old.texts}
        before = tuple(turn for turn in old.ids(turn_count) if turn < common.same_turns)
        now = tuple(turn for turn in body if turn not in texts or turn in sizes.texts)
        if self.prices.marked and not common.goes_on:  # the last mark was after a question, before its answer
            before = before[:-1] if old.since < common.same_turns else ()
        same = common_beginning(before, now)
        cached = sizes.fixed + sum(sizes.turns[turn] + sizes.texts.get(turn, 0) for turn in before[:same])
        # The last request may extend into the turn of its question.
        reaches = cache.stable_tokens <= cached or now[same : same + 1] == (turn_count,)
        if same == len(before) and common.goes_on and reaches:
            return cache.stable_tokens
        return sizes.fixed if self.prices.marked and same < len(before) else cached

    def _everything(self, tokens: int, fixed: int, common: Continuation, *, is_step: bool = False) -> float:
        """Return the cost of a request with the full history, if all earlier requests had it as well."""
        cache = self.state.cache
        hit = cache.everything_tokens if is_step else cache.everything_stable_tokens
        hit = hit if common.goes_on else common.everything_same_tokens
        if not self.is_warm or fixed != cache.fixed_tokens:
            hit = 0
        return self._cost(tokens, min(hit, tokens), tokens)

    def _cost(self, tokens: int, cached: int, written_to: int) -> float:
        return input_cost(tokens, cached=cached, written_to=written_to, prices=self.prices)
