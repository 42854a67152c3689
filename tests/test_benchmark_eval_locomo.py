"""LoCoMo's questions by way of a scripted model on loopback, and what is said where there is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.eval_locomo import main
from tests.chat.server import API_KEY, MiniMaxServer

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.chat


@pytest.fixture
def data(tmp_path: Path) -> Path:
    texts = [
        "My birthday is on 3 May.",
        *(f"Today I walked {at} kilometres through the hills and saw {at} herons." for at in range(59)),
    ]
    turns = [
        {"id": f"D1:{at}", "session": 1, "date": "1:56 pm on 8 May, 2023", "speaker": "AB"[at % 2], "text": text}
        for at, text in enumerate(texts)
    ]
    question = {"question": "When is the birthday of A?", "answer": "3 May", "evidence": ["D1:0"], "category": 4}
    (tmp_path / "selection").mkdir()
    (tmp_path / "selection" / "locomo_dev.jsonl").write_text(
        json.dumps({"conv": "1", "turns": turns, "qa": [question]})
    )
    return tmp_path


def answer(body: dict[str, Any]) -> str:
    return "VERDICT: EQUAL" if body["messages"][0]["role"] == "system" else f"On 3 May, of {len(body['messages'])}."


def test_questions_are_answered_in_both_ways_and_held_against_the_known_answers(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVAL_KEY", API_KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with MiniMaxServer(answer) as server:
        options = ["--data", str(data), "--base-url", server.base_url, "--model", "m"]
        options += ["--ledger", str(tmp_path / "ledger.jsonl"), "--json", str(tmp_path / "figures.json")]
        assert main(options) == 2
        assert server.requests == []
        assert main([*options, "--yes"]) == 0
        assert len(server.requests) == 4
    assert "nothing was sent" in capsys.readouterr().err
    tables = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["tables"]
    assert [(row["outcome"], row["hits"]) for row in tables["the selection against everything"]] == [
        ("better", 0),
        ("equal", 1),
        ("worse", 0),
    ]
    assert [row["F1"] for row in tables["answers"]] == [pytest.approx(4 / 7)] * 2
    assert tables["answers"][1]["tokens read"] < tables["answers"][0]["tokens read"] / 5
