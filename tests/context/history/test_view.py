from collections.abc import Callable

import pytest

from gatekeeper_core import ConfigError, ContextGatekeeper, Message, keep, select_history
from tests.loops import assistant, user


@pytest.mark.parametrize("change", [lambda talk: talk[:-1], lambda talk: [*talk, assistant("6380")], lambda talk: []])
def test_another_list_than_that_of_the_view_is_refused(change: Callable[[list[Message]], list[Message]]) -> None:
    talk = [user("Which port, 端口?"), assistant("6380."), user("And who bakes?")]
    view = select_history(talk, gatekeeper=ContextGatekeeper())
    assert keep(talk, view) == talk
    other = change(talk)
    with pytest.raises(ConfigError, match=f"made from 3 messages, got {len(other)}: pass the list that select_history"):
        keep(other, view)
