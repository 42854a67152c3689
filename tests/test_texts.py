"""Both languages of the command say the same things."""

from __future__ import annotations

import ast
import re
import string
import typing
from pathlib import Path

import pytest

import gatekeeper_cli
from gatekeeper_cli.conversation import QuestionKind
from gatekeeper_cli.explanation import why_not
from gatekeeper_cli.texts import GATE_REASONS, TABLE, WHY_WORDS, Language, language_of, texts_for
from gatekeeper_core.selection.result import Decision, Outcome, Stage, Why
from gatekeeper_core.selection.verdicts import GateReason, Verdict

ALL = {**TABLE, **GATE_REASONS, **WHY_WORDS}
KEPT_BECAUSE = {"evidence", "newest_turn", "earlier_turn", "later_turn", "overview", "neighbour"}
FOLDER = Path(gatekeeper_cli.__file__).parent
MADE_UP = ("gate.", "kind.", "outcome.", "score.", "stage.", "why.", "method.")


def placeholders(text: str) -> list[str]:
    return sorted(f"{name}:{spec}" for _, name, spec, _ in string.Formatter().parse(text) if name is not None)


def test_a_text_has_the_same_values_in_both_languages() -> None:
    unequal = [
        name
        for name, (english, chinese) in ALL.items()
        if placeholders(english) != placeholders(chinese)
        or not english.strip()
        or not chinese.strip()
        or re.search("[\u4e00-\u9fff]", english)
    ]
    assert unequal == []


def used_names() -> set[str]:
    """Return the texts that are named anywhere, in code and in templates."""
    found: set[str] = set()
    for path in FOLDER.rglob("*"):
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
    assert set(GATE_REASONS) == set(typing.get_args(GateReason))
    assert set(WHY_WORDS) == set(typing.get_args(Why))
    for prefix, words in (("kind", QuestionKind), ("outcome", Outcome), ("stage", Stage)):
        assert {f"{prefix}.{word}" for word in typing.get_args(words)} == {
            name for name in TABLE if name.startswith(f"{prefix}.")
        }


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_reason_to_leave_a_turn_out_has_a_sentence_of_its_own(lang: str) -> None:
    """Each dropped turn's word is one that ``why_not`` says in full, not the stopgap for words that are new."""
    texts = texts_for(Language(lang))
    dropped = set(typing.get_args(Why)) - KEPT_BECAUSE
    assert {name for name in TABLE if name.startswith("why.")} == {
        f"why.{name}" for name in {*dropped, "kept", "trimmed", "other"}
    }
    said = [why_not(Decision(3, "dropped", "cover", why, 0, 20), texts) for why in sorted(dropped)]  # type: ignore[arg-type]
    assert len(set(said)) == len(dropped)


@pytest.mark.cli
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_answer_of_the_gate_is_said_in_words(lang: str) -> None:
    from gatekeeper_cli.views import verdict_line

    texts = texts_for(Language(lang))
    resumed = Verdict("switch", "return", overlap=0.0, new_ratio=1.0, resumed_topic=0)
    answers = [Verdict(word, "overlap", overlap=0.5, new_ratio=0.1) for word in ("continue", "switch")]  # type: ignore[arg-type]
    lines = [verdict_line(verdict, texts).plain for verdict in (*answers, resumed)]
    assert len(set(lines)) == 3
    assert not any(word in line for line in lines for word in ("continue", "switch", "_", "overlap"))
    cue = verdict_line(Verdict("switch", "explicit_switch", overlap=0.0, new_ratio=1.0, cue="换个话题"), texts)
    assert "换个话题" in cue.plain


@pytest.mark.parametrize(
    ("key", "values", "text"),
    [
        ("inspect_heading", {"turns": 1, "tokens": 1, "topics": 1}, "1 turn, 1 token, 1 topic"),
        ("inspect_heading", {"turns": 11, "tokens": 1_001, "topics": 0}, "11 turns, 1,001 tokens, 0 topics"),
        ("more_anchors", {"count": 1}, "and 1 more anchor (--json has all)"),
        ("more_topics", {"topics": 1, "turns": 21}, "and 1 smaller topic with 21 turns (--json has all)"),
    ],
)
def test_one_of_a_thing_is_said_in_the_singular(key: str, values: dict[str, int], text: str) -> None:
    assert texts_for(Language.en)(key, **values) == text


@pytest.mark.parametrize(
    ("environment", "system", "language"),
    [
        ({}, None, "en"),
        ({}, "zh_CN", "zh"),
        ({}, "Chinese (Simplified)_China", "zh"),
        ({"LANG": "zh_CN.UTF-8"}, None, "zh"),
        ({"LANG": "zh"}, "en_US", "zh"),
        ({"LANG": "de_DE.UTF-8"}, "zh_CN", "en"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, None, "en"),
        ({"LC_ALL": "C.UTF-8", "LANGUAGE": "zh"}, None, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_TW.UTF-8", "LANG": "en_US"}, None, "zh"),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "zh_CN:en"}, None, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "en"}, None, "en"),
    ],
)
def test_the_language_is_that_of_the_locale(environment: dict[str, str], system: str | None, language: str) -> None:
    assert language_of(environment, system).value == language


def test_a_language_that_is_asked_for_wins_over_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LANGUAGE", raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    assert texts_for(Language.auto).language is Language.zh
    assert texts_for(Language.en).language is Language.en
