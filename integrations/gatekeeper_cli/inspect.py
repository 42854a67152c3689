"""``gatekeeper inspect``: the topics of a conversation over its turns, and what each next question would have sent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import track
from rich.text import Text

from gatekeeper_cli.charts import Axis, Cells
from gatekeeper_cli.opening import FromFormat, WhichConversation
from gatekeeper_cli.output import (
    AsJson,
    Budget,
    File,
    Force,
    Html,
    Lang,
    checked_budget,
    conversation_name,
    put_out,
    turns_of,
)
from gatekeeper_cli.texts import Language, speak
from gatekeeper_cli.timeline import timeline_of
from gatekeeper_cli.token_use import token_use
from gatekeeper_cli.views import plain_table, visible
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from gatekeeper_cli.texts import Texts
    from gatekeeper_cli.timeline import Subject, Timeline
    from gatekeeper_cli.token_use import UsePoint

__all__ = ["inspect", "inspect_view", "subject_name"]

_MAX_ROWS = 30
_TITLE_COLUMNS = 30
_SLOW_TURNS = 100


def inspect(
    file: File,
    budget: Budget = 4000,
    html: Html = None,
    force: Force = False,
    as_json: AsJson = False,
    form: FromFormat = None,
    conversation: WhichConversation = None,
    lang: Lang = Language.auto,
) -> None:
    """Show the topics of a conversation over its turns, and what each next question would have sent."""
    texts, tokens = speak(lang), checked_budget(budget)
    turns = turns_of(file, form=form, conversation=conversation)
    gatekeeper = ContextGatekeeper(tokens)
    gatekeeper.sync(turns)
    timeline = timeline_of(gatekeeper)
    use = token_use(turns, token_budget=tokens, turn_tokens=timeline.turn_tokens, watched=_watched(texts))

    def value() -> dict[str, Any]:
        points = [point._asdict() for point in use]
        return {**timeline.to_dict(), "token_budget": tokens, "token_use": points}

    def page() -> str:
        from gatekeeper_cli.html.timeline_page import timeline_page

        name = conversation_name(file)
        return timeline_page(timeline, turns, use, token_budget=tokens, name=name, texts=texts)

    put_out(
        value=value if as_json else None,
        page=page,
        view=lambda: inspect_view(timeline, use, token_budget=tokens, texts=texts),
        html=html,
        force=force,
        texts=texts,
    )


def _watched(texts: Texts) -> Callable[[Sequence[int]], Iterable[int]]:
    """Return what shows how far the questions are, at a terminal and where there are many."""

    def watch(turn_ids: Sequence[int]) -> Iterable[int]:
        if len(turn_ids) < _SLOW_TURNS or sys.stderr is None or not sys.stderr.isatty():
            return turn_ids
        return track(turn_ids, texts("working"), console=Console(stderr=True), transient=True)

    return watch


def inspect_view(
    timeline: Timeline, use: Sequence[UsePoint], *, token_budget: int, texts: Texts
) -> Iterator[RenderableType]:
    """Yield how much there is, a row for each topic with a cell for each turn, and the tokens of the next questions.

    Args:
        timeline: the conversation by topics.
        use: what its questions would have sent.
        token_budget: for how many tokens.
        texts: in which language.
    """
    costs = timeline.turn_tokens
    subjects = len(timeline.subjects)
    heading = texts("inspect_heading", turns=len(costs), tokens=sum(costs), topics=subjects)
    yield Text(heading, style="bold")
    if not costs:
        return
    mean = round(sum(costs) / len(costs))
    name = "inspect_turns" if min(costs) < max(costs) else "inspect_like_turns"
    yield Text(texts(name, least=min(costs), most=max(costs), mean=mean))
    yield Text()
    shown = sorted(timeline.subjects, key=lambda subject: -len(subject.turn_ids))[:_MAX_ROWS]
    yield _timeline_table(timeline, sorted(shown, key=lambda subject: subject.topic_ids), texts)
    if subjects > len(shown):
        hidden = len(costs) - sum(len(subject.turn_ids) for subject in shown)
        yield Text(texts("more_topics", topics=subjects - len(shown), turns=hidden), style="dim")
    yield Text(texts("cells"), style="dim")
    yield Text()
    yield Text(texts("use_heading", budget=token_budget))
    yield _use_table(use, texts)


def _timeline_table(timeline: Timeline, subjects: Sequence[Subject], texts: Texts) -> Table:
    rows = []
    for subject in subjects:
        own = set(subject.turn_ids)
        rows.append([tokens if at in own else 0 for at, tokens in enumerate(timeline.turn_tokens)])
    table = plain_table()
    table.add_column(texts("topic"), no_wrap=True, overflow="ellipsis", max_width=_TITLE_COLUMNS)
    for heading in ("turns", "tokens"):
        table.add_column(texts(heading), justify="right", no_wrap=True)
    table.add_column(Axis(len(timeline.turn_tokens)), ratio=1, no_wrap=True)
    for subject, row in zip(subjects, rows, strict=True):
        numbers = (Text(f"{number:,}") for number in (len(subject.turn_ids), subject.tokens))
        table.add_row(Text(subject_name(subject, texts)), *numbers, Cells(row, rows))
    return table


def subject_name(subject: Subject, texts: Texts) -> str:
    """Return the number of a topic and its title."""
    title = texts("comma").join(map(visible, subject.title))
    return f"{subject.topic_ids[0]} {title}".rstrip()


def _use_table(use: Sequence[UsePoint], texts: Texts) -> Table:
    table = plain_table(expand=False)
    table.add_column(texts("method"))
    for heading in ("on_average", "at_most", "at_the_end"):
        table.add_column(texts(heading), justify="right", no_wrap=True)
    columns = {
        "full_history": [point.full for point in use],
        "window": [point.window for point in use],
        "selected": [point.selected for point in use],
    }
    for name, values in columns.items():
        figures = (round(sum(values) / len(values)), max(values), values[-1])
        table.add_row(Text(texts(name)), *(Text(f"{figure:,}") for figure in figures))
    return table
