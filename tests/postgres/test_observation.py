"""What a PostgreSQL store tells of its calls, the same whether they are waited for or awaited."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.messages import Message
from gatekeeper_postgres import AsyncPostgresStore, PostgresStore
from gatekeeper_postgres.schema import NEWEST
from tests.observed import event_of, everything_told, facts_of

if TYPE_CHECKING:
    import logging

pytestmark = pytest.mark.postgres

SECRET = "端口 is 6380, and nobody is to know"


def told(records: list[logging.LogRecord]) -> list[tuple[str, dict[str, object]]]:
    assert SECRET not in str([vars(record) for record in records])
    return [(event_of(record).key, facts_of(record)) for record in records]


def by_waiting(conninfo: str) -> None:
    with PostgresStore(conninfo) as store:
        store.append_messages("acme", "t1", [Message("user", SECRET, id="m1")])
        with pytest.raises(ConflictError):
            store.append_messages("acme", "t1", [Message("user", "other", id="m1")])
        store.check()
        store.forget("acme", thread="t1")


async def by_awaiting(conninfo: str) -> None:
    async with AsyncPostgresStore(conninfo) as store:
        await store.append_messages("acme", "t1", [Message("user", SECRET, id="m1")])
        with pytest.raises(ConflictError):
            await store.append_messages("acme", "t1", [Message("user", "other", id="m1")])
        await store.check()
        await store.forget("acme", thread="t1")


def test_every_call_is_told_and_how_it_ended(conninfo: str) -> None:
    with everything_told() as records:
        by_waiting(conninfo)
    waited = told(records)
    with PostgresStore(conninfo) as store:
        store.begin_anew("acme", thread="t1")
    with everything_told() as records:
        asyncio.run(by_awaiting(conninfo))
    awaited = told(records)
    events = [told for told in waited if told[0] != "store.call"]
    forgot = {"messages": 1, "records": 0, "memories": 0, "blobs": 0, "is_purged": True}
    assert events == [
        ("store.opened", {"backend": "postgres", "found_version": 0, "schema_version": NEWEST}),
        ("store.checked", {"backend": "postgres", "problems": 0}),
        ("store.forgot", {"backend": "postgres", "what": "thread"} | forgot),
    ]
    again = ("store.opened", {"backend": "postgres", "found_version": NEWEST, "schema_version": NEWEST})
    assert [told for told in awaited if told[0] != "store.call"] == [again, *events[1:]]
    for calls in (waited, awaited):
        written = [facts["outcome"] for key, facts in calls if key == "store.call" and facts["access"] == "write"]
        assert written[-3:] == ["ok", "ConflictError", "ok"]
