"""What a build gives back: figures that add up, a fate for every message, and nothing of what was said in the trace."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.result import BuiltContext, Fate, fates_of
from gatekeeper_core.messages import Message
from tests.loops import assistant, calls, result, user

FATES = st.sampled_from(get_args(Fate))
KNOWN = st.integers(0, 30).flatmap(
    lambda count: st.tuples(
        st.just(count), st.lists(st.tuples(st.integers(0, max(0, count - 1)), FATES), max_size=40 if count else 0)
    )
)
RUN = [
    user("secret port?"),
    calls("a"),
    result("a", "secret 6380"),
    assistant("It is 6380."),
    user("And the host?\n还有端口？"),
]


def context_of(messages: list[Message] = RUN, prompt: str = RUN[-1].text) -> BuiltContext:
    return ContextBuilder(ContextBuilderConfig(locale="en")).build(Thread("t1", tuple(messages)), prompt, "Be brief.")


@given(KNOWN, st.integers(0, 30))
def test_fates_cover_every_message_once(known: tuple[int, list[tuple[int, Fate]]], summarized: int) -> None:
    """001-23, 001-43: nothing is left unaccounted for."""
    count, given_fates = known
    summarized = min(summarized, count)
    by_seq = dict(given_fates)
    fates = fates_of(count, by_seq, summarized=summarized)
    flat = [one.fate for one in fates for _ in range(one.start, one.stop)]
    assert flat == [by_seq.get(seq, "summary" if seq < summarized else "left_out") for seq in range(count)]
    assert [one.start for one in fates] == [0, *(one.stop for one in fates)][: len(fates)]
    assert all(one.fate != other.fate for one, other in pairwise(fates))


def test_a_trace_is_json_and_holds_no_text() -> None:
    """C16."""
    context = context_of()
    told = json.dumps(context.trace.to_dict(), allow_nan=False, sort_keys=True)
    assert "secret" not in told
    assert set(context.trace.to_dict()) == {*context.trace._fields, "available_tokens", "prefix_share"}
    assert json.loads(told)["shares"]["recent_messages"] == 26_400
    assert json.loads(told)["parts"][0] == {"part": "system_prompt", "seq": None, "tokens": 3}


def test_dicts_are_those_of_the_rendered_messages() -> None:
    """001-32: tool fields survive."""
    dicts = context_of().to_dicts()
    assert dicts == [message.to_dict(for_provider=True) for message in context_of().render()]
    assert dicts[2]["tool_calls"][0]["id"] == dicts[3]["tool_call_id"] == "a"


def test_dicts_hold_no_field_that_a_provider_refuses() -> None:
    marked = [replace(message, id="m", metadata={"a": 1}, created_at=datetime(2024, 6, 3)) for message in RUN]
    assert context_of(marked).to_dicts() == context_of().to_dicts()
