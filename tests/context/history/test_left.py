from __future__ import annotations

from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.select import select_history
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.messages import COMPACTED, Message, ToolCall
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

BLOCK = Message("assistant", "They set up a cache and a port.", metadata={COMPACTED: True})
LONG = "und so weiter " * 200
CONFIG = HistoryConfig(token_budget=300, passthrough_below=0, on_error="raise")


def view_of(messages: list[Message], **more: object) -> HistoryView:
    return select_history(messages, gatekeeper=ContextGatekeeper(), config=CONFIG, **more)  # type: ignore[arg-type]


def test_what_stands_before_a_compaction_is_sent_and_costs_nothing() -> None:
    before = [Message("user", LONG), Message("assistant", LONG)]
    question = Message("user", "Which port was it?")
    view = view_of([*before, Message("user", "Go on."), BLOCK, question])
    assert view.kept == (0, 1, 2, 3, 4)
    assert view.tokens == view_of([Message("system", BLOCK.text), question]).tokens
    assert view.history_tokens == view.tokens
    assert (view.status, view.turn_count) == ("passthrough", 0)


def test_results_behind_a_compaction_within_a_run_stay_with_the_call() -> None:
    called = Message("assistant", "so far", tool_calls=(ToolCall("c1", "f", "{}"),), metadata={COMPACTED: True})
    again = Message("assistant", "", tool_calls=(ToolCall("c2", "f", "{}"),))
    run = [called, Message("tool", LONG, tool_call_id="c1"), again, Message("tool", LONG, tool_call_id="c2")]
    view = view_of([Message("user", LONG), *run])
    assert view.kept == (0, 1, 2, 3, 4)


def test_what_the_provider_holds_itself_is_left_to_it() -> None:
    messages = [Message("user", LONG), Message("assistant", LONG), Message("user", "And now?")]
    selector = ThreadSelector[Message](lambda message: message, config=CONFIG)
    view = selector.view(messages, HistoryRequest(provider_messages=2), thread="t")
    assert (view.kept, view.tokens) == ((0, 1, 2), selector.cost(messages[2:]))
    assert selector.view(messages, thread="t").kept == (2,)
