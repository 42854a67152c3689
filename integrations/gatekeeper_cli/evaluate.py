"""``gatekeeper eval``: what the selection lacks on the user's own logs, and how answers with it compare."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer
from rich.progress import MofNCompleteColumn

from gatekeeper_cli.bill import CacheState
from gatekeeper_cli.evaluate_view import Report, markdown, sections, terminal
from gatekeeper_cli.meaning import meaning_encoder
from gatekeeper_cli.models import client_at
from gatekeeper_cli.opening import FromFormat, check_form, progress_bar
from gatekeeper_cli.output import (
    AsJson,
    Lang,
    Meaning,
    PricesOption,
    RequestBudget,
    Strategy,
    StrategyOption,
    price_list,
    print_json,
    request_budget,
    show,
)
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.texts import Language, speak, spoken, texts_for
from gatekeeper_core.errors import GatekeeperError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper_cli.texts import Texts
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.pricing.prices import ModelPrices
    from gatekeeper_eval import EvalConfig, Model

__all__ = ["evaluate"]

_TURNS = (500, 50)
"""Turns that are sampled without a model and with one. Source: ours; 50 turns are 200 requests at most."""

_HELP = texts_for(Language.auto)


def evaluate(
    chats: Annotated[str, typer.Argument(help=_HELP("help.chats"), metavar="FILE|DIR")],
    turns: Annotated[int | None, typer.Option("--turns", help=_HELP("help.turns"))] = None,
    seed: Annotated[int, typer.Option("--seed", help=_HELP("help.seed"))] = 0,
    budget: RequestBudget = None,
    strategy: StrategyOption = Strategy.gate,
    meaning: Meaning = False,
    model: Annotated[str | None, typer.Option("--model", help=_HELP("help.eval_model"), metavar="NAME")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help=_HELP("help.base_url"), metavar="URL")] = None,
    key_env: Annotated[str | None, typer.Option("--key-env", help=_HELP("help.key_env"), metavar="NAME")] = None,
    judge: Annotated[str, typer.Option("--judge", help=_HELP("help.judge"), metavar="NAME")] = "",
    rubric: Annotated[Language, typer.Option("--rubric", help=_HELP("help.rubric"))] = Language.auto,
    body: Annotated[str, typer.Option("--body", help=_HELP("help.body"), metavar="JSON")] = "{}",
    prices: PricesOption = None,
    ledger: Annotated[str, typer.Option("--ledger", help=_HELP("help.ledger"), metavar="FILE")] = "eval.jsonl",
    dry_run: Annotated[bool, typer.Option("--dry-run", help=_HELP("help.dry_run"))] = False,
    yes: Annotated[bool, typer.Option("--yes", help=_HELP("help.eval_yes"))] = False,
    max_dollars: Annotated[float | None, typer.Option("--max-dollars", help=_HELP("help.max_dollars"))] = None,
    jobs: Annotated[int, typer.Option("--jobs", help=_HELP("help.jobs"))] = 4,
    timeout: Annotated[float, typer.Option("--timeout", help=_HELP("help.timeout"))] = 120.0,
    request: Annotated[str | None, typer.Option("--request", help=_HELP("help.request"), metavar="DIGEST")] = None,
    as_json: AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help=_HELP("help.markdown"))] = False,
    form: FromFormat = None,
    lang: Lang = Language.auto,
) -> None:
    """Show what the selection lacks on your own logs and, with a model, how answers with it compare."""
    texts = speak(lang)
    check_form(form)
    if as_json and as_markdown:
        refuse(texts("error.json_and_markdown"))
    turns = _TURNS[model is not None] if turns is None else turns
    if min(turns, jobs) < 1:
        refuse(texts("error.eval_counts"))
    embedder, rows = meaning_encoder(wanted=meaning), price_list(None, prices, CacheState.none).rows
    try:
        if request is not None:
            _show_request(chats, ledger, request, form=form, embedder=embedder)
            return
        choosing = _Choosing(request_budget(budget, model), strategy, embedder)
        report = _label_free(chats, choosing, turns=turns, seed=seed, form=form)
        if model is None:
            _put_out(report, texts, as_json=as_json, as_markdown=as_markdown)
            return
        settings = _config(choosing, model=model, judge=judge, rubric=rubric, body=body)
        asking = _Asking(ledger, base_url, key_env, timeout, jobs, dry_run=dry_run, yes=yes, max_dollars=max_dollars)
        status = _with_model(report, settings, rows, asking)
    except GatekeeperError as error:
        refuse(str(error))
    _put_out(report, texts, as_json=as_json, as_markdown=as_markdown)
    if status == "asks":
        refuse(texts("error.eval_asks"))
    if status == "stopped":
        raise typer.Exit(1)


class _Choosing(NamedTuple):
    """The options that say what is selected."""

    budget: int
    strategy: Strategy
    embedder: TextEncoder | None


def _label_free(chats: str, choosing: _Choosing, *, turns: int, seed: int, form: str | None) -> Report:
    from gatekeeper_core.selection.planner import GatekeeperConfig
    from gatekeeper_eval import look_back, prompts_of, reminders_of, sample_turns

    sample = sample_turns(chats, count=turns, seed=seed, form=form)
    config, budget = GatekeeperConfig(strategy=choosing.strategy.value), choosing.budget
    prompts = tuple(prompts_of(sample.turns, token_budget=budget, config=config, embedder=choosing.embedder))
    return Report(chats, sample, prompts, reminders_of([look_back(each) for each in prompts], seed=seed), budget, seed)


def _config(choosing: _Choosing, *, model: str, judge: str, rubric: Language, body: str) -> EvalConfig:
    from gatekeeper_eval import EvalConfig

    try:
        fields = json.loads(body)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        refuse(spoken()("error.body"))
    return EvalConfig(
        model=model,
        judge=judge,
        token_budget=choosing.budget,
        strategy=choosing.strategy.value,
        embedder=choosing.embedder.name if choosing.embedder else "",
        rubric=rubric.value,
        body=fields,
    )


class _Asking(NamedTuple):
    """The options that say how a model is asked, and whether it is."""

    ledger: str
    base_url: str | None
    key_env: str | None
    timeout: float
    jobs: int
    dry_run: bool
    yes: bool
    max_dollars: float | None


def _with_model(
    report: Report, config: EvalConfig, rows: Mapping[str, ModelPrices], asking: _Asking
) -> Literal["", "asks", "stopped"]:
    """Add the plan and, where it may be asked, the verdicts to a report; return what ended it early, or ""."""
    from gatekeeper_eval import Asker, Ledger, plan
    from gatekeeper_eval import evaluate as evaluated

    ledger = Ledger(asking.ledger)
    if ledger.torn:
        typer.echo(f"gatekeeper: {spoken()('eval.torn', file=asking.ledger, count=ledger.torn)}", err=True)
    report.plan = plan(report.prompts, config, ledger, prices=rows)
    if asking.max_dollars is not None and report.plan.dollars is None:
        refuse(spoken()("error.eval_prices", model=config.judge or config.model))
    if asking.dry_run:
        return ""
    if report.plan.requests and not asking.yes and asking.max_dollars is None:
        return "asks"
    known = len(ledger)
    with ExitStack() as stack:
        model = _model(config, asking, stack)
        asker = Asker(model, ledger, config, prices=rows, max_dollars=asking.max_dollars)
        advance = stack.enter_context(progress_bar(len(report.prompts), count=MofNCompleteColumn))
        progress = (lambda _judged: advance(1)) if advance else None
        try:
            report.verdicts = evaluated(
                report.prompts, config, asker, jobs=asking.jobs, prices=rows, seed=report.seed, progress=progress
            )
        except GatekeeperError as error:
            kept = spoken()("eval.kept", count=len(ledger) - known, file=asking.ledger)
            refuse(str(error), details=[kept])
        report.asked = asker.asked
    return "stopped" if report.verdicts.stopped else ""


def _model(config: EvalConfig, asking: _Asking, stack: ExitStack) -> Model:
    from gatekeeper_eval import FunctionModel

    if asking.base_url is None:
        names = [config.model, *([config.judge] if config.judge else [])]
        for name in names:
            if ":" not in name:
                refuse(spoken()("error.eval_model", model=name))
        return FunctionModel.named(*names)
    client = client_at(asking.base_url, config.model, asking.key_env, timeout_seconds=asking.timeout)
    from gatekeeper_eval import HttpModel

    return HttpModel(stack.enter_context(client))


def _show_request(chats: str, ledger: str, digest: str, *, form: str | None, embedder: TextEncoder | None) -> None:
    from gatekeeper_eval import Ledger, rebuild

    body = rebuild(chats, Ledger(ledger), digest, form=form, embedder=embedder)
    if sys.stdout is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()


def _put_out(report: Report, texts: Texts, *, as_json: bool, as_markdown: bool) -> None:
    if as_json:
        print_json(report.to_dict())
    elif as_markdown:
        typer.echo(markdown(sections(report, texts)))
    else:
        show(terminal(sections(report, texts)))
