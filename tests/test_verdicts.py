"""The verdicts kept in columns come back as they were given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.errors import SnapshotError
from gatekeeper_core.selection.topics import Verdict
from gatekeeper_core.selection.verdicts import VerdictLog


def test_verdicts_come_back_as_they_were() -> None:
    log = VerdictLog()
    verdicts = [
        Verdict("continue", "first_turn", overlap=1.0, new_ratio=0.0),
        Verdict("switch", "return", 0.1, 0.8, cue="回到\n刚才", active_topic=3, resumed_topic=0, staying=0.25),
    ]
    for verdict in verdicts:
        log.append(verdict)
    assert list(log) == verdicts
    assert list(VerdictLog.from_columns(log.columns(), turn_count=2)) == verdicts
    with pytest.raises(SnapshotError, match="rules"):
        VerdictLog.from_columns(log.columns(), turn_count=3)
    log.cut(1)
    assert (log[-1], log[0:5], len(log)) == (verdicts[0], (verdicts[0],), 1)


@given(*[st.integers(0, 10_000)] * 3)
def test_a_measure_of_four_digits_comes_back_to_the_bit(overlap: int, new_ratio: int, staying: int) -> None:
    measures = [round(each / 9_999.7, 4) for each in (overlap, new_ratio, staying)]
    verdict = Verdict("continue", "overlap", measures[0], measures[1], staying=measures[2])
    log = VerdictLog()
    log.append(verdict)
    assert log[0] == verdict
