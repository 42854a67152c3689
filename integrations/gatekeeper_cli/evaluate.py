"""``gatekeeper eval``: what the selection misses in the user's own logs, and how answers with it compare."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.progress import MofNCompleteColumn

from gatekeeper_cli.evaluate_view import Report, markdown, sections, terminal
from gatekeeper_cli.meaning import meaning_encoder
from gatekeeper_cli.models import client_at
from gatekeeper_cli.options import (
    HELP,
    AsJson,
    BaseUrl,
    Form,
    KeyEnv,
    Lang,
    Meaning,
    Prices,
    RequestBudget,
    SelectionStrategy,
    StrategyOption,
    check_form,
    request_budget,
)
from gatekeeper_cli.output import note, print_json, progress_bar, refuse, show
from gatekeeper_cli.texts import Language, speak, spoken
from gatekeeper_core.errors import GatekeeperError
from gatekeeper_core.pricing.prices import PRICES, read_prices

if TYPE_CHECKING:
    from gatekeeper_eval import Model

_TURNS = (500, 50)  # sampled turns without a model and with one. Source: ours; 50 turns are 200 requests at most.


@dataclass(frozen=True)
class _Sampling:
    turns: Annotated[int | None, typer.Option("--turns", help=HELP("help.turns"))] = None
    seed: Annotated[int, typer.Option("--seed", help=HELP("help.seed"))] = 0
    budget: RequestBudget = None
    strategy: StrategyOption = SelectionStrategy.gate
    meaning: Meaning = False


@dataclass(frozen=True)
class _Asking:
    model: Annotated[str | None, typer.Option("--model", help=HELP("help.eval_model"), metavar="NAME")] = None
    base_url: BaseUrl = None
    key_env: KeyEnv = None
    judge: Annotated[str, typer.Option("--judge", help=HELP("help.judge"), metavar="NAME")] = ""
    rubric: Annotated[Language, typer.Option("--rubric", help=HELP("help.rubric"))] = Language.auto
    body: Annotated[str, typer.Option("--body", help=HELP("help.body"), metavar="JSON")] = "{}"
    prices: Prices = None
    ledger: Annotated[str, typer.Option("--ledger", help=HELP("help.ledger"), metavar="FILE")] = "eval.jsonl"


@dataclass(frozen=True)
class _Running:
    dry_run: Annotated[bool, typer.Option("--dry-run", help=HELP("help.dry_run"))] = False
    yes: Annotated[bool, typer.Option("--yes", help=HELP("help.eval_yes"))] = False
    max_dollars: Annotated[float | None, typer.Option("--max-dollars", help=HELP("help.max_dollars"))] = None
    jobs: Annotated[int, typer.Option("--jobs", help=HELP("help.jobs"))] = 4
    timeout: Annotated[float, typer.Option("--timeout", help=HELP("help.timeout"))] = 120.0
    request: Annotated[str | None, typer.Option("--request", help=HELP("help.request"), metavar="DIGEST")] = None


@dataclass(frozen=True)
class _Showing:
    as_json: AsJson = False
    as_markdown: Annotated[bool, typer.Option("--markdown", help=HELP("help.markdown"))] = False


def evaluate(
    chats: Annotated[str, typer.Argument(help=HELP("help.chats"), metavar="FILE|DIR")],
    sampling: _Sampling,
    asking: _Asking,
    running: _Running,
    showing: _Showing,
    form: Form = None,
    lang: Lang = Language.auto,
) -> None:
    """Show what the selection lacks on your own logs and, with a model, how answers with it compare."""
    from gatekeeper_core.selection.settings import GatekeeperConfig
    from gatekeeper_eval import Ledger, look_back, prompts_of, rebuild, reminders_of, sample_turns

    texts = speak(lang)
    check_form(form)
    if showing.as_json and showing.as_markdown:
        refuse(texts("error.json_and_markdown"))
    turns = _TURNS[asking.model is not None] if sampling.turns is None else sampling.turns
    if min(turns, running.jobs) < 1:
        refuse(texts("error.eval_counts"))
    embedder = meaning_encoder(wanted=sampling.meaning)
    if asking.prices is not None:
        read_prices(asking.prices)  # fails before anything is read
    if running.request is not None:
        body = rebuild(chats, Ledger(asking.ledger), running.request, form=form, embedder=embedder)
        if sys.stdout is not None:
            sys.stdout.flush()
            sys.stdout.buffer.write(body)
            sys.stdout.buffer.flush()
        return
    budget = request_budget(sampling.budget, asking.model)
    sample = sample_turns(chats, count=turns, seed=sampling.seed, form=form)
    config = GatekeeperConfig(strategy=sampling.strategy.value)
    prompts = tuple(prompts_of(sample.turns, token_budget=budget, config=config, embedder=embedder))
    reminders = reminders_of([look_back(each) for each in prompts], seed=sampling.seed)
    report = Report(sample, prompts, reminders, budget, sampling.seed)
    status = "" if asking.model is None else _ask(report, asking, running)
    if showing.as_json:
        print_json(report.to_dict())
    elif showing.as_markdown:
        typer.echo(markdown(sections(report, texts)))
    else:
        show(terminal(sections(report, texts)))
    if status == "asks":
        refuse(texts("error.eval_asks"))
    if status == "stopped":
        raise typer.Exit(1)


def _ask(report: Report, asking: _Asking, running: _Running) -> Literal["", "asks", "stopped"]:
    """Add the plan and, if allowed, the verdicts to a report; return what ended it early, or ""."""
    from gatekeeper_eval import Asker, EvalConfig, FunctionModel, HttpModel, Ledger, plan
    from gatekeeper_eval import evaluate as judge

    texts, prices = spoken(), PRICES if asking.prices is None else read_prices(asking.prices)
    try:
        body = json.loads(asking.body)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        refuse(texts("error.body"))
    config = EvalConfig(model=asking.model or "", judge=asking.judge, rubric=asking.rubric.value, body=body)
    ledger = Ledger(asking.ledger)
    if ledger.torn:
        note(texts("eval.torn", file=asking.ledger, count=ledger.torn))
    report.plan = plan(report.prompts, config, ledger, prices=prices)
    if running.max_dollars is not None and report.plan.dollars is None:
        refuse(texts("error.eval_prices", model=config.judge or config.model))
    if running.dry_run:
        return ""
    if report.plan.requests and not running.yes and running.max_dollars is None:
        return "asks"
    before = len(ledger)
    with ExitStack() as stack:
        model: Model
        if asking.base_url is None:
            names = [config.model, *([config.judge] if config.judge else [])]
            for name in names:
                if ":" not in name:
                    refuse(texts("error.eval_model", model=name))
            model = FunctionModel.named(*names)
        else:
            client = client_at(asking.base_url, config.model, asking.key_env, timeout_seconds=running.timeout)
            model = HttpModel(stack.enter_context(client))
        asker = Asker(model, ledger, prices=prices, max_dollars=running.max_dollars)
        advance = stack.enter_context(progress_bar(len(report.prompts), count=MofNCompleteColumn))
        progress = (lambda _judged: advance(1)) if advance else None
        try:
            report.verdicts = judge(
                report.prompts, config, asker, jobs=running.jobs, prices=prices, seed=report.seed, progress=progress
            )
        except GatekeeperError as error:
            refuse(str(error), details=[texts("eval.kept", count=len(ledger) - before, file=asking.ledger)])
        report.requests_sent = asker.requests_sent
    return "stopped" if report.verdicts.stopped else ""
