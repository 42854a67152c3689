"""``gatekeeper demo``: seven questions about a sample conversation in the user's language, each with its selection."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from gatekeeper_cli.conversation import sample
from gatekeeper_cli.explain import selection_view, verdict_line
from gatekeeper_cli.options import AsJson, Budget, Lang, checked_budget
from gatekeeper_cli.output import plain_table, print_json, show
from gatekeeper_cli.texts import Language, speak
from gatekeeper_cli.topics import topics_of
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

_BUDGET_TOKENS = 1000  # ours: less than half of the conversation, to force a choice


def demo(budget: Budget = _BUDGET_TOKENS, as_json: AsJson = False, lang: Lang = Language.auto) -> None:
    """Ask a sample conversation seven questions and show what is kept for each, and why."""
    texts = speak(lang)
    gatekeeper = ContextGatekeeper(checked_budget(budget))
    turns, questions = sample(f"demo.{texts.language.value}")
    gatekeeper.sync(turns)
    selections = [gatekeeper.explain(question.text) for question in questions]
    answers = [*zip(questions, selections, strict=True)]
    if as_json:
        print_json({"questions": [{"kind": example.kind, "selection": one.to_dict()} for example, one in answers]})
        return
    first, topics = selections[0], topics_of(gatekeeper)
    count = sum(topic.returns_to is None for topic in topics)
    counts = {"turns": first.turn_count, "tokens": first.history_tokens, "topics": count}
    parts: list[RenderableType] = [Text(texts("demo_heading", **counts, budget=first.token_budget))]
    summary = plain_table(expand=False)
    summary.add_column(texts("question"))
    summary.add_column(texts("gate"))
    for name in ("turns", "tokens", "saved"):
        summary.add_column(texts(name), justify="right", no_wrap=True)
    for number, (question, selection) in enumerate(answers, 1):
        kind = texts(f"kind.{question.kind}")
        heading = Text(f"{number}. {kind}: ", style="bold").append(f'"{question.text}"', style="cyan")
        parts += [Text(), heading, *selection_view(selection, topics, texts)]
        history = selection.history_tokens
        saved = texts.percent(history - selection.tokens, history) if selection.turns else "-"
        verdict = verdict_line(selection.gate._replace(cue=None), texts).plain
        cells = (kind, verdict, str(len(selection.turns)), f"{selection.tokens:,}", saved)
        summary.add_row(*map(Text, cells))
    sent, full = (sum(counts) for counts in zip(*((one.tokens, one.history_tokens) for one in selections), strict=True))
    kept = sorted(len(one.turns) for one in selections)
    line = texts(
        "demo_line",
        questions=len(questions),
        sent=sent,
        full=full,
        saved=texts.percent(full - sent, full),
        fewest=first.turn_count - kept[-1],
        most=first.turn_count - kept[0],
        count=first.turn_count,
    )
    show([*parts, Text(), summary, Text(), Text(line, style="bold")])
