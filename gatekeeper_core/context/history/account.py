"""One call of a thread: what everything costs, which past turns a policy keeps or tells inside the question, the bill.

::

    choice of the selection ──choose──> body, and the question with the recalled turns ──> HistoryView ──billed──> bill
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.context.compaction.run import RunConfig, ShrunkRun, shrink_run
from gatekeeper_core.context.history.earlier import question_at, told_inside, told_question
from gatekeeper_core.context.history.policy import (
    REMEMBERED_PREFIXES,
    Plan,
    PolicyState,
    PromptPolicy,
    PromptSizes,
    SentRequest,
)
from gatekeeper_core.context.history.strategies import Choice, History, HistoryStatus, fitting_turns
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.messages import Message, is_answered
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import count_message, describe_counter

if TYPE_CHECKING:
    from gatekeeper_core.pricing.prices import ModelPrices
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["NOTHING_AROUND", "Around", "Costs", "ThreadAccount"]

_STEPS = 4
"""Steps in which a run that grows drives past turns out, where each of them costs a new prompt. Source: ours."""


class Around(NamedTuple):
    """Of what is sent beside the messages, what does not always stand first and stay as it is.

    Attributes:
        ahead_tokens: what stands before the past turns, behind what stays.
        behind_tokens: what stands behind them and may be another at the next question.
        free_tokens: what is only kept free.
        stand_in_tokens: of those ahead or behind what is not sent where no turn is left out: a summary.
        ahead: tells everything that stands before the past turns, but for a summary, from what stood there before.
        stand_in: tells a summary that stands there from another; "" where it stands behind them.
    """

    ahead_tokens: int = 0
    behind_tokens: int = 0
    free_tokens: int = 0
    stand_in_tokens: int = 0
    ahead: str = ""
    stand_in: str = ""


NOTHING_AROUND = Around()


class Costs:
    """What everything costs, and the view that a choice comes to.

    Attributes:
        history: the conversation.
        fixed: what the caller sends besides.
        past: what each past turn costs.
        always: what the head and notes cost.
        pinned: what pinned messages of past turns cost.
        asked: what the user asks.
        room_at_start: what was left for the past when the current turn began.
        run_stable: see ``ShrunkRun.stable``.
    """

    def __init__(
        self,
        history: History,
        counter: TokenCounter,
        run: RunConfig | None,
        budget_tokens: int,
        fixed_tokens: int,
        prices: ModelPrices | None,
    ) -> None:
        self.counter = counter
        self.past: Sequence[int] = ()
        self.run_stable: int | None = None
        self.history = history
        self.fixed = fixed_tokens
        self._prices = prices
        self._given_budget = budget_tokens
        self._run_config = run
        self.always = self._sum((*history.head, *history.notes))
        self.pinned = sum(count_message(message, token_counter=counter) for _, message in history.pinned)
        current = range(history.current.start, history.current.stop) if history.current else range(0)
        said = (at for at in current if history.messages[at].role != "user" or at in history.summaries)
        asked = next(said, current.stop)
        self.asked = self._sum(range(current.start, asked))
        self._run = range(asked, current.stop)
        self._done = self._sum(self._run)
        sent = fixed_tokens + self.always + self.pinned + self.asked
        self.room_at_start = budget_within(counter, budget_tokens) - sent

    @property
    def tokens_at_start(self) -> int:
        """What the whole history cost when the current turn began."""
        return self.always + self.pinned + self.asked + sum(self.past)

    def set_past(self, tokens: Sequence[int]) -> None:
        """Take what each past turn costs, less what of it is pinned."""
        self.past = tokens
        if self.history.pinned:
            self.past = list(tokens)
            for at, message in self.history.pinned:
                if (turn := self.history.turn_at(at)) is not None:
                    self.past[turn] = max(0, self.past[turn] - count_message(message, token_counter=self.counter))

    def view(self, choice: Choice) -> HistoryView:
        """Return what is sent: of the choice, what fits beside the current turn as it is now."""
        history = self.history
        before, costs = choice.tokens_before, self.as_sent(choice)
        chosen_tokens = sum(costs[turn] for turn in choice.turns) if before is None else before
        told = told_question(history, history.current, choice.told)
        told_tokens = self.more_than(*told) if told else 0
        run = self._shrunk(told_tokens + chosen_tokens)
        self.run_stable = run.stable
        wanted = choice.turns
        if told and self.room_at_start - told_tokens - run.tokens < 0:  # then nothing that is worth less has room
            told, told_tokens = None, 0
            order = choice.selection.order if choice.selection else ()
            wanted = tuple(turn for turn in wanted if turn in order)
        room = self.room_at_start - told_tokens - run.tokens
        left = self.room_at_start - told_tokens - run.peak_tokens
        if self._prices and left < chosen_tokens:
            left -= -run.peak_tokens % max(1, self.room_at_start // _STEPS)
        turns = fitting_turns(wanted, costs, budget_tokens=left)
        sent = [history.past[turn] for turn in turns] + ([history.current] if history.current else [])
        positions = {at for turn in sent for at in range(turn.start, turn.stop)}
        positions.difference_update(run.folded[1:])
        always = self.always + self.pinned + self.asked + told_tokens + run.tokens
        if room < 0 and history.current is None and not history.left.stop:
            always, short = 0, []  # only a history was asked for, and its limit is hard: the head goes as well
        else:
            short = [(at, one) for at, one in history.pinned if at not in positions]
            positions.update(history.head, history.notes, (at for at, _ in short))
        other = [(at, one) for at, one in (*choice.cuts, *short) if at in positions and one != history.messages[at]]
        status = self._status(choice, turns, room)
        return HistoryView(
            kept=tuple(sorted(positions)),
            status="selected" if status == "passthrough" and run.replaced else status,
            reason=choice.reason,
            selection=choice.selection,
            turns=turns,
            turn_count=len(history.past),
            tokens=always + sum(costs[turn] for turn in turns),
            history_tokens=self.tokens_at_start + self._done,
            fixed_tokens=self.fixed,
            budget_tokens=self._given_budget,
            replaced=(
                *sorted(other, key=itemgetter(0)),
                *filter(None, [told]),
                *run.replaced,
            ),
            folded=run.folded,
            chosen_tokens=chosen_tokens,
            told=choice.told if told else "",
            message_count=len(history.messages),
            pinned=tuple(at for at, _ in history.pinned if at in positions),
            **describe_counter(self.counter),
        )

    def as_sent(self, choice: Choice) -> Sequence[int]:
        """Return what each past turn costs, with the cuts of those that are chosen."""
        costs, cuts = list(self.past), dict(choice.cuts)
        for turn in choice.turns if cuts else ():
            for at in range(self.history.past[turn].start, self.history.past[turn].stop):
                if at in cuts:
                    costs[turn] += self.more_than(at, cuts[at])
        return costs

    def more_than(self, at: int, message: Message) -> int:
        """Return how much more a message costs than the one that it replaces; negative where it costs less."""
        return count_message(message, token_counter=self.counter) - self.tokens_at(at)

    def _shrunk(self, past_tokens: int) -> ShrunkRun:
        history = self.history
        if self._run_config is None or history.current is None:
            return ShrunkRun((), (), self._done, self._done)
        return shrink_run(
            history.messages,
            self._run,
            room=self.room_at_start - past_tokens,
            tokens_at=self.tokens_at,
            token_counter=self.counter,
            config=self._run_config,
            question=history.query,
            prices=self._prices,
            before_tokens=self.fixed + self.always + self.pinned + self.asked + past_tokens,
        )

    def _status(self, choice: Choice, turns: Sequence[int], room: int) -> HistoryStatus:
        if room < 0:
            return "over_budget" if self.history.current else "nothing_fits"
        if self.past and not turns and min(self.past) > room:
            return "nothing_fits"
        if choice.status == "passthrough" and len(turns) < len(self.past):
            return "selected"  # the current turn has outgrown what was sent whole when it began
        return choice.status

    def tokens_at(self, position: int) -> int:
        """Return what the message at a position costs; what the provider keeps costs nothing."""
        free = position < self.history.left.free
        return 0 if free else count_message(self.history.messages[position], token_counter=self.counter)

    def _sum(self, positions: Iterable[int]) -> int:
        return sum(map(self.tokens_at, positions))


class ThreadAccount:
    """One call of a thread.

    Args:
        policy: prices, time and state.
        costs: of the conversation.
        around: what else is sent.
        can_recall: whether the question can be sent in another form.
    """

    def __init__(self, policy: PromptPolicy, costs: Costs, around: Around, *, can_recall: bool) -> None:
        self._policy = policy
        self._state = policy.state
        self._history = history = costs.history
        self._costs = costs
        self._around = around
        moving = around.ahead_tokens + around.behind_tokens + around.free_tokens
        self._fixed = costs.fixed - moving + costs.always  # what always stands first
        self._question = question_at(history, history.current) if can_recall else None
        self._plan: Plan | None = None

    @property
    def _is_run(self) -> bool:
        """Whether the model is likely to call tools: it did in the turn before."""
        return any(message.role == "tool" for turn in self._history.past[-1:] for message in turn.messages)

    @property
    def _current(self) -> Sequence[Message]:
        return self._history.current.messages if self._history.current else ()

    @cached_property
    def _prefixes(self) -> list[str]:
        """Digests of the beginnings of the history up to each past turn, the first of what stands before them."""
        history = self._history
        digests = [_digest_of((history.messages[at] for at in history.head), self._around.ahead)]
        for turn in history.past:
            digests.append(_digest_of(turn.messages, digests[-1]))
        return digests

    @cached_property
    def _same_turns(self) -> int:
        """Leading past turns that are as they were at the call before; 0 where they changed too far back to tell."""
        return self._common_turns(self._policy.state.prefixes)

    @cached_property
    def _everything_same_tokens(self) -> int:
        """Return how much of everything was sent before, on this branch of the conversation or the one left last."""
        turns = max(self._same_turns, self._common_turns(self._policy.state.branch))
        tokens = self._fixed + sum(self._costs.past[:turns])
        if turns and self._policy.prices.marked:  # what was marked ended with the question of the last of them
            last = self._history.past[turns - 1]
            tokens -= sum(map(self._costs.tokens_at, range(last.start + 1, last.stop)))
        return tokens

    def _common_turns(self, prefixes: Sequence[str]) -> int:
        known = frozenset(prefixes)
        return next((at for at in range(len(self._prefixes))[::-1] if self._prefixes[at] in known), 0) if known else 0

    @cached_property
    def _goes_on(self) -> bool:
        """Whether the history of the call before, with its question, is a beginning of this one."""
        state, past = self._policy.state, self._history.past
        if not state.questions:
            return True
        if self._same_turns < state.turn_count:
            return False
        turn = past[state.turn_count].messages if state.turn_count < len(past) else self._current
        return state.tail == self._tail(state.turn_count, turn[: state.tail_messages])

    def _tail(self, turns: int, messages: Sequence[Message]) -> str:
        return _digest_of(messages, self._prefixes[turns])

    def choose(self, choice: Choice) -> Choice:
        """Return what is sent of the past for a new question, from what the selection gives."""
        around, costs = self._around, self._costs
        whole, room, sent = costs.past, costs.room_at_start, costs.as_sent(choice)
        selected = {turn: sent[turn] for turn in choice.turns}
        if choice.status == "no_query":  # then the body stays; where it does not fit, the newest turns take its place
            body = {turn: whole[turn] for turn in self._state.turns(len(whole))}
            selected = body if sum((*body.values(), *whole[-1:])) <= room else selected
        sizes = PromptSizes(
            fixed=self._fixed,
            question=around.ahead_tokens + around.behind_tokens - around.stand_in_tokens + costs.pinned + costs.asked,
            turns=whole,
            selected=selected,
            room=room,
            recall=None if self._question is None else lambda turns: self._told_tokens(choice, turns),
            same_turns=self._same_turns,
            everything_same_tokens=self._everything_same_tokens,
            goes_on=self._goes_on,
            is_stand_in_same=self._policy.state.stand_in == around.stand_in,
            texts={turn: costs.more_than(*replaced) for turn, replaced in self._with_texts(self._state).items()},
            question_name=_digest_of((), self._history.query, self._prefixes[-1]),
            is_run=self._is_run,
            may_run=any(message.role == "tool" for message in self._history.messages),
            stand_in=around.stand_in_tokens,
            ahead=around.ahead_tokens,
        )
        plan, self._state = self._policy.choose(sizes)
        self._plan = plan
        if plan.action == "fresh":
            return choice
        told = self._told(choice, plan.recalled) if plan.recalled else ""
        cuts = tuple(sorted(self._with_texts(self._state).values()))
        first = [turn for turn in choice.turns if turn in plan.body]
        rest = [turn for turn in reversed(plan.body) if turn not in first]
        status = choice.status
        if plan.action == "everything" and status == "selected":
            status = "passthrough"
        return choice._replace(turns=(*first, *rest), status=status, cuts=cuts, told=told)

    def _told(self, choice: Choice, turns: Sequence[int]) -> str:
        return told_inside(turns, self._history.past, choice.selection, question=self._history.query)

    def _told_tokens(self, choice: Choice, turns: Sequence[int]) -> int:
        replaced = told_question(self._history, self._history.current, self._told(choice, turns))
        return self._costs.more_than(*replaced) if replaced else 0

    def _with_texts(self, state: PolicyState) -> dict[int, tuple[int, Message]]:
        """Return the past questions that still hold recalled text, with their positions, by turn."""
        past = self._history.past
        found = {turn: told_question(self._history, past[turn], text) for turn, text in state.texts if turn < len(past)}
        return {turn: replaced for turn, replaced in found.items() if replaced}

    def keep_everything(self) -> None:
        """Take everything for the body: it fits, and is to be sent."""
        self._policy = replace(self._policy, is_thrifty=False)

    @property
    def state(self) -> PolicyState:
        """What the policy is given for the next call."""
        return self._state

    def billed(self, view: HistoryView, previous: HistoryView | None) -> HistoryView:
        """Return the view with its bill, and keep the state for the next call.

        Args:
            view: what is sent.
            previous: the view of the step of the run before, None for a new question.
        """
        if previous and previous.bill and is_answered(self._history.messages):  # nobody is asked: it is only read
            self._state = self._policy.state
            return view._replace(bill=previous.bill)
        plan, count, state = self._plan, len(self._history.past), self._state
        if not self._policy.is_thrifty and set(view.turns) != set(state.turns(count)):  # some had no room
            texts = tuple(each for each in state.texts if each[0] in view.turns)
            state = state._replace(body=tuple(sorted(view.turns)), since=count, texts=texts)
        if view.told and self._has_run:
            state = state._replace(texts=(*(each for each in state.texts if each[0] < count), (count, view.told)))
        self._state = state
        sent = self._sent(view, previous)
        bill, state = self._policy.charge(state, sent, plan)
        before = self._policy.state
        state = state._replace(
            turn_count=count,
            prefixes=tuple(self._prefixes[-1 - REMEMBERED_PREFIXES :]),
            branch=before.branch if self._same_turns == before.turn_count else before.prefixes,
            tail=self._tail(count, self._current),
            tail_messages=len(self._current),
            stand_in="" if self._omitted(view) else self._around.stand_in,
        )
        current = self._history.current
        is_fleeting = view.told and not self._has_run
        until = current.start if current and self._behind(view) else self._question if is_fleeting else None
        kept = [at for at in view.kept if until is None or at < until]
        end = kept[-1] if kept and not self._policy.is_thrifty else None
        end = end if self._costs.run_stable is None else self._costs.run_stable
        if plan is None and previous and previous.bill:
            bill = bill._replace(action=previous.bill.action, recalled=previous.bill.recalled)
        self._state = state
        return view._replace(bill=bill._replace(body_end=end))

    def _sent(self, view: HistoryView, previous: HistoryView | None) -> SentRequest:
        """Return the sizes of what a view sends, and of what everything would be."""
        costs, around, fixed = self._costs, self._around, self._fixed
        omitted, behind = self._omitted(view), self._behind(view)
        ahead = around.ahead_tokens - (omitted if around.stand_in else 0)
        texts = sum(costs.more_than(*each) for each in self._with_texts(self._state).values())
        body = fixed + ahead + texts + sum(costs.past[turn] for turn in self._state.turns(len(costs.past)))
        begun = body + behind + costs.pinned + costs.asked
        tokens = view.fixed_tokens + view.tokens - around.free_tokens - omitted
        stable = begun if self._shrunk(view) else tokens
        if behind or (view.told and not self._has_run):
            stable = body
        everything = view.fixed_tokens + view.history_tokens - around.free_tokens - around.stand_in_tokens
        stand_in_behind = 0 if around.stand_in else around.stand_in_tokens
        stable_everything = everything
        if around.behind_tokens > stand_in_behind:
            stable_everything = fixed + around.ahead_tokens - around.stand_in_tokens + stand_in_behind
            stable_everything += sum(costs.past)
        return SentRequest(
            fixed=fixed,
            tokens=tokens,
            stable_tokens=fixed if self._policy.is_thrifty else stable,
            same_tokens=self._same_tokens(view, previous, tokens=tokens, begun=begun),
            everything_tokens=everything,
            everything_stable_tokens=stable_everything,
            everything_same_tokens=self._everything_same_tokens,
            goes_on=self._goes_on,
            is_last=(view.told != "" or (self._policy.is_thrifty and view.turn_count > 0)) and not self._is_run,
        )

    def _omitted(self, view: HistoryView) -> int:
        """Return the tokens of what stands for turns that were left out, where none is."""
        return self._around.stand_in_tokens if len(view.turns) == len(self._history.past) else 0

    def _behind(self, view: HistoryView) -> int:
        """Return the tokens that stand behind the past turns, before what the user asks."""
        return self._around.behind_tokens - (0 if self._around.stand_in else self._omitted(view))

    def _same_tokens(self, view: HistoryView, previous: HistoryView | None, *, tokens: int, begun: int) -> int:
        """Return how much of the beginning of a request is that of the step before."""
        if previous is None:
            return begun
        if set(previous.turns) != set(view.turns) or previous.told != view.told:
            return self._fixed
        return tokens if self._shrunk(previous) == self._shrunk(view) else begun

    def _shrunk(self, view: HistoryView) -> list[tuple[int, Message]]:
        """Return what of the current run a view sends in another form."""
        current = self._history.current
        return [one for one in view.replaced if current and one[0] >= current.start and one[0] != self._question]

    @property
    def _has_run(self) -> bool:
        return any(message.role == "tool" for message in self._current)


def _digest_of(messages: Iterable[Message], *more: str) -> str:
    """Return a digest of messages and more: equal, on every machine, only where they are sent the same."""
    from hashlib import blake2b  # here, because it is a tenth of the import of the library

    said = [(one.role, one.content, one.tool_calls, one.tool_call_id, one.name) for one in messages]
    return blake2b(repr((more, said)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
