"""Spans and metrics as an application gets them, by the SDK's exporters that keep everything in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gatekeeper_core import BudgetError, ContextBuilder, ContextBuilderConfig, ContextGatekeeper, Thread
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.errors import ConflictError
from gatekeeper_core.events import EVENTS, HISTORY, USAGE
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore
from gatekeeper_otel import instrument
from tests.observed import BY_KEY, DOCUMENTED, FACTS, fits, tell_everything
from tests.talks import TALKS, sides, talk

each_script = pytest.mark.parametrize("script", TALKS)
secrets = st.text("QXZÄß密钥码令牌Ωж", min_size=5, max_size=12)


class Exported(NamedTuple):
    """What an application's exporters got."""

    tracer_provider: TracerProvider
    meter_provider: MeterProvider
    exporter: InMemorySpanExporter
    reader: InMemoryMetricReader

    def spans(self) -> list[ReadableSpan]:
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    def span(self, name: str) -> ReadableSpan:
        (found,) = (span for span in self.spans() if span.name == name)
        return found

    def tree(self) -> list[str]:
        """Return each span with those around it."""
        by_id = {span.context.span_id: span for span in self.spans()}

        def path(span: ReadableSpan) -> str:
            outer = by_id.get(span.parent.span_id) if span.parent else None
            return f"{path(outer)} > {span.name}" if outer else span.name

        return [path(span) for span in self.spans()]

    def points(self, name: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics] if data else []
        found = [metric for scope in scopes for metric in scope.metrics if metric.name == name]
        return [point for metric in found for point in metric.data.data_points]

    def metrics(self) -> dict[str, str | None]:
        data = self.reader.get_metrics_data()
        scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics] if data else []
        return {metric.name: metric.unit for scope in scopes for metric in scope.metrics}


def collector() -> Exported:
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracer_provider = TracerProvider(shutdown_on_exit=False)
    tracer_provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Exported(tracer_provider, MeterProvider([reader], shutdown_on_exit=False), exporter, reader)


@pytest.fixture
def exported() -> Iterator[Exported]:
    out = collector()
    with instrument(tracer_provider=out.tracer_provider, meter_provider=out.meter_provider):
        yield out


def filled(script: str) -> tuple[ContextGatekeeper, str]:
    turns, question = TALKS[script]
    gatekeeper = ContextGatekeeper()
    for turn in turns:
        gatekeeper.add_turn(*turn)
    return gatekeeper, question


def thread_of(script: str, times: int = 9) -> tuple[Thread, str]:
    turns, question = TALKS[script]
    return Thread("thread-of-ann", talk(turns * times)), question


@each_script
def test_a_selection_is_a_span_with_its_stages_inside(script: str, exported: Exported) -> None:
    gatekeeper, question = filled(script)
    chosen = gatekeeper.explain(question)
    root = "gatekeeper.selection"
    assert exported.tree() == [root, *(f"{root} > {root}.{stage}" for stage in ("gate", "candidates", "cover"))]
    attributes = dict(exported.span(root).attributes or {})
    assert attributes["gatekeeper.tokens"] == chosen.tokens
    assert attributes["gatekeeper.turn_ids"] == tuple(turn.turn_id for turn in chosen.turns)
    assert exported.span(root).status.is_ok or exported.span(root).status.status_code is trace.StatusCode.UNSET


def test_spans_hang_below_the_applications_own(exported: Exported) -> None:
    gatekeeper, question = filled("english")
    with exported.tracer_provider.get_tracer("app").start_as_current_span("answer"):
        gatekeeper.select(question)
        with exported.tracer_provider.get_tracer("app").start_as_current_span("model"):
            pass
    assert "answer > gatekeeper.selection" in exported.tree()
    assert "answer > model" in exported.tree()


def test_metrics_count_tokens_turns_builds_misses_and_calls(exported: Exported, tmp_path: Path) -> None:
    gatekeeper, question = filled("english")
    chosen = gatekeeper.explain(question)
    labels = {"gatekeeper.stage": "selection"}
    for name, value in (
        ("gatekeeper.tokens.before", chosen.history_tokens),
        ("gatekeeper.tokens.after", chosen.tokens),
        ("gatekeeper.turns.kept", len(chosen.turns)),
    ):
        assert [point.sum for point in exported.points(name) if point.attributes == labels] == [value], name
    assert [point.count for point in exported.points("gatekeeper.selection.duration")] == [1]
    with SQLiteStore(tmp_path / "store.db") as store:
        store.save_record("a", "t", "k", "{}", upto_seq=0, expected_version=0)
        with pytest.raises(ConflictError):
            store.save_record("a", "t", "k", "{}", upto_seq=0, expected_version=0)
    calls = {tuple(point.attributes.values()): point.value for point in exported.points("gatekeeper.store.calls")}
    assert calls["sqlite", "write", "ok"] == calls["sqlite", "write", "ConflictError"] == 1
    assert {exported.metrics()[f"gatekeeper.{name}"] for name in ("tokens.before", "tokens.after")} == {"{token}"}
    assert exported.metrics()["gatekeeper.selection.duration"] == "s"


def test_builds_are_counted_by_how_they_ended_and_misses_by_part(exported: Exported) -> None:
    class Away(InMemoryStore):
        def load_record(self, *_: str) -> Any:
            raise TimeoutError("the database of Ann is away")

    thread, question = thread_of("english", 1)
    ContextBuilder(store=Away()).build(thread, question, "Be brief.")
    with pytest.raises(BudgetError):
        ContextBuilder(ContextBuilderConfig(total_budget=5)).build(thread, question, "Be brief, please, be very brief.")
    with pytest.raises(TypeError):
        ContextBuilder().build(thread, question, "Be brief.", tools=[{"bad": object()}])
    builds = {point.attributes["gatekeeper.status"]: point.value for point in exported.points("gatekeeper.builds")}
    assert builds == {"built": 1, "over_budget": 1, "failed": 1}
    parts = {point.attributes["gatekeeper.part"] for point in exported.points("gatekeeper.misses")}
    assert parts >= {"summary", "constraints", "task"}
    errors = [span for span in exported.spans() if span.name == "gatekeeper.build" and not span.status.is_ok]
    assert [dict(span.attributes or {})["error.type"] for span in errors] == ["BudgetError", "TypeError"]
    assert not [event for span in errors for event in span.events if event.name == "exception"]


BILL = {
    "policy_action": "rebuilt",
    "policy_reason": "rent",
    "dollars": 0.25,
    "everything_dollars": 0.5,
    "paid_dollars": 1.0,
    "everything_paid_dollars": 2.5,
    "cached_tokens": 2048,
    "turns_recalled": 3,
}


def tell_a_history(bill: dict[str, Any], *, shadow: bool = False) -> None:
    view = {"status": "selected", "tokens": 10, "turns_kept": 1, "turn_ids": [0], "decision": None}
    with stage(HISTORY) as seen:
        seen.tell(lambda: {**view, **bill, "shadow": shadow})


def test_what_a_call_is_expected_to_cost_is_counted_beside_everything(exported: Exported) -> None:
    for shadow in (False, False, True):
        tell_a_history(BILL, shadow=shadow)
    for name, dollars in (("expected", 0.25), ("everything", 0.5)):
        points = exported.points(f"gatekeeper.{name}.dollars")
        found = {tuple(point.attributes.values()): point.value for point in points}
        assert found == {("rebuilt", False): 2 * dollars, ("rebuilt", True): dollars}
        assert exported.metrics()[f"gatekeeper.{name}.dollars"] == "{USD}"
    attributes = dict(exported.spans()[0].attributes or {})
    assert {name: attributes[f"gatekeeper.{name}"] for name in BILL} == BILL
    assert not [name for name in attributes if name.startswith("gen_ai.usage")]


def test_reported_usage_has_the_names_of_the_conventions_and_is_counted(exported: Exported) -> None:
    usage = {"input_tokens": 5000, "cached_tokens": 4096, "cache_written_tokens": 600, "output_tokens": 70}
    with exported.tracer_provider.get_tracer("app").start_as_current_span("chat"):
        tell(USAGE, **usage, dollars=0.125)
        tell(USAGE, **usage, dollars=0.25)
    (event, _) = exported.span("chat").events
    assert event.name == "gatekeeper.history.usage"
    assert dict(event.attributes or {}) == {
        "gen_ai.usage.input_tokens": 5000,
        "gen_ai.usage.output_tokens": 70,
        "gen_ai.usage.cache_read.input_tokens": 4096,
        "gen_ai.usage.cache_creation.input_tokens": 600,
        "gatekeeper.dollars": 0.125,
    }
    counted = {
        name: [point.value for point in exported.points(f"gatekeeper.usage.{name}")]
        for name in ("dollars", "input_tokens", "cache_read.input_tokens", "output_tokens")
    }
    assert counted == {
        "dollars": [0.375],
        "input_tokens": [10_000],
        "cache_read.input_tokens": [8192],
        "output_tokens": [140],
    }


def test_the_thread_is_named_only_where_that_is_asked_for(exported: Exported) -> None:
    thread, question = thread_of("english", 1)
    ContextBuilder().build(thread, question, "Be brief.")
    assert "thread-of-ann" not in "".join(span.to_json() for span in exported.spans())
    out = collector()
    with instrument(tracer_provider=out.tracer_provider, meter_provider=out.meter_provider, conversation_ids=True):
        ContextBuilder().build(thread, question, "Be brief.")
    named = {span.name for span in out.spans() if "gen_ai.conversation.id" in (span.attributes or {})}
    assert {"gatekeeper.build", "gatekeeper.summary"} <= named
    assert dict(out.span("gatekeeper.build").attributes or {})["gen_ai.conversation.id"] == "thread-of-ann"


@given(secrets, st.sampled_from(sorted(TALKS)))
def test_no_text_reaches_an_exporter(secret: str, script: str) -> None:
    turns, question = TALKS[script]
    out = collector()
    with (
        tempfile.TemporaryDirectory() as folder,
        instrument(tracer_provider=out.tracer_provider, meter_provider=out.meter_provider),
    ):
        tell_everything(secret, turns, question, Path(folder))
    data = out.reader.get_metrics_data()
    written = [
        *(f"{span.name} {dict(span.attributes or {})} {span.events} {span.status.description}" for span in out.spans())
    ]
    assert len(written) > 20
    assert data is not None
    for text in (*written, repr(data)):
        for character in secret:
            assert character not in text


def test_attributes_are_the_facts_of_the_schema(exported: Exported, tmp_path: Path) -> None:
    turns, question = TALKS["mixed"]
    tell_everything("ann", turns, question, tmp_path)
    for span in exported.spans():
        event = BY_KEY[span.name.removeprefix("gatekeeper.")]
        own = {name: value for name, value in (span.attributes or {}).items() if name.startswith("gatekeeper.")}
        facts = {name.removeprefix("gatekeeper."): list(v) if isinstance(v, tuple) else v for name, v in own.items()}
        page = DOCUMENTED[event.key]
        absent = {name: None for name in page.facts if FACTS[name][0].endswith("None") and name not in page.optional}
        assert fits(event, {**(absent if facts["outcome"] == "ok" else {}), **facts}), (span.name, facts)
    stages = {f"gatekeeper.{event.key}" for event in EVENTS if event.is_stage}
    assert {span.name for span in exported.spans()} == stages


def test_a_second_switch_takes_the_place_of_the_first_and_none_tells_nothing(exported: Exported) -> None:
    gatekeeper, question = filled("english")
    out = collector()
    with instrument(tracer_provider=out.tracer_provider, meter_provider=out.meter_provider):
        gatekeeper.select(question)
    gatekeeper.select(question)
    assert exported.spans() == []
    assert [span.name for span in out.spans()].count("gatekeeper.selection") == 1


# --- the adapters


@pytest.mark.adapters
@each_script
def test_langchain_and_llama_index_are_seen_without_a_line_of_their_own(script: str, exported: Exported) -> None:
    from llama_index.core.base.llms.types import ChatMessage

    from langchain_gatekeeper import select_messages
    from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer

    turns, question = TALKS[script]
    asked = [*sides(turns), ("user", question)]
    select_messages(asked, HistoryConfig(passthrough_below=0))
    history = [ChatMessage(role=role, content=text) for role, text in asked]
    memory = GatekeeperMemoryBuffer.from_defaults(
        chat_history=history, config=HistoryConfig(token_budget=4000, passthrough_below=0)
    )
    memory.get()
    inner = "gatekeeper.history > gatekeeper.history.past > gatekeeper.selection"
    assert exported.tree().count(inner) == 2
