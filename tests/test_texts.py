"""Both languages of the command say the same things."""

from __future__ import annotations

import ast
import json
import os
import re
import string
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import gatekeeper_cli
from gatekeeper_cli.conversation import QUESTIONS
from gatekeeper_cli.explanation import why_not
from gatekeeper_cli.texts import TABLE, Language, language_of, texts_for
from gatekeeper_core.selection.planner import Reason, Stage, Why
from gatekeeper_core.selection.result import Decision, DecisionOutcome, Remedy
from gatekeeper_core.selection.topics import GateReason, Verdict
from tests.case_files import from_file, rows
from tests.command import run

KEPT_BECAUSE = {"evidence", "meaning", "newest_turn", "earlier_turn", "overview", "neighbour"}
FOLDER = Path(gatekeeper_cli.__file__).parent
MADE_UP = tuple(rows("texts", "made_up")[0][0])


def placeholders(text: str) -> list[str]:
    return sorted(f"{name}:{spec}" for _, name, spec, _ in string.Formatter().parse(text) if name is not None)


def test_a_text_has_the_same_values_in_both_languages() -> None:
    unequal = [
        name
        for name, (english, chinese) in TABLE.items()
        if placeholders(english) != placeholders(chinese)
        or not english.strip()
        or not chinese.strip()
        or re.search("[\u4e00-\u9fff]", english)
    ]
    assert unequal == []


def used_names() -> set[str]:
    """Return the texts that are named anywhere, in code and in templates."""
    found: set[str] = set()
    for path in [*FOLDER.rglob("*"), *(FOLDER.parent / "gatekeeper_serve").glob("*.py")]:
        if path.suffix == ".py" and path.name != "texts.py":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found |= {
                node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
        elif path.suffix == ".j2":
            found |= set(re.findall(r"""["']([a-z_.]+)["']""", path.read_text(encoding="utf-8")))
    return found


def test_no_text_is_left_over() -> None:
    named = {name for name in TABLE if not name.startswith(MADE_UP)}
    assert sorted(named - used_names()) == []


def test_every_word_of_the_library_has_both_languages() -> None:
    library = {"gate_reason": GateReason, "reason": Why, "outcome": DecisionOutcome, "stage": Stage}
    words = {prefix: typing.get_args(kind) for prefix, kind in library.items()}
    for prefix, those in (words | {"kind": [question.kind for question in QUESTIONS]}).items():
        assert {f"{prefix}.{word}" for word in those} == {name for name in TABLE if name.startswith(f"{prefix}.")}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_reason_to_leave_a_turn_out_has_a_sentence_of_its_own(lang: str) -> None:
    """Each dropped turn's word is one that ``why_not`` says in full, not the stopgap for words that are new."""
    texts = texts_for(Language(lang))
    dropped = set(typing.get_args(Why)) - KEPT_BECAUSE
    assert {name for name in TABLE if name.startswith("why.")} == {
        f"why.{name}" for name in {*dropped, "kept", "trimmed", "other"}
    }
    lines = [why_not(Decision(3, "dropped", Reason("cover", why), 0, 20), texts, query="") for why in sorted(dropped)]  # type: ignore[arg-type]
    assert len(set(lines)) == len(dropped)


NEEDED = Decision(3, "kept", Reason("cover", "evidence"), 0, 140, need=0.846, signs=(("score", 3.58), ("part", -0.2)))
LOW_NEED = Reason("cover", "low_need")
UNNEEDED = NEEDED._replace(outcome="dropped", reason=LOW_NEED, need=0.07, remedy=Remedy(coverage=0.97))


@pytest.mark.parametrize(
    ("decision", "english", "chinese"),
    [
        (NEEDED, "evidence; need 0.85: match +3.6", "有证据；需要度 0.85：匹配 +3.6"),
        (NEEDED._replace(signs=(("embedded", 0.9),)), "evidence; need 0.85", "有证据；需要度 0.85"),
        (NEEDED._replace(signs=(("score", 0.09),)), "evidence; need 0.85", "有证据；需要度 0.85"),
        (UNNEEDED, "not worth its 140 tokens; need 0.07", "不值 140 个 token；需要度 0.07"),
    ],
)
def test_a_decision_tells_the_need_and_what_speaks_for_it_most(decision: Decision, english: str, chinese: str) -> None:
    assert texts_for(Language.en).why(decision) == english
    assert texts_for(Language.zh).why(decision) == chinese


@pytest.mark.cli
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_answer_of_the_gate_is_said_in_words(lang: str) -> None:
    from gatekeeper_cli.explain import verdict_line

    texts = texts_for(Language(lang))
    resumed = Verdict("switch", "return", overlap=0.0, new_ratio=1.0, resumed_topic=0)
    answers = [Verdict(word, "overlap", overlap=0.5, new_ratio=0.1) for word in ("continue", "switch")]  # type: ignore[arg-type]
    lines = [verdict_line(verdict, texts).plain for verdict in (*answers, resumed)]
    assert len(set(lines)) == 3
    assert not any(word in line for line in lines for word in ("continue", "switch", "_", "overlap"))
    cue = verdict_line(Verdict("switch", "explicit_switch", overlap=0.0, new_ratio=1.0, cue="换个话题"), texts)
    assert "换个话题" in cue.plain


@from_file("environment", "system", "language")
def test_the_language_is_that_of_the_locale(environment: dict[str, str], system: str | None, language: str) -> None:
    assert language_of(environment, system).value == language


def test_a_language_that_is_asked_for_wins_over_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LANGUAGE", raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    assert texts_for(Language.auto).language is Language.zh
    assert texts_for(Language.en).language is Language.en


CHINESE = {"LC_ALL": "zh_CN.UTF-8", "LANGUAGE": ""}


@pytest.mark.cli
def test_help_is_in_chinese_where_the_locale_is() -> None:
    """Help is put together before any option is read: the locale is that of the process."""
    commands = ["", "demo", "select", "inspect", "explain", "convert", "chat", "store", "store forget", "mcp"]
    code = f"import json; from tests.command import run; print(json.dumps([run(*c.split(), '--help').stdout for c in {commands}]))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | CHINESE,
        cwd=Path(__file__).parents[1],
        capture_output=True,
        timeout=60,
        check=True,
    )
    for command, shown in zip(commands, json.loads(done.stdout), strict=True):
        own = [
            line
            for line in re.findall(r"^  (?!--help|--install|--show)(?:\S.*?  +)?(\S.*)$", shown, re.MULTILINE)
            if "Show this message" not in line and "customize" not in line
        ]
        assert own, command
        assert not [line for line in own if not re.search("[\u4e00-\u9fff]", line) and " " in line.strip("., ")]


@pytest.mark.cli
@from_file("arguments", "words")
def test_errors_are_in_chinese_where_the_locale_is(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chat.json").write_text("[]", encoding="utf-8")
    done = run(*arguments, **CHINESE)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"gatekeeper: {words}")
    assert done.stderr.count("\n") == 1
