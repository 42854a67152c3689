"""The prompt policy: which past turns stay in a prompt whose beginning the provider has cached.

::

    fixed part │ body │ question, with the recalled turns inside

    sizes, selection, state ──choose──> Plan(body, recalled, action, reason) ──charge──> CallBill, state

The **body** is at first everything, and only grows: its tokens are read at the price of a cache. Turns that the
question needs and the body lacks are **recalled**: sent inside the question, for this call only. The body is
**rebuilt** from what the question selects when that is cheaper at once, because the cache is cold, or when the useless
part of the body has cost as much as a new one would: an online rule of rent or buy. Three conditions restrict it: the
new body is smaller; the first cut saves a third of the running price; and the bill stays within 1.02 times that of
sending everything, at every call.

What the question selects is always sent, in the body or recalled. A body is used only for a history that begins with
the turns that it was chosen from. Where turns were recalled and the model went on to call tools, the recalled text
stays in that turn until the body is rebuilt: the cached run behind it would have to be written again without it.

All of this is a pure function of sizes, prices, the time and the earlier state. Amounts are in dollars.

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
"""Multiple of the smallest prefix to which a body is filled up. Source: ours, the error of an estimate."""

_REMEMBERED_QUESTIONS = 20
"""Questions in the average of what a small body would have recalled. Source: ours; 10 to 100 do as well."""

_PRIOR_QUESTIONS = 5
"""Questions in a prior for young threads, each of which recalls a turn of mean length. Source: ours, ``python -m
benchmarks.cost --agents 5000``; without them chats that were cut early come to 1.26 times everything."""

_REBUILDS = frozenset({"no_room", "paid_off", "cheaper_now"})
"""Reasons to rebuild the body."""

REMEMBERED_PREFIXES = 64
"""Newest past turns within which an edit keeps the thread. Source: ours; edits further back are rare."""

_VERSION = 3
_LARGEST = 2**53
"""Above every stored number: a float holds every integer up to here."""
_ELEMENTS: Mapping[str, Any] = {"body": 0, "recalled": 0, "prefixes": "", "branch": "", "texts": (0, "")}
"""An example of the elements of each list."""


class PolicyState(NamedTuple):
    """The state of a thread's policy between calls; a small value that can be stored.

    Attributes:
        body: ids of the past turns that were chosen last, ascending.
        since: from this turn on every turn is in the body as well; at first 0: everything.
        turn_count: past turns at the last question.
        prefixes: digests of the beginnings of the history then, up to each of its newest past turns, ascending.
        branch: the same for the previous branch, before an edit or a fork.
        tail: digest of the history up to the last message then.
        tail_messages: messages of the current turn then.
        stand_in: identifies the text that replaced turns that were left out, "" for none.
        texts: turns that still hold recalled text, and the text, by turn, ascending.
        fixed_tokens: tokens before the body then.
        cached_tokens: how much of the next step of the same run the cache should hold, from its beginning.
        stable_tokens: the same for the prompt for the next question.
        everything_tokens: tokens of the last request with everything in it.
        everything_stable_tokens: how much of that would begin the prompt for the next question.
        sent_tokens: tokens of the last request, estimated.
        expected_tokens: how much of it the cache should have held.
        dollars: its bill, estimated, or as reported.
        everything_dollars: its bill with everything sent.
        gate_dollars: its bill with the selection alone.
        paid: the bills of all calls so far.
        everything_paid: the same with everything sent.
        gate_paid: the same with the selection alone.
        rent: what a smaller body would have saved since the last choice.
        recalled_tokens: mean tokens that a small body would have recalled.
        most_recalled_tokens: the most of these at one question; older questions count less.
        recalled: ids of the turns inside the last question, the most valuable first.
        question: names the last question, "" before the first.
        questions: number of questions so far.
        called_at: time of the last call in seconds, None before the first and without a clock.
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
        """Whether the body leaves nothing out."""
        return not self.since

    def is_after(self, other: PolicyState) -> bool:
        """Return whether it is of a later call: by questions, since a clock may go back; within one by the clock."""
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
            ConfigError: it is not a state of this version of the library: begin with ``PolicyState()``.
        """
        names = {"version", *cls._fields}
        if not isinstance(stored, Mapping) or stored.get("version") != _VERSION or stored.keys() != names:
            raise ConfigError("not a stored policy state of this version: begin with PolicyState()")
        values = {name: stored[name] for name in cls._fields}
        for name, example in cls()._asdict().items():
            value, element = values[name], _ELEMENTS.get(name)
            is_list = isinstance(value, list) and all(_fits(each, element) for each in value)
            if not (_fits(value, example) if element is None else is_list):
                raise ConfigError(f"the stored policy state has no usable {name}: begin with PolicyState()")
        lists = {name: tuple(values[name]) for name in _ELEMENTS} | {"texts": tuple(map(tuple, values["texts"]))}
        if any(list(lists[name]) != sorted(set(lists[name])) for name in ("body", "texts")):
            raise ConfigError("the turns of the stored policy state are not in order: begin with PolicyState()")
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
    """The sizes of a prompt before the past is chosen, in tokens.

    Attributes:
        fixed: the part that always comes first: system prompt, tools, head.
        question: the text of the user.
        turns: each past turn in full.
        selected: each selected turn as the selection would send it, the most valuable first.
        room: for past turns, in full and recalled.
        recall: returns the tokens of some turns inside the question; None: that is not possible.
        same_turns: leading past turns that have not changed since the call before.
        everything_same_tokens: how much of everything an earlier call began with.
        goes_on: whether the history of the call before, with its question, is a beginning of this one.
        is_stand_in_same: whether the text for turns that are left out has not changed.
        texts: tokens of the recalled text that turns still hold, by turn.
        question_name: identifies the question and the history before it.
        is_run: whether the model is likely to call tools: then the next step reads the recalled text as well.
        may_run: whether it has ever called one: then the promise leaves room for a step that writes the recalled text.
        stand_in: the text for turns that are left out, if any: a summary; not part of ``question``.
        ahead: the part of ``question`` and ``stand_in`` before the past turns.
        is_small: whether the past turns are too few tokens to begin with a cut.
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
    is_small: bool = False


class Plan(NamedTuple):
    """The past turns to send, and their price.

    Attributes:
        body: ids of the turns that are sent in full, ascending.
        recalled: ids of the turns inside the question, the most valuable first.
        body_tokens: tokens of the body.
        recalled_tokens: tokens of the recalled turns.
        cached_tokens: how much of the prompt the cache should hold, from its beginning.
        dollars: what the call costs.
        action: ``everything``, ``kept`` (the old body, grown), ``rebuilt``, or ``fresh`` (the selection alone).
        reason: why, as a fixed word; see ``docs/savings.md``.
        kept_dollars: what the call costs with the old body.
        rebuilt_dollars: what it costs with a new body.
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
        """Tokens of the past turns that are sent."""
        return self.body_tokens + self.recalled_tokens


class SentRequest(NamedTuple):
    """A request as it is sent, in tokens.

    Attributes:
        tokens: all of it.
        stable_tokens: how much of its beginning is the same at the next question.
        same_tokens: how much of its beginning is the same as in the step of the run before.
        everything_tokens: its tokens with the full history.
        everything_stable_tokens: how much of the beginning of that is the same at the next question.
        fixed, everything_same_tokens, goes_on: see ``PromptSizes``.
        is_last: whether no call reads more than the stable beginning from a cache: the turns are for this question
            alone, and no run is likely.
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
    """The bill of a call, in dollars for its input, and why the past is sent as it is.

    Attributes:
        action: see ``Plan``.
        reason: see ``Plan``; ``same_run`` where the model only goes on.
        dollars: this call, estimated.
        everything_dollars: this call, if everything were sent at each call.
        paid: all calls of the thread so far, corrected by what the provider reported.
        everything_paid: the same with everything sent.
        gate_paid: the same with the selection alone, as with the strategy ``gate``.
        kept_dollars: this call with the old body; for a further step of a run as ``dollars``.
        rebuilt_dollars: this call with a new body; likewise.
        cached_tokens: how much of the prompt the cache should hold.
        recalled: ids of the turns inside the question.
        body_end: position in the caller's list of the last message of the stable beginning: a cache mark goes behind
            it. None: no message belongs to it.
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
    """The policy at one call: prices, the time, and the state of the thread.

    Attributes:
        prices: of the model of this call.
        state: of the call before; ``PolicyState()`` at first.
        now: the time of this call in seconds, on the clock of the calls before; None: every cache counts as warm.
        is_thrifty: whether there is no body: the selection alone is sent, and only the part before it is cached.
        everything_reason: why the body is everything, whatever it costs; "" where the prices decide.

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
    everything_reason: str = ""

    def choose(self, sizes: PromptSizes) -> tuple[Plan, PolicyState]:
        """Return the past turns to send for a question, and the state with that choice, before it is paid."""
        fresh, fresh_state = self._fresh(sizes)
        if self.is_thrifty:
            return fresh, fresh_state
        count = len(sizes.turns)
        state = self._continued(sizes)._replace(gate_dollars=fresh.dollars)
        if self.everything_reason:
            plan = self._plan(sizes._replace(texts={}), tuple(range(count)), ())
            state = self._with_question(sizes, state)._replace(body=(), since=0, texts=(), recalled=(), rent=0.0)
            plan = plan._replace(action="everything", kept_dollars=plan.dollars, rebuilt_dollars=plan.dollars)
            return plan._replace(reason=self.everything_reason), state
        old = state.turns(count)
        if sizes.question_name and sizes.question_name == state.question:
            return self._same(sizes, state, old)
        state = self._with_question(sizes, state)
        kept = self._plan(sizes, old, tuple(turn for turn in sizes.selected if turn not in old))
        body, too_long = self._new_body(sizes)
        rebuilt = self._plan(sizes._replace(texts={}), body, too_long)
        to_recall = self._to_recall(sizes, state)
        gain = self._rate * (kept.body_tokens - rebuilt.body_tokens) - to_recall
        state = state._replace(rent=max(0.0, state.rent + gain))
        reason = self._reason(sizes, state, kept, rebuilt, gain=gain, to_recall=to_recall)
        if reason == "no_room" and too_long:  # a selected turn has room as an excerpt alone
            return fresh._replace(reason=reason), fresh_state
        if reason in _REBUILDS:
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
        """Return why the body is kept or rebuilt, in one word; ``gain`` is what each later call saves by a new one."""
        extra = rebuilt.dollars - kept.dollars
        read, written = self.prices.cache_read, self.prices.cache_write
        past = sum(sizes.turns)
        saved = read * (past - rebuilt.body_tokens)  # by each later call, before its hit is rounded down
        rounded_off = (written - read) * (self.prices.step_tokens - 1)
        newest = 0 if sizes.is_small or not sizes.turns else sizes.turns[-1]
        if kept.tokens + newest > sizes.room:
            return "no_room"  # for another turn like the newest: to give way in the middle of a run is dearest
        if rebuilt.body_tokens >= kept.tokens:
            return "not_smaller"
        if extra > state.rent:
            return "not_paid_off"
        whole = sizes.fixed + past + sizes.question
        everything = self._everything(whole, sizes)
        limit = MOST * (state.everything_paid + everything) - state.paid  # the promise for this call
        is_slight = sizes.is_small or gain < FIRST_CUT * self._rate * (sizes.fixed + kept.body_tokens)
        if is_slight and state.holds_everything and kept.dollars <= limit:
            return "saves_too_little"
        largest = max(state.most_recalled_tokens, *sizes.turns, 0)  # two such recalls in a row can be paid
        reserve = 2 * self.prices.input / 1_000_000 * largest + self._later(sizes, largest)
        reserve += _REMEMBERED_QUESTIONS * max(0.0, to_recall - read / 1_000_000 * (past - rebuilt.body_tokens))
        is_dear = rebuilt.dollars + reserve > limit and (extra >= 0 or kept.dollars <= limit)
        if is_dear or saved < rounded_off:
            return "guard"
        return "paid_off" if extra > 0 else "cheaper_now"

    def charge(self, state: PolicyState, sent: SentRequest, plan: Plan | None) -> tuple[CallBill, PolicyState]:
        """Return the bill of a request, and the state after it is paid.

        Args:
            state: from :meth:`choose`; for a further step of a run the earlier one.
            sent: the request.
            plan: from :meth:`choose`; None for a further step of a run.
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

        Where the provider counts other tokens than we do, the bill of everything is scaled by the same factor; where
        its cache missed what it should have held, it would have missed everything, too.
        """
        state = self.state
        if not state.sent_tokens or not usage.input_tokens:
            return state
        scale = usage.input_tokens / state.sent_tokens
        dollars = self.prices.dollars(usage._replace(output_tokens=0))
        everything = state.everything_dollars
        expected, cached = state.expected_tokens * scale, usage.cached_tokens
        if 2 * cached < expected or cached > 2 * expected:
            new = (usage.input_tokens - cached) / scale
            hit = max(0, state.everything_tokens - round(new)) if cached else 0
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
        """Return the coverage of the selection with which a cached body and recalled turns reach ``coverage`` together.

        The body holds further needed turns at the price of a cache, and a recalled token costs as much as other input:
        so the selection counts the geometric mean, the price of a token times the root of input over read.

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
        """Return the state as far as it belongs to a beginning of this history; the account stays.

        The body stays if the turns that it was chosen from are still there. Otherwise it is everything again.
        """
        state, same = self.state, sizes.same_turns
        if same >= state.turn_count:
            return state
        if same >= state.since:
            return state._replace(texts=tuple(each for each in state.texts if each[0] < same), question="")
        return state._replace(body=(), since=0, texts=(), rent=0.0, recalled=(), question="")

    def _with_question(self, sizes: PromptSizes, state: PolicyState) -> PolicyState:
        """Return a state with one more question, and what a small body would have recalled for it."""
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
        """Return the earlier plan, for the same question: repeated, or of a run that goes on elsewhere."""
        plan = self._plan(sizes, body, tuple(turn for turn in state.recalled if turn < len(sizes.turns)))
        cached = state.cached_tokens if self._is_warm and sizes.goes_on else plan.cached_tokens
        action: Action = "everything" if state.holds_everything else "kept"
        same = plan._replace(kept_dollars=plan.dollars, rebuilt_dollars=plan.dollars)
        return same._replace(cached_tokens=cached, action=action, reason="same_run"), state

    def _new_body(self, sizes: PromptSizes) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return a new body, and the turns recalled beside it: selected ones that have no room in full.

        A body that is too small for any cache is filled up with the newest turns: below the smallest prefix every token
        is paid in full at each call, while everything, sent on, would soon be cached.
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

    def _plan(self, sizes: PromptSizes, body: tuple[int, ...], recalled: tuple[int, ...]) -> Plan:
        """Return the plan that sends these turns; what cannot be recalled goes into the body."""
        if recalled and sizes.recall is None:
            body, recalled = tuple(sorted({*body, *recalled})), ()
        body_tokens = sum(sizes.turns[turn] + sizes.texts.get(turn, 0) for turn in body)
        recalled_tokens = sizes.recall(recalled) if recalled and sizes.recall else 0
        stable, cached = sizes.fixed + body_tokens, self._cached(sizes, body)
        tokens = stable + recalled_tokens + sizes.question + (sizes.stand_in if len(body) < len(sizes.turns) else 0)
        written_to = stable if recalled and not sizes.is_run and self.prices.marked else tokens
        return Plan(body, recalled, body_tokens, recalled_tokens, cached, self._cost(tokens, cached, written_to))

    def _to_recall(self, sizes: PromptSizes, state: PolicyState) -> float:
        """Return the expected price of what a question recalls: the mean so far, in a young thread a mean turn."""
        prior, questions = sum(sizes.turns) / max(1, len(sizes.turns)), state.questions
        tokens = (questions * state.recalled_tokens + _PRIOR_QUESTIONS * prior) / (questions + _PRIOR_QUESTIONS)
        return self.prices.input / 1_000_000 * tokens

    def _later(self, sizes: PromptSizes, recalled_tokens: float) -> float:
        """Return what later calls may pay, in dollars, because turns are recalled inside the question.

        The next question writes this one again without them, or a step of the run writes them and the question.
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
            return sizes.everything_same_tokens  # nothing was ever left out, on any branch
        texts = {turn for turn, _ in state.texts}
        before = tuple(turn for turn in state.turns(state.turn_count) if turn < sizes.same_turns)
        now = tuple(turn for turn in body if turn not in texts or turn in sizes.texts)
        if self.prices.marked and not sizes.goes_on:  # the last mark was behind a question, before its answer
            before = before[:-1] if state.since < sizes.same_turns else ()
        same = common_beginning(before, now)
        cached = sizes.fixed + sum(sizes.turns[turn] + sizes.texts.get(turn, 0) for turn in before[:same])
        # The last request may reach into the turn of its question.
        reaches = state.stable_tokens <= cached or now[same : same + 1] == (state.turn_count,)
        if same == len(before) and sizes.goes_on and reaches:
            return state.stable_tokens
        return sizes.fixed if self.prices.marked and same < len(before) else cached

    def _everything(self, tokens: int, sizes: PromptSizes | SentRequest, *, is_step: bool = False) -> float:
        """Return what a request with the full history costs, if every request before was such a one."""
        state = self.state
        hit = state.everything_tokens if is_step else state.everything_stable_tokens
        hit = hit if sizes.goes_on else sizes.everything_same_tokens
        if not self._is_warm or sizes.fixed != state.fixed_tokens:
            hit = 0
        return self._cost(tokens, min(hit, tokens), tokens)

    def _fresh(self, sizes: PromptSizes) -> tuple[Plan, PolicyState]:
        """Return the plan without a body; a repeated question gets a new choice."""
        selected = sum(sizes.selected.values())
        cached = min(self._cached(sizes, ()), sizes.fixed)
        dollars = self._cost(sizes.fixed + selected + sizes.question + sizes.stand_in, cached, sizes.fixed)
        plan = Plan((), (), 0, selected, cached, dollars, "fresh", "strategy", dollars, dollars)
        state = self._with_question(sizes, self.state)
        state = state._replace(body=(), since=len(sizes.turns), texts=(), recalled=(), question="")
        return plan, state._replace(gate_dollars=dollars)

    def _cost(self, tokens: int, cached: int, written_to: int) -> float:
        return input_cost(tokens, cached=cached, written_to=written_to, prices=self.prices)
