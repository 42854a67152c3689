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

What the question selects is always sent, in the body or recalled. A body is used only for a history that begins with
the turns that it was chosen from. Where turns were recalled and the model went on to call tools, the recalled text
stays in that turn until a new body is chosen: the cached run behind it would have to be written again without it.

Everything is a pure function of sizes, prices, the time and the state of before. Amounts are in dollars.

Source: the rule of rent or buy is that of ski rental (Karlin, Manasse, Rudolph, Sleator, "Competitive snoopy caching",
1988); the rest is ours, ``python -m benchmarks.cost``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import common_beginning
from gatekeeper_core.pricing.cache import FIRST_CUT, MOST, input_cost
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.need import coverage_at, price_of

__all__ = ["REMEMBERED_PREFIXES", "CallBill", "Plan", "PolicyState", "PromptPolicy", "PromptSizes", "SentRequest"]

Action = Literal["everything", "kept", "rebuilt", "fresh"]

_FILLED_UP = 1.05
"""How far over the smallest prefix a body is filled up. Source: ours; an estimate may be too high by so much."""

_REMEMBERED_QUESTIONS = 20
"""Questions over which is averaged what a small body would have had to recall. Source: ours; 10 to 100 do as well."""

_PRIOR_QUESTIONS = 5
"""Questions for which a young thread is taken to recall a turn of mean length. Source: ours, ``python -m
benchmarks.cost --agents 5000``; without them chats that were cut early come to 1.26 times everything."""

_CHOOSES_ANEW = frozenset({"no_room", "paid_off", "cheaper_now"})
"""Reasons for which the body is chosen anew."""

_WHOLE_WITH_TOOLS = 6_000
"""Tokens of history up to which a chat with tool calls is not cut by price. Source: ours, recorded chats with tools:
below it a cut saves nothing (0.97 to 1.00 of sending everything), and one call in ten loses an id that it needs."""

REMEMBERED_PREFIXES = 64
"""Past turns up to which an edited history is found again, from the newest. Source: ours; further back is rare."""

_VERSION = 3
_LARGEST = 2**53
"""No stored number is as large: up to here a float holds every whole number."""
_ELEMENTS: Mapping[str, Any] = {"body": 0, "recalled": 0, "prefixes": "", "branch": "", "texts": (0, "")}
"""An example of the elements of each list."""


class PolicyState(NamedTuple):
    """What a thread's policy remembers from call to call; a small value that can be stored.

    Attributes:
        body: ids of the past turns that were chosen last, ascending.
        since: from this turn on every turn is in the body as well; at first 0: everything.
        turn_count: past turns at the last question.
        prefixes: digests of the newest beginnings of the history then, up to each past turn, the last of all of them.
        branch: the same of the branch that was left last, by an edit or a fork.
        tail: digest of the history up to the last message then.
        tail_messages: messages of the current turn then.
        stand_in: identifies what was sent for turns that were left out, "" for nothing.
        texts: turns that still hold recalled text, and the text, by turn, ascending.
        fixed_tokens: what stood before the body then.
        cached_tokens: how much of the beginning of the next step of the same run the cache should hold.
        stable_tokens: how much of the beginning of the prompt for the next question.
        everything_tokens: what the last request would have cost with everything in it.
        everything_stable_tokens: how much of its beginning would be that of the prompt for the next question.
        sent_tokens: what it cost, estimated.
        expected_tokens: how much of it the cache should have held.
        dollars: its bill, estimated, or as reported.
        everything_dollars: the bill had everything been sent.
        gate_dollars: the bill had the selection alone been sent.
        paid: the bills of all calls so far.
        everything_paid: the bills had everything been sent.
        gate_paid: the bills had the selection alone been sent.
        rent: what a smaller body would have saved since the last choice.
        recalled_tokens: what a small body would have had to recall, on average.
        most_recalled_tokens: the most that it would have had to recall at once; older questions count less.
        recalled: ids of those that were told inside it, the most valuable first.
        question: names the last question, "" before the first.
        questions: how many there were.
        called_at: when the last call was, in seconds, None before the first and without a clock.
    """

    body: tuple[int, ...] = ()
    since: int = 0
    turn_count: int = 0
    prefixes: tuple[str, ...] = ()
    branch: tuple[str, ...] = ()
    tail: str = ""
    tail_messages: int = 0
    stand_in: str = ""
    texts: tuple[tuple[int, str], ...] = ()
    fixed_tokens: int = 0
    cached_tokens: int = 0
    stable_tokens: int = 0
    everything_tokens: int = 0
    everything_stable_tokens: int = 0
    sent_tokens: int = 0
    expected_tokens: int = 0
    dollars: float = 0.0
    everything_dollars: float = 0.0
    gate_dollars: float = 0.0
    paid: float = 0.0
    everything_paid: float = 0.0
    gate_paid: float = 0.0
    rent: float = 0.0
    recalled_tokens: float = 0.0
    most_recalled_tokens: float = 0.0
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
        return {"version": _VERSION, **self._asdict(), **{name: [*getattr(self, name)] for name in _ELEMENTS}}

    @classmethod
    def from_dict(cls, stored: object) -> PolicyState:
        """Return a state that was stored.

        Raises:
            ConfigError: it is none, or one of another version of this library: begin with ``PolicyState()``.
        """
        names = {"version", *cls._fields}
        if not isinstance(stored, Mapping) or stored.get("version") != _VERSION or stored.keys() != names:
            raise ConfigError("this is no stored policy state of this version: begin with PolicyState()")
        values = {name: stored[name] for name in cls._fields}
        for name, example in cls()._asdict().items():
            value, element = values[name], _ELEMENTS.get(name)
            is_list = isinstance(value, list) and all(_fits(each, element) for each in value)
            if not (_fits(value, example) if element is None else is_list):
                raise ConfigError(f"the stored policy state has no usable {name}: begin with PolicyState()")
        lists = {name: tuple(values[name]) for name in _ELEMENTS} | {"texts": tuple(map(tuple, values["texts"]))}
        if any(list(lists[name]) != sorted(set(lists[name])) for name in ("body", "texts")):
            raise ConfigError("the turns of the stored policy state are in no order: begin with PolicyState()")
        return cls(**{**values, **lists})


def _fits(value: object, example: object) -> bool:
    """Return whether a stored value has the type and the range of an example; None stands for a time."""
    if isinstance(example, tuple):
        return isinstance(value, list | tuple) and len(value) == len(example) and all(map(_fits, value, example))
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
        same_turns: leading past turns that are as they were at the call before.
        everything_same_tokens: how much of the beginning of everything was there at an earlier call.
        goes_on: whether the history of the call before, with its question, is a beginning of this one.
        is_stand_in_same: whether what stands for turns that are left out is as it was.
        texts: tokens of the recalled text that turns still hold, by turn.
        question_name: identifies the question and the history before it.
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
    same_turns: int = 0
    everything_same_tokens: int = 0
    goes_on: bool = True
    is_stand_in_same: bool = True
    texts: Mapping[int, int] = MappingProxyType({})
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
        tokens: all of it.
        stable_tokens: how much of its beginning is the same at the next question.
        same_tokens: how much of its beginning is the same as in the step of the run before.
        everything_tokens: what it would cost with the whole history in it.
        everything_stable_tokens: how much of the beginning of that is the same at the next question.
        fixed, everything_same_tokens, goes_on: see ``PromptSizes``.
        is_last: whether nothing reads on behind the beginning that stays: turns are chosen for this question alone, and
            no run is likely.
    """

    fixed: int
    tokens: int
    stable_tokens: int
    same_tokens: int
    everything_tokens: int
    everything_stable_tokens: int
    everything_same_tokens: int = 0
    goes_on: bool = True
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
        gate_paid: the same, had the selection alone been sent, as with the strategy ``gate``.
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
    gate_paid: float = 0.0

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

    def choose(self, sizes: PromptSizes) -> tuple[Plan, PolicyState]:
        """Return what is sent of the past for a question, and the state with that choice; nothing is paid yet."""
        fresh, fresh_state = self._fresh(sizes)
        if self.is_thrifty:
            return fresh, fresh_state
        count = len(sizes.turns)
        state = self._continued(sizes)._replace(gate_dollars=fresh.dollars)
        old = state.turns(count)
        if sizes.question_name and sizes.question_name == state.question:
            return self._same(sizes, state, old)
        state = self._asked(sizes, state)
        kept = self._plan(sizes, old, tuple(turn for turn in sizes.selected if turn not in old))
        body, too_long = self._chosen_anew(sizes)
        rebuilt = self._plan(sizes._replace(texts={}), body, too_long)
        to_recall = self._to_recall(sizes, state)
        gain = self._rate * (kept.body_tokens - rebuilt.body_tokens) - to_recall
        state = state._replace(rent=max(0.0, state.rent + gain))
        reason = self._reason(sizes, state, kept, rebuilt, gain=gain, to_recall=to_recall)
        if reason == "no_room" and too_long:  # a selected turn has room as an excerpt alone
            return fresh._replace(reason=reason), fresh_state
        if reason in _CHOOSES_ANEW:
            state = state._replace(body=rebuilt.body, since=count, recalled=rebuilt.recalled, rent=0.0, texts=())
            plan = rebuilt._replace(action="rebuilt")
        else:
            if kept.body != old:  # what cannot be recalled has become part of it
                state = state._replace(body=kept.body, since=count)
            plan = kept._replace(action="everything" if state.holds_everything else "kept")
            state = state._replace(recalled=kept.recalled)
        return plan._replace(reason=reason, kept_dollars=kept.dollars, rebuilt_dollars=rebuilt.dollars), state

    def _reason(
        self,
        sizes: PromptSizes,
        state: PolicyState,
        kept: Plan,
        rebuilt: Plan,
        *,
        gain: float,
        to_recall: float,
    ) -> str:
        """Return why the body is kept, or chosen anew, in one word; ``gain`` is what each later call saves by it."""
        extra = rebuilt.dollars - kept.dollars
        read, written = self.prices.cache_read, self.prices.cache_write
        past = sum(sizes.turns)
        saved = read * (past - rebuilt.body_tokens)  # by each later call, but what its hit is rounded off
        rounded_off = (written - read) * (self.prices.step_tokens - 1)
        newest = sizes.turns[-1] if sizes.turns else 0
        if kept.tokens + newest > sizes.room:
            return "no_room"  # for another turn like the newest: to give way in the middle of a run is dearest
        if rebuilt.body_tokens >= kept.tokens:
            return "not_smaller"
        if extra > state.rent:
            return "not_paid_off"
        whole = sizes.fixed + past + sizes.question
        everything = self._everything(whole, sizes)
        left = MOST * (state.everything_paid + everything) - state.paid  # what the promise leaves for this call
        if state.holds_everything and kept.dollars <= left:
            is_small = sizes.may_run and past < _WHOLE_WITH_TOOLS
            if is_small or gain < FIRST_CUT * self._rate * (sizes.fixed + kept.body_tokens):
                return "saves_too_little"
        largest = max(state.most_recalled_tokens, *sizes.turns, 0)  # two such recalls in a row can be paid
        reserve = 2 * self.prices.input / 1_000_000 * largest + self._later(sizes, largest)
        reserve += _REMEMBERED_QUESTIONS * max(0.0, to_recall - read / 1_000_000 * (past - rebuilt.body_tokens))
        is_dear = rebuilt.dollars + reserve > left and (extra >= 0 or kept.dollars <= left)
        if is_dear or saved < rounded_off:
            return "guard"
        return "paid_off" if extra > 0 else "cheaper_now"

    def charge(self, state: PolicyState, sent: SentRequest, plan: Plan | None) -> tuple[CallBill, PolicyState]:
        """Return the bill of a request, and the state that has paid it.

        Args:
            state: that came with the plan; for a further step of a run the state of before.
            sent: the request.
            plan: what was chosen for it; None: a further step of a run, for which nothing is chosen.
        """
        marked_to = sent.tokens
        if plan is None:
            cached = min(sent.same_tokens, self.state.cached_tokens) if self._is_warm else 0
        else:
            cached = plan.cached_tokens
            marked_to = sent.stable_tokens if sent.is_last else sent.tokens
        written_to = marked_to if self.prices.marked else sent.tokens
        dollars = self._cost(sent.tokens, cached, written_to)
        gate = dollars if plan is None else state.gate_dollars
        plan = plan or Plan((), (), 0, 0, cached, dollars, "kept", "same_run", dollars, dollars)
        everything = self._everything(sent.everything_tokens, sent, is_step=plan.reason == "same_run")
        state = state._replace(
            fixed_tokens=sent.fixed,
            cached_tokens=written_to,
            stable_tokens=sent.stable_tokens,
            everything_tokens=sent.everything_tokens,
            everything_stable_tokens=sent.everything_stable_tokens,
            sent_tokens=sent.tokens,
            expected_tokens=cached if cached >= (self.prices.min_cached_tokens or cached + 1) else 0,
            dollars=dollars,
            everything_dollars=everything,
            gate_dollars=gate,
            paid=state.paid + dollars,
            everything_paid=state.everything_paid + everything,
            gate_paid=state.gate_paid + gate,
            called_at=self.now,
        )
        return CallBill(
            action=plan.action,
            reason=plan.reason,
            dollars=dollars,
            everything_dollars=everything,
            paid=state.paid,
            everything_paid=state.everything_paid,
            kept_dollars=plan.kept_dollars,
            rebuilt_dollars=plan.rebuilt_dollars,
            cached_tokens=cached,
            recalled=plan.recalled,
            is_end_cached=marked_to == sent.tokens,
            gate_paid=state.gate_paid,
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
            gate_dollars=state.gate_dollars * scale,
            gate_paid=state.gate_paid + state.gate_dollars * (scale - 1),
            paid=state.paid - state.dollars + dollars,
            everything_paid=state.everything_paid - state.everything_dollars + everything,
        )

    def selection_coverage(self, coverage: float) -> float:
        """Return the coverage to select with for a body that is cached, so that body and recalled turns reach another.

        The body holds needed turns besides, at the price of a cache, and a recalled token costs as much as any other
        input: so the selection counts the geometric mean, the price of a token times the root of input over read.

        Source: ours, ``python -m benchmarks.cost``: of 100 turns the prompts hold as many needed turns as with ``gate``
        at the same coverage, and cost 0.57 of everything, not 0.73.
        """
        if self.is_thrifty or not self._is_warm or not self.prices.cache_read:
            return coverage
        return coverage_at(price_of(coverage) * math.sqrt(self.prices.input / self.prices.cache_read))

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

    def _continued(self, sizes: PromptSizes) -> PolicyState:
        """Return the state as far as it was made for a beginning of this history; the account stays.

        A body that was chosen from turns that are still there stays, too. Otherwise it is everything again.
        """
        state, same = self.state, sizes.same_turns
        if same >= state.turn_count:
            return state
        if same >= state.since:
            return state._replace(texts=tuple(each for each in state.texts if each[0] < same), question="")
        return state._replace(body=(), since=0, texts=(), rent=0.0, recalled=(), question="")

    def _asked(self, sizes: PromptSizes, state: PolicyState) -> PolicyState:
        """Return a state with one more question: what a small body would have had to recall for it."""
        there = (len(sizes.turns) - 1,) if state.holds_everything else state.turns(len(sizes.turns))
        away = sum(tokens for turn, tokens in sizes.selected.items() if turn not in there)
        questions = state.questions + 1
        mean = state.recalled_tokens + (away - state.recalled_tokens) / min(_REMEMBERED_QUESTIONS, questions)
        return state._replace(
            recalled_tokens=mean,
            most_recalled_tokens=max(away, state.most_recalled_tokens * (1 - 1 / _REMEMBERED_QUESTIONS)),
            questions=questions,
            question=sizes.question_name,
        )

    def _same(self, sizes: PromptSizes, state: PolicyState, body: tuple[int, ...]) -> tuple[Plan, PolicyState]:
        """Return the plan of before: the question is the same, asked again or by a run that goes on elsewhere."""
        plan = self._plan(sizes, body, tuple(turn for turn in state.recalled if turn < len(sizes.turns)))
        cached = state.cached_tokens if self._is_warm and sizes.goes_on else plan.cached_tokens
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
        missing = filled - (sizes.room - left)
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
        whole = sum(sizes.turns[turn] + sizes.texts.get(turn, 0) for turn in body)
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
            self._cost(tokens, cached, stable if recalled and not sizes.is_run and self.prices.marked else tokens),
        )

    def _to_recall(self, sizes: PromptSizes, state: PolicyState) -> float:
        """Return what a question is expected to recall, in dollars: the mean so far, in a young thread a mean turn."""
        prior, questions = sum(sizes.turns) / max(1, len(sizes.turns)), state.questions
        tokens = (questions * state.recalled_tokens + _PRIOR_QUESTIONS * prior) / (questions + _PRIOR_QUESTIONS)
        return self.prices.input / 1_000_000 * tokens

    def _later(self, sizes: PromptSizes, recalled_tokens: float) -> float:
        """Return what later calls may pay because turns are recalled inside the question, in dollars.

        The next question reads this one again without them, or a step of the run writes them and the question.
        """
        if not recalled_tokens:
            return 0.0
        again = (self.prices.cache_write - self.prices.cache_read) * sizes.question
        step = self.prices.cache_write * (recalled_tokens + sizes.question) if sizes.may_run else 0.0
        return (again + step) / 1_000_000

    def _cached(self, sizes: PromptSizes, body: tuple[int, ...]) -> int:
        """Return how much of a prompt with this body the cache should hold."""
        state = self.state
        if not self._is_warm or sizes.fixed != state.fixed_tokens:
            return 0
        if not (sizes.is_stand_in_same or state.holds_everything):
            return sizes.fixed
        if state.paid == state.everything_paid and len(body) == len(sizes.turns) and not sizes.goes_on:
            return sizes.everything_same_tokens  # nothing was ever left out, on no branch
        texts = {turn for turn, _ in state.texts}
        before = tuple(turn for turn in state.turns(state.turn_count) if turn < sizes.same_turns)
        now = tuple(turn for turn in body if turn not in texts or turn in sizes.texts)
        if self.prices.marked and not sizes.goes_on:  # what was marked ended with a question, before the last answer
            before = before[:-1] if state.since < sizes.same_turns else ()
        same = common_beginning(before, now)
        held = sizes.fixed + sum(sizes.turns[turn] + sizes.texts.get(turn, 0) for turn in before[:same])
        # What was sent may reach into the turn that was asked.
        reaches = state.stable_tokens <= held or now[same : same + 1] == (state.turn_count,)
        if same == len(before) and sizes.goes_on and reaches:
            return state.stable_tokens
        return sizes.fixed if self.prices.marked and same < len(before) else held

    def _everything(self, tokens: int, sizes: PromptSizes | SentRequest, *, is_step: bool = False) -> float:
        """Return what a request with the whole history costs, had every request before been such a one."""
        state = self.state
        hit = state.everything_tokens if is_step else state.everything_stable_tokens
        hit = hit if sizes.goes_on else sizes.everything_same_tokens
        if not self._is_warm or sizes.fixed != state.fixed_tokens:
            hit = 0
        return self._cost(tokens, min(hit, tokens), tokens)

    def _fresh(self, sizes: PromptSizes) -> tuple[Plan, PolicyState]:
        """Return the plan without a body; the same question, asked again, is chosen for again."""
        told = sum(sizes.selected.values())
        cached = min(self._cached(sizes, ()), sizes.fixed)
        dollars = self._cost(sizes.fixed + told + sizes.question + sizes.stand_in, cached, sizes.fixed)
        plan = Plan((), (), 0, told, cached, dollars, "fresh", "strategy", dollars, dollars)
        state = self._asked(sizes, self.state)
        state = state._replace(body=(), since=len(sizes.turns), texts=(), recalled=(), question="")
        return plan, state._replace(gate_dollars=dollars)

    def _cost(self, tokens: int, cached: int, written_to: int) -> float:
        return input_cost(tokens, cached=cached, written_to=written_to, prices=self.prices)
