"""The benchmark of the bill: its conversations, its account and its ways say what they claim."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks import cost
from benchmarks.cost_account import PRICE_SETS, Accountant, Prompt, Setting, Workbench
from benchmarks.cost_agents import PrefixCache, script
from benchmarks.cost_talks import Call, Talk
from benchmarks.cost_ways import WAYS
from benchmarks.talks import OWN, read_everyday
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.cache import PromptCache, Request, charge
from gatekeeper_core.pricing.prices import UNKNOWN
from gatekeeper_core.tokens import estimate_text_tokens

if TYPE_CHECKING:
    from pathlib import Path

    from gatekeeper_core.pricing.prices import ModelPrices

ANTHROPIC, OPENAI = PRICE_SETS["Anthropic"], PRICE_SETS["OpenAI .10"]
BY_NAME = {way.name: way for way in WAYS}
COMMAND = [sys.executable, "-m", "benchmarks.cost"]
OUTPUTS = [{"name": "log", "query": "why did the backup fail?", "text": "line of a log\n" * 900}]


def session(turns: int = 40, tokens: int = 120, language: str = "mixed", seed: int = 1) -> Talk:
    everyday = read_everyday(OWN)
    return cost.sessions(everyday, turns=turns, tokens=tokens, language=language, seed=seed, count=estimate_text_tokens)


def chat(*sizes: tuple[int, int], cold: frozenset[int] = frozenset()) -> Talk:
    """Return a chat whose questions and answers have so many words, that is so many tokens."""
    messages: list[Message] = []
    for at, (question, answer) in enumerate(sizes):
        messages += [Message("user", f"q{at} " * question), Message("assistant", f"a{at} " * answer)]
    calls = tuple(Call(2 * at + 1, cold=at in cold) for at in range(len(sizes)))
    return Talk("t", "session", "en", 0, str(len(sizes)), tuple(messages), calls)


def words(text: str) -> int:
    return len(text.split())


def dollars(talk: Talk, way: str, setting: Setting) -> list[float]:
    return Workbench(talk, words).accountant(BY_NAME[way], setting).dollars(setting)


def prompts(talk: Talk, way: str) -> list[Prompt]:
    setting = Setting(600, "warm", ANTHROPIC)
    return list(Workbench(talk, words).accountant(BY_NAME[way], setting).prompts)


# --- the account ------------------------------------------------------------------------------------------------------


def test_everything_pays_the_price_of_the_cache_for_all_but_what_is_new() -> None:
    talk = chat((10, 90), (20, 80), (30, 70))
    expected = [2010 * 3.75, 2010 * 0.3 + 110 * 3.75, 2120 * 0.3 + 110 * 3.75]
    paid = dollars(talk, "everything", Setting(2000, "warm", ANTHROPIC))
    assert paid == pytest.approx([each / 1e6 for each in expected])


def test_a_cold_call_writes_all_of_its_prompt_again() -> None:
    talk = chat((10, 90), (20, 80), (30, 70), cold=frozenset({1}))
    paid = dollars(talk, "everything", Setting(2000, "cold", ANTHROPIC))
    assert paid == pytest.approx([2010 * 3.75 / 1e6, 2120 * 3.75 / 1e6, (2120 * 0.3 + 110 * 3.75) / 1e6])


def test_an_automatic_cache_is_found_in_whole_steps() -> None:
    paid = dollars(chat((10, 90), (20, 80)), "everything", Setting(2000, "warm", OPENAI))
    assert paid == pytest.approx([2010 * 2 / 1e6, (1920 * 0.2 + 200 * 2) / 1e6])


def test_what_a_way_makes_necessary_is_paid_as_well() -> None:
    talk = chat((10, 90))
    sent = Prompt([(b"x", 10)], (), frozenset(), side=(1000, 100))
    paid = Accountant(talk, [sent]).dollars(Setting(600, "warm", ANTHROPIC))
    assert paid == pytest.approx([(610 * 3 + 1000 * 3 + 100 * 15) / 1e6])


def test_the_worst_ratio_is_that_of_a_beginning_of_four_calls_or_more() -> None:
    assert cost.worst_ratio([9, 1, 1, 1, 1], [1, 1, 1, 1, 1]) == (3.0, 1.0)
    assert cost.worst_ratio([1, 1, 1, 1, 2], [1, 1, 1, 1, 1]) == (1.2, 0.5)
    assert cost.worst_ratio([2, 1], [1, 1]) == (1.5, 1.0)


# --- the whole --------------------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for folder in ("everyday", "selection", "tool_results"):
        (tmp_path / folder).mkdir()
    shutil.copy(OWN, tmp_path / "everyday" / "everyday_dev.jsonl")
    (tmp_path / "tool_results" / "tool_outputs.jsonl").write_text(json.dumps(OUTPUTS[0]) + "\n")
    talks = []
    for name in ("c1", "c2", "c3"):
        turns = [
            {"id": f"D1:{at}", "session": 1, "date": "", "speaker": "Ann", "text": f"{name} fact {at}"}
            for at in range(60)
        ]
        questions = [{"question": "what is fact 4?", "answer": "fact 4", "evidence": ["D1:4"], "category": 1}]
        talks.append(json.dumps({"conv": name, "turns": turns, "qa": questions}))
    (tmp_path / "selection" / "locomo_dev.jsonl").write_text("\n".join(talks) + "\n")
    return tmp_path


def test_the_command_prints_tables_and_writes_figures_and_a_plot(data: Path) -> None:
    shape = ["--turns", "20", "--sizes", "210", "--fixed", "1500", "--prices", "Anthropic", "--caches", "warm"]
    written = ["--json", str(data / "cost.json"), "--plot", str(data / "cost.svg")]
    measured = ["--data", str(data), "--quick", "--corpora", "session", "locomo"]
    done = subprocess.run([*COMMAND, *measured, *shape, *written], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Anthropic, cache always warm" in done.stdout
    rows = json.loads((data / "cost.json").read_text(encoding="utf-8"))["tables"]["cost"]
    everything = [row for row in rows if row["way"] == "everything"]
    assert {row["corpus"] for row in everything} == {"session", "locomo"}
    assert all(row["ratio"] == 1.0 and row["needed"] == 100.0 for row in everything)
    assert "cache" in (data / "cost.svg").read_text(encoding="utf-8")


# --- random agents ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prices", [*PRICE_SETS.values(), UNKNOWN])
def test_two_models_of_a_cache_charge_the_same(prices: ModelPrices) -> None:
    for seed in range(20):
        ours, theirs = PrefixCache(prices), PromptCache()
        for _, messages, now, step in script(seed):
            pieces = [(b"fixed", 600), *((repr(each).encode(), 7 + len(each.text) // 4) for each in messages)]
            marks = (0, len(messages) - step % 2, len(messages))
            usage, theirs = charge(theirs, Request(pieces, marks), now=now, prices=prices)
            assert ours.dollars(pieces, marks, now=now) == pytest.approx(prices.dollars(usage))


def test_the_command_shows_each_call_of_one_agent_and_writes_the_figures(tmp_path: Path) -> None:
    agents = ["--agents", "1", "--seed", "3", "--json", str(tmp_path / "a.json")]
    done = subprocess.run([*COMMAND, *agents], capture_output=True, text=True, check=False)
    tables = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["tables"]
    assert done.returncode == bool(tables["over"]), done.stderr
    assert len(tables["calls"]) == tables["models"][0]["calls"] == len(list(script(3)))
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    assert (done.returncode, "--data is needed" in done.stderr) == (2, True)
