"""The running summary of a conversation: when it is made, what it covers, and what it does when things fail."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import replace
from threading import Event, Timer
from threading import Thread as Worker
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory import summary as summary_module
from gatekeeper_core.context.memory.summary import SummaryConfig, SummaryUpdate, ThreadSummary
from gatekeeper_core.context.memory.summary_record import Summary
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests import loops
from tests.case_files import rows

Pairs = list[tuple[str, str]]

TALKS: dict[str, Pairs] = {}
for script, question, answer in rows("summary", "talk"):
    TALKS.setdefault(script, []).append((question, answer))


def thread_of(pairs: Pairs, *more: Message, name: str = "t1") -> Thread:
    messages = [message for user, assistant in pairs for message in (loops.user(user), loops.assistant(assistant))]
    return Thread(name, (*messages, *more))


def thread_summary(store: Any = None, summarizer: Any = None, **settings: Any) -> ThreadSummary:
    return ThreadSummary(
        store or InMemoryStore(), config=SummaryConfig(**settings), token_counter=len, summarizer=summarizer
    )


def of(update: SummaryUpdate) -> Summary:
    assert update.summary
    return update.summary


def is_due(thread: Thread, **settings: Any) -> bool:
    return thread_summary(**settings).update_if_needed(thread).status == "updated"


SMALL_TALK = [(f"and what about thing number {at}?", "fine") for at in range(20)]


@pytest.mark.parametrize("talk", TALKS.values(), ids=TALKS)
def test_a_conversation_of_ten_messages_gets_a_summary_by_section(talk: Pairs) -> None:
    """001-68, 004-14, 004-29, 004-30: ten messages make it due; topics, decisions, preferences, details."""
    summaries = thread_summary()
    thread = thread_of(talk)
    update = summaries.update_if_needed(thread)
    summary = of(update)
    assert (update.status, summary.upto_seq, summary.covered_messages) == ("updated", 9, 10)
    assert (summary.version, summary.source) == (1, "extractive")
    texts = [[item.text for item in items] for items in (summary.topics, summary.decisions, summary.preferences)]
    assert texts == [[talk[0][0], talk[3][0]], [talk[1][0]], [talk[2][0]]]
    assert ["6380" in item.text for item in summary.details] == [True]
    assert summaries.get(thread) == summary


def test_the_defaults_are_those_of_the_specification() -> None:
    """004-29, 004-42, 004-43, 004-45, 004-46: 10 messages, 3,000 tokens, on; 1,000 tokens of summary are ours."""
    config = SummaryConfig()
    assert (config.message_threshold, config.token_compaction_threshold) == (10, 3000)
    assert config.max_summary_tokens == 1000


@pytest.mark.parametrize(("letters", "due"), [(2_999, False), (3_000, True), (3_001, True)])
def test_three_thousand_tokens_make_it_due_as_well(letters: int, due: bool) -> None:
    """004-15, 004-29, 004-45, 004-46, C10: two triggers, each reached at its number; the second can be off."""
    thread = thread_of([("x" * (letters - 5), "y" * 5)])
    assert is_due(thread) is due
    assert not is_due(thread, token_compaction_threshold=None)
    assert is_due(thread, token_compaction_threshold=letters)


@pytest.mark.parametrize(("messages", "due"), [(8, False), (10, True), (12, True)])
def test_ten_messages_are_counted_without_system_messages_and_the_open_turn(messages: int, due: bool) -> None:
    """004-29, 004-42: unsummarised messages of finished turns count, from the threshold on."""
    open_turn = [loops.user("and now?"), loops.calls("a"), loops.result("a")]
    thread = thread_of(SMALL_TALK[: messages // 2], *open_turn)
    thread = Thread("t1", (*[loops.system()] * 4, *thread.messages))
    assert is_due(thread) is due


def test_nothing_is_due_twice_and_new_messages_are_read_once() -> None:
    """004-13, 004-59: an update reads what is new; without anything new it gives back what is stored."""
    summaries, talk = thread_summary(), TALKS["english"]
    first = of(summaries.update_if_needed(thread_of(talk)))
    for few in (0, 4):
        assert summaries.update_if_needed(thread_of(talk + SMALL_TALK[:few])) == SummaryUpdate(first, "current")
    more = summaries.update_if_needed(thread_of(talk + SMALL_TALK[:5]))
    assert (more.status, of(more).upto_seq, of(more).version) == ("updated", 19, 2)
    assert {item.text for item in first.decisions} <= {item.text for item in of(more).decisions}


@pytest.mark.parametrize(
    "last",
    [
        [loops.user("and now?")],
        [loops.user("and now?"), loops.calls("a")],
        [loops.user("and now?"), loops.calls("a"), loops.result("a")],
        [loops.user("and now?"), loops.system()],
    ],
)
def test_the_open_turn_is_never_covered(last: list[Message]) -> None:
    assert of(thread_summary().update_if_needed(thread_of(TALKS["english"], *last))).upto_seq == 9


def test_what_the_window_shows_can_be_left_out() -> None:
    """004-27: the window keeps the newest rounds, older messages are summarised; no turn is covered in part."""
    thread = thread_of(TALKS["english"] + SMALL_TALK[:5])
    for before_seq, upto_seq in ((20, 19), (19, 17), (11, 9), (10, 9)):
        assert of(thread_summary().update_if_needed(thread, before_seq=before_seq)).upto_seq == upto_seq
    assert thread_summary().update_if_needed(thread, before_seq=9) == SummaryUpdate(None, "none")
    assert of(thread_summary().update(thread, before_seq=9)).upto_seq == 7


@pytest.mark.parametrize(
    ("most", "covered"), [(8, [7, 15, 19]), (9, [7, 15, 19]), (1, [1, 3, 5]), (1000, [19, 19, 19])]
)
def test_a_long_conversation_is_read_over_several_updates(
    most: int, covered: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert summary_module._MAX_MESSAGES == 1000
    monkeypatch.setattr(summary_module, "_MAX_MESSAGES", most)
    summaries, thread = thread_summary(message_threshold=1), thread_of(TALKS["english"] + SMALL_TALK[:5])
    assert [of(summaries.update_if_needed(thread)).upto_seq for _ in range(3)] == covered


def test_a_conversation_that_was_cut_back_or_edited_gets_a_new_summary() -> None:
    summaries, talk = thread_summary(), TALKS["english"]
    summaries.update_if_needed(thread_of(talk + SMALL_TALK))
    cut = thread_of(talk)
    assert summaries.get(cut) is None
    update = summaries.update_if_needed(cut)
    assert (update.status, update.reason, of(update).upto_seq) == ("rebuilt", "changed", 9)
    edited = thread_of([talk[0], ("Let's go with Memcached.", "Good."), *talk[2:]])
    assert summaries.get(edited) is None
    assert "Let's go with Memcached." in [item.text for item in of(summaries.update_if_needed(edited)).decisions]
    reworded = thread_of([talk[0], ("Let's go with Memcached.", "Very good."), *talk[2:]])
    assert summaries.get(reworded) is None, "also where no sentence of the summary was changed"
    tiny = thread_of(talk[:2])
    assert summaries.update_if_needed(tiny) == SummaryUpdate(None, "none", "changed")


@given(loops.conversations(), st.lists(st.integers(1, 12), max_size=8), st.integers(20, 400))
def test_what_is_covered_only_grows_and_every_sentence_was_said(
    messages: list[Message], steps: list[int], limit: int
) -> None:
    """004-31, 004-59: whatever the conversation, the summary is bounded, verbatim, of people, and never goes back."""
    assert growing(messages, steps, limit) == growing(messages, steps, limit)


def growing(messages: list[Message], steps: list[int], limit: int) -> str:
    summaries = thread_summary(message_threshold=1, max_summary_tokens=limit)
    shown, upto_seq, stop = "", -1, 0
    for step in [*steps, len(messages)]:
        stop = min(len(messages), stop + step)
        update = summaries.update_if_needed(Thread("t1", tuple(messages[:stop])))
        if update.summary is None:
            continue
        shown = update.summary.text
        assert upto_seq <= update.summary.upto_seq < stop
        upto_seq = update.summary.upto_seq
        assert len(shown) == update.summary.tokens <= limit
        for item in update.summary.items:
            for seq in item.seqs:
                assert seq <= upto_seq
                assert messages[seq].role in ("user", "assistant")
                assert item.text in messages[seq].text
    return shown


# --- Stores that fail -------------------------------------------------------------------------------------------------


class Broken:
    """A store of which one call, or both, do something else."""

    def __init__(self, load: Any = None, save: Any = None, inner: Any = None) -> None:
        inner = inner or InMemoryStore()
        self.load_record = load or inner.load_record
        self.save_record = save or inner.save_record


def fail(*_: Any, **__: Any) -> None:
    raise OSError("6380 secret text")


@pytest.mark.parametrize("load", [fail, lambda *_: 7])
def test_a_store_that_cannot_be_read_is_reported_and_stops_nothing(load: Any, caplog: pytest.LogCaptureFixture) -> None:
    """001-30, 001-67: a failing store is logged without text and never raises."""
    summaries, thread = thread_summary(Broken(load=load)), thread_of(TALKS["english"])
    with caplog.at_level(logging.WARNING, "gatekeeper.summary"):
        update = summaries.update_if_needed(thread)
    assert (update.summary, update.status) == (None, "failed")
    assert update.reason.startswith("error: ")
    assert [record.gatekeeper_reason for record in caplog.records] == [update.reason]  # type: ignore[attr-defined]
    assert "secret" not in caplog.text
    assert summaries.get(thread) is None


def test_a_store_that_takes_nothing_leaves_the_summary_for_this_time() -> None:
    """001-30: the summary is there, and says that it is not stored."""
    store, thread = Broken(), thread_of(TALKS["english"])
    summaries = thread_summary(store, lambda *_: "They chose Redis.")
    stored = of(summaries.update_if_needed(thread))
    store.save_record = fail
    update, modelled = thread_summary(Broken(save=fail)).update_if_needed(thread), summaries.run_model(thread)
    assert [(each.status, each.reason) for each in (update, modelled)] == [("unsaved", "error: OSError")] * 2
    assert (of(update).upto_seq, of(modelled)) == (9, stored)


@pytest.mark.parametrize("body", ["", "{}", "null", Summary(upto_seq=9).to_json(), Summary(upto_seq=3).to_json()])
def test_a_damaged_record_is_made_anew(body: str) -> None:
    store, thread = InMemoryStore(), thread_of(TALKS["english"])
    store.save_record("default", "t1", "summary", body, upto_seq=9, expected_version=0)
    assert thread_summary(store).get(thread) is None
    update = thread_summary(store).update_if_needed(thread)
    assert (update.status, update.reason, of(update).version) == ("rebuilt", "damaged", 2)


@pytest.mark.parametrize("talk", TALKS.values(), ids=TALKS)
def test_a_summary_that_held_holds_no_more_where_a_message_stands_for_others(talk: Pairs) -> None:
    """Marks of messages are in no digest."""
    summaries, thread = thread_summary(), thread_of(talk)
    summary = of(summaries.update_if_needed(thread))
    assert summaries.get(thread) == summaries.get(thread) == summary
    seq = summary.items[0].seqs[0]
    marks = [{"synthetic": "folded"} if at == seq else {} for at in range(len(thread.messages))]
    marked = [replace(one, metadata=mark) for one, mark in zip(thread.messages, marks, strict=True)]
    assert summaries.get(replace(thread, messages=tuple(marked))) is None
    assert summaries.get(thread) == summary


def test_a_faster_writer_wins_and_nothing_is_lost() -> None:
    """001-79: a save from an older version is made again from the newer one."""
    store, talk = InMemoryStore(), TALKS["english"]
    other = thread_summary(store, message_threshold=2)

    def slow(*key: str, **numbers: int) -> int:
        if numbers["expected_version"] == 0:
            other.update_if_needed(thread_of(talk[:4]))
        return store.save_record(*key, **numbers)

    update = thread_summary(Broken(save=slow, inner=store), message_threshold=2).update_if_needed(thread_of(talk))
    assert (update.status, of(update).version, of(update).upto_seq) == ("updated", 2, 9)
    assert [seq for seq, _ in of(update).checkpoints] == [7, 9]


def test_one_update_at_a_time_for_each_conversation() -> None:
    """001-79: single-flight; whoever comes second gets what is stored, at once or after waiting."""
    entered, go_on = Event(), Event()
    store = InMemoryStore()

    def wait(*key: str, **numbers: int) -> int:
        if key[1] == "t1":
            entered.set()
            assert go_on.wait(30)
        return store.save_record(*key, **numbers)

    summaries, found = thread_summary(Broken(save=wait, inner=store)), []
    worker = Worker(target=lambda: found.append(summaries.update_if_needed(thread_of(TALKS["english"]))))
    worker.start()
    assert entered.wait(30)
    assert summaries.update_if_needed(thread_of(TALKS["english"])) == SummaryUpdate(None, "busy")
    assert summaries.update_if_needed(thread_of(TALKS["english"]), wait_seconds=0.01).status == "busy"
    assert summaries.update_if_needed(thread_of(TALKS["english"], name="t2")).status == "updated"
    Timer(0.05, go_on.set).start()
    assert summaries.update_if_needed(thread_of(TALKS["english"]), wait_seconds=math.inf).status == "current"
    worker.join(30)
    assert [update.status for update in found] == ["updated"]


# --- Models -----------------------------------------------------------------------------------------------------------


def test_what_a_model_writes_takes_the_place_of_the_sentences() -> None:
    """004-44, 004-60: which model, and where it runs, is the caller's."""
    talk = TALKS["english"]
    summaries, thread = thread_summary(summarizer=lambda *_: "They chose Redis on port 6380."), thread_of(talk)
    assert not summaries.model_due(thread)
    assert summaries.run_model(thread) == SummaryUpdate(None, "none")
    summaries.update_if_needed(thread)
    assert summaries.model_due(thread)
    update = summaries.run_model(thread)
    assert (update.status, of(update).source) == ("updated", "model")
    assert of(update).text == "They chose Redis on port 6380."
    assert of(update).decisions, "the sentences stay beside it"
    assert not summaries.model_due(thread)
    assert summaries.run_model(thread).status == "current"
    longer = thread_of([*talk, *SMALL_TALK[:4], ("We decided to ship on Friday.", "Good.")])
    after = of(summaries.update_if_needed(longer))
    assert after.source == "model"
    assert after.text == "They chose Redis on port 6380.\nImportant decisions:\n- We decided to ship on Friday."
    assert summaries.model_due(longer)


LOOP = [
    *(loops.system("Be brief."), loops.user("Which port does the cache use?"), loops.calls("a", text="Let me look.")),
    *(loops.result("a", "secret token 998877"), loops.assistant("<think>Is it 1111?</think>It uses port 6380.")),
]
MORE = [loops.user("用 Redis 吧。"), loops.assistant("好的。")]


@pytest.mark.parametrize("takes_all", [True, False])
def test_a_model_reads_what_people_said_and_nothing_else(takes_all: bool) -> None:
    """004-13: what is covered is read once, with what was written before."""
    seen: list[Any] = []

    def summarize(messages: Sequence[Message], previous: str | None, max_tokens: int) -> str:
        seen.append(([(message.role, message.text) for message in messages], previous, max_tokens))
        return "The cache uses port 6380."

    def plain(messages: Sequence[Message]) -> str:
        return summarize(messages, None, 100)

    summaries = thread_summary(summarizer=summarize if takes_all else plain, max_summary_tokens=100)
    for messages in (LOOP, LOOP + MORE):
        summaries.update(Thread("t1", tuple(messages)))
        assert summaries.run_model(Thread("t1", tuple(messages))).status == "updated"
    earlier = [
        ("user", "Which port does the cache use?"),
        ("assistant", "Let me look."),
        ("assistant", "It uses port 6380."),
    ]
    later, written = [("user", "用 Redis 吧。"), ("assistant", "好的。")], "The cache uses port 6380."
    before = [] if takes_all else [("user", written)]
    assert seen == [(earlier, None, 100), (before + later, written if takes_all else None, 100)]


@pytest.mark.parametrize(("most", "texts"), [(20, ["用 Redis 吧。", "好的。"]), (2, ["好的"])])
def test_a_model_reads_the_newest_that_fits_and_sentences_for_the_rest(most: int, texts: list[str]) -> None:
    """003-41: as many messages as fit, and of one that is too long alone a part."""
    seen: list[Any] = []

    def summarize(messages: Sequence[Message], previous: str | None, max_tokens: int) -> str:
        seen.append(([message.text for message in messages], previous))
        return "short"

    per_character = 24_000 // most
    summaries, thread = (
        ThreadSummary(
            InMemoryStore(),
            config=SummaryConfig(max_summary_tokens=1_000 * per_character),
            token_counter=lambda text: per_character * len(text),
            summarizer=summarize,
        ),
        Thread("t1", tuple(LOOP + MORE)),
    )
    stored = of(summaries.update(thread))
    assert of(summaries.run_model(thread)).model_text == "short"
    assert seen == [(texts, stored.text)]
    assert "- It uses port 6380." in stored.text


@pytest.mark.parametrize(
    ("text", "made_up"),
    [("The token is 998877.", "998877"), ("缓存由王芳负责。", "王芳"), ("The port is 6380, says Pavel.", "Pavel")],
)
def test_what_nobody_said_is_refused(text: str, made_up: str) -> None:
    """004-60: numbers, identifiers and names come from what people said, not from tools, not from the model."""
    summaries, thread = thread_summary(summarizer=lambda *_: text), Thread("t1", tuple(LOOP + MORE))
    before = summaries.update(thread).summary
    assert summaries.run_model(thread) == SummaryUpdate(before, "failed", "unsupported", (made_up,))


def test_a_model_that_is_late_does_not_take_back_what_is_covered() -> None:
    talk, store = TALKS["english"], InMemoryStore()
    meanwhile = thread_of([*talk, *SMALL_TALK[:4], ("We decided to ship on Friday.", "Good.")])

    def slow(*_: Any) -> str:
        assert thread_summary(store).update_if_needed(meanwhile).status == "updated"
        return "They chose Redis."

    summaries = thread_summary(store, slow)
    summaries.update_if_needed(thread_of(talk))
    summary = of(summaries.run_model(thread_of(talk)))
    assert (summary.upto_seq, summary.model_upto_seq, summary.source) == (19, 9, "model")
    assert summary.text.endswith("- We decided to ship on Friday.")
    assert summaries.get(meanwhile) == summary


def test_a_models_text_of_a_conversation_that_changed_meanwhile_is_dropped() -> None:
    talk, store = TALKS["english"], InMemoryStore()
    edited = thread_of([("Which queue do we take?", "Kafka."), *talk[1:]])

    def slow(*_: Any) -> str:
        thread_summary(store).update_if_needed(edited)
        return "They chose Redis."

    summaries = thread_summary(store, slow)
    summaries.update_if_needed(thread_of(talk))
    update = summaries.run_model(thread_of(talk))
    assert (update.status, update.reason) == ("unsaved", "changed")
    kept = summaries.get(edited)
    assert kept
    assert (kept.source, kept.model_text) == ("extractive", "")


def hang_up(*_: Any) -> str:
    raise ConnectionError("6380 secret text")


@pytest.mark.parametrize(
    ("summarizer", "reason"),
    [
        (hang_up, "error: ConnectionError"),
        (lambda *_: "", "empty"),
        (lambda *_: " \n", "empty"),
        (lambda *_: None, "not_text"),
        (lambda *_: b"text", "not_text"),
        (lambda *_: "They chose Redis. " * 1000, "too_long"),
        (lambda *_: "They chose Redis on port 9999.", "unsupported"),
    ],
)
def test_a_model_that_fails_leaves_the_sentences_and_is_logged_once(
    summarizer: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """004-60: failure falls back to the extractive summary."""
    summaries, thread = thread_summary(summarizer=summarizer), thread_of(TALKS["english"])
    before = summaries.update_if_needed(thread).summary
    with caplog.at_level(logging.WARNING, "gatekeeper.summary"):
        update = summaries.run_model(thread)
    assert (update.summary, update.status, update.reason) == (before, "failed", reason)
    assert update.unsupported == (("9999",) if reason == "unsupported" else ())
    assert [record.gatekeeper_reason for record in caplog.records] == [reason]  # type: ignore[attr-defined]
    assert not {"secret", "Redis"} & set(caplog.text.split())
    assert summaries.get(thread) == before
