"""A compressor of tool results is used as far as it can be had, within the time of the build."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gatekeeper_core.context.compaction.run import RunConfig
from gatekeeper_core.context.prompt.bounded_results import bounded_run
from gatekeeper_core.context.prompt.lookups import LookUp
from gatekeeper_core.context.prompt.result import Miss
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.context import ResultContext
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.context.tool_results.thread_memories import ThreadMemories
from gatekeeper_core.context.tool_results.working_memory import WorkingMemory
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.workers import BoundedCalls
from tests.faults import PATIENCE, Hang, Remote, hanging, raising
from tests.loops import result

KEY = b"0123456789abcdef"
LONG = result("a", "12:00:00 INFO ping\n" * 600)


@pytest.fixture
def hang() -> Iterator[Hang]:
    with hanging() as hang:
        yield hang


def compressed(run: RunConfig, look: LookUp, times: int = 1) -> list[str]:
    bounded = bounded_run(run, look, BoundedCalls(max_workers=1)).compress_result
    assert bounded is not None
    return [bounded(LONG, ResultContext()) for _ in range(times)]


def test_without_a_compressor_there_is_nothing_to_bound() -> None:
    run = RunConfig()
    assert bounded_run(run, LookUp(timeout_seconds=PATIENCE), BoundedCalls()) is run


def test_what_a_compressor_gives_is_taken() -> None:
    look = LookUp(timeout_seconds=PATIENCE)
    assert compressed(RunConfig(compress_result=lambda *_: "short"), look) == ["short"]
    whole = ToolResultCompressor()
    assert compressed(RunConfig(compress_result=whole), look) == [whole(LONG, ResultContext())]
    assert look.misses == ()


@pytest.mark.parametrize("compress", [raising, lambda *_: None, lambda *_: 7])
def test_what_it_fails_at_stays_as_it_is_and_is_told_once(compress: Any) -> None:
    """001-58."""
    look = LookUp(timeout_seconds=PATIENCE)
    assert compressed(RunConfig(compress_result=compress), look, times=3) == [LONG.text] * 3
    assert [(miss.part, miss.status) for miss in look.misses] == [("tool_results", "failed")]


def test_one_that_hangs_is_asked_once(hang: Hang) -> None:
    """001-58: the second result does not wait again."""
    look = LookUp(timeout_seconds=0.02)
    assert compressed(RunConfig(compress_result=hang), look, times=9) == [LONG.text] * 9
    assert look.misses == (Miss("tool_results", "late"),)
    assert hang.returned == 0


def test_a_compressor_waits_for_nobody_where_its_store_does_not() -> None:
    remote: Any = Remote(InMemoryBlobStore())
    for blobs, inline in ((InMemoryBlobStore(), True), (remote, False)):
        memory, memories = WorkingMemory(blobs, KEY), ThreadMemories(blobs, KEY)
        assert (memory.is_inline, memories.is_inline) == (inline, inline)
        assert ToolResultCompressor(working_memory=memory).is_inline is inline
        assert ToolResultCompressor(working_memory=memories).is_inline is inline
    assert ToolResultCompressor().is_inline


def test_ids_behind_a_lock_that_nobody_releases_are_not_waited_for(hang: Hang) -> None:
    """004-37: what cannot be told holds nothing."""

    class Ids:
        def __contains__(self, pointer: object) -> bool:
            hang()
            return True

    run = RunConfig(compress_result=lambda message, _: message.text, working_memory=Ids())
    held = bounded_run(run, LookUp(timeout_seconds=0.02), BoundedCalls(max_workers=1)).working_memory
    assert held is not None
    assert "aaaaaaaaaaaaaaaa" not in held
    assert hang.returned == 0


def test_pointers_that_a_memory_holds_are_known() -> None:
    memory = WorkingMemory(InMemoryBlobStore(), KEY)
    pointer = memory.offload("a log")
    assert pointer is not None
    run = RunConfig(compress_result=ToolResultCompressor(working_memory=memory))
    held = bounded_run(run, LookUp(timeout_seconds=PATIENCE), BoundedCalls()).working_memory
    assert held is not None
    assert pointer.id in held
    assert "aaaaaaaaaaaaaaaa" not in held


@pytest.mark.parametrize(("thread_id", "tenant"), [("t1", "acme"), ("线程", "default"), (None, "default")])
def test_a_result_goes_into_the_memory_of_the_thread_of_the_run(thread_id: str | None, tenant: str) -> None:
    """004-62: also where who compresses does not name the thread."""
    memories = ThreadMemories(InMemoryBlobStore(), KEY)
    run = RunConfig(compress_result=ToolResultCompressor(working_memory=memories), thread_id=thread_id, tenant=tenant)
    bounded = bounded_run(run, LookUp(timeout_seconds=PATIENCE), BoundedCalls())
    assert bounded.compress_result is not None
    assert bounded.working_memory is not None
    found = pointers_in(bounded.compress_result(LONG, ResultContext()))
    assert len(found) == (thread_id is not None)
    for each in found:
        assert each in bounded.working_memory
        assert memories.of(str(thread_id), tenant=tenant).load(each) == LONG.text
        assert memories.of(str(thread_id), tenant="another").load(each) is None


@pytest.mark.parametrize("fault", ["hangs", "raises"])
def test_where_the_memory_of_a_thread_cannot_be_had_results_stay_as_they_are(hang: Hang, fault: str) -> None:
    blobs: Any = Remote(InMemoryBlobStore(), hang if fault == "hangs" else raising)
    compress = ToolResultCompressor(working_memory=ThreadMemories(blobs, KEY))
    look = LookUp(timeout_seconds=0.02)
    assert compressed(RunConfig(compress_result=compress, thread_id="t1"), look, times=2) == [LONG.text] * 2
    assert [miss.part for miss in look.misses] == ["tool_results"]
    assert hang.returned == 0
