"""The verdicts kept in columns come back as they were given."""

from __future__ import annotations

from typing import get_args

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
)
logs = st.lists(verdicts, max_size=8)


def log_of(given: list[Verdict]) -> VerdictLog:
    log = VerdictLog()
    for verdict in given:
        log.append(verdict)
    return log


@given(logs, st.integers(0, 8), logs)
def test_verdicts_come_back_to_the_bit_also_after_a_cut(first: list[Verdict], keep: int, more: list[Verdict]) -> None:
    """000-16: measures of four digits, every reason."""
    log = log_of(first)
    log.cut(keep)
    for verdict in more:
        log.append(verdict)
    assert list(log) == first[:keep] + more
