"""One call of a thread under a policy: which past turns stay, which are told inside the question, and the bill.

::

    choice of the selection ──choose──> body, and the question with the recalled turns ──> HistoryView ──billed──> bill
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.context.history.earlier import question_at, told_inside, told_question
from gatekeeper_core.context.history.modes import Choice, History
from gatekeeper_core.context.history.policy import Plan, PromptPolicy, PromptSizes, SentRequest
from gatekeeper_core.messages import Message, is_answered
from gatekeeper_core.tokens import count_messages

if TYPE_CHECKING:
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.tokens import TokenCounter

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
        counter: counts a text.
        can_recall: whether the question can be sent in another form.
    """

    def __init__(
        self, policy: PromptPolicy, history: History, sizes: Sizes, *, counter: TokenCounter, can_recall: bool
    ) -> None:
        self._policy = policy
        self._state = policy.state
        self._history = history
        self._sizes = sizes
        self._counter = counter
        self._question = question_at(history) if can_recall else None
        self._plan: Plan | None = None

    @property
    def _is_run(self) -> bool:
        """Whether the model is likely to call tools: it did in the turn before."""
        return any(message.role == "tool" for turn in self._history.past[-1:] for message in turn.messages)

    @cached_property
    def _is_said_as_before(self) -> bool:
        """Whether nothing was edited of what was sent before, whatever stands for turns that were left out."""
        state = self._policy.state
        if not state.questions:
            return True
        said, was_longer = state.digest.partition(":")[0], state.turn_count > len(self._history.past)
        return not was_longer and self._digest(state.turns(state.turn_count)) == said

    @property
    def _is_as_before(self) -> bool:
        state = self._policy.state
        stand_in = state.digest.partition(":")[2]
        return self._is_said_as_before and (state.holds_everything or stand_in == self._sizes.around.stand_in)

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
            is_as_before=self._is_as_before,
            question_name=_digest_of([self._history.query, len(whole)]),
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
        first = [turn for turn in choice.turns if turn in plan.body]
        rest = [turn for turn in reversed(plan.body) if turn not in first]
        status = choice.status
        if plan.action == "everything" and status == "selected":
            status = "passthrough"
        return choice._replace(turns=(*first, *rest), status=status, cuts=(), told=told)

    def _told(self, choice: Choice, turns: Sequence[int]) -> str:
        """Return turns as a text before the question."""
        return told_inside(turns, self._history.past, choice.selection, question=self._history.query)

    def _told_tokens(self, choice: Choice, turns: Sequence[int]) -> int:
        """Return what it costs to tell turns before the question."""
        replaced = told_question(self._history, self._told(choice, turns))
        if replaced is None:
            return 0
        at, message = replaced
        return count_messages([message], token_counter=self._counter) - count_messages(
            [self._history.messages[at]], token_counter=self._counter
        )

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
        plan, count = self._plan, len(self._history.past)
        if not self._policy.is_thrifty and set(view.turns) != set(self._state.turns(count)):  # some had no room
            self._state = self._state._replace(body=tuple(sorted(view.turns)), since=count)
        bill, state = self._policy.charge(self._state, self._sent(view, whole, previous), plan)
        current = self._history.current
        until = current.start if current and self._behind(view) else self._question if view.told else None
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
        body = sizes.fixed + ahead + sum(whole[turn] for turn in self._state.turns(count))
        begun = body + behind + sizes.asked
        tokens = view.fixed_tokens + view.tokens - around.free_tokens - omitted
        stable = begun if self._shrunk(view) else tokens
        if view.told or behind:
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
            turn_count=count,
            digest=f"{self._digest(self._state.turns(count))}:{'' if omitted else around.stand_in}",
            is_as_before=self._is_said_as_before,
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
        if set(previous.turns) != set(view.turns):
            return self._sizes.fixed
        return tokens if self._shrunk(previous) == self._shrunk(view) else begun

    def _shrunk(self, view: HistoryView) -> list[tuple[int, Message]]:
        """Return what of the current run a view sends in another form."""
        current = self._history.current
        return [one for one in view.replaced if current and one[0] >= current.start and one[0] != self._question]

    def _digest(self, turns: Sequence[int]) -> str:
        """Return a digest of the head and some turns: equal, on every machine, only where they are sent the same."""
        history = self._history
        spans = [range(history.past[turn].start, history.past[turn].stop) for turn in turns]
        messages = [history.messages[at] for at in (*history.head, *chain.from_iterable(spans))]
        said = [(one.role, one.content, one.tool_calls, one.tool_call_id, one.name) for one in messages]
        return _digest_of([self._sizes.around.ahead, *said])


def _digest_of(values: Sequence[object]) -> str:
    from hashlib import blake2b  # here, because it is a tenth of the import of the library

    made = blake2b(digest_size=12)
    for value in values:
        made.update(repr(value).encode("utf-8", "surrogatepass"))
    return made.hexdigest()
