"""What ``--meaning`` shows: the reason of a turn, who was heard, how far it has read, and the line that installs it."""

from __future__ import annotations

import io
import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_cli.explanation import near_misses, why_not
from gatekeeper_cli.texts import ENGLISH, Language, Texts
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from tests.case_files import rows
from tests.command import chat_file, run
from tests.tiny_embedder import TinyEmbedder

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.cli

CHINESE = Texts(Language.zh)
CONVERSATION = [(user, reply) for user, reply in rows("meaning_option", "conversation")]
QUESTION = "Does a 馒头 need much rest?"
BY_SUBJECT = TinyEmbedder("by-subject")


@pytest.fixture
def chat(tmp_path: Path) -> str:
    return str(chat_file(tmp_path, CONVERSATION))


@pytest.fixture
def by_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    """``--meaning`` gives this file's embedder, which needs no extra."""
    from gatekeeper_cli import inspect, options

    for command in (options, inspect):
        monkeypatch.setattr(command, "meaning_encoder", lambda *, wanted: TextEncoder(BY_SUBJECT) if wanted else None)


def explained(embedder: Any) -> Any:
    gatekeeper = ContextGatekeeper(embedder=embedder)
    gatekeeper.sync(CONVERSATION)
    return gatekeeper.explain(QUESTION)


def test_a_turn_kept_for_its_meaning_is_said_to_be_in_both_languages() -> None:
    decision = explained(BY_SUBJECT).decision(0)
    assert (decision.outcome, decision.why, decision.shared) == ("kept", "meaning", ())
    cosine, need, odds = f"{decision.meaning:.2f}", f"{decision.need:.2f}", f"{dict(decision.signs)['meaning']:+.1f}"
    english = f"meaning {cosine}, no shared word; need {need}: similar in meaning {odds}"
    assert ENGLISH.why(decision) == english
    assert CHINESE.why(decision) == f"语义 {cosine}，没有共同的词；需要度 {need}：语义相近 {odds}"
    assert ENGLISH.reason(decision._replace(shared=("rest",))) == f"meaning {cosine}"
    assert f"it is kept ({english})" in why_not(decision, ENGLISH, query="")


@pytest.mark.usefixtures("by_subject")
@pytest.mark.parametrize("command", ["select", "explain"])
@pytest.mark.parametrize(
    ("lang", "why", "heard"), [("en", "meaning 0", "embedder: by-subject"), ("zh", "语义 0", "向量模型：by-subject")]
)
def test_the_terminal_shows_the_reason_and_who_was_heard(
    command: str, lang: str, why: str, heard: str, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = run(command, chat, QUESTION, "--meaning", "--lang", lang).stdout
    assert why in shown
    assert heard in shown
    without = run(command, chat, QUESTION, "--lang", lang).stdout
    assert why not in without
    assert heard not in without


@pytest.mark.usefixtures("by_subject")
def test_json_and_page_hold_the_cosine_and_the_embedder(chat: str, tmp_path: Path) -> None:
    value = json.loads(run("explain", chat, QUESTION, "--meaning", "--json").stdout)
    assert value["selection"]["embedder"] == "by-subject"
    (kept,) = (one for one in value["selection"]["decisions"] if one["turn_id"] == 0)
    assert (kept["why"], 0 < kept["meaning"] <= 1) == ("meaning", True)
    page = tmp_path / "page.html"
    run("explain", chat, QUESTION, "--meaning", "--html", str(page))
    assert re.search(r"meaning 0\.\d\d, no shared word", page.read_text(encoding="utf-8"))
    assert "by-subject" in page.read_text(encoding="utf-8")


@pytest.mark.usefixtures("by_subject")
@pytest.mark.parametrize("options", [(), ("--all",)], ids=["one", "all"])
def test_inspect_says_which_embedder_it_counts_with(options: tuple[str, ...], chat: str, tmp_path: Path) -> None:
    shown = run("inspect", chat, "--meaning", *options)
    assert (shown.exit_code, "embedder: by-subject" in shown.stdout) == (0, True)
    assert json.loads(run("inspect", chat, "--meaning", "--json", *options).stdout)["embedder"] == "by-subject"
    assert "embedder" not in json.loads(run("inspect", chat, "--json", *options).stdout)
    if not options:
        run("inspect", chat, "--meaning", "--html", str(tmp_path / "page.html"))
        assert "embedder: by-subject" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments", [("select", "{}", "q"), ("explain", "{}", "q"), ("inspect", "{}"), ("chat", "--offline")]
)
def test_without_the_extra_a_command_names_the_line_that_installs_it(
    arguments: tuple[str, ...], chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gatekeeper_meaning", None)
    result = run(*(part.format(chat) for part in arguments), "--meaning")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == 'gatekeeper: --meaning needs an extra: pip install "context-gatekeeper[cli,meaning]"\n'


class Screen(io.StringIO):
    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize(
    ("terminal", "seconds", "lines"),
    [(True, -1.0, 3), (True, 60.0, 0), (False, -1.0, 0)],
    ids=["long", "short", "no terminal"],
)
def test_long_reading_shows_at_a_terminal_how_far_it_is(
    terminal: bool, seconds: float, lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gatekeeper_cli import meaning

    monkeypatch.setattr(meaning, "_SILENT_SECONDS", seconds)
    monkeypatch.setattr(sys, "stderr", screen := Screen(terminal=terminal))
    monkeypatch.setenv("TERM", "xterm")
    texts = [f"text {number}" for number in range(150)]
    shown = meaning.ShownEncoder(BY_SUBJECT).encode(texts)
    assert shown == TextEncoder(BY_SUBJECT).encode(texts)
    written = screen.getvalue()
    assert written.count("\r") == lines
    if lines:
        assert "\rembedding: 64 of 150 texts" in written
        assert written.endswith("\r\x1b[K")


def test_the_three_nearest_in_meaning_are_near_misses() -> None:
    gatekeeper = ContextGatekeeper(embedder=BY_SUBJECT)
    gatekeeper.sync(
        [*((f"The loaf {word} again.", "Yes.") for word in ("barks", "digs", "jumps", "runs", "eats")), *CONVERSATION]
    )
    selection = gatekeeper.explain("New topic: what does a 馒头 cost in the shop of a town with many parks?")
    left_out = {one.meaning: one.turn_id for one in selection.decisions if one.outcome == "dropped"}
    assert len(left_out) > 3
    near = [decision.turn_id for decision in near_misses(selection) if not decision.kept_with]
    assert near == [left_out[cosine] for cosine in sorted(left_out, key=lambda cosine: -(cosine or 0.0))[:3]]
