"""What providers and frameworks report of a call, read as one usage."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.pricing.usage import Usage, read_usage
from tests.case_files import from_file, rows

REPORTS = {kind: (report, Usage(*usage)) for kind, report, usage in rows("usage", "reports")}


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


@from_file("reported")
def test_what_reports_no_tokens_is_no_usage(reported: object) -> None:
    assert read_usage(reported) is read_usage(object()) is None


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
