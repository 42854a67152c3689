"""The demo: seven questions to the bundled conversation, each answered by the gatekeeper and by nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_cli.conversation import CONVERSATION, QUESTIONS, Question
from gatekeeper_cli.topics import topics_of
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

if TYPE_CHECKING:
    from gatekeeper_cli.topics import Topic
    from gatekeeper_core.selection.result import Selection

__all__ = ["DEMO_BUDGET_TOKENS", "Answer", "Demo", "demo_dict", "run_demo"]

DEMO_BUDGET_TOKENS = 1000
"""The budget of the demo, in tokens. Source: ours, under a quarter of the conversation, so that it has to choose."""


class Answer(NamedTuple):
    """A question with what the gatekeeper selects for it."""

    question: Question
    selection: Selection


class Demo(NamedTuple):
    """All answers, and the topics of the conversation, oldest first."""

    answers: tuple[Answer, ...]
    topics: tuple[Topic, ...]


def run_demo(*, token_budget: int = DEMO_BUDGET_TOKENS) -> Demo:
    """Return what the gatekeeper selects for each of the seven questions.

    Args:
        token_budget: what the kept turns of one question may cost, at least 1.

    Raises:
        ConfigError: the budget is not positive.
    """
    gatekeeper = ContextGatekeeper(token_budget)
    gatekeeper.sync(CONVERSATION)
    answers = tuple(Answer(question, gatekeeper.explain(question.text)) for question in QUESTIONS)
    return Demo(answers, topics_of(gatekeeper))


def demo_dict(demo: Demo) -> dict[str, Any]:
    """Return the answers as JSON-ready values: for each question its kind and the whole selection."""
    return {
        "questions": [
            {"kind": answer.question.kind, "selection": answer.selection.to_dict()} for answer in demo.answers
        ]
    }
