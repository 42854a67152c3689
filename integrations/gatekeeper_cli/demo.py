"""``gatekeeper demo``: seven questions to the bundled conversation, each with what the gatekeeper selects for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from gatekeeper_cli.conversation import CONVERSATION, QUESTIONS
from gatekeeper_cli.explain import selection_view, verdict_line
from gatekeeper_cli.explanation import percent
from gatekeeper_cli.options import AsJson, Budget, Lang, checked_budget, plain_table, print_json, show
from gatekeeper_cli.texts import Language, Texts, speak
from gatekeeper_cli.topics import topics_of
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from gatekeeper_cli.topics import Topic
    from gatekeeper_core.selection.result import Selection

_BUDGET_TOKENS = 1000  # ours: under a quarter of the conversation, so that it has to choose


def demo(budget: Budget = _BUDGET_TOKENS, as_json: AsJson = False, lang: Lang = Language.auto) -> None:
    """Ask a sample conversation seven questions and show what is kept for each, and why."""
    texts = speak(lang)
    gatekeeper = ContextGatekeeper(checked_budget(budget))
    gatekeeper.sync(CONVERSATION)
    selections = [gatekeeper.explain(question.text) for question in QUESTIONS]
    if as_json:
        answers = zip(QUESTIONS, selections, strict=True)
        print_json({"questions": [{"kind": asked.kind, "selection": one.to_dict()} for asked, one in answers]})
    else:
        show(_view(selections, topics_of(gatekeeper), texts))


def _view(selections: Sequence[Selection], topics: Sequence[Topic], texts: Texts) -> Iterator[RenderableType]:
    """Yield the seven questions one after the other, and a summary."""
    first = selections[0]
    count = sum(topic.returns_to is None for topic in topics)
    counts = {"turns": first.turn_count, "tokens": first.history_tokens, "topics": count}
    yield Text(texts("demo_heading", **counts, budget=first.token_budget))
    summary = plain_table(expand=False)
    summary.add_column(texts("question"))
    summary.add_column(texts("gate"))
    for name in ("turns", "tokens", "saved"):
        summary.add_column(texts(name), justify="right", no_wrap=True)
    for number, (question, selection) in enumerate(zip(QUESTIONS, selections, strict=True), 1):
        kind = texts(f"kind.{question.kind}")
        yield Text()
        yield Text(f"{number}. {kind}: ", style="bold").append(f'"{question.text}"', style="cyan")
        yield from selection_view(selection, topics, texts)
        saved = percent(selection.history_tokens - selection.tokens, selection.history_tokens)
        verdict = verdict_line(selection.gate._replace(cue=None), texts).plain
        cells = (kind, verdict, str(len(selection.turns)), f"{selection.tokens:,}", saved)
        summary.add_row(*map(Text, cells))
    yield Text()
    yield summary
