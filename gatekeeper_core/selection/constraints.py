"""Stable constraints: a small fixed zone of what the user has laid down for good.

Output language, style, prohibited items: a plain key-value zone, ordered, capped, never gated, never searched. It is
no memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.errors import ConfigError, ConstraintLimitError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper_core.tokens import TokenCounter

__all__ = ["CONSTRAINT_TOKENS", "Constraints", "render_constraints"]

CONSTRAINT_TOKENS = 512
"""Cap of the rendered zone. Source: ours; the specification says "small"."""


class Constraints:
    """The zone itself: keys and values in the order in which they were first set.

    Args:
        max_tokens: cap of the rendered zone.
        count: counts a text.
        values: what is in it already.

    >>> zone = Constraints(max_tokens=CONSTRAINT_TOKENS, count=len)
    >>> zone.set("language", "Chinese")
    >>> zone.as_dict()
    {'language': 'Chinese'}
    """

    __slots__ = ("_count", "_max_tokens", "_values")

    def __init__(self, *, max_tokens: int, count: TokenCounter, values: Mapping[str, str] | None = None) -> None:
        self._max_tokens = max_tokens
        self._count = count
        self._values = dict(values or {})

    def set(self, key: str, value: str) -> None:
        """Set one constraint; the same key again replaces its value and keeps its place.

        Raises:
            TypeError: the key or the value is no text.
            ConfigError: the key is empty.
            ConstraintLimitError: the zone would outgrow its cap; it stays as it was.
        """
        for name, text in (("key", key), ("value", value)):
            if not isinstance(text, str):
                raise TypeError(f"{name} must be a str, got {type(text).__name__}")
        if not key.strip():
            raise ConfigError("a constraint needs a key that is not empty")
        changed = {**self._values, key: value}
        needed = self._count(render_constraints(changed))
        if needed > self._max_tokens:
            raise ConstraintLimitError(needed_tokens=needed, available_tokens=self._max_tokens)
        self._values = changed

    def remove(self, key: str) -> bool:
        """Remove one constraint and return whether it was there."""
        if key not in self._values:
            return False
        self._values = {name: value for name, value in self._values.items() if name != key}
        return True

    def as_dict(self) -> dict[str, str]:
        """Return a copy of all constraints, in their order."""
        return dict(self._values)


def render_constraints(constraints: Mapping[str, str]) -> str:
    r"""Return the constraints as text for a prompt, one line each, or "" where there are none.

    >>> print(render_constraints({"language": "Chinese", "style": "short"}))
    Constraints:
    - language: Chinese
    - style: short
    """
    if not constraints:
        return ""
    lines = [f"- {key}: {value}".replace("\n", "\n  ") for key, value in constraints.items()]
    return "\n".join(["Constraints:", *lines])
