"""The plugin for pytest: the fixture ``gatekeeper_eval``.

It loads nothing of the library before an assertion is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gatekeeper_core.selection.planner import GatekeeperConfig
    from gatekeeper_core.selection.result import Selection
    from gatekeeper_eval.keeping import Chat


class GatekeeperEval:
    """What the fixture gives."""

    def assert_keeps(
        self,
        chat: Chat,
        question: str,
        turn: int | str,
        *,
        token_budget: int | None = None,
        config: GatekeeperConfig | None = None,
    ) -> Selection:
        """Assert that a turn of a chat is sent with a question; see ``gatekeeper_eval.assert_keeps``."""
        __tracebackhide__ = True
        from gatekeeper_eval.keeping import assert_keeps  # here, because most test runs use nothing of it

        return assert_keeps(chat, question, turn, token_budget=token_budget, config=config)


@pytest.fixture(scope="session")
def gatekeeper_eval() -> GatekeeperEval:
    """Give assertions about what a gatekeeper keeps: ``gatekeeper_eval.assert_keeps(chat, question, turn)``."""
    return GatekeeperEval()
