"""The parts that can be switched off, one at a time; a new part is one more row of ``PARTS``."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gatekeeper_core import GatekeeperConfig
from gatekeeper_core.selection import planner
from gatekeeper_core.selection.retrieval import RetrievalConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["EVERYTHING", "PARTS", "ablations", "with_constants"]

EVERYTHING = "everything on"
_MEAN_WEIGHT = (RetrievalConfig().user_weight + RetrievalConfig().assistant_weight) / 2

PARTS: dict[str, dict[str, dict[str, Any]]] = {
    "no neighbours": {"constants": {"retrieval._NEIGHBOUR_WEIGHT": 0.0}},
    "no reach": {"constants": {"retrieval._REACH_WEIGHT": 0.0}},
    "no synonyms": {"constants": {"expansion._SYNONYM_WEIGHT": 0.0}},
    "no kinds": {"constants": {"expansion._KIND_WEIGHT": 0.0}},
    "no named speakers": {"constants": {"retrieval._SPEAKER_WEIGHT": 0.0}},
    "no whole hits": {"retrieval": {"exact_weight": 0.0}},
    "no recency": {"retrieval": {"recency_weight": 0.0}},
    "user and assistant alike": {"retrieval": {"user_weight": _MEAN_WEIGHT, "assistant_weight": _MEAN_WEIGHT}},
    "length costs nothing": {"constants": {"coverage.ALPHA": 0.0}},
    "no evidence floor": {"constants": {"planner._EVIDENCE_SHARE": 0.0}},
    "no newest turn": {"constants": {"planner._WHOLE_ABOVE": 1.0, "planner._SNIPPET_ABOVE": 1.0}},
    "no snippet of the newest turn": {"constants": {"planner._SNIPPET_ABOVE": planner._WHOLE_ABOVE}},
    "no excerpts": {"constants": {"trimming._MIN_TOKENS": 10**9}, "trimming": {"max_tokens": 10**9}},
}
"""By name the values that switch the part off: of constants, by module, and of settings of ``GatekeeperConfig``."""


def ablations(
    base: GatekeeperConfig, parts: Mapping[str, Mapping[str, Mapping[str, Any]]] = PARTS
) -> Iterator[tuple[str, GatekeeperConfig]]:
    """Yield the settings as they are, then with each part off, by name.

    A constant is changed until the next part is asked for.
    """
    yield EVERYTHING, base
    for name, changes in parts.items():
        settings = {at: replace(getattr(base, at), **values) for at, values in changes.items() if at != "constants"}
        with with_constants(changes.get("constants", {})):
            yield name, replace(base, **settings)


@contextmanager
def with_constants(values: Mapping[str, Any]) -> Iterator[None]:
    """Give constants of selection other values for a while, each named as ``module.CONSTANT``."""
    places = [(import_module(f"gatekeeper_core.selection.{name.split('.')[0]}"), name.split(".")[1]) for name in values]
    before = [getattr(*place) for place in places]
    for place, value in zip(places, values.values(), strict=True):
        setattr(*place, value)
    try:
        yield
    finally:
        for place, value in zip(places, before, strict=True):
            setattr(*place, value)
