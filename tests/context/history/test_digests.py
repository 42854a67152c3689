"""Older turns of an agent in a short form: the question, the beginning of the answer, and a log of the calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, HistoryConfig, HistoryView, ModelPrices, RunConfig, keep, select_history
from gatekeeper_core.context.history.rounds import as_summary
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.messages import Message, ToolCall, common_beginning, validate_messages
from gatekeeper_core.tokens import count_messages
from tests.histories import selector_with
from tests.loops import PROVIDERS, Holding, assistant, compressed, conversations, pointer, result, user

ORDERS = {
    "english": "Please look up order {0}.",
    "chinese": "请查询订单 {0}。",
    "mixed": "请 look up 订单 {0}。",
}
three_scripts = pytest.mark.parametrize("wording", ORDERS.values(), ids=ORDERS)
NEXT = "And now the weather in Bern?"


def lookup(number: int, text: str) -> list[Message]:
    """Return the round of a call with an identifier, and a long result with another one."""
    call = ToolCall(f"c{number}", "lookup", f'{{"order": "W{number:07}"}}')
    body = f"user_{number:04} " + text * 60
    return [Message("assistant", "", tool_calls=(call,)), result(call.id, body)]


def agent(turns: int, wording: str = ORDERS["english"], text: str = "paid and sent, ") -> list[Message]:
    talk: list[Message] = []
    for number in range(turns):
        answer = f"Order W{number:07} is paid. " + "It went to the harbour. " * 8
        talk += [user(wording.format(f"W{number:07}")), *lookup(number, text), assistant(answer)]
    return talk


def ferry_agent(sentences: int) -> list[Message]:
    story = "The ferry to Lumen leaves at nine from pier four. " * sentences
    talk = [user("When does the ferry to Lumen leave?"), *lookup(99, "timetable "), assistant(story)]
    return [*talk, *agent(12), user("When does the ferry to Lumen leave, and from which pier?")]


def view_of(
    messages: Sequence[Message], budget: int, *, on: Any = None, pinned: Any = (), exclude: Any = (), **options: Any
) -> HistoryView:
    config = HistoryConfig(token_budget=budget, on_error="raise", **options)
    on = on or ContextGatekeeper(token_counter=len)
    return select_history(messages, gatekeeper=on, config=config, pinned=pinned, exclude=exclude)


def texts(messages: Sequence[Message], view: HistoryView) -> str:
    return "\n".join(message.text for message in keep(messages, view))


@three_scripts
@pytest.mark.parametrize("strategy", ["gate", "fill", "cache"])
def test_older_turns_keep_their_question_their_calls_and_the_identifiers_of_their_results(
    wording: str, strategy: str
) -> None:
    messages = [*agent(8, wording), user(NEXT)]
    view = view_of(messages, 5_000, strategy=strategy)
    sent = texts(messages, view)
    assert (view.status, view.reason, view.tokens <= 5_000) == ("selected", "digests", True)
    assert view.left_out == ()
    for number in range(8):
        assert wording.format(f"W{number:07}") in sent
        assert f"user_{number:04}" in sent
    assert "lookup W0000000" in sent
    assert sent.count("harbour") < 8 * 8
    assert set(range(28, 33)) <= {*view.kept}  # the newest turn is whole
    assert messages[2] not in keep(messages, view)


@pytest.mark.parametrize(("strategy", "limited"), [("gate", True), ("cache", False), ("fill", False)])
def test_below_the_limit_nothing_gives_way(strategy: str, limited: bool) -> None:
    few, many = [*agent(3), user(NEXT)], [*agent(8), user(NEXT)]
    assert view_of(few, 9_000, strategy=strategy).kept == tuple(range(13))
    assert (view_of(many, 20_000, strategy=strategy).reason == "digests") == limited  # 6,000 tokens of past turns


def test_the_oldest_digests_go_but_not_the_task() -> None:
    messages = [*agent(40), user(NEXT)]
    view = view_of(messages, 5_000, pin_instructions=False)
    assert 0 in view.turns
    assert view.left_out == tuple(range(1, view.left_out[-1] + 1))
    assert view.tokens <= 5_000
    log = keep(messages, view)[1].text
    assert f"W{view.left_out[-1]:07}" in log
    assert f"user_{view.left_out[-1]:04}" in log
    assert len(log) < 120 + 500 + 200  # the first sentence, a tenth of the budget, and two fences


def test_an_edit_or_another_budget_does_not_go_on_from_the_call_before() -> None:
    talk = [*agent(40), user(NEXT)]
    edited = [*talk[:2], result("c0", "pier_77 " + "paid, " * 90), *talk[3:]]
    signed = [*talk[:3], Message("assistant", talk[3].text, metadata={"signed": True}), *talk[4:]]
    gatekeeper = ContextGatekeeper(token_counter=len)
    cases: list[tuple[list[Message], int, list[int]]] = [(edited, 5_000, []), (signed, 5_000, []), (talk, 5_000, [])]
    for keep_newest in (0, 3):
        for messages, budget, exclude in (*cases, (talk, 5_000, [148]), (talk, 4_000, [])):
            view, expected = (
                view_of(messages, budget, on=on, exclude=exclude, keep_newest=keep_newest) for on in (gatekeeper, None)
            )
            assert keep(messages, view) == keep(messages, expected)
            assert view.reason == "digests"
            assert messages is not signed or signed[3] in keep(messages, view)


@three_scripts
def test_identifiers_of_dropped_turns_stay_by_their_use(wording: str) -> None:
    talk = agent(40, wording)
    talk[80] = user("Look at user_0003 again, 再看 user_0003。")
    talk[83] = assistant("That is user_0003 of the old list.")
    view = view_of([*talk, user(NEXT)], 5_000, pin_instructions=False)
    assert 20 in view.left_out
    log = keep([*talk, user(NEXT)], view)[1].text  # its own identifiers, then those of dropped turns
    assert re.findall(r"user_\d+", log)[:2] == ["user_0000", "user_0003"]


@pytest.mark.parametrize("strategy", ["gate", "fill", "cache"])
def test_the_task_stays_in_the_first_run(strategy: Any) -> None:
    """The past holds no call yet, and has no room beside the run."""
    talk = [user("Please refund the ferry to Lumen."), assistant("Sure, who are you?"), user("I am Noor.")]
    selector = selector_with(HistoryConfig(token_budget=2_400, strategy=strategy, on_error="raise"), token_counter=len)
    for number in range(4):
        messages = [*talk, *(one for at in range(number) for one in lookup(at, "harbour dues " * 4))]
        view = selector.view(messages, thread="t")
        assert 0 in view.kept
        assert view.tokens <= 2_400


def test_a_needed_turn_is_recalled_before_the_question() -> None:
    messages = ferry_agent(3)
    view = view_of(messages, 5_000)
    assert view.recalled == (0,)
    question = keep(messages, view)[-1].text
    assert question.index("from pier four") < question.index("and from which pier?")
    assert "timetable" not in question


@pytest.mark.parametrize(
    ("options", "positions"),
    [({"keep_newest": 4}, range(16, 33)), ({"run": None}, ())],
    ids=["newest", "no message is written"],
)
def test_the_newest_turns_to_keep_and_a_history_that_cannot_be_written_stay_whole(
    options: dict[str, Any], positions: Sequence[int]
) -> None:
    messages = [*agent(8), user(NEXT)]
    view = view_of(messages, 6_000, **options)
    assert {*positions} <= {*view.kept}
    assert [at for at in view.folded if at in positions] == []
    if not positions:
        assert view.folded == ()


def test_a_pinned_turn_stays_whole_and_an_answer_that_is_signed_is_not_cut() -> None:
    messages = [*agent(8), user(NEXT)]
    view = view_of(messages, 5_000, pinned=[2])
    assert {0, 1, 2, 3} <= {*view.kept}
    signed = Message("assistant", messages[3].text, metadata={"signed": True})
    view = view_of([*messages[:3], signed, *messages[4:]], 5_000)
    assert 1 in view.folded
    assert signed in keep([*messages[:3], signed, *messages[4:]], view)


def test_a_long_question_keeps_its_ends_and_a_pinned_one_all_of_it() -> None:
    messages = [*agent(8), user(NEXT)]
    for at in (4, 8):
        messages[at] = user("Here is the log. " + "step done, " * 90 + "What failed?")
    view = view_of(messages, 5_000, pinned=[4])
    short, full = dict(view.replaced)[8].text, keep(messages, view)[view.kept.index(4)]
    assert full == messages[4]
    assert (short[:16], short[-12:], len(short) <= 300) == ("Here is the log.", "What failed?", True)


def test_the_task_stays_whole_and_a_summary_too() -> None:
    task = user("Watch the harbour. " + "Ships come and go. " * 40 + "Report each.")
    summary = as_summary(Message("user", "So far they set up the crane."))
    messages = [task, *agent(8)[1:], user(NEXT)]
    messages[5:5] = [summary, assistant("Noted. " + "The crane is tall. " * 30)]
    view = view_of(messages, 6_000, pin_instructions=False)
    sent = keep(messages, view)
    assert view.reason == "digests"
    assert {task, *messages[4:7]} <= {*sent}


@pytest.mark.parametrize("budget", range(3_800, 6_000, 100))
def test_recalled_turns_leave_before_others_and_a_process_that_resumes_the_run_sends_the_same(budget: int) -> None:
    messages = ferry_agent(3)
    selector = selector_with(HistoryConfig(token_budget=budget, on_error="raise"), token_counter=len)
    turns = {*range(13)}
    for number in range(8):
        view = selector.view(messages, thread="t")
        assert {*view.turns} <= turns
        assert not view.recalled or len(view.turns) == 13
        resumed = selector_with(selector.config, token_counter=len).view(messages, thread="t")
        assert (resumed.kept, resumed.replaced) == (view.kept, view.replaced)
        turns = {*view.turns}
        messages = [*messages, *lookup(100 + number, "harbour dues " * number)]


def test_turns_are_recalled_in_a_fifth_of_the_room() -> None:
    view = view_of(ferry_agent(30), 5_000)
    assert (view.reason, view.recalled, view.tokens <= 5_000) == ("digests", (), True)


def test_only_pointers_of_compressed_results_stay_readable() -> None:
    messages = [*agent(8), user(NEXT)]
    messages[2] = compressed("c0", f"{pointer(1)} {messages[2].text}")
    messages[6] = result("c1", f"{pointer(2)} {messages[6].text}")
    sent = texts(messages, view_of(messages, 5_000))
    assert pointer(1) in sent
    assert pointer(2) not in sent


def test_each_call_has_the_working_memory_of_its_own() -> None:
    talk = [*agent(16), user(NEXT)]
    for number in range(16):
        talk[4 * number + 2] = result(f"c{number}", f"{pointer(number)} {talk[4 * number + 2].text}")
    gatekeeper = ContextGatekeeper(token_counter=len)
    messages: list[Message] = []
    for part, memory in ((talk[:33], []), (talk[33:], [pointers_in(pointer(at))[0] for at in range(16)])):
        messages = [*messages, *part]
        run = RunConfig(compress_result=Holding(memory))
        view = view_of(messages, 9_000, on=gatekeeper, run=run)
    assert view.reason == "digests"
    newest = max(view.folded) // 4  # gave way at the second call
    assert pointer(newest) in keep(messages, view)[view.kept.index(4 * newest + 3)].text


@three_scripts
def test_a_list_of_a_provider_comes_back_in_its_format(wording: str) -> None:
    talk = agent(8, wording)
    items: list[dict[str, Any]] = []
    for message in talk:
        if message.role == "tool":
            block = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.text}
            items.append({"role": "user", "content": [block]})
        elif message.tool_calls:
            (call,) = message.tool_calls
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {"order": "W1"}}
            items.append({"role": "assistant", "content": [block]})
        else:
            items.append({"role": message.role, "content": message.text})
    items.append({"role": "user", "content": NEXT})
    view = select_history(items, config=HistoryConfig(token_budget=1_800))
    sent = keep(items, view)
    assert (view.reason, 1 in view.folded, 2 in view.folded) == ("digests", True, True)
    assert sent[:2] == [items[0], {"role": "assistant", "content": sent[1]["content"]}]
    assert "user_0000" in sent[1]["content"]


@pytest.mark.parametrize("strategy", ["gate", "cache"])
def test_the_bill_is_that_of_a_cache_that_keeps_the_prompt_before(strategy: Any) -> None:
    prices = ModelPrices(input=1e6, output=0, cache_read=1e5, cache_write=1e6, min_cached_tokens=1)
    selector = selector_with(
        HistoryConfig(token_budget=5_000, strategy=strategy, prices=prices, on_error="raise"), token_counter=len
    )
    talk, before, paid = agent(14), [Message("system", "")], 0.0
    calls_of_the_model = [at for at, message in enumerate(talk) if message.role == "assistant"]
    for at in calls_of_the_model:
        view = selector.view(talk[:at], thread="t")
        sent = keep(talk[:at], view)
        cached = count_messages(sent[: common_beginning(before, sent)], token_counter=len)
        paid += count_messages(sent, token_counter=len) - 0.9 * cached
        before = list(sent)
        assert view.bill
        assert view.bill.paid == pytest.approx(paid, rel=0.01)
    assert view.reason == "digests"
    assert view.bill
    assert view.bill.body_end == view.kept[-1]


@given(conversations(open_run=False), st.integers(60, 900), st.sampled_from(["gate", "fill", "cache"]))
def test_what_gave_way_stays_so_and_every_prompt_is_valid(talk: list[Message], budget: int, strategy: str) -> None:
    """So the provider's cache finds the same beginning: a process that resumes the thread has no state."""
    given_way: set[int] = set()
    gatekeeper = ContextGatekeeper(token_counter=len)
    for stop in range(1, len(talk) + 1):
        messages = talk[:stop]
        if messages[-1].role != "user":
            continue
        settings: dict[str, Any] = {"strategy": strategy, "pin_instructions": False, "passthrough_below": 200}
        view = view_of(messages, budget, **settings)
        sent = keep(messages, view)
        assert keep(messages, view_of(messages, budget, on=gatekeeper, **settings)) == sent
        for provider in PROVIDERS:
            if not validate_messages(messages, provider=provider):
                assert not validate_messages(sent, provider=provider)
        assert view.tokens == pytest.approx(count_messages(sent, token_counter=len), abs=len(messages))
        assert given_way.isdisjoint(view.kept)
        if view.reason == "digests":
            given_way.update(view.folded)


OBSERVED = {
    "english": "Observation: file {0}",
    "chinese": "执行结果：文件 {0}",
    "mixed": "Observation: 文件 {0}",
}


@pytest.mark.parametrize("wording", OBSERVED.values(), ids=OBSERVED)
def test_an_agent_that_writes_its_observations_as_the_user_keeps_its_task(wording: str) -> None:
    talk = [user("Fix the failing build of src/harbour.py."), assistant("list_files src")]
    for number in range(12):
        code = " line of code" * 30 + f" crane_{number}() " + " line of code" * 30
        talk += [user(wording.format(f"src/pier_{number}.py") + code), assistant(f"open {number}")]
    messages = [*talk, user(wording.format("done"))]
    view = view_of(messages, 4_000)
    sent = texts(messages, view)
    assert (view.reason, view.tokens <= 4_000) == ("digests", True)
    assert "Fix the failing build" in sent
    assert all(f"src/pier_{number}.py" in sent for number in range(10, 12))
    assert all(f"crane_{turn - 1}" in sent for turn in view.turns if turn)
    assert sent.count("line of code") < 12 * 30
    assert view_of([*talk, user(wording.format("src/pier_1.py") + " crane_1()")], 8_000).recalled == ()


@pytest.mark.parametrize("wording", OBSERVED.values(), ids=OBSERVED)
def test_the_first_observation_does_not_push_the_task_out(wording: str) -> None:
    """The task takes more than a quarter of the room, and one message of the user alone has a label."""
    task = user("Fix the failing build of src/harbour.py. " + "The log is long. " * 90)
    answer = assistant("I list the files. " + "The log names them. " * 50)
    messages = [task, answer, user(wording.format("src/pier.py") + " line" * 200)]
    view = view_of(messages, 3_000)
    assert (view.pinned, view.tokens <= 3_000) == ((0, 1), True)
    view = view_of([*messages, assistant("open src/pier.py"), user(wording.format("x") + " line" * 300)], 4_000)
    assert (0 in view.kept, view.tokens <= 4_000) == (True, True)
