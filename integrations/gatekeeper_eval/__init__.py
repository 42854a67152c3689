"""Evaluation on your own logs: what a selection misses, how answers compare, and assertions on what is kept.

::

    logs ──sample_turns──> turns ──prompts_of──> whole history | selection
                                     ├──look_back──> what users had to repeat and the selection lacked
                                     └──plan, evaluate──> verdicts of your own model, tokens and dollars
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatekeeper_eval.errors import EvalError as EvalError
    from gatekeeper_eval.errors import LedgerError as LedgerError
    from gatekeeper_eval.errors import ModelRefusedError as ModelRefusedError
    from gatekeeper_eval.evaluation import Judged as Judged
    from gatekeeper_eval.evaluation import Plan as Plan
    from gatekeeper_eval.evaluation import Verdicts as Verdicts
    from gatekeeper_eval.evaluation import evaluate as evaluate
    from gatekeeper_eval.evaluation import plan as plan
    from gatekeeper_eval.evaluation import rebuild as rebuild
    from gatekeeper_eval.keeping import assert_keeps as assert_keeps
    from gatekeeper_eval.ledger import Ledger as Ledger
    from gatekeeper_eval.models import FunctionModel as FunctionModel
    from gatekeeper_eval.models import HttpModel as HttpModel
    from gatekeeper_eval.models import Model as Model
    from gatekeeper_eval.models import Reply as Reply
    from gatekeeper_eval.prompts import prompts_of as prompts_of
    from gatekeeper_eval.reminders import look_back as look_back
    from gatekeeper_eval.reminders import reminders_of as reminders_of
    from gatekeeper_eval.requesting import Asker as Asker
    from gatekeeper_eval.requesting import EvalConfig as EvalConfig
    from gatekeeper_eval.sampling import Sample as Sample
    from gatekeeper_eval.sampling import SampledTurn as SampledTurn
    from gatekeeper_eval.sampling import TurnId as TurnId
    from gatekeeper_eval.sampling import sample_turns as sample_turns

_NAMES = {  # imported on first use: every run of pytest loads this package, for its plugin
    "errors": "EvalError LedgerError ModelRefusedError",
    "evaluation": "Judged Plan Verdicts evaluate plan rebuild",
    "keeping": "assert_keeps",
    "ledger": "Ledger",
    "models": "FunctionModel HttpModel Model Reply",
    "prompts": "prompts_of",
    "reminders": "look_back reminders_of",
    "requesting": "Asker EvalConfig",
    "sampling": "Sample SampledTurn TurnId sample_turns",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_MODULES)  # noqa: PLE0605 - the names are listed once, above


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
