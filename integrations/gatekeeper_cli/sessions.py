"""``gatekeeper inspect --all``: the costs of many conversations, such as the sessions that an agent keeps in a folder.

::

    folder ──conversation_files──> files ──_cost──> SessionCost …, the costliest first ──> table or JSON

One conversation is held in memory at a time. What cannot be read stops nothing else, and is named at the end.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.padding import Padding
from rich.text import Text

from gatekeeper_cli.bill import Dollars
from gatekeeper_cli.opening import check_form, file_size, progress_bar
from gatekeeper_cli.output import conversation_name, print_json, show
from gatekeeper_cli.phrases import percent, shown_dollars
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.token_use import MAX_CALLS, Reported, token_use
from gatekeeper_cli.views import bill_lines, plain_table, visible
from gatekeeper_cli.writing import STANDARD_INPUT
from gatekeeper_formats import SUFFIXES, Unread, conversation_files, readable_conversations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from gatekeeper_cli.bill import PriceList, Tariff
    from gatekeeper_cli.texts import Texts
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_formats import Conversation

__all__ = ["SessionCost", "inspect_all", "sessions_view"]

_MAX_ROWS = 30
_NAME_COLUMNS = 6


class SessionCost(NamedTuple):
    """The tokens of the requests of one conversation; see ``TokenUse``.

    Attributes:
        file: its file, as seen from the folder.
        number: its number in the file, from 1.
        id: what the file calls it.
        title: its title.
        day: when it began, as ``2024-05-31``, in the words of the file.
        form: the format of the file.
        turns: how many turns it has.
        model_calls: how many model calls.
        calls_asked: how many of them ``window`` and ``selected`` are measured at.
        calls_sent_whole: at how many of these everything is sent, as less would not pay.
        full: everything before each call, all together.
        window: the newest turns that fit, all together.
        selected: what the gatekeeper selects, all together.
        reported: what the provider reported, None where the file does not tell.
        tariff: the prices, None without any.
        dollars: what all calls cost in each way, None without prices.
    """

    file: str
    number: int
    id: str | None
    title: str | None
    day: str | None
    form: str
    turns: int
    model_calls: int
    calls_asked: int
    calls_sent_whole: int
    full: int
    window: int
    selected: int
    reported: Reported | None
    tariff: Tariff | None = None
    dollars: Dollars | None = None

    @property
    def name(self) -> str:
        """Its title; without one its file, with its number where it is not the first of it."""
        return self.title or (self.file if self.number == 1 else f"{self.file} #{self.number}")

    def figures(self, *, in_dollars: bool) -> dict[str, str]:
        """Return its figures for a reader, by the headings of their columns."""
        counts = {"calls": f"{self.model_calls:,}", "tokens" if in_dollars else "estimated": f"{self.full:,}"}
        if not in_dollars:
            reported = f"{self.reported.input_tokens:,}" if self.reported else "-"
            saved = percent(self.full - self.selected, self.full)
            return {**counts, "reported": reported, "selected": f"{self.selected:,}", "saved": saved}
        full, _, selected = map(shown_dollars, self.dollars[:3] if self.dollars else [None] * 3)
        reported = shown_dollars(self.reported and self.reported.dollars)
        saved = percent(self.dollars.share_saved, 1) if self.dollars else "-"
        return {**counts, "full_history": full, "reported": reported, "selected": selected, "saved": saved}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values, without any message."""
        return {
            **self._asdict(),
            "reported": self.reported and self.reported.to_dict(),
            "tariff": self.tariff and self.tariff.to_dict(),
            "dollars": self.dollars and self.dollars._asdict(),
        }


def inspect_all(
    source: str,
    *,
    token_budget: int,
    prices: PriceList,
    form: str | None,
    as_json: bool,
    texts: Texts,
    embedder: TextEncoder | None = None,
) -> None:
    """Show the costs of all conversations of a file or of the files below a folder; refuse what holds none."""
    check_form(form)
    unread: list[Unread] = []
    if os.path.isdir(source):
        names = {file: os.path.relpath(file, source) for file in conversation_files(source, unread)}
        if not names and not unread:
            refuse(texts("error.no_sessions", folder=source, suffixes=", ".join(SUFFIXES)))
    else:
        names = {source: conversation_name(source)}
    with progress_bar(sum(map(file_size, names))) as progress:
        read = partial(readable_conversations, unread=unread, form=form, progress=progress)
        cost = partial(_cost, token_budget=token_budget, prices=prices, embedder=embedder)
        sessions = [
            cost(conversation, file=name)
            for file, name in names.items()
            for conversation in read(sys.stdin.buffer if file == STANDARD_INPUT else file, name)
        ]
    if not sessions and source in names and unread:
        refuse(f"{source}: {unread[0].reason}")
    if not sessions:
        details = [f"{file}: {reason}" for file, reason in unread]
        refuse(texts("error.none_read", folder=source, files=len(names)), details=details[:_MAX_ROWS])
    sessions.sort(key=lambda cost: (-(cost.dollars.full if cost.dollars else 0), -cost.full, cost.file, cost.number))
    if as_json:
        print_json(
            {
                "token_budget": token_budget,
                **({"embedder": embedder.name} if embedder else {}),
                "files": len(names),
                "sessions": [cost.to_dict() for cost in sessions],
                "totals": _totals(sessions),
                "unread": [each._asdict() for each in unread],
            }
        )
    else:
        show(sessions_view(sessions, unread, files=len(names), token_budget=token_budget, texts=texts))
        if embedder:
            show([Text(texts("meaning_heard", embedder=visible(embedder.name)))])


def _cost(
    conversation: Conversation, *, file: str, token_budget: int, prices: PriceList, embedder: TextEncoder | None
) -> SessionCost:
    """Return the cost of a conversation of a file."""
    heading, tariff = conversation.heading, prices.tariff(conversation.usage)
    use = token_use(conversation.messages, token_budget=token_budget, tariff=tariff, embedder=embedder)
    days = (message.created_at.date().isoformat() for message in conversation.messages if message.created_at)
    return SessionCost(
        file=file,
        number=heading.number,
        id=heading.id,
        title=heading.title,
        day=heading.created or next(days, None),
        form=conversation.form,
        turns=len(conversation.turns),
        reported=Reported.of(conversation.usage, tariff),
        tariff=tariff,
        dollars=use.dollars,
        **use.to_dict(),
    )


def _totals(sessions: Sequence[SessionCost]) -> dict[str, Any]:
    total = _total(sessions).to_dict()
    names = ("turns", "model_calls", "full", "window", "selected", "reported", "dollars")
    return {
        "sessions": len(sessions),
        "sessions_reported": sum(cost.reported is not None for cost in sessions),
        "sessions_priced": sum(cost.tariff is not None for cost in sessions),
        **{name: total[name] for name in names},
    }


def _total(sessions: Sequence[SessionCost], *, title: str = "") -> SessionCost:
    names = ("turns", "model_calls", "calls_asked", "calls_sent_whole", "full", "window", "selected")
    return SessionCost(
        file="",
        number=1,
        id=None,
        title=title,
        day=None,
        form="",
        reported=Reported.total(cost.reported for cost in sessions),
        dollars=Dollars.total(cost.dollars for cost in sessions),
        **{name: sum(getattr(cost, name) for cost in sessions) for name in names},
    )


def sessions_view(
    sessions: Sequence[SessionCost], unread: Sequence[Unread], *, files: int, token_budget: int, texts: Texts
) -> Iterator[RenderableType]:
    """Yield how many there are, a row for the costliest, the totals, and what could not be read.

    Args:
        sessions: what each of them costs, the costliest first; where any has dollars, these take the place of tokens.
        unread: what could not be read.
        files: how many files there are.
        token_budget: for each request, in tokens.
        texts: in which language.
    """
    dollars = _total(sessions).dollars
    name = "sessions_in_dollars" if dollars else "sessions_heading"
    yield Text(texts(name, sessions=len(sessions), files=files, budget=token_budget), style="bold")
    yield Text()
    yield _sessions_table(sessions, texts)
    hidden = sessions[_MAX_ROWS:]
    if hidden:
        tokens = sum(cost.full for cost in hidden)
        yield Text(texts("more_sessions", sessions=len(hidden), tokens=tokens), style="dim")
    if any(cost.calls_asked < cost.model_calls for cost in sessions):
        yield Text(texts("sessions_asked", asked=MAX_CALLS), style="dim")
    yield from bill_lines([cost.tariff for cost in sessions], dollars, texts)
    dearer = sum(cost.dollars is not None and not cost.dollars.pays for cost in sessions)
    if dollars and dollars.pays and dearer:
        yield Text(texts("sessions_pay_not", sessions=dearer))
    unpriced = sum(cost.tariff is None for cost in sessions)
    if dollars and unpriced:
        yield Text(texts("sessions_unpriced", sessions=unpriced), style="dim")
    if unread:
        yield Text()
        yield Text(texts("unread_heading", files=len({each.file for each in unread})))
        for file, reason in unread[:_MAX_ROWS]:
            yield Padding(Text(f"{visible(file)}: {visible(reason)}"), (0, 0, 0, 2), expand=False)
        if len(unread) > _MAX_ROWS:
            yield Text(texts("more_files", files=len(unread) - _MAX_ROWS), style="dim")


def _sessions_table(sessions: Sequence[SessionCost], texts: Texts) -> Table:
    total = _total(sessions, title=texts("sessions_total", sessions=len(sessions)))
    in_dollars = total.dollars is not None
    headings = [name for name in total.figures(in_dollars=in_dollars) if name != "reported" or total.reported]
    table = plain_table()
    table.add_column(texts("session"), ratio=1, min_width=_NAME_COLUMNS, no_wrap=True, overflow="ellipsis")
    table.add_column(texts("day"), no_wrap=True)
    for heading in headings:
        table.add_column(texts(heading), justify="right", no_wrap=True)
    for cost in (*sessions[:_MAX_ROWS], total):
        if cost is total:
            table.add_section()
        figures = cost.figures(in_dollars=in_dollars)
        table.add_row(*map(Text, (visible(cost.name), cost.day or "-", *(figures[heading] for heading in headings))))
    return table
