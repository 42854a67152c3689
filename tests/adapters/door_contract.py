"""One contract for every adapter: what goes in, what comes out, on every kind of store; see ``doors``.

A suite is a class that is run for a list of doors. What a door is given to store its history in is the fixture
``place``: a folder, or whatever else its class takes.
"""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.long_answers import long_talks
from gatekeeper_core.context.history.strategies import PASSTHROUGH_BELOW, Strategy
from gatekeeper_core.messages import Message, group_turns, validate_messages
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_core.tokens import count_messages
from tests.adapters.doors import SelectMessages, tokens_of
from tests.adapters.histories import TOPICS, histories
from tests.talks import talk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.adapters.doors import Door

    Open = Callable[..., Door]

PROVIDERS = ("openai", "anthropic", "gemini", "minimax")
LONG_TALK = long_talks(2)[1]  # the English one: by the counter of the doors, the others are short
LITTLE = GatekeeperConfig(coverage=0.4)
"""A coverage at which half of an answer of thirty sentences is not worth its tokens, however sure its need."""
ALL_OF_IT: dict[str, Any] = {"keep_newest": 0, "passthrough_below": 0}
CHANGES = {
    "edited": lambda pairs: [("Which port does the Postgres pool use?", "It uses 5432."), *pairs[1:]],
    "deleted": lambda pairs: pairs[1:],
    "shortened": lambda pairs: pairs[:2],
    "inserted": lambda pairs: [*pairs[:1], ("The Redis port moved.", "Noted: Redis is on 7000 now."), *pairs[1:]],
    "replaced": lambda pairs: [("What is a quince?", "A quince is a fruit."), ("And a medlar?", "Another one.")],
    "emptied": lambda pairs: [],
}

# A place serves all examples of a test, and pytest makes an object for each door.
SUPPRESSED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.differing_executors]


def script_of(door: type[Door]) -> str:
    """Return the script that a door is tested in: which one it is makes no difference to a door."""
    return sorted(TOPICS)[len(door.__name__) % len(TOPICS)]


def for_doors(doors: Sequence[type[Door]]) -> Any:
    """Run a suite for each of these doors."""
    return pytest.mark.parametrize("door", doors, ids=lambda door: door.__name__)


def history(door: type[Door], pairs: Sequence[tuple[str, str]], question: str) -> list[Message]:
    return talk(pairs) + ([Message("user", question)] if door.asks_inside else [])


def kept_by(door: Door, messages: Sequence[Message], question: str) -> list[int]:
    door.fill(messages)
    return door.ask(question)


def long_enough(script: str) -> tuple[list[tuple[str, str]], str]:
    """Return a conversation that is long enough to choose from, and a question that needs nothing of it."""
    pairs = [*TOPICS[script][0]]
    while tokens_of("".join(map("".join, pairs))) < PASSTHROUGH_BELOW:
        pairs = [(f"{question} {question}", f"{answer} {answer}") for question, answer in pairs]
    return pairs, {"english": "New topic: who painted the Night Watch?"}.get(script, "换个话题，《夜巡》是谁画的？")


def chosen_by_core(messages: Sequence[Message], query: str, budget: int, *, inside: bool) -> list[int]:
    """Return the positions that the core chooses: text turns in, turn ids out."""
    past = messages[:-1] if inside else messages
    turns = group_turns(past)
    gatekeeper = ContextGatekeeper(token_counter=tokens_of)
    gatekeeper.sync(turns)
    room = budget - (tokens_of(query) if inside else 0)
    ids = [turn.turn_id for turn in gatekeeper.explain(query, token_budget=room).turns]
    kept = [at for turn_id in ids for at in range(turns[turn_id].start, turns[turn_id].stop)]
    return kept + ([len(messages) - 1] if inside else [])


class StoredContract:
    """What every door keeps to on each kind of store."""

    def test_the_same_turns_are_kept_as_by_the_core(self, door: type[Door], opened: Open) -> None:
        for script, budget in (("chinese", 40), ("mixed", 70), ("english", 4000)):
            pairs, question = TOPICS[script]
            messages = history(door, pairs, question)
            kept = kept_by(opened(door, budget=budget, **ALL_OF_IT), messages, question)
            assert kept == chosen_by_core(messages, question, budget, inside=door.asks_inside), script
            assert 0 < len(kept) < len(messages)

    def test_the_same_question_again_gets_the_same_answer(self, door: type[Door], opened: Open) -> None:
        pairs, question = TOPICS["mixed"]
        at_door = opened(door, budget=60, passthrough_below=0)
        at_door.fill(history(door, pairs, question))
        first = at_door.ask(question)
        assert [at_door.ask(question) for _ in range(3)] == [first] * 3

    def test_a_short_history_is_passed_through_less_its_greeting(self, door: type[Door], opened: Open) -> None:
        pairs, question = TOPICS["english"]
        messages = [Message("system", "Be brief."), Message("assistant", "Welcome!"), *history(door, pairs, question)]
        at_door = opened(door)
        assert kept_by(at_door, messages, question) == [0, *range(2, len(messages))]
        assert at_door.view() is None or at_door.view().status == "passthrough"

    def test_a_new_topic_takes_of_a_long_history_what_its_strategy_says(self, door: type[Door], opened: Open) -> None:
        """000-24."""
        pairs, question = long_enough(script_of(door))
        messages = history(door, pairs, question)
        for options, newest in (
            ({}, 0),
            ({"strategy": "cache"}, len(pairs)),  # as long as less is not cheaper
            ({"strategy": "fill"}, len(pairs)),
            ({"strategy": "gate", "keep_newest": 2}, 2),
            ({"strategy": "window", "keep_newest": 2}, 2),
        ):
            kept = kept_by(opened(door, **options), messages, question)
            assert kept == list(range(2 * (len(pairs) - newest), len(messages))), options

    def test_shadow_leaves_everything_as_it_is_and_reports(self, door: type[Door], opened: Open) -> None:
        pairs, question = TOPICS["english"]
        messages = history(door, pairs, question)
        at_door = opened(door, shadow=True, **ALL_OF_IT)
        assert kept_by(at_door, messages, question) == list(range(len(messages)))
        view = at_door.view()
        if view is not None:
            assert 0 < len(view.kept) < len(messages)


class DoorContract(StoredContract):
    """What every adapter keeps to, whatever its store is."""

    def test_a_rare_identifier_brings_its_turn_back_and_no_other(self, door: type[Door], opened: Open) -> None:
        script = script_of(door)
        pairs = [*TOPICS[script][0]]
        planted = {"english": "The crate has the number ZX-4471-Q.", "chinese": "这个箱子的编号是 ZX-4471-Q。"}
        pairs.insert(1, (planted.get(script, "这个 crate 的编号是 ZX-4471-Q。"), "OK."))
        question = {"english": "Where is ZX-4471-Q?", "chinese": "ZX-4471-Q 在哪里？"}.get(
            script, "ZX-4471-Q 在 where？"
        )
        messages = history(door, pairs, question)
        kept = kept_by(opened(door, **ALL_OF_IT), messages, question)
        assert {2, 3} <= set(kept)
        assert not {6, 7, 8, 9} & set(kept), "the bread has nothing to do with the crate"

    def test_reserved_tokens_stay_free(self, door: type[Door], opened: Open) -> None:
        pairs, question = TOPICS["mixed"]
        messages = history(door, pairs, question)
        at_door = opened(door, budget=60, reserve_tokens=40, **ALL_OF_IT)
        assert kept_by(at_door, messages, question) == chosen_by_core(messages, question, 20, inside=door.asks_inside)
        if (view := at_door.view()) is not None:
            assert (view.fixed_tokens, view.budget_tokens) == (40, 60)

    def test_a_long_answer_is_sent_as_a_cut_copy_of_itself_or_whole(self, door: type[Door], opened: Open) -> None:
        _, messages, needed, fact = LONG_TALK
        for trim in (True, False):
            at_door = opened(door, strategy="gate", passthrough_below=0, gatekeeper=LITTLE, trim=trim)
            kept_by(at_door, messages if door.asks_inside else messages[:-1], messages[-1].text)
            [copy] = [message for message in at_door.sent if fact.strip() in message.content]
            assert copy.additional_kwargs["position"] == 2 * needed + 1
            assert (2 * len(copy.content) < len(messages[2 * needed + 1].text)) == trim
            assert trim or copy.content == messages[2 * needed + 1].text

    def test_what_is_pinned_stays_and_the_two_sides_take_turns(self, door: type[Door], opened: Open) -> None:
        pairs, question = long_enough(script_of(door))
        messages = history(door, pairs, question)
        text = messages[2].text
        for pinned in ([2], lambda message: message.content == text):
            kept = kept_by(opened(door, pinned=pinned), messages, question)
            assert kept == [2, 3, *range(2 * len(pairs), len(messages))]
            for provider in PROVIDERS:
                sent = [messages[at] for at in kept]
                assert not validate_messages(sent, provider=provider, open_run=door.asks_inside)  # type: ignore[arg-type]
            roles = [messages[at].role for at in kept]
            assert all(role != after for role, after in pairwise(roles))

    def test_what_is_excluded_is_never_sent(self, door: type[Door], opened: Open) -> None:
        pairs, question = TOPICS[script_of(door)]
        messages = history(door, pairs, question)
        text = messages[1].text
        for strategy in get_args(Strategy):
            for exclude in ([1], lambda message: message.content == text):
                at_door = opened(door, exclude=exclude, strategy=strategy)
                assert kept_by(at_door, messages, question) == list(range(2, len(messages)))

    def test_a_standing_instruction_stays_after_a_change_of_topic(self, door: type[Door], opened: Open) -> None:
        pairs, question = long_enough(script_of(door))
        rule = {"english": "From now on, answer in French."}.get(script_of(door), "以后都用法语回答。")
        messages = history(door, [(rule, "OK."), *pairs], question)
        rest = list(range(2 * len(pairs) + 2, len(messages)))
        for pins, kept in ((True, [0, 1, *rest]), (False, rest)):
            assert kept_by(opened(door, pin_instructions=pins), messages, question) == kept

    def test_a_selection_that_fails_gives_the_newest_turns_or_is_raised(
        self, door: type[Door], opened: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pairs, question = TOPICS["english"]
        messages = history(door, pairs, question)
        for on_error in ("fallback", "raise"):
            at_door = opened(door, budget=90, on_error=on_error, **ALL_OF_IT)
            at_door.fill(messages)
            with monkeypatch.context() as patch:
                patch.setattr(ContextGatekeeper, "explain", lambda *_, **__: 1 / 0)
                if on_error == "raise":
                    with pytest.raises(ZeroDivisionError):
                        at_door.ask(question)
                else:
                    kept = at_door.ask(question)
                    assert kept == list(range(kept[0], len(messages)))
                    assert 2 < len(kept) < len(messages)
                    assert at_door.view() is None or at_door.view().status == "fallback"
            at_door.fill(messages)
            assert at_door.ask(question) == chosen_by_core(messages, question, 90, inside=door.asks_inside)


class RememberingContract:
    """What a door keeps to that remembers a thread from call to call."""

    def test_a_change_of_the_history_is_noticed(self, door: type[Door], opened: Open) -> None:
        pairs, question = TOPICS["english"]
        at_door = opened(door, **ALL_OF_IT)
        for change, changed in CHANGES.items():
            kept_by(at_door, history(door, pairs, question), question)
            messages = history(door, changed(list(pairs)), question)
            kept = chosen_by_core(messages, question, 4000, inside=door.asks_inside)
            assert kept_by(at_door, messages, question) == kept, change


class SharedContract:
    """What a door keeps to whose store others can reach, too."""

    def test_what_another_process_writes_to_the_store_is_noticed(self, door: type[Door], opened: Open) -> None:
        pairs, question = TOPICS["english"]
        here, elsewhere = opened(door, **ALL_OF_IT), opened(door, **ALL_OF_IT)
        kept_by(here, history(door, pairs, question), question)
        messages = history(door, [*pairs[:1], ("The Redis port moved to 7000.", "Noted."), *pairs[1:]], question)
        elsewhere.fill(messages)
        assert here.ask(question) == chosen_by_core(messages, question, 4000, inside=door.asks_inside)


class DrawnContract:
    """What a door keeps to whatever the history is; for one door of each adapter."""

    @given(data=st.data(), budget=st.integers(1, 900), kind=st.sampled_from(["default", "strict"]))
    @settings(suppress_health_check=SUPPRESSED)
    def test_what_the_model_reads_is_valid_whole_and_within_the_budget(
        self, door: type[Door], data: st.DataObject, budget: int, kind: str, place: Any
    ) -> None:
        messages = data.draw(histories(open_run=door.asks_inside, current=door.asks_inside))
        query = messages[-1].text if door.asks_inside else "apples and crates 苹果"
        has_view = door is not SelectMessages  # of what was cut and pinned
        options = {**(ALL_OF_IT if kind == "strict" else {}), **({} if has_view else {"pin_instructions": False})}
        trim = data.draw(st.booleans()) and has_view
        with closing(door(place, budget=budget, trim=trim, **options)) as at_door:
            if at_door.runs_an_agent and messages[-1].role != "user":
                messages = [*messages, Message("assistant", "done"), Message("user", "apples?")]
            at_door.fill(messages)
            kept = at_door.ask(query)
            view = at_door.view()
        cut = dict(view.replaced) if view else {}
        sent = [cut.get(at, messages[at]) for at in kept]
        assert kept == sorted(set(kept))

        turns = group_turns(messages)
        spans = [set(range(turn.start, turn.stop)) for turn in turns]
        pinned = set(view.pinned) if view else set()
        folded = set(view.folded) if view else set()
        assert all(turn - folded <= set(kept) or turn & set(kept) <= pinned for turn in spans), "whole turns, or pins"
        for provider in PROVIDERS:
            head = [message for message in sent if message.role == "system"] if provider == "anthropic" else []
            rest = [message for message in sent if message not in head]
            assert not validate_messages(head + rest, provider=provider, open_run=door.asks_inside)  # type: ignore[arg-type]

        head_positions = {
            at for at in range(turns[0].start if turns else len(messages)) if messages[at].role == "system"
        }
        cost = count_messages(sent, token_counter=tokens_of)
        if door.asks_inside:
            current = spans[-1]
            always = head_positions | current | pinned
            assert head_positions | current <= set(kept)
            assert cost <= budget or set(kept) <= always
        else:
            assert cost <= budget

    def test_a_door_is_not_shut_by_what_fits_nowhere(self, door: type[Door], opened: Open) -> None:
        messages = history(door, [("word " * 400, "answer " * 400)], "and now?")
        at_door = opened(door, budget=10, trim=False)
        assert kept_by(at_door, messages, "and now?") == ([2] if door.asks_inside else [])
        view = at_door.view()
        assert view is None or view.status == "nothing_fits"
