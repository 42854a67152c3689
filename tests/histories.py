"""A short way to a view: tests name the settings that matter to them, and nothing is sent whole for being short."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from gatekeeper_core.context.history.select import select_history
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.selection.settings import GatekeeperConfig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_core.messages import Message

_SETTINGS = {field.name for field in fields(HistoryConfig)} - {"gatekeeper"}


def config_of(**settings: Any) -> HistoryConfig:
    """Return settings under which a short history is chosen from, too, and the current run is sent as it is."""
    return HistoryConfig(**{"passthrough_below": 0, "run": None, **settings})


def view_with(messages: Sequence[Message], **arguments: Any) -> HistoryView:
    """Return ``select_history`` of these messages; settings and other arguments side by side."""
    settings = {name: value for name, value in arguments.items() if name in _SETTINGS}
    others = {name: value for name, value in arguments.items() if name not in _SETTINGS}
    return select_history(messages, config=config_of(**settings), **others)


def selector_with(config: HistoryConfig, **arguments: Any) -> ThreadSelector[Message]:
    """Return a selector of messages as they are."""
    return ThreadSelector(lambda message: message, write=lambda _, new: new, config=config, **arguments)


def unbilled(view: HistoryView) -> HistoryView:
    """Return a view as a call without a state gives it."""
    return view._replace(bill=None, state=None)


def configured(**options: Any) -> dict[str, Any]:
    """Return the arguments of an adapter: ``config`` for what is a setting, and the rest; ``trim`` is the selection's.

    Beside a ``token_limit`` or a builder the config has no budget.
    """
    if "trim" in options:
        options["gatekeeper"] = replace(options.get("gatekeeper") or GatekeeperConfig(), trim=options.pop("trim"))
    others = {name: options.pop(name) for name in options.keys() - {field.name for field in fields(HistoryConfig)}}
    if not others.keys().isdisjoint({"token_limit", "builder"}):
        options.setdefault("token_budget", None)
    return {"config": HistoryConfig(**options), **others}
