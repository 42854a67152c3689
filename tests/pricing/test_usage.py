"""What providers and frameworks report of a call, read as one usage."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.pricing.usage import Usage, read_usage

REPORTS: dict[str, tuple[dict[str, Any], Usage]] = {
    "OpenAI chat": (
        {
            "prompt_tokens": 2006,
            "completion_tokens": 300,
            "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 20},
        },
        Usage(2006, 300, 1920),
    ),
    "OpenAI responses": (
        {
            "input_tokens": 1500,
            "output_tokens": 100,
            "total_tokens": 1600,
            "input_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 200},
            "output_tokens_details": {"reasoning_tokens": 80},
        },
        Usage(1500, 100, 1000, 200),
    ),
    "Anthropic": (
        {
            "input_tokens": 50,
            "cache_creation_input_tokens": 248,
            "cache_read_input_tokens": 1800,
            "cache_creation": {"ephemeral_5m_input_tokens": 148, "ephemeral_1h_input_tokens": 100},
            "output_tokens": 503,
            "service_tier": "standard",
        },
        Usage(2098, 503, 1800, 248),
    ),
    "Anthropic, nothing new": (
        {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 900, "output_tokens": 1},
        Usage(900, 1, 900),
    ),
    "Anthropic, no cache": (
        {"input_tokens": 50, "cache_creation_input_tokens": None, "cache_read_input_tokens": None, "output_tokens": 3},
        Usage(50, 3),
    ),
    "Anthropic, more fresh than cached": (
        {"input_tokens": 5000, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 1000, "output_tokens": 1},
        Usage(6000, 1, 1000),
    ),
    "Anthropic, by lifetime only": (
        {"input_tokens": 900, "output_tokens": 1, "cache_creation": {"ephemeral_1h_input_tokens": 800}},
        Usage(900, 1, 0, 800),
    ),
    "Bedrock, only written": (
        {"inputTokens": 900, "outputTokens": 5, "cacheWriteInputTokens": 800},
        Usage(1700, 5, 0, 800),
    ),
    "Bedrock": (
        {
            "inputTokens": 7,
            "outputTokens": 5,
            "totalTokens": 32,
            "cacheReadInputTokens": 12,
            "cacheWriteInputTokens": 8,
        },
        Usage(27, 5, 12, 8),
    ),
    "Gemini": (
        {
            "promptTokenCount": 5000,
            "cachedContentTokenCount": 4096,
            "candidatesTokenCount": 90,
            "thoughtsTokenCount": 10,
            "totalTokenCount": 5100,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 5000}],
        },
        Usage(5000, 100, 4096),
    ),
    "Gemini, with what a tool read": (
        {"prompt_token_count": 5000, "tool_use_prompt_token_count": 40, "candidates_token_count": 90},
        Usage(5040, 90),
    ),
    "Gemini Interactions": (
        {"total_input_tokens": 50, "total_output_tokens": 5, "total_thought_tokens": 2, "total_cached_tokens": 9},
        Usage(50, 7, 9),
    ),
    "Gemini CLI": ({"input": 40, "output": 3, "cached": 30, "thoughts": 2, "tool": 1, "total": 46}, Usage(41, 5, 30)),
    "DeepSeek": (
        {
            "prompt_tokens": 200,
            "completion_tokens": 9,
            "prompt_cache_hit_tokens": 128,
            "prompt_cache_miss_tokens": 72,
        },
        Usage(200, 9, 128),
    ),
    "MiniMax": (
        {"total_tokens": 120, "total_characters": 0, "prompt_tokens": 100, "completion_tokens": 20},
        Usage(100, 20),
    ),
    "LangChain": (
        {
            "input_tokens": 350,
            "output_tokens": 240,
            "total_tokens": 590,
            "input_token_details": {"audio": 10, "cache_creation": 200, "cache_read": 100},
        },
        Usage(350, 240, 100, 200),
    ),
    "LangChain, by lifetime": (
        {
            "input_tokens": 350,
            "output_tokens": 240,
            "input_token_details": {
                "cache_creation": 0,
                "cache_read": 100,
                "ephemeral_5m_input_tokens": 150,
                "ephemeral_1h_input_tokens": 50,
            },
        },
        Usage(350, 240, 100, 200),
    ),
    "LiteLLM of Anthropic": (
        {
            "prompt_tokens": 2098,
            "completion_tokens": 503,
            "prompt_tokens_details": {"cached_tokens": 1800},
            "cache_creation_input_tokens": 248,
            "cache_read_input_tokens": 1800,
        },
        Usage(2098, 503, 1800, 248),
    ),
    "Codex": ({"input_tokens": 100, "cached_input_tokens": 50, "output_tokens": 7}, Usage(100, 7, 50)),
    "OpenTelemetry": ({"input_tokens": 50, "output_tokens": 5, "cache_read.input_tokens": 20}, Usage(50, 5, 20)),
    "OpenTelemetry, written": (
        {"input_tokens": 50, "output_tokens": 5, "cache_creation.input_tokens": 20},
        Usage(50, 5, 0, 20),
    ),
    "older pydantic-ai": ({"request_tokens": 20, "response_tokens": 5}, Usage(20, 5)),
    "details in the singular": (
        {"prompt_tokens": 20, "completion_tokens": 5, "prompt_token_details": {"cached_tokens": 8}},
        Usage(20, 5, 8),
    ),
    "Ollama": ({"prompt_eval_count": 40, "eval_count": 4, "eval_duration": 9}, Usage(40, 4)),
    "pydantic-ai": (
        {"input_tokens": 10, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4},
        Usage(10, 2, 3, 4),
    ),
}


def as_objects(value: Any) -> Any:
    """Return the same counts as the objects of a provider's client, whose attributes are in snake case."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: as_objects(inner) for key, inner in value.items()})
    return value


@pytest.mark.parametrize("kind", REPORTS)
def test_each_report_is_read(kind: str) -> None:
    reported, usage = REPORTS[kind]
    assert read_usage(reported) == usage
    assert read_usage(reported, model="m") == usage._replace(model="m")
    if kind not in ("Bedrock", "Bedrock, only written", "Gemini"):
        assert read_usage(as_objects(reported)) == usage


@pytest.mark.parametrize("kind", REPORTS)
@pytest.mark.parametrize("holder", ["usage", "usageMetadata", "usage_metadata", "token_usage"])
def test_an_answer_is_read_that_holds_the_report(kind: str, holder: str) -> None:
    reported, usage = REPORTS[kind]
    assert read_usage({"id": "1", holder: reported}) == usage
    assert read_usage({"model": "gpt-4o", holder: reported}) == usage._replace(model="gpt-4o")
    if holder != "usageMetadata":
        answer = SimpleNamespace(model_name="gpt-4o", **{holder: reported})
        assert read_usage(answer) == usage._replace(model="gpt-4o")
        assert read_usage(answer, model="mine") == usage._replace(model="mine")


@pytest.mark.parametrize(
    "nothing",
    [
        None,
        12,
        "12",
        [],
        {},
        {"usage": None},
        {"usage": {"usage": {"input_tokens": 1}}},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"input_tokens": True, "output_tokens": -1},
        {"prompt_tokens": "12", "completion_tokens": 1.5},
        object(),
    ],
)
def test_what_reports_no_tokens_is_no_usage(nothing: object) -> None:
    assert read_usage(nothing) is None


def test_more_cached_tokens_than_input_were_counted_beside_it() -> None:
    usage = read_usage({"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 90}})
    assert usage == Usage(100, 1, 90)


keys = st.sampled_from([key for reported, _ in REPORTS.values() for key in reported])
counts = st.none() | st.booleans() | st.integers(-5, 10**9) | st.floats() | st.text(max_size=3)
reports = st.dictionaries(keys, counts | st.dictionaries(keys, counts, max_size=3), max_size=8)


@given(reports, st.dictionaries(keys, reports, max_size=3))
def test_of_whatever_is_reported_the_parts_never_exceed_the_whole(one: dict[str, Any], more: dict[str, Any]) -> None:
    usage = read_usage({**one, **more, "usage": one})
    if usage is not None:
        assert usage.cached_tokens + usage.cache_written_tokens <= usage.input_tokens
        assert min(usage[:4]) >= 0
        assert usage.input_tokens + usage.output_tokens > 0


def test_running_sums_give_what_each_call_added() -> None:
    sums = [
        Usage(100, 10, 0, 90, "m"),
        Usage(250, 25, 90, 95, "m"),
        Usage(250, 25, 90, 95, "m"),
        Usage(40, 4, 0, 0, "m"),
        Usage(50, 5, 9, 9, "m"),
        Usage(60, 6, 0, 0, "m"),
        Usage(60, 9, 0, 0, "m"),
        Usage(20, 15, 0, 0, "m"),
    ]
    growth = [after.since(before) for before, after in zip([Usage(0, 0), *sums], sums, strict=False)]
    assert growth == [
        sums[0],
        Usage(150, 15, 90, 5, "m"),
        None,
        sums[3],
        Usage(10, 1, 9, 9, "m"),
        Usage(10, 1, 0, 0, "m"),
        Usage(0, 3, 0, 0, "m"),
        sums[7],
    ]
