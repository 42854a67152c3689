"""Stable constraints: a small fixed block of the user's standing instructions.

Output language, style, prohibited items: plain keys and values in the order they were first set; capped, never gated,
never searched. They are not a memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gatekeeper_core.errors import ConfigError, ConstraintLimitError, check_str
from gatekeeper_core.fences import fence
from gatekeeper_core.tokens import TokenCounter

CONSTRAINT_TOKENS = 512
"""Token cap of the rendered constraints. Source: ours; the specification says "small"."""


def with_constraint(constraints: Mapping[str, str], key: str, value: str, *, count: TokenCounter) -> dict[str, str]:
    """Return the constraints with one added; an existing key gets the new value and keeps its place.

    Raises:
        TypeError: the key or the value is not a str.
        ConfigError: the key is empty.
        ConstraintLimitError: the constraints would exceed the cap.
    """
    for name, text in (("key", key), ("value", value)):
        check_str(f"{name}", text)
    if not key.strip():
        raise ConfigError("a constraint must have a non-empty key")
    changed = {**constraints, key: value}
    needed = count(render_constraints(changed, fenced=str))
    if needed > CONSTRAINT_TOKENS:
        raise ConstraintLimitError(needed_tokens=needed, available_tokens=CONSTRAINT_TOKENS)
    return changed


def render_constraints(constraints: Mapping[str, str], *, fenced: Callable[[str], str] | None = None) -> str:
    r"""Return the constraints as prompt text, a heading and fenced lines; "" without constraints.

    Each constraint begins a line; other lines of a key or value are indented, so that none reads as a constraint.

    Args:
        constraints: values by key.
        fenced: fences the lines; None: ``fence(lines, tag="constraints")``, ``str``: no fence.

    >>> print(render_constraints({"language": "Chinese", "style": "short\rand plain"}))
    Constraints:
    <constraints-571779978186>
    - language: Chinese
    - style: short
      and plain
    </constraints-571779978186>
    """
    if not constraints:
        return ""
    lines = "\n".join("\n  ".join(f"- {key}: {value}".splitlines()) for key, value in constraints.items())
    return f"Constraints:\n{fenced(lines) if fenced else fence(lines, tag='constraints')}"
