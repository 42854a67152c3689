"""``assert_keeps`` and the plugin for pytest, in real runs of pytest."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from gatekeeper_core.messages import Message
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_eval import assert_keeps
from tests.eval.chats import PORTS, chat

pytest_plugins = ("pytester",)

QUESTIONS = {
    "english": "Which port does our Redis cache use?",
    "chinese": "我们的 Redis 缓存用哪个端口？",
    "mixed": "Redis cache 用哪个 port？",
}
INSTALLED = [entry for entry in entry_points(group="pytest11") if entry.name == "gatekeeper_eval"]
PLUGIN = [] if INSTALLED else ["-p", "gatekeeper_eval.pytest_plugin"]
"""In a checkout that was installed before there was a plugin nobody tells pytest of it."""


@pytest.mark.parametrize("script", PORTS)
def test_a_turn_that_is_sent_is_kept(script: str, tmp_path: Path) -> None:
    talk: list[dict[str, Any]] = list(chat("Better", script))[:4]
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(talk, ensure_ascii=False), encoding="utf-8")
    gatekeeper = ContextGatekeeper(4000)
    gatekeeper.add_turn(talk[0]["content"], talk[1]["content"])
    gatekeeper.add_turn(talk[2]["content"], talk[3]["content"])
    for given in (talk, [Message.from_dict(message) for message in talk], file, str(file), gatekeeper):
        for turn in (0, -2, "6380"):
            assert [kept.turn_id for kept in assert_keeps(given, QUESTIONS[script], turn).turns] == [0]


@pytest.mark.parametrize("script", PORTS)
def test_a_turn_that_is_not_sent_fails_with_what_is_sent_instead_and_why(script: str) -> None:
    with pytest.raises(AssertionError) as raised:
        assert_keeps(chat("Better", script)[:4], QUESTIONS[script], 1)
    lines = str(raised.value).splitlines()
    assert lines[0] == f"turn 1 is not sent with {QUESTIONS[script]!r}"
    assert lines[1].startswith("  turn 1: ")
    assert lines[2].startswith("    Different topic")
    assert lines[3].startswith("sent instead: 1 of 2 turns, ")
    assert "tokens of a budget of 4000; topic: " in lines[3]
    assert lines[4].startswith("  turn 0: evidence: ")
    assert ", need 0." in lines[4]
    assert PORTS[script][0] in lines[5]


def test_the_message_says_what_would_have_kept_it() -> None:
    with pytest.raises(AssertionError, match=r"a question that mentions .* would keep it"):
        assert_keeps(chat("Better")[:4], "Which port does our Redis cache use?", "sourdough")
    with pytest.raises(AssertionError, match=r"no room in the budget; a budget of \d+ tokens would keep it"):
        assert_keeps(
            chat("Better")[:4], "How is sourdough bread baked?", 1, token_budget=12, config=GatekeeperConfig(trim=False)
        )


def test_a_text_that_is_cut_out_of_a_kept_turn_is_not_kept() -> None:
    filler = " ".join(f"Note {at}: the garden has {at} trees." for at in range(120))
    talk = [
        {"role": "user", "content": "Tell me about the Redis port and the garden."},
        {"role": "assistant", "content": f"Redis listens on port 6380. {filler} The gate code is 4711."},
    ]
    assert_keeps(talk, "Which port does Redis listen on?", "6380", token_budget=60)
    with pytest.raises(AssertionError, match="turn 0: kept, but cut to other sentences"):
        assert_keeps(talk, "Which port does Redis listen on?", "4711", token_budget=60)


def test_wrong_arguments_are_errors_not_failures() -> None:
    talk = chat("Better")[:4]
    with pytest.raises(ValueError, match="no turn of the chat contains 'Lisbon'"):
        assert_keeps(talk, "?", "Lisbon")
    with pytest.raises(IndexError):
        assert_keeps(talk, "?", 2)
    with pytest.raises(TypeError, match="a gatekeeper has its own budget"):
        assert_keeps(ContextGatekeeper(), "?", 0, token_budget=3)


TEST_FILE = """
import json
from pathlib import Path

TALK = json.loads(Path(__file__).with_name("talk.json").read_text(encoding="utf-8"))

def test_the_port_is_remembered(gatekeeper_eval):
    gatekeeper_eval.assert_keeps(TALK, "Which port does our Redis cache use?", "6380")

def test_the_bread_is_not(gatekeeper_eval):
    gatekeeper_eval.assert_keeps(TALK, "Which port does our Redis cache use?", "sourdough", token_budget=900)
"""


def test_the_fixture_pins_what_must_be_kept_and_shows_why_not(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("talk.json").write_text(json.dumps(chat("Better")[:4]), encoding="utf-8")
    pytester.makepyfile(TEST_FILE)
    result = pytester.runpytest_subprocess(*PLUGIN, "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError: no turn with 'sourdough' is sent with 'Which port does our Redis cache use?'",
            "E*turn 1: *",
            "E*sent instead: 1 of 2 turns, * tokens of a budget of 900; topic: *",
            "E*turn 0: evidence: *",
        ]
    )
    assert "keeping.py" not in result.stdout.str()  # the caller's line is shown, not ours


def test_where_it_is_not_used_nothing_of_the_library_is_loaded(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_loaded():
            ours = [name for name in sys.modules if name.startswith("gatekeeper_")]
            assert sorted(ours) == ["gatekeeper_eval", "gatekeeper_eval.pytest_plugin"]
        """
    )
    pytester.runpytest_subprocess(*PLUGIN, "-W", "error", "-p", "no:cacheprovider").assert_outcomes(passed=1)
