"""The price of changing one's mind: which past turns stay in a prompt whose beginning the provider has cached.

::

    fixed part │ body │ question, with the recalled turns inside

    sizes, selection, state ──choose──> Plan(body, recalled, action, reason) ──charge──> CallBill, state

The **body** is at first everything, and only grows: its tokens are read at the price of a cache. Turns that the
question needs and the body lacks are **recalled**: told inside the question, for this call only. The body is chosen
anew (**rebuilt**: what the question selects) when that is cheaper at once, because the cache is cold, or when the
useless part of the body has cost as much as a new one would: an online rule of rent or buy. Three conditions hold it
back: the new body is smaller; the first cut saves a third of the running price; and the bill stays within 1.02 times
that of sending everything, at every call.

Everything is a pure function of sizes, prices, the time and the state of before. Amounts are in dollars.

Source: the rule of rent or buy is that of ski rental (Karlin, Manasse, Rudolph, Sleator, "Competitive snoopy caching",
1988); the rest is ours, ``python -m benchmarks.cost``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import common_beginning
from gatekeeper_core.pricing.cache import FIRST_CUT, MOST, input_cost
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import Usage

__all__ = ["CallBill", "Plan", "PolicyState", "PromptPolicy", "PromptSizes", "SentRequest"]

Action = Literal["everything", "kept", "rebuilt", "fresh"]

_FILLED_UP = 1.05
"""How far over the smallest prefix a body is filled up. Source: ours; an estimate may be too high by so much."""

_REMEMBERED_QUESTIONS = 20
"""Questions over which is averaged what a small body would have had to recall. Source: ours; 10 to 100 do as well."""

_CHOOSES_ANEW = frozenset({"no_room", "asked_for", "paid_off", "cheaper_now"})
"""Reasons for which the body is chosen anew."""

_VERSION = 1
_LARGEST = 2**53
"""No stored number is as large: up to here a float holds every whole number."""
_LISTS = ("body", "selected", "recalled")


class PolicyState(NamedTuple):
    """What a thread's policy remembers from call to call; a small value that can be stored.

    Attributes:
        body: ids of the past turns that were chosen last, ascending.
        since: from this turn on every turn is in the body as well; at first 0: everything.
        turn_count: past turns at the last question.
        digest: of the body as it was sent then, "" at first: another one is not in the cache.
        fixed_tokens: what stood before the body then.
        cached_tokens: how much of the beginning of the next step of the same run the cache should hold.
        stable_tokens: how much of the beginning of the prompt for the next question.
        everything_tokens: what the last request would have cost with everything in it.
        everything_stable_tokens: how much of its beginning would be that of the prompt for the next question.
        sent_tokens: what it cost, estimated.
        expected_tokens: how much of it the cache should have held.
        dollars: its bill, estimated, or as reported.
        everything_dollars: the bill had everything been sent.
        paid: the bills of all calls so far.
        everything_paid: the bills had everything been sent.
        rent: what a smaller body would have saved since the last choice.
        recalled_tokens: what a small body would have had to recall, on average.
        selected: ids of the turns that the last question selected, ascending.
        recalled: ids of those that were told inside it, the most valuable first.
        question: names the last question, "" before the first.
        questions: how many there were.
        called_at: when the last call was, in seconds, None before the first and without a clock.
    """

    body: tuple[int, ...] = ()
    since: int = 0
    turn_count: int = 0
    digest: str = ""
    fixed_tokens: int = 0
    cached_tokens: int = 0
    stable_tokens: int = 0
    everything_tokens: int = 0
    everything_stable_tokens: int = 0
    sent_tokens: int = 0
    expected_tokens: int = 0
    dollars: float = 0.0
    everything_dollars: float = 0.0
    paid: float = 0.0
    everything_paid: float = 0.0
    rent: float = 0.0
    recalled_tokens: float = 0.0
    selected: tuple[int, ...] = ()
    recalled: tuple[int, ...] = ()
    question: str = ""
    questions: int = 0
    called_at: float | None = None

    def turns(self, count: int) -> tuple[int, ...]:
        """Return the body of a conversation with so many past turns, ascending."""
        return (*(turn for turn in self.body if turn < min(self.since, count)), *range(self.since, count))

    @property
    def holds_everything(self) -> bool:
        """Whether nothing was left out so far."""
        return not self.since

    def is_after(self, other: PolicyState) -> bool:
        """Return whether a later call made it: by the questions, since a clock may go back; within one by the clock."""
        return (self.questions, self.called_at or 0.0) > (other.questions, other.called_at or 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the state, JSON-ready.

        >>> PolicyState.from_dict(PolicyState(body=(0, 3), since=7).to_dict()).turns(9)
        (0, 3, 7, 8)
        """
        return {"version": _VERSION, **self._asdict(), **{name: [*getattr(self, name)] for name in _LISTS}}

    @classmethod
    def from_dict(cls, stored: object) -> PolicyState:
        """Return a state that was stored.

        Raises:
            ConfigError: it is none, or one of another version of this library: begin with ``PolicyState()``.
        """
        names = {**PolicyState()._asdict(), "version": 0}
        if not isinstance(stored, Mapping) or stored.get("version") != _VERSION or stored.keys() != names.keys():
            raise ConfigError("this is no stored policy state of this version: begin with PolicyState()")
        values = {name: value for name, value in stored.items() if name != "version"}
        for name, value in values.items():
            if not _fits(value, names[name]):
                raise ConfigError(f"the stored policy state has no usable {name}: begin with PolicyState()")
        lists = {name: tuple(values[name]) for name in _LISTS}
        if any(list(values[name]) != sorted(set(values[name])) for name in ("body", "selected")):
            raise ConfigError("the turns of the stored policy state are in no order: begin with PolicyState()")
        return cls(**{**values, **lists})


def _fits(value: object, example: object) -> bool:
    """Return whether a stored value has the type and the range of an example."""
    if isinstance(example, tuple):
        return isinstance(value, list) and all(type(one) is int and 0 <= one < _LARGEST for one in value)
    if isinstance(example, str):
        return isinstance(value, str)
    if example is None and value is None:
        return True
    kinds = (int,) if isinstance(example, int) else (int, float)
    return type(value) in kinds and 0 <= value < _LARGEST  # type: ignore[operator]


class PromptSizes(NamedTuple):
    """What a question finds, in tokens.

    Attributes:
        fixed: what always stands first: system prompt, tools, head.
        question: what the user asks.
        turns: each past turn, whole.
        selected: of each selected turn what the selection would send of it, the most valuable first.
        room: what past turns, whole and recalled, may cost together.
        recall: gives what it costs to tell some turns inside the question; None: that cannot be done.
        is_as_before: whether what was sent for the question before is still there as it was: nothing was edited.
        question_name: tells the question from the one before.
        is_run: whether the model is likely to go on with calls: then the next step reads what was recalled as well.
        may_run: whether it has ever called: then the promise leaves room for a step that writes what was recalled.
        stand_in: what stands for turns that are left out, where any are: a summary; not part of ``question``.
        ahead: what of ``question`` and ``stand_in`` stands before the past turns.
    """

    fixed: int
    question: int
    turns: Sequence[int]
    selected: Mapping[int, int]
    room: int
    recall: Callable[[Sequence[int]], int] | None
    is_as_before: bool = True
    question_name: str = ""
    is_run: bool = False
    may_run: bool = False
    stand_in: int = 0
    ahead: int = 0


class Plan(NamedTuple):
    """What is to be sent of the past.

    Attributes:
        body: ids of the turns that are sent whole, ascending.
        recalled: ids of those that are told inside the question, the most valuable first.
        body_tokens: what the body costs.
        recalled_tokens: what is told inside the question costs.
        cached_tokens: how much of the beginning of the prompt the cache should hold.
        dollars: what the call costs.
        action: ``everything``, ``kept`` (the body of before, grown), ``rebuilt``, or ``fresh`` (the selection alone).
        reason: why, as a fixed word; see ``docs/savings.md``.
        kept_dollars: what the call costs with the body of before.
        rebuilt_dollars: what it costs with a body that is chosen anew.
    """

    body: tuple[int, ...]
    recalled: tuple[int, ...]
    body_tokens: int
    recalled_tokens: int
    cached_tokens: int
    dollars: float
    action: Action = "kept"
    reason: str = ""
    kept_dollars: float = 0.0
    rebuilt_dollars: float = 0.0

    @property
    def tokens(self) -> int:
        """What is sent of the past costs."""
        return self.body_tokens + self.recalled_tokens


class SentRequest(NamedTuple):
    """A request as it is sent, in tokens.

    Attributes:
        fixed_tokens: what always stands first.
        tokens: all of it.
        stable_tokens: how much of its beginning is the same at the next question.
        same_tokens: how much of its beginning is the same as in the step of the run before.
        everything_tokens: what it would cost with the whole history in it.
        everything_stable_tokens: how much of the beginning of that is the same at the next question.
        turn_count: past turns of the conversation.
        digest: of the body as it is sent now.
        is_as_before: whether what was sent before is still there as it was: nothing of it has been edited.
        is_last: whether nothing reads on behind the beginning that stays: turns are recalled, and no run is likely.
    """

    fixed_tokens: int
    tokens: int
    stable_tokens: int
    same_tokens: int
    everything_tokens: int
    everything_stable_tokens: int
    turn_count: int
    digest: str
    is_as_before: bool = True
    is_last: bool = False


class CallBill(NamedTuple):
    """What a call costs, in dollars for its input, and why the past is sent as it is.

    Attributes:
        action: see ``Plan``.
        reason: see ``Plan``; ``same_run`` where the model only goes on.
        dollars: this call, estimated.
        everything_dollars: this call, had everything been sent at each call.
        paid: all calls of the thread so far, corrected by what the provider reported.
        everything_paid: the same, had everything been sent.
        kept_dollars: this call with the body of before; for a further step of a run as ``dollars``.
        rebuilt_dollars: this call with a body chosen anew; likewise.
        cached_tokens: how much of the prompt the cache should hold.
        recalled: ids of the turns that are told inside the question.
        body_end: position in the caller's list of the last message of the beginning that stays: a cache mark goes
            behind it. None: nothing stays but what stands before the messages.
        is_end_cached: whether the next call, at this question or in this run, reads the prompt to its end.
    """

    action: Action
    reason: str
    dollars: float
    everything_dollars: float
    paid: float
    everything_paid: float
    kept_dollars: float
    rebuilt_dollars: float
    cached_tokens: int
    recalled: tuple[int, ...] = ()
    body_end: int | None = None
    is_end_cached: bool = False

    @property
    def saved(self) -> float:
        """What the thread has saved so far, in dollars; negative where it was dearer."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPolicy:
    """What one call knows of money: the prices, the time, and the state of the thread.

    Attributes:
        prices: of the model of this call.
        state: of the call before; ``PolicyState()`` at first.
        now: the time of this call in seconds, on the clock of the calls before; None: every cache is taken for warm.
        is_thrifty: whether there is no body: the selection alone is sent, and only what stands before it is cached.
        first_cut_at: tokens of past turns from which on some are left out whatever it costs; None: the prices decide.

    >>> prices = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=3.75)
    >>> sizes = PromptSizes(fixed=1500, question=20, turns=[200] * 9, selected={7: 200}, room=100_000, recall=None)
    >>> plan, state = PromptPolicy(prices=prices, state=PolicyState()).choose(sizes)
    >>> plan.action, plan.body, state.turns(10)
    ('rebuilt', (7,), (7, 9))
    """

    prices: ModelPrices
    state: PolicyState
    now: float | None = None
    is_thrifty: bool = False
    first_cut_at: int | None = None

    def choose(self, sizes: PromptSizes) -> tuple[Plan, PolicyState]:
        """Return what is sent of the past for a question, and the state with that choice; nothing is paid yet."""
        if self.is_thrifty:
            return self._fresh(sizes)
        old, count = self.state.turns(len(sizes.turns)), len(sizes.turns)
        if sizes.question_name and sizes.question_name == self.state.question:
            return self._same(sizes, old)
        state = self._asked(sizes)
        wanted = [turn for turn in sizes.selected if turn not in old]
        kept = self._plan(sizes, old, tuple(wanted))
        rebuilt = self._plan(sizes, *self._chosen_anew(sizes))
        to_recall = self.prices.input / 1_000_000 * state.recalled_tokens
        gain = self._rate * (kept.body_tokens - rebuilt.body_tokens) - to_recall
        state = state._replace(rent=max(0.0, state.rent + gain))
        whole = sizes.fixed + sum(sizes.turns) + sizes.question
        everything = self._everything(whole, sizes.fixed, sizes.is_as_before)
        left = MOST * (state.everything_paid + everything) - state.paid
        reserve = to_recall + self._later(sizes, state.recalled_tokens)
        reason = self._reason(sizes, state, kept, rebuilt, gain=gain, reserve=reserve, left=left)
        rebuilt = rebuilt._replace(
            action="rebuilt", reason=reason, kept_dollars=kept.dollars, rebuilt_dollars=rebuilt.dollars
        )
        if reason in _CHOOSES_ANEW:
            return rebuilt, state._replace(body=rebuilt.body, since=count, recalled=rebuilt.recalled, rent=0.0)
        while wanted and kept.dollars + self._later(sizes, kept.recalled_tokens) > left and self.first_cut_at is None:
            del wanted[-1]
            kept = self._plan(sizes, old, tuple(wanted))
        if kept.body != old:  # what cannot be recalled has become part of it
            state = state._replace(body=kept.body, since=count)
        return kept._replace(
            action="everything" if state.holds_everything else "kept",
            reason=reason,
            kept_dollars=rebuilt.kept_dollars,
            rebuilt_dollars=rebuilt.rebuilt_dollars,
        ), state._replace(recalled=kept.recalled)

    def _reason(
        self,
        sizes: PromptSizes,
        state: PolicyState,
        kept: Plan,
        rebuilt: Plan,
        *,
        gain: float,
        reserve: float,
        left: float,
    ) -> str:
        """Return why the body is kept, or chosen anew, in one word.

        Args:
            sizes: what the question finds.
            state: with this question's rent.
            kept: the plan with the body of before.
            rebuilt: the plan with a body chosen anew.
            gain: dollars that each later call saves by it.
            reserve: dollars that each later call may have to spend on recalls.
            left: dollars that the promise leaves for this call.
        """
        extra = rebuilt.dollars - kept.dollars
        read, written = self.prices.cache_read, self.prices.cache_write
        saved = read * (sum(sizes.turns) - rebuilt.body_tokens)  # by each later call, but what its hit is rounded off
        rounded_off = (written - read) * (self.prices.step_tokens - 1)
        newest = sizes.turns[-1] if sizes.turns else 0
        if kept.tokens + newest > sizes.room:
            return "no_room"  # for another turn like the newest: to give way in the middle of a run is dearest
        if rebuilt.body_tokens >= kept.tokens:
            return "not_smaller"
        if state.holds_everything and self.first_cut_at is not None:
            return "asked_for" if sum(sizes.turns) >= self.first_cut_at else "below_passthrough"
        if extra > state.rent:
            return "not_paid_off"
        if state.holds_everything and gain < FIRST_CUT * self._rate * (sizes.fixed + kept.body_tokens):
            return "saves_too_little"
        if rebuilt.dollars + reserve > left or saved < rounded_off:
            return "guard"
        return "paid_off" if extra > 0 else "cheaper_now"

    def charge(self, state: PolicyState, sent: SentRequest, plan: Plan | None) -> tuple[CallBill, PolicyState]:
        """Return the bill of a request, and the state that has paid it.

        Args:
            state: that came with the plan; for a further step of a run the state of before.
            sent: the request.
            plan: what was chosen for it; None: a further step of a run, for which nothing is chosen.
        """
        cached = min(sent.same_tokens, self.state.cached_tokens) if self._is_warm else 0
        written_to = sent.tokens
        if plan is not None:
            cached = plan.cached_tokens
            written_to = sent.stable_tokens if sent.is_last or self.is_thrifty else sent.tokens
        dollars = self._cost(sent.tokens, cached, written_to)
        is_step = plan is None or plan.reason == "same_run"
        everything = self._everything(sent.everything_tokens, sent.fixed_tokens, sent.is_as_before, is_step=is_step)
        state = state._replace(
            turn_count=sent.turn_count,
            digest=sent.digest,
            fixed_tokens=sent.fixed_tokens,
            cached_tokens=written_to,
            stable_tokens=sent.stable_tokens,
            everything_tokens=sent.everything_tokens,
            everything_stable_tokens=sent.everything_stable_tokens,
            sent_tokens=sent.tokens,
            expected_tokens=cached if cached >= (self.prices.min_cached_tokens or cached + 1) else 0,
            dollars=dollars,
            everything_dollars=everything,
            paid=state.paid + dollars,
            everything_paid=state.everything_paid + everything,
            called_at=self.now,
        )
        return CallBill(
            action=plan.action if plan else "kept",
            reason=plan.reason if plan else "same_run",
            dollars=dollars,
            everything_dollars=everything,
            paid=state.paid,
            everything_paid=state.everything_paid,
            kept_dollars=plan.kept_dollars if plan else dollars,
            rebuilt_dollars=plan.rebuilt_dollars if plan else dollars,
            cached_tokens=cached,
            recalled=plan.recalled if plan else (),
            is_end_cached=written_to == sent.tokens,
        ), state

    def corrected(self, usage: Usage) -> PolicyState:
        """Return the state with the bill of its last call as the provider reports it.

        Where the provider counts other tokens than we do, the bill of sending everything is scaled alike; where it
        found nothing of what it should have had, everything would not have been found either.
        """
        state = self.state
        if not state.sent_tokens or not usage.input_tokens:
            return state
        scale = usage.input_tokens / state.sent_tokens
        dollars = self.prices.dollars(usage._replace(output_tokens=0))
        everything = state.everything_dollars
        expected, found = state.expected_tokens * scale, usage.cached_tokens
        if 2 * found < expected or found > 2 * expected:
            new = (usage.input_tokens - found) / scale
            hit = max(0, state.everything_tokens - round(new)) if found else 0
            everything = self._cost(state.everything_tokens, hit, state.everything_tokens)
        everything = dollars if state.holds_everything else everything * scale
        return state._replace(
            dollars=dollars,
            everything_dollars=everything,
            paid=state.paid - state.dollars + dollars,
            everything_paid=state.everything_paid - state.everything_dollars + everything,
        )

    # --- the pieces -------------------------------------------------------------------------------------------------

    @property
    def _is_warm(self) -> bool:
        """Whether the cache still has what was sent last."""
        before, now = self.state.called_at, self.now
        lives = now is None or before is None or now - before <= self.prices.lifetime_seconds
        return self.state.questions > 0 and self.prices.min_cached_tokens is not None and lives

    @property
    def _rate(self) -> float:
        """What a token of the body costs at each call, in dollars."""
        return (self.prices.cache_read if self._is_warm else self.prices.input) / 1_000_000

    def _asked(self, sizes: PromptSizes) -> PolicyState:
        """Return the state with one more question: what a small body would have had to recall for it."""
        state, newest = self.state, len(sizes.turns) - 1
        away = sum(tokens for turn, tokens in sizes.selected.items() if turn not in (newest, *state.selected))
        questions = state.questions + 1
        mean = state.recalled_tokens + (away - state.recalled_tokens) / min(_REMEMBERED_QUESTIONS, questions)
        selected = tuple(sorted(sizes.selected))
        return state._replace(
            recalled_tokens=mean, questions=questions, selected=selected, question=sizes.question_name
        )

    def _same(self, sizes: PromptSizes, body: tuple[int, ...]) -> tuple[Plan, PolicyState]:
        """Return the plan of before: the question is the same, asked again or by a run that goes on elsewhere."""
        state = self.state
        plan = self._plan(sizes, body, tuple(turn for turn in state.recalled if turn < len(sizes.turns)))
        cached = state.cached_tokens if self._is_warm and sizes.is_as_before else plan.cached_tokens
        action: Action = "everything" if state.holds_everything else "kept"
        same = plan._replace(kept_dollars=plan.dollars, rebuilt_dollars=plan.dollars)
        return same._replace(cached_tokens=cached, action=action, reason="same_run"), state

    def _chosen_anew(self, sizes: PromptSizes) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return a new body, and what is recalled beside it: the selected turns that are whole too long for the room.

        A body that is too small for any cache is filled up with the newest turns: below the smallest prefix every token
        is paid in full at each call, while everything, sent on, would soon be cached.
        """
        left = sizes.room
        body: set[int] = set()
        for turn in sizes.selected:
            if sizes.turns[turn] <= left:
                left -= sizes.turns[turn]
                body.add(turn)
        recalled = tuple(turn for turn in sizes.selected if turn not in body)
        left -= sum(sizes.selected[turn] for turn in recalled)
        filled = (self.prices.min_cached_tokens or 0) * _FILLED_UP - sizes.fixed - sizes.ahead
        missing = min(filled, filled if self.first_cut_at is None else self.first_cut_at) - (sizes.room - left)
        for turn in range(len(sizes.turns))[::-1]:
            if missing <= 0 or sizes.turns[turn] > left:
                break
            if turn not in body and turn not in recalled:
                missing -= sizes.turns[turn]
                left -= sizes.turns[turn]
                body.add(turn)
        return tuple(sorted(body)), recalled

    def _plan(self, sizes: PromptSizes, body: tuple[int, ...], recalled: tuple[int, ...]) -> Plan:
        """Return what it costs to send these turns; what cannot be recalled goes into the body."""
        if recalled and sizes.recall is None:
            body, recalled = tuple(sorted({*body, *recalled})), ()
        whole = sum(sizes.turns[turn] for turn in body)
        told = sizes.recall(recalled) if recalled and sizes.recall else 0
        stable = sizes.fixed + whole
        cached = self._cached(sizes, body)
        tokens = stable + told + sizes.question + (sizes.stand_in if len(body) < len(sizes.turns) else 0)
        return Plan(
            body,
            recalled,
            whole,
            told,
            cached,
            self._cost(tokens, cached, stable if recalled and not sizes.is_run else tokens),
        )

    def _later(self, sizes: PromptSizes, recalled_tokens: float) -> float:
        """Return what later calls may pay because turns are told inside the question, in dollars.

        A further step of the run may write them and the question, and the next question reads this one, and the run
        behind it, a second time without them.
        """
        if not recalled_tokens:
            return 0.0
        run = max(sizes.turns[-_REMEMBERED_QUESTIONS:], default=0) if sizes.is_run else 0
        again = (self.prices.cache_write - self.prices.cache_read) * (sizes.question + run)
        step = self.prices.cache_write * (recalled_tokens + sizes.question) if sizes.may_run else 0.0
        return (again + step) / 1_000_000

    def _cached(self, sizes: PromptSizes, body: tuple[int, ...]) -> int:
        """Return how much of a prompt with this body the cache should hold."""
        state = self.state
        if not self._is_warm or sizes.fixed != state.fixed_tokens:
            return 0
        if not sizes.is_as_before or state.turn_count > len(sizes.turns):
            return sizes.fixed
        before = state.turns(state.turn_count)
        if state.stable_tokens > sizes.fixed + sum(sizes.turns[turn] for turn in before):
            before = (*before, state.turn_count)  # it reaches into the turn that was asked
        if body[: len(before)] == before:
            return state.stable_tokens
        if self.prices.marked:
            return sizes.fixed
        same = common_beginning(before, body)
        return sizes.fixed + sum(sizes.turns[turn] for turn in body[:same])

    def _everything(self, tokens: int, fixed: int, is_as_before: bool, *, is_step: bool = False) -> float:
        """Return what a request with the whole history costs, had every request before been such a one."""
        state = self.state
        hit = state.everything_tokens if is_step else state.everything_stable_tokens
        hit = hit if is_as_before else fixed
        if not self._is_warm or fixed != state.fixed_tokens:
            hit = 0
        return self._cost(tokens, min(hit, tokens), tokens)

    def _fresh(self, sizes: PromptSizes) -> tuple[Plan, PolicyState]:
        """Return the plan without a body."""
        told = sum(sizes.selected.values())
        cached = min(self._cached(sizes, ()), sizes.fixed)
        dollars = self._cost(sizes.fixed + told + sizes.question + sizes.stand_in, cached, sizes.fixed)
        plan = Plan((), (), 0, told, cached, dollars, "fresh", "thrifty", dollars, dollars)
        return plan, self._asked(sizes)._replace(body=(), since=len(sizes.turns))

    def _cost(self, tokens: int, cached: int, written_to: int) -> float:
        return input_cost(tokens, cached=cached, written_to=written_to, prices=self.prices)
