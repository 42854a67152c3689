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
from gatekeeper_cli.texts import GATE_REASONS, TABLE, WHY_WORDS, Language, language_of, texts_for
from gatekeeper_core.selection.result import Outcome, Stage, Why
from gatekeeper_core.selection.topics import GateReason

ALL = {**TABLE, **GATE_REASONS, **WHY_WORDS}
FOLDER = Path(gatekeeper_cli.__file__).parent
MADE_UP = ("kind.", "outcome.", "score.", "stage.", "why.", "method.")


def placeholders(text: str) -> list[str]:
    return sorted(f"{name}:{spec}" for _, name, spec, _ in string.Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("name", ALL)
def test_a_text_has_the_same_values_in_both_languages(name: str) -> None:
    english, chinese = ALL[name]
    assert placeholders(english) == placeholders(chinese)
    assert english.strip()
    assert chinese.strip()
    assert not re.search("[\u4e00-\u9fff]", english)


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
