"""The settings of a gatekeeper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.errors import ConfigError, check_range


@with_suggestions()
@dataclass(frozen=True, slots=True, kw_only=True)
class GatekeeperConfig:
    """The settings of a gatekeeper. A weight of 0 turns off its part of the score.

    Attributes:
        strategy: ``gate`` sends what the question needs, ``fill`` fills the budget, most needed turns first.
        trim: whether long messages are cut to the sentences that matter.
        coverage: share of what the answer needs that ``gate`` sends, 0..1, as a mean over questions. Source:
            specification 3.4 (there ``eta``, 0.85).
        user_weight: weight of ``lex`` on the user's text, >= 0. Source: specification 3.3, as the next four.
        assistant_weight: weight of ``lex`` on the assistant's text, >= 0.
        exact_weight: weight of exact matches, >= 0.
        recency_weight: weight of recency, >= 0; on the raw BM25 scale 0.2 only breaks ties.
        candidates: number of turns that ``gate`` chooses from, >= 1.
        continue_above: overlap above which a question continues, 0..1. Source: specification 3.2, as the next two.
        switch_below: overlap below which a question may switch, 0..1, at most ``continue_above``.
        new_above: share of new terms above which it may switch, 0..1.
    """

    strategy: Literal["gate", "fill"] = "gate"
    trim: bool = True
    coverage: float = 0.85
    user_weight: float = 1.5
    assistant_weight: float = 0.7
    exact_weight: float = 1.0
    recency_weight: float = 0.2
    candidates: int = 20
    continue_above: float = 0.45
    switch_below: float = 0.20
    new_above: float = 0.70

    def __post_init__(self) -> None:
        check_range(self, "coverage", "continue_above", "switch_below", "new_above", low=0, high=1)
        check_range(self, "user_weight", "assistant_weight", "exact_weight", "recency_weight", low=0)
        check_range(self, "candidates", low=1, integer=True)
        if self.strategy not in ("gate", "fill"):
            raise ConfigError(f'GatekeeperConfig.strategy must be "gate" or "fill", got {self.strategy!r}')
        if self.switch_below > self.continue_above:
            raise ConfigError("GatekeeperConfig.switch_below must not exceed continue_above")
