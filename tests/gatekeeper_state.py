"""All that can be observed of a gatekeeper: what two equal ones have in common, however they came about."""

from __future__ import annotations

import json
from collections.abc import Iterable

from gatekeeper_core.selection.gatekeeper import ContextGatekeeper


def state_of(gatekeeper: ContextGatekeeper, queries: Iterable[str] = ()) -> str:
    """Return it as JSON: the state, and the answers to some queries and to the newest questions of the user."""
    questions = [*queries, *(block.user_text for block in gatekeeper.turns[-2:])]
    found = {
        "turns": [(*block[:5], block.anchors) for block in gatekeeper.turns],
        "topics": [topic._asdict() for topic in gatekeeper.topics],
        "verdicts": [verdict._asdict() for verdict in gatekeeper.verdicts],
        "selections": [gatekeeper.explain(query).to_dict() for query in questions],
        "whole": [gatekeeper.explain(query, token_budget=10**6, trim=False).to_dict() for query in questions],
        "constraints": gatekeeper.get_constraints(),
    }
    return json.dumps(found, sort_keys=True)
