"""Long messages of past turns are sent as copies that are cut: which ones, what is left of them, what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.history.view import HistoryView, ThreadState
from gatekeeper_core.messages import MediaPart, Message, TextPart, group_turns
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_core.selection.trimming import is_cuttable
from gatekeeper_core.tokens import count_messages, estimate_text_tokens
from tests.case_files import rows
from tests.histories import view_with
from tests.loops import PROVIDERS, assistant, calls, result, system, user, violations
from tests.verbatim import end_of_stretch

FILLER, FACT, OTHER_FACT, QUESTION = (
    {script: texts[at] for script, *texts in rows("cuts", "scripts")} for at in range(4)
)
scripts = pytest.mark.parametrize("script", list(FACT))


def long_answer(script: str) -> str:
    filler = FILLER[script] * 40
    return f"{filler}{FACT[script]}{filler}{OTHER_FACT[script]}{filler}"


def talk(script: str, *answer: Message) -> list[Message]:
    """Return a conversation whose first turn holds a long answer, and whose newest is about something else."""
    opening = {"chinese": "记一下搬家的事。", "english": "Note the facts of the move.", "mixed": "记一下 move 的事。"}
    newest = {"chinese": "酸面包要发酵多久？", "english": "How long does sourdough proof?", "mixed": "sourdough 多久？"}
    return [
        user(opening[script]),
        *(answer or [assistant(long_answer(script))]),
        user(newest[script]),
        assistant("5 h"),
    ]


def view_of(messages: Sequence[Message], **arguments: Any) -> HistoryView:
    settings: dict[str, Any] = {
        "token_budget": 16_000,
        "on_error": "raise",
        "gatekeeper": ContextGatekeeper(token_counter=estimate_text_tokens),
    }
    return view_with(messages, **{**settings, **arguments})


def sent(messages: Sequence[Message], view: HistoryView) -> list[Message]:
    replaced = dict(view.replaced)
    return [replaced.get(at, messages[at]) for at in view.kept]


def cost_of(messages: Sequence[Message]) -> int:
    return count_messages(messages, token_counter=estimate_text_tokens)


# --- what is left of a long answer


@scripts
def test_a_long_answer_is_cut_to_what_the_question_wants(script: str) -> None:
    """000-36, in a list of messages: the sentences are verbatim, and the rest of the message is the original's."""
    original = replace(assistant(long_answer(script)), id="m1", name="Ada", metadata={"seen": 1})
    messages = [*talk(script, original), user(QUESTION[script])]
    view = view_of(messages)
    [(at, copy)] = view.replaced
    assert (at, FACT[script].strip() in copy.text, OTHER_FACT[script].strip() in copy.text) == (1, True, False)
    assert replace(copy, content=original.content) == original
    assert 5 * cost_of([copy]) < cost_of([original])
    assert view.tokens == cost_of(sent(messages, view)) < view.history_tokens
    place = 0
    for piece in filter(None, (piece.strip() for piece in copy.text.split("…"))):
        place = end_of_stretch(piece, original.text, after=place)


@scripts
def test_the_newest_turn_is_cut_like_any_other_and_the_current_one_never(script: str) -> None:
    """Also where the question asks for one sentence of it."""
    answer, question = assistant(long_answer(script)), user(f"{long_answer(script)} {QUESTION[script]}")
    newest = view_of([user("a"), assistant("b"), user(QUESTION[script]), answer, user(QUESTION[script])])
    assert ({2, 3} <= set(newest.kept), [at for at, _ in newest.replaced]) == (True, [3])
    assert FACT[script].strip() in newest.replaced[0][1].text
    current = view_of([*talk(script), question, answer])
    assert {4, 5} <= set(current.kept)
    assert all(at < 4 for at, _ in current.replaced)


@scripts
def test_the_newest_turns_to_keep_are_never_cut(script: str) -> None:
    messages = [*talk(script), user(QUESTION[script])]
    assert [at for at, _ in view_of(messages, keep_newest=1).replaced] == [1]
    assert view_of(messages, keep_newest=2).replaced == ()


@scripts
def test_a_needed_turn_that_is_larger_than_the_budget_sends_its_best_part(script: str) -> None:
    messages = [*talk(script), user(QUESTION[script])]
    room = cost_of(messages[-1:]) + 60
    off = ContextGatekeeper(config=GatekeeperConfig(trim=False), token_counter=estimate_text_tokens)
    full, cut = view_of(messages, token_budget=room, gatekeeper=off), view_of(messages, token_budget=room)
    assert 0 not in full.kept
    assert cut.tokens <= room
    assert any(FACT[script].strip() in message.text for message in sent(messages, cut))


# --- what stays whole


@pytest.mark.parametrize(
    "original",
    [
        replace(calls("c1"), content=long_answer("english")),
        Message("assistant", (TextPart(long_answer("english")), MediaPart("image"))),
        Message("assistant", (TextPart(long_answer("english")), TextPart("signed by its provider"))),
        assistant(f"{long_answer('english')}\n```sh\nls\n```\n{long_answer('english')}"),
        assistant(f"<think>\nThe door?\n</think>\n{long_answer('english')}"),
        Message("assistant", long_answer("english"), metadata={"signed": True}),
    ],
    ids=["call", "media", "parts", "code", "thinking", "signed"],
)
def test_what_cannot_be_cut_without_harm_stays_whole(original: Message) -> None:
    answered = [result("c1", "done"), assistant("Noted.")] if original.tool_calls else []
    messages = [*talk("english", original, *answered), user(QUESTION["english"])]
    view = view_of(messages)
    assert not is_cuttable(original)
    assert ({0, 1} <= set(view.kept), view.replaced) == (True, ())


def test_a_tool_result_of_a_cut_turn_stays_whole() -> None:
    exchange = [calls("c1"), result("c1", long_answer("english")), assistant(long_answer("english"))]
    messages = [*talk("english", *exchange), user(QUESTION["english"])]
    view = view_of(messages, token_budget=cost_of(messages) - 1000)
    assert ([at for at, _ in view.replaced], {0, 1, 2, 3} <= set(view.kept)) == ([3], True)
    assert all(violations(sent(messages, view), provider) == [] for provider in PROVIDERS)


@pytest.mark.parametrize("key", ["reasoning_content", "thinking_blocks", "thought_signature"])
def test_a_dict_with_thinking_beside_its_text_reads_as_signed(key: str) -> None:
    read = Message.from_dict({"role": "assistant", "content": "ok", key: "The door?", "metadata": {"seen": 1}})
    assert dict(read.metadata) == {"seen": 1, "signed": True}
    assert Message.from_dict(read.to_dict(), trusted=True) == read
    assert dict(Message.from_dict({"role": "user", "content": "ok", key: "The door?"}).metadata) == {}
    assert dict(Message.from_dict({"role": "assistant", "content": "ok", key: None}).metadata) == {}


# --- runs


@scripts
def test_every_step_of_a_run_sends_the_same_cut(script: str) -> None:
    messages = [*talk(script), user(QUESTION[script])]
    first = view_of(messages, state=ThreadState())
    step = [*messages, calls("c1"), result("c1", "done")]
    for later in (view_of(step, state=first.state), view_of(step)):
        assert (later.turns, later.replaced) == (first.turns, first.replaced)
        assert later.tokens == cost_of(sent(step, later))


# --- threads


@scripts
def test_a_selector_that_cannot_write_or_is_told_so_sends_whole_messages(script: str) -> None:
    items = [*(message.to_dict() for message in talk(script)), {"role": "user", "content": QUESTION[script]}]
    for write, trim in ((None, True), (lambda item, message: {**item, "content": message.text}, False)):
        config = HistoryConfig(passthrough_below=0, gatekeeper=GatekeeperConfig(trim=trim), on_error="raise")
        assert ThreadSelector(Message.from_dict, write=write, config=config).choose(items)[:2] == items[:2]


# --- properties


sentences = st.sampled_from(
    [*FACT.values(), *OTHER_FACT.values(), *(text * 4 for text in FILLER.values()), "why?", "ok。"]
)
texts = st.lists(sentences, min_size=1, max_size=12).map("".join)


@st.composite
def finished_turns(draw: st.DrawFn) -> list[Message]:
    messages = [system()] * draw(st.integers(0, 1))
    for turn in range(draw(st.integers(1, 5))):
        messages += [user(draw(texts)) for _ in range(draw(st.sampled_from([1, 1, 2])))]
        if draw(st.sampled_from([False, False, True])):
            messages += [calls(f"c{turn}"), result(f"c{turn}", draw(texts))]
        messages.append(assistant(draw(texts)))
    return messages


@given(finished_turns(), texts, st.integers(1, 900), st.sampled_from(["gate", "fill"]), st.integers(0, 2))
@example([user("ok。"), user("门禁密码是七七一九。"), assistant("好。")], "门禁密码？", 28, "fill", 0)
def test_what_is_sent_fits_and_only_long_texts_differ(
    past: list[Message], question: str, budget: int, strategy: Any, newest: int
) -> None:
    messages = [*past, user(question)]
    arguments: dict[str, Any] = {"token_budget": budget, "strategy": strategy, "keep_newest": newest}
    view = view_of(messages, **arguments)
    assert view == view_of(messages, **arguments)
    prompt = sent(messages, view)
    turns = group_turns(past)
    free = sum(not cost_of(turns[at].messages) for at in view.turns)  # estimated at nothing, a turn counts one token
    assert view.tokens == cost_of(prompt) + free
    assert view.status == "over_budget" or view.tokens <= budget
    for at, copy in view.replaced:
        assert is_cuttable(messages[at])
        assert replace(copy, content=messages[at].content) == messages[at]
        assert copy.text.strip()
        assert cost_of([copy]) < cost_of([messages[at]])
    assert all(violations(prompt, provider) == [] for provider in PROVIDERS)
