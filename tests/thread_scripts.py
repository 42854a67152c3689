"""Random conversations that grow, are edited, forked and shortened, and what a way to select sends of them.

Every sentence of an answer names its entry, and no question does: what is sent of a turn is read off the texts of the
prompt, in whatever form it is there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, HistoryConfig, InMemoryStore, Message, ThreadState, keep, select_history
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.pricing.cache import MOST
from gatekeeper_core.pricing.prices import ModelPrices, prices_of_model
from tests.case_files import rows

if TYPE_CHECKING:
    from gatekeeper_core import HistoryView
    from gatekeeper_core.selection.result import Selection

_ENTRY = re.compile(r"entry (\d+)")


class Language(NamedTuple):
    """Wordings with a place for the subject ``{0}``; a sentence also has a step ``{1}`` and its entry ``{2}``."""

    opening: str
    new: str
    back: str
    follow_up: str
    sentence: str


LANGUAGES = tuple(Language(*wordings) for wordings in rows("thread_scripts", "languages"))
SUBJECTS = ("kestrel", "heron", "osprey", "falcon", "merlin", "harrier", "buzzard", "kite", "eagle", "hobby")

_COLD = {"lifetime_seconds": 0.0}
PRICES: dict[str, ModelPrices | None] = {
    "no price row": None,
    "claude-sonnet-4-5": prices_of_model("claude-sonnet-4-5"),
    "gpt-4.1": prices_of_model("gpt-4.1"),
    "deepseek-chat": prices_of_model("deepseek-chat"),
    "always cold": ModelPrices(input=2, output=8, cache_read=0.5, cache_write=2, **_COLD),
    "nothing is cached": ModelPrices(input=1, output=1, cache_read=1, cache_write=1, min_cached_tokens=None),
}


class Step(NamedTuple):
    """One question: what is done to the conversation before it, which one, and how it goes on.

    Attributes:
        change: one of :data:`CHANGES`.
        thread: number of the conversation.
        at: picks the turn that a change is about, and the subject that a question goes back to.
        kind: ``new``, ``back`` or ``follow_up``.
        sentences: of the answer.
    """

    change: str
    thread: int
    at: int
    kind: str
    sentences: int


CHANGES = ("append", "edit last", "fork back", "summarise", "drop oldest", "keep last", "restart")
_LENGTHS = st.sampled_from((1, 4, 12, 40))
_KINDS = st.sampled_from(("new", "back", "follow_up"))


def steps(*changes: str, threads: int = 1, least: int = 2, most: int = 25) -> st.SearchStrategy[list[Step]]:
    """Return scripts of such changes."""
    step = st.builds(Step, st.sampled_from(changes), st.integers(0, threads - 1), st.integers(0, 9), _KINDS, _LENGTHS)
    return st.lists(step, min_size=least, max_size=most)


def changed(messages: Sequence[Message], step: Step) -> list[Message]:
    """Return a conversation of finished turns as a step finds it."""
    questions = [at for at, message in enumerate(messages) if message.role == "user"]
    if not questions or step.change in ("append", "restart"):
        return list(messages)
    place = questions[step.at % len(questions)]
    parts = {
        "edit last": messages[: questions[-1]],
        "fork back": messages[:place],
        "summarise": [Message("user", "Here is a summary: pumps."), Message("assistant", "Noted."), *messages[place:]],
        "drop oldest": messages[place:],
        "keep last": messages[questions[-min(len(questions), 1 + step.at)] :],
    }
    return list(parts[step.change])


class Sent(NamedTuple):
    """A prompt: the texts, its view, and the entries of which something is in it beside the question."""

    texts: list[str]
    view: HistoryView
    entries: frozenset[int]


class Way:
    """A way to select for many threads; a subclass says which.

    Args:
        config: the settings.
        store: keeps what is remembered from one process to the next.
    """

    def __init__(self, config: HistoryConfig, store: InMemoryStore) -> None:
        self.config = config
        self.store = store

    def view(self, thread: str | None, messages: Sequence[Message]) -> tuple[list[str], HistoryView]:
        """Return the texts that are sent for messages that end with a question, and the view."""
        raise NotImplementedError

    def send(self, thread: str | None, messages: Sequence[Message]) -> Sent:
        """Return the prompt for messages that end with a question."""
        texts, view = self.view(thread, messages)
        assert texts[-1].endswith(messages[-1].text)
        return Sent(texts, view, entries_in("\n".join(texts)))

    def restarted(self) -> Way:
        """Return the way as another process has it."""
        return type(self)(self.config, self.store)


class ByHand(Way):
    """``select_history``, the state of each thread kept by the caller, across processes as JSON."""

    def __init__(
        self, config: HistoryConfig, store: InMemoryStore, states: dict[str | None, ThreadState] | None = None
    ) -> None:
        super().__init__(config, store)
        self._states = states if states is not None else {}
        self._gatekeepers = dict[str | None, ContextGatekeeper]()

    def view(self, thread: str | None, messages: Sequence[Message]) -> tuple[list[str], HistoryView]:
        """Return what ``select_history`` keeps with the state of the thread's call before."""
        view = select_history(
            messages,
            gatekeeper=self._gatekeepers.setdefault(thread, ContextGatekeeper(token_counter=tokens_of)),
            config=self.config,
            state=self._states.get(thread, ThreadState()),
        )
        assert view.state is not None
        self._states[thread] = view.state
        return [message.text for message in keep(messages, view)], view

    def restarted(self) -> Way:
        """Return the way with the stored states."""
        stored = {thread: json.dumps(state.to_dict()) for thread, state in self._states.items()}
        states = {thread: ThreadState.from_dict(json.loads(state)) for thread, state in stored.items()}
        return ByHand(self.config, self.store, states)


class Threads(Way):
    """The selector that the adapters share, with a store for what it remembers."""

    all_past = False

    def __init__(self, config: HistoryConfig, store: InMemoryStore) -> None:
        super().__init__(config, store)
        self._selector: ThreadSelector[Message] = ThreadSelector(
            lambda message: message,
            write=lambda _, written: written,
            config=config,
            token_counter=tokens_of,
            states=store,
            budget_setting=None,
        )

    def view(self, thread: str | None, messages: Sequence[Message]) -> tuple[list[str], HistoryView]:
        """Return what the selector keeps; with ``all_past`` the question is asked elsewhere, as for a chat memory."""
        items, request = list(messages), HistoryRequest()
        if self.all_past:
            items, request = items[:-1], HistoryRequest(query=items[-1].text, all_past=True)
        view = self._selector.view(items, request, thread=thread)
        question = [messages[-1].text] if self.all_past else []
        return [message.text for message in self._selector.kept(items, view)] + question, view


class Loaded(Threads):
    """The same, where the question is not in the history."""

    all_past = True


WAYS: dict[str, Callable[[HistoryConfig, InMemoryStore], Way]] = {
    "select_history": ByHand,
    "threads": Threads,
    "threads, question elsewhere": Loaded,
}


class SentQuestion(NamedTuple):
    """One question of a script, as it was sent.

    Attributes:
        step: of the script.
        messages: the conversation, the question last.
        sent: with what was remembered.
        fresh: gives what a new instance sends.
        is_continued: whether the past of the thread's call before is a beginning of this one.
    """

    step: Step
    messages: list[Message]
    sent: Sent
    fresh: Callable[[], Sent]
    is_continued: bool

    def check(self) -> None:
        """Check that what a new instance would choose is sent, in a history that does not go on all that it sends.

        Then less is sent only by a new choice, or where the promise of the bill forbids to send everything again. Where
        a body is cached, a recalled turn is dearer than for a new instance, and less of them is chosen.
        """
        fresh, bill = self.fresh(), self.sent.view.bill
        is_warm = bill is not None and bill.reason != "strategy"
        assert chosen((self.sent if is_warm else fresh).view.selection) <= self.sent.entries
        is_dear = bill is not None and bill.dollars > MOST * bill.everything_paid - (bill.paid - bill.dollars)
        is_new_choice = bill is not None and (bill.action == "rebuilt" or bill.reason == "no_room")
        assert self.is_continued or is_dear or is_new_choice or fresh.entries <= self.sent.entries


def played(
    script: Sequence[Step],
    make: Callable[[HistoryConfig, InMemoryStore], Way],
    config: HistoryConfig,
    *,
    language: Language,
    begun: int = 0,
    named: bool = True,
) -> Iterator[SentQuestion]:
    """Yield each question of a script as a way sends it, beside what a new instance sends.

    Args:
        script: the steps.
        make: the way.
        config: its settings.
        language: of all messages.
        begun: turns that a conversation has before its first question; all of them begin with the same words.
        named: whether the way learns which conversation it is.
    """
    way = make(config, InMemoryStore())
    talks, before = dict[int, list[Message]](), dict[int, list[Message]]()
    for entry, step in enumerate(script, 1000):
        if step.change == "restart":
            way = way.restarted()
        if step.thread not in talks:
            talks[step.thread] = [Message("user", language.opening), Message("assistant", language.opening)]
            for first in range(begun):
                at = 100 + 300 * step.thread + first
                question = _question((), step._replace(kind="new"), at, language)
                talks[step.thread] += [Message("user", question), Message("assistant", _answer(at, 4, language))]
        past = changed(talks[step.thread], step)
        messages = [*past, Message("user", _question(past, step, entry, language))]
        sent = way.send(f"thread {step.thread}" if named else None, messages)
        prefix = before.get(step.thread)
        fresh = partial(make(config, InMemoryStore()).send, "fresh", messages)
        yield SentQuestion(step, messages, sent, fresh, prefix is not None and past[: len(prefix)] == prefix)
        talks[step.thread] = [*messages, Message("assistant", _answer(entry, step.sentences, language))]
        before[step.thread] = past


def _subject(entry: int) -> str:
    return f"{SUBJECTS[entry % len(SUBJECTS)]}{entry // len(SUBJECTS)}"


def _answer(entry: int, sentences: int, language: Language) -> str:
    return "".join(language.sentence.format(_subject(entry), at, entry) for at in range(sentences))


def _question(past: Sequence[Message], step: Step, entry: int, language: Language) -> str:
    entries = sorted(entries_in("\n".join(message.text for message in past)))
    target = entries[step.at % len(entries)] if entries else entry
    wording = {"new": language.new, "back": language.back, "follow_up": language.follow_up}[step.kind]
    about = target if step.kind == "back" else entry
    return wording.format(_subject(about))


def chosen(selection: Selection | None, *, evidence: bool = False) -> frozenset[int]:
    """Return the entries of the turns that a selection chose, of those for their evidence alone if asked for."""
    turns = selection.turns if selection else ()
    wanted = [turn for turn in turns if not evidence or selection.decision(turn.turn_id).why in ("evidence", "meaning")]
    return entries_in("\n".join(turn.assistant for turn in wanted))


def entries_in(text: str) -> frozenset[int]:
    """Return the entries that a text names."""
    return frozenset(map(int, _ENTRY.findall(text)))


def tokens_of(text: str) -> int:
    """Count characters by four, rounded up."""
    return (len(text) + 3) // 4


ANY: dict[str, Any] = {
    "begun": st.sampled_from((0, 12)),
    "settings": st.fixed_dictionaries(
        {
            "prices": st.sampled_from([*PRICES.values()]),
            "strategy": st.sampled_from(("cache", "gate", "fill")),
            "token_budget": st.sampled_from((300, 800, 1500, 4000, 1_000_000)),
        }
    ),
    "language": st.sampled_from(LANGUAGES),
}
CHANGING = given(script=steps(*CHANGES, threads=2, most=8), **ANY)
