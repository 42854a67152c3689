"""One call of a thread under a policy: which past turns stay, which are told inside the question, and the bill.

::

    choice of the selection ──choose──> body, and the question with the recalled turns ──> HistoryView ──billed──> bill
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.context.history.earlier import question_at, told_inside, told_question
from gatekeeper_core.context.history.modes import Choice, History
from gatekeeper_core.context.history.policy import (
    REMEMBERED_PREFIXES,
    Plan,
    PolicyState,
    PromptPolicy,
    PromptSizes,
    SentRequest,
)
from gatekeeper_core.messages import Message, is_answered

if TYPE_CHECKING:
    from gatekeeper_core.context.history.view import HistoryView

__all__ = ["NOTHING_AROUND", "Around", "Sizes", "ThreadAccount"]


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


class Sizes(NamedTuple):
    """What a request is made of, in tokens.

    Attributes:
        fixed: what always stands first.
        asked: what the user asks.
        room: what the past may cost when the current turn begins.
        around: what else is sent.
    """

    fixed: int
    asked: int
    room: int
    around: Around


class ThreadAccount:
    """One call of a thread.

    Args:
        policy: prices, time and state.
        history: the conversation.
        sizes: of the request.
        tokens_at: gives what the message at a position costs.
        more_than: gives how much more a message costs than the one at a position that it replaces.
        can_recall: whether the question can be sent in another form.
    """

    def __init__(
        self,
        policy: PromptPolicy,
        history: History,
        sizes: Sizes,
        *,
        tokens_at: Callable[[int], int],
        more_than: Callable[[int, Message], int],
        can_recall: bool,
    ) -> None:
        self._policy = policy
        self._state = policy.state
        self._history = history
        self._sizes = sizes
        self._tokens_at = tokens_at
        self._more_than = more_than
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
        digests = [_digest_of((history.messages[at] for at in history.head), self._sizes.around.ahead)]
        for turn in history.past:
            digests.append(_digest_of(turn.messages, digests[-1]))
        return digests

    @cached_property
    def _same_turns(self) -> int:
        """Leading past turns that are as they were at the call before; 0 where they changed too far back to tell."""
        return self._common_turns(self._policy.state.prefixes)

    def _everything_same_tokens(self, whole: Sequence[int]) -> int:
        """Return how much of everything was sent before, on this branch of the conversation or the one left last."""
        turns = max(self._same_turns, self._common_turns(self._policy.state.branch))
        tokens = self._sizes.fixed + sum(whole[:turns])
        if turns and self._policy.prices.marked:  # what was marked ended with the question of the last of them
            last = self._history.past[turns - 1]
            tokens -= sum(map(self._tokens_at, range(last.start + 1, last.stop)))
        return tokens

    def _common_turns(self, prefixes: Sequence[str]) -> int:
        """Return how many leading past turns have a digest among these."""
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

    def choose(self, choice: Choice, *, sent: Sequence[int], whole: Sequence[int]) -> Choice:
        """Return what is sent of the past for a new question, from what the selection gives.

        Args:
            choice: of the selection.
            sent: what each turn costs as the selection sends it.
            whole: what each turn costs.
        """
        around, room = self._sizes.around, self._sizes.room
        selected = {turn: sent[turn] for turn in choice.turns}
        if choice.status == "no_query":  # then the body stays; where it does not fit, the newest turns take its place
            body = {turn: whole[turn] for turn in self._state.turns(len(whole))}
            selected = body if sum((*body.values(), *whole[-1:])) <= room else selected
        sizes = PromptSizes(
            fixed=self._sizes.fixed,
            question=around.ahead_tokens + around.behind_tokens - around.stand_in_tokens + self._sizes.asked,
            turns=whole,
            selected=selected,
            room=room,
            recall=None if self._question is None else lambda turns: self._told_tokens(choice, turns),
            same_turns=self._same_turns,
            everything_same_tokens=self._everything_same_tokens(whole),
            goes_on=self._goes_on,
            is_stand_in_same=self._policy.state.stand_in == around.stand_in,
            texts={turn: self._more_than(*replaced) for turn, replaced in self._with_texts(self._state).items()},
            question_name=_digest_of((), self._history.query, self._prefixes[-1]),
            is_run=self._is_run,
            may_run=self._history.first_result is not None,
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
        """Return turns as a text before the question."""
        return told_inside(turns, self._history.past, choice.selection, question=self._history.query)

    def _told_tokens(self, choice: Choice, turns: Sequence[int]) -> int:
        """Return what it costs to tell turns before the question."""
        replaced = told_question(self._history, self._history.current, self._told(choice, turns))
        return self._more_than(*replaced) if replaced else 0

    def _with_texts(self, state: PolicyState) -> dict[int, tuple[int, Message]]:
        """Return the past questions that still hold recalled text, with their positions, by turn."""
        past = self._history.past
        found = {turn: told_question(self._history, past[turn], text) for turn, text in state.texts if turn < len(past)}
        return {turn: replaced for turn, replaced in found.items() if replaced}

    def billed(
        self, view: HistoryView, *, whole: Sequence[int], previous: HistoryView | None, run_stable: int | None
    ) -> HistoryView:
        """Return the view with its bill, and with the state for the call that comes next.

        Args:
            view: what is sent.
            whole: what each past turn costs.
            previous: the view of the step of the run before, None for a new question.
            run_stable: position of the last message before those that gave way since then; None: none did.
        """
        if previous and previous.bill and is_answered(self._history.messages):  # nobody is asked: it is only read
            return view._replace(bill=previous.bill, state=self._policy.state)
        plan, count, state = self._plan, len(self._history.past), self._state
        if not self._policy.is_thrifty and set(view.turns) != set(state.turns(count)):  # some had no room
            texts = tuple(each for each in state.texts if each[0] in view.turns)
            state = state._replace(body=tuple(sorted(view.turns)), since=count, texts=texts)
        if view.told and self._has_run:
            state = state._replace(texts=(*(each for each in state.texts if each[0] < count), (count, view.told)))
        self._state = state
        sent = self._sent(view, whole, previous)
        bill, state = self._policy.charge(state, sent, plan)
        before = self._policy.state
        state = state._replace(
            turn_count=count,
            prefixes=tuple(self._prefixes[-1 - REMEMBERED_PREFIXES :]),
            branch=before.branch if self._same_turns == before.turn_count else before.prefixes,
            tail=self._tail(count, self._current),
            tail_messages=len(self._current),
            stand_in="" if self._omitted(view) else self._sizes.around.stand_in,
        )
        current = self._history.current
        is_fleeting = view.told and not self._has_run
        until = current.start if current and self._behind(view) else self._question if is_fleeting else None
        kept = [at for at in view.kept if until is None or at < until]
        end = kept[-1] if kept and not self._policy.is_thrifty else None
        end = end if run_stable is None else run_stable
        if plan is None and previous and previous.bill:
            bill = bill._replace(action=previous.bill.action, recalled=previous.bill.recalled)
        return view._replace(bill=bill._replace(body_end=end), state=state)

    def _sent(self, view: HistoryView, whole: Sequence[int], previous: HistoryView | None) -> SentRequest:
        """Return the sizes of what a view sends, and of what everything would be."""
        sizes, around, count = self._sizes, self._sizes.around, len(self._history.past)
        omitted, behind = self._omitted(view), self._behind(view)
        ahead = around.ahead_tokens - (omitted if around.stand_in else 0)
        texts = sum(self._more_than(*each) for each in self._with_texts(self._state).values())
        body = sizes.fixed + ahead + texts + sum(whole[turn] for turn in self._state.turns(count))
        begun = body + behind + sizes.asked
        tokens = view.fixed_tokens + view.tokens - around.free_tokens - omitted
        stable = begun if self._shrunk(view) else tokens
        if behind or (view.told and not self._has_run):
            stable = body
        everything = view.fixed_tokens + view.history_tokens - around.free_tokens - around.stand_in_tokens
        stand_in_behind = 0 if around.stand_in else around.stand_in_tokens
        stable_everything = everything
        if around.behind_tokens > stand_in_behind:
            stable_everything = (
                sizes.fixed + around.ahead_tokens - around.stand_in_tokens + stand_in_behind + sum(whole)
            )
        return SentRequest(
            fixed_tokens=sizes.fixed,
            tokens=tokens,
            stable_tokens=sizes.fixed if self._policy.is_thrifty else stable,
            same_tokens=self._same_tokens(view, previous, tokens=tokens, begun=begun),
            everything_tokens=everything,
            everything_stable_tokens=stable_everything,
            everything_same_tokens=self._everything_same_tokens(whole),
            goes_on=self._goes_on,
            is_last=bool(view.told) and not self._is_run,
        )

    def _omitted(self, view: HistoryView) -> int:
        """Return the tokens of what stands for turns that were left out, where none is."""
        return self._sizes.around.stand_in_tokens if len(view.turns) == len(self._history.past) else 0

    def _behind(self, view: HistoryView) -> int:
        """Return the tokens that stand behind the past turns, before what the user asks."""
        around = self._sizes.around
        return around.behind_tokens - (0 if around.stand_in else self._omitted(view))

    def _same_tokens(self, view: HistoryView, previous: HistoryView | None, *, tokens: int, begun: int) -> int:
        """Return how much of the beginning of a request is that of the step before."""
        if previous is None:
            return begun
        if set(previous.turns) != set(view.turns) or previous.told != view.told:
            return self._sizes.fixed
        return tokens if self._shrunk(previous) == self._shrunk(view) else begun

    def _shrunk(self, view: HistoryView) -> list[tuple[int, Message]]:
        """Return what of the current run a view sends in another form."""
        current = self._history.current
        return [one for one in view.replaced if current and one[0] >= current.start and one[0] != self._question]

    @property
    def _has_run(self) -> bool:
        """Whether the model has called tools in the current turn."""
        return any(message.role == "tool" for message in self._current)


def _digest_of(messages: Iterable[Message], *more: str) -> str:
    """Return a digest of messages and more: equal, on every machine, only where they are sent the same."""
    from hashlib import blake2b  # here, because it is a tenth of the import of the library

    said = [(one.role, one.content, one.tool_calls, one.tool_call_id, one.name) for one in messages]
    return blake2b(repr((more, said)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
