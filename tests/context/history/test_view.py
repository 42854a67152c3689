from gatekeeper_core import ContextGatekeeper, HistoryConfig, keep, select_history
from gatekeeper_core.tokens import estimate_text_tokens
from tests.loops import assistant, user


def test_what_is_sent_are_the_callers_objects_and_the_copies_of_the_view() -> None:
    long = "缓存的端口是 6380。" + "The bread rose well. " * 60
    talk = [
        user("Which port, 端口?"),
        assistant(long),
        user("And who bakes?"),
        assistant("Ann."),
        user("Redis 端口是多少？"),
    ]
    gatekeeper = ContextGatekeeper(token_counter=estimate_text_tokens)
    view = select_history(talk, gatekeeper=gatekeeper, config=HistoryConfig(passthrough_below=0))
    sent = keep(talk, view)
    ((position, copy),) = view.replaced
    assert position == 1
    assert sent[view.kept.index(1)] is copy
    assert all(one is talk[at] for one, at in zip(sent, view.kept, strict=True) if at != 1)
    assert view.facts()["messages_replaced"] == 1
