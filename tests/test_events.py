"""The schema of what is told: every record of every stage fits it and holds no text."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.events import EVENTS, PART
from gatekeeper_core.observation import tell
from tests.case_files import rows
from tests.observed import DOCUMENTED, FACTS, KINDS, event_of, everything_told, facts_of, fits, tell_everything
from tests.talks import TALKS

ELSEWHERE = dict(rows("events", "elsewhere"))
"""Events that need a server, a busy file or a bad observer, and where they are tested or told."""

# No fixed word of the library holds one of these, so what is found in a record has come from a text.
secrets = st.text("QXZÄß密钥码令牌Ωж", min_size=5, max_size=12)


def records_of(secret: str, script: str) -> list[logging.LogRecord]:
    turns, question = TALKS[script]
    with tempfile.TemporaryDirectory() as folder, everything_told() as records:
        tell_everything(secret, turns, question, Path(folder))
    return records


@pytest.fixture(scope="module", params=TALKS)
def records(request: pytest.FixtureRequest) -> list[logging.LogRecord]:
    return records_of("QX密ZΩ钥", request.param)


def test_every_record_fits_its_event(records: list[logging.LogRecord]) -> None:
    for record in records:
        event = event_of(record)
        assert fits(event, facts_of(record)), (event.key, facts_of(record))
        assert record.levelname in DOCUMENTED[event.key].levels, event.key


def test_every_event_is_told(records: list[logging.LogRecord]) -> None:
    assert {event.key for event in EVENTS} - {event_of(record).key for record in records} == ELSEWHERE.keys()


def written(record: logging.LogRecord) -> str:
    """Return all that a record holds but where the library is installed, which may hold any letter."""
    return f"{record.getMessage()} {vars(record) | {'pathname': ''}}"


@given(secrets, st.sampled_from(sorted(TALKS)))
def test_no_record_holds_any_text(secret: str, script: str) -> None:
    for record in records_of(secret, script):
        for character in secret:
            assert character not in written(record), (event_of(record).key, written(record))


def test_a_record_says_where_it_comes_from(records: list[logging.LogRecord]) -> None:
    assert "observation.py" not in {record.filename for record in records}
    assert {"gatekeeper.py", "planner.py", "selector.py"} <= {record.filename for record in records}


def test_the_page_lists_each_event_and_each_fact() -> None:
    assert [(event.key, event.is_stage, event.logger, event.message) for event in EVENTS] == KINDS
    assert {name for event in DOCUMENTED.values() for name in event.facts} | {"outcome"} == FACTS.keys()
    assert {unit for name, (kind, unit) in FACTS.items() if name.endswith("_tokens") and kind == "int"} == {"token"}


def test_a_message_with_facts_in_it_is_the_same_for_every_record() -> None:
    with everything_told() as found:
        tell(PART, number=1, part="summary", tokens=7)
    assert [(record.msg, record.getMessage()) for record in found] == [(PART.message, "[1] summary: 7 tokens")]
