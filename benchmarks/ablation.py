"""The parts that can be switched off, one at a time; a new part is one more row of ``PARTS``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gatekeeper_core import GateConfig, GatekeeperConfig, RetrievalConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["EVERYTHING", "PARTS", "ablations"]

EVERYTHING = "everything on"
_MEAN_WEIGHT = (RetrievalConfig().user_weight + RetrievalConfig().assistant_weight) / 2

PARTS: dict[str, dict[str, dict[str, Any]]] = {
    "no neighbours": {"retrieval": {"neighbour_weight": 0.0}},
    "no reach": {"retrieval": {"reach_weight": 0.0}},
    "no synonyms": {"retrieval": {"synonym_weight": 0.0}},
    "no kinds": {"retrieval": {"kind_weight": 0.0}},
    "no misspelt words": {"retrieval": {"misspelling_weight": 0.0}},
    "no feedback": {"retrieval": {"feedback_weight": 0.0}},
    "no answers": {"retrieval": {"answer_weight": 0.0}},
    "no named speakers": {"retrieval": {"speaker_weight": 0.0}},
    "no whole hits": {"retrieval": {"exact_weight": 0.0}},
    "no recency": {"retrieval": {"recency_weight": 0.0}},
    "user and assistant alike": {"retrieval": {"user_weight": _MEAN_WEIGHT, "assistant_weight": _MEAN_WEIGHT}},
    "length costs nothing": {"coverage": {"alpha": 0.0}},
    "no evidence floor": {"coverage": {"evidence_share": 0.0}},
    "no newest turn": {"gate": {"whole_above": 1.0, "snippet_above": 1.0}},
    "no snippet of the newest turn": {"gate": {"snippet_above": GateConfig().whole_above}},
    "no excerpts": {"trimming": {"min_tokens": 10**9, "max_tokens": 10**9}},
}
"""By name, for each settings class of ``GatekeeperConfig`` that changes, the values that switch the part off."""


def ablations(
    base: GatekeeperConfig, parts: Mapping[str, Mapping[str, Mapping[str, Any]]] = PARTS
) -> Iterator[tuple[str, GatekeeperConfig]]:
    """Yield the settings as they are, then with each part off, by name."""
    yield EVERYTHING, base
    for name, changes in parts.items():
        stages: dict[str, Any] = {stage: replace(getattr(base, stage), **values) for stage, values in changes.items()}
        yield name, replace(base, **stages)
