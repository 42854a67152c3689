"""Each benchmark on given data runs as a command: on a handful of texts, it fills its tables."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.data import TOPIC_SETS
from benchmarks.talks import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TURNS = (("How do I bake rye bread?", "Feed the sourdough."), ("去青岛的船几点开？", "中午十二点。"))
TOKENIZERS = ("cl100k", "o200k", "qwen", "deepseek", "llama3", "tekken")


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    (folder / "everyday").mkdir()
    shutil.copy(OWN, folder / "everyday" / "everyday_dev.jsonl")
    turns = [
        {"id": f"D1:{at}", "session": 1, "date": "", "speaker": "Ann", "text": f"Fact {at} is about {word}."}
        for at, word in enumerate(("bread", "ferries", "guitars", "tea") * 5)
    ]
    question = {"question": "What is fact 4 about?", "answer": "bread", "evidence": ["D1:4"], "category": 1}
    write(folder / "selection" / "locomo_dev.jsonl", [{"conv": "1", "turns": turns, "qa": [question]}])
    utterances = [
        {"role": role, "text": text, "shift": at == 1 and role == "user"}
        for at, turn in enumerate(TURNS)
        for role, text in zip(("user", "assistant"), turn, strict=True)
    ]
    for each in TOPIC_SETS:
        write(folder / "topics" / each.file, [{"id": str(at), "utts": utterances} for at in range(3)])
    write(folder / "memory" / "madial_zh_memories.jsonl", [{"user": "1", "id": "a", "event": "在海边放风筝"}])
    query = {"user": "1", "context": [["User", "今天风大，可以放风筝"]], "gold": ["a"]}
    write(folder / "memory" / "madial_zh_queries_dev.jsonl", [query])
    needle = {"kind": "error", "s": "disk full"}
    results = {
        "log": "all is well\n" * 900 + "ERROR disk full",
        "json": json.dumps([{"id": 1, "state": "disk full"}] * 400),
    }
    outputs = [
        {"name": kind, "kind": kind, "query": "?", "text": text, "needles": [needle]} for kind, text in results.items()
    ]
    write(folder / "tool_results" / "tool_outputs.jsonl", outputs)
    kinds = {"en": "How do I fix the cache? ", "zh": "缓存怎么解决？", "num": "12,345.6;\n"}
    texts = [
        {"domain": kind, "source": str(at % 2), "text": text * at, "tokens": dict.fromkeys(TOKENIZERS, 6 * at)}
        for kind, text in kinds.items()
        for at in range(1, 9)
    ]
    for name in ("segments_train", "hard"):
        write(folder / "tokens" / f"{name}.jsonl.gz", texts)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "agent_loop --rounds 8",
        "builder",
        "histories",
        "long_term_memory",
        "long_term_memory --thresholds",
        "selection",
        "speed_builds --sizes 20,300 --rounds 3",
        "summaries",
        "tool_results --rounds 1",
        "topics",
        pytest.param("tokens", marks=pytest.mark.adapters),
        pytest.param("long_answers --talks 2", marks=pytest.mark.adapters),
    ],
)
def test_the_command_fills_its_tables(
    command: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *options = command.split()
    data_options = [] if name in ("long_answers", "speed_builds") else ["--data", str(data), "--quick", "--ours-only"]
    written = tmp_path / "figures.json"
    monkeypatch.setattr(sys, "argv", [name, *data_options, *options, "--json", str(written)])
    import_module(f"benchmarks.{name}").main()
    tables = json.loads(written.read_text(encoding="utf-8"))["tables"]
    assert tables
    assert {title: len(rows) for title, rows in tables.items() if not rows} == {}
    assert next(iter(tables)) in capsys.readouterr().out
