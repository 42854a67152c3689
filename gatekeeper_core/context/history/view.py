"""The view of a conversation that the model gets, the state for the next call, and the list to send."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.pricing.policy import PolicyState

if TYPE_CHECKING:
    from gatekeeper_core.context.history.reading import History
    from gatekeeper_core.pricing.policy import CallBill
    from gatekeeper_core.selection.result import Selection

_Item = TypeVar("_Item")

DIGESTS = "digests"
"""The reason of a view with digested or dropped turns."""

HistoryStatus = Literal["selected", "passthrough", "no_query", "nothing_fits", "over_budget", "fallback"]


class HistorySizes(NamedTuple):
    """The sizes of a view.

    Attributes:
        message_count: messages in the caller's list.
        turn_count: past turns in the conversation.
        tokens: cost of the kept messages, as estimated by the counter.
        history_tokens: cost of all messages, except a greeting before the first user message.
        fixed_tokens: additional tokens that count against the budget.
        budget_tokens: the whole budget.
        chosen_tokens: tokens of the past turns chosen when the run began.
        counter: name of the token counter; for a ``TokenEstimator`` its profile.
        margin: share by which a prompt may exceed its estimate; that part of the budget stays free.
    """

    message_count: int = 0
    turn_count: int = 0
    tokens: int = 0
    history_tokens: int = 0
    fixed_tokens: int = 0
    budget_tokens: int = 0
    chosen_tokens: int = 0
    counter: str = ""
    margin: float = 0.0


class HistoryView(NamedTuple):
    """The part of a conversation that the model gets, and why.

    Attributes:
        status: ``selected`` (chosen for the query), ``passthrough`` (all of it, or no past turn), ``no_query`` (no
            question: the newest turns that fit), ``nothing_fits`` (even the smallest past turn has no room),
            ``over_budget`` (what is always sent exceeds the budget), ``fallback`` (selection failed: the newest turns
            that fit).
        reason: a word or short fact with more detail: the reason of the topic decision, the type and place of an error.
        turns: ids of the kept past turns, most needed first.
        selection: the selection, with a decision for every turn, if there was one.
        kept: positions in the caller's list, ascending.
        replaced: position and new message (dicts in a provider's format) of what is sent in another form, ascending:
            cut messages of past turns, compressed results of the current run, and its summary in place of the first
            folded.
        folded: positions of the current run that the summary replaces (only the first is kept), and of the calls and
            results of digested turns.
        recalled_text: earlier turns placed before the question, in the same message; "" if there are none.
        pinned: positions in past turns kept regardless of the question: your pins, and standing instructions.
        bill: cost of the call, and why the past is sent this way; None without a state.
        state: state for the next call of this thread; None if this call had none, unless the strategy is ``cache``.
        sizes: its sizes.
    """

    status: HistoryStatus
    reason: str
    turns: tuple[int, ...] = ()
    selection: Selection | None = None
    kept: tuple[int, ...] = ()
    replaced: tuple[tuple[int, Any], ...] = ()
    folded: tuple[int, ...] = ()
    recalled_text: str = ""
    pinned: tuple[int, ...] = ()
    bill: CallBill | None = None
    state: ThreadState | None = None
    sizes: HistorySizes = HistorySizes()

    @property
    def turn_count(self) -> int:
        """Past turns in the conversation."""
        return self.sizes.turn_count

    @property
    def tokens(self) -> int:
        """Tokens of the kept messages, estimated."""
        return self.sizes.tokens

    @property
    def history_tokens(self) -> int:
        """Tokens of all messages, except a greeting before the first user message."""
        return self.sizes.history_tokens

    @property
    def fixed_tokens(self) -> int:
        """Additional tokens that count against the budget."""
        return self.sizes.fixed_tokens

    @property
    def budget_tokens(self) -> int:
        """The whole budget."""
        return self.sizes.budget_tokens

    @property
    def cause(self) -> str:
        """Summary of the choice: action and reason of the bill if the cache was reused, else status and reason."""
        if self.bill and self.bill.action != "fresh" and self.status in ("selected", "passthrough"):
            return f"{self.bill.action}: {self.bill.reason}"
        return f"{self.status}: {self.reason}" if self.reason else self.status

    @property
    def recalled(self) -> tuple[int, ...]:
        """Ids of the past turns that are sent in the message of the question."""
        order = self.selection.order if self.selection and self.recalled_text else ()
        return tuple(turn for turn in order if f"[turn {turn}]\n" in self.recalled_text)

    @property
    def left_out(self) -> tuple[int, ...]:
        """Ids of the past turns that are not sent, ascending; messages pinned in them may be."""
        sent = {*self.turns, *self.recalled}
        return tuple(turn for turn in range(self.turn_count) if turn not in sent)

    def facts(self) -> dict[str, Any]:
        """Return the view as flat JSON-ready facts for logs and events: counts and ids, never text."""
        return {
            "cause": self.cause,
            "status": self.status,
            "reason": self.reason,
            "decision": self.selection.gate.decision if self.selection else None,
            "messages_kept": len(self.kept),
            "messages_pinned": len(self.pinned),
            "messages_folded": len(self.folded),
            "messages_replaced": len(self.replaced),
            "turns_kept": len(self.turns),
            "turn_ids": sorted(self.turns),
            **{name: value for name, value in self.sizes._asdict().items() if name != "chosen_tokens"},
            **(self.bill.facts() if self.bill else {}),
        }


@with_suggestions()
class ThreadState(NamedTuple):
    """The state of a thread between two calls: pass the ``state`` of the view before.

    Attributes:
        policy: record of what the provider has cached.
        history: the parts of the conversation; None if the next call starts from scratch.
        view: the latest view, None before the first; for a provider's format, that of the messages read from it.
        opening: the framework's object that opened the current turn.
        now: time of the next call in seconds; None treats every cache as warm.
    """

    policy: PolicyState = PolicyState()
    history: History | None = None
    view: HistoryView | None = None
    opening: Any = None
    now: float | None = None

    def at(self, seconds: float) -> ThreadState:
        """Return the state with the time of the next call, which decides whether the provider's cache is cold.

        >>> ThreadState().at(240.0).now
        240.0
        """
        return self._replace(now=seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON-ready values, to continue in another process; it may hold recalled text.

        >>> ThreadState.from_dict(ThreadState().to_dict()) == ThreadState()
        True
        """
        return self.policy.to_dict()

    @classmethod
    def from_dict(cls, stored: object) -> ThreadState:
        """Return a stored state.

        Raises:
            ConfigError: it is from another version of the library: start with ``ThreadState()``.
        """
        return cls(PolicyState.from_dict(stored))

    def is_same_run(self, history: History, opening: Any) -> bool:
        """Return whether the model is still working on the current turn of the previous call.

        Some agents add state before the user's text, in place: the same object, ending with the earlier question.
        """
        before = self.history
        if before is None or before.current is None or history.current is None or before.past != history.past:
            return False
        if len(history.current.messages) < len(before.current.messages):
            return False  # a run only grows: this one was rolled back for another try
        text, is_same = history.current.user_text, opening is not None and opening is self.opening
        is_wrapped = is_same and before.query != "" and text.rstrip().endswith(before.query)  # otherwise edited
        return is_wrapped or text == before.current.user_text


@with_suggestions()
def keep(messages: Sequence[_Item], view: HistoryView) -> list[_Item]:
    """Return the messages to send: your own objects, or the view's if the form changed.

    Args:
        messages: the list that you selected from.
        view: the view of that list.

    Raises:
        TypeError: ``view`` is not a ``HistoryView``.
        ConfigError: the list and the view have different lengths.

    >>> from gatekeeper_core import HistoryConfig, select_history
    >>> talk = [{"role": "user", "content": "The Redis port is 6380."}, {"role": "assistant", "content": "Noted."}]
    >>> talk += [{"role": "user", "content": "New topic: how long does bread bake?"}]
    >>> keep(talk, select_history(talk, config=HistoryConfig(passthrough_below=0))) == talk[2:]
    True
    """
    if not isinstance(view, HistoryView):
        raise TypeError(f"view must be the HistoryView of these messages, got {type(view).__name__}")
    if len(messages) != view.sizes.message_count:
        reason = f"the view was built from {view.sizes.message_count} messages, got {len(messages)}"
        raise ConfigError(f"{reason}: pass the list you gave select_history, or select again")
    replaced: dict[int, Any] = dict(view.replaced)
    return [replaced.get(at, messages[at]) for at in view.kept]
