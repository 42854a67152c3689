"""What a PostgreSQL store tells of its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.messages import Message
from gatekeeper_postgres import PostgresStore
from gatekeeper_postgres.schema import NEWEST
from tests.observed import event_of, everything_told, facts_of

if TYPE_CHECKING:
    import logging

pytestmark = pytest.mark.postgres

SECRET = "端口 is 6380, and nobody is to know"


def told(records: list[logging.LogRecord]) -> list[tuple[str, dict[str, object]]]:
    assert SECRET not in str([vars(record) for record in records])
    return [(event_of(record).key, facts_of(record)) for record in records]


def test_every_call_is_told_and_how_it_ended(conninfo: str) -> None:
    with everything_told() as records, PostgresStore(conninfo) as store:
        store.append_messages("acme", "t1", [Message("user", SECRET, id="m1")])
        with pytest.raises(ConflictError):
            store.append_messages("acme", "t1", [Message("user", "other", id="m1")])
        store.forget("acme", thread="t1")
    calls = told(records)
    forgot = {"messages": 1, "records": 0, "memories": 0, "blobs": 0, "is_purged": True}
    assert [each for each in calls if each[0] != "store.call"] == [
        ("store.opened", {"backend": "postgres", "found_version": 0, "schema_version": NEWEST}),
        ("store.forgot", {"backend": "postgres", "what": "thread"} | forgot),
    ]
    written = [facts["outcome"] for key, facts in calls if key == "store.call" and facts["access"] == "write"]
    assert written[-3:] == ["ok", "ConflictError", "ok"]
