"""Nanoseconds a character: the library's token estimate beside tiktoken, in English and in Chinese."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.corpus import generate_turns
from benchmarks.peers import NOT_INSTALLED
from benchmarks.report import SEED
from benchmarks.speed_methods import METHODS
from benchmarks.speed_worker import Worker, WorkerError

__all__ = ["LANGUAGES", "texts_of", "token_rows"]

LANGUAGES = {"en": "English", "zh": "Chinese"}
_CHARACTERS = 2_000
_CORPUS_TURNS = 2_000


def texts_of(language: str, count: int) -> list[str]:
    """Return so many texts of 2,000 characters in one language of the corpus."""
    turns = generate_turns(_CORPUS_TURNS, seed=SEED)
    whole = "\n".join(f"{turn.user}\n{turn.assistant}" for turn in turns if turn.language == language)
    step = (len(whole) - _CHARACTERS) // max(1, count)
    return [whole[at * step : at * step + _CHARACTERS] for at in range(count)]


def token_rows(rounds: int, *, ours_only: bool) -> list[dict[str, Any]]:
    """Return a row for each counter with the median CPU nanoseconds a character, the counters in turn."""
    rows = {name: {"method": name} for name in ("token estimate", *([] if ours_only else ["tiktoken cl100k"]))}
    workers = {name: Worker(METHODS[name]) for name in rows if not METHODS[name].missing}
    for language, title in LANGUAGES.items():
        times: dict[str, list[float]] = {name: [] for name in rows}
        for text in texts_of(language, rounds):
            for name, worker in workers.items():
                times[name] += _counted(worker, text)
        for name, row in rows.items():
            found = times[name]
            row[f"{title} ns a character"] = f"{statistics.median(found):.2f}" if found else NOT_INSTALLED
    for worker in workers.values():
        worker.end()
    return list(rows.values())


def _counted(worker: Worker, text: str) -> list[float]:
    """Return the nanoseconds a character of one count, or nothing where tiktoken has no table here."""
    try:
        return [worker.tell("ask", question=text)["cpu"] / _CHARACTERS]
    except WorkerError:
        return []
