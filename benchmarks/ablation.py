"""The parts that can be switched off, one at a time; a new part is one more row of ``PARTS``."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gatekeeper_core import GatekeeperConfig
from gatekeeper_core.selection import coverage, retrieval
from gatekeeper_core.selection.retrieval import RetrievalConfig
from gatekeeper_core.selection.topics import GateConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["EVERYTHING", "PARTS", "ablations"]

EVERYTHING = "everything on"
_MEAN_WEIGHT = (RetrievalConfig().user_weight + RetrievalConfig().assistant_weight) / 2

PARTS: dict[str, dict[str, dict[str, Any]]] = {
    "no neighbours": {"constants": {"neighbour_weight": 0.0}},
    "no reach": {"constants": {"reach_weight": 0.0}},
    "no synonyms": {"constants": {"synonym_weight": 0.0}},
    "no kinds": {"constants": {"kind_weight": 0.0}},
    "no misspelt words": {"constants": {"misspelling_weight": 0.0}},
    "no feedback": {"constants": {"feedback_weight": 0.0}},
    "no answers": {"constants": {"answer_weight": 0.0}},
    "no named speakers": {"constants": {"speaker_weight": 0.0}},
    "no whole hits": {"retrieval": {"exact_weight": 0.0}},
    "no recency": {"retrieval": {"recency_weight": 0.0}},
    "user and assistant alike": {"retrieval": {"user_weight": _MEAN_WEIGHT, "assistant_weight": _MEAN_WEIGHT}},
    "length costs nothing": {"alpha": {"alpha": 0.0}},
    "no evidence floor": {"coverage": {"evidence_share": 0.0}},
    "no newest turn": {"gate": {"whole_above": 1.0, "snippet_above": 1.0}},
    "no snippet of the newest turn": {"gate": {"snippet_above": GateConfig().whole_above}},
    "no excerpts": {"trimming": {"min_tokens": 10**9, "max_tokens": 10**9}},
}
"""By name, for each settings class of ``GatekeeperConfig`` that changes, the values that switch the part off.

``constants`` and ``alpha`` are no settings: the fitted constants of the score, and what length counts in a value.
"""


def ablations(
    base: GatekeeperConfig, parts: Mapping[str, Mapping[str, Mapping[str, Any]]] = PARTS
) -> Iterator[tuple[str, GatekeeperConfig]]:
    """Yield the settings as they are, then with each part off, by name.

    A constant that is no setting is changed until the next part is asked for.
    """
    yield EVERYTHING, base
    for name, changes in parts.items():
        settings = {stage: values for stage, values in changes.items() if stage not in ("constants", "alpha")}
        with _changed(changes.get("constants", {}), **changes.get("alpha", {})):
            stages: dict[str, Any] = {at: replace(getattr(base, at), **values) for at, values in settings.items()}
            yield name, replace(base, **stages)


@contextmanager
def _changed(constants: Mapping[str, Any], *, alpha: float = coverage.ALPHA) -> Iterator[None]:
    before = retrieval.CONSTANTS, coverage.ALPHA
    retrieval.CONSTANTS, coverage.ALPHA = replace(before[0], **constants), alpha
    try:
        yield
    finally:
        retrieval.CONSTANTS, coverage.ALPHA = before
