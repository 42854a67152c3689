"""The schema of what is told: every record of every stage fits it and holds no text."""

from __future__ import annotations

import ast
import logging
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gatekeeper_core
from gatekeeper_core.events import EVENTS, PART, Event, fact_table
from gatekeeper_core.observation import tell
from tests.case_files import from_file
from tests.observed import event_of, everything_told, facts_of, fits, tell_everything
from tests.talks import TALKS

ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = {
    "model.answer": "tests/chat/test_client.py",
    "model.retry": "tests/chat/test_client.py",
    "selection.meaning": "tests/adapters/test_meaning.py",
    "store.purge_failed": "tests/storage/test_sqlite.py",
    "store.no_vectors": "integrations/gatekeeper_postgres/store.py",
    "store.vectors_unindexed": "integrations/gatekeeper_postgres/store.py",
    "observer_failed": "tests/test_observation.py",
}
"""Events that need a server, a busy file or a bad observer, and where they are tested or told."""

# No fixed word of the library holds one of these, so what is found in a record has come from a text.
secrets = st.text("QXZÄß密钥码令牌Ωж", min_size=5, max_size=12)


def told(secret: str, script: str) -> list[logging.LogRecord]:
    turns, question = TALKS[script]
    with tempfile.TemporaryDirectory() as folder, everything_told() as records:
        tell_everything(secret, turns, question, Path(folder))
    return records


@pytest.fixture(scope="module", params=TALKS)
def records(request: pytest.FixtureRequest) -> list[logging.LogRecord]:
    return told("QX密ZΩ钥", request.param)


def test_every_record_fits_its_event(records: list[logging.LogRecord]) -> None:
    for record in records:
        event = event_of(record)
        assert fits(event, facts_of(record)), (event.key, facts_of(record))
        assert record.levelname in event.levels, event.key


def test_every_event_is_told(records: list[logging.LogRecord]) -> None:
    assert {event.key for event in EVENTS} - {event_of(record).key for record in records} == ELSEWHERE.keys()


def written(record: logging.LogRecord) -> str:
    """Return all that a record holds but where the library is installed, which may hold any letter."""
    return f"{record.getMessage()} {vars(record) | {'pathname': ''}}"


@given(secrets, st.sampled_from(sorted(TALKS)))
def test_no_record_holds_any_text(secret: str, script: str) -> None:
    for record in told(secret, script):
        for character in secret:
            assert character not in written(record), (event_of(record).key, written(record))


WORDS = ("new topic", "redis", "sourdough", "marta", "minutes", "换个话题", "缓存", "监听", "端口", "发酵", "负责")
"""What the talks say, and how they say that the topic is new; reasons are fixed words with an underscore."""


def test_no_record_holds_a_word_of_the_talk(records: list[logging.LogRecord]) -> None:
    for record in records:
        assert not [word for word in WORDS if word in written(record).casefold()], (
            event_of(record).key,
            written(record),
        )


def test_a_record_says_where_it_comes_from(records: list[logging.LogRecord]) -> None:
    assert "observation.py" not in {record.filename for record in records}
    assert {"gatekeeper.py", "planner.py", "selector.py"} <= {record.filename for record in records}


def test_each_event_has_a_key_and_a_message_of_its_own() -> None:
    for name in ("key", "message"):
        values = [getattr(event, name) for event in EVENTS]
        assert sorted(set(values)) == sorted(values)
    assert {event.logger.partition(".")[0] for event in EVENTS} == {"gatekeeper"}


def test_each_fact_is_explained_and_each_explanation_is_of_a_fact() -> None:
    named = {name for event in EVENTS for name in event.facts}
    assert named | {"outcome"} == fact_table().keys()
    for event in EVENTS:
        assert event.optional <= set(event.facts), event.key
        assert len(set(event.facts)) == len(event.facts), event.key
    assert not {
        name
        for name, fact in fact_table().items()
        if fact.kind in ("int", "float") and name.endswith("tokens") and fact.unit != "token"
    }


def test_a_message_with_facts_in_it_is_the_same_for_every_record() -> None:
    with everything_told() as found:
        tell(PART, number=1, part="summary", tokens=7)
    assert [(record.msg, record.getMessage()) for record in found] == [(PART.message, "[1] summary: 7 tokens")]


@from_file("facts", "fitting")
def test_the_check_sees_what_does_not_fit(facts: dict[str, Any], fitting: bool) -> None:
    (event,) = (one for one in EVENTS if one.key == "store.call")
    assert fits(event, facts) is fitting


def _sources() -> list[Path]:
    core = Path(gatekeeper_core.__file__).parent
    return [path for path in core.rglob("*.py") if path.name != "observation.py"]


def test_nothing_in_the_core_writes_records_by_itself() -> None:
    for path in _sources():
        imported = {
            alias.name
            for node in ast.walk(ast.parse(path.read_bytes()))
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert "logging" not in imported, path


# --- the page


def table_of(event: Event) -> str:
    """Return the row of an event as the page has it."""
    facts = ", ".join(f"`{name}`" + (" ?" if name in event.optional else "") for name in event.facts) or "–"
    span = "stage" if event.is_stage else "event"
    return f"| `{event.key}` | {span} | `{event.logger}` | {event.message} | {', '.join(event.levels)} | {facts} |"


def facts_rows() -> list[str]:
    """Return the rows of the facts as the page has them."""
    return [
        f"| `{name}` | {fact.kind.replace('|', 'or')} | {fact.unit or '–'} | {fact.meaning} |"
        for name, fact in fact_table().items()
    ]


def test_the_page_has_each_event_and_each_fact() -> None:
    """``python -m tests.test_events`` prints the rows."""
    page = (ROOT / "docs" / "observability.md").read_text(encoding="utf-8").splitlines()
    assert [row for row in (*map(table_of, EVENTS), *facts_rows()) if row not in page] == []


def test_the_page_has_no_other_event() -> None:
    page = (ROOT / "docs" / "observability.md").read_text(encoding="utf-8").splitlines()
    listed = [line for line in page if "| stage | `" in line or "| event | `" in line]
    assert listed == [*map(table_of, EVENTS)]


if __name__ == "__main__":
    print(*map(table_of, EVENTS), "", *facts_rows(), sep="\n")
