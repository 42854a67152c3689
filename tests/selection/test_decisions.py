"""What a selection says of itself: what would have been needed; :mod:`tests.test_promises` has the whole promise."""

from __future__ import annotations

from gatekeeper_core import ContextGatekeeper

REDIS = [
    ("How do I install Redis on Ubuntu?", "Run apt install redis-server and enable the Redis service."),
    ("Which port does Redis listen on?", "Redis listens on port 6379; Redis reads it from redis.conf."),
    ("How do I set a Redis password?", "Set requirepass in redis.conf and restart the Redis server."),
]


def gatekeeper_of(turns: list[tuple[str, str]]) -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(turns)
    return gatekeeper


def test_where_nothing_fits_the_smallest_need_is_told() -> None:
    """000-34: an empty selection that says what the smallest candidate needed."""
    gatekeeper = gatekeeper_of(REDIS)
    query = "Redis password and port?"
    selection = gatekeeper.explain(query, token_budget=2, trim=False)
    assert (selection.turns, selection.tokens) == ((), 0)
    assert selection.smallest_needed_tokens is not None
    assert gatekeeper.explain(query, token_budget=selection.smallest_needed_tokens, trim=False).turns


def test_where_something_fits_no_need_is_told() -> None:
    assert gatekeeper_of(REDIS).explain("Redis password?").smallest_needed_tokens is None
    assert gatekeeper_of([]).explain("Redis password?").smallest_needed_tokens is None
