"""Messages in, messages out: what is always sent, what of the past is, what it may cost, and what the view says of it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NoReturn

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gatekeeper_core import (
    ConfigError,
    ContextGatekeeper,
    GatekeeperConfig,
    HistoryConfig,
    ModelPrices,
    ThreadState,
    keep,
    read_messages,
    select_history,
)
from gatekeeper_core.context.history.reading import read_history
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.select import select_past
from gatekeeper_core.context.history.view import HistoryStatus, HistoryView
from gatekeeper_core.messages import Message, ToolCall, Turn, is_summary, validate_messages
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import checked_counter, count_messages, describe_counter, estimate_text_tokens
from tests import concepts, talks
from tests.case_files import from_file, rows
from tests.histories import config_of, view_with
from tests.loops import PROVIDERS, assistant, calls, loop, result, rounds, system, user
from tests.native_lists import CHAT, FORMATS, Native, NativeTurn, Round
from tests.native_lists import talk as native_talk

NO_TRIM = GatekeeperConfig(trim=False)


def talk(*pairs: tuple[str, str]) -> list[Message]:
    return [message for question, answer in pairs for message in (user(question), assistant(answer))]


TALKS = {script: (talk(*pairs), question) for script, (pairs, question) in talks.TALKS.items()}

three_scripts = pytest.mark.parametrize(("past", "question"), TALKS.values(), ids=TALKS)


def view_of(messages: Sequence[Message], **arguments: Any) -> HistoryView:
    """Return the view that a fresh gatekeeper gives, of whole messages; every error is raised."""
    settings: dict[str, Any] = {
        "token_budget": 1000,
        "on_error": "raise",
        "keep_newest": 0,
        "pin_instructions": False,
        "gatekeeper": ContextGatekeeper(config=NO_TRIM, token_counter=estimate_text_tokens),
    }
    return view_with(messages, **{**settings, **arguments})


def state_after(view: HistoryView | None) -> ThreadState | None:
    """Return the state for the next call."""
    return view.state if view else ThreadState()


def is_answered(turn: Turn) -> bool:
    return any(message.role in ("assistant", "tool") for message in turn.messages)


def cost_of(messages: Iterable[Message], *, token_counter: Any = estimate_text_tokens) -> int:
    return count_messages(messages, token_counter=token_counter)


# --- random histories


WORDS = [
    *("Redis", "port 6380", "cache", "sourdough", "oven", "choir", "minutes", "deploy v1.2", "it", "again"),
    *("缓存", "端口", "酸面包", "烤箱", "合唱团", "部署", "继续", "换个话题，", "New topic: ", "back to", "？", "."),
    *("x" * 80, "长" * 40),
]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


@st.composite
def finished_turns(draw: st.DrawFn, *, smallest: int = 0, largest: int = 6) -> list[Message]:
    messages: list[Message] = []
    for turn in range(draw(st.integers(smallest, largest))):
        messages += [user(draw(texts)) for _ in range(draw(st.sampled_from([1, 1, 1, 2])))]
        for number in range(draw(st.sampled_from([0, 0, 1, 2]))):
            messages += draw(rounds(f"{turn}-{number}"))
        messages.append(assistant(draw(texts)))
    return messages


@st.composite
def heads(draw: st.DrawFn, *, greeting: bool = True) -> list[Message]:
    greeted = [assistant("Welcome! 欢迎！")] if greeting and draw(st.booleans()) else []
    return [system(draw(texts)) for _ in range(draw(st.integers(0, 2)))] + greeted


@st.composite
def runs(draw: st.DrawFn) -> list[Message]:
    """Return a current turn: a question, what was done for it so far, and perhaps calls that wait for their results."""
    messages = [user(draw(texts))]
    for number in range(draw(st.integers(0, 3))):
        messages += draw(rounds(f"now-{number}"))
    return [*messages, calls("open")] if draw(st.booleans()) else messages


budgets = st.one_of(st.integers(1, 80), st.integers(1, 800))
floors = st.integers(0, 2)
thresholds = st.sampled_from([0, 0, 100, 1000])
counters = st.sampled_from([None, len, lambda text: len(text.encode("utf-8", "surrogatepass")), lambda text: 0])


# --- what is kept


@three_scripts
def test_the_head_the_turns_that_the_question_needs_and_the_question_are_kept(
    past: list[Message], question: str
) -> None:
    view = view_of([system(), *past, user(question)])
    assert view.kept == (0, 1, 2, 7)
    assert (view.status, view.turns, view.turn_count) == ("selected", (0,), 3)
    assert view.selection is not None
    assert view.reason == view.selection.gate.reason


@pytest.mark.parametrize(
    ("messages", "kept"),
    [
        ([system(), assistant("hello"), user("a"), assistant("b"), user("c")], (0, 2, 3, 4)),
        ([assistant("hello"), system(), user("c")], (1, 2)),
        ([assistant("hello"), user("c"), assistant("more")], (1, 2)),
    ],
)
def test_a_greeting_before_the_first_user_message_is_not_sent(messages: list[Message], kept: tuple[int, ...]) -> None:
    assert view_of(messages, passthrough_below=1000).kept == kept


@given(heads(), finished_turns(smallest=1), runs(), budgets, floors)
def test_the_turns_are_those_of_the_core_with_the_room_that_the_budget_leaves(
    head: list[Message], past: list[Message], run: list[Message], budget: int, floor: int
) -> None:
    """The same ids as ``explain(query, trim=False)``; beside them stands only the floor.

    A question without an answer goes only with the turn behind it, and not where it was asked again.
    """
    view = view_of([*head, *past, *run], token_budget=budget, keep_newest=floor)
    room = budget - cost_of([message for message in head if message.role == "system"] + run[:1])
    question = run[0].text.strip()
    assume(question and room > 0)
    core = ContextGatekeeper(config=NO_TRIM, token_counter=estimate_text_tokens)
    history = read_history([*head, *past, *run])
    core.sync(history.past)
    chosen = core.explain(question, trim=False, token_budget=room)
    assert view.selection is not None
    assert view.selection.to_dict() == chosen.to_dict()
    ids = [turn.turn_id for turn in chosen.turns]
    assert len(set(view.turns) - set(ids)) <= floor
    if run[1:] == []:
        answered = {at for at, turn in enumerate(history.past) if is_answered(turn)}
        newest = range(max(0, len(history.past) - floor), len(history.past))  # they come first where room is short
        is_short = sum(core.turn_tokens[at] for at in {*ids, *newest}) > room
        assert answered.intersection(ids) <= set(view.turns) or is_short
        assert floor or set(view.turns) <= set(ids)


@given(heads(), finished_turns(), runs(), budgets, st.integers(0, 60), floors, thresholds, counters)
def test_what_must_be_sent_is_sent_and_the_budget_is_kept_unless_that_alone_is_over_it(
    head: list[Message],
    past: list[Message],
    run: list[Message],
    budget: int,
    fixed: int,
    floor: int,
    threshold: int,
    counter: Callable[[str], int] | None,
) -> None:
    messages = [*head, *past, *run]
    view = view_of(
        messages,
        gatekeeper=ContextGatekeeper(config=NO_TRIM, token_counter=counter),
        token_budget=budget,
        fixed_tokens=fixed,
        keep_newest=floor,
        passthrough_below=threshold,
    )
    always = [at for at in range(len(head)) if head[at].role == "system"]
    always += range(len(messages) - len(run), len(messages))
    assert set(always) <= set(view.kept)
    assert not any(messages[at].role == "assistant" for at in view.kept if at < len(head))
    cost = cost_of([messages[at] for at in view.kept], token_counter=counter)
    needed = fixed + cost_of([messages[at] for at in always], token_counter=counter)
    within = budget_within(checked_counter(counter), budget)
    assert (view.status == "over_budget") == (needed > within)
    assert (view.budget_tokens, view.facts()["margin"]) == (budget, view.sizes.margin)
    assert view.sizes.counter == describe_counter(checked_counter(counter))["counter"]
    if view.status == "over_budget":
        assert set(view.kept) == set(always)
    else:
        assert fixed + cost <= fixed + view.tokens <= within <= budget


@given(heads(), finished_turns(), texts, budgets, st.integers(0, 60), st.integers(1, 2), thresholds)
def test_where_the_question_is_not_in_the_list_the_limit_is_hard(
    head: list[Message], past: list[Message], query: str, budget: int, fixed: int, floor: int, threshold: int
) -> None:
    query += " unheard of"
    messages = [*head, *past]
    view = view_of(
        messages,
        query=query,
        token_budget=budget,
        fixed_tokens=fixed,
        keep_newest=floor,
        passthrough_below=threshold,
    )
    costs = [max(1, cost_of(turn.messages)) for turn in read_history(messages, HistoryRequest(query=query)).past]
    room = budget - fixed - cost_of(message for message in head if message.role == "system")
    assert cost_of([messages[at] for at in view.kept]) <= view.tokens <= max(0, budget - fixed)
    assert (view.status == "nothing_fits") == (room < 0 or (bool(costs) and min(costs) > room))
    assert room >= 0 or view.kept == ()


@given(heads(), finished_turns(), st.one_of(runs(), st.just([])), budgets, floors, st.data())
def test_turns_are_kept_whole_in_order_and_every_provider_accepts_what_it_accepted_before(
    head: list[Message], past: list[Message], run: list[Message], budget: int, floor: int, data: st.DataObject
) -> None:
    """004-11."""
    messages = [*head, *past, *run]
    query = None if run else data.draw(texts) + " unheard of"
    view = view_of(messages, query=query, token_budget=budget, keep_newest=floor)
    assert list(view.kept) == sorted(set(view.kept))
    for turn in read_history(messages, HistoryRequest(query=query)).past:
        inside = set(range(turn.start, turn.stop))
        assert inside <= set(view.kept) or not inside & set(view.kept)
    sent = [messages[at] for at in view.kept]
    without_greeting = [message for message in head if message.role == "system"] + past + run
    for provider in PROVIDERS:
        assert validate_messages(without_greeting, provider=provider, open_run=bool(run)) == ()
        assert validate_messages(sent, provider=provider, open_run=bool(run)) == ()


# --- statuses


@three_scripts
def test_a_small_history_passes_whole_less_its_greeting(past: list[Message], question: str) -> None:
    messages = [system(), assistant("hello"), *past, user(question)]
    cost = cost_of(past)
    view = view_of(messages, passthrough_below=cost + 1)
    assert view.kept == (0, *range(2, len(messages)))
    assert (view.status, view.reason, view.selection) == ("passthrough", "small_history", None)
    assert view.turns == (2, 1, 0)
    assert view_of(messages, passthrough_below=cost).status == "selected"


@pytest.mark.parametrize("query", ["", " \n\t", "\u3000"])
def test_a_blank_question_keeps_the_newest_turns_that_fit(query: str) -> None:
    past = talk(("a" * 40, "b"), ("c" * 40, "d"), ("e" * 40, "f"))
    view = view_of(past, query=query, token_budget=25)
    assert (view.kept, view.turns) == ((2, 3, 4, 5), (2, 1))
    assert (view.status, view.reason, view.selection) == ("no_query", "newest_turns", None)


@three_scripts
def test_nothing_fits_when_the_smallest_past_turn_is_too_large(past: list[Message], question: str) -> None:
    needed = cost_of([user(question)])
    smallest = min(cost_of(past[at : at + 2]) for at in (0, 2, 4))
    view = view_of([*past, user(question)], token_budget=needed + smallest - 1, keep_newest=3)
    assert (view.kept, view.status) == ((6,), "nothing_fits")
    assert view_of([*past, user(question)], token_budget=needed + smallest, keep_newest=3).status == "selected"


# --- the limits of one run


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.lists(st.integers(1, 6), max_size=6), st.integers(1, 40))
def test_a_run_of_any_sizes_shrinks_alike_in_one_process_and_in_many(
    past_tokens: list[int], done_tokens: list[int], budget: int
) -> None:
    """Everything passes when the run begins, or the newest turns do: many sizes, so that every order of loss occurs."""
    messages = [message for tokens in past_tokens for message in (user("问" * tokens), assistant(""))] + [user("?")]
    gatekeeper = ContextGatekeeper(config=NO_TRIM, token_counter=len)
    view: HistoryView | None = None
    for tokens in (0, *done_tokens):
        messages.append(assistant("x" * tokens))
        settings = {"token_budget": budget, "passthrough_below": 10**6}
        before, view = view, view_of(messages, gatekeeper=gatekeeper, state=state_after(view), **settings)
        again = ContextGatekeeper(config=NO_TRIM, token_counter=len)
        fresh = view_of(messages, gatekeeper=again, state=ThreadState(), **settings)
        assert (fresh.kept, fresh.status) == (view.kept, view.status)
        if before is not None:
            assert set(view.turns) <= set(before.turns)


def test_a_folded_run_has_one_summary_at_each_step() -> None:
    messages, state = [*TALKS["mixed"][0], user("and 端口?"), *loop(9, "a line of the log " * 20)], ThreadState()
    for step in range(3):
        view = select_history(messages, token_budget=500, state=state)
        assert [at for at, _ in view.replaced] == [7]
        assert view.state
        messages, state = [*messages, *loop(2, "a line of the log " * 20, start=20 + 2 * step)], view.state


@pytest.mark.parametrize(
    "narration", ["Next I open src/part_{}.py.", "接着打开 src/part_{}.py。", "接着 open src/part_{}.py。"]
)
def test_the_log_of_folded_calls_has_the_newest_narration_and_a_fifth_of_the_room(narration: str) -> None:
    messages = [user("fix the build 修好")]
    for at in range(12):
        opened = calls(f"c{at}", arguments=json.dumps({"path": f"tests/case_{at}.py", "text": "line " * 30}))
        messages += [assistant(narration.format(at)), opened, result(f"c{at}", "ok " * 90)]
    view = view_of(messages, gatekeeper=ContextGatekeeper(token_counter=len), token_budget=2_000, run=RunConfig())
    (summary,) = [message.text for _, message in view.replaced if is_summary(message)]
    log = summary.split("\n")[2:-1]
    newest = len(view.folded) // 3 - 1
    assert (f"src/part_{newest}.py" in summary, "part_0.py" in summary) == (True, False)
    assert 100 < sum(len(line) + 1 for line in log) <= 0.2 * 2_000


@pytest.mark.parametrize("status", ["nothing_fits", "over_budget"])
def test_whether_anything_fits_is_found_out_anew_at_each_step(status: HistoryStatus) -> None:
    past, question = TALKS["english"]
    first = view_of([*past, user(question)], state=ThreadState()).state
    assert first is not None
    assert first.view is not None
    state = first._replace(view=first.view._replace(status=status))
    assert view_of([*past, user(question)], state=state).status == "selected"


# --- messages that are no question


ENGLISH, PORT = TALKS["english"]
SUMMARY = user(f"Summary of before: sourdough, choir. {PORT}")
CALLED = [calls("c"), result("c"), assistant("The Redis cache was on port 6380.")]
BREAD = user("New topic: for how long does sourdough proof?")
NOTED: dict[str, tuple[list[Message], int, tuple[int, ...], int]] = {
    "before the first question": ([SUMMARY, *ENGLISH, user(PORT)], 0, (0, 1, 2, 7), 3),
    "before an answer": ([system(), SUMMARY, *CALLED, *ENGLISH[2:], user(PORT)], 1, (0, 1, 2, 3, 4, 9), 3),
    "before another's answer": ([system(), SUMMARY, *CALLED, *ENGLISH[2:], BREAD], 1, (0, 1, 5, 6, 9), 3),
    "within a turn": ([*ENGLISH[:2], SUMMARY, CALLED[2], *ENGLISH[2:], user(PORT)], 2, (0, 1, 2, 3, 8), 3),
    "within another turn": ([*ENGLISH[:2], SUMMARY, CALLED[2], *ENGLISH[2:], BREAD], 2, (2, 4, 5, 8), 3),
    "not searched": ([*ENGLISH[2:4], SUMMARY, *ENGLISH[4:], user(PORT)], 2, (2, 5), 2),
    "of the system": ([*ENGLISH[:4], system("Summary."), *ENGLISH[4:], user(PORT)], 4, (0, 1, 4, 7), 3),
}


@pytest.mark.parametrize(("messages", "at", "kept", "turns"), NOTED.values(), ids=NOTED)
def test_a_summary_is_kept_and_is_no_question(
    messages: list[Message], at: int, kept: tuple[int, ...], turns: int
) -> None:
    view = select_past(
        read_history(messages, HistoryRequest(notes=(at,))),
        gatekeeper=ContextGatekeeper(config=NO_TRIM, token_counter=estimate_text_tokens),
        config=config_of(token_budget=1000, on_error="raise", keep_newest=0, pin_instructions=False),
        request=HistoryRequest(),
    )
    assert (view.kept, view.turn_count) == (kept, turns)


# --- errors


class WithoutExplain(ContextGatekeeper):
    """A gatekeeper whose selection fails, with a word of the conversation in the error."""

    def explain(self, *_: Any, **__: Any) -> NoReturn:
        raise RuntimeError("the secret is 6380")


class WithoutSync(ContextGatekeeper):
    """A gatekeeper that cannot take up the conversation."""

    def sync(self, *_: Any, **__: Any) -> NoReturn:
        raise KeyError("the secret is 6380")


each_fault = pytest.mark.parametrize(("broken", "error"), [(WithoutExplain, RuntimeError), (WithoutSync, KeyError)])


@each_fault
@three_scripts
def test_a_failed_selection_falls_back_to_the_newest_turns_that_fit(
    broken: type[ContextGatekeeper], error: type[Exception], past: list[Message], question: str
) -> None:
    messages = [system(), *past, user(question)]
    budget = cost_of(messages) - 1
    view = view_of(
        messages, gatekeeper=broken(token_counter=estimate_text_tokens), on_error="fallback", token_budget=budget
    )
    assert view.kept == (0, 3, 4, 5, 6, 7)
    assert (view.status, view.turns, view.selection) == ("fallback", (2, 1), None)
    assert view.tokens == cost_of([messages[at] for at in view.kept]) <= budget
    assert view.turn_count == 3
    assert re.fullmatch(rf"{error.__name__} at test_select\.py:\d+", view.reason)
    assert "secret" not in json.dumps(view.facts())


@given(
    heads(), finished_turns(), st.one_of(runs(), st.just([])), budgets, st.sampled_from([WithoutExplain, WithoutSync])
)
def test_a_fallback_keeps_every_promise_but_the_choice(
    head: list[Message], past: list[Message], run: list[Message], budget: int, broken: type[ContextGatekeeper]
) -> None:
    messages = [*head, *past, *run]
    query = None if run else "unheard of"
    view = view_of(
        messages,
        query=query,
        gatekeeper=broken(token_counter=estimate_text_tokens),
        on_error="fallback",
        token_budget=budget,
    )
    assert set(range(len(messages) - len(run), len(messages))) <= set(view.kept)
    sent = [messages[at] for at in view.kept]
    assert view.status == "over_budget" or cost_of(sent) <= budget
    for provider in PROVIDERS if run else ():
        assert validate_messages(sent, provider=provider, open_run=True) == ()


def test_a_run_keeps_its_past_when_the_index_fails_in_the_middle_of_it() -> None:
    past, question = TALKS["english"]
    first = view_of([*past, user(question)], keep_newest=1, state=ThreadState())
    run = [user(question), calls("c"), result("c")]
    again = view_of(
        [*past, *run],
        gatekeeper=WithoutSync(token_counter=estimate_text_tokens),
        on_error="fallback",
        state=first.state,
    )
    assert (again.turns, again.status) == (first.turns, "fallback")


# --- reading


@pytest.mark.parametrize("text", ["\ud800", "\x00\u202e", "", "👩‍👩‍👧", "x" * 200_000], ids=ascii)
def test_no_text_raises(text: str) -> None:
    messages = [
        system(text),
        *talk((text, text)),
        user(text),
        Message("assistant", text, tool_calls=(ToolCall("c", text, text),)),
    ]
    view = view_of(messages, keep_newest=1, token_budget=10**6)
    assert set(view.kept) >= {0, 3, 4}
    view_of(messages, query=text, pinned=[0, 1], exclude=["x"], token_budget=10**6)


THREE_TALKS = pytest.mark.parametrize(("paste", "question", "answer", "now"), rows("select", "pasted"))


@THREE_TALKS
def test_a_paste_that_was_refused_does_not_stay_in_each_later_request(
    paste: str, question: str, answer: str, now: str
) -> None:
    talk = [user(paste * 400), user(question), assistant(answer), user(now)]
    view = view_of(talk, token_budget=300)
    assert 0 not in view.kept
    assert view.tokens <= 300
    assert view_of(talk[:2], token_budget=300).kept == (1,)


@THREE_TALKS
def test_a_question_that_is_asked_again_is_sent_once(paste: str, question: str, answer: str, now: str) -> None:
    state: ThreadState | None = ThreadState()
    for failed in (1, 2, 3):
        view = view_of([user(question)] * failed, state=state, passthrough_below=10_000)
        assert view.kept == (failed - 1,)
        state = view.state
    talk = [*[user(question)] * 3, assistant(answer), user(now)]
    assert view_of(talk, state=state, passthrough_below=10_000).kept == (2, 3, 4)


@given(st.lists(st.sampled_from("uuuat"), min_size=1, max_size=12), st.integers(0, 60), st.integers(0, 4))
def test_user_messages_stand_side_by_side_only_where_the_conversation_has_them_so(
    roles: list[str], budget: int, floor: int
) -> None:
    talk: list[Message] = []
    for at, role in enumerate(roles):
        if role == "u":
            talk.append(user(f"Which port does service {at} use?"))
        elif role == "a":
            talk.append(assistant(f"Service {at} uses port 63{at}."))
        else:
            talk += [calls(f"c{at}"), result(f"c{at}")]
    talk.append(user("New topic: which port does bread use?"))
    view = view_of(talk, token_budget=budget + 20, keep_newest=floor, passthrough_below=floor * 20)
    for before, after in pairwise(view.kept):
        assert (talk[before].role, talk[after].role) != ("user", "user") or after == before + 1
    assert view.status == "over_budget" or cost_of([talk[at] for at in view.kept]) <= budget + 20


# --- with a state


CACHED = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=6, min_cached_tokens=64)


def asked_in_turn(lists: Iterable[Sequence[Any]], *, is_stored: bool = True, **settings: Any) -> Iterable[HistoryView]:
    """Select from one list after the other, in another process each time; the state goes on."""
    gatekeeper, state = ContextGatekeeper(), ThreadState()
    config = HistoryConfig(**{"strategy": "cache", "prices": CACHED, "run": None, "on_error": "raise", **settings})
    for number, items in enumerate(lists):
        if is_stored:
            gatekeeper, state = ContextGatekeeper(), ThreadState.from_dict(json.loads(json.dumps(state.to_dict())))
        view = select_history(items, gatekeeper=gatekeeper, config=config, state=state.at(60.0 * number))
        assert view.state is not None
        state = view.state
        yield view


def _numbered(turns: Sequence[NativeTurn], number: int) -> Iterable[NativeTurn]:
    """Return turns whose calls have ids of their own, and their texts words of their own."""
    for turn in turns:
        rounds = [
            one._replace(
                calls=tuple(
                    call._replace(id=f"{call.id}_{number}", arguments={**call.arguments, "talk": number})
                    for call in one.calls
                ),
                text=one.text and f"{one.text} ({number})",
                cached=False,
            )
            for one in turn.rounds
        ]
        answer = turn.answer and turn.answer._replace(text=f"{turn.answer.text} ({number})")
        yield turn._replace(rounds=tuple(rounds), answer=answer, cached=False)


def native_lists(native: Native, seed: int) -> list[Any]:
    """Return a long conversation that grows question by question; in the middle of it the first one is edited."""
    *past, _ = shops(12)
    pairs = zip(past[::2], past[1::2], strict=True)
    begun = [NativeTurn(user.text, (), Round("", reply.text * 5)) for user, reply in pairs]
    named = (f"New topic: when does the {shop} open?" for shop in ("heron and the osprey", "falcon", "kite"))
    turns = [*begun, *(NativeTurn(text, (), Round("", "At nine.")) for text in named)]
    turns += [turn for number in range(2) for turn in _numbered(native_talk(seed + number), number) if turn.answer]
    edited = [turns[0]._replace(question="换了 another question"), *turns[1:]]
    names = [(turns if at < 18 else edited)[: at + 1] for at in range(12, len(turns))]
    return [native.write([*past[:-1], past[-1]._replace(rounds=(), answer=None)]) for past in names]


@pytest.mark.parametrize("native", FORMATS, ids=lambda native: native.name)
@given(seed=st.integers(0, 100_000), strategy=st.sampled_from(["cache", "gate", "fill", "window"]))
def test_with_a_state_every_provider_accepts_what_is_sent(native: Native, seed: int, strategy: Any) -> None:
    lists = native_lists(native, seed)
    before = copy.deepcopy(lists)
    for items, view in zip(lists, asked_in_turn(lists, strategy=strategy), strict=True):
        sent = keep(items, view)
        assert native.faults(sent) == []
        assert native.changes(sent, native.carried(items)) == []
        changed = dict(view.replaced)
        assert all(sent[place] is items[at] for place, at in enumerate(view.kept) if at not in changed)
        assert (view.bill is None) == (strategy == "window")
        assert bool(view.bill and view.bill.recalled) == bool(view.recalled_text)
        if view.recalled_text:
            (last,) = read_messages(sent)[-1:]
            (bare,) = read_messages(items)[-1:]
            assert last.text == f"{view.recalled_text}\n\n{bare.text}"
    assert lists == before


@given(seed=st.integers(0, 100_000))
def test_another_process_goes_on_with_the_same_messages(seed: int) -> None:
    lists = native_lists(CHAT, seed)
    alone, in_turn = (list(asked_in_turn(lists, is_stored=stored)) for stored in (False, True))
    assert [(view.kept, view.replaced, view.bill) for view in alone] == [
        (view.kept, view.replaced, view.bill) for view in in_turn
    ]


def shops(turns: int) -> list[Message]:
    """Return a conversation of turns of 100 tokens, each on a topic of its own, and a question about the second."""
    shops = (
        *("kestrel", "heron", "osprey", "falcon", "merlin", "harrier"),
        *("kite", "eagle", "hobby", "wren", "robin", "owl"),
    )
    questions = (f"New topic: when does the {shop} open?" for shop in shops[:turns])
    talk = [one for text in questions for one in (Message("user", text), Message("assistant", f"{text} At nine. " * 8))]
    return [*talk, Message("user", "New topic: when does the heron open?")]


@from_file("question", "step")
def test_a_question_asked_again_gets_a_selected_turn_that_has_room_as_an_excerpt_alone(
    question: str, step: str
) -> None:
    talk = [Message("user", question), Message("assistant", "".join(map(step.format, range(60))))]
    talk += [Message("user", "New topic: bread?"), Message("assistant", "Bake it."), Message("user", question)]
    for view in asked_in_turn([talk] * 3, token_budget=300, prices=None):
        assert view.selection
        assert view.bill
        assert {turn.turn_id for turn in view.selection.turns} <= {*view.turns, *view.bill.recalled}


# --- an embedder


@pytest.mark.parametrize("kind", concepts.QUESTIONS)
def test_with_an_embedder_a_question_finds_its_turn_without_a_shared_word(kind: str) -> None:
    messages = [*concepts.TALK, user(concepts.QUESTIONS[kind])]
    assert concepts.WANTED[kind] not in select_history(messages, config=concepts.AT_ONCE).turns
    gatekeeper = ContextGatekeeper(embedder=concepts.concepts)
    view = select_history(messages, config=concepts.AT_ONCE, gatekeeper=gatekeeper)
    assert concepts.WANTED[kind] in view.turns
    assert view.selection
    assert view.selection.decision(concepts.WANTED[kind]).why == "meaning"


# --- messages out


@pytest.mark.parametrize("change", [lambda talk: talk[:-1], lambda talk: [*talk, assistant("6380")], lambda talk: []])
def test_another_list_than_that_of_the_view_is_refused(change: Callable[[list[Message]], list[Message]]) -> None:
    messages = [*TALKS["mixed"][0], user("And who bakes?")]
    view = select_history(messages)
    assert keep(messages, view) == messages
    other = change(messages)
    with pytest.raises(ConfigError, match=f"built from 7 messages, got {len(other)}: pass the list you gave"):
        keep(other, view)
