"""The options by name of every adapter: they win over the settings, and what cannot be is refused."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.llms.mock import MockLLM

from gatekeeper_core import ContextBuilder, HistoryConfig, RunConfig
from gatekeeper_core.errors import ConfigError
from langchain_gatekeeper import GatekeeperChatMemory, GatekeeperMiddleware, GatekeeperSelector, select_messages
from llama_index.memory.gatekeeper import GatekeeperMemory, GatekeeperMemoryBlock, GatekeeperMemoryBuffer
from tests.adapters.chats import assistant, history_of, user
from tests.adapters.doors import now

LANGCHAIN: tuple[Any, ...] = (GatekeeperSelector, GatekeeperMiddleware, GatekeeperChatMemory)
MEMORIES: tuple[Any, ...] = (GatekeeperMemoryBuffer.from_defaults, GatekeeperMemory.from_defaults)
EVERY: tuple[Any, ...] = (*LANGCHAIN, *MEMORIES, GatekeeperMemoryBlock)
WINDOW = HistoryConfig(strategy="window", coverage=0.1, keep_newest=3)


@pytest.mark.parametrize("door", EVERY)
def test_an_option_by_name_wins_over_the_config_and_the_others_stay(door: Any) -> None:
    config = door(config=WINDOW, keep_newest=1, token_budget=77)._current_selector().config
    assert (config.strategy, config.coverage, config.keep_newest, config.token_budget)[1:] == (0.1, 1, 77)
    assert config.strategy == ("gate" if door is GatekeeperMemoryBlock else "window")
    config = door(config=WINDOW, strategy="cache", coverage=0.9)._current_selector().config
    assert (config.coverage, config.keep_newest, config.token_budget or 16_000) == (0.9, 3, 16_000)
    assert config.strategy == ("gate" if door is GatekeeperMemoryBlock else "cache")


REFUSED: list[tuple[dict[str, Any], str, tuple[Any, ...]]] = [
    ({"strategy": "thrifty"}, "'gate', 'fill', 'cache' or 'window'|\"gate\", \"fill\"", EVERY),
    ({"coverage": 1.5}, r"HistoryConfig\.coverage", EVERY),
    ({"keep_newest": -1}, r"HistoryConfig\.keep_newest", EVERY),
    ({"config": 9}, "HistoryConfig|config", EVERY),
    ({"embedder": "e5"}, "embedder must be callable, got str", EVERY),
    ({"nonsense": 1}, "nonsense", (*LANGCHAIN, *MEMORIES)),
    ({"clock": len}, "clock", (*LANGCHAIN, *MEMORIES)),
    ({"pinned": 3}, "pinned must be a list of positions", EVERY),
    ({"exclude": [-1]}, "exclude must count positions from the start", EVERY),
    ({"pinned": ["m1"]}, "pinned must contain positions .* a ChatMessage has no id", EVERY[3:]),
    ({"config": HistoryConfig(reserve_tokens=50), "token_budget": 50}, "reserve_tokens is 50", EVERY),
    ({"config": HistoryConfig(run=RunConfig(keep_recent_rounds=1))}, r"HistoryConfig\.run", (*EVERY[:1], *EVERY[2:])),
    ({"config": HistoryConfig(token_budget=77), "token_budget": 50}, "set the budget only once", EVERY[3:]),
    ({"token_budget": 0}, r"token_budget must be (1 or more|at least 1), got 0", EVERY),
    ({"token_limit": -1}, "token_limit must be at least 1, got -1", MEMORIES),
    ({"token_limit": "3"}, "token_limit must be an int, got str", MEMORIES),
    ({"token_limit": 9, "token_budget": 77}, "token_limit is 9, token_budget is 77", MEMORIES),
    ({"builder": 3}, "builder|total_budget|config", (GatekeeperMiddleware, *MEMORIES)),
    ({"builder": ContextBuilder(), "pinned": [0]}, "pinned: a builder", (GatekeeperMiddleware, *MEMORIES)),
    ({"builder": ContextBuilder(), "exclude": len}, "exclude: a builder", (GatekeeperMiddleware, *MEMORIES)),
    ({"builder": ContextBuilder(), "embedder": len}, "embedder: the builder has", (GatekeeperMiddleware, *MEMORIES)),
    ({"builder": ContextBuilder(), "strategy": "fill"}, "strategy: the builder has", (GatekeeperMiddleware, *MEMORIES)),
    ({"k": 5, "keep_newest": 2}, "k is 5 and keep_newest is 2", (GatekeeperChatMemory,)),
]


@pytest.mark.parametrize(
    ("door", "options", "named"), [(door, options, named) for options, named, doors in REFUSED for door in doors]
)
def test_an_option_that_cannot_be_is_refused_by_its_name(door: Any, options: dict[str, Any], named: str) -> None:
    with pytest.raises((ConfigError, TypeError, ValueError, AttributeError), match=named):
        door(**options)


def test_the_function_takes_the_same_options_and_no_others() -> None:
    assert [one.text for one in select_messages(["a", ("ai", "b"), "c"], strategy="window", keep_newest=0)] == ["c"]
    for options in ({"states": None}, {"clock": len}):
        with pytest.raises(TypeError, match="has no argument"):
            select_messages(["hi"], **options)


class Windowed(MockLLM):
    """A model that says how much it reads, or LlamaIndex's placeholder for that."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=self.max_tokens or 0, model_name="gpt-4")


@pytest.mark.parametrize("door", MEMORIES)
def test_a_memory_without_a_limit_has_that_of_its_model_or_a_guess_that_is_logged(
    door: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert [door(llm=Windowed(max_tokens=window)).token_limit for window in (1000, 3900)] == [750, 6144]
    assert door(config=HistoryConfig(token_budget=77)).token_limit == door(token_budget=77).token_limit == 77
    assert caplog.records == []
    assert door().token_limit == 16_000
    warning = "the model's window is unknown: the budget is 16,000 tokens; set token_limit"
    assert [record.getMessage() for record in caplog.records] == [warning]


@pytest.mark.parametrize("model", ["gpt-4", None])
@pytest.mark.parametrize("door", [GatekeeperSelector, GatekeeperChatMemory])
def test_a_chain_without_a_budget_has_that_of_its_model_or_a_guess_that_is_logged_once(
    door: Any, model: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    gate = door(model=model)
    for _ in range(2):
        gate.invoke(["hi"]) if door is GatekeeperSelector else gate.load_memory_variables({"input": "hi"})
    assert gate.last_selection.budget_tokens == (6144 if model else 16_000)
    assert sum("window is unknown" in record.getMessage() for record in caplog.records) == (model is None)


# --- the block ------------------------------------------------------------------------------------------------------


def recalled(*pairs: tuple[str, str], active: Any = (), **options: Any) -> str:
    block = GatekeeperMemoryBlock(**{"config": HistoryConfig(passthrough_below=0, on_error="raise")} | options)
    now(block.aput(history_of(pairs), from_short_term_memory=True, session_id="s"))
    return str(now(block.aget([*active, user("Which port does the staging Redis listen on?")], session_id="s")))


PORT, BREAD = ("The staging Redis listens on port 6380.", "Noted."), ("换个话题：面包要发酵多久？", "十二个小时。")


def test_pinned_and_excluded_messages_of_the_archive() -> None:
    assert "十二个小时" not in recalled(PORT, BREAD)
    for pinned in ([2], lambda message: "面包" in message.content):
        text = recalled(PORT, BREAD, pinned=pinned)
        assert all(part in text for part in (*PORT, *BREAD))
    assert recalled(BREAD, PORT, exclude=lambda message: "6380" in message.content) == ""
    assert f"user: {PORT[0]}\nassistant: {PORT[1]}\n" in recalled(BREAD, PORT, exclude=[0])


def test_of_a_turn_that_is_partly_active_the_archived_part_comes_back() -> None:
    active = [assistant("It is staging, to be exact."), *history_of([("New topic: hats?", "Felt.")])]
    text = recalled(BREAD, PORT, active=active, exclude=[0], pinned=lambda one: "staging" in one.content)
    assert f"user: {PORT[0]}\nassistant: {PORT[1]}\n" in text
    assert "to be exact" not in text
    assert recalled(BREAD, PORT, active=active, exclude=[4]) == "", "the active part is of the turn"


def test_the_budget_of_a_block_is_its_own() -> None:
    assert "6380" in recalled(PORT, token_budget=100)
    assert recalled(PORT, token_budget=10) == ""


def test_a_middleware_shows_the_settings_that_decide_what_is_sent() -> None:
    shown = repr(GatekeeperMiddleware(HistoryConfig(shadow=True), strategy="cache"))
    assert shown == "GatekeeperMiddleware(strategy='cache', shadow=True, builds=False)"
