"""``gatekeeper inspect``: the topics of a conversation, and what each model call would have sent.

With ``--all``, a table of many conversations::

    folder ──conversation_files──> files ──Session.of──> sessions, the costliest first ──> table or JSON

One conversation is in memory at a time. What cannot be read is skipped and listed at the end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import track
from rich.table import Table
from rich.text import Text

from gatekeeper_cli.costs import MAX_CALLS, Dollars, PriceList, Reported, TokenUse, bill_lines, token_use
from gatekeeper_cli.explanation import meaning_line, shown_dollars
from gatekeeper_cli.files import STANDARD_STREAM, file_size
from gatekeeper_cli.meaning import meaning_encoder
from gatekeeper_cli.options import HELP, Lang, OutputOptions, PricingOptions, ReadingOptions, check_form, request_budget
from gatekeeper_cli.output import conversation_name, note_left_out, plain_table, print_json, progress_bar, refuse, show
from gatekeeper_cli.texts import Language, Texts, speak, visible
from gatekeeper_cli.topics import Timeline, spans
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_formats import SUFFIXES, Heading, Unread, conversation_files, readable_conversations

_MAX_ROWS = 30
_TITLE_COLUMNS = 30
_NAME_COLUMNS = 6
_MAX_SPANS = 12
_SLOW_CALLS = 100


def inspect(
    file: Annotated[str, typer.Argument(help=HELP("help.file_or_folder"), metavar="FILE|DIR")],
    everything: Annotated[bool, typer.Option("--all", help=HELP("help.all"))] = False,
    pricing: PricingOptions = PricingOptions(),  # noqa: B008 - typer fills it
    output: OutputOptions = OutputOptions(),  # noqa: B008
    reading: ReadingOptions = ReadingOptions(),  # noqa: B008
    lang: Lang = Language.auto,
) -> None:
    """Show the topics of a conversation over its turns, and what each model call would have sent."""
    texts, budget = speak(lang), request_budget(pricing.budget, pricing.model)
    prices, embedder = pricing.price_list(), meaning_encoder(wanted=pricing.meaning)
    if everything:
        if output.html is not None or reading.conversation is not None:
            refuse(texts("error.all_alone"))
        report = _Report(budget, prices, embedder)
        report.read(file, form=reading.form, texts=texts)
        if output.as_json:
            print_json(report.to_dict())
        else:
            show(report.view(texts))
        return
    if os.path.isdir(file):
        refuse(texts("error.folder", folder=file))
    conversation = reading.read(file)
    note_left_out(conversation.left_out)
    gatekeeper = ContextGatekeeper(budget, embedder=embedder)
    gatekeeper.sync(conversation.turns)
    timeline, tariff = Timeline.of(gatekeeper), prices.tariff(conversation.usage)

    def progress(calls: Sequence[int]) -> Iterable[int]:
        if len(calls) < _SLOW_CALLS or sys.stderr is None or not sys.stderr.isatty():
            return calls
        return track(calls, texts("working"), console=Console(stderr=True), transient=True)

    use = token_use(conversation.messages, token_budget=budget, tariff=tariff, embedder=embedder, track=progress)
    reported = Reported.of(conversation.usage, tariff)

    def value() -> dict[str, Any]:
        return {
            **timeline.to_dict(),
            "token_budget": budget,
            **use.to_dict(),
            "dollars": use.dollars and tariff and {**tariff.to_dict(), **use.dollars._asdict()},
            "reported": reported and reported._asdict(),
            "usage": [call._asdict() for call in conversation.usage],
            "token_use": [point.to_dict() for point in use.points],
            **({"embedder": use.embedder, "embedder_missed": use.embedder_missed} if use.embedder else {}),
        }

    def page() -> str:
        from gatekeeper_cli.html.pages import timeline_page

        name = conversation_name(file, conversation.heading.title)
        return timeline_page(timeline, conversation.turns, use, reported, token_budget=budget, name=name, texts=texts)

    output.put(
        value=value, page=page, view=lambda: _view(timeline, use, conversation.usage, token_budget=budget, texts=texts)
    )


def _view(
    timeline: Timeline, use: TokenUse, usage: Sequence[Usage], *, token_budget: int, texts: Texts
) -> Iterator[RenderableType]:
    """Yield the totals, a row for each topic, and the tokens of the model calls."""
    costs, subjects = timeline.turn_tokens, timeline.subjects
    yield Text(texts("inspect_heading", turns=len(costs), tokens=sum(costs), topics=len(subjects)), style="bold")
    if not costs:
        return
    name = "inspect_turns" if min(costs) < max(costs) else "inspect_like_turns"
    yield Text(texts(name, least=min(costs), most=max(costs), mean=round(sum(costs) / len(costs))))
    yield Text()
    longest = sorted(range(len(subjects)), key=lambda at: -len(subjects[at].turn_ids))[:_MAX_ROWS]
    table = plain_table()
    table.add_column(texts("topic"), no_wrap=True, overflow="ellipsis", max_width=_TITLE_COLUMNS)
    table.add_column(texts("turns"), justify="right", no_wrap=True)
    table.add_column(texts("tokens"), justify="right", no_wrap=True)
    table.add_column(texts("which_turns"), ratio=1, overflow="fold")
    for at in sorted(longest):
        subject = subjects[at]
        name = f"{at} {subject.name(texts)}"
        numbers = (f"{number:,}" for number in (len(subject.turn_ids), subject.tokens))
        table.add_row(*map(Text, (name, *numbers, spans(subject.turn_ids, texts, limit=_MAX_SPANS))))
    yield table
    if len(subjects) > len(longest):
        hidden = len(costs) - sum(len(subjects[at].turn_ids) for at in longest)
        yield Text(texts("more_topics", topics=len(subjects) - len(longest), turns=hidden), style="dim")
    yield Text()
    yield Text(texts("use_heading", calls=use.calls, budget=token_budget))
    reported, dollars = Reported.of(usage, use.tariff), use.dollars
    table = plain_table(expand=False)
    table.add_column(texts("method"))
    for heading in ("on_average", "at_most", "at_the_end", "in_all", *(["dollars"] if dollars else [])):
        table.add_column(texts(heading), justify="right", no_wrap=True)
    rows = [
        (name, [getattr(point, way) for point in use.points], getattr(use, way), dollars and getattr(dollars, way))
        for name, way in (("full_history", "full"), ("window", "window"), ("selected", "selected"))
    ]
    inputs = [call.input_tokens for call in usage]
    for name, values, total, cost in [*rows, ("reported", inputs, sum(inputs), reported and reported.dollars)]:
        if values:
            figures = (round(sum(values) / len(values)), max(values), values[-1], total)
            cells = [texts(name), *(f"{figure:,}" for figure in figures), *([shown_dollars(cost)] if dollars else [])]
            table.add_row(*map(Text, cells))
    yield table
    if use.calls_sent_whole:
        yield Text(texts("use_whole", whole=use.calls_sent_whole, asked=len(use.points)), style="dim")
    if len(use.points) < use.calls:
        yield Text(texts("use_asked", asked=len(use.points)), style="dim")
    if line := meaning_line(use.embedder, use.embedder_missed, texts):
        yield Text(line)
    if reported:
        yield Text(texts("reported_line", **reported._asdict()))
    for line, style in bill_lines([use.tariff], dollars, texts):
        yield Text(line, style=style)


# --- many conversations ---------------------------------------------------------------------------------------------


class Session(NamedTuple):
    """One conversation of a file: its start day, its number of turns, the tokens and dollars of its requests."""

    file: str
    heading: Heading
    day: str | None
    form: str
    turns: int
    use: TokenUse
    reported: Reported | None

    @property
    def name(self) -> str:
        """The title; without one, the file, with the number unless it is the first."""
        number = self.heading.number
        return self.heading.title or (self.file if number == 1 else f"{self.file} #{number}")

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values, without any message."""
        return {
            "file": self.file,
            "number": self.heading.number,
            "id": self.heading.id,
            "title": self.heading.title,
            "day": self.day,
            "form": self.form,
            "turns": self.turns,
            **self.use.to_dict(),
            "reported": self.reported and self.reported._asdict(),
            "tariff": self.use.tariff and self.use.tariff.to_dict(),
            "dollars": self.use.dollars and self.use.dollars._asdict(),
        }


class _Report:
    """The costs of all conversations of a file, or of the files below a folder."""

    def __init__(self, token_budget: int, prices: PriceList, embedder: TextEncoder | None) -> None:
        self._token_budget, self._prices, self._embedder = token_budget, prices, embedder
        self._files = 0
        self._sessions: list[Session] = []
        self._unread: list[Unread] = []

    def read(self, source: str, *, form: str | None, texts: Texts) -> None:
        """Read a file or a folder; refuse one without a readable conversation."""
        check_form(form)
        unread, names = self._unread, {source: conversation_name(source)}
        if os.path.isdir(source):
            names = {file: os.path.relpath(file, source) for file in conversation_files(source, unread)}
            if not names and not unread:
                refuse(texts("error.no_sessions", folder=source, suffixes=", ".join(SUFFIXES)))
        self._files = len(names)
        with progress_bar(sum(map(file_size, names))) as progress:
            for file, name in names.items():
                stream = sys.stdin.buffer if file == STANDARD_STREAM else file
                for each in readable_conversations(stream, name, unread=unread, form=form, progress=progress):
                    tariff, heading = self._prices.tariff(each.usage), each.heading
                    days = (message.created_at.date().isoformat() for message in each.messages if message.created_at)
                    use = token_use(
                        each.messages, token_budget=self._token_budget, tariff=tariff, embedder=self._embedder
                    )
                    day, reported = heading.created or next(days, None), Reported.of(each.usage, tariff)
                    self._sessions.append(Session(name, heading, day, each.form, len(each.turns), use, reported))
        if not self._sessions and source in names and unread:
            refuse(f"{source}: {unread[0].reason}")
        if not self._sessions:
            details = [f"{file}: {reason}" for file, reason in unread]
            refuse(texts("error.none_read", folder=source, files=len(names)), details=details[:_MAX_ROWS])

        def rank(session: Session) -> tuple[float, int, str, int]:
            dollars = session.use.dollars
            return -(dollars.full if dollars else 0), -session.use.full, session.file, session.heading.number

        self._sessions.sort(key=rank)

    def _total(self) -> dict[str, Any]:
        uses = [session.use for session in self._sessions]
        counts = [use.to_dict() for use in uses]
        return {
            "turns": sum(session.turns for session in self._sessions),
            **{name: sum(each[name] for each in counts) for name in ("model_calls", "full", "window", "selected")},
            "reported": Reported.total(session.reported for session in self._sessions),
            "dollars": Dollars.total(use.dollars for use in uses),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values: every session, and the totals."""
        total = self._total()
        return {
            "token_budget": self._token_budget,
            **({"embedder": self._embedder.name} if self._embedder else {}),
            "files": self._files,
            "sessions": [session.to_dict() for session in self._sessions],
            "totals": {
                "sessions": len(self._sessions),
                "sessions_reported": sum(session.reported is not None for session in self._sessions),
                "sessions_priced": sum(session.use.tariff is not None for session in self._sessions),
                **total,
                "reported": total["reported"] and total["reported"]._asdict(),
                "dollars": total["dollars"] and total["dollars"]._asdict(),
            },
            "unread": [each._asdict() for each in self._unread],
        }

    def view(self, texts: Texts) -> Iterator[RenderableType]:
        """Yield the heading, a row for each of the costliest, the totals, and what could not be read."""
        sessions, unread, dollars = self._sessions, self._unread, self._total()["dollars"]
        name = "sessions_in_dollars" if dollars else "sessions_heading"
        yield Text(texts(name, sessions=len(sessions), files=self._files, budget=self._token_budget), style="bold")
        yield Text()
        yield self._table(texts)
        if hidden := sessions[_MAX_ROWS:]:
            tokens = sum(session.use.full for session in hidden)
            yield Text(texts("more_sessions", sessions=len(hidden), tokens=tokens), style="dim")
        if any(len(session.use.points) < session.use.calls for session in sessions):
            yield Text(texts("sessions_asked", asked=MAX_CALLS), style="dim")
        for line, style in bill_lines([session.use.tariff for session in sessions], dollars, texts):
            yield Text(line, style=style)
        dearer = sum(bill is not None and not bill.pays for bill in (session.use.dollars for session in sessions))
        if dollars and dollars.pays and dearer:
            yield Text(texts("sessions_pay_not", sessions=dearer))
        unpriced = sum(session.use.tariff is None for session in sessions)
        if dollars and unpriced:
            yield Text(texts("sessions_unpriced", sessions=unpriced), style="dim")
        if unread:
            yield Text()
            yield Text(texts("unread_heading", files=len({each.file for each in unread})))
            for file, reason in unread[:_MAX_ROWS]:
                yield Padding(Text(f"{visible(file)}: {visible(reason)}"), (0, 0, 0, 2), expand=False)
            if len(unread) > _MAX_ROWS:
                yield Text(texts("more_files", files=len(unread) - _MAX_ROWS), style="dim")
        if self._embedder:
            yield Text(texts("meaning_heard", embedder=visible(self._embedder.name)))

    def _table(self, texts: Texts) -> Table:
        total = self._total()
        in_dollars = total["dollars"] is not None

        def cells(calls: int, full: int, selected: int, reported: Reported | None, bill: Dollars | None) -> list[str]:
            if in_dollars:
                before = [shown_dollars(bill and bill.full)]
                paid, after = shown_dollars(reported and reported.dollars), shown_dollars(bill and bill.selected)
                saved = texts.percent(bill.share_saved, 1) if bill else "-"
            else:
                before, paid = [], f"{reported.input_tokens:,}" if reported else "-"
                after, saved = f"{selected:,}", texts.percent(full - selected, full)
            return [f"{calls:,}", f"{full:,}", *before, *([paid] if total["reported"] else []), after, saved]

        headings = ["calls", *(["tokens", "full_history"] if in_dollars else ["estimated"])]
        headings += [*(["reported"] if total["reported"] else []), "selected", "saved"]
        table = plain_table()
        table.add_column(texts("session"), ratio=1, min_width=_NAME_COLUMNS, no_wrap=True, overflow="ellipsis")
        table.add_column(texts("day"), no_wrap=True)
        for heading in headings:
            table.add_column(texts(heading), justify="right", no_wrap=True)
        for session in self._sessions[:_MAX_ROWS]:
            use = session.use
            figures = cells(use.calls, use.full, use.selected, session.reported, use.dollars)
            table.add_row(*map(Text, (visible(session.name), session.day or "-", *figures)))
        table.add_section()
        figures = cells(*(total[name] for name in ("model_calls", "full", "selected", "reported", "dollars")))
        table.add_row(*map(Text, (texts("sessions_total", sessions=len(self._sessions)), "-", *figures)))
        return table
