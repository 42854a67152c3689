"""The report of ``gatekeeper eval``: sections of lines, tables and cases, for a terminal or as Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.padding import Padding
from rich.text import Text

from gatekeeper_cli.explanation import listed, shown_dollars
from gatekeeper_cli.output import plain_table
from gatekeeper_cli.texts import Texts, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from gatekeeper_eval import Plan, Sample, Verdicts
    from gatekeeper_eval.prompts import Prompts
    from gatekeeper_eval.reminders import Reminders
    from gatekeeper_eval.statistics import Share

_CASES = 5
_SHOWN_CHARACTERS = 300
_DIGEST_CHARACTERS = 12
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~])")


@dataclass
class Report:
    """The results of an evaluation; ``plan`` is None without a model, ``verdicts`` if nothing was judged."""

    sample: Sample
    prompts: Sequence[Prompts] = field(repr=False)
    reminders: Reminders = field(repr=False)
    token_budget: int
    seed: int
    plan: Plan | None = None
    verdicts: Verdicts | None = None
    requests_sent: int = 0

    @property
    def tokens(self) -> dict[str, int]:
        """The tokens of all prompts, with the whole history and with the selection."""
        views = [each.view for each in self.prompts]
        return {"whole": sum(each.history_tokens for each in views), "selected": sum(each.tokens for each in views)}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values, including texts of the sampled turns."""
        return {
            "turns": len(self.sample.turns),
            "eligible": self.sample.eligible,
            "conversations": self.sample.conversations,
            "unread": [each._asdict() for each in self.sample.unread],
            "seed": self.seed,
            "token_budget": self.token_budget,
            "tokens": self.tokens,
            "reminders": self.reminders.to_dict(),
            "plan": self.plan and self.plan._asdict(),
            "requests_sent": self.requests_sent,
            "verdicts": self.verdicts and self.verdicts.to_dict(),
        }


class Section(NamedTuple):
    """A section of a report: heading, text, a table of names and figures with notes below it, and single turns."""

    title: str
    lines: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    cases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    notes: tuple[str, ...] = ()


def sections(report: Report, texts: Texts) -> Iterator[Section]:
    """Yield the sections of a report."""
    sample, tokens = report.sample, report.tokens
    full, selected = tokens["whole"], tokens["selected"]
    lines = [
        texts("eval.sampled", turns=len(sample.turns), eligible=sample.eligible, seed=report.seed),
        texts("eval.tokens", selected=selected, whole=full, share=texts.percent(full - selected, full)),
    ]
    if sample.unread:
        lines.append(texts("unread_heading", files=len({each.file for each in sample.unread})))
        lines += [f"{visible(file)}: {visible(reason)}" for file, reason in sample.unread[:_CASES]]
    yield Section(texts("eval.heading", conversations=sample.conversations, budget=report.token_budget), tuple(lines))
    reminders, cases = report.reminders, []
    for look in [look for look in reminders.looks if look.missed][:_CASES]:
        turn, missed = look.turn, listed([each.text for each in look.missed], texts)
        heading = texts("eval.case", turn=visible(str(turn.id)), tokens=look.tokens, history=look.history_tokens)
        quotes = _quote("eval.question", turn.question, texts), _quote("eval.next", turn.next_text, texts)
        cases.append((heading, (*quotes, texts("eval.not_held", anchors=missed))))
    if reminders.looks:
        rows = (
            _share_row(texts, texts("eval.turns_missed"), reminders.turns),
            _share_row(texts, texts("eval.missed"), reminders.missed),
            _share_row(texts, texts("eval.missed_by_newest"), reminders.missed_by_newest),
        )
        headings = tuple(map(texts, ("eval.measure", "eval.count", "eval.share", "eval.interval")))
        explained, notes = (texts("eval.reminders_what"),), (texts("eval.reminders_bound"),)
        yield Section(texts("eval.reminders"), explained, headings, rows, tuple(cases), notes)
    else:
        yield Section(texts("eval.reminders"), (texts("eval.no_reminders"),))
    if report.verdicts:
        yield from _verdicts(report.verdicts, texts)
    elif plan := report.plan:
        dollars = texts("eval.no_price") if plan.dollars is None else shown_dollars(plan.dollars)
        plan_lines = (
            texts("eval.plan_turns", turns=plan.turns, same=plan.same_prompts),
            texts("eval.plan_requests", requests=plan.requests, known=plan.in_ledger),
            texts("eval.plan_cost", read=plan.input_tokens, written=plan.output_tokens, dollars=dollars),
        )
        yield Section(texts("eval.plan"), plan_lines)


def _verdicts(verdicts: Verdicts, texts: Texts) -> Iterator[Section]:
    rows = [_share_row(texts, texts(f"eval.is_{name}"), verdicts.share(name)) for name in ("better", "equal", "worse")]
    rows.append(_share_row(texts, texts("eval.not_worse"), verdicts.share("better", "equal")))
    rows.append(_share_row(texts, texts("eval.difference"), verdicts.difference))
    notes = [texts("eval.disagreed", count=verdicts.disagreed)]
    counts = [(name, verdicts.count(name)) for name in ("same_prompt", "refused", "no_verdict")]
    notes += [texts(f"eval.more_{name}", count=count) for name, count in counts if count]
    if verdicts.stopped:
        notes.append(texts("eval.stopped"))
    headings = tuple(map(texts, ("eval.outcome", "eval.count", "eval.share", "eval.interval")))
    yield Section(texts("eval.verdicts"), (), headings, tuple(rows), notes=tuple(notes))

    costs = verdicts.costs
    rows = []
    for name, cost in costs.items():
        figures = (f"{count:,}" for count in (cost.input_tokens, cost.cached_tokens, cost.output_tokens))
        rows.append((texts(f"eval.side_{name}"), *figures, shown_dollars(cost.dollars)))
    full, selected = costs["whole"].dollars, costs["selected"].dollars
    saved = (texts("eval.saved", share=texts.percent(full - selected, full)),) if full and selected is not None else ()
    headings = tuple(map(texts, ("eval.side", "eval.read", "eval.cached", "eval.written", "dollars")))
    yield Section(texts("eval.costs"), (), headings, tuple(rows), notes=saved)

    shown = [each for each in verdicts.judged if each.outcome == "worse" or each.reason or each.disagreed]
    cases = []
    for each in shown[:_CASES]:
        quotes = [("eval.question", each.turn.question)]
        quotes += zip(("eval.with_whole", "eval.with_selected"), each.answers, strict=True)
        quotes += [("eval.judge_said", opinion) for opinion in each.opinions]
        lines = [_quote(name, text, texts) for name, text in quotes if text]
        lines += [texts("eval.refused_because", reason=visible(each.reason))] if each.reason else []
        lines.append(texts("eval.digests", digests=" ".join(one[:_DIGEST_CHARACTERS] for one in each.digests)))
        outcome = texts("eval.orders_disagree") if each.disagreed else texts(f"eval.is_{each.outcome}")
        cases.append((texts("eval.verdict_case", turn=visible(str(each.turn.id)), outcome=outcome), tuple(lines)))
    yield Section(texts("eval.worst"), () if cases else (texts("eval.no_worst"),), cases=tuple(cases))


def _share_row(texts: Texts, name: str, share: Share) -> tuple[str, ...]:
    interval = f"{100 * share.low:.1f} – {texts.percent(share.high, 1)}"
    return name, f"{share.hits:,} / {share.total:,}", texts.percent(share.value, 1), interval


def _quote(name: str, text: str, texts: Texts) -> str:
    line = visible(text)
    return texts(name, text=line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…")


def terminal(parts: Iterable[Section]) -> Iterator[RenderableType]:
    """Yield sections for a terminal."""
    for at, part in enumerate(parts):
        if at:
            yield Text()
        yield Text(part.title, style="bold")
        yield from map(Text, part.lines)
        if part.rows:
            table = plain_table(expand=False)
            for number, heading in enumerate(part.headings):
                table.add_column(heading, justify="right" if number else "left", no_wrap=bool(number))
            for row in part.rows:
                table.add_row(*map(Text, row))
            yield table
        for line in part.notes:
            yield Text(line, style="dim")
        for heading, lines in part.cases:
            yield Text(heading)
            yield from (Padding(Text(line), (0, 0, 0, 2), expand=False) for line in lines)


def markdown(parts: Iterable[Section]) -> str:
    r"""Return sections as Markdown; markup in texts of the chats is escaped.

    >>> print(markdown([Section("Costs", (), ("side", "tokens"), (("a|b", "1"),), notes=("so *it* is",))]))
    ## Costs
    <BLANKLINE>
    | side | tokens |
    |---|---:|
    | a\|b | 1 |
    <BLANKLINE>
    so \*it\* is
    """

    def plain(text: str) -> str:
        return _MARKUP.sub(r"\\\1", text)

    blocks = []
    for part in parts:
        blocks += [f"## {plain(part.title)}", *map(plain, part.lines)]
        if part.rows:
            ruler = "|".join(["---", *["---:"] * (len(part.headings) - 1)])
            rows = [f"| {' | '.join(map(plain, row))} |" for row in (part.headings, *part.rows)]
            blocks.append("\n".join([rows[0], f"|{ruler}|", *rows[1:]]))
        blocks += map(plain, part.notes)
        for heading, lines in part.cases:
            blocks.append("\n".join([f"* {plain(heading)}", *(f"  * {plain(line)}" for line in lines)]))
    return "\n\n".join(blocks)
