"""One call of a thread: token costs, the past turns that the policy keeps or recalls, and the bill.

::

    choice of the selection ──choose──> body, and the question with the recalled turns ──> HistoryView ──billed──> bill
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import accumulate, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING

from gatekeeper_core.context.history.reading import History
from gatekeeper_core.context.history.recall import question_at, question_with, render_recalled
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.run import shrink_run
from gatekeeper_core.context.history.strategies import HistoryConfig, budget_for_window, has_tool_calls
from gatekeeper_core.context.history.view import DIGESTS, HistorySizes, HistoryView, ThreadState, keep
from gatekeeper_core.messages import Message, common_beginning, is_answered, messages_digest
from gatekeeper_core.pricing.policy import (
    CachedPrompt,
    CallBill,
    Continuation,
    HistoryDigests,
    PromptPolicy,
    PromptSizes,
)
from gatekeeper_core.pricing.prices import UNKNOWN, ModelPrices
from gatekeeper_core.selection.need import coverage_at, price_of
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import count_message, count_messages, describe_counter

if TYPE_CHECKING:
    from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

_STEPS = 4
"""Steps in which a growing run drops past turns, since each step costs a new prompt. Source: ours."""

_REMEMBERED_PREFIXES = 64
"""Newest past turns in which an edit still counts as the same thread. Source: ours; edits further back are rare."""


class Costs:
    """Token counts for the parts of a conversation, and the view of a choice.

    Attributes:
        request: what is sent beside the messages, with the question of the history.
        prices: of the model; None: the thread has no account.
        kept: values of the thread from earlier calls.
        fixed, always, past, pinned, question: tokens of what you send in addition, of the head and notes, of each past
            turn, of pinned messages in past turns, and of the user's messages in the current turn.
        room_at_start: the room for the past when the current turn began.
        run_start: position of the first message of the run.
        run_stable: see ``ShrunkRun.stable``.
    """

    def __init__(
        self,
        history: History,
        gatekeeper: ContextGatekeeper,
        config: HistoryConfig,
        request: HistoryRequest,
        prices: ModelPrices | None,
    ) -> None:
        self.history, self.config, self.prices = history, config, prices
        self.request = replace(request, query=history.query)
        self.fixed = request.fixed_tokens + config.reserve_tokens
        self._budget_tokens = config.token_budget or budget_for_window(request.window_tokens)
        self.counter, self.kept = gatekeeper.token_counter, gatekeeper.derived
        self._count = partial(count_message, token_counter=self.counter)
        before, counts = self.kept.get("messages") or ((), ())
        same = common_beginning(before, history.messages)
        self._tokens = [*counts[:same], *map(self._count, history.messages[same:])]
        self.kept.put("messages", (history.messages, self._tokens))
        self.past: Sequence[int] = ()
        self.run_stable: int | None = None
        current = range(history.current.start, history.current.stop) if history.current else range(0)
        steps = (at for at in current if history.messages[at].role != "user" or at in history.summaries)
        self.run_start = next(steps, current.stop)
        self._run = range(self.run_start, current.stop)
        self.always = self._sum((*history.head, *history.notes))
        self.pinned = sum(self._count(message) for _, message in history.pinned)
        self.question = self._sum(range(current.start, self.run_start))
        self._required = self.always + self.pinned + self.question
        self.room_at_start = budget_within(self.counter, self._budget_tokens) - self.fixed - self._required

    def set_past(self, tokens: Sequence[int]) -> None:
        """Set the tokens of each past turn, less those of its pinned messages."""
        self.past = past = list(tokens)
        for at, message in self.history.pinned:
            if (turn := self.history.turn_at(at)) is not None:
                past[turn] = max(0, past[turn] - self._count(message))

    def view(self, choice: HistoryView, *, chosen_tokens: int | None) -> HistoryView:
        """Return the part of a choice that fits now; ``chosen_tokens``: of the run's first choice, None for it."""
        history, costs = self.history, self.as_sent(choice)
        if chosen_tokens is None:
            chosen_tokens = sum(costs[turn] for turn in choice.turns)
        recalling = question_with(history, history.current, choice.recalled_text)
        recalled_tokens = self.more_than(*recalling) if recalling else 0
        run = shrink_run(
            history.messages,
            self._run,
            room=self.room_at_start,
            past_tokens=recalled_tokens + chosen_tokens,
            tokens_at=self.tokens_at,
            token_counter=self.counter,
            config=self.config.run,
            request=self.request,
            prices=self.prices,
            before_tokens=self.fixed + self._required + recalled_tokens + chosen_tokens,
            kept=self.kept,
        )
        self.run_stable = run.stable
        candidates, room = choice.turns, self.room_at_start - recalled_tokens
        beside = chosen_tokens if choice.reason == DIGESTS else 0
        if recalling and room - run.peak_tokens < beside:
            recalling, recalled_tokens, room = None, 0, self.room_at_start
            if not beside:  # if needed turns do not fit, neither do those of lower value
                order = choice.selection.order if choice.selection else ()
                candidates = tuple(turn for turn in candidates if turn in order)
        room, peak_room = room - run.tokens, room - run.peak_tokens
        if self.prices and peak_room < chosen_tokens:
            peak_room -= -run.peak_tokens % max(1, self.room_at_start // _STEPS)
        # Stop at the first that does not fit: a later one could otherwise return at a later step, when a larger one
        # is dropped, and a run resumed elsewhere would send a different past.
        totals = accumulate(costs[turn] for turn in candidates)
        turns = candidates[: sum(1 for _ in takewhile(peak_room.__ge__, totals))]
        sent = [history.past[turn] for turn in turns] + ([history.current] if history.current else [])
        positions = {at for turn in sent for at in range(turn.start, turn.stop)}
        positions.difference_update((*choice.folded, *run.folded[1:]))
        other = [(at, new) for at, new in choice.replaced if at in positions]
        always = self._required + recalled_tokens + run.tokens
        if room < 0 and history.current is None and not history.provider_stop:
            always, pins = 0, []  # the caller wants only a history, and its limit is hard: drop the head too
        else:
            pins = [(at, pin) for at, pin in history.pinned if at not in positions]
            positions.update(history.head, history.notes, (at for at, _ in pins))
        other = [(at, new) for at, new in (*other, *pins) if new != history.messages[at]]
        status = choice.status
        if room < 0:
            status = "over_budget" if history.current else "nothing_fits"
        elif self.past and not turns and min(self.past) > room:
            status = "nothing_fits"
        elif status == "passthrough" and (run.replaced or len(turns) < len(self.past)):
            status = "selected"  # no longer all of it: the current turn has grown
        sizes = HistorySizes(
            message_count=len(history.messages),
            turn_count=len(history.past),
            tokens=always + sum(costs[turn] for turn in turns),
            history_tokens=self._required + sum(self.past) + self._sum(self._run),
            fixed_tokens=self.fixed,
            budget_tokens=self._budget_tokens,
            chosen_tokens=chosen_tokens,
            **describe_counter(self.counter),
        )
        return choice._replace(
            kept=tuple(sorted(positions)),
            status=status,
            turns=turns,
            replaced=(*sorted(other, key=itemgetter(0)), *filter(None, [recalling]), *run.replaced),
            folded=(*(at for at in choice.folded if history.turn_at(at) in turns), *run.folded),
            recalled_text=choice.recalled_text if recalling else "",
            pinned=tuple(at for at, _ in history.pinned if at in positions),
            sizes=sizes,
        )

    def as_sent(self, choice: HistoryView) -> Sequence[int]:
        """Return the tokens of each past turn, with cuts applied to the chosen ones."""
        costs, cuts, omitted = list(self.past), dict(choice.replaced), frozenset(choice.folded)
        for turn in choice.turns if cuts or omitted else ():
            for at in range(self.history.past[turn].start, self.history.past[turn].stop):
                if at in omitted:
                    costs[turn] -= self.tokens_at(at)
                elif at in cuts:
                    costs[turn] += self.more_than(at, cuts[at])
        return costs

    def more_than(self, at: int, message: Message) -> int:
        """Return how many more tokens a message has than the one it replaces; negative for fewer."""
        return self._count(message) - self.tokens_at(at)

    def tokens_at(self, position: int) -> int:
        """Return the tokens of the message at a position, 0 if the provider keeps it."""
        return 0 if position < self.history.provider_free else self._tokens[position]

    def _sum(self, positions: Iterable[int]) -> int:
        return sum(map(self.tokens_at, positions))


class ThreadAccount:
    """The account of one call: its policy, and as ``state`` the policy's state for the next call."""

    def __init__(self, costs: Costs, before: ThreadState) -> None:
        is_thrifty = costs.config.strategy != "cache"
        prices = costs.prices or UNKNOWN
        self.policy = PromptPolicy(prices=prices, state=before.policy, now=before.now, is_thrifty=is_thrifty)
        self.state, self._before = before.policy, before
        self._history = history = costs.history
        self._costs = costs
        self._overhead = overhead = costs.request.overhead
        moving = overhead.before_tokens + overhead.after_tokens + overhead.unsent_tokens
        self._fixed = costs.fixed - moving + costs.always  # always first
        self._question = question_at(history.current) if costs.request.can_recall else None
        self._bill: CallBill | None = None
        self._current: Sequence[Message] = history.current.messages if history.current else ()
        self._has_run = has_tool_calls(self._current)
        self._is_run = bool(history.past) and has_tool_calls(history.past[-1].messages)  # then calls are likely

    def selection_coverage(self, coverage: float) -> float:
        """Return the coverage to select with, so that a cached body and recalled turns together reach ``coverage``.

        The body holds further needed turns at the cache price, and a recalled token costs the full input price. So the
        selection uses the geometric mean: the token price times the square root of input over read. Source: ours,
        ``python -m benchmarks.cost``: of 100 turns the prompts hold as many needed turns as with ``gate`` at the same
        coverage, and cost 0.57 of everything, not 0.73.
        """
        prices = self.policy.prices
        if self.policy.is_thrifty or not self.policy.is_warm or not prices.cache_read:
            return coverage
        return coverage_at(price_of(coverage) * math.sqrt(prices.input / prices.cache_read))

    @cached_property
    def _prefixes(self) -> list[str]:
        """Digests of the history's prefixes: before the past turns, then up to the end of each."""
        past, head = self._history.past, (self._history.messages[at] for at in self._history.head)
        start = messages_digest(head, after=self._overhead.before_digest)
        turns, before = self._costs.kept.get("prefixes") or ((), [""])
        same = common_beginning(turns, past) if before[0] == start else 0
        prefixes = [start, *before[1 : same + 1]]
        for turn in past[same:]:
            prefixes.append(messages_digest(turn.messages, after=prefixes[-1]))
        self._costs.kept.put("prefixes", (past, prefixes))
        return prefixes

    @cached_property
    def _question_digest(self) -> str:
        return messages_digest([Message("user", self._history.query)], after=self._prefixes[-1])

    @cached_property
    def _continuation(self) -> Continuation:
        """The part of the history shared with the previous call or another branch of it."""
        state, past = self.policy.state.history, self._history.past
        same = self._same_turns(state.prefixes)
        turns = max(same, self._same_turns(state.branch))
        tokens = self._fixed + sum(self._costs.past[:turns])
        if turns and self.policy.prices.marked:  # the last mark was after the question of the last of them
            last = past[turns - 1]
            tokens -= sum(map(self._costs.tokens_at, range(last.start + 1, last.stop)))
        goes_on = not self.policy.state.ledger.questions
        if not goes_on and same >= state.turn_count:
            turn = past[state.turn_count].messages if state.turn_count < len(past) else self._current
            tail = messages_digest(turn[: state.tail_messages], after=self._prefixes[state.turn_count])
            goes_on = state.tail == tail
        return Continuation(
            same_turns=same,
            everything_same_tokens=tokens,
            goes_on=goes_on,
            is_summary_same=state.summary == self._overhead.summary_digest,
            is_same_question=state.question == self._question_digest and same >= state.turn_count,
        )

    def _same_turns(self, prefixes: Sequence[str]) -> int:
        """Return how many leading past turns have a known digest; 0 if the change is too far back to tell."""
        old = frozenset(prefixes)
        return next((at for at in reversed(range(len(self._prefixes))) if self._prefixes[at] in old), 0)

    def choose(self, choice: HistoryView, *, is_step: bool) -> HistoryView:
        """Return the past turns to send, given those of the selection; a further step of a run sends the same."""
        overhead, costs, history = self._overhead, self._costs, self._history
        if choice.status == "passthrough" and self.policy.is_thrifty:
            self.policy.is_thrifty, self.policy.everything_reason = False, choice.reason
        if is_step:
            return choice
        full, room, sent = costs.past, costs.room_at_start, costs.as_sent(choice)
        selected = {turn: sent[turn] for turn in choice.turns}
        if choice.status == "no_query":  # keep the body; if it does not fit, send the newest turns
            body = {turn: full[turn] for turn in self.state.body.ids(len(full))}
            selected = body if sum((*body.values(), *full[-1:])) <= room else selected

        def recall(turns: Sequence[int]) -> str:
            return render_recalled(turns, history.past, choice.selection, question=history.query)

        def recall_tokens(turns: Sequence[int]) -> int:
            question = question_with(history, history.current, recall(turns))
            return costs.more_than(*question) if question else 0

        ahead = overhead.before_tokens + overhead.after_tokens - overhead.summary_tokens
        sizes = PromptSizes(
            fixed=self._fixed,
            question=ahead + costs.pinned + costs.question,
            turns=full,
            selected=selected,
            room=room,
            recall=None if self._question is None else recall_tokens,
            continuation=self._continuation,
            texts={turn: costs.more_than(*replaced) for turn, replaced in self._with_texts().items()},
            tools="likely" if self._is_run else "seen" if has_tool_calls(history.messages) else "",
            summary=overhead.summary_tokens,
            ahead=overhead.before_tokens,
            is_small=sum(full) + costs.pinned < (costs.config.passthrough_below or 0),
        )
        self._bill, self.state = bill, _ = self.policy.choose(sizes)
        if bill.action == "fresh":
            return choice
        turns = self.state.body.ids(len(full))
        first = [turn for turn in choice.turns if turn in turns]
        return choice._replace(
            turns=(*first, *(turn for turn in reversed(turns) if turn not in first)),
            status="passthrough" if bill.action == "everything" and choice.status == "selected" else choice.status,
            replaced=tuple(sorted(self._with_texts().values())),
            recalled_text=recall(bill.recalled) if bill.recalled else "",
        )

    def _with_texts(self) -> dict[int, tuple[int, Message]]:
        """Return the position and form of each past question that still holds recalled text, by turn."""
        past, texts = self._history.past, self.state.body.texts
        pairs = {turn: question_with(self._history, past[turn], text) for turn, text in texts if turn < len(past)}
        return {turn: pair for turn, pair in pairs.items() if pair}

    def billed(self, view: HistoryView, previous: HistoryView | None) -> HistoryView:
        """Return the view with its bill, and set the next state; ``previous``: view of the run's last step, if any."""
        if previous and previous.bill and is_answered(self._history.messages):  # no model is called
            self.state = self.policy.state
            return view._replace(bill=previous.bill)
        count, body = len(self._history.past), self.state.body
        is_fresh = self.policy.is_thrifty and view.reason != DIGESTS  # the next prompt begins with the digests
        if not self.policy.is_thrifty and set(view.turns) != set(body.ids(count)):  # some had no room
            texts = tuple(each for each in body.texts if each[0] in view.turns)
            body = replace(body, turns=tuple(sorted(view.turns)), since=count, texts=texts)
        if view.recalled_text and self._has_run:
            body = replace(body, texts=(*(each for each in body.texts if each[0] < count), (count, view.recalled_text)))
        self.state = replace(self.state, body=body)
        omitted = self._overhead.summary_tokens if len(view.turns) == count else 0  # no turn is dropped
        after = self._overhead.after_tokens - (0 if self._overhead.summary_digest else omitted)
        sent, begun = self._sent(view, is_fresh=is_fresh, omitted=omitted, after=after)
        if view.reason == DIGESTS:
            same_tokens = self._common_tokens(view)
            if self._bill:
                cached_tokens = same_tokens if self.policy.is_warm else 0
                self._bill = self._bill._replace(reason=DIGESTS, cached_tokens=cached_tokens)
        else:
            same_tokens = self._same_tokens(view, previous, tokens=sent.sent_tokens, begun=begun)
        bill, state = self.policy.charge(
            self._bill,
            self.state,
            sent,
            continuation=self._continuation,
            same_tokens=same_tokens,
            is_last=(view.recalled_text != "" or (is_fresh and view.turn_count > 0)) and not self._is_run,
        )
        earlier = self.policy.state.history
        digest = self._question_digest if self._bill else self.state.history.question
        history = HistoryDigests(
            turn_count=count,
            prefixes=tuple(self._prefixes[-1 - _REMEMBERED_PREFIXES :]),
            branch=earlier.branch if self._continuation.same_turns == earlier.turn_count else earlier.prefixes,
            tail=messages_digest(self._current, after=self._prefixes[-1]),
            tail_messages=len(self._current),
            summary="" if omitted else self._overhead.summary_digest,
            question="" if bill.action == "fresh" else digest,
        )
        self.state = replace(state, history=history)
        current = self._history.current
        until = current.start if current and after else None
        if until is None and view.recalled_text and not self._has_run:
            until = self._question
        kept = [at for at in view.kept if until is None or at < until]
        end = kept[-1] if kept and not is_fresh else None
        if self._bill is None and previous and previous.bill:
            bill = bill._replace(action=previous.bill.action, recalled=previous.bill.recalled)
        return view._replace(
            bill=bill._replace(body_end=end if self._costs.run_stable is None else self._costs.run_stable)
        )

    def _sent(self, view: HistoryView, *, is_fresh: bool, omitted: int, after: int) -> tuple[CachedPrompt, int]:
        """Return a request's sizes, and its tokens to the question's end; ``omitted``, ``after``: see ``billed``."""
        costs, overhead, fixed = self._costs, self._overhead, self._fixed
        body = fixed + overhead.before_tokens - (omitted if overhead.summary_digest else 0)
        body += sum(costs.more_than(*each) for each in self._with_texts().values())
        if view.reason == DIGESTS:
            past, turns = costs.as_sent(view), view.turns
        else:
            past, turns = costs.past, self.state.body.ids(len(costs.past))
        body += sum(past[turn] for turn in turns)
        begun = body + after + costs.pinned + costs.question
        tokens = view.fixed_tokens + view.tokens - overhead.unsent_tokens - omitted
        stable = begun if self._shrunk(view) else tokens
        if after or (view.recalled_text and not self._has_run):
            stable = body
        everything = view.fixed_tokens + view.history_tokens - overhead.unsent_tokens - overhead.summary_tokens
        stable_everything = everything
        summary_before = overhead.summary_tokens if overhead.summary_digest else 0
        if overhead.after_tokens > overhead.summary_tokens - summary_before:
            stable_everything = fixed + overhead.before_tokens - summary_before + sum(costs.past)
        return CachedPrompt(
            fixed_tokens=fixed,
            stable_tokens=fixed if is_fresh else stable,
            everything_tokens=everything,
            everything_stable_tokens=stable_everything,
            sent_tokens=tokens,
        ), begun

    def _same_tokens(self, view: HistoryView, previous: HistoryView | None, *, tokens: int, begun: int) -> int:
        """Return how many leading tokens of a request are unchanged since the previous step."""
        if previous is None:
            return begun
        if set(previous.turns) != set(view.turns) or previous.recalled_text != view.recalled_text:
            return self._fixed
        earlier, sent = dict(self._shrunk(previous)), dict(self._shrunk(view))
        changed = [at for at in {*earlier, *sent} if earlier.get(at) != sent.get(at)]
        if not changed:
            return tokens
        if self.policy.prices.marked:  # the last mark that is still valid is after the question
            return begun
        unchanged = (at for at in view.kept if self._costs.run_start <= at < min(changed))
        run = (sent.get(at, self._history.messages[at]) for at in unchanged)
        return begun + count_messages(run, token_counter=self._costs.counter)

    def _common_tokens(self, view: HistoryView) -> int:
        """Return how many leading tokens of a request with digests the cache holds from the previous call."""
        before = self._before
        if before.view is None or before.history is None or self._overhead.before_tokens:
            return self._fixed
        history, earlier, cache, prompts = self._history, before.history.messages, self.policy.state.cache, []
        first = {*history.head, *history.notes}
        for messages, each in ((earlier, before.view), (history.messages, view)):
            sent = zip(each.kept, keep(messages, each), strict=True)
            prompts.append([message for at, message in sent if at not in first])
        same = common_beginning(*prompts)
        tokens = self._fixed + count_messages(prompts[1][:same], token_counter=self._costs.counter)
        if self.policy.prices.marked and same < len(prompts[0]):
            return cache.stable_tokens if tokens >= cache.stable_tokens else self._fixed
        return min(tokens, cache.run_tokens)

    def _shrunk(self, view: HistoryView) -> list[tuple[int, Message]]:
        """Return the messages of the current run that a view sends in another form."""
        current = self._history.current
        return [each for each in view.replaced if current and each[0] >= current.start and each[0] != self._question]
