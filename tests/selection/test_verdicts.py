"""The verdicts kept in columns come back as they were given."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.verdicts import GateReason, Verdict, VerdictLog

measures = st.integers(0, 10_000).map(lambda digits: digits / 10_000)
TOPICS = 2**24
topic_ids = st.none() | st.integers(0, TOPICS - 1)
verdicts = st.builds(
    Verdict,
    decision=st.sampled_from(["continue", "switch"]),
    reason=st.sampled_from(get_args(GateReason)),
    overlap=measures,
    new_ratio=measures,
    cue=st.none() | st.sampled_from(["回到\n刚才", "new topic", "", "\ud800"]),
    active_topic=topic_ids,
    resumed_topic=topic_ids,
    need=measures,
    link=measures,
    mended=st.just(False),
).flatmap(lambda made: st.sampled_from([made, made._replace(mended=made.decision == "switch")]))
logs = st.lists(verdicts, max_size=8)


def log_of(given: list[Verdict]) -> VerdictLog:
    log = VerdictLog()
    for verdict in given:
        log.append(verdict)
    return log


@given(logs, st.integers(0, 8), logs)
def test_verdicts_come_back_to_the_bit_also_after_a_cut(first: list[Verdict], keep: int, more: list[Verdict]) -> None:
    """000-16: measures of four digits, every reason, mended or not."""
    log = log_of(first)
    log.cut(keep)
    for verdict in more:
        log.append(verdict)
    assert list(log) == first[:keep] + more


@pytest.mark.parametrize(
    ("verdict", "opens"),
    [
        (Verdict("switch", "first_turn", 0.0, 1.0), True),
        (Verdict("switch", "return", 0.1, 0.8), True),
        (Verdict("switch", "return", 0.1, 0.8, mended=True), False),
        (Verdict("continue", "overlap", 0.9, 0.0), False),
    ],
)
def test_a_topic_begins_with_a_switch_that_was_not_mended(verdict: Verdict, opens: bool) -> None:
    """000-15."""
    assert verdict.opens_topic == opens
