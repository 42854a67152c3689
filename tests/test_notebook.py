"""Values as tables for notebooks: small, escaped, without script, whatever the conversation holds."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.result import BuiltContext
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.result import SelectedTurn, Selection
from gatekeeper_core.selection.settings import GatekeeperConfig
from tests.conversations import HOSTILE, PAIRS, QUESTIONS
from tests.talks import talk

TAGS = {"table", "caption", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {"scope", "align", "dir", "colspan"}
LIMIT_BYTES = 200_000


class Table(HTMLParser):
    """The rows of a table and everything else that is in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.rows: list[list[str]] = []
        self.caption = ""
        self._where = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._where = tag
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self._where == "caption":
            self.caption += data
        else:
            self.rows[-1][-1] += data


def shown(value: Any) -> Table:
    html = value._repr_html_()
    html.encode()
    assert len(html.encode()) < LIMIT_BYTES
    table = Table(html)
    assert table.tags == TAGS
    assert table.attributes <= ATTRIBUTES
    return table


def selection(pairs: list[tuple[str, str]], query: str, **settings: Any) -> Selection:
    gatekeeper = ContextGatekeeper(settings.pop("budget", 4000), config=GatekeeperConfig(**settings))
    gatekeeper.sync(pairs)
    return gatekeeper.explain(query)


def built(pairs: list[tuple[str, str]], prompt: str) -> BuiltContext:
    return ContextBuilder().build(Thread("t", tuple(talk(pairs))), prompt, "Be brief.")


@pytest.mark.parametrize("language", PAIRS)
def test_a_selection_shows_its_figures_and_a_row_for_each_kept_turn(language: str) -> None:
    chosen = selection(PAIRS[language], QUESTIONS[language])
    table = shown(chosen)
    assert table.caption.startswith(
        f"{len(chosen.turns)} of 5 turns, {chosen.tokens} of {chosen.history_tokens} tokens"
    )
    assert len(table.rows) == 1 + len(chosen.turns)
    for row, turn in zip(table.rows[1:], chosen.turns, strict=True):
        decision = chosen.decision(turn.turn_id)
        assert row[:4] == [str(turn.turn_id), str(turn.tokens), "whole", decision.why]
        assert row[4:] == [", ".join(decision.shared), turn.user, turn.assistant]


@pytest.mark.parametrize("language", PAIRS)
def test_a_built_context_shows_a_row_for_each_message_and_its_part(language: str) -> None:
    context = built(PAIRS[language], QUESTIONS[language])
    table = shown(context)
    assert table.caption.startswith(f"{len(context.messages)} messages, {context.token_stats.total:,} of ")
    assert [row[0] for row in table.rows[1:]] == [part.part for part in context.trace.parts]
    assert [row[2] for row in table.rows[1:]] == [message.role for message in context.messages]
    assert QUESTIONS[language] in [row[4] for row in table.rows]


@given(text=st.text(st.characters(codec=None), max_size=80) | st.just(HOSTILE))
def test_any_text_is_text(text: str) -> None:
    for value in (selection([(f"port {text}", text)], f"port {text}"), built([(f"port {text}", text)], f"q {text}")):
        shown(value)
        assert not re.search(
            "[\x00-\x08\x0e-\x1f\u202a-\u202e\u2066-\u206f\ud800-\udfff\U000e0000-\U000e007f]", value._repr_html_()
        )


def test_a_thousand_turns_are_a_hundred_rows_and_a_number() -> None:
    kept = tuple(SelectedTurn(0, "&<>'\"" * 100, "端口" * 200, at, False) for at in range(1000))
    table = shown(replace(selection(PAIRS["mixed"], "port"), turns=kept))
    assert len(table.rows) == 102
    assert table.rows[51] == ["… 900 more"]
    assert [row[1] for row in (table.rows[1], table.rows[50], table.rows[52], table.rows[-1])] == [
        "0",
        "49",
        "950",
        "999",
    ]
