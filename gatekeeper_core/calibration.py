"""A correction factor for the token estimate, learned per model from the prompt tokens that its provider reports.

A provider's tokenizer may match none of the profiles, and it adds tokens of its own to each message. A few odd reports
(a cached prompt, an image) change nothing: the factor is the median of the latest ones, within limits.
"""

from __future__ import annotations

import threading
from collections import deque

from gatekeeper_core.errors import ConfigError, check_number, check_str, check_type
from gatekeeper_core.token_estimate import TokenEstimator
from gatekeeper_core.tokens import check_tokens

_LEAST_FACTOR, _LARGEST_FACTOR = 0.5, 2.0


class UsageCalibrator:
    """A calibrator that learns, per model, the ratio of reported to estimated tokens; thread-safe.

    Args:
        base: the estimator to calibrate; None: ``TokenEstimator()``. Its own factor must be 1.
        window: how many of the latest reports of a model count, 1..10,000.

    Attributes:
        base: the estimator for the prompts whose reports you pass to :meth:`observe`.

    Raises:
        ConfigError: a number is out of range, or the base is already calibrated.

    Source: ours; the limits 0.5 and 2 are the largest difference between families of tokenizers on one text.

    >>> calibrator = UsageCalibrator()
    >>> for reported in (110, 112, 900):
    ...     calibrator.observe("some-model", estimated_tokens=100, reported_tokens=reported)
    >>> calibrator.factor("some-model"), calibrator.factor("another")
    (1.12, 1.0)
    >>> calibrator.estimator("some-model").factor
    1.12
    """

    def __init__(self, base: TokenEstimator | None = None, *, window: int = 64) -> None:
        check_type("base", base, TokenEstimator, None)
        check_number("window", window, low=1, high=10_000, integer=True)
        self.base = base or TokenEstimator()
        if self.base.factor != 1:
            raise ConfigError(f"base must have factor 1, got {self.base.factor!r}: the calibration learns the factor")
        self._window = window
        self._ratios: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def observe(self, model: str, *, estimated_tokens: int, reported_tokens: int) -> None:
        """Record what a model reported for a prompt; a report with a count of 0 is ignored.

        Args:
            model: its name.
            estimated_tokens: the estimate of ``base`` for the prompt, at least 0.
            reported_tokens: the provider's count of the prompt, cached tokens included, at least 0.

        Raises:
            ConfigError: a count is negative.
        """
        check_str("model", model)
        check_tokens("estimated_tokens", estimated_tokens)
        check_tokens("reported_tokens", reported_tokens)
        if not estimated_tokens or not reported_tokens:
            return
        ratio = min(max(reported_tokens / estimated_tokens, _LEAST_FACTOR), _LARGEST_FACTOR)
        with self._lock:
            self._ratios.setdefault(model, deque(maxlen=self._window)).append(ratio)

    def factor(self, model: str) -> float:
        """Return the factor by which to multiply the estimate for a model, 0.5..2; 1 for a model without reports."""
        check_str("model", model)
        with self._lock:
            ratios = sorted(self._ratios.get(model, (1.0,)))
        middle = len(ratios) // 2
        return round((ratios[middle] + ratios[-middle - 1]) / 2, 4)

    def estimator(self, model: str) -> TokenEstimator:
        """Return an estimator with a model's current factor; profile and margin are those of ``base``."""
        return TokenEstimator(self.base.profile, margin=self.base.margin, factor=self.factor(model))
